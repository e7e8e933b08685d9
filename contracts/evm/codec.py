"""Encodes RPC calls and decodes their answers: bodies, typed results, hex, bloom, and the meaning of errors. Pure.

It has no network access and does not wait. `pipelines/token/decode.py` validates Transfer rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

import msgspec

from contracts.errors import ServiceError
from contracts.times import retry_after_s

TRANSFER_TOPIC: Final = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""keccak256 of `Transfer(address,address,uint256)`."""

TransferTopic = Literal["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"]

Word = Annotated[str, msgspec.Meta(min_length=66, max_length=66)]
"""`0x` and 64 digits. Code that turns them into bytes checks that they are hex digits."""

Result = TypeVar("Result")

_QUANTITY: Final = re.compile(r"0x[0-9a-fA-F]{1,64}")
_BLOOM_BYTES: Final = 256
_RETRY_AFTER_CAP_S: Final = 120.0


# Failures, as a closed set.


@dataclass(frozen=True)
class TooLarge:
    """The answer would be too large.

    `suggested` is the node's own (first, last) block and `max_blocks` its widest range. `structural` is True if the
    width itself is the cause, not the number of logs in it.
    """

    suggested: tuple[int, int] | None = None
    max_blocks: int | None = None
    structural: bool = False


@dataclass(frozen=True)
class RateLimit:
    """The call should be repeated later. `retry_after_s` is the node's wait time, capped, or None."""

    retry_after_s: float | None = None


@dataclass(frozen=True)
class Transient:
    """The call should be repeated, at another node first."""


@dataclass(frozen=True)
class Fatal:
    """The same node would give the same answer again. `refused` is True if it refuses us, not just this call."""

    refused: bool = False


Failure = TooLarge | RateLimit | Transient | Fatal


