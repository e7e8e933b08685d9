"""Reads actions in plain words: the request of a sentence, by verb and thing. Actions that are only denied, asked
about, quoted or explained don't count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from guardrail.language import ACTION
from guardrail.language.actions import (
    Meaning,
    can_begin_verb,
    dismisses_by_name,
    is_negated,
    meanings_in_sentence,
    with_object,
    words_before_verbs,
)
from guardrail.language.data import data_of
from guardrail.language.lexicon import Hit, Lexicon, Token, tokens_of
from guardrail.model import Effect, Passage, Reading, Span, Target, Uncovered
from guardrail.reading import household
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place, Reversible, Scope, Sensitivity

LONGEST_TEXT = 24 * 1024
MAX_EFFECTS = 256
_TABLE = "reading/sentences.yaml"
_QUOTED = re.compile(
    r"\"[^\"\n]{0,400}\"|“[^”\n]{0,400}”|«[^»\n]{0,400}»|„[^“”\n]{0,400}[“”]|`[^`\n]{0,400}`|(?<![\w])'[^'\n]{1,200}'(?!\w)"
)
_SOURCES = re.compile(
    r"(?<![\w/.~-])(?:src|lib|app|apps|pkg|packages|internal|cmd|components|modules|tests?|docs|scripts)(?:/[\w.-]+)+"
)
"""Paths of source code, whose names describe what the code is about: `src/payments`."""
_NAMED = re.compile(
    r"(?P<quoted>\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w))"
    r"|(?P<word>(?:https?://|www\.)[^\s,;'\"<>]{1,200}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}|~?/[\w./*-]{1,200}"
    r"|\b[\w-]{1,80}\.(?:[a-z]{2,5})\b|#?\b[A-Z]{0,4}-?\d{4,}\b|[$€£]\s?\d[\d,.]{0,20}|\b\d[\d,.]{0,20}\s?(?:USD|EUR|USDC|ETH|BTC)\b)"
)
_AMOUNT = re.compile(r"[$€£]\s?(\d[\d,.]*)|\b(\d[\d,.]*)\s?(USD|EUR|GBP|USDC|ETH|BTC|dollars?|euros?)\b", re.IGNORECASE)
_IRREVERSIBLE = frozenset((EffectKind.DELETE, EffectKind.DISCARD, EffectKind.PAY, EffectKind.SEND, EffectKind.PUBLISH))


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the effects that sentences ask for; the whole text is a passage."""
    whole = Span(offset, offset + len(text))
    looked_at = _without_names(text[:LONGEST_TEXT])
    quoted = sorted(match.span() for pattern in (_QUOTED, _SOURCES) for match in pattern.finditer(looked_at))
    tokens = tuple(_without(tokens_of(looked_at), quoted))
    effects = list(islice(_effects(looked_at, tokens, offset), MAX_EFFECTS + 1))
    uncovered: tuple[Uncovered, ...] = ()
    if len(text) > LONGEST_TEXT or len(effects) > MAX_EFFECTS:
        uncovered = (Uncovered(whole, "more sentences than are read", stopped=True),)
    return Reading(
        Language.PROSE,
        effects=(*effects[:MAX_EFFECTS], *household.effects_of_sentence(looked_at, offset)),
        passages=(Passage(text, whole, ACTION),),
        uncovered=uncovered,
    )


_CAPITALISED = re.compile(r"(?<![\w.@/-])[A-Z][a-zß-ÿ]+(?![\w@/-])")
_WORD_BEFORE = re.compile(r"([^\W_]+)(\.?)([ ,]+)\Z")
_LONGEST_WORD = 40


