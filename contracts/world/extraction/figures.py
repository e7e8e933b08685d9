"""Finds dates and amounts of money in a text, where their form leaves no doubt. Pure.

"2026-03-12", "12 March 2026", "March 12, 2026", "12. März 2026", "12 maart 2026" and "12.03.2026" are dates, and so
are "25/03/2026", "03/25/2026" and "05-05-2026", which have one meaning. "03/04/2026" is ambiguous, so it does not count
as a date. Neither does the date in a file name, "log_2026-03-12.txt". A number next to a currency is an amount unless
it is part of a day, or the currency belongs to the number after it: "Invoice 4711 EUR 120".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cache

from contracts.world.extraction.findings import Part
from contracts.world.extraction.vocabulary import load_vocabulary

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_MONTHS_ELSEWHERE = (
    "januar jänner janvier enero gennaio janeiro januari",
    "februar février fevrier febrero febbraio fevereiro februari",
    "märz mars marzo março maart",
    "april avril abril aprile",
    "mai mayo maggio maio mei",
    "juni juin junio giugno junho",
    "juli juillet julio luglio julho",
    "august août aout agosto augustus",
    "september septembre septiembre setiembre settembre setembro",
    "oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "dezember décembre decembre diciembre dicembre dezembro",
)
"""Names of the months, from January on, in German, French, Spanish, Italian, Portuguese and Dutch."""
_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS_ELSEWHERE, 1) for name in names.split()}
_MONTH_ELSEWHERE = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
DAY_WITH_YEAR = (
    r"(?:\d{4}-\d\d-\d\d|\d{1,2}\.\s?\d{1,2}\.\s?\d{4}|\d{1,2}[/-]\d{1,2}[/-]\d{4}"
    rf"|\d{{1,2}}(?:er|[.º°]|st|nd|rd|th)?\s(?:de\s)?(?:{MONTH}|{_MONTH_ELSEWHERE})\.?\s(?:del?\s)?\d{{4}}"
    rf"|{MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}})(?!\d)"
)
"""A day as a text may write it, ambiguous or not."""
DAY = (
    r"(?:(?:last |next |this )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: (?:morning|afternoon|evening|night))?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{4})?"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b\.?(?:,? \d{{4}})?"
    rf"|{MONTH}\b\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|the \d{{1,2}}(?:st|nd|rd|th))"
)
"""A day as a sentence names it, with or without its year."""
_HYPHEN = "[-\u2010\u2011]"
_FIRST_REIWA_YEAR = 2019
_MONTHS_OF_A_YEAR = 12
_DATE = re.compile(
    rf"(?<![^\W_])(?<!\w_)(?<!\D/)(?<!-)(?P<y1>\d{{4}}){_HYPHEN}(?P<m1>\d\d){_HYPHEN}(?P<d1>\d\d)(?![\d-])"
    r"|(?<![\d.])(?P<d2>\d{1,2})\.\s?(?P<m2>\d{1,2})\.\s?(?P<y2>\d{4})(?!\d)"
    rf"|(?<![\w.])(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?[ -](?:of )?(?P<m3>{MONTH})\.?,?[ -](?P<y3>\d{{4}})(?!\d)"
    rf"|(?<!\w)(?P<m4>{MONTH})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y4>\d{{4}})(?!\d)"
    rf"|(?<![\w.])(?P<d5>\d{{1,2}})(?:(?i:er)|[.º°])? (?:de )?(?P<m5>(?i:{_MONTH_ELSEWHERE}))"
    r" (?:del? )?(?P<y5>\d{4})(?!\d)"
    r"|(?<![\w/])(?P<y6>\d{4})/(?P<m6>\d{1,2})/(?P<d6>\d{1,2})(?![\d/])"
    r"|(?<!\d)(?P<y7>\d{4}|令和(?:\d{1,2}|元))年(?P<m7>\d{1,2})月(?P<d7>\d{1,2})日"
    r"|(?<![\w/.-])(?P<d8>\d{1,2})(?P<between>[/-])(?P<m8>\d{1,2})(?P=between)(?P<y8>\d{4})(?![\w/-])"
)
_SPACE = "[ \u00a0\u202f]"
_GAP = "[ \t\u00a0\u202f]?"
"""An optional space or tab within an amount, which never spans two lines."""
_NUMBER = rf"(?:\d{{1,3}}(?:{_SPACE}\d{{3}})++(?!\d)(?:[.,]\d{{1,2}}(?!\d))?+|\d++(?:[,.’']\d++){{0,9}}+)"
"""Spaces, commas, points or apostrophes separate groups of thousands."""
_SCALE = rf"(?:{_GAP}(?:k|m|bn|thousand|million|billion)(?!\w))?"
_CODE = r"(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD|CNY|INR|BRL|MXN|CLP|NZD|SGD|HKD|ZAR|KRW|ILS|CZK|HUF)"
_SYMBOL = r"(?:(?:US|AU|CA|NZ|HK|MX|[RACS])?\$|[€£¥₹₩₪₺₴₽₱₫])"
_SIGN = "(?:(?<![^\\s(])[-\u2212])?+"
_CURRENCY = re.compile(rf"[$€£¥円₹₩₪₺₴₽₱₫]|{_CODE}|euro|dollar|reais", re.IGNORECASE)
_PAIR = rf"{_GAP}/{_GAP}{_CODE}(?!\w)"
"""Follows a currency that is compared with another one: "EUR/USD 1.0850"."""
_BEHIND_NUMBER = rf"(?:[$€£¥円₹₩₪₺₴₽₱₫]|{_CODE}(?!\w)(?!{_PAIR}))"
_AT_DAY = rf"(?:\d{{1,2}}:\d\d|\d{{1,2}}(?:st|nd|rd|th|\.)?{_SPACE}(?-i:{MONTH})\b)"
"""A time, or a day without a year, after an amount."""
MEASURED = re.compile(r"[<>~≈±+-]?\s*[\d.,_]*\d[\d.,_]*\s*(?:%|[a-zA-Zµ]{1,3})?")
"""A number, perhaps with a short unit: "300 m"."""
_FIGURE = re.compile(
    r"(?:(?:#?[-+\u2212]?(?:US\$|[$€£¥])?\d[\d.,:/’'\u2212-]*(?:%|[$€£¥]|k|m|bn|st|nd|rd|th)?|%|US\$|[$€£¥]"
    rf"|{_CODE}|{MONTH}\.?|thousand|million|billion|Mio\.?|Mrd\.?|euros?|dollars?|pounds"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(?:[\s,]+|$))+"
)
_BETWEEN_DOLLARS = re.compile(r"\$(?=[^\s$])([^$\n]{1,300})(?<=\S)\$(?!\d)")
_BETWEEN_TWO_DOLLARS = re.compile(r"\$\$(?!\$)([^$]{1,1000})\$\$")
_OPERATOR = re.compile(r"[=\\^_<>{}+*/]")


def dates_in(text: str, part: Part) -> Iterator[tuple[str, int]]:
    """Yields the dates of a part as ISO 8601, each with its offset."""
    for match in _DATE.finditer(text, part.start, part.end):
        form = next(number for number in "12345678" if match[f"y{number}"] is not None)
        day_text, month_text = match[f"d{form}"], match[f"m{form}"]
        if form == "8" and int(day_text) <= _MONTHS_OF_A_YEAR and day_text.lstrip("0") != month_text.lstrip("0"):
            if int(month_text) <= _MONTHS_OF_A_YEAR:
                continue  # either the day or the month may come first
            day_text, month_text = month_text, day_text
        try:
            day = date(_year(match[f"y{form}"]), _month(month_text), int(day_text))
            yield day.isoformat(), match.start()
        except ValueError:
            continue  # there is no such day


def _year(text: str) -> int:
    if text.isdecimal():
        return int(text)
    year = text.removeprefix("令和")
    return _FIRST_REIWA_YEAR - 1 + (1 if year == "元" else int(year))


def _month(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return _MONTH_NUMBERS.get(text.lower()) or _MONTHS.index(text[:3].lower()) + 1


def is_figure(text: str) -> bool:
    """Decides whether a text is only a number, an amount, a date or a time, so that it can't be a name."""
    return _FIGURE.fullmatch(text) is not None and any(char.isdigit() for char in text)


