"""Extracts nodes and relations from the objects, lists and fields of a JSON or YAML text.

JSON parsers return no offsets, so a YAML parser composes the same text a second time, and its marks give the spans.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import yaml

from contracts.errors import BodyInvalid
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.findings import FoundNode, Part, clean_title
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.parties import party_type
from contracts.world.extraction.passages import keep
from contracts.world.extraction.predicates import End
from contracts.world.extraction.relations import describe_field, relate
from contracts.world.extraction.segmentation import first_sentence
from contracts.world.extraction.triples import Columns, columns_of, read_triple
from contracts.world.extraction.vocabulary import singular
from contracts.world.extraction.yaml_texts import Composed

_UNLIKE_YAML = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_objects(reading: Reading, value: Any, title: str | None) -> None:
    """Reads a JSON text; `value` is its value from a strict parser."""
    try:
        tree = yaml.compose(_as_yaml(reading.text), Loader=_Loader)
    except yaml.YAMLError:
        raise BodyInvalid(f"A key of {reading.document} is longer than 1,024 characters.") from None
    is_thing = isinstance(value, dict) and _columns(reading, value) is None
    own = _own_name(reading, value) if is_thing else None
    reading.begin(title or own or reading.document, _part(tree))
    _Objects(reading).read(tree, value, reading.root, None)


def read_yaml(reading: Reading, documents: Sequence[Composed], title: str | None) -> None:
    """Reads a whole YAML text, given its composed documents."""
    values = [document.value for document in documents if isinstance(document.value, dict)]
    own = _own_name(reading, values[0]) if len(values) == 1 and _columns(reading, values[0]) is None else None
    reading.begin(title or own or reading.document, Part(0, len(reading.text)).trimmed(reading.text))
    if not documents:
        whole = Part(0, len(reading.text))
        keep(reading, whole, reading.root, None, stated_from=whole.end)
    read_members(reading, documents)


def read_members(reading: Reading, documents: Sequence[Composed]) -> None:
    """Reads the members of YAML objects as statements about the document that contains them."""
    for document in documents:
        _Objects(reading).read(document.tree, document.value, reading.root, None)


class _Objects:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._people: set[str] = set()
        """The ids of the people who have an object."""

    def read(self, tree: Any, value: Any, node: FoundNode, key: str | None) -> None:
        """Reads the members of an object or list as statements about `node`. `key` is the field that contains it."""
        if isinstance(value, dict):
            if not self._state(tree, value, node):
                self._fields(tree, value, node)
        elif isinstance(value, list):
            for inner, member in zip(tree.value, value, strict=True):
                self._element(inner, member, node, key)

    def _fields(self, tree: Any, value: dict[str, Any], node: FoundNode) -> None:
        columns = columns_of(self._reading.vocabulary, _words(value))
        for number, ((label, inner), (name, member)) in enumerate(zip(tree.value, value.items(), strict=True)):
            if member is not None:
                self._reading.read_as("key", _part(label))
            is_end = columns is not None and number in (columns.subject, columns.object)
            self._field(name, inner, member, node, is_end=is_end)

    def _state(self, tree: Any, value: dict[str, Any], within: FoundNode) -> bool:
        """Reads an object that consists of a subject, a predicate and an object, and returns whether it does."""
        reading = self._reading
        columns = _columns(reading, value)
        if columns is None:
            return False
        names = list(value)
        members = [
            None
            if member is None
            else self._end(inner, member, within, is_end=number in (columns.subject, columns.object))
            for number, ((_, inner), member) in enumerate(zip(tree.value, value.values(), strict=True))
        ]
        ordered = dict.fromkeys((columns.subject, columns.predicate, columns.object, *range(len(names))))
        texts = (members[number] for number in ordered if number is not None)
        spelt = " ".join(end.name for end in texts if end is not None)
        read_triple(reading, columns, [_spaced(name) for name in names], members, _part(tree), within, spelt)
        return True

    def _end(self, tree: Any, value: Any, within: FoundNode, *, is_end: bool) -> End:
        """Returns a member of a statement. An end that is an object with a name is a node."""
        part = _inner(tree) if isinstance(value, str) else _part(tree)
        if isinstance(value, dict) and is_end and (name := _own_name(self._reading, value)) is not None:
            return End(part, name, self._added(tree, value, within, name, None))
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return End(part, text.strip())

    def _field(self, key: str, tree: Any, value: Any, node: FoundNode, *, is_end: bool) -> None:
        """Reads a member of an object. A text at one end of a relation, as under "source" and "target", has no type."""
        reading, words = self._reading, _spaced(key)
        if isinstance(value, dict | list):
            named_type = reading.vocabulary.type_of(words)
            if isinstance(value, dict) and self._add_object(tree, value, node, named_type):
                return
            self.read(tree, value, node, words)
        elif isinstance(value, str):
            self._text(tree, value, node, words, is_end=is_end)
        elif value is not None and not isinstance(value, bool) and singular(words) in reading.vocabulary.numbers:
            reading.name(node, str(value))
            reading.describe(node, "number", str(value))
        elif value is not None and not isinstance(value, bool):
            reading.describe(node, words, str(value))
        elif value is not None:
            reading.describe(node, words, "true" if value else "false")

    def _text(self, tree: Any, value: str, node: FoundNode, words: str, *, is_end: bool) -> None:
        reading, vocabulary, part = self._reading, self._reading.vocabulary, _inner(tree)
        word = singular(words)
        relation, named_type = vocabulary.relation_of(words), None if is_end else vocabulary.type_of(words)
        if named_type == "Person":
            relation = relation or vocabulary.relations["attendee"]
        if clean_title(value) == node.title and (word in vocabulary.names or named_type == node.type):
            reading.read_as("key", part)
            return
        if word in vocabulary.numbers:
            reading.name(node, value)
            reading.describe(node, "number", value)
        elif relation is not None:
            relate(reading, node, relation, words, part, self._unescaped(part, value))
        elif named_type is not None and part.start < part.end and not reading.states_none(named_type, part):
            self._add_node(named_type, words, part, value, node)
        elif word not in vocabulary.type_words:
            describe_field(reading, node, words, value) or keep(
                reading, part, node, words, self._unescaped(part, value)
            )
        scan(reading, node, part)

    def _element(self, tree: Any, value: Any, node: FoundNode, key: str | None) -> None:
        reading, vocabulary = self._reading, self._reading.vocabulary
        named_type = vocabulary.type_of_each(key or "")
        if isinstance(value, dict):
            if not self._add_object(tree, value, node, named_type) and not self._state(tree, value, node):
                self._unnamed(tree, value, node)
        elif isinstance(value, list):
            self.read(tree, value, node, key)
        elif isinstance(value, str) and value.strip():
            part = _inner(tree)
            relation = vocabulary.relation_of(key or "")
            if named_type == "Person":
                relation = relation or vocabulary.relations["attendee"]
            if relation is not None and key is not None:
                relate(reading, node, relation, key, part, self._unescaped(part, value), is_one=True)
            elif named_type is not None and not reading.states_none(named_type, part):
                scan(reading, self._add_node(named_type, key or "", part, value, node), part)
            else:
                keep(reading, part, node, key, self._unescaped(part, value))

    def _unnamed(self, tree: Any, value: dict[str, Any], within: FoundNode) -> None:
        """Reads an element of a list that has no name. A key with the word for a type names it: {"task": "Paint"}.

        Otherwise its fields describe nothing that the text names, and its texts are stored as passages.
        """
        reading, vocabulary = self._reading, self._reading.vocabulary
        typed = next(
            (
                (key, member)
                for key, member in value.items()
                if isinstance(member, str)
                and _word(key) in vocabulary.types
                and vocabulary.relation_of(_spaced(key)) is None
            ),
            None,
        )
        if typed is not None and typed[1].strip():
            self._added(tree, value, within, typed[1], vocabulary.type_of(_spaced(typed[0])))
            return
        for (_, inner), (key, member) in zip(tree.value, value.items(), strict=True):
            if isinstance(member, dict | list):
                self._field(key, inner, member, within, is_end=False)
            elif isinstance(member, str) and member.strip():
                part = _inner(inner)
                keep(reading, part, within, _spaced(key), self._unescaped(part, member))

    def _add_node(self, node_type: str, label: str, part: Part, value: str, within: FoundNode) -> FoundNode:
        reading = self._reading
        sentence = first_sentence(reading.text, part)
        return reading.add_labelled("key", node_type, label, sentence, within, self._unescaped(part, value))

    def _unescaped(self, part: Part, value: str) -> str | None:
        """Returns the value of a string if it is written with escapes or over several lines, otherwise None."""
        return value if self._reading.quote(part) != value else None

    def _add_object(self, tree: Any, value: dict[str, Any], within: FoundNode, named_type: str | None) -> bool:
        """Adds a node for an object that has a name, and reads its fields. Returns False if it has no name."""
        name = _own_name(self._reading, value)
        if name is None or _columns(self._reading, value) is not None:
            return False
        if self._type_of(value, named_type) == "Decision" and self._is_open(tree, value):
            keep(self._reading, _part(tree), within, None, name, stated_from=_part(tree).end)
            return True
        self._added(tree, value, within, name, named_type)
        return True

    def _is_open(self, tree: Any, value: dict[str, Any]) -> bool:
        """Decides whether the state of an object shows that nothing is decided."""
        reading = self._reading
        return any(
            isinstance(member, str)
            and _word(key) in reading.vocabulary.states
            and reading.states_none("Decision", _inner(inner))
            for (_, inner), (key, member) in zip(tree.value, value.items(), strict=True)
        )

    def _type_of(self, value: dict[str, Any], named_type: str | None) -> str:
        vocabulary = self._reading.vocabulary
        stated_type = next((v for k, v in value.items() if _word(k) in vocabulary.type_words), None)
        own_type = vocabulary.type_of(_spaced(stated_type)) if isinstance(stated_type, str) else None
        return own_type or named_type or "Concept"

    def _added(
        self, tree: Any, value: dict[str, Any], within: FoundNode, name: str, named_type: str | None
    ) -> FoundNode:
        reading, vocabulary = self._reading, self._reading.vocabulary
        part = next(
            _inner(inner) for (_, inner), member in zip(tree.value, value.values(), strict=True) if member == name
        )
        node_type = self._type_of(value, named_type)
        if node_type == "Person":
            node_type = party_type(vocabulary, name, "Person") or "Concept"
        node = self._person(name, part, within) if node_type == "Person" else None
        node = node or reading.add("key", node_type, part, within, title=name)
        self._fields(tree, value, node)
        return node

    def _person(self, name: str, part: Part, within: FoundNode) -> FoundNode | None:
        """Returns the person of a name, whom other fields may name too, or None if another object has this name."""
        reading = self._reading
        person = reading.findings.refer("key", reading.document, "Person", name, [reading.span(part)])
        if person.id in self._people:
            return None
        self._people.add(person.id)
        reading.findings.tie("key", person, within, "PART_OF", reading.span(part))
        reading.name(person, person.title)
        return person


def _as_yaml(text: str) -> str:
    """Returns a text of the same length that a YAML parser accepts whenever it is JSON."""
    return yaml.reader.Reader.NON_PRINTABLE.sub("x", _UNLIKE_YAML.sub(r"\\u0041", text.replace("\t", " ")))


def _own_name(reading: Reading, value: dict[str, Any]) -> str | None:
    """Returns the text under the first of the keys that name an object, or None."""
    by_word = {_word(key): text for key, text in value.items() if isinstance(text, str) and text.strip()}
    return next((by_word[name] for name in reading.vocabulary.names if name in by_word), None)


def _columns(reading: Reading, value: dict[str, Any]) -> Columns | None:
    """Returns the keys of an object that is a statement rather than a thing, or None."""
    columns = columns_of(reading.vocabulary, _words(value))
    if columns is None or not columns.are_statements:
        return None
    ends = (columns.subject, columns.object)
    inner = (member for number, member in enumerate(value.values()) if number not in ends)
    return None if any(isinstance(member, dict | list) for member in inner) else columns


def _words(value: dict[str, Any]) -> list[str]:
    return list(map(_word, value))


@lru_cache(maxsize=1_024)
def _word(key: str) -> str:
    return singular(_spaced(key))


def _spaced(key: str) -> str:
    """Returns a camelCase or snake_case key as words."""
    spaced = "".join(f" {c}" if c.isupper() and i and key[i - 1].islower() else c for i, c in enumerate(key))
    return spaced.replace("_", " ")


def _part(tree: Any) -> Part:
    return Part(tree.start_mark.index, tree.end_mark.index)


def _inner(tree: Any) -> Part:
    """Returns the part of a string without its quotes."""
    quote = 1 if tree.style in ("'", '"') else 0
    return Part(tree.start_mark.index + quote, tree.end_mark.index - quote)
