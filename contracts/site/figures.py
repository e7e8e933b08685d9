"""Formats values for pages: figures with their source and its age, amounts, addresses, times. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal, TypeVar

import yaml
from pydantic import BaseModel

from contracts.base import Freshness, Quality, TelemetryEnvelope
from contracts.discovery.checks_document import CheckedTable

REASONS: Mapping[str, str] = yaml.safe_load(Path(__file__).with_name("reasons.yaml").read_text())
"""The meanings of the reason codes in documents, in words that follow a colon."""

State = Literal["proven", "exact", "derived", "estimated", "stale", "disputed", "missing"]
"""The degree to which a reader can trust a figure. Each has a mark with its own shape."""

STATE_WORDS: Mapping[State, str] = {
    "proven": "Proven",
    "exact": "Exact",
    "derived": "Derived from other exact numbers",
    "estimated": "Estimated",
    "stale": "Stale",
    "disputed": "Disputed: sources disagree",
    "missing": "Not available",
}

STATE_MEANINGS: Mapping[State, str] = {
    "proven": "all balances add up to the contract’s own answer at one block",
    "exact": "read or counted directly, without a proof of the whole",
    "derived": "computed from exact numbers",
    "estimated": "a source’s estimate, or from a block that may still change",
    "stale": "older than it should be",
    "disputed": "sources disagree",
    "missing": "not known, for the given reason",
}
"""The legend of the marks."""

Value = TypeVar("Value")

NO_VALUE = "–"
_SCALES = ((10**12, "T"), (10**9, "B"), (10**6, "M"))
_WITHOUT_NAME = 10**18
"""From here on, names of scales are unfamiliar."""
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
THIN = "\u202f"
"""A narrow space that does not break, between a number and its unit."""


STATES: Mapping[Quality, State] = {
    Quality.EXACT: "exact",
    Quality.DERIVED: "derived",
    Quality.ESTIMATED: "estimated",
    Quality.UNAVAILABLE: "missing",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A document whose numbers a page shows, with what a reader needs to check them.

    That includes its origin, the checks of its tables and, if there are any, the command that proves it again and its
    id on the lineage page.
    """

    id: str
    title: str
    path: str
    state: State
    reason: str | None
    source: str | None
    observed_at: datetime | None
    fetched_at: datetime | None
    stale_after: datetime | None
    is_stale: bool
    block: int | None = None
    stale_since: datetime | None = None
    """The end of its freshness, if that made it stale; None if a run failed before."""
    checks: tuple[CheckedTable, ...] = ()
    proved_by: str | None = None
    lineage: str | None = None

    def figure(
        self, value: Value | None, shown: "Callable[[Value], str]", *, unit: str = "", state: State | None = None
    ) -> "Figure":
        """Builds a figure of this source, with the text from `shown`. A `value` of None is missing, for the source's
        reason."""
        if value is None:
            return Figure(NO_VALUE, None, unit, "missing", self, self.reason)
        text = shown(value)
        if self.is_stale:
            return Figure(text, str(value), unit, "stale", self, self.reason)
        return Figure(text, str(value), unit, state or self.state, self, None)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number: its short text, its exact value, its unit, its trust state, its source, and why it is missing."""

    text: str
    exact: str | None
    unit: str
    state: State
    source: Source
    reason: str | None

    @property
    def words(self) -> str:
        """Returns the text of the mark for readers who can't see it."""
        return STATE_WORDS[self.state]


@dataclass(frozen=True, slots=True)
class Address:
    """An address with its short form and the squares of its picture."""

    full: str
    squares: tuple[str, str, str]
    """The squares of each of three colours, as one path over 8 by 8 units."""

    @property
    def short(self) -> str:
        """Returns the first six and the last four characters."""
        return f"{self.full[:6]}…{self.full[-4:]}"


def source_of(
    id_: str, title: str, path: str, document: BaseModel | None, now: datetime | None, *, block: int | None = None
) -> Source:
    """Parses the freshness block of a document. If `now` is given, a document that has expired by then is stale."""
    block_of = document.data if isinstance(document, TelemetryEnvelope) else document
    if not isinstance(block_of, Freshness):
        if document is None:
            reason = reason_in_words("not_published")
            return Source(id_, title, path, "missing", reason, None, None, None, None, False, block)
        return Source(id_, title, path, "exact", None, None, None, None, None, False, block)
    ended = now is not None and block_of.stale_after is not None and now >= block_of.stale_after
    state = STATES[block_of.quality]
    return Source(
        id=id_,
        title=title,
        path=path,
        state=state,
        reason=reason_in_words(block_of.reason),
        source=block_of.source,
        observed_at=block_of.observed_at,
        fetched_at=block_of.fetched_at,
        stale_after=block_of.stale_after,
        is_stale=block_of.stale or ended,
        block=block,
        stale_since=block_of.stale_after if ended else None,
    )


def reason_in_words(code: str | None) -> str | None:
    """Returns the meaning of a reason code. A code without words is shown unchanged."""
    return None if code is None else REASONS.get(code, code.replace("_", " "))


def whole(value: int | Decimal | str) -> str:
    """Returns a number with thousands separators and without decimals: `2,321`."""
    return f"{int(Decimal(value)):,}"


def short(value: float | Decimal | str, digits: int = 3) -> str:
    """Returns a number with about `digits` significant digits and a scale: `24.5 M`, `0.0248`, or a power of ten."""
    number = Decimal(str(value))
    if abs(number) >= _WITHOUT_NAME:
        power = number.adjusted()
        return f"{_rounded(number.scaleb(-power), digits)}{THIN}×{THIN}10{str(power).translate(_RAISED)}"
    for scale, sign in _SCALES:
        if abs(number) >= scale:
            return f"{_rounded(number / scale, digits)}{THIN}{sign}"
    return _rounded(number, digits)


def dollars(value: float | Decimal | str) -> str:
    """Returns an amount in USD: `$24.53 M`."""
    return f"${short(value, 4)}"


def percent(fraction: float, digits: int = 1) -> str:
    """Returns a fraction in per cent: `80.9 %`."""
    return f"{100 * fraction:.{digits}f}{THIN}%"


def signed_percent(value: float) -> str:
    """Returns a change in per cent with its sign: `+1.25 %`."""
    return f"{value:+.2f}{THIN}%".replace("-", "−")


def tokens(raw: str | int, decimals: int, digits: int = 4) -> str:
    """Returns a raw amount in whole tokens, shortened."""
    return short(exact_tokens(raw, decimals), digits)


def exact_tokens(raw: str | int, decimals: int) -> Decimal:
    """Returns a raw amount in whole tokens, exactly."""
    number = int(raw)
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -decimals))


def address(text: str) -> Address:
    """Returns an address with a symmetric picture that is derived only from it."""
    digits = [int(digit, 16) for digit in text.removeprefix("0x").ljust(40, "0")]
    cells = [(column, row, digits[(row * 4 + column) % 40]) for row in range(8) for column in range(4)]
    paths = ["", "", ""]
    for column, row, digit in cells:
        if digit >= 7:
            paths[digit % 3] += f"M{column} {row}h1v1h-1zM{7 - column} {row}h1v1h-1z"
    return Address(text, (paths[0], paths[1], paths[2]))


def _rounded(number: Decimal, digits: int) -> str:
    if number == 0:
        return "0"
    after = max(0, digits - 1 - number.adjusted())
    text = f"{number:,.{after}f}"
    return text.rstrip("0").rstrip(".").replace("-", "−") if "." in text else text.replace("-", "−")
