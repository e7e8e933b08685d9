"""The progress of a set-up under any sequence of reports."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from rounds import ROUNDS

from contracts.connect.progress import (
    SETTLED,
    Progress,
    StepReport,
    advance,
    carry_over,
    next_step,
    start,
    status_of,
)
from contracts.connect.setup_plan import Choice, ConnectPlan, plan_for
from contracts.connect.tool_problems import ToolProblem
from contracts.intake.answers import ServiceUrls

PLAN = plan_for(Choice(), ServiceUrls("http://127.0.0.1:8000", None))
OTHER = plan_for(Choice(assistant="codex"), ServiceUrls("http://127.0.0.1:8000", None))
IDS = [step.id for step in PLAN.steps]
REQUIRED = [step.id for step in PLAN.steps if not step.optional]
OUTCOMES = ("done", "failed", "skipped", "rolled_back")
INTAKE_ID = "0123456789abcdef" * 2


def report(step_id: str, outcome: str = "done", **said: Any) -> StepReport:
    return StepReport(step_id=step_id, outcome=outcome, **said)


def states(progress: Progress) -> dict[str, str]:
    return {step.step_id: step.state for step in progress.steps}


def told(*reports: tuple[str, str], plan: ConnectPlan = PLAN) -> Progress:
    progress = start(plan)
    for step_id, outcome in reports:
        progress = advance(plan, progress, report(step_id, outcome))
    return progress


def up_to(step_id: str) -> list[tuple[str, str]]:
    """Returns reports that everything before a step is done."""
    return [(each, "done") for each in IDS[: IDS.index(step_id)]]


def refusal(progress: Progress, asked: StepReport, plan: ConnectPlan = PLAN) -> ToolProblem:
    with pytest.raises(ToolProblem) as refused:
        advance(plan, progress, asked)
    return refused.value


reports = st.builds(
    report, st.sampled_from(IDS), st.sampled_from(OUTCOMES), detail=st.sampled_from(["", "once", "again"])
)


class ProgressMachine(RuleBasedStateMachine):
    """Any reports in any order, half of them about the next step, so that plans are often finished."""

    def __init__(self) -> None:
        super().__init__()
        self.progress = start(PLAN)

    @rule(asked=reports)
    def anything(self, asked: StepReport) -> None:
        self.say(asked)

    @precondition(lambda self: not self.progress.finished)
    @rule(outcome=st.sampled_from(OUTCOMES + ("done",) * 6))
    def about_the_next(self, outcome: str) -> None:
        coming = next_step(PLAN, self.progress)
        assert coming is not None
        self.say(report(coming.step.id, outcome))
        if outcome == "done":
            assert states(self.progress)[coming.step.id] == "done"

    @rule()
    def persisted(self) -> None:
        self.progress = Progress.model_validate_json(self.progress.model_dump_json())

    def say(self, asked: StepReport) -> None:
        before = self.progress
        try:
            self.progress = advance(PLAN, before, asked)
        except ToolProblem as problem:
            assert problem.fix
            assert problem.code
            assert self.progress is before
            return
        assert states(self.progress)[asked.step_id] == asked.outcome
        assert advance(PLAN, self.progress, asked) == self.progress
        for old, new in zip(before.steps, self.progress.steps, strict=True):
            assert new.failures >= old.failures

    @invariant()
    def is_consistent(self) -> None:
        held = states(self.progress)
        assert list(held) == IDS
        assert [each for each in REQUIRED if held[each] == "skipped"] == []
        open_steps = [each for each in IDS if held[each] not in SETTLED]
        assert self.progress.finished == (not open_steps)
        assert [each for each in IDS if held[each] == "active"] == [
            each for each in open_steps[:1] if held[each] in ("active", "pending")
        ]
        coming = next_step(PLAN, self.progress)
        assert (coming.step.id if coming else None) == (open_steps[0] if open_steps else None)
        for step in PLAN.steps:
            if any(held[need] == "skipped" for need in step.needs):
                assert held[step.id] == "skipped"
        status = status_of(PLAN, self.progress)
        assert sum(status.counts.values()) == len(IDS)
        assert (status.next is None) == status.finished == self.progress.finished


TestProgress = ProgressMachine.TestCase
TestProgress.settings = settings(max_examples=12 * ROUNDS, stateful_step_count=40)


@given(st.lists(reports, max_size=30))
def test_progress_always_survives_json(asked: list[StepReport]):
    progress = start(PLAN)
    for each in asked:
        try:
            progress = advance(PLAN, progress, each)
        except ToolProblem:
            continue
    assert Progress.model_validate_json(progress.model_dump_json()) == progress


def test_a_plan_done_step_by_step_is_finished_and_names_its_intake():
    progress = start(PLAN)
    for step in PLAN.steps:
        coming = next_step(PLAN, progress)
        assert coming is not None
        assert coming.step == step
        evidence = {"intake_id": INTAKE_ID} if step.id == "register" else {}
        progress = advance(PLAN, progress, report(step.id, evidence=evidence))
    assert progress.finished
    assert progress.intake_id == INTAKE_ID
    assert next_step(PLAN, progress) is None
    assert "Close the session" in status_of(PLAN, progress).guidance


def test_optional_steps_take_with_them_what_needs_them_and_bring_it_back():
    skipped = told(*up_to("quote"), ("quote", "skipped"))
    assert [states(skipped)[each] for each in ("quote", "pay", "claim")] == ["skipped"] * 3
    coming = next_step(PLAN, skipped)
    assert coming is not None
    assert coming.step.id == "verify_tools"
    assert refusal(skipped, report("claim")).code == "needs_skipped"
    back = advance(PLAN, skipped, report("quote"))
    assert [states(back)[each] for each in ("quote", "pay", "claim")] == ["done", "active", "pending"]


def test_a_failed_step_says_how_it_is_undone_and_tried_again():
    failed = told(*up_to("workspace"), ("workspace", "failed"))
    failed = advance(PLAN, failed, report("workspace", "failed", detail="no room"))
    coming = next_step(PLAN, failed)
    assert coming is not None
    assert (coming.state, coming.step.id) == ("failed", "workspace")
    assert "failed 2 times" in coming.guidance
    assert coming.step.rollback.commands
    undone = advance(PLAN, failed, report("workspace", "rolled_back"))
    assert next_step(PLAN, undone).state == "rolled_back"
    assert states(advance(PLAN, undone, report("workspace")))["environment"] == "active"


@pytest.mark.parametrize(
    ("before", "asked", "code"),
    [
        ([], report("nothing"), "step_unknown"),
        ([], report("notes"), "step_not_ready"),
        ([], report("notes", "failed"), "step_not_ready"),
        ([], report("quote", "skipped"), "step_not_ready"),
        ([], report("prerequisites", "skipped"), "step_required"),
        ([], report("workspace", "rolled_back"), "nothing_to_roll_back"),
        (up_to("read_plans"), report("register", "skipped"), "step_is_done"),
        (up_to("pay"), report("read_plans", "rolled_back"), "others_need_it"),
        (up_to("environment"), report("prerequisites", "rolled_back"), "others_need_it"),
        (up_to("register"), report("register", evidence={"intake_id": "x"}), "evidence_unusable"),
        (up_to("register"), report("register", evidence={"name": "Ada"}), "evidence_unusable"),
        (up_to("claim"), report("claim", detail="svc_basic_" + "a" * 36), "secret_in_report"),
        (up_to("claim"), report("claim", detail="token svcs_" + "a" * 43), "secret_in_report"),
    ],
)
def test_a_report_that_does_not_fit_is_refused_with_what_to_do(
    before: list[tuple[str, str]], asked: StepReport, code: str
):
    problem = refusal(told(*before), asked)
    assert problem.code == code
    assert problem.fix
    assert not problem.retryable


def test_nothing_that_is_refused_is_repeated():
    problem = refusal(told(*up_to("claim")), report("claim", detail="svc_basic_" + "a" * 36))
    assert "aaaa" not in f"{problem} {problem.detail} {problem.fix}"


def test_a_report_is_bounded():
    for said in ({"detail": "x" * 501}, {"detail": "\0"}, {"evidence": {"intake_id": "x" * 201}}, {"more": 1}):
        with pytest.raises(ValueError, match="validation error"):
            report("register", **said)


def test_another_plan_is_announced_and_its_unchanged_steps_stay_done():
    held = told(*up_to("verify_tools"))
    status = status_of(OTHER, held)
    assert status.plan_changed
    assert status.next is None
    assert "ask for it once more" in status.guidance
    assert refusal(held, report("verify_tools"), OTHER).code == "plan_changed"
    carried = carry_over(OTHER, held)
    assert carried.choice == OTHER.choice
    anew = [each for each, state in states(carried).items() if state != "done"]
    assert anew == ["connect_assistant", "register", "verify_tools", "verify_guardrail", "notes"]
    assert states(carried)["connect_assistant"] == "active"
    assert not status_of(OTHER, carried).plan_changed
    assert carry_over(PLAN, held) == held


def test_a_step_is_checked_before_it_is_done_and_asks_for_consent_before_it_writes():
    coming = next_step(PLAN, told(*up_to("register")))
    assert coming is not None
    order = ["checks pass already", "ask the user first: May these answers be sent and stored", "Write its files"]
    found = [coming.guidance.find(words) for words in order]
    assert -1 not in found
    assert found == sorted(found)
    assert "Without a yes, report skipped." in coming.guidance
