"""Divides text into passages, into a first sentence and the rest, and enumerations into their elements. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contracts.world.extraction.due_dates import DUE_LABELS, DUE_WORDS
from contracts.world.extraction.figures import DAY_WITH_YEAR
from contracts.world.extraction.findings import Part
from contracts.world.extraction.people import OWNER_WORDS, OWNERS, is_only_involved
from contracts.world.extraction.phrases import any_of

LONGEST_PASSAGE = 1_200
"""Maximum length of a passage. A longer paragraph becomes several, divided at sentence ends where possible."""
_BREAKS = (re.compile(r"[.!?…][\"'”’)\]*_]{0,3}\s"), re.compile(r"\s"))
_SENTENCE_END = re.compile(r"(?<=[^\s.][^\s.])[.!?](?=\s+[A-Z0-9*`\"“(\[]|\s*$)")
_UNENDING = re.compile(rf"(?:\b(?:{any_of('abbreviations')})|(?<![\w.,:/-])\d{{1,2}})$", re.IGNORECASE)
"""Words before a full stop that does not end a sentence: abbreviations, and ordinals as in "12. Mai"."""
_COLON = r"\s*(?::{1,2}|：)\s*"
_VALUE_CHAR = r"[^\s,;|·、:()\[\]]"
_APPENDIX = re.compile(
    rf"\s*(?:[(\[,;|·、–—]|--?|:(?=\s*(?:{OWNER_WORDS}|{DUE_LABELS}){_COLON})|(?=@)"
    r"|(?<!\bnow\s)(?<!\bwas\s)(?<!\boriginally\s)(?=\bdue\b)|(?=[📅✅➕⏳🛫]))\s*"
    r"(?:(?:(?:owner|assignee|due|by|until)\s*:{0,2}\s*|[📅✅➕⏳🛫]\s*)?(?:@[A-Za-z0-9_-]+|\d{4}-\d{2}-\d{2})"
    rf"|{DUE_WORDS}\s*:?\s*{DAY_WITH_YEAR}"
    rf"|{DUE_LABELS}{_COLON}{_VALUE_CHAR}(?:[^,;|·、:()\[\]\n]{{0,30}}{_VALUE_CHAR})?"
    rf"|{OWNER_WORDS}{_COLON}(?-i:{OWNERS}))[)\]]*[.,;]?$",
    re.IGNORECASE,
)
"""The person and date that a sentence may end with, separated from the rest."""
_LONGEST_APPENDIX = 80
_MOST_APPENDICES = 4


def passages_of(text: str, part: Part) -> Iterator[Part]:
    """Yields the passages of a paragraph."""
    rest = part.trimmed(text)
    while rest.end - rest.start > LONGEST_PASSAGE:
        window = Part(rest.start, rest.start + LONGEST_PASSAGE)
        ends = (max((match.end() for match in pattern.finditer(text, *window)), default=0) for pattern in _BREAKS)
        end = next((end for end in ends if end > rest.start + LONGEST_PASSAGE // 4), window.end)
        yield Part(rest.start, end).trimmed(text)
        rest = Part(end, rest.end).trimmed(text)
    if rest.start < rest.end:
        yield rest


def first_sentence(text: str, part: Part) -> Part:
    """Returns the first sentence of a part, without its full stop and without a person and date at its end.

    Example: "Ship the parser (@ada, due 2026-03-01). It is late." gives "Ship the parser". A bracket with other content
    stays.
    """
    end = part.end
    for match in _SENTENCE_END.finditer(text, part.start, part.end):
        if not _UNENDING.search(text, max(part.start, match.start() - 8), match.start()):
            end = match.start()
            break
    sentence = rest = Part(part.start, end).trimmed(text)
    for _ in range(_MOST_APPENDICES):
        appendix = _APPENDIX.search(text, max(rest.start, rest.end - _LONGEST_APPENDIX), rest.end)
        if appendix is None or appendix.start() == rest.start:
            break
        handle = text.find("@", *appendix.span())
        if handle >= 0 and is_only_involved(text, rest.start, handle):
            break
        rest = Part(rest.start, appendix.start()).trimmed(text)
        if all(text.count(a, *rest) == text.count(b, *rest) for a, b in ("()", "[]")):
            sentence = rest
    return sentence


def elements_of(text: str, part: Part, between: re.Pattern[str]) -> list[Part]:
    """Returns the elements of an enumeration, which `between` separates."""
    parts: list[Part] = []
    start = part.start
    for match in [*between.finditer(text, part.start, part.end), None]:
        end = part.end if match is None else match.start()
        name_part = Part(start, end).trimmed(text).trimmed(text, "*_`.,")
        if text[name_part.start : name_part.start + 1] == "(" or text.count("(", *name_part) != text.count(
            ")", *name_part
        ):
            name_part = name_part.trimmed(text, "*_`().")
        if name_part.start < name_part.end:
            parts.append(name_part)
        start = end if match is None else match.end()
    return parts
