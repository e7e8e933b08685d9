"""Stores the ontologies of owners in the ledger: every version of the words that an owner added, and their effects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from contracts.canonical import sha256_hex
from contracts.errors import BodyInvalid, OntologyUnfit, RevisionConflict, StandingTooLow
from contracts.standing import rank
from contracts.times import utc_text
from contracts.world.facts import claim_of, place
from contracts.world.identity import given_id, statement_key
from contracts.world.ontology import SUPERSEDES, Ontology, load_ontology
from contracts.world.ontology_change import OntologyChange, freed
from contracts.world.own_ontology import NO_WORDS, OwnOntology, merged, ontology_with, refuse_faults
from contracts.world.proposal import Actor, Proposal, StageResult, authority_of
from contracts.world.records import Edge, Node
from warehouse.ledger.ledger import Ledger, Reader, Row, Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.events import append_states, decode_edges, decode_nodes
from warehouse.world.view import LedgerView

SOURCE = "the owner's ontology"
MOST_NAMED = 20
MOST_VERSIONS = 1_000_000


@dataclass(frozen=True)
class OntologyVersion:
    """One version of an owner's words; version 0 precedes the first. `text` has the form of `OwnOntology.text`."""

    version: int
    recorded_at: str | None
    text: str


@dataclass(frozen=True)
class OntologyOutcome:
    """The current version, whether it is new, and the facts whose validity it changed."""

    version: OntologyVersion
    is_new: bool
    changed: tuple[Node, ...] = ()


def version_of(reader: Reader, owner: str, version: int | None = None) -> OntologyVersion | None:
    """Returns a version of an owner's words, by default the newest, or None if there is no such version."""
    if version is not None:
        row = reader.row("world_ontology_version", owner=owner, version=version)
        return _version(row) if row else (BEFORE_THE_FIRST if version == 0 else None)
    row = reader.row("world_newest_ontology", owner=owner)
    return BEFORE_THE_FIRST if row is None else _version(row)


def versions_of(reader: Reader, owner: str, limit: int) -> list[OntologyVersion]:
    """Returns the versions of an owner's words, newest first."""
    return [_version(row) for row in reader.rows("world_ontologies_of", owner=owner, limit=limit)]


BEFORE_THE_FIRST = OntologyVersion(0, None, NO_WORDS)


def _version(row: dict[str, object]) -> OntologyVersion:
    return OntologyVersion(int(str(row["version"])), str(row["recorded_at"]), str(row["body"]))


def ontology_of(reader: Reader, owner: str | None) -> Ontology:
    """Returns the ontology of an owner's private part, or without an owner that of the public graph."""
    return ontology_with(words_of(reader, owner))


def words_of(reader: Reader, owner: str | None, beliefs: Iterable[int | str] = ()) -> str:
    """Returns the words that an owner had at the earliest of these beliefs (revisions or UTC strings), by default the
    present ones."""
    if owner is None:
        return NO_WORDS
    rows = [
        reader.row("world_ontology_by", owner=owner, seq=belief)
        if isinstance(belief, int)
        else reader.row("world_ontology_at", owner=owner, instant=belief)
        for belief in beliefs
    ]
    if not rows:
        rows = [reader.row("world_newest_ontology", owner=owner)]
    earliest = min((BEFORE_THE_FIRST if row is None else _version(row) for row in rows), key=lambda row: row.version)
    return earliest.text


def words_ever_of(reader: Reader, owner: str) -> str:
    """Returns the newest words of an owner merged with those of every earlier version."""
    versions = [OwnOntology.model_validate_json(str(row["body"])) for row in _all_versions(reader, owner)]
    return merged(versions[0], versions[1:]).text() if versions else NO_WORDS


def types_ever_of(reader: Reader, owner: str) -> frozenset[str]:
    """Returns the node types of every version of an owner's ontology, which queries of the past may use."""
    versions = _all_versions(reader, owner)
    return frozenset(name for row in versions for name in ontology_with(str(row["body"])).node_types)


def _all_versions(reader: Reader, owner: str) -> list[Row]:
    return reader.rows("world_ontologies_of", owner=owner, limit=MOST_VERSIONS)


def set_ontology(
    ledger: Ledger, actor: Actor, words: OwnOntology, expected_version: int | None, *, key_id: str | None = None
) -> OntologyOutcome:
    """Replaces the words of the actor's owner, as one decision.

    The rule of standing places the facts of a predicate that becomes single-valued; facts of one that stops being so
    hold as they were stated. Setting the same words again changes nothing. Raises `BodyInvalid`, `RevisionConflict`,
    `OntologyUnfit`, which names states that would not fit, and `StandingTooLow`.
    """
    refuse_faults(words, load_ontology())
    owner, text = actor.owner, words.text()
    assert owner is not None, "only owners have words of their own"
    with ledger.transaction() as tx:
        known = version_of(tx, owner)
        assert known is not None
        if expected_version is not None and expected_version > known.version:
            raise BodyInvalid(
                f"Version {expected_version} of the ontology does not exist yet: the newest one is {known.version}.",
                errors=[("/expectedVersion", f"is above {known.version}")],
            )
        if expected_version not in (None, known.version):
            raise RevisionConflict(
                f"Expected version {expected_version} of the ontology, but it has version {known.version}.",
                errors=[("/expectedVersion", f"is not {known.version}")],
            )
        return put_words(tx, actor, text, key_id=key_id)