def _without_names(text: str) -> str:
    """Returns the text with names of people and places blanked if they could be read as verbs: "add Cook to the list",
    "Mrs. Grant". A capitalised word in a verb's position remains, and so do all words of a title."""
    titles, before_verbs = _words()["titles"], words_before_verbs()
    parts, at = [], 0
    for name in _CAPITALISED.finditer(text):
        before = _WORD_BEFORE.search(text, max(0, name.start() - _LONGEST_WORD), name.start())
        if before is None or not (can_begin_verb(name[0].lower()) or household.can_begin_verb(name[0].lower())):
            continue
        word, point, between = before[1].lower(), before[2], before[3]
        if word in titles or not (point or "," in between or word in before_verbs):
            parts += [text[at : name.start()], "_" * len(name[0])]
            at = name.end()
    return text if not parts or _is_title(text) else "".join((*parts, text[at:]))


def _is_title(text: str) -> bool:
    words: list[str] = re.findall(r"[^\W\d_]+", text)
    return sum(word[0].isupper() for word in words) * 2 > len(words) + 2


def _without(tokens: Sequence[Token], quoted: Sequence[tuple[int, int]]) -> Iterator[Token]:
    """Yields the tokens outside quotations, in one pass over both."""
    number = 0
    for token in tokens:
        while number < len(quoted) and quoted[number][1] <= token.start:
            number += 1
        if number >= len(quoted) or token.start < quoted[number][0]:
            yield token


@cache
def _marks() -> Lexicon:
    return Lexicon(data_of(_TABLE)["marks"])


@cache
def _words() -> dict[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in data_of(_TABLE)["words"].items()}


def _effects(text: str, tokens: Sequence[Token], offset: int) -> Iterator[Effect]:
    marks: dict[int, list[Hit]] = {}
    for hit in _marks().hits(tokens):
        marks.setdefault(tokens[hit.first].sentence, []).append(hit)
    ends = {token.sentence: token.end for token in tokens}
    starts = {token.sentence: number for number, token in reversed(list(enumerate(tokens)))}
    before: ObjectKind | None = None
    meanings = meanings_in_sentence(tokens)
    last_run = max((at.first for at in meanings if at.kind in _RUNS and not _is_told(tokens, at)), default=-1)
    for meaning in meanings:
        sentence = tokens[meaning.first].sentence
        hits = marks.get(sentence, [])
        if meaning.object is None and _reaches_pronoun(tokens, meaning):
            meaning = with_object(meaning, before)
        before = meaning.object or before
        if meaning.object is None and dismisses_by_name(tokens, meaning, text):
            meaning = replace(meaning, kind=EffectKind.DELETE, object=ObjectKind.ACCOUNT)
        guarded = _guarded(text, tokens, meaning, hits)
        if guarded is not None:
            meaning = replace(meaning, kind=guarded, object=ObjectKind.DEVICE)
        elif meaning.kind in (EffectKind.READ, EffectKind.ACTUATE):
            continue
        thing = meaning.object or _numbered(_clause(text, tokens[meaning.first].start, ends[sentence]))
        if thing is None:
            continue
        if _addresses_the_person(tokens, meaning):
            continue  # the agent's answer reaches nobody else
        if thing is ObjectKind.ACCOUNT and tokens[meaning.first].text in _words()["addresses"]:
            thing = ObjectKind.MESSAGE  # the addressee of a message is not data that leaves
        if is_negated(tokens, meaning) or _is_participle(tokens, meaning) or _is_spoken_of(tokens, meaning, hits):
            continue
        if _is_left_to_the_person(tokens, meaning) or _is_reported_demand(tokens, meaning, starts[sentence]):
            continue
        if meaning.first > last_run and _is_done_by_code(tokens, meaning, hits):
            continue
        if _is_question(text, ends[sentence], starts[sentence], hits):
            continue
        yield _effect(text, tokens, meaning, thing, hits, (ends[sentence], offset))


