"""Small graphs for tests: records, snapshots of them, and a model of the graph simple enough to trust."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import msgspec
from rapidfuzz.distance import OSA

from contracts.world.records import Edge, Event, Node, is_live
from warehouse.world.current import CurrentView
from warehouse.world.overlay import Overlay
from warehouse.world.query import Filter, Traversal
from warehouse.world.snapshot import Snapshot
from warehouse.world.snapshot_writer import write_snapshot
from warehouse.world.text import (
    SHORTEST_MISTYPED,
    NodeWords,
    has_word,
    parse_search,
    with_edges,
    words_of,
    words_of_edge,
    words_of_edges,
)

DOMAIN_OF = {"Person": "FOUNDATION", "Value": "FOUNDATION", "Goal": "VISION", "Task": "TACTICS", "Metric": "TRACK"}
T0, T1, T2, T3 = (f"2026-11-21T1{hour}:00:00.000000Z" for hour in range(4))


def node(node_id: str, seq: int = 0, *, title: str = "", type: str = "Goal", **changes: Any) -> Node:
    """Returns a public node of `type`, stated at `T1` by a test."""
    owner = changes.get("owner")
    return Node(
        **{
            "id": node_id,
            "title": title or node_id,
            "type": type,
            "domain": DOMAIN_OF[type],
            "properties": {},
            "visibility": "private" if owner else "public",
            "owner": None,
            "immutable": False,
            "valid_from": T1,
            "valid_to": None,
            "recorded_at": T1,
            "source": "test",
            "actor": owner or "pipeline",
            "revision": seq,
            **changes,
        }
    )


def edge(source: str, target: str, seq: int = 0, *, type: str = "PURSUES", **changes: Any) -> Edge:
    """Returns a public edge, stated at `T1` by a test."""
    owner = changes.get("owner")
    return Edge(
        **{
            "id": f"{source}-{type}-{target}",
            "source": source,
            "target": target,
            "type": type,
            "properties": {},
            "visibility": "private" if owner else "public",
            "owner": None,
            "valid_from": T1,
            "valid_to": None,
            "recorded_at": T1,
            "stated_in": "test",
            "actor": owner or "pipeline",
            "revision": seq,
            **changes,
        }
    )


def events_of(states: Iterable[Node | Edge], first: int = 1) -> list[Event]:
    """Returns the states as events with seqs from `first` on."""
    events = []
    for seq, state in enumerate(states, start=first):
        written = msgspec.structs.replace(state, revision=seq)
        events.append(Event(seq=seq, node=written) if isinstance(written, Node) else Event(seq=seq, edge=written))
    return events


def newest(events: Sequence[Event]) -> tuple[dict[str, Node], dict[str, Edge]]:
    """Returns the newest state of every node and edge."""
    nodes = {event.node.id: event.node for event in events if event.node}
    return nodes, {event.edge.id: event.edge for event in events if event.edge}


def snapshot_inputs(connection: duckdb.DuckDBPyConnection, events: Sequence[Event]) -> None:
    """Creates the tables that a snapshot is written from."""
    nodes, edges = newest(events)
    connection.execute(
        "create or replace table snapshot_input_nodes"
        " (id varchar, type varchar, domain varchar, owner varchar, live boolean, body varchar)"
    )
    connection.execute(
        "create or replace table snapshot_input_edges"
        " (id varchar, source varchar, target varchar, owner varchar, live boolean, body varchar)"
    )
    node_rows = [
        (state.id, state.type, state.domain, state.owner, is_live(state), msgspec.json.encode(state).decode())
        for state in nodes.values()
    ]
    edge_rows = [
        (state.id, state.source, state.target, state.owner, is_live(state), msgspec.json.encode(state).decode())
        for state in edges.values()
    ]
    for table, rows in (("snapshot_input_nodes", node_rows), ("snapshot_input_edges", edge_rows)):
        if rows:  # by columns, since each row of a statement of its own takes a tenth of a millisecond
            columns = [list(column) for column in zip(*rows, strict=True)]
            connection.execute(f"insert into {table} select {', '.join(['unnest(?)'] * len(columns))}", columns)


@cache
def _instance() -> duckdb.DuckDBPyConnection:
    """Returns the process's one instance: a new one takes 20 milliseconds of CPU, more than a small snapshot."""
    return duckdb.connect()


def write(directory: Path, events: Sequence[Event]) -> Path:
    """Writes a snapshot of the graph after `events`."""
    with _instance().cursor() as connection:
        snapshot_inputs(connection, events)
        write_snapshot(connection, directory, events[-1].seq if events else 0)
    return directory


