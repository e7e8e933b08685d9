"""Snapshot and overlay together answer what a model of the graph answers, whatever was written when."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS
from world_graphs import DOMAIN_OF, T0, T1, Graph, Model, edge, events_of, node, write

from contracts.world.records import Edge, Event, Node
from warehouse.world.query import RANKED_AT_MOST, Filter, Query, Traversal, answer

IDS = [f"n{number}" for number in range(5)]
OWNERS = [None, "0xaa", "0xbb"]
WORDS = ["agent", "agents", "goal", "golden", "go", "zürich", "0xabc", "the"]

nodes = st.builds(
    lambda node_id, owner, words, note, type, over, erased: node(
        node_id,
        title=" ".join(words),
        type=type,
        owner=owner,
        properties={"note": note, "n": 7},
        valid_to=T0 if over else None,
        erased=erased,
    ),
    st.sampled_from(IDS),
    st.sampled_from(OWNERS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    st.sampled_from(WORDS),
    st.sampled_from(list(DOMAIN_OF)),
    st.sampled_from([False, False, False, True]),
    st.sampled_from([False, False, False, False, True]),
)
edges = st.builds(
    lambda source, target, owner, type, note, over: edge(
        source, target, owner=owner, type=type, properties={"note": note}, valid_to=T0 if over else None
    ),
    st.sampled_from(IDS),
    st.sampled_from(IDS),
    st.sampled_from(OWNERS),
    st.sampled_from(["PURSUES", "PART_OF", "ALIAS_OF"]),
    st.sampled_from(["", "meadows", "goal"]),
    st.sampled_from([False, False, False, True]),
)
FIRST = [node(node_id, title="a golden agent") for node_id in IDS[:3]]
"""Nodes that exist from the start, since the validator admits no edge whose ends are not nodes."""

histories = st.lists(nodes | edges | edges, min_size=10, max_size=40).map(lambda states: events_of(_sound(states)))


def _sound(states: list[Node | Edge]) -> list[Node | Edge]:
    """Returns the states that the stages admit.

    Nobody takes a node from its owner or back from the public, and whoever sees an edge sees its ends.
    """
    owners = {first.id: first.owner for first in FIRST}
    kept: list[Node | Edge] = [*FIRST]
    for state in states:
        if isinstance(state, Node):
            if owners.setdefault(state.id, state.owner) != state.owner and state.owner is not None:
                continue
            owners[state.id] = state.owner
        elif not all(owners.get(end, "nobody's") in (None, state.owner) for end in (state.source, state.target)):
            continue
        kept.append(state)
    return kept


searches = st.lists(
    st.sampled_from([*WORDS, "gol*", "age", "nothing", "goldne", "zurichs", "pursue", "parts", "meadow", "meadws"]),
    min_size=1,
    max_size=2,
).map(" ".join)
filters = st.builds(
    Filter,
    st.sampled_from([None, *DOMAIN_OF.values()]),
    st.lists(st.sampled_from(list(DOMAIN_OF)), max_size=2).map(tuple),
)
traversals = st.builds(
    Traversal, st.sampled_from([*IDS, "unknown"]), st.integers(1, 6), st.sampled_from(["outbound", "inbound", "both"])
)


@settings(deadline=None, max_examples=8 * ROUNDS)
@given(histories, st.floats(0, 1), st.sampled_from(OWNERS), searches, filters, traversals)
def test_answers_do_not_depend_on_what_the_snapshot_knows(
    history: list[Event], share: float, owner: str | None, search: str, within: Filter, traversal: Traversal
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        known = history[: int(len(history) * share)]
        graph = Graph.of(write(Path(directory) / "snapshot", known), known)
        for event in history[len(known) :]:
            graph.apply([event])
        _same(graph, Model.now(history, owner), owner, search, within, traversal)
        _same(Graph.of(None, history), Model.now(history, owner), owner, search, within, traversal)


def _same(graph: Graph, model: Model, owner: str | None, search: str, within: Filter, traversal: Traversal) -> None:
    view = graph.seen_by(owner)
    assert view.node_counts() == model.counts()
    assert view.edge_count() == len(model.edges)
    for node_id in IDS:
        assert view.node(node_id) == model.nodes.get(node_id)

    listed = answer(view, Query(filter=within, limit=1000, include_edges=True))
    assert [each.id for each in listed.nodes] == model.matching(None, within)
    assert listed.edges == model.edges_among(each.id for each in listed.nodes)

    found = answer(view, Query(search=search, filter=within, limit=1000))
    assert sorted(each.id for each in found.nodes) == model.matching(search, within)
    assert found.matched == len(found.nodes) and not found.truncated

    distances = model.distances(traversal)
    expected = sorted(set(distances) & set(model.matching(None, within)), key=lambda each: (distances[each], each))
    reached = answer(view, Query(traverse=traversal, filter=within, limit=1000))
    assert [each.id for each in reached.nodes] == expected and reached.matched == len(expected)
    both = answer(view, Query(traverse=traversal, search=search, filter=within, limit=1000))
    assert [each.id for each in both.nodes] == [each for each in expected if each in model.matching(search, within)]


@settings(deadline=None, max_examples=5 * ROUNDS)
@given(histories, st.sampled_from(OWNERS), st.integers(1, 3), searches, traversals)
def test_pages_together_are_the_whole_answer(
    history: list[Event], owner: str | None, limit: int, search: str, traversal: Traversal
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        known = history[: len(history) // 2]
        view = Graph.of(write(Path(directory) / "snapshot", known), history).seen_by(owner)
        for question in (Query(), Query(search=search), Query(traverse=traversal)):
            whole = answer(view, _with(question, limit=1000))
            ids: list[str] = []
            page = answer(view, _with(question, limit=limit))
            ids += [each.id for each in page.nodes]
            while page.truncated:
                page = answer(view, _with(question, limit=limit, after=page.next_after, skip=page.next_skip or 0))
                ids += [each.id for each in page.nodes]
                assert page.matched == whole.matched
            assert ids == [each.id for each in whole.nodes]


def _with(question: Query, **changes: object) -> Query:
    return replace(question, **changes)


def test_equal_matches_come_with_the_short_ones_first_and_then_by_id(tmp_path: Path) -> None:
    titles = {
        "b": "treasury",
        "a": "treasury",
        "c": "treasury treasury",
        "d": "the long tale of a treasury that was lost at sea",
        "e": "sea",
    }
    events = events_of(node(each, title=title, source=each) for each, title in titles.items())
    for known in (events, events[:3], events[:0]):
        graph = Graph.of(write(tmp_path / f"snapshot{len(known)}", known), events)
        assert [each.id for each in answer(graph.seen_by(None), Query(search="treasury")).nodes] == ["a", "b", "c", "d"]


def test_snapshot_and_overlay_are_ranked_as_one(tmp_path: Path) -> None:
    events = events_of(
        [
            node("m", title="plan", source="m"),
            node("n", title="plan for many other things", source="n"),
            node("a", title="plan", source="a"),
            node("z", title="plan for many other things", source="z"),
        ]
    )
    graph = Graph.of(write(tmp_path / "snapshot", events[:2]), events)
    assert [each.id for each in answer(graph.seen_by(None), Query(search="plan")).nodes] == ["a", "m", "n", "z"]


def test_private_nodes_of_others_do_not_move_the_ranks_of_public_ones(tmp_path: Path) -> None:
    public = [node("a", title="alpha beta beta"), node("b", title="alpha alpha beta"), node("c", title="gamma")]
    hidden = [node(f"h{number}", title="alpha " * 5, owner="0xbb") for number in range(50)]
    for states in (public, [*public, *hidden]):
        events = events_of(states)
        graph = Graph.of(write(tmp_path / f"snapshot{len(states)}", events), events)
        found = answer(graph.seen_by("0xaa"), Query(search="alpha beta"))
        assert [each.id for each in found.nodes] == ["a", "b"] and found.matched == 2


@pytest.mark.parametrize("known", [0, 8], ids=["overlay", "snapshot"])
def test_a_private_node_is_no_start_no_bridge_and_no_result_for_others(tmp_path: Path, known: int) -> None:
    states = [
        node("a"),
        node("bridge", title="secret", owner="0xaa"),
        node("z"),
        node("other", owner="0xbb"),
        edge("a", "bridge", owner="0xaa"),
        edge("bridge", "z", owner="0xaa"),
        edge("a", "z", owner="0xbb", type="PART_OF"),
        edge("bridge", "other", owner="0xaa"),
    ]
    events = events_of(states)
    graph = Graph.of(write(tmp_path / "snapshot", events[:known]), events)
    expected = {
        None: (["a", "z"], ["a"], [], 0),
        "0xaa": (["a", "bridge", "z"], ["a", "bridge", "z"], ["bridge", "z"], 2),
        "0xbb": (["a", "other", "z"], ["a", "z"], [], 1),
        "0xcc": (["a", "z"], ["a"], [], 0),
    }
    for owner, (listed, from_a, from_bridge, edge_count) in expected.items():
        view = graph.seen_by(owner)
        assert [each.id for each in answer(view, Query()).nodes] == listed
        assert [each.id for each in answer(view, Query(traverse=Traversal("a", 6))).nodes] == from_a
        assert [each.id for each in answer(view, Query(traverse=Traversal("bridge", 6))).nodes] == from_bridge
        assert view.edge_count() == edge_count
        assert bool(answer(view, Query(search="secret")).matched) == (owner == "0xaa")
        assert bool(answer(view, Query(node_id="bridge")).matched) == (owner == "0xaa")


def test_a_node_that_becomes_public_is_seen_with_the_edges_it_had(tmp_path: Path) -> None:
    events = events_of([node("a", owner="0xaa"), node("b"), edge("a", "b"), node("a")])
    graph = Graph.of(write(tmp_path / "snapshot", events[:3]), events[:3])
    assert graph.seen_by(None).edge_count() == 0
    graph.apply(events[3:])
    view = graph.seen_by(None)
    assert view.edge_count() == 1
    assert [each.id for each in answer(view, Query(traverse=Traversal("b", 1, "inbound"))).nodes] == ["b", "a"]


def test_a_superseded_node_leaves_the_graph_and_a_later_state_brings_it_back() -> None:
    graph = Graph.of(None, events_of([node("a"), node("b"), edge("a", "b"), node("a", valid_to=T0, recorded_at=T1)]))
    assert graph.seen_by(None).node("a") is None and graph.seen_by(None).edge_count() == 0
    graph.apply(events_of([node("a", title="again")], first=9))
    assert graph.seen_by(None).edge_count() == 1


def test_an_owner_of_nothing_but_an_edge_sees_it() -> None:
    graph = Graph.of(None, events_of([node("a"), node("b"), edge("a", "b", owner="0xaa")]))
    assert [graph.seen_by(owner).edge_count() for owner in ("0xaa", "0xbb", None)] == [1, 0, 0]


def test_a_node_with_the_searched_id_is_found_however_many_match_better() -> None:
    ids = [f"n{number:05}" for number in range(RANKED_AT_MOST + 1)]
    seen = Graph.of(None, events_of([node(each, title="goal") for each in ids])).seen_by(None)
    for search, found in (("goal", [ids[-1]]), ("go* plan", []), ("goa", [ids[-1]])):
        assert [each.id for each in answer(seen, Query(node_id=ids[-1], search=search)).nodes] == found
