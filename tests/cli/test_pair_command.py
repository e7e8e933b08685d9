"""`svc pair` next to a running service: its code pairs once, even over restarts, and no secret is left anywhere."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from installation import Installation
from postgres_fixtures import ENGINES
from publishing import FEW, House
from rounds import ROUNDS

from contracts.connect.pairing import is_code
from contracts.settings import Settings

VERSION = "2025-11-25"
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": VERSION,
}


@pytest.fixture
def installation(ledger_settings: Settings) -> Installation:
    return Installation(ledger_settings)


def call(installation: Installation, tool: str, **arguments: Any) -> tuple[bool, dict[str, Any]]:
    """Returns whether a tool's result is an error, and its fields."""
    params = {"name": tool, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    status, content = installation.answer("POST", "/mcp", HEADERS, body)
    assert status == 200, content
    result = json.loads(content)["result"]
    return result.get("isError", False), json.loads(result["content"][0]["text"])


@pytest.mark.parametrize("ledger_settings", ENGINES[:ROUNDS], indirect=True)
def test_a_code_pairs_once_and_its_session_outlives_the_service(installation: Installation, tmp_path: Path):
    made = json.loads(installation.called("pair", "--json").stdout)
    code, expires_at = made["pairingCode"], datetime.fromisoformat(made["expiresAt"])
    assert (set(made), made["ok"]) == ({"ok", "pairingCode", "expiresAt"}, True)
    assert is_code(code)
    assert timedelta(minutes=8) < expires_at - datetime.now(UTC) <= timedelta(minutes=10)
    log = tmp_path / "serve.log"
    with installation.served(log):
        refused, paired = call(installation, "svc_connect_handshake", pairing_code=code, agent="Ada")
        assert not refused, paired
        token = paired["session_token"]
        refused, again = call(installation, "svc_connect_handshake", pairing_code=code)
        assert (refused, again["code"]) == (True, "pairing_code_rejected")
        refused, planned = call(installation, "svc_connect_plan", session_token=token)
        assert not refused, planned
        first = planned["plan"]["steps"][0]["id"]
        call(installation, "svc_connect_report_step", session_token=token, step_id=first, outcome="done")
    with installation.served(log):
        refused, status = call(installation, "svc_connect_status", session_token=token)
        assert (refused, status["session"]["agent"]) == (False, "Ada")
        assert status["progress"]["steps"][0]["state"] == "done"
        assert call(installation, "svc_connect_close", session_token=token)[0] is False
        refused, ended = call(installation, "svc_connect_status", session_token=token)
        assert (refused, ended["code"]) == (True, "session_ended")
    rows = installation.ledger_text()
    assert not rows or "'connect_sessions'" in rows
    kept = [file.read_bytes().decode("latin-1") for file in tmp_path.rglob("*") if file.is_file()]
    for secret in (code, token):
        assert all(secret not in content for content in (rows, *kept))


def test_a_configured_companion_issues_the_codes(tmp_path: Path):
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path))
    installation.environment["SVC_APP_URL"] = "https://app.example"
    assert "https://app.example/profile" in installation.called("pair", code=2).stderr
    refused = json.loads(installation.called("pair", "--json", code=2).stdout)
    assert (refused["ok"], refused["code"]) == (False, "settings_invalid")


def test_codes_are_new_each_time_and_a_line_by_themselves(tmp_path: Path):
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path))
    codes = {installation.called("pair").stdout.splitlines()[0] for _ in range(2)}
    assert len(codes) == 2
    assert all(map(is_code, codes))


def test_the_address_is_the_one_that_is_served_unless_this_shell_names_another(tmp_path: Path):
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path))
    assert f"it pairs at http://127.0.0.1:{installation.port}/mcp." in installation.called("pair").stdout
    House(tmp_path, base_url="https://agents.example/svc").publish(*FEW)
    assert "it pairs at https://agents.example/svc/mcp." in installation.called("pair").stdout
    installation.environment["SVC_BASE_URL"] = "https://moved.example"
    assert "it pairs at https://moved.example/mcp." in installation.called("pair").stdout
    del installation.environment["SVC_BASE_URL"]
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("generations/none")
    assert f"it pairs at http://127.0.0.1:{installation.port}/mcp." in installation.called("pair").stdout
