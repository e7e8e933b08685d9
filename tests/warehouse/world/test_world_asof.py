"""A query of the past returns what replaying the events returns."""

from __future__ import annotations

from pathlib import Path

import duckdb
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS
from world_graphs import DOMAIN_OF, T0, T1, T2, T3, Graph, Model, edge, events_of, node, write

from contracts.world.own_ontology import NO_WORDS, OwnOntology
from contracts.world.records import Event, Node
from warehouse.world.asof import PastView
from warehouse.world.history import Past
from warehouse.world.query import Answer, Filter, Query, Traversal, answer

IDS = ["a", "b", "c", "d"]
OWNERS = [None, None, "0xaa", "0xbb"]
TIMES = [T0, T1, T2, T3]
BOUNDS = st.tuples(st.sampled_from(TIMES), st.sampled_from([None, None, *TIMES]))

states = st.builds(
    lambda node_id, owner, title, type, bounds, recorded, erased: node(
        node_id,
        title=title,
        type=type,
        owner=owner,
        valid_from=bounds[0],
        valid_to=bounds[1],
        recorded_at=recorded,
        erased=erased,
    ),
    st.sampled_from(IDS),
    st.sampled_from(OWNERS),
    st.sampled_from(["a plan", "planning", "Zürich", 'quo"ted']),
    st.sampled_from(list(DOMAIN_OF)),
    BOUNDS,
    st.sampled_from(TIMES),
    st.sampled_from([False, False, False, False, True]),
) | st.builds(
    lambda source, target, owner, type, bounds, recorded: edge(
        source,
        target,
        owner=owner,
        type=type,
        properties={"note": "Über meadows"},
        valid_from=bounds[0],
        valid_to=bounds[1],
        recorded_at=recorded,
    ),
    st.sampled_from(IDS),
    st.sampled_from(IDS),
    st.sampled_from(OWNERS),
    st.sampled_from(["PURSUES", "ALIAS_OF"]),
    BOUNDS,
    st.sampled_from(TIMES),
)
histories = st.lists(states, max_size=25).map(lambda later: events_of([*map(node, IDS), *later]))


def view(
    connection: duckdb.DuckDBPyConnection, events: list[Event], known: int, past: Past, owner: str | None
) -> PastView:
    """Returns a view for which the first `known` events are rows of a generation, and all are in memory."""
    for table in ("out_world__nodes", "out_world__edges"):
        connection.execute(
            f"create or replace table {table} (id varchar, revision bigint, owner varchar, body varchar)"
        )
    for event in events[:known]:
        state = event.node or event.edge
        assert state is not None
        table = "out_world__nodes" if isinstance(state, Node) else "out_world__edges"
        row = [state.id, state.revision, state.owner, msgspec.json.encode(state).decode()]
        connection.execute(f"insert into {table} values (?, ?, ?, ?)", row)
    return PastView(connection, events, past, owner)


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


@settings(deadline=None, max_examples=8 * ROUNDS)
@given(
    histories,
    st.floats(0, 1),
    st.sampled_from([None, *TIMES]),
    st.integers(0, 30),
    st.sampled_from([None, "0xaa"]),
    st.builds(Filter, st.sampled_from([None, *DOMAIN_OF.values()]), st.sampled_from([(), ("Goal", "Task")])),
    st.sampled_from(["plan", "zürich", "pla", "quo ted", "pursue", "uber", "plann", "meadws", "planing"]),
    st.builds(Traversal, st.sampled_from(IDS), st.integers(1, 4), st.sampled_from(["outbound", "inbound", "both"])),
)
def test_a_query_of_the_past_equals_a_replay(
    connection: duckdb.DuckDBPyConnection,
    history: list[Event],
    share: float,
    as_of: str | None,
    at_revision: int,
    owner: str | None,
    within: Filter,
    search: str,
    traversal: Traversal,
) -> None:
    past = Past(as_of, at_revision)
    seen = view(connection, history, int(len(history) * share), past, owner)
    model = Model.then(history, owner, as_of, at_revision)

    assert (seen.node_count(), seen.edge_count()) == (len(model.nodes), len(model.edges))
    for node_id in IDS:
        assert seen.node(node_id) == model.nodes.get(node_id)
    listed = answer(seen, Query(filter=within, limit=100, include_edges=True))
    assert [each.id for each in listed.nodes] == model.matching(None, within)
    assert listed.edges == model.edges_among(each.id for each in listed.nodes)
    assert listed.revision == at_revision
    found = answer(seen, Query(search=search, filter=within, limit=100))
    assert sorted(each.id for each in found.nodes) == model.matching(search, within)
    distances = model.distances(traversal)
    expected = sorted(set(distances) & set(model.matching(None, within)), key=lambda each: (distances[each], each))
    reached = answer(seen, Query(traverse=traversal, filter=within, limit=100))
    assert [each.id for each in reached.nodes] == expected


@pytest.mark.parametrize("known", [0, 3])
def test_an_edge_that_was_forgotten_since_never_existed(connection: duckdb.DuckDBPyConnection, known: int) -> None:
    told = edge("a", "b", owner="0xaa")
    tombstone = msgspec.structs.replace(told, owner="forgotten", actor="forgotten", valid_to=told.recorded_at)
    history = events_of([node("a"), node("b"), told, tombstone])
    seen = view(connection, history, known, Past(None, 3), "0xaa")
    assert (seen.node_count(), seen.edge_count()) == (2, 0)


