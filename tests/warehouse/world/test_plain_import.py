"""Records that an import treats as plain are judged and stored as the stages and the plan of all its states would do
it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, zip_longest
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rounds import ROUNDS
from world_writes import NOW, at, goal, no_rules, proposal

from contracts.errors import ImportInvalid, NodeUnknown, RequestProblem
from contracts.settings import Settings
from contracts.times import utc_text
from contracts.world import import_file
from contracts.world.identity import dedupe_key, given_id, own_id
from contracts.world.import_file import (
    ImportedEdge,
    ImportedNode,
    StateReader,
    number_of_edge,
    read_import,
    refuse_edges_twice,
    refuse_faults,
    survey,
)
from contracts.world.import_plan import ImportedStates, plan_import
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Act, Actor, Proposal, StageResult
from contracts.world.records import Edge, Node, is_live
from contracts.world.validator import judge
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world import import_helper, import_parts, import_planning, import_writing, importing
from warehouse.world.audit import decided_stages, verify
from warehouse.world.events import events_after
from warehouse.world.forget import erase_node
from warehouse.world.importing import ImportOutcome, import_graph
from warehouse.world.view import LedgerView
from warehouse.world.write import propose

_numbers = count()
PHRASE = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A ledger whose clock is fixed."""
    ledger = open_ledger(Settings(_env_file=None), tmp_path_factory.mktemp("still"), clock=lambda: NOW)
    yield ledger
    ledger.close()


def new_owner() -> str:
    return f"local:plain-{next(_numbers)}"


def file_of(*records: dict[str, Any]) -> bytes:
    lines = [{"kind": "header", "format": "svc.world.graph", "version": 1, "scope": "owner"}, *records]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in (*lines, {"kind": "end", "lines": len(lines)}))


def node(node_id: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "node", "id": node_id, "type": "Goal", "title": f"Title of {node_id}", "source": "a file", **fields}


def edge(source: str, edge_type: str, target: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "edge", "source": source, "type": edge_type, "target": target, "statedIn": "a file", **fields}


def mostly(usual: Any, *others: Any) -> Any:
    return st.integers(0, 19).flatmap(lambda drawn: st.sampled_from(others) if drawn == 0 else st.just(usual))


times = {
    "validFrom": st.sampled_from([None, at(days=-3), at(days=-3), "2026-01-01T00:00:00Z", at(days=3)]),
    "validTo": mostly(None, at(days=-1), at(days=9)),
    "recordedAt": st.sampled_from([None, at(days=-2), at(days=-2)]) | mostly(None, at(days=2)),
    "sourceClass": mostly("inference", "owner", "hearsay"),
    "disputed": mostly(False, True),
    "decision": mostly(None, "d1", "d" * 300),
}
properties = st.one_of(
    st.just({}),
    st.just({}),
    st.dictionaries(
        st.sampled_from(["description", "score", "Größe", "deadline", "revision"]),
        st.sampled_from(["a few words", "drei Wörter", 7, 0, 0.5, None, True, ["a", {"b": 1}], '"revision":0,']),
        max_size=2,
    ),
    mostly({}, {"note": "\u0007"}, {"note": PHRASE}, {"n": 2**60}, {"a\nb": 1}, {"note": "x" * 30_000}),
    mostly({}, {"subject": "door", "predicate": "state", "value": 1}, {"confidence": 0.1}, {"observed_at": at(days=1)}),
)
node_ids = st.sampled_from([f"n{number}" for number in range(5)])
a_node = st.fixed_dictionaries(
    {
        "id": mostly("", "own/x", "not an id", "x" * 180),
        "type": mostly("Goal", "Task", "Metric", "Shoe"),
        "domain": mostly(None, "VISION", "TRACK", ""),
        "title": mostly("", "Ship it", "ship  IT", " ", "a\u202eb", "t" * 400),
        "source": mostly("a file", "another", "", "s" * 600),
        "immutable": mostly(False, True),
        "endedBy": mostly(None, "n0"),
        "confirmedAs": mostly(None, "document"),
        "statedTo": mostly(None, at(days=9)),
        "properties": properties,
        **times,
    }
)
nodes = st.lists(a_node, min_size=1, max_size=5)
an_edge = st.fixed_dictionaries(
    {
        "source": node_ids,
        "target": node_ids,
        "type": mostly("INFORMED_BY", "PART_OF", "OWNED_BY", "SUPERSEDES", "CORRECTS", "SHOES"),
        "properties": properties,
        **times,
    }
)
edges = st.lists(an_edge, max_size=4)


