import json

import pytest
from jsonschema import Draft202012Validator

from contracts.connect.server import FIRST_TOOL, INSTRUCTIONS
from contracts.connect.tools import TOOLS

NAMES = [
    "svc_connect_handshake",
    "svc_connect_plan",
    "svc_connect_report_step",
    "svc_connect_status",
    "svc_connect_talk",
    "svc_connect_close",
    "svc_guardrail_check",
    "svc_world_query",
    "svc_plans",
    "svc_connect_graph",
    "svc_intake_status",
]
TOKEN = "svcs_" + "a" * 43

# Arguments that fit a tool, and arguments that don't.
ARGUMENTS = [
    ("svc_connect_handshake", {"pairing_code": "abcdef"}, True),
    ("svc_connect_handshake", {"pairing_code": "abcdef", "agent": "Ada"}, True),
    ("svc_connect_handshake", {"agent": "Ada"}, False),
    ("svc_connect_plan", {"session_token": TOKEN}, True),
    ("svc_connect_plan", {"session_token": TOKEN, "assistant": "codex", "os": "linux"}, True),
    ("svc_connect_plan", {"session_token": TOKEN, "os": "Linux"}, False),
    ("svc_connect_plan", {"session_token": TOKEN, "os": None}, False),
    ("svc_connect_report_step", {"session_token": TOKEN, "step_id": "a", "outcome": "done"}, True),
    ("svc_connect_report_step", {"session_token": TOKEN, "step_id": "a", "outcome": "perhaps"}, False),
    ("svc_connect_status", {}, False),
    ("svc_connect_status", {"session_token": TOKEN, "more": 1}, False),
    ("svc_guardrail_check", {"session_token": TOKEN, "action": "ls", "severity": "low", "context": {"a": 1}}, True),
    ("svc_guardrail_check", {"session_token": TOKEN, "action": "ls", "severity": "LOW"}, False),
    ("svc_world_query", {"session_token": TOKEN, "traverse": {"from_id": "a", "depth": 6}, "as_of": "x"}, True),
    ("svc_world_query", {"session_token": TOKEN, "traverse": {"from_id": "a", "depth": 7}}, False),
    ("svc_world_query", {"session_token": TOKEN, "asOf": "x"}, False),
]


def test_the_tools_and_their_order_stay():
    assert [tool.name for tool in TOOLS] == NAMES


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_says_what_it_does_and_takes_and_answers(tool):
    assert tool.title
    assert tool.description.endswith(".")
    assert ("session_required" in tool.description) is tool.needs_session is (tool.name != FIRST_TOOL)
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    taken = json.dumps(tool.input_schema)
    assert "$ref" not in taken
    assert '"null"' not in taken
    assert ("session_token" in tool.input_schema["required"]) is tool.needs_session


@pytest.mark.parametrize(("name", "arguments", "fits"), ARGUMENTS)
def test_the_schema_says_which_arguments_fit(name, arguments, fits):
    (tool,) = (tool for tool in TOOLS if tool.name == name)
    assert Draft202012Validator(tool.input_schema).is_valid(arguments) is fits


def test_only_closing_destroys_and_only_pairing_reaches_out():
    assert [tool.name for tool in TOOLS if tool.destructive] == ["svc_connect_close"]
    assert [tool.name for tool in TOOLS if tool.open_world] == [FIRST_TOOL]
    assert [tool.name for tool in TOOLS if not tool.idempotent] == [FIRST_TOOL, "svc_connect_report_step"]


def test_the_instructions_name_tools_that_there_are():
    named = {word.strip(".,") for word in INSTRUCTIONS.split() if word.startswith("svc_")}
    assert named <= set(NAMES)
    assert len(named) == 4
