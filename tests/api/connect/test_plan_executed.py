"""The set-up plan followed to its end in scratch homes against a running service: each command runs, each check fails
before its step and holds after it, and each step is undone."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from addressed_service import addressed_service
from plan_machine import Machine
from whole_service import PAYER, WholeService

from contracts.connect.plan import Choice, ConnectPlan, PlanStep, plan_for
from contracts.intake.answers import Place
from warehouse.connect import issue_code
from warehouse.ledger import open_ledger
from warehouse.secrets import load_secrets

CHOICES = [
    Choice(assistant="codex", os="linux", runtime_profile="guided_local"),
    Choice(assistant="claude-code", os="linux", runtime_profile="builder_local"),
    Choice(assistant="gemini", os="linux", runtime_profile="operator_local"),
    Choice(assistant="grok", os="linux", runtime_profile="agent_service"),
    Choice(assistant="custom", os="linux", runtime_profile="enterprise_workspace"),
]
LOOKS_ALONE = {"prerequisites", "verify_tools", "verify_guardrail"}
"""Steps that change nothing, so that nothing of them can be missing before."""

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
        self.place = Place(url, None)

    def session(self) -> str:
        """The token of a session that was paired with a fresh code."""
        settings = self.service.settings
        ledger = open_ledger(settings, settings.data_dir)
        try:
            with ledger.transaction() as tx:
                code = issue_code(tx, load_secrets(settings).pepper).code
        finally:
            ledger.close()
        return str(self.tool("svc_connect_handshake", {"pairing_code": code})["session_token"])

    def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What a tool answers; what it says of an error too."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        headers = {"Accept": "application/json, text/event-stream"}
        answer = httpx.post(f"{self.url}/mcp", json=call, headers=headers, timeout=30)
        assert answer.status_code == 200, answer.text
        result = answer.json()["result"]
        return dict(result.get("structuredContent") or json.loads(result["content"][0]["text"]))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with addressed_service(tmp_path_factory.mktemp("service")) as (service, url):
        yield Desk(service, url)


def machine_at(home: Path, desk: Desk, token: str, **answers: str) -> Machine:
    home.mkdir()
    return Machine(
        home, ANSWERS | answers, lambda tool, arguments: desk.tool(tool, arguments | {"session_token": token})
    )


def pay(desk: Desk, machine: Machine, plan: ConnectPlan) -> dict[str, str]:
    """What the user gives who pays the quote of the workspace."""
    quote = json.loads((machine.workspace(plan) / "quote.json").read_text())
    return {"transaction_hash": desk.service.pay(quote)}


def environment_of(machine: Machine, plan: ConnectPlan) -> dict[str, str]:
    lines = (machine.workspace(plan) / "svc.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def follow(desk: Desk, machine: Machine, plan: ConnectPlan, step: PlanStep, token: str) -> None:
    """One step: its check fails before it and holds after it, it is undone without a trace, and done again."""
    if step.id not in LOOKS_ALONE:
        assert not machine.passes(step), step.id
    if step.by_user:
        machine.answers = {**machine.answers, **pay(desk, machine, plan)}
    before = machine.tree()
    assert machine.do(plan, step) == [], step.id
    if step.id != "claim":  # whose key can be had again until its first use alone, which is the check
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
        evidence = {"intake_id": environment_of(machine, plan)["SVC_INTAKE_ID"]}
    report = {"session_token": token, "step_id": step.id, "outcome": "done", "evidence": evidence}
    assert "progress" in desk.tool("svc_connect_report_step", report), step.id


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: f"{choice.assistant}-{choice.runtime_profile}")
def test_every_command_runs_every_check_is_real_and_every_step_is_undone(desk: Desk, tmp_path: Path, choice: Choice):
    token = desk.session()
    given = desk.tool("svc_connect_plan", {"session_token": token, **choice.model_dump()})["plan"]
    plan = ConnectPlan.model_validate(given)
    assert plan == plan_for(choice, desk.place)
    machine = machine_at(tmp_path / "home", desk, token, agent_id=f"agent-{choice.assistant}")
    for step in plan.steps:
        follow(desk, machine, plan, step, token)
    status = desk.tool("svc_connect_status", {"session_token": token})
    assert status["progress"]["finished"], status

    held = environment_of(machine, plan)
    assert set(held) == {"SVC_BASE_URL", "SVC_MCP_URL", "SVC_INTAKE_ID", "SVC_API_KEY"}
    assert re.fullmatch(r"svc_free_[0-9A-Za-z]{36}", held["SVC_API_KEY"])
    assert status["session"]["intake_id"] == held["SVC_INTAKE_ID"]
    secret = machine.workspace(plan) / "svc.env"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(machine.workspace(plan).stat().st_mode) == 0o700
    for path, content in machine.tree().items():
        assert held["SVC_API_KEY"].encode() not in content or path.endswith("/svc.env"), path
        assert not [value for value in ("Ada Machine-Name", "@handle-of-ada") if value.encode() in content], path

    for step in reversed(plan.steps):
        assert machine.roll_back(step) == [], step.id
    assert machine.tree() == {}
