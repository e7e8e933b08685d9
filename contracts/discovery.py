"""Bodies by which the service describes itself. So far: its health."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from contracts.base import Document, Timestamp


class Health(Document):
    """Which generation is served, how old it is, and what of it is stale. Before the first one: 503 `not_ready`."""

    ok: Literal[True] = True
    status: Literal["ok", "degraded"] = Field(
        description="`degraded` where a document is stale, the ledger can't be reached or the guardrail has a problem"
    )
    generation: str
    generated_at: Timestamp = Field(description="When that generation was built (UTC)")
    age_s: int = Field(ge=0, description="Seconds since then")
    stale_documents: list[str] = Field(description="Paths of published documents past their `staleAfter`")
    ledger_reachable: bool
    guardrail_problem: str | None = Field(
        description="The first fault of the rule files as they are now; the rules in use are the last good ones"
    )
