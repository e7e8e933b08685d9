"""Decodes transfer logs into columns: bytes of an answer in, numpy and Arrow out. Pure.

Decoding is strict: a row that does not match the request raises `LogsInvalid`, and never becomes a wrong row.
"""

import binascii
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contracts.evm.codec import (
    TRANSFER_TOPIC,
    Fatal,
    LogsAnswer,
    PendingTransferLog,
    Receipt,
    Row,
    RpcError,
    TransferLog,
    Transient,
    quantity,
    raise_error_object,
)
from pipelines.token.arrow import BLOCK_TIME_TYPE, binary, bytes_of, numbers_of, repeated, u256, words_of
from pipelines.token.uniform_logs import LogColumns, decode_uniform
from warehouse.duck.columns import plain

_WORD_TEXT = 66
_ANSWER = msgspec.json.Decoder(LogsAnswer[TransferLog])
_PENDING_ANSWER = msgspec.json.Decoder(LogsAnswer[PendingTransferLog])


class LogsInvalid(RpcError):
    """A node's log rows don't have the form of an ERC-20 Transfer, or were not requested."""

    def __init__(self, message: str) -> None:
        super().__init__(Fatal(), message)


class BlockTooEarly(LogsInvalid):
    """A node's block has an earlier time than a stored block below it: the node serves another history."""


@dataclass(frozen=True, eq=False)
class TransferColumns:
    """Transfers of one range, ordered by (block_number, log_index), one array entry each.

    Hashes, addresses and values are rows of 32, 20, 20 and 32 bytes (values big-endian). `block_timestamp` contains
    Unix seconds if the node sent them with every row; otherwise it is None.
    """

    block_number: NDArray[np.int64]
    log_index: NDArray[np.int32]
    tx_hash: NDArray[np.uint8]
    from_address: NDArray[np.uint8]
    to_address: NDArray[np.uint8]
    value_raw: NDArray[np.uint8]
    block_timestamp: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.block_number)

    def sha256(self) -> str:
        """Returns the digest of the rows, equal for two nodes with the same events, however they format them."""
        digest = hashlib.sha256()
        for column in (
            self.block_number,
            self.log_index,
            self.tx_hash,
            self.from_address,
            self.to_address,
            self.value_raw,
        ):
            digest.update(np.ascontiguousarray(column).data)
        return digest.hexdigest()

    @classmethod
    def from_arrow(cls, rows: pa.Table) -> "TransferColumns":
        """Converts a table of `to_arrow` back, without the times."""
        columns = {name: rows.column(name) for name in rows.column_names}
        return cls(
            block_number=numbers_of(columns["block_number"], np.dtype(np.int64)),
            log_index=numbers_of(columns["log_index"], np.dtype(np.int32)),
            tx_hash=bytes_of(columns["tx_hash"], 32),
            from_address=bytes_of(columns["from_address"], 20),
            to_address=bytes_of(columns["to_address"], 20),
            value_raw=words_of(columns["value_raw"]),
            block_timestamp=None,
        )

    def between(self, begin: int, end: int) -> "TransferColumns":
        """Returns the rows from `begin` to before `end`, without copies."""
        timestamps = self.block_timestamp
        return TransferColumns(
            block_number=self.block_number[begin:end],
            log_index=self.log_index[begin:end],
            tx_hash=self.tx_hash[begin:end],
            from_address=self.from_address[begin:end],
            to_address=self.to_address[begin:end],
            value_raw=self.value_raw[begin:end],
            block_timestamp=None if timestamps is None else timestamps[begin:end],
        )

    def to_arrow(self, block_time_s: NDArray[np.int64], *, exact: bool) -> pa.Table:
        """Returns the rows in the form of `raw_chain__transfers`; `value_raw` is a struct of four 64-bit limbs."""
        return pa.table(
            {
                "block_number": plain(self.block_number, pa.int64()),
                "log_index": plain(self.log_index, pa.int32()),
                "tx_hash": binary(self.tx_hash),
                "from_address": binary(self.from_address),
                "to_address": binary(self.to_address),
                "value_raw": u256(self.value_raw),
                "block_time": plain(block_time_s, BLOCK_TIME_TYPE),
                "block_time_quality": repeated(b"exact" if exact else b"estimated", len(self)),
            }
        )


