"""Proves many items of a Merkle-Patricia trie at once, from the items and the hashes next to their paths. Pure.

Separate proofs of n items repeat the upper nodes n times. Here every node above an item is rebuilt from the items, and
the proof contains only the siblings: references to subtrees without items. If the items are the whole trie, there are
no siblings.

Paths are strings of hex digits, one per nibble, because Python compares, slices and packs those fastest.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Final

from contracts.evm.trie import (
    EMPTY_ROOT,
    RlpInvalid,
    RlpItem,
    decode_rlp,
    encode_rlp,
    parse_hex_prefix,
    rlp_list,
    rlp_string,
)

Item = tuple[str, bytes]
"""The path of an item, and its value as the trie contains it (for a storage, the RLP of the word)."""

Sibling = tuple[str, bytes]
"""The path down to a subtree without items, and the reference to it in its branch, in RLP."""

_HASH: Final = b"\xa0"
_EMPTY: Final = b"\x80"
_SHORT_LIST: Final = 0xC0
_FEW: Final = 16

NODES_KEPT: Final = 1 << 14
"""Number of nodes whose hashes a process caches, some MB: a tick of the chain changes few nodes of a trie."""


class MultiproofInvalid(ValueError):
    """Items and siblings, or nodes, that can't be from the same trie."""


def keccak() -> Callable[[bytes], bytes]:
    """Returns Keccak-256 as a plain function, imported on first use. It is called millions of times."""
    from eth_hash.auto import keccak as hasher

    return hasher


def root_of(items: Iterable[Item], siblings: Iterable[Sibling]) -> bytes:
    """Returns the root of the trie with these items and, next to their paths, these siblings.

    If it equals a known root, each item is in that trie. Raises `MultiproofInvalid` if they contradict each other.
    """
    beside = list(siblings)
    for path, reference in beside:
        if not path or not _is_reference(reference):
            raise MultiproofInvalid(f"a sibling at {path[:64]!r} that is not a reference to a node")
    return _Trie(items, beside).root()


@dataclass(frozen=True)
class Unsettled:
    """What the nodes seen so far leave open. Places are indexes of the items.

    `siblings` is complete once `wanted` is empty. `wanted` contains the places of items whose path has an unknown node,
    and `unequal` places with the value that the trie has there, empty if it has none.
    """

    siblings: list[Sibling] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)
    unequal: list[tuple[int, bytes]] = field(default_factory=list)


_Subtree = tuple[RlpItem, int, int, int]
"""A reference to a subtree, the places of its first item and after its last one, and its depth in digits."""


class Search:
    """Finds the siblings of items in a trie of which only the root is known, from as few of its nodes as possible.

    A subtree whose hash follows from the items needs no node at all. In every other subtree, the node of any path
    reveals sixteen more hashes, so only nodes above foreign items are requested, not those above all items.
    """

    def __init__(self, items: Sequence[Item], root: bytes) -> None:
        """Accepts items sorted by their paths, and the root of the trie."""
        self._trie = _Trie(items, ())
        self._paths = self._trie.paths
        self._found = Unsettled()
        self._open: list[_Subtree] = []
        if root == EMPTY_ROOT:
            self._found.unequal.extend((place, b"") for place in range(len(self._paths)))
        elif self._trie.root() != root:
            self._open.append((root, 0, len(self._paths), 0))

    def missing(self, nodes: Mapping[bytes, bytes]) -> Unsettled:
        """Compares the items with the trie as far as `nodes`, which are keyed by hash, reach.

        The next call continues below the wanted nodes. Raises `MultiproofInvalid` for an invalid node.
        """
        subtrees, self._open = self._open, []
        for subtree in subtrees:
            self._descend(*subtree, nodes)
        return replace(self._found, wanted=[low for _, low, _, _ in self._open])

    def _descend(self, reference: RlpItem, low: int, high: int, depth: int, nodes: Mapping[bytes, bytes]) -> None:
        node = _node(reference, nodes)
        if node is None:
            self._open.append((reference, low, high, depth))
        elif len(node) == 17:
            self._branch(node, low, high, depth, nodes)
        else:
            self._short(node, low, high, depth, nodes)

    def _branch(self, node: list[RlpItem], low: int, high: int, depth: int, nodes: Mapping[bytes, bytes]) -> None:
        above = self._paths[low][:depth]
        if len(above) == len(self._paths[low]):
            raise MultiproofInvalid("a branch below the end of a path")
        for nibble, child in enumerate(node[:16]):
            path = above + f"{nibble:x}"
            first = bisect_left(self._paths, path, low, high)
            last = bisect_left(self._paths, path + "g", first, high)
            if first == last:
                if child != b"":
                    self._found.siblings.append((path, encode_rlp(child)))
            elif child == b"":
                self._found.unequal.extend((place, b"") for place in range(first, last))
            elif encode_rlp(child) != self._trie.reference(first, last, depth + 1):
                self._descend(child, first, last, depth + 1, nodes)

    def _short(self, node: list[RlpItem], low: int, high: int, depth: int, nodes: Mapping[bytes, bytes]) -> None:
        packed, value = node
        try:
            nibbles, is_leaf = parse_hex_prefix(packed if isinstance(packed, bytes) else b"")
        except RlpInvalid as error:
            raise MultiproofInvalid(str(error)) from None
        if not nibbles and not is_leaf:
            raise MultiproofInvalid("an extension without a path")
        path = self._paths[low][:depth] + "".join(f"{nibble:x}" for nibble in nibbles)
        first = bisect_left(self._paths, path, low, high)
        last = bisect_left(self._paths, path + "g", first, high)
        self._found.unequal.extend((place, b"") for place in (*range(low, first), *range(last, high)))
        if first == last:
            return
        if not is_leaf:
            self._descend(value, first, last, len(path), nodes)
        elif not isinstance(value, bytes):
            raise MultiproofInvalid("a leaf without a value")
        else:
            self._found.unequal.extend((place, value) for place in range(first, last))


