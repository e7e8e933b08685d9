"""Reads the transfers of several tokens with one request, as another kind of event for the engine. Pure.

A token whose events can't be read is marked as broken with the reason, and the others are read.
"""

import binascii
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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
from pipelines.token.decode import (
    NO_TRANSFERS,
    LogsInvalid,
    TransferColumns,
    columns_as_given,
    columns_of,
    joined,
    picked,
    rows_of,
    transfers_of,
)
from pipelines.token.events import Params
from pipelines.token.uniform_logs import decode_uniform

TOKEN, CONTENTS = "token", b"contents"
"""The column with a row's token, and the key of a table's metadata."""

_ADDRESS = "S20"
_ANSWER = msgspec.json.Decoder(LogsAnswer[TransferLog])
_ANY_ROWS = msgspec.json.Decoder(LogsAnswer[msgspec.Raw])
_ROW = msgspec.json.Decoder(TransferLog)


class _Emitter(msgspec.Struct):
    address: str


_EMITTER = msgspec.json.Decoder(_Emitter)


class _Contents(msgspec.Struct):
    """The metadata of a table: its rows by token, in order, and the tokens that can't be read."""

    rows: dict[str, int]
    broken: dict[str, str]


_CONTENTS = msgspec.json.Decoder(_Contents)


@dataclass(frozen=True, eq=False)
class ColumnsOfTokens:
    """Transfers of one range, token by token. `rows` is the number per token, `broken` the reasons of broken ones."""

    columns: TransferColumns
    rows: dict[str, int]
    broken: dict[str, str]

    @property
    def block_number(self) -> NDArray[np.int64]:
        return self.columns.block_number

    @property
    def block_timestamp(self) -> NDArray[np.int64] | None:
        return self.columns.block_timestamp

    def __len__(self) -> int:
        return len(self.columns)

    def sha256(self) -> str:
        """Returns the digest of all rows and broken tokens, which is equal for two nodes with the same events."""
        known = [self.columns.sha256(), self.rows, self.broken]
        return hashlib.sha256(msgspec.json.encode(known, order="deterministic")).hexdigest()

    def to_arrow(self, block_time_s: NDArray[np.int64], *, exact: bool) -> pa.Table:
        """Returns the rows in the form of `TransferColumns`, with their token."""
        tokens = [repeated(address.encode(), rows) for address, rows in self.rows.items()]
        table = self.columns.to_arrow(block_time_s, exact=exact)
        table = table.append_column(TOKEN, pa.concat_arrays(tokens) if tokens else repeated(b"", 0))
        return table.replace_schema_metadata({CONTENTS: msgspec.json.encode(_Contents(self.rows, self.broken))})


def broken_in(rows: pa.Table) -> dict[str, str]:
    """Returns the tokens that are broken in a range, with the reasons, from the table of its rows."""
    return _CONTENTS.decode(rows.schema.metadata[CONTENTS]).broken


def places_of(rows: pa.Table) -> dict[str, tuple[int, int]]:
    """Returns the places of each token's rows in the table of a range: the first, and the one after the last."""
    places, begin = {}, 0
    for address, count in _CONTENTS.decode(rows.schema.metadata[CONTENTS]).rows.items():
        places[address] = (begin, begin + count)
        begin += count
    return places


