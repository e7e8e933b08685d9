"""The shipped rules refuse deeds that the graph asks for, and warn of deeds that it only mentions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS
from world_writes import ADA, goal, proposal, tie

from contracts.guardrail import loaded_guardrail
from contracts.world.alignment import aligned_with
from contracts.world.extraction.build import BuildRequest, build_graph, graph_proposal
from contracts.world.stages import Judgement

RULES = loaded_guardrail()
PROMISES = Path(__file__).parents[3] / "docs" / "promises.md"
WIPE = "Run `rm -rf /` on the server"
MOVED = {"rule": "large-mover", "address": "0x58", "change": -0.03, "from_block": 107, "to_block": 1949}


@pytest.mark.parametrize(
    ("draft", "result"),
    [
        (goal("a", type="Task", title=WIPE), "fail"),
        (goal("a", type="Decision", title=WIPE), "fail"),
        (goal("a", type="Goal", title=WIPE), "fail"),
        (goal("a", type="Concept", title=WIPE), "warn"),
        (goal("a", type="Observation", title="Seen", properties={"description": WIPE}), "warn"),
        (goal("a", type="Observation", title="0x58 gave up 3.03%", properties=MOVED, visibility="public"), "pass"),
        (goal("a", type="Agreement", title="Tampering with the audit is found."), "warn"),
        (goal("a", type="Agreement", title="Every test runs twice."), "pass"),
        (goal("a", type="Concept", title=WIPE, visibility="public"), "fail"),
        (tie("a", "RELATED_TO", "b", properties={"why": WIPE}), "warn"),
    ],
)
def test_a_deed_asked_for_is_refused_and_one_only_mentioned_is_warned_of(draft, result) -> None:
    judged = aligned_with(RULES, proposal(draft))
    assert judged.result == result, judged


@pytest.mark.parametrize("node_type", ["Concept", "Observation", "Task"])
@pytest.mark.parametrize("text", ["a\u202ereversed", "The key is AKIAQ3EGRZT5NWMJ4XYB"])
def test_a_hidden_text_or_a_secret_is_refused_whatever_speaks_of_it(node_type: str, text: str) -> None:
    drafted = goal("a", type=node_type, title="A note", properties={"description": text})
    assert aligned_with(RULES, proposal(drafted)).result == "fail"


def test_a_text_that_can_not_be_judged_is_refused() -> None:
    drafted = goal("a", type="Concept", title="A note", properties={"description": "a\x00b"})
    assert aligned_with(RULES, proposal(drafted)).result == "fail"


def test_the_graph_of_this_repositorys_promises_may_be_written() -> None:
    markdown = PROMISES.read_text()
    request = BuildRequest.model_validate({"documents": [{"markdown": markdown}]})
    graph = build_graph(request, "local:ada", datetime(2026, 11, 22, tzinfo=UTC))
    assert len(graph.nodes) > 30
    assert aligned_with(RULES, graph_proposal(graph, ADA, "private")).result in ("pass", "warn")


texts = st.one_of(
    st.sampled_from(("4539 1488", "0343 6467", "A quiet harbour", "notes", "", " ")),
    st.sampled_from((WIPE, "Run", "`rm -rf /` on the server", "Tampering with the audit is found.")),
    st.sampled_from((f"The key is {'AKIA'}Q3EGRZT5NWMJ4XYB", "a\0b", "\ud800", "a\nb")),
    st.text(max_size=5),
)
properties = st.dictionaries(texts, st.one_of(texts, st.integers(), st.lists(texts, max_size=2)), max_size=2)
drafts = st.builds(
    goal,
    st.sampled_from("abcdef"),
    type=st.sampled_from(["Task", "Goal", "Concept"]),
    title=texts,
    properties=properties,
    visibility=st.sampled_from(["private", "private", "public"]),
)


@settings(max_examples=60 * ROUNDS, deadline=None)
@given(st.lists(drafts, max_size=8))
def test_drafts_are_judged_together_as_one_by_one(together) -> None:
    warning = "Matches that do not block: "
    alone = [aligned_with(RULES, proposal(draft)) for draft in together]
    failed = [judged for judged in alone if judged.result == "fail"]
    warned = [judged.reason.removeprefix(warning) for judged in alone if judged.result == "warn"]
    judged = aligned_with(RULES, proposal(*together))
    if failed:
        assert judged == failed[0]
    elif warned:
        assert judged == Judgement("warn", f"{warning}{'; '.join(warned[:5])}")
    else:
        assert judged == aligned_with(RULES, proposal())
