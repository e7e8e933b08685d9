"""Serves the rights of persons: deletes the texts of nodes and edges; tombstones and the chain of decisions stay.

An operator forgets owners and nodes about a person; an owner erases a node, a source or everything. Every table that
stores texts of owners must be covered by `_forget`, or by `pipelines/erasure.py` if it is outside the ledger.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from contracts.errors import NodeUnknown, OwnerInvalid, OwnerUnknown, StandingTooLow
from contracts.owners import recorded_owner
from contracts.standing import UNSTATED, rank
from contracts.times import utc_text
from contracts.world.capsule import owner_of
from contracts.world.erasure import Scope, subject_sha256
from contracts.world.extraction.same_place import said_there_too
from contracts.world.extraction.same_statements import ids_of_rebuild
from contracts.world.extraction.sources import graph_of
from contracts.world.facts import claim_of
from contracts.world.identity import edge_id, given_id, own_id
from contracts.world.proposal import Actor, Proposal, StageResult, authority_of
from contracts.world.records import FORGOTTEN, Edge, Event, Node, recorded_again
from contracts.world.text import folded
from warehouse.ledger.ledger import Ledger, Reader, Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.due import placed_again
from warehouse.world.events import (
    append_states,
    current_node,
    decode_edges,
    decode_events,
    decode_nodes,
    keep_formed,
)
from warehouse.world.view import LedgerView

MOST_NAMED = 10
_TAKING_BACK = ("CORRECTS", "RETRACTS")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Erased:
    """The counts of erased nodes and edges, of public or others' entities that lost their earlier states, and of other
    deleted rows of the owner, such as proposals; and the seq of the decision, or 0 if nothing was erased."""

    nodes: int = 0
    edges: int = 0
    restated: int = 0
    decision: int = 0
    others: int = 0

    @property
    def states(self) -> int:
        """Returns the number of nodes and edges concerned."""
        return self.nodes + self.edges + self.restated


@dataclass(frozen=True)
class Erasure:
    """An erasure that an owner requested. `id` is None if there was nothing to erase."""

    id: str | None
    scope: Scope
    nodes: int
    edges: int
    requested_at: str
    finished_at: str | None = None
    said_too: tuple[Node, ...] = ()
    """Nodes of the owner that a build read from the same place; known only at the time of the erasure."""


@dataclass(frozen=True)
class _Author:
    """The actor who erases, and the reason that the audit records."""

    actor: Actor
    reason: str


def _by_operator(operator: str) -> _Author:
    actor = Actor("operator", f"operator:{operator}")
    return _Author(actor, f"{actor.name} serves the rights of a person.")


def _by_owner(actor: Actor) -> _Author:
    return _Author(actor, f"{actor.name} erases private data.")


def forget_owner(ledger: Ledger, owner: str, operator: str) -> int:
    """Turns every private node and edge of `owner` into a tombstone, in all its states. Returns their number.

    Decisions on the owner's proposals, and on those of the capsules that the owner claimed, are deleted with their
    salts; so are waiting proposals, and the stored answers of calls that the owner paid singly. Published states belong
    to everybody, and transferred ones to their new owner: both stay, without their earlier states, and an operator
    can end the public ones. The files follow, as after `erase_everything`. Raises `OwnerInvalid`, and `OwnerUnknown`
    without changing anything if `owner` has no data, no key and no waiting erasure.
    """
    owner = normalised_owner(owner)
    with ledger.transaction() as tx:
        nodes, edges = _everything_of(tx, owner)
        erased = _forget(tx, owner, nodes, edges, _by_operator(operator))
        tx.run("world_forget_erasures", owner=owner, forgotten=FORGOTTEN)
        waits = _recorded(tx, owner, subject_sha256(owner, "everything", "")) is not None
        if not (waits or erased.states or erased.others or callers_of(tx, owner)):
            raise OwnerUnknown(
                f"There is nothing of {owner}, and no key of that owner.",
                cure="Nothing was changed. Check the spelling; an owner who was forgotten before can't be found.",
            )
        if not waits:
            _put_erasure(tx, f"era_{secrets.token_hex(8)}", owner, erased)
    ledger.scrub()
    return erased.states


def erase_node(ledger: Ledger, actor: Actor, node_id: str) -> Erasure:
    """Erases a private node of the actor's owner, given the id that the owner knows, with its edges.

    Nodes that it had corrected or retracted are restored as if it had never existed. Erasing it again returns the same
    erasure. Raises `NodeUnknown` for any other node, and `StandingTooLow`.
    """
    owner = _owner_of(actor)
    with ledger.transaction() as tx:
        stored = next((known for known in (own_id(owner, node_id), node_id) if _is_of(tx, known, owner)), None)
        if stored is None:
            digests = [subject_sha256(owner, "node", known) for known in (own_id(owner, node_id), node_id)]
            done = [erasure for digest in digests if (erasure := _recorded(tx, owner, digest)) is not None]
            if not done:
                raise NodeUnknown("You have no private node with this id.")
            return done[0]
        nodes = decode_nodes(tx.rows("world_node", id=stored))
        edges = decode_edges(tx.rows("world_edges_at", node_id=stored))
        _refuse_above(actor, nodes, edges)
        ends = {end for edge in edges for end in (edge.source, edge.target)} - {stored}
        around = [node for end in sorted(ends) for node in decode_nodes(tx.rows("world_node", id=end))]
        said_too = said_there_too(nodes[0], (node for node in around if node.owner == owner))
        at_node = [edge for edge in edges if edge.actor != FORGOTTEN]
        erased = _erase(tx, nodes, at_node, _by_owner(actor), freed=_freed(tx, owner, nodes, at_node))
        _forget_mentions(tx, owner, f'%"{stored}"%')
        erasure = _keep(tx, owner, "node", stored, erased)
    ledger.scrub()
    return replace(erasure, said_too=tuple(said_too))


def erase_source(ledger: Ledger, actor: Actor, source: str) -> Erasure:
    """Erases everything that a source stated for the actor's owner: private nodes with their edges, and edges.

    Nodes and edges that another source has restated since stay, without their earlier states. Nodes that the source had
    corrected or retracted are restored as if that had never happened. Raises `StandingTooLow`.
    """
    owner = _owner_of(actor)
    with ledger.transaction() as tx:
        sources = [row["source"] for row in tx.rows("world_sources_of", owner=owner)]
        named = [known for known in sources if folded(known) == folded(source)]
        stated: list[Node | Edge] = []
        for known in named:
            stated += decode_nodes(tx.rows("world_nodes_by_source", owner=owner, source=known))
            stated += decode_edges(tx.rows("world_edges_by_source", owner=owner, source=known))
        last_stated = {state.id: state for state in stated if _source_of(state) in named}
        nodes = {state.id: state for state in last_stated.values() if isinstance(state, Node)}
        edges = {state.id: state for state in last_stated.values() if isinstance(state, Edge)}
        for node_id in nodes:
            at_node = decode_edges(tx.rows("world_edges_at", node_id=node_id))
            edges |= {edge.id: edge for edge in at_node if edge.actor != FORGOTTEN}
        restated = {state.id: state for state in stated if state.id not in nodes and state.id not in edges}
        _refuse_above(actor, nodes.values(), edges.values())
        given_up = list(restated.values())
        freed = _freed(tx, owner, nodes.values(), edges.values())
        erased = _erase(tx, [*nodes.values()], [*edges.values()], _by_owner(actor), given_up=given_up, freed=freed)
        tx.run("world_forget_imports", owner=owner)  # a waiting file may contain statements of the source
        for known in named:
            text = _encode(known).decode()[1:-1].replace("\\", "_")  # PostgreSQL escapes by a backslash
            for like in (f'%"source":"{text}"%', f"%by '{text}'%", f'%"{text} stated %'):
                _forget_mentions(tx, owner, like)
        erasure = _keep(tx, owner, "source", folded(source), erased)
    ledger.scrub()
    return erasure


def erase_everything(ledger: Ledger, actor: Actor) -> Erasure:
    """Erases everything of the actor's owner, as `forget_owner` does. Raises `StandingTooLow`."""
    owner = _owner_of(actor)
    with ledger.transaction() as tx:
        nodes, edges = _everything_of(tx, owner)
        _refuse_above(actor, nodes, edges)
        erased = _forget(tx, owner, nodes, edges, _by_owner(actor))
        tx.run("world_forget_erasures", owner=owner, forgotten=FORGOTTEN)
        erasure = _keep(tx, owner, "everything", "", erased)
    ledger.scrub()
    return erasure