def amounts_in(text: str, part: Part) -> Iterator[str]:
    """Yields the amounts of money of a part, as they are written.

    A formula between dollar signs, "$n=5$" or "$$n = 5$$", is not an amount, and neither is a day before a currency:
    "On 12.03.2026 EUR 75 was paid".
    """
    if _CURRENCY.search(text, *part) is None:
        return
    prose = _BETWEEN_TWO_DOLLARS.sub(_without_formula, text[part.start : part.end])
    prose = _BETWEEN_DOLLARS.sub(_without_formula, prose)
    for match in _amount().finditer(_time().sub("x", prose)):
        yield " ".join(match[0].split())


@cache
def _amount() -> re.Pattern[str]:
    """Returns the pattern of an amount.

    A currency between two numbers belongs to the second: "Invoice 4711 EUR 120". It belongs to the first only if
    nothing separates them, as in "50€ 12 days", or if the second is surely something else: a number with its own
    currency or unit, a day or a time.
    """
    units = "|".join(map(re.escape, sorted(load_vocabulary().units, key=len, reverse=True)))
    number = rf"[-\u2212]?{_NUMBER}"
    pairs = rf"(?:{_GAP}{number}{_SCALE}{_GAP}{_BEHIND_NUMBER}){{1,20}}+(?!{_GAP}[-\u2212]?\d)"
    other = rf"{_GAP}(?:{_AT_DAY}|{number}(?:{_GAP}%|{_SPACE}(?:{units})(?!\w)))"
    return re.compile(
        rf"(?<![\w.,=$-])(?<!\u2212)(?<!\d[–—])(?<![^\d\s]/)(?<![A-Z]{{3}} /)(?<![A-Z]{{3}} /{_SPACE}){_SIGN}"
        rf"(?:(?:{_SYMBOL}|{_CODE}{_SPACE}){_GAP}[-\u2212]?{_NUMBER}(?!{_SPACE}\d{{3}}){_SCALE}(?![\w$€£¥])"
        rf"|(?<!\d{_SPACE}){_NUMBER}(?:,(?:--?|[–—]))?+{_SCALE}(?:(?<!{_SPACE}){_BEHIND_NUMBER}(?!\d)"
        rf"|{_SPACE}(?:(?:{_BEHIND_NUMBER}(?:(?!{_GAP}[-\u2212]?\d)|(?={pairs}|{other}))"
        rf"|(?:euros?|dollars?|reais)(?!\w)))))",
        re.IGNORECASE,
    )


