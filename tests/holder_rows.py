"""Puts literal transfers into a warehouse, and fakes a node that answers for one token, for tests of the holders
room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from contracts.evm.codec import Fatal, RpcError, TooLarge
from contracts.token.holders import ZERO_ADDRESS
from pipelines.token.proof import TOTAL_SUPPLY

TOKEN = "0x" + "70" * 20
ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
MASK = (1 << 64) - 1

Row = tuple[int, str, str, int]
"""Block, sender, recipient, value in smallest units."""


def address(number: int) -> str:
    """Returns a readable address: 0x, then the number's digits."""
    return f"0x{number:040x}"


def block_hash(block: int) -> str:
    return f"0x{block:064x}"


def block_time(block: int) -> datetime:
    """Returns a block's time: one minute per block from 2026-01-01 on (UTC)."""
    return ORIGIN + timedelta(minutes=block)


def put_transfers(connection: Any, rows: Iterable[Row], upto: int) -> None:
    """Inserts `rows` and the checkpoint that marks everything up to block `upto` as read."""
    rows = list(rows)
    times = [block_time(block).replace(tzinfo=None) for block, *_ in rows]
    limbs = [{f"limb{place}": (value >> (64 * place)) & MASK for place in (3, 2, 1, 0)} for *_, value in rows]
    limb_type = pa.struct([(f"limb{place}", pa.uint64()) for place in (3, 2, 1, 0)])
    table = pa.table(
        {
            "block_number": pa.array([row[0] for row in rows], pa.int64()),
            "log_index": pa.array(range(len(rows)), pa.int32()),
            "tx_hash": pa.array([bytes(32)] * len(rows), pa.binary()),
            "from_address": pa.array([bytes.fromhex(row[1][2:]) for row in rows], pa.binary()),
            "to_address": pa.array([bytes.fromhex(row[2][2:]) for row in rows], pa.binary()),
            "value_raw": pa.array(limbs, limb_type),
            "block_time": pa.array(times, pa.timestamp("us")),
            "block_time_quality": pa.array(["exact"] * len(rows), pa.string()),
        }
    )
    connection.register("literal_rows", table)
    connection.execute("insert into raw_chain__transfers by name select * from literal_rows")
    connection.unregister("literal_rows")
    moment = block_time(upto).replace(tzinfo=None)
    connection.execute(
        "insert into raw_chain__ranges values (?, ?, ?, ?, ?, 'digest', 'node', false, ?)",
        [0, upto, block_hash(upto), moment, len(rows), moment],
    )


def replay(rows: Iterable[Row]) -> dict[str, int]:
    """Returns balances as Python integers, including the zero address."""
    balances: dict[str, int] = {}
    for _, sender, recipient, value in rows:
        balances[sender] = balances.get(sender, 0) - value
        balances[recipient] = balances.get(recipient, 0) + value
    return balances


class FakeToken:
    """A node that knows one token: its own balances and supply at every block, independent of the events."""

    def __init__(
        self,
        rows: Sequence[Row],
        *,
        head: int,
        supply: int | None = None,
        balances: dict[str, int] | None = None,
        state_from: int = 0,
        code: dict[str, str] | None = None,
        fault: Exception | None = None,
        empty: bool = False,
        max_range: int = 10_000,
    ) -> None:
        self.rows = list(rows)
        self.head = head
        self.supply = supply
        self.balances = balances or {}
        self.state_from = state_from
        self.code = code or {}
        self.fault = fault
        self.empty = empty
        self.max_range = max_range
        self.asked: list[tuple[str, Sequence[Any]]] = []

    async def batch(self, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any]:
        return [self._answer_or_error(method, params) for method, params in calls]

    async def call(self, method: str, params: Sequence[Any]) -> Any:
        answer = self._answer_or_error(method, params)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _answer_or_error(self, method: str, params: Sequence[Any]) -> Any:
        self.asked.append((method, params))
        if self.fault is not None:
            if not isinstance(self.fault, RpcError):
                raise self.fault
            return self.fault
        match method:
            case "eth_chainId":
                return "0x2105"
            case "eth_getBlockByNumber":
                return self._header(self._number(params[0]))
            case "eth_getCode":
                return self._state(params[1]) or self.code.get(params[0], "0x")
            case "eth_call":
                return self._state(params[1]) or self._call(params[0]["data"], self._number(params[1]))
            case "eth_getLogs":
                first, last = int(params[0]["fromBlock"], 16), int(params[0]["toBlock"], 16)
                if last - first >= self.max_range:
                    return RpcError(TooLarge(), "block range is too wide", code=-32000)
                return [self._log(row) for row in self.rows if first <= row[0] <= last]
        raise AssertionError(method)

    def _number(self, tag: str) -> int:
        return self.head if tag == "latest" else int(tag, 16)

    def _state(self, tag: str) -> RpcError | None:
        if self._number(tag) >= self.state_from:
            return None
        return RpcError(Fatal(), "missing trie node, state is not available", code=-32000)

    def _call(self, data: str, block: int) -> str:
        if self.empty:
            return "0x"
        held = replay(row for row in self.rows if row[0] <= block)
        if data == TOTAL_SUPPLY:
            return _word(-held.get(ZERO_ADDRESS, 0) if self.supply is None else self.supply)
        asked = "0x" + data[-40:]
        if asked in self.balances:
            return _word(self.balances[asked])
        return _word(0 if asked == ZERO_ADDRESS else held.get(asked, 0))

    def _header(self, block: int) -> dict[str, Any]:
        return {
            "number": hex(block),
            "hash": block_hash(block),
            "parentHash": block_hash(max(block - 1, 0)),
            "timestamp": hex(int(block_time(block).timestamp())),
        }

    def _log(self, row: Row) -> dict[str, Any]:
        block, sender, recipient, value = row
        return {
            "blockNumber": hex(block),
            "topics": ["0x" + "dd" * 32, "0x" + sender[2:].rjust(64, "0"), "0x" + recipient[2:].rjust(64, "0")],
            "data": _word(value),
        }


def _word(value: int) -> str:
    return f"0x{value % (1 << 256):064x}"