def file_with(drawn_nodes: list[dict[str, Any]], drawn_edges: list[dict[str, Any]]) -> bytes:
    records = []
    for number, drawn in enumerate(drawn_nodes):
        fields = {name: value for name, value in drawn.items() if name not in ("id", "title")}
        title = drawn["title"] or f"Title {number}"
        records.append(node(drawn["id"] or f"n{number}", **fields | {"title": title}))
    for drawn in drawn_edges:
        ends = (drawn["source"], drawn["type"], drawn["target"])
        records.append(edge(*ends, **{name: drawn[name] for name in (*times, "properties")}))
    return file_of(*records)


def judged_one_by_one(ledger: Ledger, content: bytes, actor: Actor) -> tuple[str, Any, list[Node | Edge]]:
    """Returns the verdict, stages and states of a file, or its problem, with nothing treated as plain."""
    assert actor.owner is not None
    ontology, owner = load_ontology(), actor.owner
    items = [item for item in read_import(content.splitlines()) if isinstance(item, ImportedNode | ImportedEdge)]
    index = survey(content.splitlines, owner, lambda ids: {name: own_id(owner, name) for name in ids}, ontology)
    reader = StateReader(owner, actor.name, utc_text(NOW), ontology, index.stored)
    of_nodes = tuple(tuple(map(reader.node, item.states)) for item in items if isinstance(item, ImportedNode))
    of_edges = tuple(tuple(map(reader.edge, item.states)) for item in items if isinstance(item, ImportedEdge))
    refuse_edges_twice(items, reader, {number_of_edge(states[-1].id) for states in of_edges})
    refuse_faults(items, owner, of_nodes, of_edges)
    endings = {(own_id(owner, by), own_id(owner, ended)) for by, ended in index.endings}
    confirmed = {own_id(owner, each) for each in index.confirmed}
    imported = ImportedStates(of_nodes, of_edges, index.current, endings, confirmed)
    sources = {
        item.states[-1].source if isinstance(item, ImportedNode) else item.states[-1].stated_in for item in items
    }
    stated = Proposal(actor=actor, source=sources.pop() if len(sources) == 1 else f"{len(sources):,} sources")
    with ledger.read() as view:
        planned = plan_import(imported, stated, LedgerView(view), ontology, NOW, ontology_ever=ontology)
        judged = judge(planned.case, no_rules(stated))
    return judged.verdict, judged.stages, list(planned.written)


def drawn(**fields: Any) -> dict[str, Any]:
    """Returns a node or an edge in the drawn form, with other fields than the usual ones."""
    usual = {"properties": {}, "validFrom": None, "validTo": None, "recordedAt": None}
    return usual | {"sourceClass": "inference", "disputed": False, "decision": None} | fields


def drawn_node(**fields: Any) -> dict[str, Any]:
    usual = {"id": "", "type": "Goal", "domain": None, "title": "", "source": "a file", "immutable": False}
    return drawn(**usual, endedBy=None, confirmedAs=None, statedTo=None) | fields


def assert_imported_as_one_by_one(still: Ledger, content: bytes, actor: Actor) -> None:
    """Imports a file, and asserts that its verdict, stages and states, or its problem, are those without the plain
    path."""
    head, owner = still.head(), actor.owner
    problem: tuple[str, Any] | None = None
    try:
        verdict, stages, written = judged_one_by_one(still, content, actor)
    except RequestProblem as found:
        problem = (found.detail, found.errors)
    try:
        lines = content.splitlines(keepends=True)
        outcome = import_graph(still, lambda: lines, actor, alignment=no_rules)
    except RequestProblem as found:
        assert problem == (found.detail, found.errors)
        return
    assert problem is None
    assert (outcome.verdict, outcome.stages) == (verdict, stages)
    with still.read() as reader:
        events = [event.node or event.edge for event in events_after(reader, head, 100)]
        assert [msgspec.structs.replace(state, revision=0) for state in events if state] == (
            written if verdict == "approved" else []
        )
        newest = {state.id: state for state in events if isinstance(state, Node)}
        keys = {state.id: dedupe_key(owner, state.type, state.title) for state in newest.values() if is_live(state)}
        alike = reader.rows("world_alike_by_keys", values=json.dumps(list(keys.values())))
        assert {row["id"]: row["dedupe_key"] for row in alike if row["id"] in keys} == keys


