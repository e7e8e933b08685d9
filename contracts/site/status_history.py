"""Computes the status history: on which days numbers were read, from the published series. Pure.

Days that no series covers are shown as unknown, with the reason; nothing is filled in.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.bidwall import ContractBalancePoint
from contracts.site.figures import NO_VALUE, Source, reason_in_words, short
from contracts.site.page import Documents
from contracts.site.plots import Chart, bar_panel, chart
from contracts.site.shown import BALANCE_HOURS, DAYS, HOURS
from contracts.token.history_documents import SeriesPoint
from contracts.token.proof import Verdict

DAYS_SHOWN = 90
_DAY = timedelta(days=1)
_LABELS = {"days": "List kept and proven", "hours": "Hours read"}
_NOT_RECORDED = "not known: the series begins later"
_NO_LIST = "not known: no list of that day is stored"


@dataclass(frozen=True, slots=True)
class _Span:
    """An hour or a day of a series: whether its number was read, and if not, the reason in words."""

    start: datetime
    is_read: bool
    reason: str | None


def status_charts(documents: Documents) -> list[Chart]:
    """Returns a chart, for each number with a series, of how much of each of the last 90 days it was read."""
    days, hours, balances = documents.read(DAYS), documents.read(HOURS), documents.read(BALANCE_HOURS)
    lanes = (
        ("lists", "Holder lists with a proof", "days", DAYS, [_listed(point) for point in days.points] if days else []),
        ("price", "Observed prices", "hours", HOURS, [_priced(point) for point in hours.points] if hours else []),
        (
            "balance",
            "Balances of the watched contract",
            "hours",
            BALANCE_HOURS,
            [_balanced(point) for point in balances.points] if balances else [],
        ),
    )
    return [
        _lane(f"status-{id_}", title, unit, spans, documents.source(shown))
        for id_, title, unit, shown, spans in lanes
        if spans
    ]


def _listed(point: SeriesPoint) -> _Span:
    if point.verdict is None:
        return _Span(point.start, False, _NO_LIST)
    is_proven = point.verdict is Verdict.PROVEN
    return _Span(point.start, is_proven, None if is_proven else f"the proof of its list is {point.verdict}")


def _priced(point: SeriesPoint) -> _Span:
    if point.price_usd is None:
        return _Span(point.start, False, reason_in_words(point.price_reason))
    is_observed = point.price_usd.source == "observed"
    return _Span(point.start, is_observed, None if is_observed else reason_in_words("before_first_observation"))


def _balanced(point: ContractBalancePoint) -> _Span:
    return _Span(point.start, point.balance_wei is not None, reason_in_words(point.reason))


def _lane(id_: str, title: str, unit: str, spans: Sequence[_Span], source: Source) -> Chart:
    """Draws one number: a bar per day, as high as the part of the day in which it was read, and a gap if in none."""
    by_day: dict[datetime, list[_Span]] = {}
    for span in spans:
        by_day.setdefault(span.start.replace(hour=0, minute=0), []).append(span)
    last = max(by_day)
    starts = [last - number * _DAY for number in reversed(range(DAYS_SHOWN))]
    found = [by_day.get(start, []) for start in starts]
    read = [sum(span.is_read for span in day) for day in found]
    reasons = [_reason(day) for day in found]
    known = [start for start, count in zip(starts, read, strict=True) if count]
    silent = len(read) - len(known)
    summary = f"In {sum(read):,} of {sum(map(len, found)):,} {unit} of its series" + (
        f", the first on {known[0]:%Y-%m-%d}; in {silent} of {DAYS_SHOWN} days not once" if known else ""
    )
    return chart(
        id_,
        title,
        summary,
        starts,
        [bar_panel(_LABELS[unit], read, short, height=60, whole=True, reasons=reasons)],
        (_LABELS[unit], "Why not"),
        [
            (f"{count} of {len(day)}" if day else NO_VALUE, reason or NO_VALUE)
            for day, count, reason in zip(found, read, reasons, strict=True)
        ],
        source,
    )


def _reason(day: Sequence[_Span]) -> str | None:
    """Returns why a number was not read in parts of a day, the most frequent reason first; None if it always was."""
    if not day:
        return _NOT_RECORDED
    reasons = Counter(span.reason for span in day if not span.is_read and span.reason)
    return "; ".join(reason for reason, _ in reasons.most_common()) or None
