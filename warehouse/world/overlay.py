"""What was accepted after the snapshot was made: states, adjacency and words in memory, laid over the snapshot.

A node that the snapshot does not know gets the next number above its nodes. The snapshot's own arrays are kept up to
date with later states, so that whoever walks them meets nothing that is no longer so.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

import numpy as np

from contracts.world.records import Edge, Event, Node, is_live
from warehouse.world.postings import Postings
from warehouse.world.snapshot import NOBODY, Snapshot
from warehouse.world.text import words_of


class Names:
    """Names and their numbers: those of the snapshot, and those that came later."""

    def __init__(self, known: Sequence[str]) -> None:
        self._names = list(known)
        self._numbers = {name: number for number, name in enumerate(known)}

    def __getitem__(self, number: int) -> str:
        return self._names[number]

    def find(self, name: str) -> int | None:
        return self._numbers.get(name)

    def number(self, name: str) -> int:
        """The number of a name, which gets one now where it has none."""
        if name not in self._numbers:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return self._numbers[name]


class Columns:
    """Owner code, type and domain of nodes that the snapshot does not know, as arrays that grow."""

    def __init__(self) -> None:
        self._rows = np.zeros((3, 64), "<u4")
        self._length = 0

    @property
    def owner(self) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        return self._rows[0, : self._length]

    @property
    def type(self) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        return self._rows[1, : self._length]

    @property
    def domain(self) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        return self._rows[2, : self._length]

    def grow(self) -> None:
        """One more row, that nobody sees yet."""
        if self._length == self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)], axis=1)
        self._rows[:, self._length] = (NOBODY, 0, 0)
        self._length += 1

    def put(self, row: int, owner: int, node_type: int, domain: int) -> None:
        self._rows[:, row] = (owner, node_type, domain)


class Overlay:
    """Not to be read while `apply` runs. `events` are all that were applied, in order."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known = len(snapshot)
        self.events: list[Event] = []
        self.types, self.domains = Names(snapshot.manifest.types), Names(snapshot.manifest.domains)
        self.nodes: dict[int, Node] = {}
        """The newest state of each changed node by its number, live or not."""
        self.before: dict[int, tuple[int, int, int]] = {}
        """Owner code, type and domain of each changed node as the snapshot has them."""
        self.columns = Columns()
        """Of nodes that the snapshot does not know: row n is number `len(snapshot) + n`."""
        self.added_ids: list[str] = []
        self.edges: dict[str, Edge] = {}
        """The newest state of each changed edge, live or not."""
        self.edge_owner: dict[str, int] = {}
        """Owner code of each changed edge."""
        self.outbound: dict[int, dict[str, int]] = {}
        """By node: its changed live edges, and where they lead."""
        self.inbound: dict[int, dict[str, int]] = {}
        self.words = Postings()
        """Of changed nodes as they are now."""
        self.overtaken_words = Postings()
        """Of changed nodes as the snapshot has them."""
        self._numbers: dict[str, int] = {}
        self._added_in_order: list[str] = []
        self._owners: dict[str, int] = {}

    def apply(self, events: Iterable[Event]) -> None:
        """Take later events, oldest first."""
        for event in events:
            self.events.append(event)
            if event.node is not None:
                self._apply_node(event.node)
            if event.edge is not None:
                self._apply_edge(event.edge)

    def number_of(self, node_id: str) -> int | None:
        """The number of a node, live or not; None where no node has this id."""
        number = self._numbers.get(node_id)
        return self._snapshot.find(node_id) if number is None else number

    def added_from(self, node_id: str) -> Sequence[str]:
        """Ids of nodes that the snapshot does not know, from `node_id` on, in order."""
        return self._added_in_order[bisect_left(self._added_in_order, node_id) :]

    def owner_code(self, owner: str | None) -> int:
        """0 for None; NOBODY for who owns nothing in this graph."""
        if owner is None:
            return 0
        code = self._snapshot.owner_code(owner)
        return self._owners.get(owner, NOBODY) if code is None else code

    def _apply_node(self, node: Node) -> None:
        number, snapshot = self._number(node.id), self._snapshot
        row = (self._code_of(node), self.types.number(node.type), self.domains.number(node.domain))
        if number < self._known:
            arrays = (snapshot.node_owner, snapshot.node_type, snapshot.node_domain)
            if number not in self.nodes:
                self.before[number] = (int(arrays[0][number]), int(arrays[1][number]), int(arrays[2][number]))
                before = snapshot.node(number)
                if before is not None:
                    self.overtaken_words.put(number, words_of(before.title, before.properties))
            for array, value in zip(arrays, row, strict=True):
                array[number] = value
        else:
            self.columns.put(number - self._known, *row)
        self.nodes[number] = node
        self.words.put(number, words_of(node.title, node.properties) if is_live(node) else [])

    def _apply_edge(self, edge: Edge) -> None:
        source, target = self._number(edge.source), self._number(edge.target)
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
        """Hide the snapshot's edge of this id, which has these ends: an edge keeps them for life."""
        snapshot = self._snapshot
        if source >= self._known or target >= self._known:
            return
        first, end = (int(each) for each in snapshot.out_start[source : source + 2])
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
        """Who sees a state: 0 everybody, else the code of its owner, which gets one; NOBODY where it is not live."""
        if not is_live(state):
            return NOBODY
        if state.visibility == "public":
            return 0
        if state.owner is None:
            return NOBODY
        if self.owner_code(state.owner) == NOBODY:
            self._owners[state.owner] = self._snapshot.owners + 1 + len(self._owners)
        return self.owner_code(state.owner)
