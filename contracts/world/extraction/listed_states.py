"""Recognises words before or after a list entry that give its state: "Done: paint", "Dig - cancelled". Pure."""

from __future__ import annotations

import re
from typing import Literal

from contracts.world.extraction.due_dates import CARRIED_OUT
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.vocabulary import NOTHING, Announced, Vocabulary, plain_words

ListedState = Literal["off", "later", "done", "stated"]
"""The state of an entry: it does not apply, it is postponed, it is finished, or it is stated as any other."""
_QUALITIES = frozenset(
    {"needed", "required", "upcoming", "future", "missing", "next", "possible", "potential", "to make", "to take"}
)
"""Words of headings for decisions not made, which in an entry describe a thing: "Helmets (required)"."""
_PURSUED = CARRIED_OUT | {"Goal"}
_UNNEEDED = re.compile(rf"(?:{any_of('unneeded')})")
_OVER = re.compile(rf"(?:{any_of('over')})")
_FINISHED = re.compile(rf"(?:{any_of('finished')})")
_CARRIED = re.compile(rf"(?:{any_of('unanimous')}|{any_of('carried')}|{any_of('decided')})", re.IGNORECASE)
_PROPOSED = re.compile(rf"(?:{any_of('proposed')})")
_MADE = re.compile(rf"(?:{any_of('made')})")
_RANK = re.compile(rf"(?:{any_of('rank')}|q[1-4](?: \d{{4}})?|\d{{4}}|p[0-4])")
_OPEN = re.compile(rf"(?:{any_of('board_open')})")
_DOING = re.compile(rf"(?:{any_of('board_doing')})")
_LONGEST_REMARK = 60
_BEHIND = re.compile(r"(?:\s[–—-]{1,2}\s|\s?[(\[])(?P<words>[^()\[\]–—:;,]{2,30}?)[)\]]?\W*$")
"""A remark at the end of an entry: "Dig - cancelled", "Flood (resolved)"."""


def state_before(vocabulary: Vocabulary, node_type: str, label: str) -> ListedState | None:
    """Returns the state that the label of an entry gives, or None if the label names or describes something."""
    words = plain_words(label)
    if vocabulary.is_rejected(label) or _UNNEEDED.fullmatch(words):
        return "off"
    if node_type == "Risk" and _OVER.fullmatch(words):
        return "off"
    if node_type in _PURSUED and (words in vocabulary.finished or _FINISHED.fullmatch(words)):
        return "done"
    if node_type in _PURSUED and words in vocabulary.moved:
        return "later"
    if node_type == "Decision" and (words in vocabulary.undecided - _QUALITIES or _PROPOSED.fullmatch(words)):
        return "off"
    if node_type == "Decision" and _CARRIED.fullmatch(words):
        return "stated"
    return None


def state_behind(vocabulary: Vocabulary, node_type: str, entry: str) -> ListedState | None:
    """Returns the state that a remark at the end of an entry gives, or None."""
    remark = _BEHIND.search(entry[-_LONGEST_REMARK:])
    return None if remark is None else state_before(vocabulary, node_type, remark["words"])


def state_of_tasks(vocabulary: Vocabulary, heading: str) -> str | None:
    """Returns the state of the tasks below a heading or column that consists of a state only: "Done", "In progress".

    Open tasks have the state "open", finished ones "done" and cancelled ones "cancelled"; any other state is in the
    words of the text.
    """
    words = plain_words(heading)
    if _OPEN.fullmatch(words):
        return "open"
    if words in vocabulary.finished or _FINISHED.fullmatch(words):
        return "done"
    if words in vocabulary.rejecting or _UNNEEDED.fullmatch(words):
        return "cancelled"
    return words if _DOING.fullmatch(words) or words in vocabulary.moved else None


def announced_by_state(vocabulary: Vocabulary, listed: Announced, heading: str) -> Announced | None:
    """Returns the announcement of a heading that only divides a list by the state or rank of its entries: "Done".

    `listed` is the announcement of the list. Returns `NOTHING` if the entries below the heading state nothing.
    """
    words = plain_words(heading)
    is_over = listed.type == "Risk" and _OVER.fullmatch(words)
    is_open = listed.type == "Decision" and (words in vocabulary.undecided or _PROPOSED.fullmatch(words))
    if is_over or is_open:
        return NOTHING
    state = state_of_tasks(vocabulary, heading) if listed.type in _PURSUED else None
    if state == "cancelled":
        return NOTHING
    if state is not None:
        return Announced(listed.type, many=True, state=None if state == "open" else state)
    is_made = listed.type == "Decision" and (_CARRIED.fullmatch(words) or _MADE.fullmatch(words))
    return Announced(listed.type, many=True) if is_made or _RANK.fullmatch(words) else None