@cache
def _time() -> re.Pattern[str]:
    """Returns the pattern of a day with its year, of a month, and of a year before a currency: "in 2026 EUR rose"."""
    month = rf"(?:{MONTH}|{_MONTH_ELSEWHERE})"
    before = "|".join(sorted(map(re.escape, load_vocabulary().before_years)))
    day = r"(?:0?[1-9]|[12]\d|3[01])"
    return re.compile(
        rf"(?<![\w.,/$€£¥-])(?:\d{{4}}([-/])\d\d?\1\d\d?|{day}([./-]){_GAP}\d\d?\2{_GAP}\d{{4}}"
        rf"|(?:{day}(?:er|st|nd|rd|th|[.º°])?{_SPACE}(?:de{_SPACE})?)?{month}\b\.?,?{_SPACE}(?:{day}(?:st|nd|rd|th)?,?{_SPACE})?"
        rf"(?:del?{_SPACE})?\d{{4}})(?![\w/-]|[.,’']\d)"
        rf"|(?<!\w)(?:{before}){_SPACE}(?:19|20)\d\d(?={_GAP}(?:{_SYMBOL}|{_CODE}(?!\w)|euros?\b|dollars?\b))",
        re.IGNORECASE,
    )


def _without_formula(between: re.Match[str]) -> str:
    return "x" if _OPERATOR.search(between[1]) else between[0]
