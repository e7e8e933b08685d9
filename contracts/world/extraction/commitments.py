"""Finds the tasks that sentences give to somebody, with their due date: "Bo Li will call by 3 March 2026." Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contracts.world.extraction.dependencies import DOUBTFUL
from contracts.world.extraction.due_dates import BEFORE_DUE_DAY
from contracts.world.extraction.figures import dates_in
from contracts.world.extraction.findings import Part
from contracts.world.extraction.people import PARTICLE
from contracts.world.extraction.phrases import any_of

_CAPITALISED = r"[A-ZÀ-ÖØ-ÞĀ-ſ][\w’'-]{1,30}"
_FULL_NAME = rf"{_CAPITALISED}(?: (?:{PARTICLE} ){{0,2}}{_CAPITALISED}){{0,3}}"
_COMMITTED = re.compile(
    rf"(?:(?<=^)|(?<=[.!?]\s)|(?<=\n)|(?<=[-*]\s))"
    rf"(?:(?P<party>(?:{any_of('party_article')}) {_CAPITALISED}(?=\s(?:{any_of('party_obliged')})\s))"
    rf"|(?P<who>{_FULL_NAME}))\s"
    rf"(?:(?:{any_of('obliged')})\s|(?=\w{{2,30}}(?:ará|erá|irá)\s))"
    rf"(?!(?:{any_of('not_carried_out')})\b)(?P<rest>[^\n!?;]{{3,300}})",
    re.MULTILINE,
)
_STOP = re.compile(r"[.](?=\s+[A-ZÀ-Þ]|\s*$)")
_DAY_END = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|[^\n]{0,30}?\d{4}(?!\d)")


class Commitment(NamedTuple):
    """A task with its due date. `who` is the name before `what`; if `is_party`, `what` begins with it: "The tenant"."""

    who: Part
    what: Part
    day: str
    is_party: bool


def commitments_in(text: str, part: Part) -> Iterator[Commitment]:
    """Yields the tasks that the sentences of a part give to somebody: "Bo Li will call by 3 March 2026."."""
    for match in _COMMITTED.finditer(text, part.start, part.end):
        rest = Part(*match.span("rest"))
        for day, start in dates_in(text, rest):
            due = BEFORE_DUE_DAY.search(text, max(rest.start, start - 24), start)
            stop = _STOP.search(text, rest.start, start)
            if due is None or (stop is not None and not text[stop.start() - 1].isdigit()):
                break
            what = Part(rest.start, due.start()).trimmed(text, " ,")
            day_end = _DAY_END.match(text, start, rest.end)
            if day_end is not None:
                end = _STOP.search(text, day_end.end(), rest.end)
                behind = Part(day_end.end(), end.start() if end else rest.end).trimmed(text, " ,.")
                if behind.start < behind.end:  # the verb may follow the day: "muss bis zum 3. März 2026 zahlen"
                    what = behind if what.start == what.end else Part(what.start, behind.end)
            if len(text[what.start : what.end].split()) > 1 and not DOUBTFUL.search(text, *what):
                who = Part(*match.span("who" if match["party"] is None else "party"))
                is_party = match["party"] is not None and what.start == rest.start
                if is_party or match["party"] is None:
                    yield Commitment(who, Part(who.start, what.end) if is_party else what, day, is_party)
            break