@example(  # a plain edge that is stated again as one that is not, in a file that is refused for another reason
    drawn_nodes=[drawn_node(immutable=True), drawn_node(), drawn_node()],
    drawn_edges=[
        drawn(source="n2", target="n1", type="INFORMED_BY", validTo=at(days=-1)),
        drawn(source="n2", target="n1", type="INFORMED_BY"),
    ],
    by_operator=True,
    lines_at_once=500,
)
@example(  # successions that are read in bulk
    drawn_nodes=[drawn_node(), drawn_node(), drawn_node()],
    drawn_edges=[drawn(source=f"n{n + 1}", target=f"n{n}", type="SUPERSEDES") for n in (0, 1)],
    by_operator=True,
    lines_at_once=1,
)
@settings(max_examples=40 * ROUNDS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nodes, edges, st.booleans(), st.sampled_from([1, 2, 500]))
def test_a_file_is_judged_and_stored_as_if_nothing_were_plain(
    still: Ledger,
    drawn_nodes: list[dict[str, Any]],
    drawn_edges: list[dict[str, Any]],
    by_operator: bool,
    lines_at_once: int,
) -> None:
    content, owner = file_with(drawn_nodes, drawn_edges), new_owner()
    actor = Actor("operator", "operator:eve", on_behalf_of=owner) if by_operator else Actor("caller", owner)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_file, "_LINES_AT_ONCE", lines_at_once)
        assert_imported_as_one_by_one(still, content, actor)


Altered = tuple[dict[str, Any], set[str]]
"""A record, and the fields of it that another record takes over."""

acts = st.sampled_from(["", "", "", "", "retracts", "corrects", "confirms", "states", "ends"])
fields = ["title", "type", "properties", *times]


def altered(record: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Altered]:
    return st.tuples(record, mostly(set(), *({name} for name in fields), set(fields)))


def with_alterations(records: list[dict[str, Any]], others: list[Altered]) -> list[dict[str, Any]]:
    """Returns records with fields of others, followed by the remaining others."""
    pairs = zip_longest(records, others)
    return [
        (record or altered[0])
        | ({name: altered[0][name] for name in altered[1] & altered[0].keys()} if altered else {})
        for record, altered in pairs
    ]


def import_and_change(
    still: Ledger, actor: Actor, first: tuple[list[dict[str, Any]], list[dict[str, Any]]], changes: list[str]
) -> None:
    """Imports a file, unless it is refused, and then changes some of its nodes."""
    owner = actor.owner or ""
    with suppress(RequestProblem):
        once = file_with(*first).splitlines(keepends=True)
        import_graph(still, lambda: once, actor, alignment=no_rules)
    for number, (record, kind) in enumerate(zip(first[0], changes, strict=False)):
        node_id, by = own_id(owner, record["id"] or f"n{number}"), own_id(owner, f"by-{number}")
        if kind == "states":
            stated = proposal(goal(node_id, title="Another title"), actor=Actor("caller", owner))
        elif kind == "ends":
            stated = proposal(goal(node_id, title=f"Title {number}", valid_to=at(days=1)), actor=Actor("caller", owner))
        elif kind:
            act = Act(kind=kind, target=node_id, by=by, reason="It is so.")
            stated = proposal(goal(by), actor=Actor("caller", owner), acts=(act,))
        else:
            continue
        with suppress(RequestProblem):
            propose(still, stated, alignment=no_rules)


