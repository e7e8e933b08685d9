"""Tracks the progress of a set-up: a state for each step, changed by reports. Pure. `warehouse/connect/` stores it.

Example: a plan has the steps a, b (optional) and c, which needs b. A report "b skipped" implies that c is skipped. A
later report "b done" makes c pending again, and active once all steps before it are done or skipped.
"""

import re
from collections import Counter
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from contracts.base import storable
from contracts.connect.setup_plan import Choice, ConnectPlan, PlanStep, ToolModel
from contracts.connect.tool_problems import (
    EvidenceUnusable,
    NeedsSkipped,
    NothingToRollBack,
    OthersNeedIt,
    PlanChanged,
    SecretInReport,
    StepIsDone,
    StepNotReady,
    StepRequired,
)

StepState = Literal["pending", "active", "done", "failed", "skipped", "rolled_back"]
Outcome = Literal["done", "failed", "skipped", "rolled_back"]

SETTLED: tuple[StepState, ...] = ("done", "skipped")

LONGEST_DETAIL = 500
LONGEST_EVIDENCE = 200
INTAKE_EVIDENCE = "intake_id"

_SECRET_LIKE = re.compile(r"svcs_[0-9A-Za-z_-]{8}|svc_(free|basic|pro)_[0-9A-Za-z]{8}")

Detail = Annotated[str, Field(max_length=LONGEST_DETAIL), AfterValidator(storable)]
Evidence = Annotated[str, Field(max_length=LONGEST_EVIDENCE), AfterValidator(storable)]


class StepReport(ToolModel):
    """An assistant's report about a step. `evidence` contains the values that the step requests. No secrets."""

    step_id: Annotated[str, Field(max_length=60)]
    outcome: Outcome
    detail: Detail = ""
    evidence: dict[str, Evidence] = Field(default={}, max_length=8)


class StepProgress(ToolModel):
    """The progress of one step after its last report."""

    step_id: str
    digest: str
    state: StepState = "pending"
    implied: bool = False
    """True if the step is skipped because a step that it needs is skipped."""
    failures: int = 0
    detail: str = ""
    evidence: dict[str, str] = Field(default={})


class Progress(ToolModel):
    """The progress of a set-up. It survives a round trip through JSON."""

    plan_version: str
    choice: Choice
    steps: tuple[StepProgress, ...]

    @property
    def finished(self) -> bool:
        return all(step.state in SETTLED for step in self.steps)

    @property
    def steps_done(self) -> int:
        return sum(step.state == "done" for step in self.steps)

    @property
    def intake_id(self) -> str | None:
        """Returns the intake that the set-up registered according to its reports, which nobody has verified."""
        reported = (step.evidence.get(INTAKE_EVIDENCE) for step in self.steps if step.state == "done")
        return next((intake_id for intake_id in reported if intake_id), None)


class NextStep(ToolModel):
    """The next step, with advice."""

    step: PlanStep
    state: StepState
    guidance: str


class StepStatus(ToolModel):
    """One line of a status."""

    step_id: str
    title: str
    state: StepState
    optional: bool
    detail: str


class ProgressStatus(ToolModel):
    """The status of a whole set-up, sufficient for continuing after a lost context."""

    plan_version: str
    plan_changed: bool = Field(description="Whether the plan has changed since the set-up began")
    finished: bool
    counts: dict[StepState, int]
    steps: tuple[StepStatus, ...]
    next: NextStep | None = Field(description="Null if every step is done or skipped, or the plan has changed")
    guidance: str


def start(plan: ConnectPlan) -> Progress:
    """Returns the initial progress: nothing is done and the first step is active."""
    steps = [StepProgress(step_id=step.id, digest=step.digest) for step in plan.steps]
    return Progress(plan_version=plan.version, choice=plan.choice, steps=_consistent(plan, steps))


def carry_over(plan: ConnectPlan, progress: Progress) -> Progress:
    """Returns the progress under a changed plan.

    A step that is identical in both plans keeps its state; every other step starts from the beginning.
    """
    known = {step.digest: step for step in progress.steps}
    steps = [
        known[step.digest] if step.digest in known else StepProgress(step_id=step.id, digest=step.digest)
        for step in plan.steps
    ]
    return Progress(plan_version=plan.version, choice=plan.choice, steps=_consistent(plan, steps))


def advance(plan: ConnectPlan, progress: Progress, report: StepReport) -> Progress:
    """Returns the progress after a report. Repeating a report changes nothing.

    Raises `PlanChanged`, `StepUnknown`, `StepNotReady`, `StepRequired`, `StepIsDone`, `NeedsSkipped`, `OthersNeedIt`,
    `NothingToRollBack`, `EvidenceUnusable`, `SecretInReport`.
    """
    if progress.plan_version != plan.version:
        raise PlanChanged
    step = plan.step(report.step_id)
    _check_evidence(step, report)
    states = {state.step_id: state for state in progress.steps}
    before = states[step.id]
    if before.state == report.outcome and (before.implied or _repeats(before, report)):
        return progress
    _check_order(plan, states, step, report.outcome)
    states[step.id] = StepProgress(
        step_id=step.id,
        digest=before.digest,
        state=report.outcome,
        failures=before.failures + (report.outcome == "failed"),
        detail=report.detail,
        evidence=report.evidence,
    )
    return progress.model_copy(update={"steps": _consistent(plan, list(states.values()))})