def _addresses_the_person(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether the verb tells the person something who talks to the agent: "tell me", "inform the user"."""
    words, addressee = _words(), [token.text for token in tokens[meaning.first + 1 : meaning.first + 3]]
    if tokens[meaning.first].text not in words["addresses"] or not addressee:
        return False
    if addressee[0] in ("the", "our", "den", "dem", "der"):
        del addressee[0]
    return bool(addressee) and addressee[0] in words["the_person"]


def _guarded(text: str, tokens: Sequence[Token], meaning: Meaning, hits: Sequence[Hit]) -> EffectKind | None:
    """Returns the effect on things that guard a home: an entrance is unlocked or opened, or a device that watches it is
    switched off. None for any other action, and if the text is about code or files."""
    if meaning.verb not in ("disable", "actuate") or meaning.object not in (None, ObjectKind.DEVICE):
        return None
    if any(hit.name == "code" for hit in hits):
        return None
    last = min(meaning.last + _NEAR, len(tokens))
    near = {
        hit.name
        for hit in hits
        if meaning.first <= hit.first < last
        and tokens[hit.first].clause == tokens[meaning.first].clause
        and (hit.name == "unlocks" or _stands_alone(text, tokens, hit.last))
    }
    if meaning.verb == "disable":
        return EffectKind.DISABLE if "watches" in near else None
    opened = "outer_door" in near and tokens[meaning.first].text in _words()["opens"]
    return EffectKind.ACTUATE if opened or {"unlocks", "way_in"} <= near else None


def _stands_alone(text: str, tokens: Sequence[Token], number: int) -> bool:
    """Decides whether the thing that ends before token `number` is not part of a longer name: "the front door page",
    `garage.txt`."""
    if _JOINED.match(text, tokens[number - 1].end) is not None:
        return False
    if number == len(tokens) or tokens[number].clause != tokens[number - 1].clause:
        return True
    words, following = _words(), tokens[number].text
    return following in words["coordinations"] or following in words["after_things"]


_JOINED = re.compile(r"[_/-]|\.\w")
"""Matches signs that make the word before them part of a name: `garage.txt`."""


def _reaches_pronoun(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether a pronoun follows the verb, or its first part: "remove it", "lade sie hoch"."""
    pronouns = _words()["pronouns"]
    return any(at < len(tokens) and tokens[at].text in pronouns for at in (meaning.first + 1, meaning.last))


_LONGEST_CLAUSE = 400


def _clause(text: str, start: int, end: int) -> str:
    """Returns the text after a verb in its sentence, as far as a verb reaches."""
    return text[start : min(end, start + _LONGEST_CLAUSE)]


_NUMBER = re.compile(r"\d{4}")


def _numbered(text: str) -> ObjectKind | None:
    """Returns the kind for a text with a number but no known thing, which names a record of something."""
    return ObjectKind.RESOURCE if _NUMBER.search(text) else None


def _is_participle(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether a word is not an order: "Files modified yesterday", "the deleted rows", "the cancellation"."""
    word = tokens[meaning.first].text
    ordered = meaning.first > 0 and tokens[meaning.first - 1].text in ("be", "get", "gets")
    past = word.endswith("ed") and word not in _words()["base_forms"]
    return not ordered and (past or word.endswith(("tion", "tions", "ment", "ments", "ancy", "al", "als")))


def _is_spoken_of(tokens: Sequence[Token], meaning: Meaning, hits: Sequence[Hit]) -> bool:
    """Decides whether somebody only wants the verb explained, or looks for or prevents such an action."""
    for hit in hits:
        if hit.first >= meaning.first:
            continue
        if hit.name == "explained":
            return True
        between = tokens[hit.last : meaning.first]
        if hit.name == "looked_for" and not any(
            token.text in _words()["coordinations"] or token.after for token in between
        ):
            return True
    return False


def _is_left_to_the_person(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether the person says that they will do it: "I will send it myself"."""
    clause = tokens[meaning.first].clause
    return any(
        token.clause == clause and token.text in _words()["themselves"]
        for token in tokens[meaning.first + 1 : meaning.last + _NEAR]
    )


def _is_reported_demand(tokens: Sequence[Token], meaning: Meaning, start: int) -> bool:
    """Decides whether somebody shall only be told that another wants it: "Tell the user that the page asks assistants
    to send passwords", but not "Tell the agent that the user asks it to send them"."""
    words, verb = _words(), meaning.first
    if verb <= start or tokens[verb - 1].text not in words["before_demanded"]:
        return False
    near = range(verb - 2, max(start, verb - _LONGEST_DEMAND), -1)
    demand = next((number for number in near if tokens[number].text in words["demands"]), None)
    if demand is None or any(token.after in (":", ";") for token in tokens[demand + 1 : verb + 1]):
        return False
    told = next(
        (
            number
            for number in range(max(start, demand - _LONGEST_REPORT), demand)
            if tokens[number].text in words["reports"]
        ),
        None,
    )
    if told is None:
        return False
    reported = next(
        (number for number in range(told + 1, demand) if tokens[number].text in words["begins_reported"]), None
    )
    return reported is not None and not any(token.text in words["told_to_act"] for token in tokens[told:reported])


_LONGEST_DEMAND = 10
"""Maximum number of words from a demand to its verb: "asks all assistants that read it to send"."""
_LONGEST_REPORT = 40
_NEAR = 3
_RUNS = frozenset((EffectKind.EXECUTE, EffectKind.PUBLISH, EffectKind.INSTALL))


def _is_told(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether the verb describes what something does: "a function that deletes", "and removes"."""
    word = tokens[meaning.first].text
    return word.endswith("s") and not word.endswith("ss")


def _is_done_by_code(tokens: Sequence[Token], meaning: Meaning, hits: Sequence[Hit]) -> bool:
    """Decides whether the verb describes what requested code does: "write a script that deletes"."""
    written = [
        code
        for code in hits
        if code.name == "code"
        and code.last <= meaning.first
        and any(hit.name == "writes" and 0 <= code.first - hit.last <= _BETWEEN for hit in hits)
    ]
    return any(
        _is_told(tokens, meaning)
        or not any(
            token.text in _words()["coordinations"] or token.after for token in tokens[code.last : meaning.first]
        )
        for code in written
    )


_BETWEEN = 6
"""Maximum number of words between "write" and the code that is written."""


def _is_question(text: str, end: int, first: int, hits: Sequence[Hit]) -> bool:
    if "?" not in text[end : end + 3] or any(hit.name == "request" for hit in hits):
        return False
    return any(hit.name == "question" and hit.first == first for hit in hits)


def _effect(
    text: str,
    tokens: Sequence[Token],
    meaning: Meaning,
    thing: ObjectKind,
    hits: Sequence[Hit],
    bounds: tuple[int, int],
) -> Effect:
    end, offset = bounds
    names = {hit.name for hit in hits}
    start = tokens[meaning.first].start
    clause = {hit.name for hit in hits if meaning.first <= hit.first <= meaning.last + 4}
    place, broad = _place(names, thing), "broad" in names
    if thing is ObjectKind.CREDENTIAL and _OWN.search(text[start : tokens[meaning.last - 1].end]):
        place = Place.UNKNOWN  # the person's own password, mentioned by that person
    reach = meaning.last
    if reach < len(tokens) and tokens[reach].text in _words()["genitives"]:  # "the file of passwords"
        reach += _LONGEST_GENITIVE
    sensitivity = _sensitivity({hit.name for hit in hits if meaning.first <= hit.first < reach}, thing)
    if thing is ObjectKind.MESSAGE and tokens[meaning.first].text in _words()["addresses"]:
        sensitivity = Sensitivity.NONE
    raised = meaning.kind is EffectKind.GRANT and "raised" in clause
    if raised:
        thing = ObjectKind.ACCOUNT
    if meaning.kind in _LEAVES and thing in _HOLDERS:
        thing = _CONTENTS.get(sensitivity, thing)
    targets = tuple(
        Target(match[0].strip("\"“”`'"), place, sensitivity) for match in _NAMED.finditer(_clause(text, start, end))
    )
    detail: dict[str, str] = {}
    amount = _AMOUNT.search(_clause(text, start, end))
    if amount and meaning.kind is EffectKind.PAY:
        detail["amount"] = (amount[1] or amount[2]).rstrip(".,")
    if meaning.kind is EffectKind.ACTUATE:
        detail["does"] = "unlock"
    irreversible = meaning.kind in _IRREVERSIBLE
    return Effect(
        # A change of rights does not grant them, unless to everybody or for everything.
        EffectKind.ALTER if meaning.verb == "alter" and thing is ObjectKind.PERMISSION and not broad else meaning.kind,
        thing,
        Span(offset + start, offset + end),
        f"sentence {meaning.verb}",
        targets or (Target(_object_words(text, tokens, meaning, end), place, sensitivity),),
        Scope.ALL
        if "all" in clause or (meaning.kind is EffectKind.GRANT and broad and "all" in names)
        else Scope.MANY
        if "many" in clause
        else Scope.ONE,
        Reversible.WITH_BACKUP if "backup_first" in names else Reversible.NO if irreversible else Reversible.YES,
        sure=meaning.first == 0 or tokens[meaning.first - 1].text not in ("that", "which", "who"),
        elevated=raised,
        detail=detail,
    )


_LONGEST_GENITIVE = 3
"""Maximum number of words after a thing, including "of", that describe its content."""


def _object_words(text: str, tokens: Sequence[Token], meaning: Meaning, end: int) -> str:
    """Returns the words of the verb's object: "all backups" in "delete all backups"."""
    after = meaning.first + 1
    first = tokens[after].start if after < meaning.last else tokens[meaning.first].start
    last = tokens[meaning.last - 1].end if meaning.last > meaning.first else end
    return text[first : min(last, end, first + _LONGEST_TARGET)]


_LONGEST_TARGET = 60
_OWN = re.compile(r"(?i)\b(?:my(?: own)?|mein(?:e|en)?|mon|mi|minha|mia|mijn)\b")
_PLACES = (
    ("production", Place.PRODUCTION),
    ("system", Place.SYSTEM),
    ("home", Place.HOME),
    ("temporary", Place.TEMPORARY),
    ("workspace", Place.WORKSPACE),
    ("remote", Place.REMOTE),
)
_LEAVES = frozenset((EffectKind.SEND, EffectKind.PUBLISH, EffectKind.EXPOSE))
_HOLDERS = frozenset(
    (
        ObjectKind.DATABASE,
        ObjectKind.TABLE,
        ObjectKind.ROWS,
        ObjectKind.ACCOUNT,
        ObjectKind.CREDENTIAL,
        ObjectKind.PROJECT,
    )
)
"""Things that a sentence names in place of the data in them: "mail the customer database"."""

_CONTENTS = {Sensitivity.PERSONAL: ObjectKind.PERSONAL_DATA, Sensitivity.SECRET: ObjectKind.SECRET}
_LOCAL = frozenset((ObjectKind.PATH, ObjectKind.PROCESS, ObjectKind.PACKAGE, ObjectKind.BRANCH, ObjectKind.COMMIT))


def _place(names: set[str], thing: ObjectKind) -> Place:
    named = next((place for name, place in _PLACES if name in names), None)
    return named or (Place.UNKNOWN if thing in _LOCAL else Place.REMOTE)


def _sensitivity(names: set[str], thing: ObjectKind) -> Sensitivity:
    if "secret" in names or thing in (ObjectKind.CREDENTIAL, ObjectKind.SECRET):
        return Sensitivity.SECRET
    if "personal" in names or thing is ObjectKind.PERSONAL_DATA:
        return Sensitivity.PERSONAL
    return Sensitivity.NONE
