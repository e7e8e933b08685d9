"""The set-up plan is followed to its end in scratch homes against a running service: each command runs, each check
fails before its step and passes after it, and each step can be undone."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from addressed_service import addressed_service
from nginx import free_port
from patience import HANG_S
from plan_machine import Machine
from publishing import FEW
from whole_service import PAYER, WholeService

from contracts.connect.anonymised import session_key
from contracts.connect.graph import node_ids
from contracts.connect.setup_plan import Choice, ConnectPlan, PlanStep, plan_for
from contracts.intake.answers import ServiceUrls
from contracts.intake.graph import node_ids as intake_node_ids
from warehouse.connect.session_sync import sync_sessions
from warehouse.connect.sessions import issue_code, sessions_of_intake
from warehouse.duck.connection import Warehouse
from warehouse.intake.intake_sync import sync_intakes
from warehouse.intake.intakes import graph_key
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.ledger.master_secret import load_secrets
from warehouse.world.events import decode_edges

CHOICES = [
    Choice(assistant="codex", os="linux", runtime_profile="guided_local"),
    Choice(assistant="claude-code", os="linux", runtime_profile="builder_local"),
    Choice(assistant="gemini", os="linux", runtime_profile="operator_local"),
    Choice(assistant="grok", os="linux", runtime_profile="agent_service"),
    Choice(assistant="custom", os="linux", runtime_profile="enterprise_workspace"),
]
BASH = shutil.which("bash")
LOOKS_ALONE = {"prerequisites", "verify_tools", "verify_guardrail"}
"""Steps that change nothing, so that their checks already pass before them."""

ANSWERS = {
    "name": "Ada Machine-Name",
    "use_case": "Keep my goals and decisions together",
    "handle": "@handle-of-ada",
    "role": "Operations of Ada",
    "email": "ada@works.example",
    "organization": "Example Works",
    "agent_id": "agent-seven",
    "service_offer": "Summaries with sources",
    "endpoint": "https://agent.example/a2a",
    "plan_id": "agent_runtime_activation",
    "payer_address": PAYER,
}


class Desk:
    """A running service, and sessions at its `/mcp`."""

    def __init__(self, service: WholeService, url: str) -> None:
        self.service = service
        self.url = url
        self.urls = ServiceUrls(url, None)

    def ledger(self) -> Ledger:
        return open_ledger(self.service.settings, self.service.settings.data_dir)

    def session(self) -> str:
        """Returns the token of a session that was paired with a fresh code."""
        with closing(self.ledger()) as ledger, ledger.transaction() as tx:
            code = issue_code(tx, load_secrets(self.service.settings).pepper).code
        return str(self.tool("svc_connect_handshake", {"pairing_code": code})["session_token"])

    def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Returns a tool's answer, including that of an error."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        headers = {"Accept": "application/json, text/event-stream"}
        answer = httpx.post(f"{self.url}/mcp", json=call, headers=headers, timeout=HANG_S)
        assert answer.status_code == 200, answer.text
        result = answer.json()["result"]
        return dict(result.get("structuredContent") or json.loads(result["content"][0]["text"]))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with addressed_service(tmp_path_factory.mktemp("service"), documents=FEW) as (service, url):
        yield Desk(service, url)


def machine_at(home: Path, desk: Desk, token: str, **answers: str) -> Machine:
    home.mkdir()
    return Machine(
        home, ANSWERS | answers, lambda tool, arguments: desk.tool(tool, arguments | {"session_token": token})
    )


def pay(desk: Desk, machine: Machine, plan: ConnectPlan) -> dict[str, str]:
    """Pays the quote of the workspace, as the user does, and returns what the user reports."""
    quote = json.loads((machine.workspace(plan) / "quote.json").read_text())
    return {"transaction_hash": desk.service.pay(quote)}


def environment_of(machine: Machine, plan: ConnectPlan) -> dict[str, str]:
    lines = (machine.workspace(plan) / "svc.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def follow(desk: Desk, machine: Machine, plan: ConnectPlan, step: PlanStep, token: str) -> None:
    """Follows one step: its check fails before it and passes after it, it is undone without a trace, and done again."""
    if step.id not in LOOKS_ALONE:
        assert not machine.passes(step), step.id
    if step.by_user:
        machine.answers = {**machine.answers, **pay(desk, machine, plan)}
    before = machine.tree()
    assert machine.do(plan, step) == [], step.id
    if step.id != "claim":  # whose key is available again only until its first use, which is the check
        assert machine.do(plan, step) == [], f"{step.id}, once more"
        assert machine.passes(step), step.id
        assert machine.roll_back(step) == [], step.id
        assert machine.tree() == before, step.id
        if step.id not in LOOKS_ALONE:
            assert not machine.passes(step), f"{step.id}, undone"
        assert machine.do(plan, step) == [], f"{step.id}, done again"
    assert machine.passes(step), step.id
    evidence = {}
    if step.id == "register":
        evidence = {"intake_id": environment_of(machine, plan)["RUNTIME_INTAKE_ID"]}
    report = {"session_token": token, "step_id": step.id, "outcome": "done", "evidence": evidence}
    assert "progress" in desk.tool("svc_connect_report_step", report), step.id


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: f"{choice.assistant}-{choice.runtime_profile}")
def test_every_command_runs_every_check_is_real_and_every_step_is_undone(desk: Desk, tmp_path: Path, choice: Choice):
    token = desk.session()
    given = desk.tool("svc_connect_plan", {"session_token": token, **choice.model_dump()})["plan"]
    plan = ConnectPlan.model_validate(given)
    assert plan == plan_for(choice, desk.urls)
    machine = machine_at(tmp_path / "home", desk, token, agent_id=f"agent-{choice.assistant}")
    if choice.assistant == "custom" and BASH:
        machine.shell = BASH
    for step in plan.steps:
        follow(desk, machine, plan, step, token)
    status = desk.tool("svc_connect_status", {"session_token": token})
    assert status["progress"]["finished"], status

    held = environment_of(machine, plan)
    assert set(held) == {"RUNTIME_BASE_URL", "RUNTIME_MCP_URL", "RUNTIME_INTAKE_ID", "RUNTIME_API_KEY"}
    assert re.fullmatch(r"svc_free_[0-9A-Za-z]{36}", held["RUNTIME_API_KEY"])
    assert status["session"]["intake_id"] == held["RUNTIME_INTAKE_ID"]
    secret = machine.workspace(plan) / "svc.env"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(machine.workspace(plan).stat().st_mode) == 0o700
    for path, content in machine.tree().items():
        assert held["RUNTIME_API_KEY"].encode() not in content or path.endswith("/svc.env"), path
        assert not [value for value in ("Ada Machine-Name", "@handle-of-ada") if value.encode() in content], path

    assert (
        desk.tool("svc_intake_status", {"session_token": token, "intake_id": held["RUNTIME_INTAKE_ID"]})["activation"][
            "activationState"
        ]
        == "activated"
    )
    assert_seen(desk, choice, held["RUNTIME_INTAKE_ID"])
    if choice is CHOICES[0]:
        in_another_session(desk, machine, plan)

    for step in reversed(plan.steps):
        assert machine.roll_back(step) == [], step.id
    assert machine.tree() == {}


def assert_seen(desk: Desk, choice: Choice, intake_id: str) -> None:
    """Asserts that the set-up is counted in the warehouse and is part of its intake in the graph."""
    settings = desk.service.settings
    with Warehouse(settings.data_dir).connect() as connection, closing(desk.ledger()) as ledger:
        sync_intakes(connection, ledger)
        sync_sessions(connection, ledger)
        with ledger.read() as reader:
            (session,) = sessions_of_intake(reader, intake_id)
            key = session_key(session["session_id"])
            edges = decode_edges(reader.rows("world_edges_at", node_id=node_ids(key)[1]))
        counted = connection.execute(
            "select assistant, finished, registered from raw_ledger__connect_sessions where session_key = ?", [key]
        ).fetchall()
    assert counted == [(choice.assistant, True, True)]
    assert intake_node_ids(graph_key(intake_id))[0] in {edge.target for edge in edges}


def in_another_session(desk: Desk, machine: Machine, plan: ConnectPlan) -> None:
    """Pairs again and asserts that every step is found done by its checks: nothing is overwritten, least of all the
    key."""
    token, before = desk.session(), machine.tree()
    machine.call = lambda tool, arguments: desk.tool(tool, arguments | {"session_token": token})
    progress = desk.tool("svc_connect_plan", {"session_token": token, **plan.choice.model_dump()})["progress"]
    while progress["next"]:
        assert "Where its checks pass already" in progress["next"]["guidance"]
        step = plan.step(progress["next"]["step"]["id"])
        assert machine.passes(step), step.id
        report = {"session_token": token, "step_id": step.id, "outcome": "done"}
        progress = desk.tool("svc_connect_report_step", report)["progress"]
    assert progress["finished"]
    assert machine.tree() == before


PLAIN = Choice(assistant="claude-code", os="linux")


def follow_to(desk: Desk, machine: Machine, plan: ConnectPlan, step_id: str) -> PlanStep:
    """Follows all steps before the one named, and returns that step."""
    for step in plan.steps:
        if step.id == step_id:
            return step
        assert machine.do(plan, step) == [], step.id
    raise AssertionError(step_id)


def test_a_folder_that_another_made_is_left_as_it_is(desk: Desk, tmp_path: Path):
    plan = plan_for(PLAIN, desk.urls)
    machine = machine_at(tmp_path / "home", desk, "")
    folder = machine.workspace(plan)
    folder.mkdir()
    (folder / "svc.env").write_text("THEIRS=1\n")
    before = machine.tree()
    step = plan.step("workspace")
    assert machine.do(plan, step)
    assert not machine.passes(step)
    assert machine.roll_back(step) == []
    assert machine.tree() == before


def test_the_users_own_files_stay_in_the_workspace(desk: Desk, tmp_path: Path):
    plan = plan_for(PLAIN, desk.urls)
    machine = machine_at(tmp_path / "home", desk, "")
    follow_to(desk, machine, plan, "register")
    (machine.workspace(plan) / "thoughts.md").write_text("mine")
    for step in reversed(plan.steps[: plan.steps.index(plan.step("register"))]):
        failed = machine.roll_back(step)
        assert bool(failed) == (step.id == "workspace"), failed
    assert machine.workspace(plan).joinpath("thoughts.md").read_text() == "mine"
    assert machine.passes(plan.step("workspace"))


def test_checks_that_only_look_fail_where_there_is_nothing_to_see(desk: Desk, tmp_path: Path):
    nobody = ServiceUrls(f"http://127.0.0.1:{free_port()}", None)
    plan, elsewhere = plan_for(PLAIN, desk.urls), plan_for(PLAIN, nobody)
    machine = machine_at(tmp_path / "home", desk, "svcs_" + "a" * 43)
    assert machine.passes(plan.step("prerequisites"))
    assert not machine.passes(elsewhere.step("prerequisites"))
    assert not machine.passes(elsewhere.step("verify_tools"))
    assert not machine.passes(plan.step("verify_guardrail"))
    machine.path = str(tmp_path)
    assert not machine.passes(plan.step("prerequisites"))


def test_a_registration_that_is_refused_is_mended_and_sent_again(desk: Desk, tmp_path: Path):
    plan = plan_for(PLAIN, desk.urls)
    machine = machine_at(tmp_path / "home", desk, "", use_case="short")
    step = follow_to(desk, machine, plan, "register")
    assert len(machine.do(plan, step)) == 2
    assert not machine.passes(step)
    assert "/useCase" in (machine.workspace(plan) / "intake-answer.json").read_text()
    machine.answers = {**machine.answers, "use_case": ANSWERS["use_case"]}
    assert machine.do(plan, step) == []
    assert machine.passes(step)


def test_a_transfer_that_pays_nothing_gives_no_key(desk: Desk, tmp_path: Path):
    plan = plan_for(PLAIN, desk.urls)
    machine = machine_at(tmp_path / "home", desk, "")
    follow_to(desk, machine, plan, "pay")
    quote = (machine.workspace(plan) / "quote.json").read_bytes()
    assert machine.do(plan, plan.step("quote")) == []
    assert (machine.workspace(plan) / "quote.json").read_bytes() == quote, "a quote that may be paid is kept"
    machine.answers = {**machine.answers, "transaction_hash": desk.service.node.truth.send([])}
    desk.service.mine(3)
    assert machine.do(plan, plan.step("pay")) == []
    claim = plan.step("claim")
    assert len(machine.do(plan, claim)) == 2
    assert not machine.passes(claim)
    assert "RUNTIME_API_KEY" not in environment_of(machine, plan)
