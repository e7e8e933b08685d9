"""Reads the people and organisations that a value names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.due_dates import is_denied_before
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.inline_markup import MENTION, plain
from contracts.world.extraction.mentions import person_of_handle
from contracts.world.extraction.people import CAPITAL, NAME, OWNER_WORDS, OWNERS, given_first, without_post
from contracts.world.extraction.segmentation import elements_of
from contracts.world.extraction.vocabulary import Relation, Vocabulary, singular

BETWEEN_NAMES = re.compile(
    rf"\s*(?:[;、]|,(?:\s|(?={CAPITAL}))(?!\s?(?i:inc|ltd|llc|llp|plc|gmbh|corp)\b)|\b(?:and|und)\b)\s*(?:\band\s+)?"
)
"""A separator of names. "&" and "/" are not separators, because many names of firms and products contain them."""
_SEMICOLON = re.compile(r"\s*;\s*")
_HAN_NAME = re.compile("[\u4e00-\u9fff々]{2,4}")
_BEHIND_NAME = re.compile(r"(?P<name>[^()@（）]+?)\s*(?:[(（](?P<said>[^()@（）]{1,60})[)）]\s*)+")
"""A name with a remark in brackets: "Floyd (CTO)"."""
_ADDRESS = re.compile(r"\s*[<(]?[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+[>)]?$")
_HONOURED = re.compile("(?<=[\u4e00-\u9fff々])(?:氏|さん|様)$")
_FIRM_WORD = r"[A-ZÀ-ÖØ-Þ][\w.’'-]*(?:&[A-Z][\w.’'-]*)?"
_LEGAL = r"(?i:inc|ltd|llc|llp|plc|gmbh|ag|kg|corp|co)\b\.?"
_GROUP = "(?:team|group|department|crew|squad|foundation|committee|council)"
_FIRM = re.compile(rf"{_FIRM_WORD}(?:(?: &)? {_FIRM_WORD}){{0,3}}(?:,? {_LEGAL})?(?: {_GROUP})?")
_TEAM = re.compile(rf"\b(?:{_GROUP}|{_LEGAL})$", re.IGNORECASE)
_NAMED_OWNERS = re.compile(rf"\b(?P<label>(?i:{OWNER_WORDS}))\s*(?::{{1,2}}|：)\s*(?P<names>{OWNERS})", re.MULTILINE)
"""Owners named within a sentence about the thing that they own: "(owner: Ada)"."""
_BETWEEN_OWNERS = re.compile(r"\s?[+/&]\s?|\s(?:and|und|et|y|e|en)\s")


class NamedOwners(NamedTuple):
    """The names of owners, the label before them, and the part with both."""

    label: str
    whole: Part
    names: list[Part]


def names_people(reading: Reading, part: Part) -> bool:
    """Decides whether a part consists of full names of people only."""
    names = [plain(reading.quote(piece)) for piece in elements_of(reading.text, part, BETWEEN_NAMES)]
    return bool(names) and all(
        " " in name and NAME.fullmatch(name) and party_type(reading.vocabulary, name, "Person") == "Person"
        for name in names
    )


def party_type(vocabulary: Vocabulary, name: str, expected: str) -> str | None:
    """Returns the type of a named party: Organization if that is certain, or None if the name is that of a post."""
    if vocabulary.is_post(name):
        return None
    last = singular(name.rpartition(" ")[2])
    if expected == "Person" and " " in name and vocabulary.types.get(last) == "Agent":
        return "Agent"
    is_organization = name[:1].isupper() and (_TEAM.search(name) is not None or vocabulary.is_part(name))
    return "Organization" if is_organization else expected


def named_owners(text: str, part: Part) -> Iterator[NamedOwners]:
    """Yields the owners and assignees that a part names: "(owner: Ada)". It skips former owners."""
    for owners in _NAMED_OWNERS.finditer(text, *part):
        if not is_denied_before(text, part, owners.start()):
            names = elements_of(text, Part(*owners.span("names")), _BETWEEN_OWNERS)
            yield NamedOwners(owners["label"], Part(*owners.span()), names)


def names_in(reading: Reading, part: Part, relation: Relation, label: str, *, is_one: bool) -> list[tuple[Part, str]]:
    """Returns the names of an enumeration: none if it may be either two names or one with the surname first.

    "Owner: Müller, Hans" is one name if the text names Hans Müller, and two if the label is "Owners".
    """
    pieces = elements_of(reading.text, part, _SEMICOLON)
    turned = [_given_first(reading, piece) if relation.to == "Person" else None for piece in pieces]
    spoken = [(piece, name) for piece, name in zip(pieces, turned, strict=True) if name is not None]
    if spoken and len(spoken) == len(pieces):
        if is_one or len(pieces) > 1 or re.search(rf"\b{re.escape(spoken[0][1])}\b", reading.text):
            return spoken
        if not reading.vocabulary.is_of_many(label):
            return []
    return [(piece, plain(reading.quote(piece))) for piece in elements_of(reading.text, part, BETWEEN_NAMES)]


def _given_first(reading: Reading, part: Part) -> str | None:
    name = plain(reading.quote(part))
    types = {party_type(reading.vocabulary, half, "Person") for half in name.split(", ")}
    return given_first(name) if types == {"Person"} else None


def party_of(reading: Reading, part: Part, name: str, expected: str) -> FoundNode | None:
    """Returns the person or organisation that a name denotes, or None if that is uncertain."""
    if MENTION.fullmatch(reading.quote(part)):
        return person_of_handle(reading, part)
    role = None
    if expected == "Person":
        if (behind := _BEHIND_NAME.fullmatch(_ADDRESS.sub("", name))) is not None:
            name, role = behind["name"], behind["said"] if reading.vocabulary.is_post(behind["said"]) else None
        spoken, post = without_post(_ADDRESS.sub("", name))
        name, role = _HONOURED.sub("", spoken), post or role
    node_type = party_type(reading.vocabulary, name, expected)
    form = NAME if node_type == "Person" else _FIRM
    is_name = form.fullmatch(name) is not None or (node_type == "Person" and _HAN_NAME.fullmatch(name) is not None)
    if node_type is None or not is_name or reading.vocabulary.names_nothing(name):
        return None
    if name.split()[0].lower() in reading.vocabulary.determiners:
        return None
    known = reading.person_called(name) if node_type == "Person" and " " not in name else None
    spoken = name if known is None else known.title
    party = reading.findings.refer("relation", reading.document, node_type, spoken, [reading.span(part)])
    if node_type == "Person" and role is not None:
        reading.describe(party, "role", role)
    return party
