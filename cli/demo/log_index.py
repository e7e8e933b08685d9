"""Indexes log rows in chain order: ranges, filters, blooms, balances at a block. Pure."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from contracts.evm.codec import TRANSFER_TOPIC, keccak256
from contracts.token.holders import ZERO_ADDRESS

Log = dict[str, Any]
"""One `eth_getLogs` row: hex quantities, lower-case addresses and topics."""

_BLOOM_BITS: Final = 2048


class LogIndex:
    """Rows in chain order with lookup tables. A reorg replaces the whole index."""

    def __init__(self, rows: list[Log], hashes: dict[int, str], token: str) -> None:
        keyed = sorted(((int(row["blockNumber"], 16), int(row["logIndex"], 16), row) for row in rows), key=_position)
        self.logs = [row for _, _, row in keyed]
        self.hashes = hashes
        self.numbers = {block_hash: number for number, block_hash in hashes.items()}
        self.emitters = {row["address"] for row in rows}
        self._blocks = [number for number, _, _ in keyed]
        self._token = token

    def between(self, first: int, last: int) -> list[Log]:
        return self.logs[bisect_left(self._blocks, first) : bisect_right(self._blocks, last)]

    def balance_at(self, address: str, block: int) -> int:
        return _at(self._balances.get(address), block)

    def supply_at(self, block: int) -> int:
        # Supply is the net amount that the zero address has sent; a transfer from 0x0 to 0x0 cancels out.
        return -_at(self._balances.get(ZERO_ADDRESS), block)

    @cached_property
    def _balances(self) -> dict[str, tuple[list[int], list[int]]]:
        """Per address: the blocks in which it changed, and the balance after each."""
        histories: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for number, row in zip(self._blocks, self.logs, strict=True):
            if row["address"] != self._token or len(row["topics"]) != 3 or row["topics"][0] != TRANSFER_TOPIC:
                continue
            value_raw = int(row["data"], 16)
            for topic, change in ((row["topics"][1], -value_raw), (row["topics"][2], value_raw)):
                blocks, balances = histories["0x" + topic[-40:]]
                blocks.append(number)
                balances.append((balances[-1] if balances else 0) + change)
        return dict(histories)


def _position(keyed: tuple[int, int, Log]) -> tuple[int, int]:
    return keyed[0], keyed[1]


def _at(history: tuple[list[int], list[int]] | None, block: int) -> int:
    if history is None:
        return 0
    blocks, balances = history
    after = bisect_right(blocks, block)
    return balances[after - 1] if after else 0


def matching(rows: list[Log], address: str | list[str] | None, topics: Sequence[Any]) -> list[Log]:
    """Filters rows by `address` (one or several) and by `topics` (per position: null, one, or several)."""
    if address:
        addresses = {item.lower() for item in ([address] if isinstance(address, str) else address)}
        rows = [row for row in rows if row["address"] in addresses]
    for place, wanted in enumerate(topics):
        if wanted:
            choices = {item.lower() for item in ([wanted] if isinstance(wanted, str) else wanted)}
            rows = [row for row in rows if len(row["topics"]) > place and row["topics"][place] in choices]
        else:
            rows = [row for row in rows if len(row["topics"]) > place]
    return rows


def bloom(rows: list[Log]) -> str:
    """Computes the 2048-bit header bloom over the addresses and topics of `rows` (yellow paper, 4.3.1)."""
    bits = 0
    for item in {text for row in rows for text in (row["address"], *row["topics"])}:
        digest = keccak256(bytes.fromhex(item[2:]))
        for place in (0, 2, 4):
            bits |= 1 << (int.from_bytes(digest[place : place + 2]) % _BLOOM_BITS)
    return f"0x{bits:0512x}"
