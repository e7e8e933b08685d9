"""Reads the transfers of several tokens with one request, as one more kind of event for the engine. Pure.

A token whose events can't be read is set apart with the reason, and the others are read.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contracts.evm.codec import (
    TRANSFER_TOPIC,
    LogsAnswer,
    Receipt,
    TransferLog,
    bloom_may_hold,
    transfer_filter,
)
from contracts.token.partitions import ReadToken
from pipelines.token.arrow import repeated
from pipelines.token.decode import NO_TRANSFERS, LogsInvalid, TransferColumns, columns_of, rows_of
from pipelines.token.events import Params

TOKEN, BROKEN = "token", b"broken"
"""The column with a row's token, and the key under which a table's metadata names tokens that can't be read."""

_ANSWER = msgspec.json.Decoder(LogsAnswer[TransferLog])
_ANY_ROWS = msgspec.json.Decoder(LogsAnswer[msgspec.Raw])
_ROW = msgspec.json.Decoder(TransferLog)
_BROKEN = msgspec.json.Decoder(dict[str, str])


class _Emitter(msgspec.Struct):
    address: str


_EMITTER = msgspec.json.Decoder(_Emitter)


@dataclass(frozen=True, eq=False)
class ColumnsOfTokens:
    """The transfers of each token in one range, and why tokens are `broken`. Tokens are in order."""

    tokens: dict[str, TransferColumns]
    broken: dict[str, str]

    @property
    def block_number(self) -> NDArray[np.int64]:
        parts = [columns.block_number for columns in self.tokens.values()]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    @property
    def block_timestamp(self) -> NDArray[np.int64] | None:
        parts: list[NDArray[np.int64]] = []
        for columns in self.tokens.values():
            if columns.block_timestamp is None:
                return None
            parts.append(columns.block_timestamp)
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def __len__(self) -> int:
        return sum(map(len, self.tokens.values()))

    def sha256(self) -> str:
        """Returns the digest of all rows and of what is broken, equal for two nodes with the same events."""
        rows = {address: columns.sha256() for address, columns in self.tokens.items() if len(columns)}
        return hashlib.sha256(msgspec.json.encode([rows, self.broken], order="deterministic")).hexdigest()

    def to_arrow(self, block_time_s: NDArray[np.int64], *, exact: bool) -> pa.Table:
        """Returns the rows of one token after the other, each as `TransferColumns` gives them, with their token."""
        tables, begin = [], 0
        for address, columns in self.tokens.items():
            rows = columns.to_arrow(block_time_s[begin : begin + len(columns)], exact=exact)
            tables.append(rows.append_column(TOKEN, repeated(address.encode(), len(columns))))
            begin += len(columns)
        return pa.concat_tables(tables).replace_schema_metadata({BROKEN: msgspec.json.encode(self.broken)})


def broken_in(rows: pa.Table) -> dict[str, str]:
    """Returns the tokens that are broken in a range, with the reason, from the table of its rows."""
    metadata = rows.schema.metadata
    return _BROKEN.decode(metadata[BROKEN]) if metadata and BROKEN in metadata else {}


@dataclass(frozen=True)
class TransfersOfTokens:
    """Transfer events of several tokens, each from its first block on."""

    read: tuple[ReadToken, ...]
    what: str = "Transfer rows"
    cure: str = "Check the tokens of SVC_TOKEN_ADDRESS and SVC_TOKENS_FILE, and the nodes in SVC_RPC_URLS."

    @property
    def addresses(self) -> list[str]:
        return [token.address for token in self.read]

    def requests(self, first: int, last: int) -> Sequence[Params]:
        return [transfer_filter(self.addresses, first, last)]

    def decode(self, bodies: Sequence[bytes], first: int, last: int) -> ColumnsOfTokens:
        try:
            return self._columns(rows_of(bodies[0], _ANSWER), {}, first, last)
        except LogsInvalid:
            rows, broken = _readable(rows_of(bodies[0], _ANY_ROWS))
            return self._columns(rows, broken, first, last)

    def decode_receipts(self, receipts: Iterable[Any], block: int) -> ColumnsOfTokens:
        try:
            logs = [log for receipt in msgspec.convert(list(receipts), list[Receipt]) for log in receipt.logs]
        except msgspec.ValidationError as error:
            raise LogsInvalid(f"a receipt of another form: {error}") from None
        wanted = set(self.addresses)
        transfers = (
            log
            for log in logs
            if log.address.lower() in wanted and log.topics and log.topics[0].lower() == TRANSFER_TOPIC
        )
        rows, broken = _readable(msgspec.Raw(msgspec.json.encode(log)) for log in transfers)
        return self._columns(rows, broken, block, block)

    def admitted(self, logs_bloom: bytes) -> bool:
        return any(bloom_may_hold(logs_bloom, address, TRANSFER_TOPIC) for address in self.addresses)

    def _columns(
        self, rows: Iterable[TransferLog], broken: Mapping[str, str], first: int, last: int
    ) -> ColumnsOfTokens:
        by_token: dict[str, list[TransferLog]] = {address: [] for address in self.addresses}
        for row in rows:
            of_token = by_token.get(row.address)
            if of_token is None:
                of_token = by_token.get(row.address.lower())
            if of_token is None:
                raise LogsInvalid("a log of a contract that was not asked for")
            of_token.append(row)
        columns, reasons = {}, dict(broken)
        for token in self.read:
            own = by_token[token.address]
            try:
                read = columns_of(own, token_address=token.address, from_block=first, to_block=last)
            except LogsInvalid as error:
                reasons.setdefault(token.address, str(error))
            if token.address in reasons:
                read = NO_TRANSFERS
            elif token.first_block > first:
                read = read.from_block(token.first_block)
            columns[token.address] = read
        return ColumnsOfTokens(columns, dict(sorted(reasons.items())))


def _readable(rows: Iterable[msgspec.Raw]) -> tuple[list[TransferLog], dict[str, str]]:
    """Returns the rows that have the form of a transfer, and the tokens of those that don't, with the reason."""
    readable: list[TransferLog] = []
    broken: dict[str, str] = {}
    for row in rows:
        try:
            readable.append(_ROW.decode(row))
        except msgspec.ValidationError as error:
            try:
                address = _EMITTER.decode(row).address.lower()
            except msgspec.ValidationError:
                raise LogsInvalid("a log row without an address") from None
            broken.setdefault(address, f"a log row of another form: {error}")
    return readable, broken
