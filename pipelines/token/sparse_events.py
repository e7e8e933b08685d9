"""Decodes sparse events into rows: transfers that touch a contract, attestations, reserves of the pool. Pure."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import msgspec
import numpy as np
import pyarrow as pa
from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from numpy.typing import NDArray

from contracts.evm.codec import (
    TRANSFER_TOPIC,
    LogsAnswer,
    Receipt,
    ReceiptLog,
    RpcError,
    Transient,
    bloom_may_hold,
    keccak256,
    quantity,
)
from contracts.outside_texts import outside_text
from contracts.pools import PoolKind
from pipelines.token.arrow import BLOCK_TIME_TYPE, binary, repeated, u256
from pipelines.token.decode import LogsInvalid, rows_of
from pipelines.token.events import Params
from warehouse.duck.columns import plain, texts
from warehouse.token.transfers import ATTESTATIONS, CONTRACT_TRANSFERS, POOL_RESERVES, EventTables

ATTESTED_TOPIC: Final = "0x" + keccak256(b"Attested(address,address,bytes32,uint256,uint256,uint256,string)").hex()

_TRANSFER: Final = {
    "token_address": "address",
    "from_address": "address",
    "to_address": "address",
    "value_raw": "u256",
}
_ATTESTATION: Final = {
    "agent": "address",
    "attester": "address",
    "job_id": "word",
    "number": "integer",
    "score": "integer",
    "attested_at": "time",
    "metadata_uri": "text",
}
_WORD: Final = 66
_MAX_TIME_S: Final = 1 << 40
_LONGEST_URI: Final = 512


_ANSWER = msgspec.json.Decoder(LogsAnswer[ReceiptLog])

Value = bytes | int | str


@dataclass(frozen=True, order=True)
class EventRow:
    """One event: its position, its transaction, its block's Unix time if the node reports it, and its own values."""

    block: int
    log_index: int
    tx_hash: bytes
    values: tuple[Value, ...]
    time_s: int | None


@dataclass(frozen=True, eq=False)
class EventColumns:
    """Ordered rows without duplicates, with the name and kind of each of their values."""

    rows: Sequence[EventRow]
    kinds: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def block_number(self) -> NDArray[np.int64]:
        return np.array([row.block for row in self.rows], np.int64)

    @property
    def block_timestamp(self) -> NDArray[np.int64] | None:
        times = [row.time_s for row in self.rows]
        return None if None in times else np.array(times, np.int64)

    def sha256(self) -> str:
        identities = [(row.block, row.log_index, row.tx_hash, row.values) for row in self.rows]
        return hashlib.sha256(repr(identities).encode()).hexdigest()

    def to_arrow(self, block_time_s: NDArray[np.int64], *, exact: bool) -> pa.Table:
        columns = {
            "block_number": plain(self.block_number, pa.int64()),
            "log_index": plain(np.array([row.log_index for row in self.rows], np.int32), pa.int32()),
            "tx_hash": _column("word", [row.tx_hash for row in self.rows]),
        }
        for place, (name, kind) in enumerate(self.kinds.items()):
            columns[name] = _column(kind, [row.values[place] for row in self.rows])
        columns["block_time"] = plain(block_time_s, BLOCK_TIME_TYPE)
        columns["block_time_quality"] = repeated(b"exact" if exact else b"estimated", len(self))
        return pa.table(columns)