@example(  # a node that keeps its start, one that was corrected since, and an edge, all as before
    first=([drawn_node(), drawn_node(validFrom=at(days=-3))], [drawn(source="n0", target="n1", type="INFORMED_BY")]),
    meanwhile=["", "corrects"],
    second=([], []),
)
@settings(max_examples=60 * ROUNDS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.tuples(nodes, edges),
    st.lists(acts, min_size=5, max_size=5),
    st.tuples(st.lists(altered(a_node), max_size=6), st.lists(altered(an_edge), max_size=5)),
)
def test_a_file_of_which_the_graph_has_much_is_judged_and_stored_as_if_nothing_were_plain(
    still: Ledger,
    first: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    meanwhile: list[str],
    second: tuple[list[Altered], list[Altered]],
) -> None:
    """The file is imported, some nodes change, and it is imported again, with some records altered and some added."""
    actor = Actor("operator", "operator:eve", on_behalf_of=new_owner())
    import_and_change(still, actor, first, meanwhile)
    again = file_with(*map(with_alterations, first, second))
    assert_imported_as_one_by_one(still, again, actor)


@settings(max_examples=30 * ROUNDS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.tuples(nodes, edges),
    st.lists(acts, max_size=5),
    st.tuples(st.lists(altered(a_node), max_size=6), st.lists(altered(an_edge), max_size=5)),
    st.integers(1, 4),
    st.sampled_from([0.0, 600.0]),
)
def test_the_graph_is_the_same_however_many_parts_a_file_has(
    still: Ledger,
    first: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    meanwhile: list[str],
    second: tuple[list[Altered], list[Altered]],
    size: int,
    at_most_s: float,
) -> None:
    content = file_with(*map(with_alterations, first, second))

    def imported(size: int) -> Any:
        owner, head = new_owner(), still.head()
        actor = Actor("operator", "operator:eve", on_behalf_of=owner)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", size)
            patch.setattr(import_writing, "WRITES_AT_MOST_S", at_most_s)
            import_and_change(still, actor, first, meanwhile)
            lines = content.splitlines(keepends=True)
            is_approved = False  # of two faults, the one in the first part is reported
            with suppress(RequestProblem):
                is_approved = import_graph(still, lambda: lines, actor, alignment=no_rules).verdict == "approved"
        with still.read() as reader:
            states = [event.node or event.edge for event in events_after(reader, head, 500)]
        newest = {state.id: state for state in states if state}
        kept = [f"{msgspec.structs.replace(state, revision=0)}" for state in newest.values()]
        return is_approved, sorted(
            re.sub(r"edge:\w{32}", "edge", given_id(owner, text)).replace(owner, "owner") for text in kept
        )

    assert imported(size) == imported(50_000)


def test_known_records_are_planned_only_if_they_change(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 4)
    actor = Actor("operator", "operator:eve", on_behalf_of=new_owner())
    names = [f"n{number}" for number in range(6)]
    records = [*map(node, names), *(edge(name, "PART_OF", "n0") for name in names[1:])]
    import_graph(ledger, file_of(*records).splitlines, actor, alignment=no_rules)
    planned: list[str] = []

    def noting(imported: ImportedStates, *others: Any, **named: Any) -> Any:
        planned.extend(given_id(actor.owner or "", states[-1].id) for states in imported.nodes)
        planned.extend(states[-1].id for states in imported.edges)
        return plan_import(imported, *others, **named)

    monkeypatch.setattr(import_planning, "plan_import", noting)
    outcome = import_graph(ledger, file_of(*records).splitlines, actor, alignment=no_rules)
    known = {stage.stage: stage.reason for stage in outcome.stages}["deduplication"]
    assert (outcome.verdict, outcome.written, planned) == ("approved", 0, [])
    assert known == "Already known and not written again: 4."  # of a part
    records[1] = node("n1", title="Another title")
    outcome = import_graph(ledger, file_of(*records).splitlines, actor, alignment=no_rules)
    assert (outcome.verdict, outcome.written, set(planned)) == ("approved", 1, {"n1"})


def stages_of_decisions(ledger: Ledger, seqs: tuple[int, ...]) -> list[dict[str, StageResult]]:
    with ledger.read() as reader:
        return [{stage.stage: stage for stage in decided_stages(reader, seq)} for seq in seqs]