NO_TRANSFERS = TransferColumns(
    block_number=np.empty(0, np.int64),
    log_index=np.empty(0, np.int32),
    tx_hash=np.empty((0, 32), np.uint8),
    from_address=np.empty((0, 20), np.uint8),
    to_address=np.empty((0, 20), np.uint8),
    value_raw=np.empty((0, 32), np.uint8),
    block_timestamp=np.empty(0, np.int64),
)
"""The transfers of a range without any."""


def decode_logs(body: bytes, *, token_address: str, from_block: int, to_block: int) -> TransferColumns:
    """Decodes the answer to `transfer_filter(token_address, from_block, to_block)` into columns.

    Raises `RpcError` for an error answer or a garbled one, `LogsInvalid` for rows that were not requested.
    """
    uniform = decode_uniform(body)
    if uniform is None:
        rows = rows_of(body, _ANSWER)
        return columns_of(rows, token_address=token_address, from_block=from_block, to_block=to_block)
    addresses, logs = uniform
    if (addresses != np.frombuffer(bytes.fromhex(token_address[2:]), np.uint8)).any():
        raise LogsInvalid("a log of another contract")
    return in_order(transfers_of(logs, from_block=from_block, to_block=to_block))


def decode_pending_logs(body: bytes, *, token_address: str, block_hashes: Mapping[int, str]) -> TransferColumns:
    """Decodes like `decode_logs`, for blocks that may still leave the chain.

    Each row must belong to the block with the hash in `block_hashes`.
    """
    rows = rows_of(body, _PENDING_ANSWER)
    if any(block_hashes.get(_number(row.blockNumber)) != row.blockHash.lower() for row in rows):
        raise RpcError(Transient(), "logs of a block that has left the chain")
    return columns_of(rows, token_address=token_address, from_block=min(block_hashes), to_block=max(block_hashes))


