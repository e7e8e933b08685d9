"""Reads a task in a list and the assignees named at its beginning: "@ada: order tablets", "Bo to order tablets"."""

from __future__ import annotations

import re

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.due_dates import is_state_until
from contracts.world.extraction.figures import is_figure
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.inline_markup import plain, undecorated
from contracts.world.extraction.people import CAPITAL, PARTICLE, without_post
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.prose_context import ProseContext
from contracts.world.extraction.relations import assign, assign_to_known
from contracts.world.extraction.segmentation import first_sentence

ASSIGNABLE = frozenset({"Task", "Action"})
"""Types of list entries that may begin with the person who carries them out."""
_NAME_WORD = rf"{CAPITAL}(?:[\w’'-]{{0,3}}\.|[\w’'-]*)"
_NAME_BEFORE = rf"(?:{_NAME_WORD}(?: (?:{PARTICLE} ){{0,2}}{_NAME_WORD}){{0,2}}|[\u4e00-\u9fff々]{{2,4}})"
_BETWEEN_NAMES = re.compile(r"\s?[,&/+、]\s?|\s(?:and|und|et|y|e|en)\s")
_ASSIGNED = re.compile(
    rf"(?:\*\*|__)?(?:(?P<handle>@[\w-]{{1,39}})|(?P<name>{_NAME_BEFORE}"
    rf"(?:(?:{_BETWEEN_NAMES.pattern}){_NAME_BEFORE}){{0,3}}))(?P<said>\s?\([^()\n]{{1,60}}\))?(?:\*\*|__)?"
    r"(?:(?P<colon>\s*:(?:\*\*|__)?\s+|\s*：\s*|\s+[–—-]{1,2}\s+)|\s+(?:to|will|shall)\s)"
)
"""The assignees at the beginning of a task: "@ada: order tablets", "Ada and Bo to order tablets"."""
_CAPITALS_ONLY = re.compile(rf"\b{CAPITAL}{{2,}}\b|\d")
"""A word that is unlikely to be a name, as in "README: add badges"."""
_ENUMERATED = re.compile(r"\d{1,3}\\?[.)]\s+(?=\S)")
_DOER = r"(?:[A-ZÀ-ÖØ-Þ][\w.’'-]*:?\s){0,3}?"
"""The assignee at the beginning of a task: "Paul Lang", "Paul:"."""
_NO_TASK = tuple(
    re.compile(rf"{_DOER}(?i:{form})")
    for form in (
        r"(?:(?:does|do)(?:\snot|n['’]t)\s(?:have|need)\sto|need\snot|needn['’]t|(?:no\sone|nobody)\s(?:has|needs)\sto|no\sneed\sto)\b",
        r"(?<!\w)(?:has|have)\salready\b",
        r"(?:muss|müssen|braucht|brauchen)\s(?:\S+\s){0,3}?(?:nicht|nichts|kein\w*)\b(?!.*\b(?:vergessen|versäumen)\b)",
        r"(?:hat|haben|ist)\s(?:\S+\s){0,3}?(?:schon|bereits)\b",
        r"(?:n['’](?:a|ont|as|avons)\spas\s(?:besoin|à)\b|(?:a|ont|avons)\sdéjà\b)",
        r"(?:no\s(?:tiene|tienen|tenemos)\sque|no\shace\sfalta|no\snecesitan?|ya\s(?:ha|han|hemos))\b",
        r"(?:non\s(?:deve|devono|occorre|serve)|(?:ha|hanno|abbiamo)\sgià)\b",
        r"(?:não\s(?:precisa|precisam|tem\s(?:de|que))|já\s\w+(?:ou|eu|iu|aram|eram)\b)",
        r"(?:(?:hoeft|hoeven)\s(?:\S+\s){0,3}?niet|(?:heeft|hebben)\s(?:\S+\s){0,3}?(?:al|reeds))\b",
    )
)
"""Forms of an entry about something that need not be done or is already done."""
_NOTHING_TO_DO = re.compile(rf"(?:{any_of('nothing_to_do')})\b", re.IGNORECASE)
_DOES_NOT = re.compile(
    rf"(?P<who>{CAPITAL}[\w.’'-]*(?:\s{CAPITAL}[\w.’'-]*){{0,2}})\s"
    r"(?:(?:will|can|could|shall|may|would|does|do|did|is|are)(?:\snot\b|n[’']t\b)|(?:cannot|won[’']t|can[’']t)\b"
    r"|(?:ne\s|n[’'])[^.,;:]*\b(?:pas|plus|jamais|rien)\b|(?:no|non|não)\s"
    r"|[a-zäöüß]{2,}\s(?:[^\s:;,]+\s){0,5}?(?:nicht|nie|niet|nooit)\b)"
)
"""Matches a statement that somebody does not do something: "Ian will not come", "Ian kommt am 8. Mai nicht"."""
_ATTENDS = re.compile(rf"\b(?:{any_of('attends')})\b", re.IGNORECASE)
_LONGEST_SENTENCE = 300


