"""The meaning of verbs and their objects: maps the words of a tool's name or of a sentence to kinds of effects."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from guardrail.language.data import data_of
from guardrail.language.lexicon import Hit, Lexicon, Token
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind

TABLE = "reading/tool_lexicon.yaml"


@record
class Meaning:
    """A verb with its object, from token `first` to before `last`. `verb` is the verb's class."""

    kind: EffectKind
    object: ObjectKind | None
    verb: str
    first: int
    last: int


@record
class _Tables:
    verbs: Lexicon
    objects: Lexicon
    kinds: dict[str, EffectKind]
    defaults: dict[str, ObjectKind]
    pairs: dict[tuple[str, ObjectKind], tuple[EffectKind, ObjectKind]]
    words: dict[str, frozenset[str]]


@cache
def _tables() -> _Tables:
    data: dict[str, Any] = data_of(TABLE)
    verbs = data["verbs"]
    words = {name: row["words"] for name, row in verbs.items()}
    nouns = {f"{name}?": row["also_nouns"] for name, row in verbs.items() if "also_nouns" in row}
    kinds = {name: EffectKind(row["kind"]) for name, row in verbs.items()}
    defaults = {name: ObjectKind(row["object"]) for name, row in verbs.items() if "object" in row}
    words_of = {name: frozenset(listed) for name, listed in data["words"].items()}
    pairs: dict[tuple[str, ObjectKind], tuple[EffectKind, ObjectKind]] = {}
    for row in data["pairs"]:
        for verb in row["verbs"]:
            for thing in map(ObjectKind, row["objects"]):
                meaning = (EffectKind(row["kind"]), ObjectKind(row.get("object", thing)))
                pairs.setdefault((verb, thing), meaning)
    return _Tables(Lexicon(words | nouns), Lexicon(data["objects"]), kinds, defaults, pairs, words_of)


def can_begin_verb(word: str) -> bool:
    """Decides whether a verb is this word or begins with it."""
    return bool(_tables().verbs.begun_by(word))


def tokens_of_name(name: str) -> tuple[Token, ...]:
    """Returns the words of a name in snake_case, camelCase or kebab-case; of `mcp__server__tool` only those of the
    tool."""
    if name.startswith("mcp__"):
        name = name.rpartition("__")[2]
    return tuple(Token(match[0].lower(), match.start(), match.end(), 0, 0) for match in PARTS_OF_NAMES.finditer(name))


PARTS_OF_NAMES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words_before_verbs() -> frozenset[str]:
    """Returns the words after which a verb can stand."""
    return _tables().words["before_verbs"]


def verbs_in(tokens: Sequence[Token]) -> list[Hit]:
    """Returns the verbs of a sentence. A word that may also be a noun counts where a verb is possible: first, after
    "to" or "you"."""
    found: list[Hit] = []
    for hit in _tables().verbs.hits(tokens):
        sure = not hit.name.endswith("?")
        verb = sure or (_verb_can_stand(tokens, hit.first) and not _names_a_thing(tokens, hit.last))
        if verb and (not found or hit.first >= found[-1].last):
            found.append(Hit(hit.name.rstrip("?"), hit.first, hit.last))
    return found


def kinds_spoken_of(tokens: Sequence[Token]) -> frozenset[EffectKind]:
    """Returns every kind of effect that a text mentions, as verb or as noun: "the reservation of a flight", "get a
    refund"."""
    tables = _tables()
    verbs = {hit.name.rstrip("?") for hit in tables.verbs.hits(tokens)}
    kinds = {tables.kinds[verb] for verb in verbs} | {_MEMBERSHIPS[verb] for verb in verbs if verb in _MEMBERSHIPS}
    things = {hit.name for hit in tables.objects.hits(tokens)}
    if things & {ObjectKind.ORDER, ObjectKind.PAYMENT}:
        kinds.add(EffectKind.PAY)
    return frozenset(kinds)