def next_step(plan: ConnectPlan, progress: Progress) -> NextStep | None:
    """Returns the first step that is neither done nor skipped, or None."""
    for step, at in zip(plan.steps, progress.steps, strict=True):
        if at.state not in SETTLED:
            return NextStep(step=step, state=at.state, guidance=_guidance(step, at))
    return None


def status_of(plan: ConnectPlan, progress: Progress) -> ProgressStatus:
    """Returns the status of the set-up. `plan` is the current plan; the status reports whether it has changed."""
    changed = progress.plan_version != plan.version
    plan_steps = {step.id: step for step in plan.steps}
    coming = None if changed else next_step(plan, progress)
    if changed:
        guidance = "The plan has changed since the set-up began: ask for it once more. Unchanged steps remain done."
    elif coming is None:
        guidance = "Every step is done or skipped. Close the session; the workspace remains the user's."
    else:
        guidance = f"Next is {coming.step.id}. {coming.guidance}"
    return ProgressStatus(
        plan_version=progress.plan_version,
        plan_changed=changed,
        finished=progress.finished,
        counts=dict(Counter(step.state for step in progress.steps)),
        steps=tuple(
            StepStatus(
                step_id=at.step_id,
                title=plan_steps[at.step_id].title if at.step_id in plan_steps else at.step_id,
                state=at.state,
                optional=at.step_id in plan_steps and plan_steps[at.step_id].optional,
                detail=at.detail,
            )
            for at in progress.steps
        ),
        next=coming,
        guidance=guidance,
    )


def _guidance(step: PlanStep, at: StepProgress) -> str:
    if at.state == "failed":
        return (
            f"It failed{f' {at.failures} times' if at.failures > 1 else ''}. Undo it by its rollback, fix the cause, "
            "do it again and report done; report rolled_back if it remains undone."
            + (" It is optional: it may be skipped." if step.optional else "")
        )
    if at.state == "rolled_back":
        return "It is undone. Do it again and report done" + (", or skip it." if step.optional else ".")
    before = "Where its checks pass already, it is done: report done and write nothing. "
    consent = f"Otherwise ask the user first: {step.consent} " if step.consent else ""
    refused = "Without a yes, report skipped. " if step.consent and step.optional else ""
    return f"{before}{consent}{refused}Write its files, run its commands, then its checks; report done if all pass."


def _check_order(plan: ConnectPlan, states: dict[str, StepProgress], step: PlanStep, outcome: Outcome) -> None:
    state = states[step.id].state
    if outcome in ("done", "failed"):
        if skipped := [need for need in step.needs if states[need].state == "skipped"]:
            raise NeedsSkipped(
                f"{step.id} needs {skipped[0]}, which was skipped.", fix=f"Do {skipped[0]} and report it first."
            )
    elif outcome == "skipped" and not step.optional:
        raise StepRequired(f"{step.id} can't be skipped.")
    elif outcome == "skipped" and state == "done":
        raise StepIsDone(f"{step.id} is done.")
    elif outcome == "rolled_back" and state in ("pending", "skipped"):
        raise NothingToRollBack(f"{step.id} was not begun.")
    else:
        later = [other.id for other in plan.steps if step.id in other.needs and states[other.id].state == "done"]
        if later:
            raise OthersNeedIt(
                f"{later[-1]} is done and needs {step.id}.",
                fix=f"Roll {later[-1]} back and report that first.",
            )
    for earlier in plan.steps:
        if earlier.id == step.id:
            return
        if states[earlier.id].state not in SETTLED and outcome != "rolled_back":
            raise StepNotReady(f"{earlier.id} comes before {step.id}.", fix=f"Do {earlier.id} and report it first.")


def _check_evidence(step: PlanStep, report: StepReport) -> None:
    if any(_SECRET_LIKE.search(text) for text in (report.detail, *report.evidence.values())):
        raise SecretInReport
    for name, text in report.evidence.items():
        pattern = step.evidence.get(name)
        if pattern is None or not re.fullmatch(pattern, text):
            wanted = ", ".join(f"{key} ({shape})" for key, shape in step.evidence.items()) or "none"
            raise EvidenceUnusable(f"{step.id} can't use this evidence.", fix=f"It accepts {wanted}; omit others.")


def _repeats(at: StepProgress, report: StepReport) -> bool:
    return (at.detail, at.evidence) == (report.detail, report.evidence)


def _consistent(plan: ConnectPlan, steps: list[StepProgress]) -> tuple[StepProgress, ...]:
    """Applies the consequences of reports: a skipped need skips its dependants, and the first open step is active."""
    states = {state.step_id: state for state in steps}
    active_found = False
    for step in plan.steps:
        at = states[step.id]
        blocked = any(states[need].state == "skipped" for need in step.needs)
        if blocked and at.state not in SETTLED:
            at = at.model_copy(update={"state": "skipped", "implied": True})
        elif at.implied and not blocked:
            at = at.model_copy(update={"state": "pending", "implied": False})
        if at.state in ("pending", "active"):
            at = at.model_copy(update={"state": "pending" if active_found else "active"})
        active_found = active_found or at.state not in SETTLED
        states[step.id] = at
    return tuple(states[step.id] for step in plan.steps)
