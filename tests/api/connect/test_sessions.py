"""Sessions outlive the process, end after 30 minutes or on close, and keep what their assistant reported."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from connect_desk import PEPPER, Clock, Desk
from intakes import HUMAN
from pydantic import TypeAdapter

from contracts.connect.messages import HandshakeResult, ReportStepArguments
from contracts.connect.tokens import new_token
from contracts.connect.tool_problems import ToolProblem
from contracts.intake.requests import IntakeRequest
from contracts.settings import Settings
from warehouse.connect.sessions import delete_ended
from warehouse.intake.intakes import accept
from warehouse.intake.rights import export_intake, forget_intake

pytestmark = pytest.mark.both_engines
REQUESTS = TypeAdapter(IntakeRequest)


def register(desk: Desk) -> str:
    with desk.ledger.transaction() as tx:
        return accept(tx, PEPPER, REQUESTS.validate_python(HUMAN), None).record.intake_id


def states(told: Any) -> dict[str, str]:
    return {step.step_id: step.state for step in told.progress.steps if step.state not in ("pending", "active")}


def code_of(problem: object) -> str:
    assert isinstance(problem, ToolProblem), problem
    return problem.code


def do(desk: Desk, token: str, *steps: str) -> Any:
    told = None
    for step in steps:
        told = desk.report(token, step)
        assert not isinstance(told, ToolProblem), told
    return told


def test_the_next_process_continues_a_set_up_where_it_stopped(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token = desk.paired()
        assert desk.status(token).next_tool == "svc_connect_plan"
        planned = desk.plan(token, assistant="gemini", os="macos")
        assert planned.plan.choice.assistant == "gemini"
        do(desk, token, "prerequisites", "workspace")
    with Desk(ledger_settings) as desk:
        status = desk.status(token)
        assert states(status) == {"prerequisites": "done", "workspace": "done"}
        assert (status.next_tool, status.progress.next.step.id) == ("svc_connect_report_step", "environment")
        assert status.session.profile == "profile:svc-pair"
        again = desk.plan(token)
        assert again.plan == planned.plan
        assert states(again) == states(status)
        assert desk.report(token, "environment").progress.next.step.id == "connect_assistant"


def test_another_choice_keeps_the_unchanged_steps_of_its_plan(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token = desk.paired()
        desk.plan(token, assistant="codex", os="linux")
        do(desk, token, "prerequisites")
        other = desk.plan(token, os="windows")
        assert (other.plan.choice.assistant, other.plan.choice.os) == ("codex", "windows")
        assert states(other) == {}
        assert code_of(desk.plan(token, runtime_profile="no such profile")) == "profile_unknown"
        assert desk.plan(token).plan == other.plan


def test_repeated_requests_and_repeated_reports_write_nothing(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token = desk.paired()
        desk.plan(token)
        do(desk, token, "prerequisites")
        head = desk.ledger.head()
        desk.plan(token)
        do(desk, token, "prerequisites")
        desk.status(token)
        assert desk.ledger.head() == head
        assert desk.session(token).revision == 2


def test_eight_simultaneous_reports_all_count(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token = desk.paired()
        desk.plan(token)

        async def race() -> list[Any]:
            session = await desk.service.session(token)
            asked = [
                ReportStepArguments(session_token=token, step_id="prerequisites", outcome="failed", detail=f"try {n}")
                for n in range(8)
            ]
            return await asyncio.gather(*(desk.service.report_step(session, each) for each in asked))

        told = asyncio.run(race())
        assert len(told) == 8
        assert desk.session(token).revision == 9
        assert '"failures":8' in desk.session(token).progress_json


def test_a_session_ends_after_thirty_minutes_and_is_not_prolonged(ledger_settings: Settings):
    clock = Clock()
    with Desk(ledger_settings, clock) as desk:
        token = desk.paired()
        desk.plan(token)
        clock.ahead(timedelta(minutes=30) - timedelta(microseconds=1))
        assert states(desk.report(token, "prerequisites")) == {"prerequisites": "done"}
        session = desk.session(token)
        clock.ahead(timedelta(microseconds=1))
        for ended in (desk.session(token), desk.plan(token), desk.report(token, "workspace"), desk.close(token)):
            assert code_of(ended) == "session_ended"
        # a call that was admitted before the end and writes after it
        asked = ReportStepArguments(session_token=token, step_id="prerequisites", outcome="failed")
        with pytest.raises(ToolProblem, match="session_ended"):
            asyncio.run(desk.service.report_step(session, asked))


def test_a_closed_session_is_closed_for_good(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token, other = desk.paired(), desk.paired()
        assert desk.close(token).closed
        assert code_of(desk.status(token)) == "session_ended"
        assert desk.session(other).closed_at is None
    with Desk(ledger_settings) as desk:
        assert code_of(desk.session(token)) == "session_ended"


@pytest.mark.parametrize(
    "token",
    [None, 7, "", "svcs_", "nul\0", "\ud800", ["svcs_"], "x" * 60_000, pytest.param(new_token(), id="of nobody")],
)
def test_a_foreign_token_is_answered_with_how_to_pair(tmp_path, token: object):
    with Desk(Settings(_env_file=None, data_dir=tmp_path)) as desk:
        problem = desk.session(token)
        assert code_of(problem) == "session_required"
        assert "svc pair" in problem.fix


def test_a_report_needs_a_plan_and_a_step_whose_turn_it_is(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token = desk.paired()
        assert code_of(desk.report(token, "prerequisites")) == "plan_required"
        desk.plan(token)
        for step in ("no-such-step", "workspace"):
            assert isinstance(desk.report(token, step), ToolProblem)
        assert desk.session(token).revision == 1


def test_an_intake_that_exists_is_kept_on_the_session(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token, intake_id = desk.paired(), register(desk)
        desk.plan(token)
        do(desk, token, "prerequisites", "workspace", "environment", "connect_assistant")
        for unknown in ("0" * 32, "not an id", "nul\0"):
            assert code_of(desk.report(token, "register", intake_id=unknown)) == "intake_unknown"
        assert code_of(desk.report(token, "register", evidence={"intake_id": "0" * 32})) == "intake_unknown"
        assert "register" not in states(desk.status(token))
        told = desk.report(token, "register", evidence={"intake_id": intake_id})
        assert (told.intake_id, states(told)["register"]) == (intake_id, "done")
        assert desk.status(token).session.intake_id == intake_id


def test_forgetting_an_intake_forgets_who_was_behind_its_sessions(ledger_settings: Settings):
    with Desk(ledger_settings) as desk:
        token, other, intake_id = desk.paired(), desk.paired(), register(desk)
        desk.plan(token)
        do(desk, token, "prerequisites")
        desk.report(token, "workspace", detail="in Ada's folder", intake_id=intake_id)
        with desk.ledger.read() as reader:
            exported = export_intake(reader, intake_id)["sessions"]
        assert [each["agent"] for each in exported] == ["Ada"]
        forget_intake(desk.ledger, intake_id, "operator")
        assert code_of(desk.session(token)) == "session_ended"
        assert desk.session(other).agent == "Ada"
        with desk.ledger.read() as reader:
            row = reader.row("connect_session", session_id=exported[0]["session_id"])
        assert row is not None
        assert (row["agent"], row["progress_json"], row["intake_id"], row["assistant"]) == (None, None, None, "custom")


def test_an_ended_session_is_deleted_after_thirty_days_and_its_code_stays_used_until_then(ledger_settings: Settings):
    clock = Clock()

    def tidy(desk: Desk) -> int:
        with desk.ledger.transaction() as tx:
            return delete_ended(tx)

    with Desk(ledger_settings, clock) as desk:
        used, unused = desk.give(), desk.give()
        opened = desk.handshake(used)
        assert isinstance(opened, HandshakeResult)
        token = opened.session_token
        clock.ahead(timedelta(days=30))
        assert tidy(desk) == 0
        assert code_of(desk.session(token)) == "session_ended"
        assert code_of(desk.handshake(used)) == "pairing_code_rejected"
        clock.ahead(timedelta(minutes=11))
        assert tidy(desk) == 1  # the code that nobody used
        clock.ahead(timedelta(minutes=30))
        fresh = desk.paired()
        assert tidy(desk) == 2
        assert code_of(desk.session(token)) == "session_required"
        assert code_of(desk.handshake(unused)) == "pairing_code_rejected"
        assert desk.session(fresh).closed_at is None
        assert tidy(desk) == 0