def by_hash(nodes: Iterable[bytes]) -> dict[bytes, bytes]:
    """Returns nodes by their hash, with which other nodes refer to them."""
    hasher = keccak()
    return {hasher(node): node for node in nodes}


def value_at(root: bytes, path: str, nodes: Mapping[bytes, bytes]) -> bytes | None:
    """Returns the value at `path` in the trie under `root`, or None. `nodes` are keyed by hash.

    Raises `MultiproofInvalid` if the nodes do not lead there.
    """
    found = Search([(path, b"")], root).missing(nodes)
    if found.wanted:
        raise MultiproofInvalid("the nodes do not lead from the root to the path")
    return found.unequal[0][1] or None


@cache
def _remembering_keccak() -> Callable[[bytes], bytes]:
    return lru_cache(maxsize=NODES_KEPT)(keccak())


class _Trie:
    """Rebuilds nodes from sorted items and siblings. The reference of a branch is computed once."""

    def __init__(self, items: Iterable[Item], siblings: Iterable[Sibling]) -> None:
        entries = sorted([*((*item, False) for item in items), *((*sibling, True) for sibling in siblings)])
        self.paths = [path for path, _, _ in entries]
        self._values = [value for _, value, _ in entries]
        self._is_sibling = [beside for _, _, beside in entries]
        self._branches: dict[tuple[int, int], bytes] = {}
        # A trie has about three nodes per two items. With a larger one, every cached hash would be evicted before its
        # next use.
        self._keccak = _remembering_keccak() if len(entries) <= NODES_KEPT // 2 else keccak()

    def root(self) -> bytes:
        if not self.paths:
            return EMPTY_ROOT
        if len(self.paths) == 1 and self._is_sibling[0]:
            raise MultiproofInvalid("siblings without items")
        return self._keccak(self._node(0, len(self.paths), 0))

    def reference(self, low: int, high: int, depth: int) -> bytes:
        """Returns a branch's reference, in RLP, to the entries from `low` to `high`, which share `depth` digits."""
        if high - low == 1 and self._is_sibling[low]:
            if len(self.paths[low]) != depth:
                raise MultiproofInvalid(f"a sibling at {self.paths[low]!r} without a branch next to it")
            return self._values[low]
        if high - low > 1 and self._shared(low, high, depth) == depth:
            return self._branch(low, high, depth)
        return self._hashed(self._node(low, high, depth))

    def _node(self, low: int, high: int, depth: int) -> bytes:
        first = self.paths[low]
        if high - low == 1:
            return rlp_list(rlp_string(_hex_prefix(first[depth:], "2", "3")) + rlp_string(self._values[low]))
        shared = self._shared(low, high, depth)
        if shared == depth:
            return self._branch_node(low, high, depth)
        return rlp_list(rlp_string(_hex_prefix(first[depth:shared], "0", "1")) + self._branch(low, high, shared))

    def _branch(self, low: int, high: int, depth: int) -> bytes:
        known = self._branches.get((low, high))
        if known is None:
            known = self._branches[low, high] = self._hashed(self._branch_node(low, high, depth))
        return known

    def _branch_node(self, low: int, high: int, depth: int) -> bytes:
        paths = self.paths
        children = [_EMPTY] * 17  # the last one is the value, which paths of full length never have
        first = low
        while first < high:
            digit = paths[first][depth]
            last = first + 1
            if high - first > _FEW:
                last = bisect_left(paths, paths[first][: depth + 1] + "g", last, high)
            else:
                while last < high and paths[last][depth] == digit:
                    last += 1
            children[int(digit, 16)] = self.reference(first, last, depth + 1)
            first = last
        return rlp_list(b"".join(children))

    def _shared(self, low: int, high: int, depth: int) -> int:
        first, last = self.paths[low], self.paths[high - 1]
        end = min(len(first), len(last))
        while depth < end and first[depth] == last[depth]:
            depth += 1
        if depth >= end:
            raise MultiproofInvalid(f"two entries on one path, {first!r}")
        return depth

    def _hashed(self, node: bytes) -> bytes:
        return node if len(node) < 32 else _HASH + self._keccak(node)


def _node(reference: RlpItem, nodes: Mapping[bytes, bytes]) -> list[RlpItem] | None:
    if isinstance(reference, bytes):
        data = nodes.get(reference)
        if data is None:
            return None
        try:
            reference = decode_rlp(data)
        except RlpInvalid as error:
            raise MultiproofInvalid(str(error)) from None
    if not isinstance(reference, list) or len(reference) not in (2, 17):
        raise MultiproofInvalid("a node that is neither branch, extension nor leaf")
    return reference


def _is_reference(data: bytes) -> bool:
    """Decides whether this is one item: a hash, or a node that is shorter than a hash. Two would shift the branch."""
    if data[:1] == _HASH:
        return len(data) == 33
    return 1 < len(data) < 32 and data[0] == _SHORT_LIST + len(data) - 1


def _hex_prefix(path: str, even: str, odd: str) -> bytes:
    return bytes.fromhex(odd + path if len(path) % 2 else even + "0" + path)
