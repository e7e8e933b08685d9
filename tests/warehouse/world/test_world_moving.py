"""A graph is exported, imported into an empty owner and exported again as the same bytes, whatever its history."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres_fixtures import ENGINES
from rounds import ROUNDS
from world_writes import fact, goal, no_rules, proposal, tie

from contracts.errors import IdTaken, ImportInvalid, ImportVersionUnsupported, OntologyUnfit
from contracts.standing import SourceClass
from contracts.world.capsule import WorldModelCreateRequest
from contracts.world.identity import edge_id, given_id, own_id
from contracts.world.import_file import Limits
from contracts.world.own_ontology import OwnOntology
from contracts.world.portable import EdgeRecord, line_of, origin_of, record_of
from contracts.world.proposal import Act, Actor, EdgeDraft, NodeDraft, Proposal
from contracts.world.records import is_live
from warehouse.ledger.ledger import Ledger
from warehouse.world import import_parts
from warehouse.world.audit import DECISION, record, verify
from warehouse.world.capsules import claim_capsule, claim_token, create_capsule
from warehouse.world.events import append_states, current_node, decode_edges, decode_nodes, head_revision
from warehouse.world.export import Position, export_page, export_pages
from warehouse.world.forget import forget_nodes, forget_owner
from warehouse.world.importing import ImportOutcome, import_graph
from warehouse.world.load import load_constitution
from warehouse.world.ontologies import set_ontology, versions_of
from warehouse.world.ownership import Moved, hand_over
from warehouse.world.write import propose

_numbers = count()
LIMITS = Limits(nodes=1_000, states=5_000)


def exported(ledger: Ledger, owner: str | None) -> bytes:
    with ledger.read() as reader:
        pages = export_pages(reader, owner, head_revision(reader))
        return b"".join(line_of(record) for page in pages for record in page.records)


def operator_for(owner: str) -> Actor:
    return Actor("operator", "operator:eve", on_behalf_of=owner)


def imported(ledger: Ledger, content: bytes, actor: Actor, **options: Any) -> ImportOutcome:
    return import_graph(ledger, lambda: content.splitlines(), actor, alignment=no_rules, **options)


def new_owner() -> str:
    return f"local:mover-{next(_numbers)}"


def file_of(*records: dict[str, Any]) -> bytes:
    lines = [{"kind": "header", "format": "svc.world.graph", "version": 1, "scope": "owner"}, *records]
    lines.append({"kind": "end", "lines": len(lines)})
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def node(node_id: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "node", "id": node_id, "type": "Goal", "title": f"Title of {node_id}", "source": "a file", **fields}


def edge(source: str, edge_type: str, target: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "edge", "source": source, "type": edge_type, "target": target, "statedIn": "a file", **fields}


STARTS = ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-02-01T00:00:00Z", "2031-01-01T00:00:00Z", None]
RECIPES: dict[str, Any] = {
    "node_types": {"Recipe": {"domain": "EXECUTION", "properties": {"servings": "integer"}}},
    "relationship_types": {
        "SERVED_AT": {"description": "is eaten at", "single_valued": True},
        "TASTES_OF": {"description": "tastes of"},
    },
}
MOODS = {"single_valued_predicates": ["mood"]}
WORDS = [RECIPES, RECIPES | MOODS, MOODS, {}, {"node_types": {"Recipe": {"domain": "EXECUTION"}}}]
steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("fact"),
            st.sampled_from(["door", "Gate"]),
            st.sampled_from(["open", "shut", "ajar"]),
            st.sampled_from(STARTS),
            st.sampled_from(["camera", "neighbour"]),
            st.sampled_from([SourceClass.DOCUMENT, SourceClass.INFERENCE, SourceClass.HEARSAY]),
            st.sampled_from([None, 0.1, 0.9]),
            st.booleans(),
            st.sampled_from(["state", "mood"]),
        ),
        st.tuples(st.just("words"), st.sampled_from(WORDS)),
        st.tuples(st.just("recipe")),
        st.tuples(st.sampled_from(["corrects", "retracts", "confirms"]), st.integers(0, 9)),
        st.tuples(st.just("again"), st.integers(0, 9)),
        st.tuples(st.just("forget"), st.integers(0, 9)),
        st.tuples(
            st.just("edge"),
            st.integers(0, 9),
            st.integers(0, 9),
            st.sampled_from(["INFORMED_BY", "PART_OF", "OWNED_BY", "ALIAS_OF", "TASTES_OF", "SERVED_AT"]),
        ),
    ),
    min_size=1,
    max_size=12,
)


def live_through(ledger: Ledger, owner: str, happened: Iterable[tuple[Any, ...]]) -> list[str]:
    """Writes a history and returns the titles of what was forgotten."""
    actor = Actor("caller", owner, max_class=SourceClass.OWNER)
    tag = owner.rpartition("-")[2]
    ids = [f"thing:{tag}:0", own_id(owner, "mine")]
    propose(
        ledger,
        proposal(goal(ids[0]), NodeDraft(id=ids[1], type="Person", title="Ada"), actor=actor),
        alignment=no_rules,
    )
    forgotten: list[str] = []
    for number, (what, *parts) in enumerate(happened, 1):
        node_id = f"thing:{tag}:{number}" if number % 2 else own_id(owner, f"given-{number}")
        draft: NodeDraft | EdgeDraft = goal(node_id, title=f"Goal {number} of {tag}")
        options: dict[str, Any] = {}
        match what:
            case "fact":
                subject, value, start, source, source_class, confidence, ends, predicate = parts
                said = {"subject": subject, "predicate": predicate, "value": value}
                if confidence is not None:
                    said["confidence"] = confidence
                options = {"source": source, "source_class": source_class}
                end = "2026-03-01T00:00:00Z" if ends and start is not None and start < "2026-03" else None
                draft = fact(
                    node_id, value, properties=said, valid_from=start, valid_to=end, title=f"Text {number} of {tag}"
                )
            case "words":
                with suppress(OntologyUnfit):
                    set_ontology(ledger, actor, OwnOntology.model_validate(parts[0]), None)
                continue
            case "recipe":
                draft = NodeDraft(
                    id=node_id, type="Recipe", title=f"Soup {number} of {tag}", properties={"servings": 2}
                )
            case "again":
                draft = goal(ids[0], title=f"Renamed {number}")
            case "edge":
                one, other, edge_type = parts
                draft = tie(ids[one % len(ids)], edge_type, ids[other % len(ids)])
            case "forget":
                gone = ids[parts[0] % len(ids)]
                with ledger.read() as reader:
                    known = current_node(reader, gone)
                if known is None or known.erased or gone in ids[:2]:
                    continue
                forgotten.append(known.title)
                with ledger.transaction() as tx:
                    forget_nodes(tx, [gone], "eve")
                continue
            case _:
                options = {"acts": (Act(what, node_id, ids[parts[0] % len(ids)], "so it is"),)}
        decision = propose(ledger, proposal(draft, actor=actor, **options), alignment=no_rules)
        if decision.verdict == "approved" and isinstance(draft, NodeDraft):
            ids.append(draft.id)
    return forgotten


@pytest.mark.parametrize("ledger_settings", ENGINES[:ROUNDS], indirect=True)
@settings(max_examples=12 * ROUNDS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(happened=steps)
def test_a_history_is_exported_from_a_new_owner_as_it_was_imported(
    ledger: Ledger, happened: list[tuple[Any, ...]]
) -> None:
    owner, other = new_owner(), new_owner()
    forgotten = live_through(ledger, owner, happened)
    first = exported(ledger, owner)
    assert not [title for title in forgotten if title and f'"{title}"'.encode() in first]
    outcome = imported(ledger, first, operator_for(other))
    assert outcome.verdict == "approved", [stage for stage in outcome.stages if stage.result == "fail"]
    assert exported(ledger, other) == first
    again = imported(ledger, first, operator_for(other))
    assert (again.verdict, again.written) == ("approved", 0)
    assert exported(ledger, owner) == first


def words_of_file(words: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "ontology", "words": words}


def set_words(ledger: Ledger, owner: str, words: dict[str, Any]) -> None:
    set_ontology(ledger, Actor("caller", owner), OwnOntology.model_validate(words), None)


def versions(ledger: Ledger, owner: str) -> list[dict[str, Any]]:
    with ledger.read() as reader:
        return [msgspec.json.decode(version.text) for version in versions_of(reader, owner, 10)]


LIMITED = pytest.mark.parametrize("limits", [None, LIMITS], ids=["in parts", "as a whole"])


@LIMITED
@pytest.mark.both_engines
def test_an_owner_without_words_takes_over_those_of_the_file(ledger: Ledger, limits: Limits | None) -> None:
    owner, other = new_owner(), new_owner()
    said = {"subject": "soup", "predicate": "mood"}
    recipe, told = {"type": "Recipe", "properties": {"servings": 2}}, {"type": "Observation"}
    content = file_of(
        words_of_file(RECIPES | MOODS),
        node("soup", **recipe),
        node("noon"),
        node("sad", properties=said | {"value": "sad"}, validFrom="2026-01-01T00:00:00Z", **told),
        node("glad", properties=said | {"value": "glad"}, validFrom="2026-02-01T00:00:00Z", **told),
        edge("soup", "SERVED_AT", "noon"),
    )
    outcome = imported(ledger, content, operator_for(owner), limits=limits)
    assert outcome.verdict == "approved", outcome.stages
    with ledger.read() as reader:
        sad = current_node(reader, own_id(owner, "sad"))
        assert verify(reader).intact
    assert sad is not None and sad.valid_to == "2026-02-01T00:00:00.000000Z"
    first = exported(ledger, owner)
    assert first.splitlines()[1].startswith(b'{"former":null,"kind":"ontology","words":{"node_types":{"Recipe"')
    assert imported(ledger, first, operator_for(other), limits=limits).verdict == "approved"
    assert exported(ledger, other) == first
    assert imported(ledger, first, operator_for(other), limits=limits).written == 0
    assert versions(ledger, other) == versions(ledger, owner)
    assert len(versions(ledger, other)) == 1


@LIMITED
def test_facts_that_the_owner_had_are_placed_by_the_words_of_the_file(ledger: Ledger, limits: Limits | None) -> None:
    owner = new_owner()
    actor = operator_for(owner)
    starts = {"2026-01-01T00:00:00Z": "sad", "2026-02-01T00:00:00Z": "glad"}
    for subject in ("soup", "bread"):
        for start, value in starts.items():
            said = {"subject": subject, "predicate": "mood", "value": value}
            stated = fact(f"{subject}:{value}:{owner}", value, properties=said, valid_from=start, title=subject + value)
            propose(ledger, proposal(stated, actor=actor), alignment=no_rules)
    said = {"subject": "soup", "predicate": "mood", "value": "bored"}
    bored = node("bored", type="Observation", properties=said, validFrom="2026-03-01T00:00:00Z")
    outcome = imported(ledger, file_of(words_of_file(MOODS), bored), actor, limits=limits)
    assert outcome.verdict == "approved", outcome.stages
    with ledger.read() as reader:
        nodes = {name: current_node(reader, f"{name}:{owner}") for name in ("soup:sad", "soup:glad", "bread:sad")}
        ends = {name: known and known.valid_to for name, known in nodes.items()}
    assert ends == {
        "soup:sad": "2026-02-01T00:00:00.000000Z",
        "soup:glad": "2026-03-01T00:00:00.000000Z",
        "bread:sad": "2026-02-01T00:00:00.000000Z",
    }


@LIMITED
def test_words_that_the_owner_does_not_have_are_named_and_nothing_is_written(
    ledger: Ledger, limits: Limits | None
) -> None:
    owner = new_owner()
    set_words(ledger, owner, {"node_types": {"Recipe": {"domain": "VISION"}}})
    before = exported(ledger, owner)
    with pytest.raises(ImportInvalid) as refused:
        imported(ledger, file_of(words_of_file(RECIPES | MOODS), node("a")), operator_for(owner), limits=limits)
    assert refused.value.errors == [
        ("/lines/2/words/node_types/Recipe", "means something else in your ontology"),
        ("/lines/2/words/relationship_types/SERVED_AT", "is not in your ontology"),
        ("/lines/2/words/relationship_types/TASTES_OF", "is not in your ontology"),
        ("/lines/2/words/single_valued_predicates/mood", "is not in your ontology"),
    ]
    assert "Recipe" in refused.value.detail and exported(ledger, owner) == before
    rejected = imported(ledger, file_of(words_of_file(RECIPES), node("a", type="Shoe")), operator_for(new_owner()))
    assert rejected.verdict == "rejected"


OVER = {"validFrom": "2026-01-01T00:00:00Z", "validTo": "2026-02-01T00:00:00Z"}


@LIMITED
def test_ended_nodes_may_use_removed_words_and_live_ones_may_not(ledger: Ledger, limits: Limits | None) -> None:
    owner, other = new_owner(), new_owner()
    dropped = {"kind": "ontology", "words": {}, "former": RECIPES}
    soup = node("soup", type="Recipe", properties={"servings": 2}, **OVER)
    content = file_of(dropped, soup, node("noon"), edge("soup", "SERVED_AT", "noon", **OVER))
    assert imported(ledger, content, operator_for(owner), limits=limits).verdict == "approved"
    first = exported(ledger, owner)
    assert imported(ledger, first, operator_for(other), limits=limits).verdict == "approved"
    assert imported(ledger, first, operator_for(other), limits=limits).written == 0
    assert exported(ledger, other) == first
    now, ever = versions(ledger, other)
    assert (now["node_types"], list(ever["node_types"])) == ({}, ["Recipe"])
    for live in (node("b", type="Recipe"), edge("noon", "SERVED_AT", "noon:2"), edge("soup", "SERVED_AT", "noon:2")):
        content = file_of(dropped, soup, node("noon"), node("noon:2"), live)
        assert imported(ledger, content, operator_for(new_owner()), limits=limits).verdict == "rejected"
    set_words(ledger, third := new_owner(), MOODS)
    with pytest.raises(ImportInvalid, match="node_types/Recipe is not, and was not, in your ontology"):
        imported(ledger, first, operator_for(third), limits=limits)


@LIMITED
def test_a_file_that_a_stage_rejects_leaves_its_words_too(ledger: Ledger, limits: Limits | None) -> None:
    owner = new_owner()
    content = file_of(words_of_file(RECIPES), node("a", type="Recipe", properties={"servings": "two"}))
    outcome = imported(ledger, content, operator_for(owner), limits=limits)
    assert (outcome.verdict, outcome.written, versions(ledger, owner)) == ("rejected", 0, [])


@LIMITED
@pytest.mark.parametrize("now", [RECIPES | MOODS, {}])
def test_an_import_is_judged_again_by_words_that_came_meanwhile(
    ledger: Ledger, now: dict[str, Any], limits: Limits | None
) -> None:
    owner = new_owner()
    before = {} if now else RECIPES
    set_words(ledger, owner, before)
    content = file_of(node("a", type="Recipe"))
    times: list[int] = []

    def meanwhile(proposed: Any) -> Any:
        if not times:
            set_words(ledger, owner, now)
        times.append(1)
        return no_rules(proposed)

    outcome = import_graph(
        ledger, lambda: content.splitlines(), operator_for(owner), alignment=meanwhile, limits=limits
    )
    assert outcome.verdict == ("approved" if now else "rejected")


def test_the_chain_of_an_import_is_whole_and_finds_a_changed_event(ledger: Ledger) -> None:
    owner, other = new_owner(), new_owner()
    live_through(ledger, owner, [("fact", "door", "open", None, "camera", SourceClass.DOCUMENT, None, False, "state")])
    imported(ledger, exported(ledger, owner), operator_for(other))
    with ledger.read() as reader:
        assert verify(reader).intact
    with ledger.transaction() as tx:
        node_id = own_id(other, "mine")
        [event] = tx.rows("world_events_of_entity", kind="node", entity_id=node_id)
        tx.run("world_blank_event", seq=event["seq"], body=event["body"].replace("Ada", "Eve"), actor="x", source="y")
    with ledger.read() as reader:
        assert any("are not those that it accepted" in fault for fault in verify(reader).faults)


def test_imported_states_keep_their_times_as_their_origin(ledger: Ledger) -> None:
    owner = new_owner()
    imported(ledger, file_of(node("a", recordedAt="2020-05-05T00:00:00Z"), node("b")), operator_for(owner))
    with ledger.read() as reader:
        then, now = current_node(reader, own_id(owner, "a")), current_node(reader, own_id(owner, "b"))
    assert then is not None and now is not None and then.origin is not None
    assert then.origin.recorded_at == "2020-05-05T00:00:00.000000Z"
    assert then.recorded_at > "2026" and is_live(then)
    assert now.origin is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "without its end"),
        (file_of(node("a"))[:-20], "is not a record"),
        (b"".join(file_of(node("a"), node("b")).splitlines(keepends=True)[:-1]), "without its end"),
        (file_of(node("a"), node("b")).replace(b'"lines":3', b'"lines":4'), "counts 4 lines"),
        (file_of(node("a", current=False)), "before the current state"),
        (file_of(node("a", current=False), node("b")), "before the current state of the previous"),
        (file_of(node("a"), node("a", title="B")), "Line 3 states a again, which line 2 states"),
        (file_of(node("a", title="")), "title is empty"),
        (file_of(node("a", validFrom="tomorrow")), "not RFC 3339"),
        (file_of(node("a b")), "invalid id"),
        (file_of(node("a", shoe=42)), "unknown field"),
        (file_of({"kind": "shoe"}), "is not a record"),
        (file_of(node("a"), words_of_file(RECIPES)), "directly follow the header"),
        (file_of(words_of_file({"node_types": {"goal": {"domain": "VISION"}}})), "is not a type name"),
        (file_of(words_of_file({"node_types": {"Goal": {"domain": "VISION"}}})), "is Goal of the service"),
        (file_of(words_of_file({"shoes": 1})), "has no ontology"),
        (b'{"kind":"end","lines":0}\n', "must be the header"),
    ],
)
def test_a_file_that_breaks_the_format_writes_nothing(ledger: Ledger, content: bytes, says: str) -> None:
    owner = new_owner()
    with pytest.raises(ImportInvalid, match=says):
        imported(ledger, content, operator_for(owner))
    assert exported(ledger, owner).count(b"\n") == 2


def test_another_version_of_the_format_is_refused(ledger: Ledger) -> None:
    with pytest.raises(ImportVersionUnsupported):
        imported(ledger, file_of(node("a")).replace(b'"version":1', b'"version":2'), operator_for(new_owner()))


def test_ids_of_public_nodes_are_taken_and_those_of_others_are_not(ledger: Ledger) -> None:
    load_constitution(ledger)
    owner, other = new_owner(), new_owner()
    with pytest.raises(IdTaken, match="public node"):
        imported(ledger, file_of(node("vision:ground")), operator_for(owner))
    imported(ledger, file_of(node("mine"), node("plain")), operator_for(owner))
    propose(ledger, proposal(goal("plain:2"), actor=Actor("caller", owner)), alignment=no_rules)
    assert imported(ledger, file_of(node("mine"), node("plain:2")), operator_for(other)).verdict == "approved"
    assert exported(ledger, owner).count(b'"id":"plain:2"') == exported(ledger, other).count(b'"id":"plain:2"') == 1


def test_weak_imported_facts_replace_none_that_the_owner_has(ledger: Ledger) -> None:
    owner = new_owner()
    actor = Actor("caller", owner)
    propose(
        ledger,
        proposal(
            fact(f"known:{owner}", "open", valid_from="2026-01-01T00:00:00Z"),
            actor=actor,
            source="the register",
            source_class=SourceClass.DOCUMENT,
        ),
        alignment=no_rules,
    )
    said = {"subject": "door", "predicate": "state", "value": "shut"}
    outcome = imported(
        ledger,
        file_of(
            node(
                "joke",
                type="Observation",
                sourceClass="hearsay",
                properties=said,
                validFrom="2026-02-01T00:00:00Z",
                recordedAt="2026-02-01T00:00:00Z",
            )
        ),
        actor,
        limits=LIMITS,
    )
    assert outcome.verdict == "approved"
    with ledger.read() as reader:
        known, joke = current_node(reader, f"known:{owner}"), current_node(reader, own_id(owner, "joke"))
    assert known is not None and joke is not None
    assert (known.valid_to, known.disputed, joke.disputed) == (None, True, True)
    again = exported(ledger, owner)
    other = new_owner()
    assert imported(ledger, again, operator_for(other)).verdict == "approved"
    assert exported(ledger, other) == again


def test_a_key_claims_no_class_above_its_own_in_a_file(ledger: Ledger) -> None:
    owner = new_owner()
    outcome = imported(ledger, file_of(node("a", sourceClass="owner")), Actor("caller", owner), limits=LIMITS)
    [failed] = [stage for stage in outcome.stages if stage.result == "fail"]
    assert outcome.verdict == "rejected"
    assert (failed.stage, failed.reason.endswith("claims the class owner; this key claims up to document")) == (
        "authority",
        True,
    )


def test_an_act_without_its_effect_in_the_file_is_refused(ledger: Ledger) -> None:
    outcome = imported(ledger, file_of(node("a"), node("b"), edge("a", "CORRECTS", "b")), operator_for(new_owner()))
    assert [stage.stage for stage in outcome.stages if stage.result == "fail"] == ["referential_integrity"]


texts = st.sampled_from(["Rent a room", "Rent a  room", "Write"])
plain_nodes = st.lists(
    st.builds(
        lambda number, node_type, title, properties, start, end: NodeDraft(
            id=f"n{number}",
            type=node_type,
            title=title,
            properties=properties,
            valid_from=start,
            valid_to=end,
        ),
        st.integers(0, 3),
        st.sampled_from(["Goal", "Person", "Observation", "Shoe"]),
        texts,
        st.sampled_from(
            [
                {},
                {"confidence": 0.1},
                {"confidence": 2},
                {"subject": "door", "predicate": "state", "value": "open"},
                {"subject": "door", "predicate": "state", "value": "shut"},
            ]
        ),
        st.sampled_from(["2026-01-01T00:00:00.000000Z", "2026-02-01T00:00:00.000000Z", "2040-01-01T00:00:00.000000Z"]),
        st.sampled_from([None, None, "2026-01-15T00:00:00.000000Z"]),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda draft: draft.id,
)
plain_edges = st.lists(
    st.builds(
        lambda source, edge_type, target: tie(
            f"n{source}", edge_type, f"n{target}", valid_from="2026-01-01T00:00:00.000000Z"
        ),
        st.integers(0, 4),
        st.sampled_from(["PART_OF", "OWNED_BY", "CORRECTS", "SUPERSEDES", "PURSUES", "SHOES"]),
        st.integers(0, 4),
    ),
    max_size=3,
    unique_by=lambda draft: (draft.source, draft.type, draft.target),
)


@pytest.mark.parametrize("ledger_settings", ENGINES[:ROUNDS], indirect=True)
@settings(max_examples=30 * ROUNDS, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nodes=plain_nodes, edges=plain_edges)
def test_the_reasons_of_the_stages_are_those_of_the_ordinary_path(
    ledger: Ledger, nodes: list[NodeDraft], edges: list[EdgeDraft]
) -> None:
    owner, other = new_owner(), new_owner()
    stated = proposal(
        *(msgspec.structs.replace(draft, id=own_id(owner, draft.id)) for draft in nodes),
        *(
            msgspec.structs.replace(draft, source=own_id(owner, draft.source), target=own_id(owner, draft.target))
            for draft in edges
        ),
        actor=Actor("caller", owner),
        source="a file",
    )
    records = [
        node(
            draft.id,
            type=draft.type,
            title=draft.title,
            properties=draft.properties,
            validFrom=draft.valid_from,
            validTo=draft.valid_to,
        )
        for draft in nodes
    ] + [edge(draft.source, draft.type, draft.target, validFrom=draft.valid_from) for draft in edges]
    ordinary = propose(ledger, stated, alignment=no_rules)
    outcome = imported(ledger, file_of(*records), Actor("caller", other), limits=LIMITS)
    assert outcome.verdict == ordinary.verdict
    assert plain(outcome.stages, other) == plain(ordinary.stages, owner)


def plain(stages: Iterable[Any], owner: str) -> list[tuple[str, str, str]]:
    """Returns stages with ids as their owner writes them. Those of edges are hashes, which differ by owner."""
    found = []
    for stage in stages:
        reason = given_id(owner, stage.reason).replace(owner, "owner")
        found.append((stage.stage, stage.result, re.sub(r"edge:\w{32}", "edge", reason)))
    return found


def test_a_whole_import_is_judged_again_if_its_subjects_changed(ledger: Ledger) -> None:
    owner = new_owner()
    content = file_of(node("a"), node("b"), edge("a", "PART_OF", "b"))
    times: list[int] = []

    def meanwhile(proposed: Any) -> Any:
        if not times:
            propose(
                ledger,
                proposal(goal(own_id(owner, "a"), title="Sooner"), actor=Actor("caller", owner)),
                alignment=no_rules,
            )
        times.append(1)
        return no_rules(proposed)

    outcome = import_graph(
        ledger, lambda: content.splitlines(), Actor("caller", owner), alignment=meanwhile, limits=LIMITS
    )
    assert (outcome.verdict, outcome.nodes) == ("approved", 2)
    with ledger.read() as reader:
        assert verify(reader).intact


def with_capsule(ledger: Ledger, owner: str) -> None:
    """Gives an owner a capsule, which the owner claims."""
    asked = WorldModelCreateRequest(owner_id="a", name="cap", values=["honesty"])
    capsule = create_capsule(ledger, asked, request_key=None, alignment=no_rules)
    assert capsule.id is not None
    claim_capsule(ledger, b"pepper", claim_token(b"pepper", capsule.id), owner, alignment=no_rules)


@pytest.mark.parametrize("limits", [LIMITS, None])
def test_a_graph_with_a_claimed_capsule_is_imported_over_itself_without_a_new_state(
    ledger: Ledger, limits: Limits | None
) -> None:
    owner = new_owner()
    with_capsule(ledger, owner)
    content = exported(ledger, owner)
    for actor in (operator_for(owner), Actor("caller", owner)):
        outcome = imported(ledger, content, actor, limits=limits)
        assert (outcome.verdict, outcome.written) == ("approved", 0)
    assert exported(ledger, owner) == content


def test_an_edge_of_a_claimed_capsule_that_its_owner_states_is_the_same_edge(ledger: Ledger) -> None:
    owner = new_owner()
    with_capsule(ledger, owner)
    with ledger.read() as reader:
        edges = decode_edges(reader.rows("world_edges_of_owner", owner=owner))
    again = [EdgeDraft(source=edge.source, target=edge.target, type=edge.type) for edge in edges]
    changed = msgspec.structs.replace(again[0], properties={"since": "May"})
    decision = propose(ledger, proposal(changed, *again[1:], actor=Actor("caller", owner)), alignment=no_rules)
    assert (decision.verdict, [edge.id for edge in decision.edges]) == ("approved", [edges[0].id])
    with ledger.read() as reader:
        assert len(reader.rows("world_edges_of_owner", owner=owner)) == len(edges) == 14


@pytest.mark.parametrize("entities", [1, 5, 1_000])
def test_edges_that_an_earlier_version_doubled_are_exported_once_and_imported(ledger: Ledger, entities: int) -> None:
    owner, empty = new_owner(), new_owner()
    with_capsule(ledger, owner)
    content = exported(ledger, owner)
    records = {(record.source, record.type, record.target): record for record in edge_records(content)}
    with ledger.transaction() as tx:
        doubled = [
            msgspec.structs.replace(
                known,
                id=edge_id(owner, known.source, known.type, known.target),
                origin=origin_of(records[known.source, known.type, known.target]),
            )
            for known in decode_edges(tx.rows("world_edges_of_owner", owner=owner))
        ]
        seq = tx.changed(DECISION, "approved")
        again = Proposal(actor=operator_for(owner), source="import")
        record(tx, seq, "approved", again, (), append_states(tx, doubled, seq))
    with ledger.read() as reader:
        assert len(reader.rows("world_edges_of_owner", owner=owner)) == 28
        pages, position = [], Position(head_revision(reader))
        while position is not None:
            page = export_page(reader, owner, position, entities)
            pages += page.records
            position = page.next
    assert b"".join(map(line_of, pages)) == content
    for actor in (operator_for(owner), Actor("caller", owner), Actor("caller", empty)):
        assert imported(ledger, content, actor).verdict == "approved"
    assert exported(ledger, owner) == exported(ledger, empty) == content


def edge_records(content: bytes) -> list[EdgeRecord]:
    records = map(record_of, content.splitlines())
    return [found for found in records if isinstance(found, EdgeRecord)]


def test_an_import_is_judged_again_if_its_owner_took_over_edges_meanwhile(ledger: Ledger) -> None:
    owner, other = new_owner(), new_owner()
    with_capsule(ledger, other)
    content = exported(ledger, other)
    with ledger.transaction() as tx:
        nodes = decode_nodes(tx.rows("world_nodes_of_owner", owner=other))
        hand_over(tx, nodes, [], owner, takes_over=other, reason="a test")
        tx.run("world_move_capsules", from_owner=other, to_owner=owner)

    def claim_once(what: str, done: int, of: int) -> None:
        if what == "judging" and not handed:
            with ledger.transaction() as tx:
                edges = decode_edges(tx.rows("world_edges_of_owner", owner=other))
                handed.append(hand_over(tx, [], edges, owner, takes_over=other, reason="a test"))

    handed: list[Moved] = []
    outcome = imported(ledger, content, Actor("caller", owner), on_progress=claim_once)
    assert (outcome.verdict, handed[0].left, handed[0].edges > 0) == ("approved", 0, True)
    with ledger.read() as reader:
        assert len(reader.rows("world_edges_of_owner", owner=owner)) == handed[0].edges


def test_pages_of_an_export_are_the_whole_export(ledger: Ledger) -> None:
    owner = new_owner()
    live_through(ledger, owner, [("edge", one, other, "INFORMED_BY") for one in range(2) for other in range(2)])
    imported(
        ledger,
        file_of(
            *(node(f"n{number}") for number in range(7)),
            *(edge(f"n{number}", "PART_OF", "n0") for number in range(1, 7)),
        ),
        operator_for(owner),
    )
    whole = exported(ledger, owner)
    pages = []
    with ledger.read() as reader:
        position: Position | None = Position(head_revision(reader))
        while position is not None:
            page = export_page(reader, owner, position, entities=2)
            pages.append(b"".join(map(line_of, page.records)))
            position = page.next
    assert b"".join(pages) == whole
    assert len(pages) > 7


def test_an_export_holds_nothing_of_others_and_nothing_forgotten(ledger: Ledger) -> None:
    owner, other = new_owner(), new_owner()
    imported(ledger, file_of(node("hers")), operator_for(owner))
    imported(
        ledger,
        file_of(
            node("his", decision="d1", recordedAt="2020-01-01T00:00:00Z"),
        ),
        operator_for(other),
    )
    assert b'"hers"' not in exported(ledger, other) and b'"his"' not in exported(ledger, owner)
    forget_owner(ledger, other, "eve")
    assert exported(ledger, other).count(b"\n") == 2


def test_a_later_part_is_refused_before_an_earlier_one_is_written(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 2)
    owner = new_owner()
    content = file_of(*(node(f"n{number}") for number in range(5)), edge("n0", "PART_OF", "nowhere"))
    outcome = imported(ledger, content, operator_for(owner))
    assert (outcome.verdict, outcome.written) == ("rejected", 0)
    assert exported(ledger, owner).count(b"\n") == 2


def test_facts_about_one_subject_are_judged_together_wherever_they_stand(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 2)
    owner, other = new_owner(), new_owner()
    live_through(
        ledger,
        owner,
        [
            step
            for number in range(4)
            for step in (
                (
                    "fact",
                    "door",
                    f"v{number}",
                    STARTS[number % 3],
                    "camera",
                    SourceClass.DOCUMENT,
                    None,
                    False,
                    "state",
                ),
                ("edge", number, number + 1, "INFORMED_BY"),
                ("again", 0),
            )
        ],
    )
    first = exported(ledger, owner)
    assert imported(ledger, first, operator_for(other)).verdict == "approved"
    assert exported(ledger, other) == first