class RpcError(ServiceError):
    """The failure of one call at one node: its meaning, the JSON-RPC code if there was one, and the node's host."""

    def __init__(self, failure: Failure, message: str, *, code: int | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.failure = failure
        self.message = message
        self.code = code
        self.data = data
        self.host = ""

    @property
    def reverted(self) -> bool:
        """Decides whether a contract reverted the call. Every node would give the same answer."""
        return self.code == 3 or "revert" in self.message.lower()

    def __str__(self) -> str:
        return f"{self.host or 'node'}: {self.message}" + (f" ({self.code})" if self.code is not None else "")


# Requests.


def request_body(method: str, params: Sequence[Any], call_id: int = 1) -> bytes:
    """Encodes one JSON-RPC 2.0 call."""
    return msgspec.json.encode(_call(method, params, call_id))


def batch_body(calls: Sequence[tuple[str, Sequence[Any]]]) -> bytes:
    """Encodes several calls in one body. Their ids are their positions in `calls`."""
    return msgspec.json.encode([_call(method, params, place) for place, (method, params) in enumerate(calls)])


def transfer_filter(token_address: str | Sequence[str], from_block: int, to_block: int) -> list[dict[str, Any]]:
    """Returns the `eth_getLogs` parameters for the Transfer events of a token, or several, in these blocks."""
    return [
        {"address": token_address, "topics": [TRANSFER_TOPIC], "fromBlock": hex(from_block), "toBlock": hex(to_block)}
    ]


def selector(signature: str) -> str:
    """Returns the four-byte selector of a signature such as `balanceOf(address)`, as `0x` hex."""
    return "0x" + keccak256(signature.encode())[:4].hex()


def _call(method: str, params: Sequence[Any], call_id: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "method": method, "params": params}


# Answers.


class ErrorObject(msgspec.Struct, frozen=True):
    """The `error` member of a JSON-RPC answer."""

    code: int = 0
    message: str = ""
    data: Any = None


class RpcAnswer(msgspec.Struct, frozen=True):
    """One JSON-RPC answer with its result undecoded."""

    id: Any = None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ErrorObject | None = None


class TransferLog(msgspec.Struct, gc=False):
    """One row of `eth_getLogs` with three topics and one word of data, in the form of the nodes."""

    address: str
    topics: tuple[TransferTopic, Word, Word]
    data: Word
    blockNumber: str
    transactionHash: Word
    logIndex: str
    blockTimestamp: str | None = None
    removed: bool = False


class PendingTransferLog(TransferLog, gc=False):
    """A row of a block that may still leave the chain, and must therefore name its block."""

    blockHash: Word = msgspec.field(default="")


Row = TypeVar("Row")


class LogsAnswer(msgspec.Struct, Generic[Row], gc=False):
    """The whole answer to `eth_getLogs`."""

    id: Any = None
    result: list[Row] | None = None
    error: ErrorObject | None = None


class ReceiptLog(msgspec.Struct):
    """A log of any contract, inside a receipt."""

    address: str
    topics: list[str]
    data: str
    blockNumber: str
    blockHash: str
    transactionHash: str
    logIndex: str
    blockTimestamp: str | None = None
    removed: bool = False


class Receipt(msgspec.Struct):
    """A transaction receipt, limited to its logs."""

    logs: list[ReceiptLog]


class WireHeader(msgspec.Struct):
    """A block in the form of the nodes, limited to the fields that we read; `transactions` contains hashes."""

    number: str
    hash: Word
    parentHash: Word
    timestamp: str
    logsBloom: str | None = None
    transactions: list[Any] = []


@dataclass(frozen=True)
class BlockHeader:
    """A block's place in its chain. `time_s` is in Unix seconds; `logs_bloom` is None if the node omits it."""

    number: int
    hash: str
    parent_hash: str
    time_s: int
    logs_bloom: bytes | None = None


def read_header(result: Any) -> BlockHeader | None:
    """Parses a decoded `eth_getBlockBy...` result. Returns None if the node has no such block.

    Raises `RpcError` (transient) for anything else.
    """
    if result is None:
        return None
    try:
        wire = msgspec.convert(result, WireHeader)
        bloom = None if wire.logsBloom is None else bytes.fromhex(wire.logsBloom.removeprefix("0x"))
        return BlockHeader(
            number=quantity(wire.number),
            hash=wire.hash.lower(),
            parent_hash=wire.parentHash.lower(),
            time_s=quantity(wire.timestamp),
            logs_bloom=bloom if bloom is not None and len(bloom) == _BLOOM_BYTES else None,
        )
    except (msgspec.ValidationError, ValueError):
        raise RpcError(Transient(), "an answer that is not a block header") from None


def quantity(text: str) -> int:
    """Parses a hex quantity in the form of the JSON-RPC standard. Raises `ValueError` for anything else."""
    if _QUANTITY.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is not a hex quantity")
    return int(text, 16)


def read_answer(body: bytes, *, method: str) -> Any:
    """Returns the decoded result of one call. Raises `RpcError`, also (transient) for a body that is not JSON-RPC."""
    answer = _decode(body, RpcAnswer)
    return _result(answer, method)


def read_batch(body: bytes, calls: Sequence[tuple[str, Sequence[Any]]]) -> list[Any | RpcError]:
    """Returns the results of a batch in the order of `calls`: a value or the `RpcError` of each.

    Raises `RpcError` if the node refused the whole batch, or if the body is not its answer.
    """
    if body.lstrip()[:1] != b"[":
        _result(_decode(body, RpcAnswer), calls[0][0])
        raise RpcError(Transient(), "a batch answered with one answer")
    answers = {answer.id: answer for answer in _decode(body, list[RpcAnswer])}
    if set(answers) != set(range(len(calls))):
        raise RpcError(Transient(), "a batch answered in part")
    return [_result_or_error(answers[place], method) for place, (method, _) in enumerate(calls)]


def raise_error_object(error: ErrorObject, *, method: str) -> None:
    failure = classify(method, code=error.code, message=error.message, data=error.data)
    raise RpcError(failure, error.message[:300], code=error.code, data=error.data)


def _decode(body: bytes, shape: type[Result]) -> Result:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RpcError(Transient(), "an answer that is not JSON-RPC") from None


def _result(answer: RpcAnswer, method: str) -> Any:
    if answer.error is not None:
        raise_error_object(answer.error, method=method)
    if isinstance(answer.result, msgspec.UnsetType):
        raise RpcError(Transient(), "an answer without a result")
    return msgspec.json.decode(answer.result)


def _result_or_error(answer: RpcAnswer, method: str) -> Any | RpcError:
    try:
        return _result(answer, method)
    except RpcError as error:
        return error


# Causes. No standard defines these texts and codes, which public nodes return.

_RESULTS: Final = re.compile(
    r"more than [\d,]+ (results|logs)|max(imum)? results|too many (logs|results)|response size|"
    r"response (is )?too (large|big)|request entity too large|query timeout|timed? ?out",
    re.IGNORECASE,
)
_WIDTH: Final = re.compile(
    r"block range|range is too|ranges over|range too|\d+ range\b|range \d+ exceeds|max(imum)? range|"
    r"at most [\d,]+ ?k? blocks|limited to a? ?[\d,]+ ?k? blocks?",
    re.IGNORECASE,
)
_MAX_BLOCKS: Final = re.compile(
    r"(?:limited to|at most|up to|max(?:imum)?(?: block)? range:?|max is|limit of|ranges over)"
    r" (?:a )?(?P<blocks>\d[\d,]*) ?(?P<thousand>k)?(?! results)\b",
    re.IGNORECASE,
)
_SUGGESTED: Final = re.compile(
    r"\[(?P<hex_from>0x[0-9a-f]+), ?(?P<hex_to>0x[0-9a-f]+)\]|range (?P<from>\d+)-(?P<to>\d+)", re.IGNORECASE
)
_RATE: Final = re.compile(
    r"rate.?limit|too many requests|compute units|request rate|request count|throttl|limit exceeded|capacity",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"invalid block range|cannot be found|block not found|header not found|unknown block|beyond (the )?(current )?head",
    re.IGNORECASE,
)
"""Texts of a node that has not reached the requested blocks."""

_TRANSIENT: Final = re.compile(
    r"no backend|temporar|unavailable|internal error|overloaded|try again|timed? ?out",
    re.IGNORECASE,
)
_SIZED_METHODS: Final = frozenset({"eth_getLogs"})


def classify(
    method: str,
    *,
    code: int | None = None,
    message: str = "",
    data: Any = None,
    http_status: int = 200,
    retry_after: str | None = None,
    now: datetime | None = None,
) -> Failure:
    """Returns the meaning of an error. `retry_after` is the header's text: seconds, or a date to compare with `now`.

    Example: code -32005 with "query returned more than 10000 results" is TooLarge for `eth_getLogs`, although other
    methods use the same code for a rate limit.
    """
    if http_status == 429 or code == 429:
        return RateLimit(_retry_after_s(retry_after, now))
    if http_status in (401, 402, 403, 404):
        return Fatal(refused=True)
    if _BEHIND.search(message):
        return Transient()
    if method in _SIZED_METHODS:
        too_large = _too_large(message, data, http_status)
        if too_large is not None:
            return too_large
    if code == -32005 or _RATE.search(message):
        return RateLimit(_retry_after_s(retry_after, now))
    if http_status >= 500 or http_status in (408, 425) or code == -32603 or _TRANSIENT.search(message):
        return Transient()
    return Fatal()


def _too_large(message: str, data: Any, http_status: int) -> TooLarge | None:
    by_width = bool(_WIDTH.search(message)) and not re.search("any block range", message, re.IGNORECASE)
    if not (by_width or _RESULTS.search(message) or http_status == 413):
        return None
    limit = _MAX_BLOCKS.search(message) if by_width else None
    blocks = int(limit["blocks"].replace(",", "")) * (1000 if limit["thousand"] else 1) if limit else None
    structural = by_width and not _RESULTS.search(message)
    return TooLarge(
        suggested=_suggested(message, data), max_blocks=blocks if structural else None, structural=structural
    )


def _suggested(message: str, data: Any) -> tuple[int, int] | None:
    suggestion = _SUGGESTED.search(message)
    if suggestion and suggestion["hex_from"]:
        return int(suggestion["hex_from"], 16), int(suggestion["hex_to"], 16)
    if suggestion:
        return int(suggestion["from"]), int(suggestion["to"])
    match data:
        case {"from": str(first), "to": str(last)}:
            try:
                return quantity(first), quantity(last)
            except ValueError:
                return None
    return None


def _retry_after_s(text: str | None, now: datetime | None) -> float | None:
    wait_s = None if text is None else retry_after_s(text, now)
    return None if wait_s is None else min(max(wait_s, 0.0), _RETRY_AFTER_CAP_S)


# Hashes, blooms, addresses.


def keccak256(data: bytes) -> bytes:
    """Returns the Keccak-256 hash that Ethereum uses, which is not SHA3-256."""
    from eth_hash.auto import keccak  # its import takes 0.1 s, which commands that hash nothing avoid

    return keccak(data)


@cache
def _bloom_bits(item: bytes) -> int:
    digest = keccak256(item)
    bits = 0
    for place in (0, 2, 4):
        bits |= 1 << (int.from_bytes(digest[place : place + 2]) % (8 * _BLOOM_BYTES))
    return bits


def bloom_may_hold(logs_bloom: bytes, *items: str) -> bool:
    """Decides whether a header's bloom admits logs with all of `items` (addresses, topics; hex). False is certain."""
    wanted = 0
    for item in items:
        wanted |= _bloom_bits(bytes.fromhex(item.removeprefix("0x")))
    return int.from_bytes(logs_bloom) & wanted == wanted


@lru_cache(maxsize=1024)
def checksum_address(address: str) -> str:
    from eth_utils.address import to_checksum_address  # The import takes 0.4 s, and few callers need it.

    return to_checksum_address(address)
