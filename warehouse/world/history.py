"""Reads the history of a node from the ledger: its states, the decisions on them, and its state at a time.

A node that a caller can't see, or that was forgotten, has no history for that caller.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from contracts.world.facts import Dispute
from contracts.world.ontology import ACT_EDGES, Ontology
from contracts.world.own_ontology import NO_WORDS, ontology_with
from contracts.world.proposal import Actor, StageResult, Verdict
from contracts.world.records import Edge, Node, is_live
from warehouse.ledger.ledger import Reader
from warehouse.world.disputes import disputes_among
from warehouse.world.events import current_node, decode_edges, decode_nodes, head_revision
from warehouse.world.text import ALIAS_OF, NodeWords, with_edges, words_of, words_of_edge, words_of_edges

MOST_STATES = 100
"""Maximum number of states per answer: the newest ones."""

LONGEST_PAYLOAD = 200_000
"""Longest payload of a decision whose stages are read. A longer one is about thousands of nodes."""


class _Payload(msgspec.Struct):
    actor: Actor
    stages: list[StageResult]


_payload = msgspec.json.Decoder(_Payload).decode


@dataclass(frozen=True)
class Past:
    """The requested past. `as_of` is an RFC 3339 string in UTC with microseconds, or None for the states that were live
    at the revision; `revision` is a `seq` of the ledger."""

    as_of: str | None
    revision: int
    include_ended: bool = False
    """True if it includes states that had ended by then."""
    words: str = NO_WORDS
    """The querying owner's words, as known then (`OwnOntology.text`)."""

    @property
    def ontology(self) -> Ontology:
        """Returns the ontology of the querying owner, as known then."""
        return ontology_with(self.words)

    def contains(self, node: Node) -> bool:
        """Decides whether a state, the newest known then, held at the time."""
        if node.erased:
            return False
        instant = node.recorded_at if self.as_of is None else self.as_of
        return node.valid_from <= instant and (self.include_ended or node.valid_to is None or instant < node.valid_to)


@dataclass(frozen=True)
class PastState:
    """One state of a node, the decision that accepted it, and the time at which the next state was recorded."""

    node: Node
    decision: int
    retired_at: str | None


@dataclass(frozen=True)
class PastDecision:
    """A decision that wrote a state of the node. `stages` is None if it is others', forgotten or too large."""

    seq: int
    decided_at: str
    verdict: Verdict
    stages: tuple[StageResult, ...] | None


@dataclass(frozen=True)
class NodeHistory:
    """A node at the requested time, and its states known then, newest first."""

    node: Node | None
    states: list[PastState]
    decisions: list[PastDecision]
    acts: list[Edge]
    """The edges that record the acts on the node."""
    disputes: list[Dispute]
    truncated: bool


def known_revision(reader: Reader, recorded: int | str | None) -> int:
    """Returns the revision at an instant (a UTC string) or for a given revision; None is the newest.

    The changes of one decision become visible together: a revision between them counts as the one before the decision.
    """
    if recorded is None:
        return head_revision(reader)
    if isinstance(recorded, str):
        row = reader.row("world_last_recorded_by", instant=recorded)
        recorded = 0 if row is None or row["seq"] is None else int(row["seq"])
    last = reader.row("world_last_event_by", seq=recorded)
    if last is None:
        return recorded
    end = reader.row("world_last_event_of", decision_seq=last["decision_seq"])
    is_whole = end is not None and end["seq"] <= recorded
    return recorded if is_whole else int(last["decision_seq"])


def node_history(reader: Reader, node_id: str, owner: str, past: Past) -> NodeHistory | None:
    """Returns the history of a node as `owner` sees it, or None if there is no node that `owner` can see.

    A former owner sees the states from before the transfer.
    """
    newest = current_node(reader, node_id)
    if newest is None or newest.erased:
        return None
    rows = reader.rows("world_states_of_node", id=node_id, revision=past.revision, limit=MOST_STATES + 1)
    known = decode_nodes(rows[:MOST_STATES])
    states: list[PastState] = []
    decisions: dict[int, PastDecision] = {}
    retired_at: str | None = None
    for row, state in zip(rows, known, strict=False):
        if _is_seen(state, owner):
            seq = row["decision_seq"]
            states.append(PastState(state, seq, retired_at))
            decisions[seq] = PastDecision(seq, row["decided_at"], row["verdict"], _stages(reader, seq, owner))
        retired_at = state.recorded_at
    if not states and not _is_seen(newest, owner):
        return None
    node = _held(reader, known[:1], owner, past)
    return NodeHistory(
        node,
        states,
        list(decisions.values()),
        _acts_on(reader, node_id, owner, past),
        [] if node is None else disputes_among([node], lambda key: facts_then(reader, key, past), past.ontology),
        len(rows) > MOST_STATES,
    )


