"""Decodes all log rows that differ only in hex digits at once. Pure.

A node formats the rows of an answer alike: the same names in the same order; only quantities differ in length. So rows
of equal length form a matrix of bytes. Its first row is decoded strictly. Rows that differ from it only in digits of
`0x` texts have their fields at the same places:

    {"address":"0x5f","data":"0x07","logIndex":"0x9"}     is decoded
    {"address":"0x5f","data":"0xc4","logIndex":"0xa"}     has the same form
    {"address":"0x5f","logIndex":"0xb","data":"0xc5"}     has another form, and is decoded next
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from contracts.evm.codec import LogsAnswer, TransferLog

FEWEST_ROWS: Final = 64
"""Fewer rows are decoded faster one by one."""

_MOST_FORMS: Final = 64
_MOST_DIGITS: Final = 15
"""The most digits of a number that fits in 64 bits with its sign."""

_FRAME: Final = msgspec.json.Decoder(LogsAnswer[msgspec.Raw])
_ROW: Final = msgspec.json.Decoder(TransferLog)
_DIGITS: Final = re.compile(rb'"0x([0-9a-fA-F]+)"(?!:)')
_NUMBERS: Final = ("blockNumber", "logIndex", "blockTimestamp")
_DIGIT_COUNTS: Final = {"address": 40, "from": 64, "to": 64, "data": 64, "transactionHash": 64}
_VALUES: Final = np.full(256, 255, np.uint8)
_VALUES[np.frombuffer(b"0123456789abcdefABCDEF", np.uint8)] = [*range(16), *range(10, 16)]

Bytes = NDArray[np.uint8]


class _NotUniform(Exception):
    """The rows must be decoded one by one."""


@dataclass(frozen=True, eq=False)
class LogColumns:
    """Transfer logs in the order of an answer, one array entry each. Hashes and words are rows of 32 bytes.

    `block_timestamp` is None unless every row has one.
    """

    block_number: NDArray[np.int64]
    log_index: NDArray[np.int64]
    tx_hash: Bytes
    from_topic: Bytes
    to_topic: Bytes
    data: Bytes
    block_timestamp: NDArray[np.int64] | None


@dataclass(frozen=True)
class _Form:
    """The form of a row: the places (begin, end) of digits that may differ, and those of its fields."""

    digits: list[tuple[int, int]]
    fields: dict[str, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of one form: their places among all rows, their bytes, and a mask of the bytes that differ between rows."""

    form: _Form
    places: NDArray[np.int64]
    text: Bytes
    differing: NDArray[np.bool_]


def decode_uniform(body: bytes) -> tuple[Bytes, LogColumns] | None:
    """Decodes an answer to `eth_getLogs`: the contract of each log (20 bytes), and the logs.

    Returns None if the rows must be decoded one by one: if they are few or have many forms, or if anything is
    unexpected.
    """
    try:
        return _decoded(body)
    except (_NotUniform, msgspec.DecodeError, UnicodeDecodeError, binascii.Error):
        return None


def _decoded(body: bytes) -> tuple[Bytes, LogColumns]:
    starts, ends = _places_of_rows(body)
    words = {name: np.empty(len(starts), f"V{count // 2}") for name, count in _DIGIT_COUNTS.items()}
    numbers = {name: np.empty(len(starts), np.int64) for name in _NUMBERS}
    for rows in _forms(body, starts, ends - starts):
        fields = rows.form.fields
        for name, column in words.items():
            column[rows.places] = _words(rows, *fields[name])
        for name in list(numbers):
            if name in fields:
                numbers[name][rows.places] = _numbers(rows, *fields[name])
            else:
                del numbers[name]
    read = {name: column.view(np.uint8).reshape(len(starts), -1) for name, column in words.items()}
    return read["address"], LogColumns(
        block_number=numbers["blockNumber"],
        log_index=numbers["logIndex"],
        tx_hash=read["transactionHash"],
        from_topic=read["from"],
        to_topic=read["to"],
        data=read["data"],
        block_timestamp=numbers.get("blockTimestamp"),
    )


