"""Finds intents in language, by a few classes of words, and decides whether a person asked for an action's effects."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple, Protocol

from guardrail.language.data import FILES, data_of, digest_of
from guardrail.language.intent import drifts
from guardrail.language.lexicon import Hit, Lexicon, Token, tokens_of
from guardrail.model import Passage, Span
from guardrail.reading.decoding import anomalies
from guardrail.vocabulary import Severity

_TABLE = "language/families.yaml"
_STEP = "step"
"""The class of words after which another step begins."""

ACTION = "action"
"""The name of a passage that is the action itself, in plain words."""

_FILE_CONTENT = frozenset(
    ("content", "contents", "new_string", "old_string", "new_str", "old_str", "file_text", "code", "patch", "diff")
)

_Combination = tuple[tuple[str, ...], str]
"""Classes of words, and the sign between them: `>` in this order, `+` in one sentence, `&` two of them in sentences
that are near each other."""


class Request(Protocol):
    """The only fact that this package needs: the person's request."""

    @property
    def user_request(self) -> str | None: ...


class Family(NamedTuple):
    """An intent of language. `place` names the texts that are searched for it: `prose` is an action in plain words,
    `message` also includes the texts for people in a tool's arguments, `text` every text, including code. `stage` is
    the stage of the answer that it belongs to. `examples` must match, `look_alikes` must not."""

    id: str
    place: Literal["prose", "message", "text"]
    stage: str
    languages: tuple[str, ...]
    severity: Severity
    reason: str
    remediation: str
    references: tuple[str, ...]
    any: tuple[_Combination, ...]
    characters: frozenset[str]
    unless: frozenset[str]
    exceptions: frozenset[str]
    unless_requested: bool
    unnamed_record: bool
    examples: tuple[str, ...]
    look_alikes: tuple[str, ...]


class Match(NamedTuple):
    """A family that was found, and its position in the action."""

    id: str
    stage: str
    severity: Severity
    reason: str
    remediation: str
    references: tuple[str, ...]
    span: Span


def match_characters(action: str) -> tuple[Match, ...]:
    """Returns the families of text that looks different to a person than to a program: invisible, reversed,
    overwritten, look-alike."""
    if action.isascii() and action.isprintable():
        return ()
    kinds = {anomaly.partition(":")[0] for anomaly in anomalies(action)}
    if not kinds:
        return ()
    whole = Span(0, len(action))
    return tuple(_match_of(family, whole) for family in _tables().families if not kinds.isdisjoint(family.characters))


def _match_of(family: Family, span: Span) -> Match:
    return Match(family.id, family.stage, family.severity, family.reason, family.remediation, family.references, span)


def rules_checked() -> int:
    """Returns the number of families that a check looks for."""
    return len(families())


def version() -> str:
    """Returns a digest of the data that determines this package's verdicts."""
    return hashlib.sha256("".join(map(digest_of, FILES)).encode()).hexdigest()[:16]


def classes() -> tuple[str, ...]:
    """Returns the classes of words that families are made of."""
    return tuple(dict.fromkeys(name for family in families() for names, _ in family.any for name in names))


def classes_begun_by(word: str) -> frozenset[str]:
    """Returns the classes that contain this word, or a phrase that begins with it."""
    return _tables().lexicon.begun_by(word)


def families() -> tuple[Family, ...]:
    """Returns all families of `families.yaml`."""
    return _tables().families


def match(passages: Iterable[Passage], facts: Request) -> tuple[Match, ...]:
    """Returns the families that the texts of an action belong to, each once. A passage named `ACTION` is an action in
    plain words; one with another name is an argument of a tool; one without a name is part of code."""
    requested: frozenset[str] | None = None
    found: dict[str, Match] = {}
    for passage in passages:
        for family, span in _matches(passage):
            if family.unless_requested and facts.user_request:
                if requested is None:
                    whole = Passage(facts.user_request, Span(0, len(facts.user_request)), ACTION)
                    requested = frozenset(named.id for named, _ in _matches(whole))
                if family.id in requested:
                    continue
            found.setdefault(family.id, _match_of(family, span))
        if passage.name == ACTION and facts.user_request and drifts(passage.text, facts.user_request):
            for family in _tables().families:
                if family.unnamed_record:
                    found.setdefault(family.id, _match_of(family, passage.span))
    return tuple(found.values())