def _verb_can_stand(tokens: Sequence[Token], number: int) -> bool:
    token = tokens[number]
    return (
        number == 0
        or tokens[number - 1].clause != token.clause
        or tokens[number - 1].text in _tables().words["before_verbs"]
    )


def _names_a_thing(tokens: Sequence[Token], number: int) -> bool:
    """Decides whether the word at `number` makes a noun of the one before it: "contact data", "order form"."""
    return number < len(tokens) and tokens[number].text in _tables().words["compounds"]


def objects_in(tokens: Sequence[Token]) -> list[Hit]:
    """Returns the things that a text names, the longest phrase if several begin at one word."""
    found: list[Hit] = []
    for hit in sorted(_tables().objects.hits(tokens), key=lambda hit: (hit.first, -hit.last)):
        if not found or hit.first >= found[-1].last:
            found.append(hit)
    return found


def _takes_out(tokens: Sequence[Token], verb: Hit, place: Hit | None) -> bool:
    """Decides whether something is taken out of files that remain: "remove trailing whitespace from all files"."""
    if place is None or place.name != ObjectKind.PATH:
        return False
    words = _tables().words
    between = tokens[verb.last : place.first]
    at = next((number for number, token in enumerate(between) if token.text in words["prepositions"]), len(between))
    return any(token.text not in words["no_things"] for token in between[:at])


def _describes_text(tokens: Sequence[Token], number: int) -> bool:
    """Decides whether the words from `number` name a part of code or of a document, which the thing before them only
    describes: "the customer list component", "the antivirus section"."""
    words = _tables().words
    for token in tokens[number : number + _LONGEST_COMPOUND]:
        if token.after or token.text in words["prepositions"] or token.text in words["clauses"]:
            return False
        if token.text in words["parts_of_texts"]:
            return True
    return False


def _is_a_name_in_code(tokens: Sequence[Token], thing: Hit) -> bool:
    """Decides whether the word for a secret only names a part of code: "the variable api_key", "the field password"."""
    before = tokens[thing.first - 1].text if thing.first else ""
    return thing.name == ObjectKind.CREDENTIAL and before in _tables().words["kinds_of_names"]


def _describes_a_thing(tokens: Sequence[Token], people: Hit) -> bool:
    """Decides whether a word for people belongs to the thing after it: "dismiss the user's banner", "fire the customer
    webhook"."""
    if tokens[people.last - 1].text.endswith("'s"):
        return True
    if people.last >= len(tokens) or tokens[people.last].clause != tokens[people.last - 1].clause:
        return False
    words, following = _tables().words, tokens[people.last].text
    return not any(following in words[name] for name in ("prepositions", "clauses", "before_verbs", "after_people"))


_LONGEST_COMPOUND = 2
"""Maximum distance in words between a thing in front of a compound and its head."""

_MEMBERSHIPS = {"add": EffectKind.GRANT, "delete": EffectKind.REVOKE}
_WHAT_HAS_MEMBERS = frozenset((ObjectKind.PROJECT, ObjectKind.REPOSITORY, ObjectKind.PERMISSION))


def meaning_of(verb: Hit, thing: Hit | None, destination: Hit | None = None) -> Meaning:
    """Returns the effect of this verb on this thing. A person who is added to a team, or removed from it, gains or
    loses access."""
    tables = _tables()
    if verb.name == "rename":
        destination = None  # what follows "to" is only the new name
    named_last = thing or destination
    last = max(verb.last, named_last.last) if named_last else verb.last
    if (
        verb.name in _MEMBERSHIPS
        and destination is not None
        and ObjectKind(destination.name) in _WHAT_HAS_MEMBERS
        and (thing is None or thing.name == ObjectKind.ACCOUNT)
    ):
        return Meaning(_MEMBERSHIPS[verb.name], ObjectKind.ACCOUNT, verb.name, verb.first, last)
    if thing is None:
        reached = ObjectKind(destination.name) if destination is not None else tables.defaults.get(verb.name)
        # Putting something into an oven does not change the oven.
        kind = EffectKind.ACTUATE if reached is ObjectKind.DEVICE else tables.kinds[verb.name]
        return Meaning(kind, reached, verb.name, verb.first, last)
    named = ObjectKind(thing.name)
    kind, what = tables.pairs.get((verb.name, named), (tables.kinds[verb.name], named))
    return Meaning(kind, what, verb.name, verb.first, last)


