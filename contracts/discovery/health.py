"""The service's health, as it says it itself."""

from typing import Literal

from pydantic import Field

from contracts.base import Document, Timestamp

MOST_CLOCK_SKEW_S = 30
"""Beyond it the time of a payment's block can't be held against ours well enough."""


class Health(Document):
    """The served generation, its age and its stale documents. Before the first one, the answer is 503 `not_ready`."""

    ok: Literal[True] = True
    status: Literal["ok", "degraded"] = Field(
        description="`degraded` where a document is stale, the ledger can't be reached, the guardrail has a problem, "
        "the clock is wrong or RPC nodes disagree"
    )
    generation: str
    generated_at: Timestamp = Field(description="When that generation was built (UTC)")
    age_s: int = Field(ge=0, description="Seconds since then")
    stale_documents: list[str] = Field(description="Paths of published documents past their `staleAfter`")
    ledger_reachable: bool
    guardrail_problem: str | None = Field(
        description="The first fault of the rule files as they are now; the rules in use are the last good ones"
    )
    clock_skew_s: int | None = Field(
        description="Seconds by which our clock was ahead of the chain's newest block when last looked; beyond 30 "
        "either way it is wrong or the chain stands still. Null where payments are not set up or no provider answers"
    )
    disputes: int = Field(
        ge=0,
        description="Facts about the chain on which RPC nodes disagreed when that generation was built; the proof of "
        "`/api/token/holders` shows those about the holder list",
    )
    observed_age_s: int = Field(
        ge=0,
        description="Seconds since ledger, guardrail rules and clock were last checked; about one while all is well",
    )
