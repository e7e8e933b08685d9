"""A chain in memory with RPC providers in front of it, each honest or faulty in one way at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from fault_node import Call, FaultNode, Reply

from contracts.evm.codec import TRANSFER_TOPIC, selector

BLOCK_S = 2
APPROVAL_TOPIC = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"


@dataclass(frozen=True)
class Log:
    """One event as a contract emits it, all hex in lower case."""

    address: str
    topics: tuple[str, ...]
    data: str


@dataclass(frozen=True)
class Block:
    number: int
    hash: str
    time_s: int
    transactions: tuple[str, ...] = ()


@dataclass
class FakeChain:
    """A chain of blocks from 1 up; a block is final once `final_depth` others follow it, and safe one block earlier."""

    chain_id: int = 8453
    time_s: int = 1_800_000_000
    final_depth: int = 6
    blocks: list[Block] = field(default_factory=list)
    sent: dict[str, tuple[tuple[Log, ...], str | None]] = field(default_factory=dict)
    mempool: list[str] = field(default_factory=list)
    forks: int = 0
    decimals: int = 6
    """Decimals of the coin; every address is a coin."""

    def __post_init__(self) -> None:
        if not self.blocks:
            self.mine()

    def send(self, logs: Sequence[Log], status: str | None = "0x1") -> str:
        """Puts a transaction that will emit `logs` into the mempool; returns its hash."""
        transaction = _hash("transaction", len(self.sent))
        self.sent[transaction] = (tuple(logs), status)
        self.mempool.append(transaction)
        return transaction

    def mine(self, blocks: int = 1, *, time_s: int | None = None) -> None:
        """Mines waiting transactions into the first of `blocks` new blocks."""
        for _ in range(blocks):
            self.time_s = self.time_s + BLOCK_S if time_s is None else time_s
            number = len(self.blocks) + 1
            made = Block(number, _hash("block", number, self.forks), self.time_s, tuple(self.mempool))
            self.blocks.append(made)
            self.mempool.clear()

    def reorg(self, depth: int, *, drop: Sequence[str] = ()) -> None:
        """Replaces the newest `depth` blocks by as many others; their transactions are mined again, except those in
        `drop`."""
        gone = self.blocks[-depth:]
        del self.blocks[-depth:]
        self.forks += 1
        self.mempool = [each for block in gone for each in block.transactions if each not in drop] + self.mempool
        self.time_s = gone[0].time_s - BLOCK_S
        self.mine(depth)

    def block_of(self, transaction: str) -> Block | None:
        return next((block for block in self.blocks if transaction in block.transactions), None)

    def at_height(self, height: int) -> FakeChain:
        """Returns the chain as seen by a node that has only `height` blocks."""
        return replace(self, blocks=self.blocks[: max(height, 1)], mempool=[])

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        match method:
            case "eth_chainId":
                return hex(self.chain_id)
            case "net_version":
                return str(self.chain_id)
            case "eth_blockNumber":
                return hex(len(self.blocks))
            case "eth_getTransactionReceipt":
                return self.receipt(params[0])
            case "eth_getBlockByNumber":
                return self._block(params[0])
            case "eth_call":
                return f"0x{self.decimals:064x}" if params[0]["data"] == selector("decimals()") else "0x"
        raise AssertionError(f"the fake chain knows no {method}")

    def receipt(self, transaction: str) -> dict[str, Any] | None:
        block = self.block_of(transaction)
        if block is None:
            return None
        logs, status = self.sent[transaction]
        place = {"transactionHash": transaction, "blockHash": block.hash, "blockNumber": hex(block.number)}
        found: dict[str, Any] = {
            **place,
            "transactionIndex": "0x0",
            "from": "0x" + "77" * 20,
            "to": "0x" + "88" * 20,
            "contractAddress": None,
            "type": "0x2",
            "logs": [
                {
                    **place,
                    "address": log.address,
                    "topics": list(log.topics),
                    "data": log.data,
                    "logIndex": hex(index),
                    "transactionIndex": "0x0",
                    "removed": False,
                }
                for index, log in enumerate(logs)
            ],
        }
        return found if status is None else {**found, "status": status}

    def _block(self, height: str) -> dict[str, Any] | None:
        numbers = {
            "latest": len(self.blocks),
            "safe": max(len(self.blocks) - self.final_depth + 1, 0),
            "finalized": max(len(self.blocks) - self.final_depth, 0),
            "earliest": 1,
        }
        number = numbers[height] if height in numbers else int(height, 16)
        if not 1 <= number <= len(self.blocks):
            return None
        block = self.blocks[number - 1]
        return {
            "number": hex(block.number),
            "hash": block.hash,
            "parentHash": self.blocks[number - 2].hash if number > 1 else "0x" + "0" * 64,
            "timestamp": hex(block.time_s),
            "transactions": list(block.transactions),
        }


Lie = Callable[[str, Sequence[Any], Any], Any]
"""A lying node's answer to (method, params), given the truth."""


