"""Finds dependencies in sentences: "Billing depends on SAP.", "The launch depends on the licence." Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from contracts.world.extraction.findings import Part
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.vocabulary import load_vocabulary

_DEPENDS = re.compile(r"\s(?:depends|relies)\son\s(?:the\s)?")
_DEFINITE = rf"(?:{any_of('definite_article')})\s|l['’]"
_PREDICATES = (
    r"depends?\son|relies\son|(?:is|are)\scontingent\son|(?:hängt|hängen)(?:\snoch)?\svon|dépend(?:ent)?\s(?=d)|depende[nm]?\s(?=d)"
    r"|dipend(?:e|ono)\s(?=d)|(?:hangt|hangen)(?:\snog)?\saf\svan"
)
_OF = rf"(?:(?:{any_of('of')})\s|d['’]|dall['’])"
_WAITS = re.compile(
    rf"(?:(?<=^)|(?<=[.!?]\s)|(?<=\n)|(?<=[-*]\s))(?i:{_DEFINITE})(?P<what>\w[\w-]*(?:\s\w[\w-]*){{0,3}})\s(?:{_PREDICATES})\s?"
    rf"(?:{_OF})?(?:(?:{_DEFINITE}|dem\s|einer?m?\s|an?\s|une?\s|una?\s|eine?\s))?"
    rf"(?P<on>(?!(?:{any_of('question')})\b)"
    r"[\w'’-]+(?:\s[\w'’-]+){0,5}?)(?:\sab)?(?=\s*(?:[.;!](?:\s|$)|$|\n))",
    re.MULTILINE,
)
"""Matches a sentence about an undertaking and its condition: "The launch depends on the new licence."."""
_LEFT = re.compile(r"(?:[\w`][\w`-]{0,40}\s){0,3}[\w`][\w`-]{0,40}$")
_RIGHT = re.compile(r"[\w`][\w`-]{0,40}(?:\s[\w`][\w`-]{0,40}){0,3}")
_SENTENCE_OVER = re.compile(r"\s*(?:[.;!](?:\s|$)|$)")
_WITHIN_NAMES = ("/", "&")
"""Characters within names: words next to one are only a part of a name."""
_FURTHEST = 130
_LONGEST_SENTENCE = 300
_SENTENCE_START = re.compile(r"[.!?]\s|\n")
_ASKED = re.compile(r"(?:[^.!?\n]|[.](?=\w)){0,300}\?")
DOUBTFUL = re.compile(rf"\b(?:{any_of('doubtful')})\b", re.IGNORECASE)
"""Words of sentences that only doubt, ask or deny."""
_UNTIL = re.compile(rf"\b(?:{any_of('until', 'de', 'fr', 'es', 'it', 'pt', 'nl')})\b", re.IGNORECASE)
_ENDED = re.compile(
    r"(?:[^.!?\n]|[.](?=\w)){0,300}?\b(?:until|till|unless|if|anymore|any\s(?:more|longer)|no\s(?:more|longer))\b"
)
"""Words after "depends on" that limit it: "only until May"."""


_OR = re.compile(rf"\s(?:either|entweder|{any_of('or')})\s|\shang(?:t|en)\s.*\sof\s", re.IGNORECASE)
"""Words for alternatives, on none of which something certainly depends."""
_ALTERNATIVE = re.compile(
    r"either\b|[\w`’'.-]+,?\s(?:or|and/or)\s|(?:[\w`’'.-]+,?\s){1,4}?(?:or|and/or)\s(?:on\s)?[A-Z`]"
)


class Waits(NamedTuple):
    """An undertaking and its condition, both without articles."""

    what: Part
    on: Part


class Depends(NamedTuple):
    """Words before and after "depends on"; the nearest ones may name its ends."""

    before: list[Part]
    after: list[Part]
    definite: Part | None
    """All words after "the", if the sentence ends after them: "depends on the tagging project."."""


def depends_in(text: str, part: Part) -> Iterator[Depends]:
    """Yields the possible names of both ends of each "X depends on Y" that a part asserts, longest first."""
    for match in _DEPENDS.finditer(text, part.start, part.end):
        before = text[max(part.start, match.start() - _LONGEST_SENTENCE) : match.start()]
        is_asked = _ASKED.match(text, match.end(), part.end) or _ENDED.match(text, match.end(), part.end)
        if is_asked or _doubtful().search(_SENTENCE_START.split(before)[-1]):
            continue
        left = _LEFT.search(text[max(part.start, match.start() - _FURTHEST) : match.start()])
        right = _RIGHT.match(text, match.end(), part.end)
        if left is None or right is None or _ALTERNATIVE.match(text, match.end(), part.end):
            continue
        start = match.start() - len(left[0])
        starts = [start, *(start + space.end() for space in re.finditer(r"\s", left[0]))]
        ends = [*(match.end() + space.start() for space in re.finditer(r"\s", right[0])), right.end()]
        is_definite = match[0].endswith("the ") and _SENTENCE_OVER.match(text, right.end(), part.end) is not None
        yield Depends(
            [Part(at, match.start()) for at in starts if text[at - 1 : at] not in _WITHIN_NAMES],
            [Part(match.end(), at) for at in reversed(ends) if text[at : at + 1] not in _WITHIN_NAMES],
            Part(match.end(), right.end()) if is_definite else None,
        )


def waits_in(text: str, part: Part) -> Iterator[Waits]:
    """Yields the undertakings of a part, each with its condition."""
    undertakings = load_vocabulary().undertakings
    for match in _WAITS.finditer(text, part.start, part.end):
        words = match["what"].lower().split()
        if (words[0] in undertakings or words[-1] in undertakings) and not (
            _doubtful().search(match[0]) or _UNTIL.search(match[0]) or _OR.search(match[0])
        ):
            yield Waits(Part(*match.span("what")), Part(*match.span("on")))


@cache
def _doubtful() -> re.Pattern[str]:
    """Returns the pattern of a word that makes a dependency doubtful."""
    vocabulary = load_vocabulary()
    words = sorted(vocabulary.doubting | vocabulary.negations | vocabulary.refusing)
    return re.compile(rf"{DOUBTFUL.pattern}|\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