@dataclass
class Graph:
    """A snapshot with an overlay on top, as one process holds them."""

    snapshot: Snapshot
    overlay: Overlay
    revision: int = 0

    @classmethod
    def of(cls, directory: Path | None, events: Sequence[Event]) -> Graph:
        """Opens the snapshot in `directory`, and applies those of `events` that it does not include."""
        snapshot = Snapshot(directory)
        graph = cls(snapshot, Overlay(snapshot), snapshot.revision)
        graph.apply([event for event in events if event.seq > snapshot.revision])
        return graph

    def apply(self, events: Sequence[Event]) -> None:
        self.overlay.apply(events)
        self.revision = max([self.revision, *(event.seq for event in events)])

    def seen_by(self, owner: str | None) -> CurrentView:
        return CurrentView(self.snapshot, self.overlay, self.revision, owner)


@dataclass
class Model:
    """The graph as one caller sees it; answers by looking at everything."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)

    @classmethod
    def now(cls, events: Sequence[Event], owner: str | None) -> Model:
        """Returns the model after `events`."""
        nodes, edges = newest(events)
        return cls._seen(
            {key: each for key, each in nodes.items() if is_live(each)},
            {key: each for key, each in edges.items() if is_live(each)},
            owner,
        )

    @classmethod
    def then(cls, events: Sequence[Event], owner: str | None, as_of: str | None, at_revision: int) -> Model:
        """Returns what held at `as_of` (None: what was live), according to what was known at `at_revision`, without
        what was erased since."""
        erased = {each.node.id for each in events if each.node and each.node.erased and each.seq > at_revision}
        nodes, edges = newest([event for event in events if event.seq <= at_revision])

        def held(state: Node | Edge) -> bool:
            if as_of is None:
                return is_live(state)
            return state.valid_from <= as_of and (state.valid_to is None or as_of < state.valid_to)

        return cls._seen(
            {key: each for key, each in nodes.items() if held(each) and not each.erased and key not in erased},
            {key: each for key, each in edges.items() if held(each)},
            owner,
        )

    @classmethod
    def _seen(cls, nodes: dict[str, Node], edges: dict[str, Edge], owner: str | None) -> Model:
        def sees(state: Node | Edge) -> bool:
            return state.visibility == "public" or (owner is not None and state.owner == owner)

        seen = {key: each for key, each in nodes.items() if sees(each)}
        return cls(
            seen,
            {key: one for key, one in edges.items() if sees(one) and one.source in seen and one.target in seen},
        )

    def counts(self) -> dict[str, int]:
        domains = [each.domain for each in self.nodes.values()]
        return {domain: domains.count(domain) for domain in domains}

    def matching(self, search: str | None, within: Filter) -> list[str]:
        words = {key: self.words(each) for key, each in self.nodes.items()}
        passing = sorted(key for key, each in self.nodes.items() if within.passes(each))
        if search is None:
            return passing
        asked = parse_search(search).words
        unknown = [word for word in asked if not any(has_word(own, word) for own in words.values())]
        mistyped = [word.written for word in unknown if len(word.written) >= SHORTEST_MISTYPED]
        return [
            key
            for key in passing
            if any(has_word(words[key], word) for word in asked)
            or any(
                OSA.distance(wrong, written) <= 1
                for wrong in mistyped
                for written in (*words[key].written, *words[key].edges_written)
            )
        ]

    def words(self, node: Node) -> NodeWords:
        """Returns the words of a node, of its edges that have the same owner, and of its aliases."""
        at_it = [one for one in self.edges.values() if node.id in (one.source, one.target) and one.owner == node.owner]
        aliases = [self.nodes[one.source].title for one in at_it if (one.type, one.target) == ("ALIAS_OF", node.id)]
        return with_edges(words_of(node), [*map(words_of_edge, at_it), words_of_edges([], [], aliases)])

    def distances(self, traversal: Traversal) -> dict[str, int]:
        if traversal.from_id not in self.nodes:
            return {}
        distances, level = {traversal.from_id: 0}, [traversal.from_id]
        for distance in range(1, traversal.depth + 1):
            ends = [
                end
                for one in self.edges.values()
                for start, end, way in (
                    (one.source, one.target, "outbound"),
                    (one.target, one.source, "inbound"),
                )
                if start in level and traversal.direction in (way, "both")
            ]
            level = [end for end in dict.fromkeys(ends) if end not in distances]
            distances |= dict.fromkeys(level, distance)
        return distances

    def edges_among(self, ids: Iterable[str]) -> list[Edge]:
        among = set(ids)
        found = [one for one in self.edges.values() if one.source in among and one.target in among]
        return sorted(found, key=lambda one: (one.source, one.target, one.id))


def write_again_and_again(directory: Path) -> None:
    """Writes snapshots of one graph repeatedly, until the process is killed."""
    nodes = [node(f"n{number:04}", title=f"node {number}") for number in range(300)]
    edges = [edge(f"n{number:04}", f"n{number + 1:04}") for number in range(299)]
    with duckdb.connect() as connection:
        snapshot_inputs(connection, events_of([*nodes, *edges]))
        for revision in itertools.count(1):
            write_snapshot(connection, directory / f"{revision % 2}", revision)
            print("written", flush=True)