def erase_ended_trial(tx: Transaction, owner: str, family_id: str) -> None:
    """Erases everything of an owner whose trial key ended long ago, as a step of a larger transaction.

    The erasure is recorded even if the graph had nothing, so that the judged texts of the owner's keys are erased too.
    """
    nodes, edges = _everything_of(tx, owner)
    actor = Actor("operator", "operator:trials")
    erased = _forget(tx, owner, nodes, edges, _Author(actor, "The trial key that wrote it ended long ago."))
    tx.run("world_forget_erasures", owner=owner, forgotten=FORGOTTEN)
    _put_erasure(tx, f"era_{family_id}", owner, erased)


@dataclass(frozen=True)
class Waiting:
    """Erasures whose files must still be rewritten: their ids, the time of the oldest, the callers of owners who erased
    everything, and the time at which files were last rewritten."""

    ids: tuple[str, ...]
    since: str | None
    callers: tuple[str, ...]
    last_finished: str | None


def waiting_erasures(reader: Reader) -> Waiting:
    """Returns the erasures for which the files have not been rewritten yet."""
    rows = reader.rows("world_erasures_waiting")
    owners = dict.fromkeys(row["owner"] for row in rows if row["scope"] == "everything")
    last = reader.row("world_last_erasure")
    return Waiting(
        ids=tuple(row["id"] for row in rows),
        since=min((row["requested_at"] for row in rows), default=None),
        callers=tuple(caller for owner in owners for caller in callers_of(reader, owner)),
        last_finished=None if last is None else last["finished_at"],
    )