class _Tables(NamedTuple):
    """The data in compiled form. `combinations` has the combinations by the class that they name first, each with the
    positions of its family and of itself. `excuses` are the classes that only excuse."""

    lexicon: Lexicon
    families: tuple[Family, ...]
    excuses: frozenset[str]
    combinations: Mapping[str, Sequence[tuple[int, int, _Combination]]]


@cache
def _tables() -> _Tables:
    data = data_of(_TABLE)
    rows = tuple(
        Family(
            row["id"],
            row.get("in", "text"),
            row.get("stage", "alignment"),
            tuple(row["languages"]),
            Severity(row["severity"]),
            row["reason"],
            row["remediation"],
            tuple(row["references"]),
            tuple(_combination(text, data["classes"]) for text in row.get("any", ())),
            frozenset(row.get("characters", ())),
            frozenset(row.get("unless", ())),
            frozenset(row.get("except", ())),
            row.get("unless_requested", False),
            row.get("unnamed_record", False),
            tuple(row["match"]),
            tuple(row["pass"]),
        )
        for row in data["families"]
    )
    combinations: dict[str, list[tuple[int, int, _Combination]]] = {}
    for number, family in enumerate(rows):
        for place, combination in enumerate(family.any):
            combinations.setdefault(combination[0][0], []).append((number, place, combination))
    named = {name for family in rows for names, _ in family.any for name in names}
    excuses = frozenset(name for family in rows for name in family.unless if name not in named)
    return _Tables(Lexicon(data["classes"]), rows, excuses, combinations)


def _combination(text: str, classes: Mapping[str, object]) -> _Combination:
    """Parses `make > malware` into its classes and the sign between them."""
    names = tuple(name.strip() for name in re.split(r"[>+&]", text))
    unknown = [name for name in names if name not in classes]
    if unknown:
        raise ValueError(f"no class of words is named {', '.join(unknown)}")
    return names, next((sign for sign in "+&" if sign in text), ">")


def _matches(passage: Passage) -> Iterator[tuple[Family, Span]]:
    tables = _tables()
    tokens = tokens_of(passage.text)
    hits_of_all = tables.lexicon.hits(tokens)
    named = {hit.name for hit in hits_of_all}
    possible = sorted(row for name in named for row in tables.combinations.get(name, ()) if named.issuperset(row[2][0]))
    if not possible:
        return
    hits = [
        hit
        for hit in hits_of_all
        if not (hit.name == _STEP and _is_told(tokens, hit.last))
        and not (hit.name in tables.excuses and _is_waived(tokens, hit.first))
    ]
    of_texts = _placed(tokens, hits)
    of_orders = _placed(tokens, [hit for hit in hits if not _is_forbidden(tokens, hit.first)])
    for number, rows in groupby(possible, key=itemgetter(0)):
        family = tables.families[number]
        if not _belongs(family, passage):
            continue
        combinations = [combination for _, _, combination in rows]
        # what an order forbids is not done; but a letter may forbid one payment to get another
        sentences, everywhere = of_orders if family.place == "prose" else of_texts
        for named_hits, signs in (*((in_one, ">+") for in_one in sentences), (everywhere, "&")):
            first_last = _first_match(family, combinations, named_hits, signs, tokens)
            if first_last is not None:
                yield family, _span(passage, tokens, *first_last)
                break


def _placed(tokens: Sequence[Token], hits: Iterable[Hit]) -> tuple[list[dict[str, list[Hit]]], dict[str, list[Hit]]]:
    """Returns the hits by their class: of each sentence, and of the whole text."""
    sentences: dict[int, dict[str, list[Hit]]] = {}
    everywhere: dict[str, list[Hit]] = {}
    for hit in hits:
        everywhere.setdefault(hit.name, []).append(hit)
        sentences.setdefault(tokens[hit.first].sentence, {}).setdefault(hit.name, []).append(hit)
    return list(sentences.values()), everywhere


def _is_forbidden(tokens: Sequence[Token], number: int) -> bool:
    """Decides whether a text forbids what begins with this word: "don't force push", "we must not hack", "tell them not
    to pay", "nobody should pay".

    The "not" must directly precede the word. In "don't wait, hack into it" it forbids something else, and "why not
    hack into it" is not a ban.
    """
    before = [token.text for token in tokens[max(0, number - 3) : number] if token.clause == tokens[number].clause]
    return not _FORBIDDING.isdisjoint(" ".join(before[first:]) for first in range(len(before)))


_FORBIDDING = frozenset(
    ("never", "don't", "doesn't", "mustn't", "shouldn't", "won't", "not to", "to not", "do not", "does not")
) | {
    *("must not", "should not", "shall not", "may not", "will not"),
    *(f"{nobody}{may}" for nobody in ("nobody", "no one") for may in ("", " should", " must", " may", " can", " ever")),
}