def put_words(
    tx: Transaction, actor: Actor, text: str, *, key_id: str | None = None, settled: Collection[str] = ()
) -> OntologyOutcome:
    """Replaces the words of the actor's owner, as a step of a larger transaction.

    `text` contains words that fit the service's. Facts of the keys in `settled` are left to the caller. Raises
    `OntologyUnfit` and `StandingTooLow`.
    """
    owner = actor.owner
    assert owner is not None, "only owners have words of their own"
    known = version_of(tx, owner)
    assert known is not None
    if text == known.text:
        return OntologyOutcome(known, is_new=False)
    change = OntologyChange(ontology_with(known.text), ontology_with(text))
    now = utc_text(tx.now())
    _refuse_unfit(tx, change, owner, now)
    facts, edges = _changed_states(tx, change, owner, now, settled)
    _refuse_above(actor, owner, facts)
    seq = tx.changed(DECISION, "approved")
    states: list[Node | Edge] = [
        *(msgspec.structs.replace(fact, recorded_at=now) for fact in facts),
        *(msgspec.structs.replace(edge, recorded_at=now) for edge in edges),
    ]
    events = append_states(tx, states, seq)
    reason = f"{actor.name} set version {known.version + 1} of the ontology, sha256 {sha256_hex(text.encode())}."
    stages = (StageResult("authority", "pass", reason),)
    record(tx, seq, "approved", Proposal(actor=actor, source=SOURCE), stages, events, key_id=key_id)
    tx.run("world_put_ontology", owner=owner, version=known.version + 1, seq=seq, recorded_at=now, body=text)
    written = OntologyVersion(known.version + 1, now, text)
    return OntologyOutcome(written, True, tuple(event.node for event in events if event.node is not None))


def _refuse_unfit(tx: Transaction, change: OntologyChange, owner: str, now: str) -> None:
    nodes = [node for name in change.node_types for node in _nodes_with(tx, owner, "type", name) if node.type == name]
    edges = [edge for name in change.edge_types for edge in _edges_of_type(tx, owner, name)]
    held_nodes = [node for node in nodes if not node.erased and not node.retracted and _holds(node, now)]
    held_edges = [edge for edge in edges if _holds(edge, now)]
    faults = list(change.faults(held_nodes, held_edges, LedgerView(tx).node))
    if faults:
        named = [(pointer, given_id(owner, fault)) for pointer, fault in faults[:MOST_NAMED]]
        more = f"; and {len(faults) - MOST_NAMED} more" if len(faults) > MOST_NAMED else ""
        raise OntologyUnfit(
            f"Nothing was changed. {'; '.join(f'{pointer}: {fault}' for pointer, fault in named)}{more}.", errors=named
        )


def _changed_states(
    tx: Transaction, change: OntologyChange, owner: str, now: str, settled: Collection[str]
) -> tuple[list[Node], list[Edge]]:
    """Returns the facts whose validity the new ontology changes, and the successions that it ends."""
    view = LedgerView(tx)
    facts: list[Node] = []
    for predicate in change.gained_predicates:
        stated: dict[str, list[Node]] = {}
        for node in _facts_of(tx, owner, predicate):
            key = statement_key(owner, node.properties)
            if key is not None and key not in settled:
                stated.setdefault(key, []).append(node)
        for nodes in stated.values():
            known = {node.id: node for node in nodes}
            facts += [placed for node_id, placed in place(nodes, now).items() if placed != known[node_id]]
    edges: list[Edge] = []
    for predicate in change.lost_predicates:
        ended = _facts_of(tx, owner, predicate)
        facts += freed(ended)
        for fact in ended:
            successions = view.edges_from(fact.ended_by, SUPERSEDES) if fact.ended_by else []
            edges += [
                msgspec.structs.replace(edge, valid_to=max(now, edge.valid_from))
                for edge in successions
                if edge.target == fact.id and edge.owner == owner and edge.valid_to is None
            ]
    return facts, edges


def _refuse_above(actor: Actor, owner: str, facts: Sequence[Node]) -> None:
    ceiling = authority_of(actor)
    above = [given_id(owner, fact.id) for fact in facts if rank(claim_of(fact).stands_as) > rank(ceiling)]
    if above:
        raise StandingTooLow(
            f"This key claims up to {ceiling}, and these facts, which would hold otherwise, stand higher: "
            f"{', '.join(above[:MOST_NAMED])}."
        )


def _holds(state: Node | Edge, now: str) -> bool:
    return state.valid_to is None or state.valid_to > now


def _facts_of(tx: Transaction, owner: str, predicate: str) -> list[Node]:
    nodes = _nodes_with(tx, owner, "predicate", predicate)
    return [node for node in nodes if node.properties.get("predicate") == predicate and not node.erased]


def _nodes_with(tx: Transaction, owner: str, name: str, value: str) -> list[Node]:
    """Returns the owner's nodes whose records contain a name with a value anywhere, and possibly a few others."""
    encoded = msgspec.json.encode(value).decode()[1:-1].replace("\\", "_")  # PostgreSQL escapes by a backslash
    return decode_nodes(tx.rows("world_nodes_stated_in", owner=owner, like=f'%"{name}":"{encoded}"%'))


def _edges_of_type(tx: Transaction, owner: str, name: str) -> list[Edge]:
    return decode_edges(tx.rows("world_edges_of_type", owner=owner, type=name))