def finish_erasures(ledger: Ledger, ids: Sequence[str]) -> None:
    """Records that all files have been rewritten for these erasures. Forgets owners who erased everything."""
    with ledger.transaction() as tx:
        now = utc_text(tx.now())
        for erasure_id in ids:
            tx.run("world_finish_erasure", id=erasure_id, finished_at=now, forgotten=FORGOTTEN)


def _everything_of(tx: Transaction, owner: str) -> tuple[list[Node], list[Edge]]:
    nodes = decode_nodes(tx.rows("world_nodes_of_owner", owner=owner))
    return nodes, decode_edges(tx.rows("world_edges_of_owner", owner=owner))


def _forget(tx: Transaction, owner: str, nodes: Sequence[Node], edges: Sequence[Edge], by: _Author) -> Erased:
    """Deletes everything in the ledger about an owner's graph, whose states are given, the stored answers to calls that
    the owner paid singly, and the daily usage of the owner's keys."""
    capsules = [owner_of(row["id"]) for row in tx.rows("world_capsules_of_owner", owner=owner)]
    given_up: dict[str, Node | Edge] = {}
    others = 0
    for proposer in (owner, *capsules):
        proposed = {"actor": proposer, "owner": owner, "forgotten": FORGOTTEN}
        given_up |= {node.id: node for node in decode_nodes(tx.rows("world_nodes_given_up", **proposed))}
        given_up |= {edge.id: edge for edge in decode_edges(tx.rows("world_edges_given_up", **proposed))}
        others += tx.run("world_forget_payloads", owner=proposer)
        others += tx.run("world_forget_pending", owner=proposer)
        others += tx.run("world_forget_requests", scope=proposer)
        others += tx.run("world_forget_imports", owner=proposer)
        others += tx.run("world_forget_origin_decisions", owner=proposer)
    others += tx.run("world_forget_claims", owner=owner, forgotten=FORGOTTEN)
    others += tx.run("world_forget_ontologies", owner=owner)
    others += tx.run("access_forget_answers_of", payer=owner)
    others += tx.run("forget_key_uses_of", owner=owner)
    return replace(_erase(tx, nodes, edges, by, given_up=list(given_up.values())), others=others)


