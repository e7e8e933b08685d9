"""A node with one contract in plain full tries, which answers `eth_getProof` as geth does, or with faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import rlp
from eth_hash.auto import keccak

from contracts.evm.codec import Fatal, RpcError

TOKEN = "0x" + "70" * 20
BLOCK = 40
EMPTY_ROOT = keccak(rlp.encode(b""))

Slots = Callable[[str], Sequence[int]]
"""Maps a call's data to the slots that it reads."""


class PlainTrie:
    """A whole Merkle-Patricia trie, built as the yellow paper defines it, with proofs of single paths."""

    def __init__(self, items: Mapping[bytes, bytes]) -> None:
        nibbles = {tuple(int(digit, 16) for digit in key.hex()): value for key, value in items.items()}
        self.top = self._node(nibbles) if nibbles else None

    @property
    def root(self) -> bytes:
        return EMPTY_ROOT if self.top is None else keccak(self.top.encoded)

    def proof(self, key: bytes) -> list[bytes]:
        """Returns the nodes from the root towards the key; a node embedded in its parent is not repeated."""
        path = [int(digit, 16) for digit in key.hex()]
        node, nodes = self.top, []
        while node is not None:
            if node is self.top or len(node.encoded) >= 32:
                nodes.append(node.encoded)
            if len(node) == 17:
                node = self._child(node[path.pop(0)])
                continue
            flagged = [int(digit, 16) for digit in node[0].hex()]
            part = flagged[1:] if flagged[0] % 2 else flagged[2:]
            if flagged[0] >= 2 or path[: len(part)] != part:
                break
            path, node = path[len(part) :], self._child(node[1])
        return nodes

    def _child(self, reference: Any) -> Any:
        if isinstance(reference, list):
            return reference
        return self._by_hash.get(reference)

    @property
    def _by_hash(self) -> dict[bytes, Any]:
        if not hasattr(self, "_nodes"):
            self._nodes: dict[bytes, Any] = {}
            self._index(self.top)
        return self._nodes

    def _index(self, node: Any) -> None:
        for child in node.children if isinstance(node, _Listed) else []:
            self._nodes[keccak(child.encoded)] = child
            self._index(child)

    def _node(self, items: Mapping[tuple[int, ...], bytes]) -> Any:
        paths = list(items)
        if len(paths) == 1:
            return _Listed([_packed(paths[0], 2), items[paths[0]]])
        shared = 0
        while len({path[shared] for path in paths}) == 1:
            shared += 1
        if shared:
            below = self._node({path[shared:]: value for path, value in items.items()})
            return _Listed([_packed(paths[0][:shared], 0), _reference(below)], [below])
        branch: list[Any] = [b""] * 17
        children = []
        for nibble in sorted({path[0] for path in paths}):
            below = self._node({path[1:]: value for path, value in items.items() if path[0] == nibble})
            children.append(below)
            branch[nibble] = _reference(below)
        return _Listed(branch, children)


class _Listed(list[Any]):
    """A node with the nodes below it."""

    def __init__(self, items: list[Any], children: Sequence[Any] = ()) -> None:
        super().__init__(items)
        self.children = children

    @cached_property
    def encoded(self) -> bytes:
        """Encodes lists and bytes without the type inference that rlp would do for each item."""
        encoded: bytes = rlp.encode(self, infer_serializer=False)
        return encoded


def _reference(node: _Listed) -> _Listed | bytes:
    return node if len(node.encoded) < 32 else keccak(node.encoded)


def _packed(path: Sequence[int], flag: int) -> bytes:
    nibbles = [flag + 1, *path] if len(path) % 2 else [flag, 0, *path]
    return bytes(high * 16 + low for high, low in zip(nibbles[::2], nibbles[1::2], strict=True))


