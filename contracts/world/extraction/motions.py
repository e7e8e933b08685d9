"""Decides whether an entry only reports a motion that failed, that was voted down, or that somebody opposed. Pure."""

from __future__ import annotations

import re

from contracts.world.extraction.people import CAPITAL
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.vocabulary import load_vocabulary

_PROPOSAL = re.compile(rf"\b(?:{any_of('proposal')})\b|動議|提案", re.IGNORECASE)
_NOT_CARRIED = re.compile(rf"\b(?:{any_of('not_carried')})\b|否決", re.IGNORECASE)
_DECIDED_AGAINST = re.compile(rf"[^:;]*\b(?:{any_of('remains')})\s(?:{any_of('not_carried')})\b", re.IGNORECASE)
"""Matches a sentence that reports a decision against something: "The motion of Bo was rejected"."""
_CARRIED = re.compile(rf"\b(?:{any_of('carried')})\b|可決", re.IGNORECASE)
_SUBJECT = rf"(?P<who>{CAPITAL}[\w.’'-]*(?:\s(?:and|und|et|y|e|en|{CAPITAL}[\w.’'-]*)){{0,5}})"
_OPPOSED = re.compile(rf"{_SUBJECT}\s(?:also\s)?(?i:{any_of('opposes')})\b|[^。]{{1,20}}(?:反対した|棄権した)")
"""Matches an entry about what one member did: "Zara disagreed", "Ian moved that we buy a tent"."""
_VOTES = r"(?:votes?\s|stimmen?\s|voix\s|votos?\s|voti\s|stemmen\s)?"
_FOR, _AGAINST = (
    re.compile(
        rf"(?<!\w)(?:(?P<before>\d{{1,4}})\s{_VOTES}(?:{words})\b|(?:{words})\s?:\s?(?P<behind>\d{{1,4}})\b)", re.I
    )
    for words in (any_of("vote_for"), any_of("vote_against"))
)


def is_not_carried(text: str) -> bool:
    """Decides whether an entry in a list of decisions reports a motion that was not carried, or one member's opinion.

    "Zara disagreed" and "Motion to buy a tent failed" do. "The board opposed the merger" and "The motion was rejected"
    may be decisions.
    """
    votes, against = _votes(_FOR, text), _votes(_AGAINST, text)
    if votes is not None and against is not None:
        return votes <= against
    is_lost = _NOT_CARRIED.search(text) is not None and _DECIDED_AGAINST.match(text) is None
    if _CARRIED.search(_NOT_CARRIED.sub("", text)) is not None:
        return False
    if is_lost and _PROPOSAL.search(text) is not None:
        return True
    opposed = _OPPOSED.match(text)
    return opposed is not None and (opposed["who"] is None or _is_one_of_many(opposed["who"]))


def _is_one_of_many(name: str) -> bool:
    """Decides whether a name may be that of one person, who decides nothing for the others."""
    vocabulary = load_vocabulary()
    first = name.split()[0].lower()
    return first not in vocabulary.openers and first not in vocabulary.determiners and not vocabulary.is_part(name)


def _votes(side: re.Pattern[str], text: str) -> int | None:
    counts = [int(match["before"] or match["behind"]) for match in side.finditer(text)]
    return sum(counts) if counts else None