def with_object(meaning: Meaning, thing: ObjectKind | None) -> Meaning:
    """Returns what the verb means for a thing that a pronoun stands for."""
    if thing is None:
        return meaning
    kind, what = _tables().pairs.get((meaning.verb, thing), (meaning.kind, thing))
    return replace(meaning, kind=kind, object=what)


def meanings_in_sentence(tokens: Sequence[Token]) -> list[Meaning]:
    """Returns for each verb of a text its meaning with the object before the next verb, in the same sentence."""
    verbs, things = verbs_in(tokens), objects_in(tokens)
    firsts = [thing.first for thing in things]
    meanings = []
    for number, verb in enumerate(verbs):
        end = _end_of_clause(tokens, verb, verbs[number + 1].first if number + 1 < len(verbs) else len(tokens))
        sentence = tokens[verb.first].sentence
        after = [
            thing
            for thing in things[bisect_left(firsts, verb.last) : bisect_left(firsts, end)]
            if tokens[thing.first].sentence == sentence
            and not _describes_text(tokens, thing.last)
            and not _is_a_name_in_code(tokens, thing)
            and not (verb.name == "dismiss" and _describes_a_thing(tokens, thing))
        ]
        if not after:  # "turn the firewall off"
            inside = things[bisect_left(firsts, verb.first + 1) : bisect_left(firsts, verb.last)]
            after = [thing for thing in inside if thing.last <= verb.last]
        thing, destination = _thing_and_destination(tokens, verb, after)
        meaning = meaning_of(verb, thing, destination)
        if meaning.kind is EffectKind.DELETE and thing is None and _takes_out(tokens, verb, destination):
            meaning = replace(meaning, kind=EffectKind.ALTER)
        meanings.append(meaning)
    return meanings


def _end_of_clause(tokens: Sequence[Token], verb: Hit, end: int) -> int:
    """Returns the position at which another clause begins: "reply that the meeting is over" replies, and names no
    event."""
    stops, relative = _tables().words["clauses"], _tables().words["relative_after_comma"]
    return next(
        (
            number
            for number in range(verb.last, end)
            if tokens[number].text in stops or (tokens[number].after == "," and tokens[number].text in relative)
        ),
        end,
    )


def dismisses_by_name(tokens: Sequence[Token], meaning: Meaning, text: str) -> bool:
    """Decides whether the name of a person follows a verb that dismisses: "Fire Anna", "Entlasse Herrn Huber". A
    name is one or two capitalised words at the end of their clause, or with a title, and no word for a thing."""
    words = _tables().words
    if " ".join(token.text for token in tokens[meaning.first : meaning.last]) not in words["dismisses_by_name"]:
        return False
    if meaning.first > 0 and tokens[meaning.first - 1].text in words["subjects"]:
        return False  # described, not requested: "a letter in which we fire Anna"
    at = meaning.last
    if tokens[meaning.first].text.startswith("despid") and at < len(tokens) and tokens[at].text == "a":
        at += 1  # precedes people in Spanish
    titled = at < len(tokens) and tokens[at].text in words["titles"]
    at += titled
    first = at
    while at < len(tokens) and at - first < _LONGEST_NAME and _is_a_name(text[tokens[at].start : tokens[at].end]):
        at += 1
    if at == first or (not titled and tokens[first].text in words["nouns_of_fire"]):
        return False
    if at == len(tokens) or tokens[at].clause != tokens[at - 1].clause:
        return True
    following = tokens[at].text
    return any(following in words[name] for name in ("prepositions", "after_people", "before_verbs"))


