"""The catalogue of the MCP servers' errors is complete, and has the numbers that are sent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from described import expanded

from contracts.connect.tool_problems import tool_failures
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.site.mcp_errors import refusals

ROOT = Path(__file__).parents[3]
ANSWERED_BY_THE_SDK = {404}
"""The status of an unknown method, whose number is -32601."""


def test_every_failure_that_is_listed_has_a_code_of_its_own_and_is_made_by_a_tool():
    rooms = ("contracts/connect", "api/connect")
    sources = "".join(file.read_text() for room in rooms for file in (ROOT / room).glob("*.py"))
    failures = tool_failures(None)
    assert len({failure.code for failure in failures}) == len(failures) == 25
    made = set(re.findall(r"(?:raise |return |_failed\()(?:tool_problems\.)?([A-Z]\w+)", sources))
    assert {type(failure).__name__ for failure in failures} <= made


def test_the_way_to_a_pairing_code_is_that_of_the_installation():
    fixes = {failure.code: failure.fix for failure in tool_failures("https://app.example")}
    assert fixes["session_ended"] == (
        "Ask the user for a fresh pairing code from https://app.example/profile. "
        "Then call svc_connect_handshake with it."
    )


@pytest.mark.parametrize("path", ["/mcp", "/api/v2/mcp"])
def test_every_status_of_a_refused_message_has_a_code(path: str):
    described = expanded(json.loads(OPENAPI_FILE.read_text()))
    answers = described["paths"][path]["post"]["responses"]
    refused = {int(status) for status, answer in answers.items() if "JsonRpcRefusal" in json.dumps(answer)}
    assert refused - {refusal.problem.status for refusal in refusals()} == ANSWERED_BY_THE_SDK


def test_a_refusal_has_the_number_that_is_sent_with_its_status():
    numbers = {refusal.problem.code: refusal.numbers for refusal in refusals()}
    assert numbers["body_invalid"] == (-32700, -32600)
    assert numbers["origin_forbidden"] == numbers["host_unknown"] == numbers["media_type_unsupported"] == (-32600,)
    assert numbers["session_limited"] == (429,)
    assert numbers["internal_fault"] == (-32603,)
    assert numbers["store_unavailable"] == (503,)
