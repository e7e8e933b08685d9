"""Defines the state of the service: the facts from which both `/health` and `/metrics` are built."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from contracts.base import Document, Timestamp

MOST_CLOCK_SKEW_S = 30
"""Beyond it, the time of a payment's block can't be compared with our clock reliably enough."""


@dataclass(frozen=True)
class JobFacts:
    """Counts of the runs of one job of the pipeline. `reason` is the stable code of the newest failure."""

    name: str
    last_ended_at: datetime
    last_seconds: float
    last_success_at: datetime | None
    failing_since: datetime | None
    reason: str | None
    consecutive_failures: int
    runs: int
    failures: int


@dataclass(frozen=True)
class ServiceFacts:
    """Everything known about the service at `now`. Times are UTC.

    `documents` contains, for each published document, its age in seconds and whether it is stale. `nodes_answering`
    contains, for each RPC node, whether it answered last; it is empty if payments are not set up. `disputes` counts
    facts on which RPC nodes disagree. `broken_tokens` are further tokens whose history can no longer be read.
    """

    now: datetime
    host: str
    generation: str
    generated_at: datetime
    documents: Mapping[str, tuple[int, bool]]
    ledger_reachable: bool
    guardrail_problem: str | None
    clock_skew_s: int | None
    disputes: int
    observed_age_s: int
    nodes_answering: tuple[bool, ...]
    jobs: tuple[JobFacts, ...]
    checks: Mapping[str, bool]
    broken_tokens: tuple[str, ...] = ()
    payments_problem: str | None = None
    """The stable reason for selling nothing although payments are set up."""

    @property
    def stale_documents(self) -> list[str]:
        """Returns the paths of stale documents, in order."""
        return sorted(path for path, (_, stale) in self.documents.items() if stale)

    @property
    def age_s(self) -> int:
        """Returns the age of the served generation in seconds."""
        return max(0, int((self.now - self.generated_at).total_seconds()))

    @property
    def failing_jobs(self) -> list[JobFacts]:
        """Returns the jobs whose newest run failed."""
        return [job for job in self.jobs if job.consecutive_failures]

    @property
    def failed_checks(self) -> list[str]:
        """Returns the tables whose checks did not pass, in order."""
        return sorted(table for table, passed in self.checks.items() if not passed)

    @property
    def is_fine(self) -> bool:
        """Returns whether there is no known problem for an operator to fix."""
        in_time = self.clock_skew_s is None or abs(self.clock_skew_s) <= MOST_CLOCK_SKEW_S
        sound = not (self.stale_documents or self.failing_jobs or self.failed_checks or self.disputes)
        usable = self.ledger_reachable and self.guardrail_problem is None and self.payments_problem is None
        return sound and usable and in_time


class FailingJob(Document):
    """A job of the pipeline whose newest run failed."""

    job: str
    since: Timestamp = Field(description="When the first of the consecutive failures ended (UTC)")
    reason: str | None = Field(description="Why the newest run failed, as a stable code; null if unknown")
    consecutive_failures: int = Field(ge=1)


class Health(Document):
    """The served generation, its age and its stale documents. Before the first one, the answer is 503 `not_ready`."""

    ok: Literal[True] = True
    status: Literal["ok", "degraded"] = Field(
        description="`degraded` if a document is stale, a job of the pipeline or a check of its tables fails, the "
        "ledger can't be reached, the guardrail or payments have a problem, the clock is wrong or RPC nodes disagree"
    )
    host: str = Field(description="The host that answers: SVC_HOST_NAME, or the machine's name")
    generation: str = Field(description="The generation that this host serves")
    generated_at: Timestamp = Field(description="When that generation was built (UTC)")
    age_s: int = Field(ge=0, description="Seconds since then")
    stale_documents: list[str] = Field(description="Paths of published documents past their `staleAfter`")
    failing_jobs: list[FailingJob] = Field(description="Jobs of the pipeline whose newest run failed")
    failed_checks: list[str] = Field(description="Tables whose checks did not pass; `/checks.json` has the details")
    broken_tokens: list[str] = Field(
        description="Tokens of `/data/tokens/` whose events can't be read or whose list failed its proof; their "
        "documents state why, and all others continue"
    )
    ledger_reachable: bool
    guardrail_problem: str | None = Field(
        description="First fault of the current rule files; the last valid rules remain in use"
    )
    payments_problem: str | None = Field(
        description="`coin_decimals_differ` if RPC nodes agree that the coin's decimals are not those of USDC, so that "
        "nothing is sold; null if no problem is known"
    )
    clock_skew_s: int | None = Field(
        description="Seconds by which our clock was ahead of the chain's newest block at the last check; beyond 30 in "
        "either direction it is wrong or the chain is stuck. Null if payments are not set up or no provider answers"
    )
    disputes: int = Field(
        ge=0,
        description="Facts about the chain on which RPC nodes disagreed when that generation was built; the proof of "
        "`/api/token/holders` shows those about the holder list",
    )
    observed_age_s: int = Field(
        ge=0,
        description="Seconds since ledger, guardrail rules and clock were last checked; normally about one",
    )


def health_of(facts: ServiceFacts) -> Health:
    """Builds the answer of `/health` from the facts."""
    return Health(
        status="ok" if facts.is_fine else "degraded",
        host=facts.host,
        generation=facts.generation,
        generated_at=facts.generated_at,
        age_s=facts.age_s,
        stale_documents=facts.stale_documents,
        failing_jobs=[
            FailingJob(
                job=job.name,
                since=job.failing_since or job.last_ended_at,
                reason=job.reason,
                consecutive_failures=job.consecutive_failures,
            )
            for job in facts.failing_jobs
        ],
        failed_checks=facts.failed_checks,
        broken_tokens=list(facts.broken_tokens),
        ledger_reachable=facts.ledger_reachable,
        guardrail_problem=facts.guardrail_problem,
        payments_problem=facts.payments_problem,
        clock_skew_s=facts.clock_skew_s,
        disputes=facts.disputes,
        observed_age_s=facts.observed_age_s,
    )