def test_similar_nodes_in_another_part_are_reported(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 2)
    content = file_of(node("a"), node("b"), node("c", title="title OF a"), node("d"))
    actor = Actor("operator", "operator:eve", on_behalf_of=new_owner())
    outcome = import_graph(ledger, content.splitlines, actor, alignment=no_rules)
    assert (outcome.verdict, outcome.written) == ("approved", 4)
    alike = [decision["deduplication"].result for decision in stages_of_decisions(ledger, outcome.decisions)]
    assert alike == ["pass", "warn"]
    with ledger.read() as reader:
        assert verify(reader).faults == []


A, B, C = map(node, "abc")
AB, AC, CA = (edge(source, "PART_OF", target) for source, target in ("ab", "ac", "ca"))
AB_OTHERWISE = {**AB, "properties": {"why": "another"}}
FORMER_AB = {**AB, "current": False, "recordedAt": at(days=-2), "validFrom": at(days=-2)}
LATER_AB = {**FORMER_AB, "current": True, "validTo": at(days=-1)}


@pytest.mark.parametrize(("in_part", "lines_at_once"), [(1, 500), (2, 2), (3, 500), (50_000, 2), (50_000, 500)])
@pytest.mark.parametrize(
    ("records", "line", "twice", "before"),
    [
        ([A, B, AB, AB], 5, "a PART_OF b", 4),
        ([A, B, C, AB, AC, CA, AB], 8, "a PART_OF b", 5),
        ([A, B, C, AB, AC, AC, AB, AB], 7, "a PART_OF c", 6),
        ([A, B, C, AB, AC, CA, AB_OTHERWISE], 8, "a PART_OF b", 5),
        ([A, B, C, AB_OTHERWISE, AC, AB], 7, "a PART_OF b", 5),
        ([A, B, C, FORMER_AB, LATER_AB, AC, AB], 8, "a PART_OF b", 6),
        ([A, C, AC, B, AB, CA, AC], 8, "a PART_OF c", 4),
        ([A, B, A], 4, "a", 2),
        ([A, B, C, AB, node("a", title="Another")], 6, "a", 2),
    ],
)
def test_a_record_that_a_file_states_twice_is_refused_with_both_lines_wherever_a_part_ends(
    still: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    in_part: int,
    lines_at_once: int,
    records: list[dict[str, Any]],
    line: int,
    twice: str,
    before: int,
) -> None:
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", in_part)
    monkeypatch.setattr(import_file, "_LINES_AT_ONCE", lines_at_once)
    actor = Actor("operator", "operator:eve", on_behalf_of=new_owner())
    lines, head = file_of(*records).splitlines(keepends=True), still.head()
    with pytest.raises(ImportInvalid) as refused:
        import_graph(still, lambda: lines, actor, alignment=no_rules)
    assert refused.value.detail == (
        f"Line {line} states {twice} again, which line {before} states: states of one must be consecutive."
    )
    assert refused.value.errors[0][0] == f"/lines/{line}"
    assert still.head() == head