def rows_of(body: bytes, decoder: msgspec.json.Decoder[LogsAnswer[Row]]) -> list[Row]:
    """Returns the rows of an answer to `eth_getLogs`. Raises what `decode_logs` raises."""
    try:
        answer = decoder.decode(body)
    except msgspec.ValidationError as error:
        raise LogsInvalid(f"a log row in an unknown form: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RpcError(Transient(), "an answer that is not JSON-RPC") from None
    if answer.error is not None:
        raise_error_object(answer.error, method="eth_getLogs")
    if answer.result is None:
        raise RpcError(Transient(), "an answer without a result")
    return answer.result


def decode_receipts(results: Iterable[Any], *, token_address: str, block: int) -> TransferColumns:
    """Decodes the transfers in one block's receipts, as if from `eth_getLogs`. Raises what `decode_logs` raises."""
    rows = []
    try:
        for receipt in msgspec.convert(list(results), list[Receipt]):
            for log in receipt.logs:
                if log.address.lower() == token_address and log.topics and log.topics[0].lower() == TRANSFER_TOPIC:
                    rows.append(msgspec.convert(log, TransferLog, from_attributes=True))
    except msgspec.ValidationError as error:
        raise LogsInvalid(f"a receipt in an unknown form: {error}") from None
    return columns_of(rows, token_address=token_address, from_block=block, to_block=block)


def columns_of(rows: Sequence[TransferLog], *, token_address: str, from_block: int, to_block: int) -> TransferColumns:
    """Returns typed rows as ordered columns without duplicates. Raises `LogsInvalid`."""
    if not rows:
        return NO_TRANSFERS
    if {address.lower() for address in set(map(attrgetter("address"), rows))} != {token_address}:
        raise LogsInvalid("a log of another contract")
    return in_order(columns_as_given(rows, from_block=from_block, to_block=to_block))


def columns_as_given(rows: Sequence[TransferLog], *, from_block: int, to_block: int) -> TransferColumns:
    """Returns rows of any contracts (at least one row) as columns, in the order of the rows. Raises `LogsInvalid`."""
    if any(map(attrgetter("removed"), rows)):
        raise LogsInvalid("a removed log")
    topics = list(map(attrgetter("topics"), rows))
    timestamps = list(map(attrgetter("blockTimestamp"), rows))
    logs = LogColumns(
        block_number=_numbers(list(map(attrgetter("blockNumber"), rows))),
        log_index=_numbers(list(map(attrgetter("logIndex"), rows))),
        tx_hash=_words(map(attrgetter("transactionHash"), rows)),
        from_topic=_words(map(itemgetter(1), topics)),
        to_topic=_words(map(itemgetter(2), topics)),
        data=_words(map(attrgetter("data"), rows)),
        block_timestamp=None if None in timestamps else _numbers(timestamps),
    )
    return transfers_of(logs, from_block=from_block, to_block=to_block)


def transfers_of(logs: LogColumns, *, from_block: int, to_block: int) -> TransferColumns:
    """Returns the transfers in logs (at least one), in their order. Raises `LogsInvalid`."""
    if logs.block_number.min() < from_block or logs.block_number.max() > to_block:
        raise LogsInvalid(f"a log outside of blocks {from_block} to {to_block}")
    if logs.log_index.max() > np.iinfo(np.int32).max:
        raise LogsInvalid("a number out of range")
    if logs.from_topic[:, :12].any() or logs.to_topic[:, :12].any():
        raise LogsInvalid("a topic that is not an address")
    return TransferColumns(
        block_number=logs.block_number,
        log_index=logs.log_index.astype(np.int32),
        tx_hash=logs.tx_hash,
        from_address=logs.from_topic[:, 12:],
        to_address=logs.to_topic[:, 12:],
        value_raw=logs.data,
        block_timestamp=logs.block_timestamp,
    )


def in_order(columns: TransferColumns) -> TransferColumns:
    """Sorts by position and drops exact duplicates. Two different rows at one position raise `LogsInvalid`."""
    position = (columns.block_number << 32) | columns.log_index
    steps = np.diff(position)
    if (steps > 0).all():
        return columns
    order = np.argsort(position, kind="stable")
    columns = picked(columns, order)
    doubled = np.concatenate([[False], np.diff(position[order]) == 0])
    later, earlier = picked(columns, np.flatnonzero(doubled)), picked(columns, np.flatnonzero(doubled) - 1)
    if later.sha256() != earlier.sha256():
        raise LogsInvalid("two different logs at one place")
    return picked(columns, np.flatnonzero(~doubled))


def picked(columns: TransferColumns, places: NDArray[np.int64]) -> TransferColumns:
    """Returns the rows in these places."""
    timestamps = columns.block_timestamp
    return TransferColumns(
        block_number=columns.block_number[places],
        log_index=columns.log_index[places],
        tx_hash=columns.tx_hash[places],
        from_address=columns.from_address[places],
        to_address=columns.to_address[places],
        value_raw=columns.value_raw[places],
        block_timestamp=None if timestamps is None else timestamps[places],
    )


def joined(parts: Sequence[TransferColumns]) -> TransferColumns:
    """Returns the rows of all parts, one after the other."""
    timestamps = [part.block_timestamp for part in parts if part.block_timestamp is not None]
    return TransferColumns(
        block_number=np.concatenate([part.block_number for part in parts]),
        log_index=np.concatenate([part.log_index for part in parts]),
        tx_hash=np.concatenate([part.tx_hash for part in parts]),
        from_address=np.concatenate([part.from_address for part in parts]),
        to_address=np.concatenate([part.to_address for part in parts]),
        value_raw=np.concatenate([part.value_raw for part in parts]),
        block_timestamp=np.concatenate(timestamps) if len(timestamps) == len(parts) else None,
    )


def _words(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Reads `0x` words of 32 bytes, one row each."""
    try:
        text = np.frombuffer("".join(texts).encode("ascii"), dtype=np.uint8).reshape(-1, _WORD_TEXT)
        if (text[:, 0] != ord("0")).any() or (text[:, 1] != ord("x")).any():
            raise LogsInvalid("a word without 0x")
        data = binascii.unhexlify(np.ascontiguousarray(text[:, 2:]).data)
    except (UnicodeEncodeError, binascii.Error):
        raise LogsInvalid("a word that is not hexadecimal") from None
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, 32)


def _numbers(texts: list[str]) -> NDArray[np.int64]:
    # A body contains few distinct block numbers, times and indexes, so each is parsed (strictly) only once.
    known = {text: _number(text) for text in set(texts)}
    try:
        return np.fromiter(map(known.__getitem__, texts), dtype=np.int64, count=len(texts))
    except OverflowError:
        raise LogsInvalid("a number out of range") from None


def _number(text: str) -> int:
    try:
        return quantity(text)
    except ValueError as error:
        raise LogsInvalid(str(error)) from None