def callers_of(reader: Reader, owner: str) -> list[str]:
    """Returns the ids of the keys, sessions and single payments that act for an owner."""
    return [row["caller"] for row in reader.rows("callers_of_owner", owner=_lowered(owner))]


def forget_nodes(tx: Transaction, node_ids: Sequence[str], operator: str) -> int:
    """Turns nodes about one person, even public ones, and all of their edges into tombstones. Returns their number.

    This is a step of a larger transaction. Ids without a node are ignored.
    """
    stored = [node for node_id in node_ids for node in decode_nodes(tx.rows("world_node", id=node_id))]
    nodes = [node for node in stored if not node.erased]
    edges = {
        edge.id: edge
        for node in nodes
        for edge in decode_edges(tx.rows("world_edges_at", node_id=node.id))
        if edge.actor != FORGOTTEN
    }
    erased = _erase(tx, nodes, list(edges.values()), _by_operator(operator))
    return erased.states


def normalised_owner(owner: str) -> str:
    """Returns an owner as the ledger names it. Raises `OwnerInvalid`, also for the empty owner, which marks public
    state."""
    name = recorded_owner(owner)
    if name is None:
        raise OwnerInvalid(f"{owner!r} names no owner.", cure="Give an address, local:NAME, profile:ID or capsule:ID.")
    return name


def _owner_of(actor: Actor) -> str:
    assert actor.owner is not None, "only owners erase what is theirs"
    return actor.owner


def _is_of(reader: Reader, node_id: str, owner: str) -> bool:
    known = current_node(reader, node_id)
    return known is not None and known.owner == owner and not known.erased


def _source_of(state: Node | Edge) -> str:
    return state.source if isinstance(state, Node) else state.stated_in