@pytest.mark.parametrize(("at_most_s", "when"), [(0.0, ("writing", 2)), (600.0, ("judging", 7))])
def test_a_file_is_judged_again_if_others_write_what_is_new_in_it(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, at_most_s: float, when: tuple[str, int]
) -> None:
    """Also if the new record is in the last of several parts of one transaction: then the parts before it are not
    written either."""
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 2)
    monkeypatch.setattr(import_writing, "WRITES_AT_MOST_S", at_most_s)
    owner = new_owner()
    content = file_of(*(node(f"n{number}") for number in range(6)), edge("n0", "PART_OF", "n5"))
    progress: list[tuple[str, int]] = []

    def meanwhile(what: str, done: int, of: int) -> None:
        if (what, done) == when and when not in progress:
            sooner = goal(own_id(owner, "n4"), title="Sooner")
            propose(ledger, proposal(sooner, actor=Actor("caller", owner)), alignment=no_rules)
        progress.append((what, done))

    actor = Actor("operator", "operator:eve", on_behalf_of=owner)
    outcome = import_graph(ledger, content.splitlines, actor, alignment=no_rules, on_progress=meanwhile)
    assert (outcome.verdict, outcome.written) == ("approved", 7)
    assert [what for what, _ in progress].count("reading") == 2
    with ledger.read() as reader:
        assert verify(reader).faults == []
        assert reader.row("world_node", id=own_id(owner, "n4"))["body"].count("Title of n4") == 1


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("when", [("judging", 8), ("writing", 2), ("writing", 6)])
def test_no_edge_is_written_to_a_node_that_is_erased_meanwhile(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, when: tuple[str, int], known: bool
) -> None:
    """Also if the file changes nothing about the node."""
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 2)
    monkeypatch.setattr(import_writing, "WRITES_AT_MOST_S", 0.0)
    actor = Actor("operator", "operator:eve", on_behalf_of=new_owner())
    names = [f"n{number}" for number in range(4)]
    if known:
        import_graph(ledger, file_of(*map(node, names)).splitlines, actor, alignment=no_rules)
    ends = [("n3", "n2"), ("n2", "n3"), ("n0", "n1"), ("n1", "n0")]
    content = file_of(*map(node, names), *(edge(source, "PART_OF", target) for source, target in ends))
    seen: list[tuple[str, int]] = []

    def meanwhile(what: str, done: int, of: int) -> None:
        if (what, done) == when and when not in seen:
            with suppress(NodeUnknown):  # it is not written yet
                erase_node(ledger, Actor("caller", actor.owner or ""), "n0")
        seen.append((what, done))

    outcome = import_graph(ledger, content.splitlines, actor, alignment=no_rules, on_progress=meanwhile)
    assert when in seen
    assert outcome.verdict == ("approved" if when[0] == "judging" and not known else "rejected")
    with ledger.read() as reader:
        states = [event.node or event.edge for event in events_after(reader, 0, 10_000)]
    erased = {state.id for state in states if isinstance(state, Node) and state.erased}
    current = {state.id: state for state in states if isinstance(state, Edge)}
    assert not [held for held in current.values() if is_live(held) and {held.source, held.target} & erased]


@pytest.mark.parametrize("edge_type", ["INFORMED_BY", "SUPERSEDES", "OWNED_BY", "SHOES"])
def test_edges_read_in_bulk_are_stored_as_if_read_one_by_one(
    still: Ledger, monkeypatch: pytest.MonkeyPatch, edge_type: str
) -> None:
    """Between nodes that are plain, that are not, and that the file does not contain, and in parts that end between
    them."""
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 5)
    monkeypatch.setattr(import_file, "_LINES_AT_ONCE", 3)
    names = ["n0", "n1", "fact", "ended", "told", "n5"]
    nodes = [
        *(node(name) for name in ("n0", "n1", "n5")),
        node("fact", properties={"subject": "door", "predicate": "state", "value": 1}),
        node("ended", validFrom=at(days=-3), validTo=at(days=-1)),
        node("told", confirmedAs="document", confirmedAt=at(days=-1)),
    ]
    edges = [edge(source, edge_type, target) for source in names for target in names if source != target]
    files = [
        [*nodes, *edges],
        [*nodes, *edges, *([edges[0]] * 3)],
        [*nodes, *edges, *([edge("n0", edge_type, "nobody")] * 3)],
        [*nodes, *edges, edge("n0", edge_type, "n0"), edge("n5", edge_type, "n5")],
        [
            *(node(f"n{number}", validFrom=at(days=-number)) for number in range(8)),
            *(edge(f"n{n + 1}", edge_type, f"n{n}") for n in range(7)),
        ],
    ]

    def imported(records: list[dict[str, Any]]) -> tuple[Any, ...]:
        owner, head = new_owner(), still.head()
        lines = file_of(*records).splitlines(keepends=True)
        actor = Actor("operator", "operator:eve", on_behalf_of=owner)
        try:
            outcome = import_graph(still, lambda: lines, actor, alignment=no_rules)
        except RequestProblem as refused:
            return type(refused), without_owner(owner, refused.detail)
        with still.read() as reader:
            states = [event.node or event.edge for event in events_after(reader, head, 200)]
        stored = [without_owner(owner, f"{msgspec.structs.replace(state, revision=0)}") for state in states if state]
        reasons = [(stage.stage, stage.result, without_owner(owner, stage.reason)) for stage in outcome.stages]
        return outcome.verdict, outcome.written, len(outcome.decisions), reasons, stored

    def without_owner(owner: str, text: str) -> str:
        return re.sub(r"edge:\w{32}", "edge", given_id(owner, text).replace(owner, "owner"))

    at_once = [imported(records) for records in files]
    monkeypatch.setattr(import_file, "_lines_like", lambda line: None)
    assert at_once == [imported(records) for records in files]
    assert (at_once[0][:2] == ("approved", len(nodes) + len(edges))) is (edge_type == "INFORMED_BY")