class Provider(FaultNode):
    """An RPC node over HTTP in front of a `FakeChain`. `mode` is one of `MODES`; `lie` goes with mode `lying`."""

    def __init__(self, chain: FakeChain, mode: str = "honest") -> None:
        super().__init__(chain)
        self.truth = chain
        self.mode = mode
        self.lag = 3
        self.lie: Lie = lambda method, params, truth: truth

    @property
    def chain(self) -> Any:
        return self

    @chain.setter
    def chain(self, _: Any) -> None:
        """Ignores what the base class sets; answers come from `truth`."""

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        if self.mode == "lagging":
            return self.truth.at_height(len(self.truth.blocks) - self.lag).answer(method, params)
        if self.mode == "null" and method != "eth_chainId":
            return None
        if self.mode == "other_chain" and method == "eth_chainId":
            return hex(1)
        truth = self.truth.answer(method, params)
        return self.lie(method, params, truth) if self.mode == "lying" else truth

    def reply(self, calls: Sequence[Call]) -> Reply | None:
        super().reply(calls)
        return _FAULTS.get(self.mode)


SLOW_S = 200.0
"""Longer than any wait for a provider within one claim."""

_FAULTS = {
    "timeout": Reply(delay_s=SLOW_S),
    "429": Reply(b'{"jsonrpc":"2.0","id":1,"error":{"code":429,"message":"Too many requests"}}', 429),
    "500": Reply(b"upstream failed", 500),
    "garbage": Reply(b"<html>it works!</html>"),
    "empty": Reply(b""),
    "cut": Reply(b'{"jsonrpc":"2.0","id":1,"result":{"status":"0x1"', cut=20),
    "no_result": Reply(b'{"jsonrpc":"2.0","id":1}'),
    "wrong_types": Reply(b'{"jsonrpc":"2.0","id":1,"result":{"status":1,"logs":"none","blockNumber":7}}'),
    "huge": Reply(b'{"jsonrpc":"2.0","id":1,"result":"' + b"0" * 12_000_000 + b'"}'),
    "deep": Reply(b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
}

FAULTY = (*_FAULTS, "null", "lagging", "other_chain")
"""Modes in which a single provider's answers can't support a decision."""

MODES = ("honest", "lying", *FAULTY)


def transfer(asset: str, sender: str, recipient: str, amount: int) -> Log:
    """Returns an ERC-20 `Transfer` log."""
    return Log(asset, (TRANSFER_TOPIC, topic(sender), topic(recipient)), f"0x{amount:064x}")


def topic(address: str) -> str:
    """Returns an address as an event topic."""
    return "0x" + address.removeprefix("0x").lower().rjust(64, "0")


def _hash(*parts: object) -> str:
    return "0x" + sha256(repr(parts).encode()).hexdigest()
