"""The tools by key: every field has a description, and every result fits a context, whatever its content."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from contracts.connect.key_arguments import CorrectArguments, RememberArguments, SearchArguments
from contracts.connect.key_server import KEY_INSTRUCTIONS, KEY_SERVER_DESCRIPTION, RESULT_BYTES
from contracts.connect.key_shaping import (
    build_result,
    fitting,
    node_result,
    search_result,
    shortened,
    shown_disputes,
    size_of,
)
from contracts.connect.key_tools import KEY_PROMPTS, KEY_TOOLS

NAMES = [tool.name for tool in KEY_TOOLS]
LONG = "ä" * 5_000


def properties(schema: Any, path: str = "") -> list[tuple[str, Any]]:
    """Returns every property of a schema, at any depth."""
    if isinstance(schema, list):
        return [found for part in schema for found in properties(part, path)]
    if not isinstance(schema, dict):
        return []
    found = [(f"{path}/{name}", each) for name, each in schema.get("properties", {}).items()]
    for name, part in schema.items():
        if name == "properties":
            for inner, each in part.items():
                found += properties(each, f"{path}/{inner}")
        elif name not in ("examples", "default", "enum", "const"):
            found += properties(part, path)
    return found


@pytest.mark.parametrize("tool", KEY_TOOLS, ids=lambda tool: tool.name)
def test_every_field_of_a_tool_says_what_it_means(tool):
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        of_context = "/context/"  # the circumstances of a check have their own schema
        silent = [name for name, each in properties(schema) if of_context not in name and not each.get("description")]
        assert silent == []
    taken = json.dumps(tool.input_schema)
    assert "$ref" not in taken
    assert '"null"' not in taken
    assert tool.description.endswith(".")


def test_the_tools_read_write_and_destroy_as_they_say():
    assert NAMES == [
        "svc_remember",
        "svc_search",
        "svc_node",
        "svc_correct",
        "svc_build",
        "svc_memory_design",
        "svc_guardrail_check",
        "svc_holders",
        "svc_verify",
        "svc_plans",
        "svc_my_key",
    ]
    writing = [tool.name for tool in KEY_TOOLS if not tool.read_only]
    assert writing == ["svc_remember", "svc_correct", "svc_build", "svc_memory_design"]
    assert [tool.name for tool in KEY_TOOLS if tool.destructive] == ["svc_correct"]
    assert all(tool.keeps_texts for tool in KEY_TOOLS if not tool.read_only)


def test_the_list_of_tools_is_short_enough_for_a_context():
    schemas = [{"name": tool.name, "what": tool.description, "in": tool.input_schema} for tool in KEY_TOOLS]
    assert size_of(schemas) < 40_000
    assert len(KEY_SERVER_DESCRIPTION) <= 100


def test_instructions_and_prompts_name_tools_that_there_are():
    texts = [KEY_INSTRUCTIONS, *(prompt.text for prompt in KEY_PROMPTS)]
    named = {word.strip(".,;:") for text in texts for word in text.split() if word.startswith("svc_")}
    assert named <= set(NAMES)
    for prompt in KEY_PROMPTS:
        assert [argument.name for argument in prompt.arguments if f"{{{argument.name}}}" not in prompt.text] == []


def test_a_statement_becomes_a_signal():
    signal = RememberArguments(
        title="T", details="More", properties={"subject": "a"}, links=[{"type": "X", "target": "b"}]
    )
    stated = signal.signal()
    assert (stated.type, stated.title, stated.source) == ("Observation", "T", "conversation")
    assert stated.payload == {"subject": "a", "description": "More"}
    assert [(link.type, link.target, link.direction) for link in stated.links] == [("X", "b", "outbound")]


@pytest.mark.parametrize(
    ("action", "type_name", "payload"),
    [
        ("corrects", "Goal", {"subject": "a", "predicate": "b", "value": 2}),
        ("retracts", "Signal", {"value": 2}),
        ("confirms", "Signal", {"value": 2}),
    ],
)
def test_a_correction_is_about_what_it_corrects(action, type_name, payload):
    arguments = CorrectArguments(id="n", action=action, reason="R", properties={"value": 2})
    signal = arguments.signal("Goal", {"subject": "a", "predicate": "b", "value": 1, "else": 3})
    assert (signal.type, signal.title, signal.payload) == (type_name, "R", payload)
    assert getattr(signal, action).id == "n"


def test_a_search_is_a_query():
    request = SearchArguments(query="q", around={"id": "n", "depth": 2}, types=["Goal"]).request()
    assert (request.search, request.node_types, request.limit, request.include_edges) == ("q", ["Goal"], 10, True)
    assert request.traverse is not None
    assert (request.traverse.from_id, request.traverse.depth, request.traverse.direction) == ("n", 2, "both")


def node(number: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"signal:{number}",
        "title": "t" * 300,
        "type": "Observation",
        "domain": "TRACK",
        "properties": {"description": LONG, "list": [LONG] * 50, "object": {"a": {"b": LONG}}},
        "visibility": "private",
        "source": LONG[:500],
        "sourceClass": "inference",
        "confirmedAs": None,
        "validFrom": "2026-01-01T00:00:00.000000Z",
        "validTo": None,
        "recordedAt": "2026-01-01T00:00:00.000000Z",
        "endedBy": None,
        "retracted": False,
        "disputed": True,
        **fields,
    }


def dispute(number: int) -> dict[str, Any]:
    claim = {"id": f"n{number}", "value": LONG, "source": LONG, "sourceClass": "document", "confidence": None}
    return {"subject": LONG, "predicate": LONG, "claims": [claim] * 100}


EDGE = {"source": "a" * 200, "type": "PART_OF", "target": "b" * 200}
DISPUTES = [dispute(number) for number in range(50)]


def test_no_result_is_longer_than_a_context_takes():
    found = search_result(
        {
            "nodes": [node(number) for number in range(50)],
            "edges": [EDGE] * 1_000,
            "disputes": DISPUTES,
            "matched_nodes": 1_000,
            "cursor": "c" * 1_000,
            "revision": 1,
            "hints": {"near_words": ["w" * 40] * 100, "own_nodes": 1, "public_nodes": 2},
        }
    )
    assert size_of(found) <= RESULT_BYTES
    assert found.nodes and found.left_out == 50 - len(found.nodes)
    assert all(each.cut for each in found.nodes)

    state = {"node": node(), "retiredAt": None, "decision": 1}
    act = {"kind": "corrects", "by": "n", "reason": LONG, "recordedAt": "2026"}
    read = node_result(
        "n", {"node": node(), "history": [state] * 500, "acts": [act] * 100, "disputes": DISPUTES, "revision": 1}
    )
    assert size_of(read) <= RESULT_BYTES
    assert read.history and read.left_out == 500 - len(read.history)

    part = {"id": "kg:" + "a" * 32, "title": "t" * 300, "type": "Passage", "rule": "passage"}
    built = build_result(
        {
            "graphId": "g",
            "mode": "preview",
            "verdict": None,
            "stages": [{"stage": "authority", "result": "fail", "reason": LONG}] * 7,
            "nodes": [part] * 9_999 + [part | {"type": "Goal"}],
            "edges": [EDGE] * 9_999,
            "refused": [{"pointer": "/triples/0", "reason": LONG}] * 500,
            "duplicates": [{"nodes": ["a" * 200, "b" * 200]}] * 500,
            "replaced": ["x"] * 500,
            "withheld": [],
            "notUnderstood": {"passages": 3},
            "revision": 1,
        }
    )
    assert size_of(built) <= RESULT_BYTES
    assert (built.node_count, built.nodes[0].type) == (10_000, "Goal")


@given(st.lists(st.integers(0, 3_000), max_size=40), st.integers(0, 20_000))
def test_the_longest_beginning_that_fits_is_kept(lengths, largest):
    rows = shown_disputes([]) + [RememberArguments(title="t", details="d" * (length + 1)) for length in lengths]
    kept = fitting(rows, largest)
    assert kept == rows[: len(kept)]
    assert sum(size_of(row) + 1 for row in kept) <= largest
    if len(kept) < len(rows):
        assert sum(size_of(row) + 1 for row in rows[: len(kept) + 1]) > largest


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=10), inner, max_size=5),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=10), _VALUES, max_size=10))
def test_properties_are_whole_or_marked_as_cut(properties):
    shown, cut = shortened(properties, 20, 400)
    assert size_of(shown) <= 400 + 2
    if not cut:
        assert shown == properties