def test_a_kept_file_of_judged_parts_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "KEPT_IN_MEMORY_BYTES", 1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ledger = open_ledger(Settings(_env_file=None), tmp_path / "data")
    seen: list[list[Path]] = []
    actor = Actor("operator", "operator:eve", on_behalf_of=new_owner())
    import_graph(
        ledger,
        file_of(node("a"), node("b")).splitlines,
        actor,
        alignment=no_rules,
        on_progress=lambda what, done, of: seen.append([path for path in tmp_path.iterdir() if path.is_file()]),
    )
    ledger.close()
    assert seen and not any(seen)


def test_equal_input_has_equal_reasons_whichever_process_judges_its_parts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So are the results of every stage, whatever the order of the nodes and so whatever part each is in."""
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 2)
    nodes = [node(f"n{number}", type="Observation") for number in range(5)]
    nodes += [
        node("told", type="Observation", title="rm -rf / --no-preserve-root was run"),
        node("alike", type="Observation", title="TITLE of n1"),
    ]

    def reasons(records: list[dict[str, Any]], nodes_worth_a_process: int) -> list[list[tuple[str, str, str]]]:
        monkeypatch.setattr(import_helper, "NODES_WORTH_A_PROCESS", nodes_worth_a_process)
        owner = new_owner()
        actor = Actor("operator", "operator:eve", on_behalf_of=owner)
        outcome = import_graph(ledger, file_of(*records).splitlines, actor)
        assert outcome.verdict == "approved"
        of_parts = [list(stages.values()) for stages in stages_of_decisions(ledger, outcome.decisions)]
        return [
            [(stage.stage, stage.result, given_id(owner, stage.reason)) for stage in stages]
            for stages in (outcome.stages, *of_parts)
        ]

    here = reasons(nodes, 1_000)
    assert {stage: result for stage, result, _ in here[0]}["alignment"] == "warn"
    assert reasons(nodes, 1) == here
    shuffled = list(nodes)
    Random(17).shuffle(shuffled)
    results = [(stage, result) for stage, result, _ in here[0]]
    assert [(stage, result) for stage, result, _ in reasons(shuffled, 1)[0]] == results


@pytest.mark.parametrize("nodes_worth_a_process", [1_000, 1])
def test_the_first_fault_of_a_file_is_reported_whichever_process_judges_its_texts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, nodes_worth_a_process: int
) -> None:
    """The first fault is a text that the guardrail blocks, or a line after it that is no record."""
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 2)
    monkeypatch.setattr(import_helper, "NODES_WORTH_A_PROCESS", nodes_worth_a_process)
    broken = edge("n0", "INFORMED_BY", "n1", validFrom=7)
    blocked = node("blocked", type="Task", title="Delete all backups of the production database")
    nodes = [node(f"n{number}") for number in range(8)]

    def imported(*records: dict[str, Any]) -> ImportOutcome:
        actor = Actor("operator", "operator:eve", on_behalf_of=new_owner())
        return import_graph(ledger, file_of(*records).splitlines, actor)

    outcome = imported(blocked, *nodes, broken)
    assert (outcome.verdict, outcome.written) == ("rejected", 0)
    assert "lost-data.backups" in outcome.stages[-1].reason
    with pytest.raises(ImportInvalid, match="Line 10"):
        imported(*nodes, broken, edge("n0", "INFORMED_BY", "n2"))
