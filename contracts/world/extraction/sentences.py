"""Finds what sentences of prose state in set forms: what was decided and why, and what depends on what. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contracts.world.extraction.findings import Part
from contracts.world.extraction.vocabulary import load_vocabulary

_DECIDED = re.compile(
    r"(?:(?<=^)|(?<=[.!?]\s)|(?<=\n))(?:(?:On|In|At|Yesterday|Today|So)\b[^,.!?\n]{0,40},? )?"
    r"(?P<who>We|It was|The (?:[\w-]{1,30} ){0,2}[\w-]{1,30}|[A-Z][\w’'-]{1,30}(?: [A-Z][\w’'-]{1,30}){0,2})"
    r"\s(?:(?:have|has|had|also|then|finally|all|therefore)\s){0,3}(?:decided|agreed|resolved)\s(?:to|that|on)\s"
    r"(?P<what>(?:[^.!?]|[.](?=\w)){3,300}?)"
    r"(?:,?\sbecause\s(?P<why>(?:[^.!?]|[.](?=\w)){3,300}?))?(?=[.!?](?:\s|$)|$)"
)
_BECAUSE = re.compile(r",?\sbecause\s", re.IGNORECASE)
_DEPENDS = re.compile(r"\s(?:depends|relies)\son\s(?:the\s)?")
_LEFT = re.compile(r"(?:[\w`][\w`-]{0,40}\s){0,3}[\w`][\w`-]{0,40}$")
_RIGHT = re.compile(r"[\w`][\w`-]{0,40}(?:\s[\w`][\w`-]{0,40}){0,3}")
_FURTHEST = 130


class Decided(NamedTuple):
    """A decision that a sentence reports, who made it, and the reason if it gives one."""

    who: Part
    what: Part
    why: Part | None


class Depends(NamedTuple):
    """Words before and after "depends on"; the nearest ones name its ends, if anything does."""

    before: list[Part]
    after: list[Part]


def decided_in(text: str, part: Part) -> Iterator[Decided]:
    """Yields what the sentences of a part say was decided."""
    if not any(word in text[part.start : part.end] for word in ("decided", "agreed", "resolved")):
        return
    for match in _DECIDED.finditer(text[part.start : part.end]):
        parts = {
            name: Part(part.start + match.start(name), part.start + match.end(name)).trimmed(text)
            for name in ("who", "what", "why")
        }
        yield Decided(parts["who"], parts["what"], None if match["why"] is None else parts["why"])


def with_reason(text: str, sentence: Part) -> tuple[Part, Part | None]:
    """Returns a decision's sentence without its reason, and the reason."""
    match = _BECAUSE.search(text, sentence.start, sentence.end)
    if match is None or match.start() == sentence.start or match.end() == sentence.end:
        return sentence, None
    return Part(sentence.start, match.start()), Part(match.end(), sentence.end)


def depends_in(text: str, part: Part) -> Iterator[Depends]:
    """Yields what may name the ends of each "X depends on Y" of a part, longest first."""
    for match in _DEPENDS.finditer(text, part.start, part.end):
        left = _LEFT.search(text[max(part.start, match.start() - _FURTHEST) : match.start()])
        right = _RIGHT.match(text, match.end(), part.end)
        if left is None or right is None:
            continue
        start = match.start() - len(left[0])
        starts = [start, *(start + space.end() for space in re.finditer(r"\s", left[0]))]
        ends = [*(match.end() + space.start() for space in re.finditer(r"\s", right[0])), right.end()]
        yield Depends([Part(at, match.start()) for at in starts], [Part(match.end(), at) for at in reversed(ends)])


_PROPER_WORD = r"(?:[A-Z][/&](?=[A-Z0-9]))?[A-Z0-9][\w.’'-]{0,40}(?:&[A-Z][\w-]{0,40})?"
_PROPER = re.compile(rf"{_PROPER_WORD}(?:\s{_PROPER_WORD}){{0,3}}")


def is_proper(name: str) -> bool:
    """Decides whether a name is surely one: every word begins with a capital, or it is marked as code."""
    if len(name) > 2 and name[0] == name[-1] == "`":
        return "`" not in name[1:-1]
    return (
        _PROPER.fullmatch(name) is not None
        and any(char.isalpha() for char in name)
        and name.split()[0].lower() not in load_vocabulary().openers
    )