def _is_waived(tokens: Sequence[Token], number: int) -> bool:
    """Decides whether the text says to skip what begins with this word, which therefore excuses nothing: "skip the
    audit and hack into the server"."""
    before = [token.text for token in tokens[max(0, number - 3) : number] if token.clause == tokens[number].clause]
    if before and before[-1] in _BEFORE_THINGS:
        before.pop()
    return not _WAIVING.isdisjoint((" ".join(before[-2:]), *before[-1:]))


_BEFORE_THINGS = frozenset(
    ("the", "a", "an", "any", "all", "every", "this", "that", "these", "those", "my", "our", "your", "their", "code")
)
_WAIVING = frozenset(
    ("skip", "skipping", "ignore", "ignoring", "forget", "forget about", "never mind", "bypass", "bypassing", "despite")
) | {"without", "omit", "omitting", "disregard", "disregarding", "instead of", "regardless of"}


def _is_told(tokens: Sequence[Token], number: int) -> bool:
    """Decides whether this word describes what somebody does, in the third person: in "explain how he gets in and then
    steals", "steals" is not an order."""
    return number < len(tokens) and tokens[number].text.endswith("s") and not tokens[number].text.endswith("ss")


def _belongs(family: Family, passage: Passage) -> bool:
    if family.place == "prose":
        return passage.name == ACTION
    return family.place == "text" or (passage.name is not None and passage.name not in _FILE_CONTENT)


def _first_match(
    family: Family,
    combinations: Iterable[_Combination],
    hits: Mapping[str, Sequence[Hit]],
    signs: str,
    tokens: Sequence[Token],
) -> tuple[int, int] | None:
    """Returns the range of tokens of the first combination of the family that nothing before its end excuses."""
    for names, sign in combinations:
        if sign not in signs or not all(name in hits for name in names):
            continue
        if sign == ">":
            found = _in_order(names, hits)
        else:
            found = [hits[name][0] for name in names] if sign == "+" else _near(names, hits, tokens)
        if found and not _is_excused(family, hits, found):
            return min(hit.first for hit in found), max(hit.last for hit in found)
    return None


def _in_order(names: tuple[str, ...], hits: Mapping[str, Sequence[Hit]]) -> list[Hit]:
    """Returns the first hits that follow each other without overlap; none if one is missing."""
    found: list[Hit] = []
    for name in names:
        following = next((hit for hit in hits[name] if not found or hit.first >= found[-1].last), None)
        if following is None:
            return []
        found.append(following)
    return found


def _near(names: tuple[str, ...], hits: Mapping[str, Sequence[Hit]], tokens: Sequence[Token]) -> list[Hit]:
    """Returns the first hits of two classes that are at most `_REACH` sentences apart, or an empty list."""
    one, other = (hits[name] for name in names)
    sentences = [tokens[hit.first].sentence for hit in other]
    for hit in one:
        sentence = tokens[hit.first].sentence
        at = bisect_left(sentences, sentence - _REACH)
        if at < len(sentences) and sentences[at] <= sentence + _REACH:
            return [hit, other[at]]
    return []


_REACH = 4
"""Number of sentences, lines or items within which an order belongs to whom it addresses. A long text about models may
contain orders for people elsewhere."""


def _is_excused(family: Family, hits: Mapping[str, Sequence[Hit]], found: Sequence[Hit]) -> bool:
    """Decides whether an excuse precedes the last word of the combination, in the step of the sentence in which it
    begins, without being part of it: in "the fake reviews", "reviews" excuses nothing, and in "review it, then hack
    into the server" neither does "review"."""
    if not family.exceptions.isdisjoint(hits):
        return True
    begin, end = min(hit.first for hit in found), max(hit.first for hit in found)
    step = max((hit.first for hit in hits.get(_STEP, ()) if hit.first <= begin), default=-1)
    return any(
        step < excuse.first < end and not any(hit.first <= excuse.first < hit.last for hit in found)
        for name in family.unless
        for excuse in hits.get(name, ())
    )


def _span(passage: Passage, tokens: Sequence[Token], first: int, last: int) -> Span:
    """Returns the span of the words in the action if it contains the passage unchanged; else that of the passage."""
    if passage.span.end - passage.span.start != len(passage.text):
        return passage.span
    return Span(passage.span.start + tokens[first].start, passage.span.start + tokens[last - 1].end)