def _places_of_rows(body: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns where rows begin and end, in an answer that is valid apart from them."""
    text = np.frombuffer(body, np.uint8)
    starts = _places_of(text, ord("{"))[1:]
    if len(starts) < FEWEST_ROWS:
        raise _NotUniform
    last_end = body.find(b"}", starts[-1]) + 1
    opening, closing = body[: starts[0]], body[last_end:]
    frame = opening + closing
    answer = _FRAME.decode(frame)
    is_framed = opening.endswith(b'"result":[') and closing.startswith(b"]") and frame.count(b'"result"') == 1
    if not is_framed or b"\\" in body or answer.result != [] or answer.error is not None:
        raise _NotUniform
    if (text[starts[1:] - 1] != ord(",")).any():
        raise _NotUniform
    return starts, np.append(starts[1:] - 1, last_end)


def _places_of(text: Bytes, sign: int) -> NDArray[np.int64]:
    """Returns the first place of a character in every eight bytes that contain it, in order, but not in the last few.

    Looking at eight bytes at once takes half the time. A missed character stays in its row or in the frame, which are
    decoded strictly.
    """
    eights = (text[: len(text) & ~7] == sign).reshape(-1, 8)
    found = np.flatnonzero(eights.view(np.uint64) != 0)
    places: NDArray[np.int64] = 8 * found + eights[found].argmax(axis=1)
    return places


def _forms(body: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[_Rows]:
    """Yields the rows of each form."""
    form_count = 0
    for length in sorted(set(lengths.tolist())):
        places = np.flatnonzero(lengths == length)
        while len(places):
            form_count += 1
            if form_count > _MOST_FORMS:
                raise _NotUniform
            rows = _cut(body, starts[places], length)
            form = _form_of(rows[0].tobytes())
            fixed = np.ones(length, bool)
            for begin, end in form.digits:
                fixed[begin:end] = False
            least, most = rows.min(axis=0), rows.max(axis=0)
            of_form = np.ones(len(rows), bool)
            if ((least != most) & fixed).any():
                of_form = ~((rows != rows[0]) & fixed).any(axis=1)
                rows = rows[of_form]
                least, most = rows.min(axis=0), rows.max(axis=0)
            # For digits that nobody reads it is enough to exclude quotation marks and control characters.
            if (least < ord("0"))[~fixed].any() or (most > ord("f"))[~fixed].any():
                raise _NotUniform
            yield _Rows(form, places[of_form], rows, least != most)
            places = places[~of_form]


def _form_of(row: bytes) -> _Form:
    log = _ROW.decode(row)
    if log.removed or len(log.address) != len("0x") + _DIGIT_COUNTS["address"]:
        raise _NotUniform
    fields = {
        name: _digits(row, f'"{name}":"', text)
        for name in ("address", "data", "transactionHash", *_NUMBERS)
        if (text := getattr(log, name)) is not None
    }
    event, sender, recipient = log.topics
    fields["from"] = _digits(row, f'"topics":["{event}","', sender)
    fields["to"] = _digits(row, f'"topics":["{event}","{sender}","', recipient)
    digits = [match.span(1) for match in _DIGITS.finditer(row) if match[0] != f'"{event}"'.encode()]
    return _Form(digits, fields)


def _digits(row: bytes, before: str, text: str) -> tuple[int, int]:
    """Returns the place of the digits of a field whose decoded value is `text`."""
    named = before.encode()
    if row.count(named) != 1 or not text.startswith("0x"):
        raise _NotUniform
    begin = row.index(named) + len(named)
    if row[begin : begin + len(text) + 1] != text.encode() + b'"':
        raise _NotUniform
    return begin + 2, begin + len(text)


def _cut(body: bytes, begins: NDArray[np.int64], length: int) -> Bytes:
    """Returns `length` bytes from each of these places, one row each."""
    pieces = np.ndarray((len(body) - length + 1,), f"V{length}", body, strides=(1,))
    return pieces[begins].view(np.uint8).reshape(-1, length)


def _unhex(digits: Bytes) -> Bytes:
    """Reads rows of hex digits as rows of bytes. Raises `binascii.Error`."""
    values = binascii.unhexlify(np.ascontiguousarray(digits).data)
    return np.frombuffer(values, np.uint8).reshape(len(digits), -1)


def _words(rows: _Rows, begin: int, end: int) -> NDArray[np.void]:
    """Returns the bytes of a field in each row. Raises `binascii.Error`.

    Bytes in which rows differ are read from each row, all others only once: the contract is always the same, and every
    address in a topic begins with zeros, as do most amounts.
    """
    words = np.empty((len(rows.text), (end - begin) // 2), np.uint8)
    words[:] = _unhex(rows.text[:1, begin:end])
    differing = np.flatnonzero(rows.differing[begin:end]) // 2
    if len(differing):
        first, last = int(differing[0]), int(differing[-1]) + 1
        words[:, first:last] = _unhex(rows.text[:, begin + 2 * first : begin + 2 * last])
    return words.view(f"V{words.shape[1]}").reshape(-1)


def _numbers(rows: _Rows, begin: int, end: int) -> NDArray[np.int64]:
    if not 0 < end - begin <= _MOST_DIGITS:
        raise _NotUniform
    differing = rows.differing[begin:end]
    digits = _VALUES[rows.text[0, begin:end]]
    if digits.max() > 15:
        raise _NotUniform
    alike = reduce(lambda number, digit: 16 * number + digit, np.where(differing, 0, digits).tolist(), 0)
    numbers = np.full(len(rows.text), alike, np.int64)
    for place in np.flatnonzero(differing).tolist():
        values = _VALUES[rows.text[:, begin + place]]
        if values.max() > 15:
            raise _NotUniform
        numbers |= values.astype(np.int64) << 4 * (end - begin - 1 - place)
    return numbers
