"""Decides from the surrounding words whether a day in a text is a due date. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from contracts.world.extraction.figures import DAY_WITH_YEAR, dates_in
from contracts.world.extraction.findings import Part
from contracts.world.extraction.people import CAPITAL
from contracts.world.extraction.phrases import any_of, phrases
from contracts.world.extraction.vocabulary import load_vocabulary, plain_words

CARRIED_OUT = frozenset({"Task", "Action", "Deliverable", "Assignment"})
"""Types that somebody carries out, and that can be due."""
DUE_LABELS = rf"(?:{any_of('due_label')})"
"""Words before the colon of a due date."""
DUE_WORDS = rf"(?:{any_of('due')}|{any_of('due_label')})"
"""Words before the due date of a task, in several languages."""
_NOT_BEFORE = re.compile(rf"(?:{any_of('not_before')})\b", re.IGNORECASE)
"""Those of these words that announce the first possible day in a denial: "Do not start before"."""
_DUE = re.compile(r"(?:\bdue|\bby|\buntil|\bbefore|\bdeadline)\W{0,4}$|📅\s{0,2}$", re.IGNORECASE)
"""English words before a due date, or its sign in lists of tasks."""
BEFORE_DUE_DAY = re.compile(rf"\b{DUE_WORDS}\W{{0,4}}$", re.IGNORECASE)
_SINCE = re.compile(rf"\b(?:{any_of('period_from')})\s+(?:\w+\s+)?\d[^;\n]{{0,25}}$", re.IGNORECASE)
"""The beginning of a period, whose last day is no due date."""
_NOT_LATER = re.compile(rf"\b(?:{any_of('no_later_than')})\b", re.IGNORECASE)
_UNTIL_BEFORE = re.compile(rf"\b(?:{any_of('until_due')})\W{{0,4}}$", re.IGNORECASE)
"""Those that may also end a state rather than a task: "The old pass is valid until 2026-08-08"."""
_STATE_UNTIL = re.compile(
    rf"(?!.*\b(?:zu|te)\s\w+en\b)(?:(?:{CAPITAL}[\w.’'-]*\s){{1,3}}"
    rf"|(?i:(?:{any_of('definite_article')}|our|my|unsere?|notre)\s|l['’])(?:[\w’'-]+\s){{1,3}}?)"
    rf"(?i:(?:{any_of('lasts')})\s(?!(?:{any_of('lasts_not')})\b)"
    rf"(?:\S+\s){{0,6}}?(?:{any_of('until')})(?:['’]|\b))"
)
_OF_THING = re.compile(rf"(?<=\w)\s(?:{any_of('of_thing')})\W{{0,3}}$", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:(?!\b(?:and|or|und|oder|et|ou|y|o|e|en)\b)[^,;:(–—!?\n])*")
"""Text between two days without a break or a conjunction."""
_BREAK = re.compile(r"(?P<aside>,\s|;\s|[(\[])|[.!?:。]\s|\s[–—-]{1,2}\s|[–—。\n]")
"""The end of the words that belong to "until": another clause may begin after a comma or in a bracket."""
_PARTICIPLE = re.compile(
    r"(?i:[a-z]{2,}ed)|(?:ge[a-zäöüß]{2,}|(?:be|ver|er|ent|zer|(?:ab|an|auf|aus|ein|zu)ge)[a-zäöüß]+)t"
    r"|[a-zäöüß]*ge(?!nehm|winn|nieß|stalt|hör)[a-zäöüß]{3,}en"
)
_INFINITIVE = re.compile(r"[a-zäöüß]{2,}(?:en|ern|eln)|[a-zà-ÿ]{2,}[aei]r")
"""The infinitive of a German or Portuguese verb, which may follow the day: "bis 2026-08-07 erledigen"."""
_BEHIND_UNTIL = re.compile(r"[^\s,;)\]]+(?P<words>[^,;()\[\].!?\n–—]{0,60})")
"""The words of the clause after a day or its first digits."""
_ASKING = frozenset(phrases("asking"))
_BEHIND_DAY = re.compile(
    r"[^\s,;(\[–—]+(?:\s[^\s,;(\[–—-][^\s,;(\[–—]*){0,3}?[\s,;]{0,2}"
    r"(?:[(\[](?P<said>[^()\[\]]{1,60})[)\]]|(?:(?<=[,;]\s)|[–—]\s?|(?<=\s)-\s)(?P<more>\w+(?:\s\w+){0,2})\W*(?:$|\n))"
)
"""A remark directly after a day: "2026-12-01 (cancelled)"."""
_LONGEST_BEHIND = 100
_CLAUSE_BEFORE = re.compile(r"[.!?;:。]\s|[–—。\n]|,\s(?:" + any_of("clause") + r")\s")
_REQUIRING = frozenset(phrases("requiring"))
_ENDED_VERB = re.compile(r"(?<![-\w])[a-z]{2,}ed\b")
_WORDS_BEFORE = re.compile(r"(?:[\w-]+[ \t]+|[\w-]+-){1,3}$")
_LONGEST_BEFORE = 60
_LONGEST_CLAUSE = 200
_CLAUSE_END = re.compile(r"[.!?;:。]\s|[–—。]")
_STATED_DUE = re.compile(
    rf"(?<!\w)(?:{DUE_LABELS}\s*(?::{{1,2}}|：)\s*|{DUE_WORDS}\W{{0,4}}(?={DAY_WITH_YEAR})|📅\s?)"
    r"(?P<value>[^\s,;|·、)\]][^,;|·、)\]]{0,60})",
    re.IGNORECASE,
)
_DUE_DAY = re.compile(rf"(?:\b{DUE_WORDS}\W{{0,4}})?(?P<day>{DAY_WITH_YEAR})", re.IGNORECASE)


def states_due_day(text: str, part: Part) -> bool:
    """Decides whether a part gives, after its first word, a day by which something is due: "due: Friday"."""
    return any(
        match.start() > part.start
        and not is_denied_before(text, part, match.start())
        and not load_vocabulary().names_nothing(match["value"])
        for match in _STATED_DUE.finditer(text, *part)
    )


def is_state_until(text: str) -> bool:
    """Decides whether a sentence says in which state something is until a day: "Tom is away until Monday"."""
    return _STATE_UNTIL.match(text) is not None


def first_due(text: str, days: Sequence[tuple[str, int]]) -> str | None:
    """Returns the first of the due days, each with its offset, that is not the day of a thing.

    In "Dispute the invoice due 2026-01-01 before 2026-07-01" the first day is the invoice's.
    """
    for (day, start), (_, following) in pairwise(days):
        are_of_things = [_OF_THING.search(text, max(0, end - 24), end) is not None for end in (start, following)]
        if are_of_things != [True, False] or _GOES_ON.fullmatch(text, start, following) is None:
            return day
    return days[-1][0] if days else None


def is_due(text: str, part: Part, day: int, *, is_carried_out: bool) -> bool:
    """Decides whether the day at an offset is the due date of what a part describes.

    Words that may also end a period, such as "bis", count only if somebody carries the thing out, as with a task.
    """
    if _is_called_off(text[day : min(part.end, day + _LONGEST_BEHIND)]):
        return False
    if _UNTIL_BEFORE.search(text, max(part.start, day - 14), day) and _STATE_UNTIL.match(text, part.start, day):
        return False
    until = _UNTIL_BEFORE.search(text, max(part.start, day - 14), day)
    if until is not None and _lasts(text, part, until.start(), day, is_carried_out=is_carried_out):
        return False
    if (due := _DUE.search(text, max(part.start, day - 14), day)) is not None:
        is_stated = is_carried_out or _is_to_come(text, part, due)
        return is_stated and not is_denied_before(text, part, due.start()) and not _is_earliest(text, part, due)
    due = BEFORE_DUE_DAY.search(text, max(part.start, day - 24), day) if is_carried_out else None
    if due is not None and (is_denied_before(text, part, due.start()) or _is_earliest(text, part, due)):
        return False
    return due is not None and not _SINCE.search(text, max(part.start, due.start() - 40), due.start())


def _lasts(text: str, part: Part, until: int, day: int, *, is_carried_out: bool) -> bool:
    """Decides whether a state lasts until a day, by which nothing is due: "paid until 2026-08-07".

    A task is due on the day unless the words before it indicate otherwise; in any other text they must ask for
    something.
    """
    vocabulary = load_vocabulary()
    before = text[max(part.start, until - _LONGEST_CLAUSE) : until]
    breaks = list(_BREAK.finditer(before))
    clause = before[breaks[-1].end() :] if breaks else before
    if not clause.strip() and breaks and not is_carried_out:
        clause = before[breaks[-2].end() if len(breaks) > 1 else 0 : breaks[-1].start()]
    words = plain_words(clause).split()
    if not words:
        return False
    if not vocabulary.past.isdisjoint(words) or words[-1] in vocabulary.lasting:
        return True
    if not _ASKING.isdisjoint(words):
        return False
    is_ended = _PARTICIPLE.fullmatch(clause.split()[-1]) is not None or words[-1] in vocabulary.past_verbs
    if is_ended:
        return True
    around = vocabulary.denying | vocabulary.between | vocabulary.determiners
    is_period = words[-1] in vocabulary.periods and all(word in vocabulary.periods | around for word in words)
    is_aside = bool(breaks) and breaks[-1]["aside"] is not None
    return (is_period or is_aside or not is_carried_out) and not _asks(clause, text[day : part.end])


def _asks(clause: str, behind: str) -> bool:
    """Decides whether the words before "until", or those after its day, ask for an action: "mow the lawn"."""
    vocabulary = load_vocabulary()
    words = plain_words(clause).split()
    while words and words[0] in {"and", "then", "now", "und", "dann", "jetzt", "e", "to"}:
        words.pop(0)
    if not words or words[0] in vocabulary.errands | _REQUIRING or words[-1] in _REQUIRING:
        return True
    follows = _BEHIND_UNTIL.match(behind)
    verbs = [clause.split()[0], clause.split()[-1], *(follows["words"].split()[-1:] if follows else ())]
    if any(_INFINITIVE.fullmatch(verb) and _PARTICIPLE.fullmatch(verb) is None for verb in verbs):
        return True
    is_verb = len(words) > 2 and words[0] not in vocabulary.openers | vocabulary.determiners
    return is_verb and words[1] in vocabulary.determiners | vocabulary.between


def _is_earliest(text: str, part: Part, due: re.Match[str]) -> bool:
    """Decides whether a day is the first possible one: "Do not start before 2026-05-01"."""
    if _NOT_BEFORE.match(due[0]) is None:
        return False
    before = text[max(part.start, due.start() - _LONGEST_CLAUSE) : due.start()]
    return load_vocabulary().denies(_CLAUSE_END.split(before)[-1])


def _is_to_come(text: str, part: Part, due: re.Match[str]) -> bool:
    """Decides whether a clause is about the future and denies nothing. "She sang until ..." is not."""
    vocabulary = load_vocabulary()
    before = text[max(part.start, due.start() - _LONGEST_CLAUSE) : due.start()]
    clause = _CLAUSE_BEFORE.split(before)[-1]
    if vocabulary.denies(clause):
        return False
    words = frozenset(plain_words(clause).split())
    if not words.isdisjoint(_REQUIRING):
        return True
    is_until = due[0].lower().startswith("until")
    is_over = not words.isdisjoint(vocabulary.past | {"had"})
    return not is_over and not (
        is_until and (_ENDED_VERB.search(clause) or not words.isdisjoint(vocabulary.past_verbs))
    )


def is_denied_before(text: str, part: Part, offset: int) -> bool:
    """Decides whether the word before an offset denies, ends or weakens the word at it: "old deadline"."""
    vocabulary = load_vocabulary()
    before = _WORDS_BEFORE.search(text, max(part.start, offset - _LONGEST_BEFORE), offset)
    words = plain_words(before[0]).split() if before is not None else []
    while words and words[-1] in vocabulary.between | {"due"}:
        words.pop()
    return bool(words) and (words[-1] in vocabulary.denying or words[-1] in vocabulary.past)


def due_day_of(text: str, part: Part) -> str | None:
    """Returns the day in a value of "Deadline", or None if it is no due date: "none since 2026-10-01"."""
    days = list(dates_in(text, part))
    is_one = len(days) == 1 and _is_stated_day(text[part.start : part.end], days[0][1] - part.start)
    return days[0][0] if is_one else None


def _is_stated_day(value: str, day: int) -> bool:
    before = _NOT_LATER.sub("", value[:day])
    words = frozenset(plain_words(before).split())
    vocabulary = load_vocabulary()
    no_day = vocabulary.negations | vocabulary.refusing | vocabulary.nothing | vocabulary.past | vocabulary.since
    return words.isdisjoint(no_day) and not _is_called_off(value[day:])


def _is_called_off(behind: str) -> bool:
    """Decides whether the text from a day on has a remark that cancels or moves it: "(cancelled)"."""
    match = _BEHIND_DAY.match(behind)
    words = frozenset(plain_words(match["said"] or match["more"]).split()) if match is not None else frozenset()
    vocabulary = load_vocabulary()
    return not words.isdisjoint(vocabulary.rejecting | vocabulary.moved)


def without_days(text: str) -> str:
    """Returns a text without its dates, and without the words that make them due dates."""
    kept: list[str] = []
    start = 0
    for match in _DUE_DAY.finditer(text):
        if any(dates_in(text, Part(*match.span("day")))):
            kept.append(text[start : match.start()])
            start = match.end()
    return "".join([*kept, text[start:]])
