"""Queries an RPC provider about one transaction, and parses its responses strictly into plain values.

The caller supplies the connection, which decides how the calls of one round are sent: together or one by one.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.evm.codec import RpcError, quantity

Call = tuple[str, list[Any]]
AskRound = Callable[[Sequence[Call]], Awaitable[Sequence[Any | RpcError]]]
"""Sends independent calls. The result contains, in the calls' order, each decoded result or its `RpcError`."""

_WORD = re.compile(r"0x[0-9a-f]{64}")
_ADDRESS = re.compile(r"0x[0-9a-f]{40}")
_DATA = re.compile(r"0x(?:[0-9a-f]{2})*")

MOST_LOGS = 20_000
"""Real nodes return fewer logs, so a larger receipt is invalid."""

MOST_COUNTED = 2**37
"""Upper bound of heights and times, so that every store and calendar can represent them."""


@dataclass(frozen=True, slots=True)
class LogView:
    """One log of a provider, hex in lower case. Its index in the receipt identifies it, not `logIndex`."""

    address: str
    topics: tuple[str, ...]
    data: str
    removed: bool


@dataclass(frozen=True, slots=True)
class ReceiptView:
    """A receipt of a provider. `status` has the provider's value, or is None if it is missing."""

    transaction_hash: str
    status: str | None
    block_number: int
    block_hash: str
    logs: tuple[LogView, ...]


@dataclass(frozen=True, slots=True)
class BlockView:
    """A provider's current block at a height; `time_s` is in Unix seconds."""

    number: int
    hash: str
    time_s: int


@dataclass(frozen=True, slots=True)
class View:
    """The answers of one provider about one transaction. `block` is its current block at the receipt's height.

    `receipt` is None if the provider does not know the transaction or has it only in its mempool. `block` is None if
    the provider has no block at that height yet. `safe` and `finalized` are None if the provider does not know that
    tag.
    """

    provider: str
    chain_id: int
    receipt: ReceiptView | None = None
    block: BlockView | None = None
    head: BlockView | None = None
    safe: int | None = None
    finalized: int | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """A provider without a credible answer; `reason` is for the log."""

    provider: str
    reason: str


async def ask_about(
    provider: str, transaction_hash: str, ask: AskRound, height: int | None = None
) -> tuple[View, BlockView | None]:
    """Queries one provider about a transaction (0x hex, lower case), and for its current block at `height`, if given.

    Sends at most seven calls in two rounds. Raises `ValueError` for an invalid answer, the `RpcError` that a provider
    answers (but not for a tag), and the exceptions of `ask`.
    """
    extra = [] if height is None else [_block_at(hex(height))]
    first = await ask([("eth_chainId", []), ("eth_getTransactionReceipt", [transaction_hash]), *extra])
    chain_id, found, *held = map(_result, first)
    receipt, standing = read_receipt(found, transaction_hash), read_block(held[0]) if held else None
    if receipt is None:
        return View(provider, read_chain_id(chain_id)), standing
    second = await ask([_block_at(which) for which in (hex(receipt.block_number), "latest", "safe", "finalized")])
    block, head = (read_block(_result(answer)) for answer in second[:2])
    safe, finalized = (None if isinstance(answer, RpcError) else read_block(answer) for answer in second[2:])
    view = View(
        provider,
        read_chain_id(chain_id),
        receipt,
        block,
        head,
        None if safe is None else safe.number,
        None if finalized is None else finalized.number,
    )
    return view, standing


def read_chain_id(result: Any) -> int:
    """Parses a decoded `eth_chainId` result. Raises `ValueError`."""
    if not isinstance(result, str):
        raise ValueError("an eth_chainId that is not a string")
    return quantity(result)


def read_receipt(result: Any, transaction_hash: str) -> ReceiptView | None:
    """Parses a decoded `eth_getTransactionReceipt` result. Returns None if there is no receipt.

    Raises `ValueError` for anything that is not a receipt of that transaction.
    """
    if result is None:
        return None
    fields = _object(result)
    hash_of_receipt = _word(fields.get("transactionHash"))
    if hash_of_receipt != transaction_hash:
        raise ValueError("a receipt of another transaction")
    block_hash, block_number = fields.get("blockHash"), fields.get("blockNumber")
    if block_hash is None or block_number is None:
        return None
    logs = fields.get("logs")
    if not isinstance(logs, list) or len(logs) > MOST_LOGS:
        raise ValueError("a receipt without a list of logs")
    receipt = ReceiptView(
        transaction_hash=hash_of_receipt,
        status=_text_or_none(fields.get("status")),
        block_number=_quantity(block_number),
        block_hash=_word(block_hash),
        logs=tuple(_log(log) for log in logs),
    )
    for log in logs:
        if _word(log.get("transactionHash")) != hash_of_receipt or _word(log.get("blockHash")) != receipt.block_hash:
            raise ValueError("a log of another transaction or block in the receipt")
    return receipt


def read_block(result: Any) -> BlockView | None:
    """Parses a decoded `eth_getBlockByNumber` result. Returns None if there is no block. Raises `ValueError`."""
    if result is None:
        return None
    fields = _object(result)
    if fields.get("hash") is None:
        return None
    return BlockView(_quantity(fields.get("number")), _word(fields["hash"]), _quantity(fields.get("timestamp")))


def _block_at(which: str) -> Call:
    return "eth_getBlockByNumber", [which, False]


def _result(answer: Any | RpcError) -> Any:
    if isinstance(answer, RpcError):
        raise answer
    return answer


def _log(log: Any) -> LogView:
    fields = _object(log)
    topics = fields.get("topics")
    if not isinstance(topics, list) or len(topics) > 4:
        raise ValueError("a log without a list of topics")
    removed = fields.get("removed", False)
    if not isinstance(removed, bool):
        raise ValueError("a log whose `removed` is not a boolean")
    return LogView(
        address=_matching(_ADDRESS, fields.get("address")),
        topics=tuple(_word(topic) for topic in topics),
        data=_matching(_DATA, fields.get("data")),
        removed=removed,
    )


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _matching(pattern: re.Pattern[str], value: Any) -> str:
    if not isinstance(value, str) or pattern.fullmatch(value.lower()) is None:
        raise ValueError("not hex of the expected form")
    return value.lower()


def _word(value: Any) -> str:
    return _matching(_WORD, value)


def _text_or_none(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("a status that is not a string")
    return value


def _quantity(value: Any) -> int:
    if not isinstance(value, str):
        raise ValueError("a quantity that is not a string")
    number = quantity(value)
    if number >= MOST_COUNTED:
        raise ValueError("a height or time that no chain reaches")
    return number