_LONGEST_NAME = 3


def _is_a_name(word: str) -> bool:
    return word[0].isupper() and word[1:].islower()


def is_negated(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether a "not" precedes the verb, in its clause and near it, or follows it as in German: "lösche die
    Datei nicht", "schalte sie nicht aus", "lösche keine Dateien"."""
    clause, words = tokens[meaning.first].clause, _tables().words
    before = range(max(0, meaning.first - _NEGATION_REACH), meaning.first)
    if any(tokens[number].clause == clause and tokens[number].text in words["negations"] for number in before):
        return True
    first = meaning.first + 1
    last = next((number for number in range(first, len(tokens)) if tokens[number].clause != clause), len(tokens))
    return any(token.text in words["negations_of_objects"] for token in tokens[first : min(first + 1, last)]) or any(
        token.text in words["negations_at_the_end"] for token in tokens[max(first, last - 2) : last]
    )


_NEGATION_REACH = 4


def is_reported(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether the verb only reports what somebody does or did: "what did I pay", "the people I invited". "Can I
    pay" asks for it."""
    words, subject = _tables().words, meaning.first - 1
    return (
        subject > 0
        and tokens[subject].text in words["subjects"]
        and tokens[subject].clause == tokens[subject - 1].clause == tokens[meaning.first].clause
        and tokens[subject - 1].text not in words["before_subjects"]
    )


def only_shows(tokens: Sequence[Token], meaning: Meaning) -> bool:
    """Decides whether the verb asks for nothing but information, unlike "get a refund" or "find me a taxi"."""
    return tokens[meaning.first].text in _tables().words["only_show"]


def meaning_of_name(tokens: Sequence[Token]) -> Meaning | None:
    """Returns the meaning of a tool's name: the first verb, and the thing after it (or before it, as in
    `calendar.create`)."""
    hits = _tables().verbs.hits(tokens)
    if not hits:
        return None
    sure = next((hit for hit in hits if not hit.name.endswith("?")), None)
    # A possible noun is a verb at the start of a name (`book_flight`), unless a verb comes last (`message.delete`).
    opens = hits[0].first == 0 and not (sure is not None and sure.last == len(tokens))
    if opens and sure is not None and sure.first == 1 and hits[0].name.rstrip("?") != "read":
        # A service's name in front, as in `drive_delete_file`; `list_deleted_files` still lists.
        opens = tokens[1].text.endswith(("ed", "ing"))
    verb = hits[0] if opens or sure is None else sure
    verb = Hit(verb.name.rstrip("?"), verb.first, verb.last)
    things = [thing for thing in objects_in(tokens) if thing.first >= verb.last or thing.last <= verb.first]
    after = [thing for thing in things if thing.first >= verb.last]
    thing, destination = _thing_and_destination(tokens, verb, after)
    return meaning_of(verb, thing or (None if destination else things[-1] if things else None), destination)


def _thing_and_destination(tokens: Sequence[Token], verb: Hit, things: Sequence[Hit]) -> tuple[Hit | None, Hit | None]:
    """Returns the thing that a verb reaches, and that after a preposition: "add Alice to the channel" names no
    thing."""
    head = _head(tokens, things)
    if head is None:
        return None, None
    if any(token.text in _tables().words["prepositions"] for token in tokens[verb.last : head.first]):
        return None, head
    return head, _head(tokens, [thing for thing in things if thing.first >= head.last])


def _head(tokens: Sequence[Token], things: Sequence[Hit]) -> Hit | None:
    """Returns the last of several adjacent things, which is the one meant ("calendar event"); one after a preposition
    is separate."""
    head: Hit | None = None
    for thing in things:
        between = tokens[head.last : thing.first] if head else ()
        if head and (
            any(token.text in _tables().words["prepositions"] for token in between)
            or tokens[thing.first].after
            or between
        ):
            break
        head = thing
    return head