class SparseEvents(ABC):
    """Base of the event kinds below. A kind selects logs (`matches`) and decodes a log into values (`values`)."""

    tables: EventTables
    always_confirmed: ClassVar[bool] = True

    @property
    @abstractmethod
    def kinds(self) -> Mapping[str, str]:
        """Returns the kind of each value, by its column."""

    @abstractmethod
    def matches(self, log: ReceiptLog) -> bool:
        """Returns True if a receipt's log is one of the requested logs."""

    @abstractmethod
    def values(self, log: ReceiptLog) -> tuple[Value, ...] | None:
        """Returns the event's own values, or None for a log that only looks like one. Raises `LogsInvalid`."""

    def decode(self, bodies: Sequence[bytes], first: int, last: int) -> EventColumns:
        return self._columns([log for body in bodies for log in rows_of(body, _ANSWER)], first, last)

    def decode_pending(self, bodies: Sequence[bytes], block_hashes: Mapping[int, str]) -> EventColumns:
        logs = [log for body in bodies for log in rows_of(body, _ANSWER)]
        if any(block_hashes.get(_number(log.blockNumber)) != log.blockHash.lower() for log in logs):
            raise RpcError(Transient(), "logs of a block that has left the chain")
        return self._columns(logs, min(block_hashes), max(block_hashes))

    def decode_receipts(self, receipts: Iterable[Any], block: int) -> EventColumns:
        try:
            logs = [log for receipt in msgspec.convert(list(receipts), list[Receipt]) for log in receipt.logs]
        except msgspec.ValidationError as error:
            raise LogsInvalid(f"a receipt in an unknown form: {error}") from None
        return self._columns([log for log in logs if self.matches(log)], block, block)

    def _columns(self, logs: Iterable[ReceiptLog], first: int, last: int) -> EventColumns:
        rows: dict[tuple[int, int], EventRow] = {}
        for log in logs:
            if log.removed or not self.matches(log):
                raise LogsInvalid("a log that was not requested")
            row = self._row(log)
            if row is None:
                continue
            if not first <= row.block <= last:
                raise LogsInvalid(f"a log outside of blocks {first} to {last}")
            if rows.setdefault((row.block, row.log_index), row) != row:
                raise LogsInvalid("two different logs at one place")
        return EventColumns([rows[place] for place in sorted(rows)], self.kinds)

    def _row(self, log: ReceiptLog) -> EventRow | None:
        values = self.values(log)
        if values is None:
            return None
        time_s = None if log.blockTimestamp is None else _number(log.blockTimestamp)
        block, log_index = _number(log.blockNumber), _number(log.logIndex)
        return EventRow(block, log_index, _word(log.transactionHash), values, time_s)


@dataclass(frozen=True)
class ContractTransfers(SparseEvents):
    """ERC-20 Transfer events, of any token, that name the contract as sender or recipient."""

    contract_address: str
    tables: EventTables = CONTRACT_TRANSFERS
    what: str = "Transfer rows of the watched contract"
    cure: str = "Check the nodes in SVC_RPC_URLS, and SVC_BIDWALL_ADDRESS."
    kinds = _TRANSFER

    @property
    def _topic(self) -> str:
        return "0x" + self.contract_address[2:].rjust(64, "0")

    def requests(self, first: int, last: int) -> Sequence[Params]:
        blocks = {"fromBlock": hex(first), "toBlock": hex(last)}
        sent, received = [TRANSFER_TOPIC, self._topic], [TRANSFER_TOPIC, None, self._topic]
        return [[{"topics": topics, **blocks}] for topics in (sent, received)]

    def matches(self, log: ReceiptLog) -> bool:
        topics = [topic.lower() for topic in log.topics]
        return len(topics) > 1 and topics[0] == TRANSFER_TOPIC and self._topic in topics[1:3]

    def values(self, log: ReceiptLog) -> tuple[Value, ...] | None:
        # An NFT's Transfer has its id in a fourth topic; some tokens emit a custom event under the same name.
        if len(log.topics) != 3 or len(log.data) != _WORD:
            return None
        sender, recipient = (_word(topic) for topic in log.topics[1:])
        if any(sender[:12]) or any(recipient[:12]):
            return None
        return _address(log.address), sender[12:], recipient[12:], _word(log.data)

    def admitted(self, logs_bloom: bytes) -> bool:
        return bloom_may_hold(logs_bloom, TRANSFER_TOPIC, self._topic)


