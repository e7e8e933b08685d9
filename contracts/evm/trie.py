"""Encodes RLP and computes roots of Merkle-Patricia tries from their items. Pure.

The strict `rlp` library decodes RLP. Encoding is implemented here, three times as fast as in the library, because
proofs of lists write millions of items. The trie is our own: the library for it (`trie`) updates a mutable tree and
takes 30 ms for a block of 200 receipts, while a root of known items takes 3. `contracts/evm/blocks.py` implements
headers and receipts.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, TypeAlias

from contracts.evm.codec import keccak256

RlpItem: TypeAlias = "bytes | list[RlpItem]"

EMPTY_ROOT: Final = bytes.fromhex("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421")
"""The root of a trie without items: keccak256 of the RLP of empty bytes."""

_STRING: Final = 0x80
_LIST: Final = 0xC0
"""Base of the first byte of a byte string and of a list, to which the size, or the length of the size, is added."""

_LONG: Final = 56
"""The size from which it is encoded in separate bytes."""

_INLINE_BYTES: Final = 32
"""A node whose RLP is shorter than this is included in its parent, in place of its hash."""

_ODD: Final = 1
_LEAF: Final = 2


class RlpInvalid(ValueError):
    """Bytes that are not the canonical RLP of one item."""


def encode_rlp(item: RlpItem) -> bytes:
    """Returns the RLP of bytes, or of nested lists of bytes."""
    return rlp_string(item) if isinstance(item, bytes) else rlp_list(b"".join(map(encode_rlp, item)))


def rlp_string(data: bytes) -> bytes:
    """Returns the RLP of bytes."""
    size = len(data)
    if size == 1 and data[0] < _STRING:
        return data
    return bytes((_STRING + size,)) + data if size < _LONG else _with_size(_STRING, data)


def rlp_list(payload: bytes) -> bytes:
    """Returns the RLP of a list from its concatenated items, which are already in RLP."""
    size = len(payload)
    return bytes((_LIST + size,)) + payload if size < _LONG else _with_size(_LIST, payload)


def _with_size(kind: int, payload: bytes) -> bytes:
    size = quantity_bytes(len(payload))
    return bytes((kind + _LONG - 1 + len(size),)) + size + payload


def decode_rlp(data: bytes) -> RlpItem:
    """Decodes the item with this RLP. Raises `RlpInvalid` if it is not canonical, cut, too long or too deep."""
    import rlp  # it imports eth_utils, which takes 0.4 s
    from rlp.exceptions import DecodingError

    try:
        item: RlpItem = rlp.decode(data)
    except (DecodingError, RecursionError) as error:
        raise RlpInvalid(f"not RLP: {error}") from None
    return item


def quantity_bytes(number: int) -> bytes:
    """Returns a number as RLP contains it: big-endian without leading zeros, and zero as empty bytes."""
    return number.to_bytes((number.bit_length() + 7) // 8)


def nibbles(key: bytes) -> bytes:
    """Returns the half-bytes of a key, one in each byte: the path to its item."""
    return bytes(half for byte in key for half in (byte >> 4, byte & 15))


@lru_cache(4096)
def hex_prefix(path: bytes, *, leaf: bool) -> bytes:
    """Packs the nibbles of a leaf or an extension into bytes, preceded by a flag for their parity and their kind."""
    flag = _LEAF if leaf else 0
    padded = bytes([flag | _ODD, *path]) if len(path) % 2 else bytes([flag, 0, *path])
    return bytes(high << 4 | low for high, low in zip(padded[::2], padded[1::2], strict=True))


def parse_hex_prefix(packed: bytes) -> tuple[bytes, bool]:
    """Returns the nibbles, and whether the node is a leaf. Raises `RlpInvalid` for a non-canonical path."""
    path = nibbles(packed)
    if not path or path[0] > (_LEAF | _ODD) or (not path[0] & _ODD and path[1] != 0):
        raise RlpInvalid("a path with another flag")
    return path[1 if path[0] & _ODD else 2 :], bool(path[0] & _LEAF)


def node_reference(node: RlpItem) -> RlpItem:
    """Returns a parent's reference to a node: its hash, or the node itself if its RLP is shorter than a hash."""
    encoded = encode_rlp(node)
    return keccak256(encoded) if len(encoded) >= _INLINE_BYTES else node


def trie_root(items: Mapping[bytes, bytes]) -> bytes:
    """Returns the root of the trie with these items, as for `receiptsRoot` or a storage. No value may be empty."""
    return _root((nibbles(key), value) for key, value in items.items())


def ordered_root(values: Sequence[bytes]) -> bytes:
    """Returns the root of a list, in which a value's key is the RLP of its index: transactions, receipts."""
    return _root((_path_of_place(place), value) for place, value in enumerate(values))


@lru_cache(4096)
def _path_of_place(place: int) -> bytes:
    return nibbles(encode_rlp(quantity_bytes(place)))


def _root(items: Iterable[tuple[bytes, bytes]]) -> bytes:
    in_order = sorted(items)
    return keccak256(encode_rlp(_node(in_order, 0))) if in_order else EMPTY_ROOT


def _node(items: list[tuple[bytes, bytes]], depth: int) -> RlpItem:
    """Returns the node above sorted items that share the first `depth` nibbles of their paths."""
    first, last = items[0][0], items[-1][0]
    if len(items) == 1:
        return [hex_prefix(first[depth:], leaf=True), items[0][1]]
    shared = depth
    while shared < len(first) and first[shared] == last[shared]:
        shared += 1
    if shared > depth:
        return [hex_prefix(first[depth:shared], leaf=False), node_reference(_node(items, shared))]
    value = b""
    if len(first) == depth:  # its path ends here, and it sorts before the longer ones
        value, items = items[0][1], items[1:]
    branch: list[RlpItem] = [b""] * 16
    for nibble, below in groupby(items, key=lambda item: item[0][depth]):
        branch[nibble] = node_reference(_node(list(below), depth + 1))
    return [*branch, value]