def add_task(context: ProseContext, rule: str, part: Part, above: FoundNode, node_type: str = "Task") -> FoundNode:
    """Adds a task or an action with the assignees named at its beginning: "@ada: order tablets".

    In "Ada: order tablets" the task is the text after the colon. It is assigned to Ada only if the text names an Ada.
    """
    reading = context.reading
    part = undecorated(reading.text, part)
    if (number := _ENUMERATED.match(reading.text, part.start, part.end)) is not None:
        part = Part(number.end(), part.end)
    match = _ASSIGNED.match(reading.text, part.start, part.end)
    if match is None or match.end() == part.end:
        return context.add_node(rule, node_type, first_sentence(reading.text, part), part, above)
    is_prefix = match["colon"] is not None and (_is_of_known(reading, match) or _may_be_name(reading, match, part))
    done = Part(match.end(), part.end) if is_prefix else part
    whole = done if match["handle"] is None else part
    node = context.add_node(rule, node_type, first_sentence(reading.text, done), whole, above)
    for name in _names_before(reading.text, match):
        if (person := reading.person_called(reading.quote(name))) is not None:
            assign(reading, node, person, name)
        else:
            assign_to_known(reading, node, name)
    if is_prefix:
        reading.describe(node, "text", reading.quote(part))
    return node


def is_assigned(reading: Reading, part: Part) -> bool:
    """Decides whether an entry in a list of tasks begins with a known person or a possible name."""
    match = _ASSIGNED.match(reading.text, part.start, part.end)
    return match is not None and (_is_of_known(reading, match) or _may_be_name(reading, match, part))


def is_no_task(reading: Reading, part: Part) -> bool:
    """Decides whether an entry in a list of tasks states that there is nothing to do, or that somebody does not do
    something, need not do it or has already done it."""
    text = plain(reading.quote(part))[:_LONGEST_SENTENCE]
    if _NOTHING_TO_DO.match(text) is not None or any(form.match(text) for form in _NO_TASK):
        return True
    if is_state_until(text) and text.split()[0].lower() not in reading.vocabulary.errands:
        return True
    does_not = _DOES_NOT.match(text)
    if does_not is None or not reading.vocabulary.denies(text):
        return False
    return reading.person_called(does_not["who"]) is not None or _ATTENDS.search(text, does_not.end("who")) is not None


def _is_of_known(reading: Reading, match: re.Match[str]) -> bool:
    names = map(reading.quote, _names_before(reading.text, match))
    return match["handle"] is not None or any(map(reading.is_person, names))


def _names_before(text: str, match: re.Match[str]) -> list[Part]:
    """Returns each name at the beginning of a task, without the title before it."""
    if match["name"] is None:
        return []
    ends = [found.span() for found in _BETWEEN_NAMES.finditer(text, *match.span("name"))]
    starts = [match.start("name"), *(end for _, end in ends)]
    names = map(Part, starts, [*(start for start, _ in ends), match.end("name")])
    return [Part(name.end - len(without_post(text[name.start : name.end])[0]), name.end) for name in names]


def _may_be_name(reading: Reading, match: re.Match[str], part: Part) -> bool:
    """Decides whether the words before the colon of a task may be a name and are not the name of a field."""
    name, task = match["name"], Part(match.end(), part.end)
    if name is None or match["colon"] is None or match["colon"].strip("*_ ") not in (":", "："):
        return False
    is_verb = name.split()[0].lower() in reading.vocabulary.errands
    is_said = is_verb or reading.vocabulary.is_field(name) or reading.vocabulary.is_rejected(name)
    is_none = reading.states_none("Task", task) or is_figure(plain(reading.quote(task)))
    is_words = reading.text[match.end() : match.end() + 1].isalpha()
    return is_words and _CAPITALS_ONLY.search(name) is None and not is_said and not is_none