def test_a_superseded_fact_holds_until_its_end_and_is_known_from_when_it_was_recorded(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    history = events_of(
        [
            node("old", title="nine", valid_from=T0, recorded_at=T1),
            node("old", title="nine", valid_from=T0, valid_to=T2, recorded_at=T2),
            node("new", title="ten", valid_from=T2, recorded_at=T2),
        ]
    )

    def titles(as_of: str | None, at_revision: int) -> list[str]:
        seen = view(connection, history, 2, Past(as_of, at_revision), None)
        return [each.title for each in answer(seen, Query()).nodes]

    assert titles(None, 3) == ["ten"]
    assert titles(None, 1) == ["nine"]
    assert titles(T1, 3) == ["nine"]
    assert titles(T2, 3) == ["ten"]
    assert titles(T3, 1) == ["nine"]
    assert titles(T3, 0) == []
    assert titles("2020-01-01T00:00:00.000000Z", 3) == []


def test_the_past_is_ranked_as_it_was_at_the_time(connection: duckdb.DuckDBPyConnection) -> None:
    history = events_of(
        [
            node("b", title="treasury"),
            node("c", title="treasury treasury"),
            node("d", title="the long tale of a treasury that was lost at sea"),
            node("e", title="sea"),
        ]
    )
    gone = events_of([node("c", title="treasury treasury", valid_to=T1, recorded_at=T2)], first=5)
    question = Query(search="treasury")
    present = answer(Graph.of(None, history).seen_by(None), question)
    past = answer(view(connection, [*history, *gone], 3, Past(None, 4), None), question)
    assert [each.id for each in past.nodes] == [each.id for each in present.nodes] == ["c", "b", "d"]


@pytest.mark.parametrize("owner", [None, "0xaa"])
def test_a_word_that_others_begin_with_weighs_the_same_in_the_past(
    connection: duckdb.DuckDBPyConnection, tmp_path: Path, owner: str | None
) -> None:
    titles = ["star", "boat", "starboard", "starch", "starling", "startle"]
    history = events_of(
        [node(f"n{number}", title=title, owner=owner, source=title) for number, title in enumerate(titles)]
    )
    question = Query(search="boat star")
    orders = [
        [each.title for each in answer(seen, question).nodes]
        for seen in (
            Graph.of(None, history).seen_by(owner),
            Graph.of(write(tmp_path / "snapshot", history), history).seen_by(owner),
            view(connection, history, 3, Past(None, len(history)), owner),
        )
    ]
    assert orders == [titles] * 3


def test_ended_nodes_are_found_only_on_request(connection: duckdb.DuckDBPyConnection) -> None:
    history = events_of(
        [
            node("over", title="a plan", valid_from=T0, valid_to=T1, recorded_at=T1),
            node("wrong", title="a plan", valid_from=T0, valid_to=T0, retracted=True),
            node("gone", title="a plan", erased=True, valid_to=T1),
            node("later", title="a plan", valid_from=T3, recorded_at=T1),
            node("now", title="a plan"),
        ]
    )

    def found(as_of: str | None, include_ended: bool) -> set[str]:
        seen = view(connection, history, 2, Past(as_of, 5, include_ended), None)
        return {each.id for each in answer(seen, Query(search="plan")).nodes}

    assert found(None, False) == {"now"}
    assert found(None, True) == {"now", "over", "wrong"}
    assert found(T2, True) == {"now", "over", "wrong"}
    assert found(T3, False) == {"now", "later"}


def test_a_fact_is_disputed_at_the_instant_that_is_asked_about(connection: duckdb.DuckDBPyConnection) -> None:
    about = {"subject": "s", "predicate": "state"}
    history = events_of(
        [
            node("a", properties={**about, "value": 1}, valid_from=T0, disputed=True),
            node("b", properties={**about, "value": 2}, valid_from=T2, disputed=True),
        ]
    )
    for as_of, disputed in ((T1, [False]), (T2, [True, True])):
        seen = view(connection, history, 1, Past(as_of, 2), None)
        assert [each.disputed for each in answer(seen, Query()).nodes] == disputed


def test_a_search_of_the_past_has_aliases_edges_typing_errors_and_near_words_of_what_was_seen_then(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    history = events_of(
        [
            node("acme", title="Acme Corporation"),
            node("nick", title="Roadrunner Supplies"),
            edge("nick", "acme", type="ALIAS_OF", properties={"note": "since the merger"}),
            node("secret", title="Acmene vault", owner="0xbb"),
            node("nick", title="Coyote Traders"),
        ]
    )

    def asked(search: str, owner: str | None = "0xaa") -> Answer:
        return answer(view(connection, history, 2, Past(None, 4), owner), Query(search=search))

    def found(search: str) -> list[str]:
        return [each.id for each in asked(search).nodes]

    assert found("supplies") == ["nick", "acme"]
    assert found("merger") == ["acme", "nick"]
    assert found("corporatoin") == ["acme"], "a letter is wrong"
    assert found("coyote") == []
    assert asked("corpration zzzzzz").hints is None
    near = asked("rodrunnr").hints
    assert near is not None and near.near_words == ("roadrunner",)
    hints = asked("vaaltt").hints
    assert hints is not None and hints.near_words == ()
    theirs = asked("vaaltt", "0xbb").hints
    assert theirs is not None and theirs.near_words == ("vault",)


def test_an_owners_predicate_is_single_valued_by_the_words_of_the_queried_belief(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    about = {"subject": "s", "predicate": "mood"}
    history = events_of(
        [
            node("a", owner="0xaa", properties={**about, "value": 1}, valid_from=T0),
            node("b", owner="0xaa", properties={**about, "value": 2}, valid_from=T0),
        ]
    )
    mood = OwnOntology(single_valued_predicates=["mood"]).text()
    for words, disputed in ((NO_WORDS, [False, False]), (mood, [True, True])):
        seen = view(connection, history, 1, Past(T1, 2, words=words), "0xaa")
        assert [each.disputed for each in answer(seen, Query()).nodes] == disputed