def number(value: int) -> bytes:
    return value.to_bytes((value.bit_length() + 7) // 8)


def storage_items(words: Mapping[int, int]) -> dict[bytes, bytes]:
    return {keccak(slot.to_bytes(32)): rlp.encode(number(word)) for slot, word in words.items() if word}


class StorageNode:
    """Answers for one contract at one block. `reads` are the slots that a call touches; None simulates a node without
    tracing.

    `change` may replace the answer of a method, or raise.
    """

    def __init__(
        self,
        words: Mapping[int, int],
        *,
        reads: Slots | None = None,
        elsewhere: bool = False,
        storage: PlainTrie | None = None,
        change: Callable[[str, Sequence[Any], Any], Any] = lambda method, params, answer: answer,
    ) -> None:
        self.words = dict(words)
        self.reads = reads
        self.elsewhere = elsewhere
        self.change = change
        self.asked: list[str] = []
        self.keys_asked = 0
        self.storage = storage or PlainTrie(storage_items(self.words))
        account = rlp.encode([number(1), b"", self.storage.root, keccak(b"code")])
        others = {
            keccak(bytes([place]) * 20): rlp.encode([b"", number(place), EMPTY_ROOT, keccak(b"")])
            for place in range(40)
        }
        self.state = PlainTrie({**others, keccak(bytes.fromhex(TOKEN[2:])): account})
        self.header = base_header(self.state.root)
        self.block_hash = self.header["hash"]

    async def batch(self, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        results = []
        for method, params in calls:
            try:
                results.append(await self.call(method, params))
            except RpcError as error:
                results.append(error)
        return results

    async def call(self, method: str, params: Sequence[Any]) -> Any:
        self.asked.append(method)
        return self.change(method, params, self._answer(method, params))

    def _answer(self, method: str, params: Sequence[Any]) -> Any:
        match method:
            case "eth_getBlockByNumber":
                return self.header
            case "eth_createAccessList" if self.reads is not None:
                address = "0x" + "ee" * 20 if self.elsewhere else params[0]["to"]
                keys = [f"0x{slot:064x}" for slot in self.reads(params[0]["data"])]
                return {"accessList": [{"address": address, "storageKeys": keys}] if keys else [], "gasUsed": "0x1"}
            case "eth_getProof":
                return self._proof(params[1])
        raise RpcError(Fatal(), f"the method {method} does not exist/is not available", code=-32601)

    def _proof(self, keys: Sequence[str]) -> dict[str, Any]:
        self.keys_asked += len(keys)
        return {
            "accountProof": hexed(self.state.proof(keccak(bytes.fromhex(TOKEN[2:])))),
            "storageProof": [
                {"key": key, "value": "0x0", "proof": hexed(self.storage.proof(keccak(bytes.fromhex(key[2:]))))}
                for key in keys
            ],
        }


def hexed(nodes: Sequence[bytes]) -> list[str]:
    return ["0x" + node.hex() for node in nodes]


def base_header(state_root: bytes, block: int = BLOCK) -> dict[str, Any]:
    """Returns a block of Base with all fields of its current header."""
    word = "0x" + "11" * 32
    fields: dict[str, Any] = {
        "parentHash": word, "sha3Uncles": word, "miner": "0x" + "42" * 20, "stateRoot": "0x" + state_root.hex(),
        "transactionsRoot": word, "receiptsRoot": word, "logsBloom": "0x" + "00" * 256, "difficulty": "0x0",
        "number": hex(block), "gasLimit": "0x11e1a300", "gasUsed": "0x2b4a1", "timestamp": "0x68e6cf35",
        "extraData": "0x0000000032000000020000000000000000", "mixHash": word, "nonce": "0x0000000000000000",
        "baseFeePerGas": "0x4c4b40", "withdrawalsRoot": word, "blobGasUsed": "0x0", "excessBlobGas": "0x0",
        "parentBeaconBlockRoot": word, "requestsHash": word,
    }  # fmt: skip
    encoded = rlp.encode([_header_field(name, text) for name, text in fields.items()])
    return {**fields, "hash": "0x" + keccak(encoded).hex(), "transactions": []}


_NUMBERS = {
    "difficulty", "number", "gasLimit", "gasUsed", "timestamp", "baseFeePerGas", "blobGasUsed", "excessBlobGas",
}  # fmt: skip


def _header_field(name: str, text: str) -> bytes:
    return number(int(text, 16)) if name in _NUMBERS else bytes.fromhex(text[2:])