def node_then(reader: Reader, node_id: str, owner: str, past: Past) -> Node | None:
    """Returns the newest state of a node known then, if it held `as_of` and `owner` may see it.

    Without `as_of` it may have ended. A fact is marked as disputed if others that held then had another value.
    """
    newest = current_node(reader, node_id)
    if newest is None or newest.erased:
        return None
    rows = reader.rows("world_states_of_node", id=node_id, revision=past.revision, limit=1)
    return _held(reader, decode_nodes(rows), owner, past)


class SingleNodes:
    """Answers queries for single nodes of the past from the ledger, without a table of the whole past graph."""

    def __init__(self, reader: Reader, past: Past, owner: str) -> None:
        self.revision = past.revision
        self._reader = reader
        self._past = past
        self._owner = owner

    def node(self, node_id: str) -> Node | None:
        """Returns the node, if it held then."""
        node = node_then(self._reader, node_id, self._owner, self._past)
        return node if node is not None and self._past.contains(node) else None

    def words(self, node: Node) -> NodeWords:
        """Returns the words of a node, including those of its edges known then."""
        edges = [
            edge
            for edge in decode_edges(self._reader.rows("world_edges_at", node_id=node.id))
            if edge.owner == node.owner and edge.revision <= self._past.revision and is_live(edge)
        ]
        aliases = [edge.source for edge in edges if edge.type == ALIAS_OF and edge.target == node.id]
        titles = [other.title for name in aliases if (other := self.node(name)) is not None]
        return with_edges(words_of(node), [*map(words_of_edge, edges), words_of_edges([], [], titles)])

    def holding(self, fact_key: str) -> list[Node]:
        """Returns the facts of a subject and predicate that held then."""
        return facts_then(self._reader, fact_key, self._past)


def facts_then(reader: Reader, fact_key: str, past: Past) -> list[Node]:
    """Returns the facts of a subject and predicate that held at the requested time, as known then."""
    rows = reader.rows("world_facts_then", fact_key=fact_key, revision=past.revision)
    at_the_time = Past(past.as_of, past.revision)
    return [node for node in decode_nodes(row for row in rows if row["body"]) if at_the_time.contains(node)]


def _held(reader: Reader, newest: list[Node], owner: str, past: Past) -> Node | None:
    if not newest or not _is_seen(newest[0], owner):
        return None
    node = newest[0]
    if past.as_of is None:
        return node
    if not past.contains(node):
        return None
    might_be = msgspec.structs.replace(node, disputed=True)
    disputes = disputes_among([might_be], lambda key: facts_then(reader, key, past), past.ontology)
    return msgspec.structs.replace(node, disputed=bool(disputes))


def _is_seen(node: Node, owner: str) -> bool:
    return not node.erased and node.owner in (None, owner)


def _stages(reader: Reader, seq: int, owner: str) -> tuple[StageResult, ...] | None:
    row = reader.row("world_payload_for", seq=seq, owner=owner, longest=LONGEST_PAYLOAD)
    if row is None:
        return None
    payload = _payload(row["payload"])
    if payload.actor.kind != "operator":
        return tuple(payload.stages)
    # operators are people, so their names appear only in the audit
    return tuple(
        msgspec.structs.replace(stage, reason=stage.reason.replace(payload.actor.name, "operator"))
        for stage in payload.stages
    )


def _acts_on(reader: Reader, node_id: str, owner: str, past: Past) -> list[Edge]:
    edges = decode_edges(reader.rows("world_edges_at", node_id=node_id))
    return [
        edge
        for edge in edges
        if edge.type in ACT_EDGES
        and edge.target == node_id
        and edge.owner in (None, owner)
        and edge.revision <= past.revision
    ]
