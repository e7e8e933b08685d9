"""Finds dates and amounts of money in a text, where their form leaves no doubt. Pure.

"2026-03-12", "12 March 2026", "March 12, 2026" and "12.03.2026" are dates; "03/04/2026" is one of two, so it is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from contracts.world.extraction.findings import Part

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATE = re.compile(
    r"(?<![\d-])(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)(?![\d-])"
    r"|(?<![\d.])(?P<d2>\d{1,2})\.\s?(?P<m2>\d{1,2})\.\s?(?P<y2>\d{4})(?!\d)"
    rf"|(?<![\w.])(?P<d3>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m3>{MONTH})\.?,? (?P<y3>\d{{4}})(?!\d)"
    rf"|(?<!\w)(?P<m4>{MONTH})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y4>\d{{4}})(?!\d)"
)
_SPACE = "[ \u00a0\u202f]"
_NUMBER = rf"(?:\d{{1,3}}(?:{_SPACE}\d{{3}})++(?!\d)(?:[.,]\d{{1,2}}(?!\d))?+|\d[\d,.’']{{0,20}}+)"
"""Groups of thousands stand between spaces, commas, points or apostrophes."""
_SCALE = r"(?:\s?(?:k|m|bn|thousand|million|billion))?"
_CODE = r"(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD|CNY|INR)"
_SIGN = "(?:(?<![^\\s(])[-\u2212])?+"
_AMOUNT = re.compile(
    rf"(?<![\w.,=$-])(?<!\u2212)(?<!\d[–—])(?<!\d{_SPACE}){_SIGN}"
    rf"(?:(?:US\$|[$€£¥]|{_CODE}\s)\s?[-\u2212]?{_NUMBER}(?!{_SPACE}\d{{3}}){_SCALE}(?![\w$€£¥])"
    rf"|{_NUMBER}{_SCALE}\s?(?:[$€£¥]|{_CODE}(?!\w)|(?:euros?|dollars?|pounds)(?!\w)))",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"(?:(?:#?[-+\u2212]?(?:US\$|[$€£¥])?\d[\d.,:/’'\u2212-]*(?:%|[$€£¥]|k|m|bn|st|nd|rd|th)?|%|US\$|[$€£¥]"
    rf"|{_CODE}|{MONTH}\.?|thousand|million|billion|Mio\.?|Mrd\.?|euros?|dollars?|pounds"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(?:[\s,]+|$))+"
)
_BETWEEN_DOLLARS = re.compile(r"\$(?=[^\s$])([^$\n]{1,300})(?<=\S)\$(?!\d)")
_OPERATOR = re.compile(r"[=\\^_<>{}+*/]")


def dates_in(text: str, part: Part) -> Iterator[tuple[str, int]]:
    """Yields the dates of a part as ISO 8601, each with its offset."""
    for match in _DATE.finditer(text, part.start, part.end):
        form = next(number for number in "1234" if match[f"y{number}"] is not None)
        month = match[f"m{form}"]
        number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
        try:
            yield date(int(match[f"y{form}"]), number, int(match[f"d{form}"])).isoformat(), match.start()
        except ValueError:
            continue  # there is no such day


def is_figure(text: str) -> bool:
    """Decides whether a text is only a number, an amount, a date or a time, and so no name."""
    return _FIGURE.fullmatch(text) is not None and any(char.isdigit() for char in text)


def amounts_in(text: str, part: Part) -> Iterator[str]:
    """Yields the amounts of money of a part, as they are written. A formula between dollar signs, "$n=5$", has none."""
    prose = _BETWEEN_DOLLARS.sub(_without_formula, text[part.start : part.end])
    for match in _AMOUNT.finditer(prose):
        yield " ".join(match[0].split()).rstrip(".,’'")


def _without_formula(between: re.Match[str]) -> str:
    return "x" if _OPERATOR.search(between[1]) else between[0]
