"""Holds the changes accepted after the snapshot was built: states, adjacency and words in memory, on top of the
snapshot.

A node that the snapshot lacks gets the next number above the snapshot's. The snapshot's arrays are updated in memory,
so readers never see outdated state in them.

Example: a snapshot with nodes 0 and 1, where node 0 has an edge to node 1. Three events follow.

1. Node 1 becomes public. Its entry in `node_owner` changes in place, `nodes[1]` contains the new record, `before[1]`
   the owner, type and domain that the text index still has, and `overtaken_words` the old words. A search that matches
   node 1 in the index subtracts it, then finds it in `words` if its new state matches and is visible.
2. A new node gets number 2: row 0 of `columns`, and an entry in `added_ids`.
3. The edge is stated again with other properties. Its entry in `edge_owner` becomes NOBODY, which hides it from
   traversals of the snapshot; `outbound[0]` and `inbound[1]` contain the new edge.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from contracts.world.records import Edge, Event, Node, is_live
from warehouse.world.postings import Postings
from warehouse.world.snapshot import NOBODY, Snapshot
from warehouse.world.text import (
    ALIAS_OF,
    MOST_EDGES,
    EdgeWords,
    NodeWords,
    with_edges,
    words_of,
    words_of_edge,
    words_of_edges,
)


class Names:
    """Names and their numbers: first those of the snapshot, then later ones."""

    def __init__(self, known: Sequence[str]) -> None:
        self._names = list(known)
        self._numbers = {name: number for number, name in enumerate(known)}

    def __getitem__(self, number: int) -> str:
        return self._names[number]

    def find(self, name: str) -> int | None:
        return self._numbers.get(name)

    def number(self, name: str) -> int:
        """Returns the number of a name; assigns one if it has none."""
        if name not in self._numbers:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return self._numbers[name]


Column: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint64]]


class Columns:
    """Growing arrays of owner code, type, domain and revision of nodes that the snapshot lacks."""

    def __init__(self) -> None:
        self._rows = np.zeros((4, 64), "<u8")
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def owner(self) -> Column:
        return self._rows[0, : self._length]

    @property
    def type(self) -> Column:
        return self._rows[1, : self._length]

    @property
    def domain(self) -> Column:
        return self._rows[2, : self._length]

    @property
    def revision(self) -> Column:
        return self._rows[3, : self._length]

    def grow(self) -> None:
        """Adds a row that nobody sees yet."""
        if self._length == self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)], axis=1)
        self._rows[:, self._length] = (NOBODY, 0, 0, 0)
        self._length += 1

    def put(self, row: int, owner: int, node_type: int, domain: int, revision: int) -> None:
        self._rows[:, row] = (owner, node_type, domain, revision)


class Overlay:
    """The events since a snapshot, in order, and their changes. It must not be read while `apply` runs."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known = len(snapshot)
        self.events: list[Event] = []
        self.types, self.domains = Names(snapshot.manifest.types), Names(snapshot.manifest.domains)
        self.nodes: dict[int, Node] = {}
        """The newest state of each changed node by number, live or not."""
        self.before: dict[int, tuple[int, int, int]] = {}
        """Owner code, type and domain of each changed node as the snapshot had them."""
        self.columns = Columns()
        """Rows of nodes that the snapshot lacks: row n belongs to number `len(snapshot) + n`."""
        self.added_ids: list[str] = []
        self.edges: dict[str, Edge] = {}
        """The newest state of each changed edge, live or not."""
        self.edge_owner: dict[str, int] = {}
        """Owner code of each changed edge."""
        self.outbound: dict[int, dict[str, int]] = {}
        """For each node, its changed live edges with their target nodes."""
        self.inbound: dict[int, dict[str, int]] = {}
        self.words = Postings()
        """Current words of changed nodes."""
        self.overtaken_words = Postings()
        """Words of changed nodes in the snapshot."""
        self._edges_at: dict[int, dict[str, tuple[Edge, int]]] = {}
        """Live edges of the nodes whose words are stored here, by edge id, with the nodes at their other ends."""
        self._own_words: dict[int, NodeWords] = {}
        """Words of these nodes without their edges."""
        self._edge_words: dict[str, EdgeWords] = {}
        """Words of these edges."""
        self._reworded: set[int] = set()
        """Nodes whose words changed since they were last indexed."""
        self._series: dict[tuple[str | None, str], list[tuple[str, int]]] = {}
        """For each owner and source, the nodes that the snapshot lacks, by start of validity."""
        self._numbers: dict[str, int] = {}
        self._added_in_order: list[str] = []
        self._owners: dict[str, int] = {}

    def apply(self, events: Iterable[Event]) -> None:
        """Applies later events, oldest first."""
        for event in events:
            self.events.append(event)
            if event.node is not None:
                self._apply_node(event.node)
            if event.edge is not None:
                self._apply_edge(event.edge)
        for number in self._reworded:
            node = self.nodes.get(number)
            if node is not None:
                self.words.put(number, self._words_now(number, node) if is_live(node) else None)
        self._reworded.clear()

    def words_at(self, number: int) -> NodeWords:
        """Returns the words of a live node."""
        if number in self.nodes:
            return self.words.of(number)
        node = self._snapshot.node(number)
        assert node is not None, "a live node has a record"
        return self._with_edges(words_of(node), node, self._snapshot.edges_at(number), words_of_edge)

    def number_of(self, node_id: str) -> int | None:
        """Returns the number of a node, live or not, or None if no node has this id."""
        number = self._numbers.get(node_id)
        return self._snapshot.find(node_id) if number is None else number

    def added_from(self, node_id: str) -> Sequence[str]:
        """Returns ids of nodes that the snapshot lacks, from `node_id` on, in order."""
        return self._added_in_order[bisect_left(self._added_in_order, node_id) :]

    def owner_code(self, owner: str | None) -> int:
        """Returns the code of an owner: 0 for None, and NOBODY for an owner without anything in this graph."""
        if owner is None:
            return 0
        code = self._snapshot.owner_code(owner)
        return self._owners.get(owner, NOBODY) if code is None else code

    def _apply_node(self, node: Node) -> None:
        number, snapshot = self._number(node.id), self._snapshot
        self._keep_words(number)
        self._reword_neighbours(number, node)
        row = (self._code_of(node), self.types.number(node.type), self.domains.number(node.domain), node.revision)
        if number < self._known:
            arrays = (snapshot.node_owner, snapshot.node_type, snapshot.node_domain, snapshot.node_revision)
            for array, value in zip(arrays, row, strict=True):
                array[number] = value
        else:
            self.columns.put(number - self._known, *row)
            self._put_in_series(number, node)
        self.nodes[number] = node
        if is_live(node):
            self._own_words[number] = words_of(node)
        self._reworded.add(number)

    def _keep_words(self, number: int) -> None:
        """Copies the words of a node from the snapshot before the node or one of its edges changes."""
        if number in self._edges_at:
            return
        edges = self._edges_at[number] = {}
        if number >= self._known:
            return
        snapshot = self._snapshot
        arrays = (snapshot.node_owner, snapshot.node_type, snapshot.node_domain)
        self.before[number] = (int(arrays[0][number]), int(arrays[1][number]), int(arrays[2][number]))
        node = snapshot.node(number)
        for edge, other in snapshot.edges_at(number):
            edges[edge.id] = edge, other
            self._edge_words[edge.id] = words_of_edge(edge)
        if node is not None:
            self.nodes[number] = node
            self._own_words[number] = words_of(node)
            self.overtaken_words.put(number, self._words_now(number, node))
            self._reworded.add(number)

    def _reword_neighbours(self, number: int, node: Node) -> None:
        """Marks the neighbours whose words change with a node: all of them if it becomes live or ceases to be, and
        those whose alias it is if its title changes."""
        known = self.nodes.get(number)
        is_reborn = (known is not None and is_live(known)) != is_live(node)
        is_renamed = known is not None and known.title != node.title
        for edge, other in list(self._edges_at[number].values()):
            if is_reborn or (is_renamed and edge.type == ALIAS_OF):
                self._keep_words(other)
                self._reworded.add(other)

    def _words_now(self, number: int, node: Node) -> NodeWords:
        edges = self._edges_at[number].values()
        return self._with_edges(self._own_words[number], node, edges, lambda edge: self._edge_words[edge.id])

    def _with_edges(
        self,
        own: NodeWords,
        node: Node,
        edges: Iterable[tuple[Edge, int]],
        words_of_one: Callable[[Edge], EdgeWords],
    ) -> NodeWords:
        """Returns a node's own words with those of its edges, given with the nodes at their other ends."""
        of_owner = [(edge, other) for edge, other in edges if edge.owner == node.owner]
        if len(of_owner) > MOST_EDGES:
            return own
        held = [(edge, other) for edge, other in of_owner if self._lives(other)]
        of_edges = [words_of_one(edge) for edge, _ in held]
        aliases = [self._title(other) for edge, other in held if edge.type == ALIAS_OF and edge.target == node.id]
        return with_edges(own, [*of_edges, words_of_edges([], [], aliases)] if aliases else of_edges)

    def _lives(self, number: int) -> bool:
        """Decides whether a node is live now. Its neighbours' words were copied while it still had its old state."""
        of_snapshot = number < self._known
        owners = self._snapshot.node_owner if of_snapshot else self.columns.owner
        return bool(owners[number if of_snapshot else number - self._known] != NOBODY)

    def _title(self, number: int) -> str:
        node = self.nodes.get(number) or self._snapshot.node(number)
        assert node is not None, "a live node has a record"
        return node.title

    def _put_in_series(self, number: int, node: Node) -> None:
        known = self.nodes.get(number)
        if known is not None:
            self._series[known.owner, known.source].remove((known.valid_from, number))
        insort(self._series.setdefault((node.owner, node.source), []), (node.valid_from, number))

    def following(self, number: int) -> tuple[int, ...]:
        """Returns the nodes after one that the snapshot lacks, as `Snapshot.following` does."""
        node = self.nodes[number]
        series = self._series[node.owner, node.source]
        place = bisect_left(series, (node.valid_from, number))
        return tuple(series[at][1] if at < len(series) else NOBODY for at in (place + 1, place + 2))

    def _apply_edge(self, edge: Edge) -> None:
        source, target = self._number(edge.source), self._number(edge.target)
        for end, other in ((source, target), (target, source)):
            self._keep_words(end)
            self._edges_at[end].pop(edge.id, None)
            if is_live(edge):
                self._edges_at[end][edge.id] = edge, other
            self._reworded.add(end)
        self._edge_words[edge.id] = words_of_edge(edge)
        if edge.id in self.edges:
            self.outbound.get(source, {}).pop(edge.id, None)
            self.inbound.get(target, {}).pop(edge.id, None)
        else:
            self._overtake_edge(edge.id, source, target)
        self.edges[edge.id] = edge
        self.edge_owner[edge.id] = self._code_of(edge)
        if is_live(edge):
            self.outbound.setdefault(source, {})[edge.id] = target
            self.inbound.setdefault(target, {})[edge.id] = source

    def _overtake_edge(self, edge_id: str, source: int, target: int) -> None:
        """Hides the snapshot's edge with this id. It is found by its ends, because those never change."""
        snapshot = self._snapshot
        if source >= self._known or target >= self._known:
            return
        first, end = (int(place) for place in snapshot.out_start[source : source + 2])
        targets = snapshot.edge_target[first:end]
        low, high = (int(targets.searchsorted(target, side)) for side in ("left", "right"))
        for number in range(first + low, first + high):
            if snapshot.edge(number).id == edge_id:
                snapshot.edge_owner[number] = NOBODY

    def _number(self, node_id: str) -> int:
        number = self.number_of(node_id)
        if number is None:
            number = self._known + len(self.added_ids)
            self._numbers[node_id] = number
            self.added_ids.append(node_id)
            self.columns.grow()
            insort(self._added_in_order, node_id)
        return number

    def _code_of(self, state: Node | Edge) -> int:
        """Returns the owner code for a state: 0 if it is public, NOBODY if it is not live, otherwise its owner's code.

        An owner without a code gets one.
        """
        if not is_live(state):
            return NOBODY
        if state.visibility == "public":
            return 0
        if state.owner is None:
            return NOBODY
        if self.owner_code(state.owner) == NOBODY:
            self._owners[state.owner] = self._snapshot.owners + 1 + len(self._owners)
        return self.owner_code(state.owner)