@dataclass(frozen=True)
class TransfersOfTokens:
    """The transfer events of several tokens, each from its first block on."""

    read: tuple[ReadToken, ...]
    what: str = "Transfer rows"
    cure: str = "Check the tokens of SVC_TOKEN_ADDRESS and SVC_TOKENS_FILE, and the nodes in SVC_RPC_URLS."
    always_confirmed: ClassVar[bool] = False

    @property
    def addresses(self) -> list[str]:
        return [token.address for token in self.read]

    def requests(self, first: int, last: int) -> Sequence[Params]:
        return [transfer_filter(self.addresses, first, last)]

    def decode(self, bodies: Sequence[bytes], first: int, last: int) -> ColumnsOfTokens:
        try:
            uniform = decode_uniform(bodies[0])
            if uniform is not None:
                addresses, logs = uniform
                return self._together(self._owners(addresses), transfers_of(logs, from_block=first, to_block=last))
            rows = rows_of(bodies[0], _ANSWER)
            if not rows:
                return self._apart([], {}, first, last)
            emitters = _bytes_of(row.address for row in rows)
            return self._together(self._owners(emitters), columns_as_given(rows, from_block=first, to_block=last))
        except LogsInvalid:
            readable, broken = _readable(rows_of(bodies[0], _ANY_ROWS))
            return self._apart(readable, broken, first, last)

    def decode_receipts(self, receipts: Iterable[Any], block: int) -> ColumnsOfTokens:
        try:
            logs = [log for receipt in msgspec.convert(list(receipts), list[Receipt]) for log in receipt.logs]
        except msgspec.ValidationError as error:
            raise LogsInvalid(f"a receipt in an unknown form: {error}") from None
        wanted = set(self.addresses)
        transfers = (
            log
            for log in logs
            if log.address.lower() in wanted and log.topics and log.topics[0].lower() == TRANSFER_TOPIC
        )
        rows, broken = _readable(msgspec.Raw(msgspec.json.encode(log)) for log in transfers)
        return self._apart(rows, broken, block, block)

    def admitted(self, logs_bloom: bytes) -> bool:
        return any(bloom_may_hold(logs_bloom, address, TRANSFER_TOPIC) for address in self.addresses)

    def _owners(self, emitters: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Returns the place of each row's token, from the contract (20 bytes) that emitted it. Raises `LogsInvalid`."""
        known = _bytes_of(self.addresses).view(_ADDRESS).ravel()
        wanted = np.ascontiguousarray(emitters).view(_ADDRESS).ravel()
        sorting = np.argsort(known)
        owners: NDArray[np.int64] = sorting[np.searchsorted(known, wanted, sorter=sorting).clip(max=len(known) - 1)]
        if (known[owners] != wanted).any():
            raise LogsInvalid("a log of a contract that was not requested")
        return owners

    def _together(self, owners: NDArray[np.int64], columns: TransferColumns) -> ColumnsOfTokens:
        """Returns sound rows of all tokens, processed together, which costs no more than for one token.

        Raises `LogsInvalid` if a row occurs twice.
        """
        order = np.lexsort((columns.log_index, columns.block_number, owners))
        begins = np.array([token.first_block for token in self.read])
        order = order[columns.block_number[order] >= begins[owners[order]]]
        columns, owners = picked(columns, order), owners[order]
        again = (np.diff(columns.block_number) == 0) & (np.diff(columns.log_index) == 0) & (np.diff(owners) == 0)
        if again.any():
            raise LogsInvalid("a log that occurs twice")
        counts = np.bincount(owners, minlength=len(self.read)).tolist()
        return ColumnsOfTokens(columns, dict(zip(self.addresses, counts, strict=True)), {})

    def _apart(self, rows: Iterable[TransferLog], broken: Mapping[str, str], first: int, last: int) -> ColumnsOfTokens:
        """Judges each token separately: returns the rows of sound tokens, and the reasons why the others are broken."""
        by_token: dict[str, list[TransferLog]] = {address: [] for address in self.addresses}
        for row in rows:
            of_token = by_token.get(row.address.lower())
            if of_token is None:
                raise LogsInvalid("a log of a contract that was not requested")
            of_token.append(row)
        parts, counts, reasons = [], {}, dict(broken)
        for token in self.read:
            read = NO_TRANSFERS
            try:
                if token.address not in reasons:
                    own = by_token[token.address]
                    read = columns_of(own, token_address=token.address, from_block=first, to_block=last)
            except LogsInvalid as error:
                reasons[token.address] = str(error)
            parts.append(picked(read, np.flatnonzero(read.block_number >= token.first_block)))
            counts[token.address] = len(parts[-1])
        return ColumnsOfTokens(joined(parts), counts, dict(sorted(reasons.items())))


def _bytes_of(addresses: Iterable[str]) -> NDArray[np.uint8]:
    """Returns the bytes of addresses, 20 per row. Raises `LogsInvalid`."""
    texts = [address[2:] for address in addresses]
    if any(len(text) != 40 for text in texts):
        raise LogsInvalid("an address of a wrong length")
    try:
        return np.frombuffer(binascii.unhexlify("".join(texts)), np.uint8).reshape(-1, 20)
    except ValueError:
        raise LogsInvalid("an address that is not hexadecimal") from None


def _readable(rows: Iterable[msgspec.Raw]) -> tuple[list[TransferLog], dict[str, str]]:
    """Returns the rows that have the form of a transfer, and the tokens of those that don't, with the reasons."""
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
            broken.setdefault(address, f"a log row in an unknown form: {error}")
    return readable, broken