@dataclass(frozen=True)
class ContractEvents(SparseEvents):
    """Base of events of one kind that one contract emits, under one of `topics`."""

    address: str

    @property
    @abstractmethod
    def topics(self) -> Sequence[str]:
        """Returns the first topics of such events."""

    def requests(self, first: int, last: int) -> Sequence[Params]:
        blocks = {"fromBlock": hex(first), "toBlock": hex(last)}
        return [[{"address": self.address, "topics": [list(self.topics)], **blocks}]]

    def matches(self, log: ReceiptLog) -> bool:
        named = bool(log.topics) and log.topics[0].lower() in self.topics
        return named and log.address.lower() == self.address

    def admitted(self, logs_bloom: bytes) -> bool:
        return any(bloom_may_hold(logs_bloom, self.address, topic) for topic in self.topics)


@dataclass(frozen=True)
class Attestations(ContractEvents):
    """Attestations that the trust registry accepted."""

    topics: ClassVar[Sequence[str]] = (ATTESTED_TOPIC,)
    tables: EventTables = ATTESTATIONS
    what: str = "attestations"
    cure: str = "Check that SVC_TRUST_REGISTRY_ADDRESS is the trust registry on this chain."
    kinds = _ATTESTATION

    def values(self, log: ReceiptLog) -> tuple[Value, ...] | None:
        if len(log.topics) != 4:
            raise LogsInvalid("an attestation in an unknown form")
        agent, attester, job_id = (_word(topic) for topic in log.topics[1:])
        try:
            # The text as bytes: an attester may have sent some that are not UTF-8.
            number, score, at_s, uri = decode(["uint256", "uint256", "uint256", "bytes"], _bytes(log.data))
        except DecodingError as error:
            raise LogsInvalid(f"an attestation in an unknown form: {error}") from None
        if not 1 <= score <= 100 or number < 1 or at_s >= _MAX_TIME_S:
            raise LogsInvalid("an attestation out of range")
        return (
            agent[12:],
            attester[12:],
            job_id,
            number,
            score,
            at_s,
            (outside_text(uri.decode(errors="replace"), _LONGEST_URI) or ""),
        )


@dataclass(frozen=True)
class PoolReserves(ContractEvents):
    """Events of a pool that give its reserves after each trade: a pair's Sync, a concentrated pool's Swap."""

    kind: PoolKind
    tables: EventTables = POOL_RESERVES
    what: str = "events of the pool"
    cure: str = "Check that SVC_POOL_ADDRESS is a pool like Uniswap's v2 or v3 on this chain."

    @property
    def topics(self) -> Sequence[str]:
        return tuple(self.kind.events)

    @property
    def kinds(self) -> Mapping[str, str]:
        return {number.column: "u256" for number in self.kind.state}

    def values(self, log: ReceiptLog) -> tuple[Value, ...] | None:
        state = self.kind.read_event(log.topics, log.data)
        if state is None:
            raise LogsInvalid("an event of the pool in an unknown form")
        return tuple(number.to_bytes(32) for number in state)


def _column(kind: str, values: Sequence[Any]) -> pa.Array:
    match kind:
        case "address" | "word":
            width = 20 if kind == "address" else 32
            return binary(np.frombuffer(b"".join(values), np.uint8).reshape(len(values), width))
        case "u256":
            return u256(np.frombuffer(b"".join(values), np.uint8).reshape(len(values), 32))
        case "integer":
            return plain(np.array(values, np.int64), pa.int64())
        case "time":
            return plain(np.array(values, np.int64), BLOCK_TIME_TYPE)
        case "text":
            return texts(values)
    raise ValueError(kind)


def _bytes(text: str) -> bytes:
    try:
        if not text.startswith("0x"):
            raise ValueError
        return bytes.fromhex(text[2:])
    except ValueError:
        raise LogsInvalid("data that is not hexadecimal") from None


def _word(text: str) -> bytes:
    word = _bytes(text)
    if len(word) != 32:
        raise LogsInvalid("a word that is not 32 bytes long")
    return word


def _address(text: str) -> bytes:
    address = _bytes(text)
    if len(address) != 20:
        raise LogsInvalid("an address that is not 20 bytes long")
    return address


def _number(text: str) -> int:
    try:
        number = quantity(text)
    except ValueError as error:
        raise LogsInvalid(str(error)) from None
    if number >= 1 << 53:
        raise LogsInvalid("a number out of range")
    return number