def _refuse_above(actor: Actor, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
    """Raises `StandingTooLow` if something stands higher than the actor may claim."""
    ceiling, owner = authority_of(actor), _owner_of(actor)
    above = [node.id for node in nodes if not node.erased and rank(claim_of(node).stands_as) > rank(ceiling)]
    above += [edge.source for edge in edges if rank(edge.source_class) > rank(ceiling)]
    if above:
        named = ", ".join(given_id(owner, node_id) for node_id in dict.fromkeys(above[:MOST_NAMED]))
        raise StandingTooLow(
            f"This key claims up to {ceiling}, and these nodes stand higher: {named}. Nothing is erased."
        )


def _forget_mentions(tx: Transaction, owner: str, like: str) -> None:
    """Deletes the payloads of decisions on an owner's proposals that mention erased content, and such waiting
    proposals."""
    tx.run("world_forget_payloads_like", owner=owner, like=like)
    tx.run("world_forget_pending_like", owner=owner, like=like)


def _keep(tx: Transaction, owner: str, scope: Scope, subject: str, erased: Erased) -> Erasure:
    """Records an erasure without its subject, so that the files follow. If nothing was erased, returns the last erasure
    of the same subject, if any."""
    digest, now = subject_sha256(owner, scope, subject), utc_text(tx.now())
    if not erased.decision:
        return _recorded(tx, owner, digest) or Erasure(None, scope, 0, 0, now)
    erasure = Erasure(f"era_{erased.decision}", scope, erased.nodes, erased.edges, now)
    tx.run(
        "world_put_erasure",
        id=erasure.id,
        owner=owner,
        scope=scope,
        subject_sha256=digest,
        nodes=erased.nodes,
        edges=erased.edges,
        requested_at=now,
    )
    return erasure


def _put_erasure(tx: Transaction, erasure_id: str, owner: str, erased: Erased) -> None:
    """Records that everything of an owner was erased, so that the files follow."""
    tx.run(
        "world_put_erasure",
        id=erasure_id,
        owner=owner,
        scope="everything",
        subject_sha256=subject_sha256(owner, "everything", ""),
        nodes=erased.nodes,
        edges=erased.edges,
        requested_at=utc_text(tx.now()),
    )


def _recorded(reader: Reader, owner: str, digest: str) -> Erasure | None:
    row = reader.row("world_erasure_of", owner=owner, subject_sha256=digest)
    return None if row is None else Erasure(**row)


def _lowered(owner: str) -> str:
    return owner.lower() if owner.startswith("0x") else owner


def _erase(
    tx: Transaction,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    by: _Author,
    *,
    given_up: Sequence[Node | Edge] = (),
    freed: Sequence[Node | Edge] = (),
) -> Erased:
    """Blanks every state of these nodes and edges and appends tombstones.

    `given_up` entities are now public or somebody else's, so their newest state is written again instead. `freed` are
    the new states of nodes that erased nodes had corrected or retracted. Facts that an erased fact had ended or
    disputed are restored as if it had never been stated.
    """
    if not nodes and not edges and not given_up:
        return Erased()
    seq = tx.changed(DECISION, "approved")
    now = utc_text(tx.now())
    unstatable = _under_ids_of_builds(tx, nodes)
    gone_nodes = [*nodes, *(state for state in given_up if isinstance(state, Node))]
    gone_edges = [*edges, *(state for state in given_up if isinstance(state, Edge))]
    for node in gone_nodes:
        _blank_events(tx, "node", node.id)
    keep_formed(tx, [edge.id for edge in gone_edges])
    for edge in gone_edges:
        _blank_events(tx, "edge", edge.id)
    states: list[Node | Edge] = [
        *(_blank_node(node, now) for node in [*gone_nodes, *unstatable]),
        *(_blank_edge(edge, now) for edge in gone_edges),
        *(recorded_again(state, now) for state in (*given_up, *freed)),
    ]
    owners = {node.owner for node in nodes} | {edge.owner for edge in edges}
    for owner in sorted(owner for owner in owners if owner not in (None, FORGOTTEN)):
        tx.run("world_forget_imports", owner=owner)  # a waiting file may contain the same texts
    events = append_states(tx, states, seq)
    tx.run("world_drop_forms")
    facts = placed_again(tx, [*nodes, *(state for state in freed if isinstance(state, Node))], now)
    events += append_states(tx, [recorded_again(fact, now) for fact in facts], seq)
    stages = (StageResult("authority", "pass", by.reason),)
    record(tx, seq, "approved", Proposal(actor=by.actor, source=FORGOTTEN), stages, events)
    return Erased(len(nodes), len(edges), len(given_up), seq)


def _under_ids_of_builds(tx: Transaction, nodes: Iterable[Node]) -> list[Node]:
    """Returns copies of nodes under the ids that builds of their graphs would derive, if those differ. A tombstone
    there lets a build recognise erased nodes of an imported graph, or of a line that moved to another note."""
    by_graph: dict[tuple[str, str], list[Node]] = {}
    for node in nodes:
        if node.owner is not None and graph_of(node.source) is not None and not node.erased:
            by_graph.setdefault((node.owner, node.source), []).append(node)
    found: dict[str, Node] = {}
    for (owner, source), of_graph in by_graph.items():
        stored, _ = LedgerView(tx).stated_in(owner, source)
        for node, node_id in ids_of_rebuild(f"{owner}/{graph_of(source)}", of_graph, stored):
            if current_node(tx, node_id) is None:
                found[node_id] = msgspec.structs.replace(node, id=node_id)
    return list(found.values())


def _freed(tx: Transaction, owner: str, nodes: Iterable[Node], edges: Iterable[Edge]) -> list[Node | Edge]:
    """Returns the new states of an owner's nodes that these nodes, which are being erased, had corrected or retracted,
    and of the edges that had continued at their replacements.

    A node is restored as if that had never happened, unless the node that corrected it was itself corrected or
    retracted: then that later decision applies to the node.
    """
    erased, gone = {node.id: node for node in nodes}, {(edge.source, edge.type, edge.target): edge for edge in edges}
    freed: list[Node | Edge] = []
    for act in gone.values():
        wrong = current_node(tx, act.target) if act.type in _TAKING_BACK and act.source in erased else None
        if wrong is None or wrong.id in erased or (wrong.owner, wrong.ended_by) != (owner, act.source):
            continue
        later = _decision_on(erased[act.source], erased, gone.values())
        if later is not None:
            moved = edge_id(owner, later.source, later.type, wrong.id)
            freed.append(msgspec.structs.replace(wrong, ended_by=later.source))
            freed.append(msgspec.structs.replace(later, id=moved, target=wrong.id))
            continue
        freed.append(
            msgspec.structs.replace(wrong, retracted=False, valid_to=wrong.stated_to, stated_to=None, ended_by=None)
        )
        for edge in decode_edges(tx.rows("world_edges_at", node_id=wrong.id)):
            went_on = gone.get((edge.source, edge.type, act.source))
            if edge.target == wrong.id and edge.valid_to == edge.valid_from and went_on is not None:
                freed.append(msgspec.structs.replace(edge, valid_to=went_on.valid_to, disputed=went_on.disputed))
    return freed


def _decision_on(node: Node, erased: Mapping[str, Node], edges: Collection[Edge]) -> Edge | None:
    """Returns the edge by which a remaining node corrected or retracted an erased one, over any number of erased nodes
    between them."""
    seen: set[str] = set()
    while node.retracted and node.ended_by is not None and node.id not in seen:
        seen.add(node.id)
        by = next((edge for edge in edges if _takes_back(edge, node)), None)
        if by is None or by.source not in erased:
            return by
        node = erased[by.source]
    return None


def _takes_back(edge: Edge, node: Node) -> bool:
    return edge.type in _TAKING_BACK and (edge.source, edge.target) == (node.ended_by, node.id)


def _blank_events(tx: Transaction, kind: str, entity_id: str) -> None:
    for event in decode_events(tx.rows("world_events_of_entity", kind=kind, entity_id=entity_id)):
        state = _blank(event)
        tx.run("world_forget_payload_of_event", seq=event.seq)
        before = event.node or event.edge
        if before is not None and before.origin is not None and before.origin.decision is not None:
            tx.run("world_forget_origin_decision", owner=before.owner, id=before.origin.decision)
        tx.run("world_blank_event", seq=event.seq, body=_encode(state).decode(), actor=FORGOTTEN, source=FORGOTTEN)


def _blank(event: Event) -> Node | Edge:
    if event.node is not None:
        return _blank_node(event.node, event.node.recorded_at)
    assert event.edge is not None
    return _blank_edge(event.edge, event.edge.recorded_at)


def _blank_node(node: Node, recorded_at: str) -> Node:
    return msgspec.structs.replace(
        node,
        title="",
        properties={},
        owner=FORGOTTEN,
        visibility="private",
        source=FORGOTTEN,
        actor=FORGOTTEN,
        recorded_at=recorded_at,
        erased=True,
        source_class=UNSTATED,
        stated_at=None,
        stated_to=None,
        ended_by=None,
        confirmed_as=None,
        confirmed_at=None,
        disputed=False,
        origin=None,
    )


def _blank_edge(edge: Edge, recorded_at: str) -> Edge:
    return msgspec.structs.replace(
        edge,
        properties={},
        owner=FORGOTTEN,
        visibility="private",
        stated_in=FORGOTTEN,
        actor=FORGOTTEN,
        recorded_at=recorded_at,
        valid_to=max(recorded_at, edge.valid_from),
        origin=None,
    )
