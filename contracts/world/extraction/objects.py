"""Extracts nodes and relations from the objects, lists and fields of a JSON text.

JSON parsers return no offsets, so a YAML parser composes the same text a second time, and its marks give the spans.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from contracts.errors import BodyInvalid
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.findings import FoundNode, Part, clean_title
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.parties import party_type
from contracts.world.extraction.passages import keep
from contracts.world.extraction.relations import describe_field, relate
from contracts.world.extraction.segmentation import first_sentence
from contracts.world.extraction.vocabulary import singular

_UNLIKE_YAML = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_objects(reading: Reading, value: Any, title: str | None) -> None:
    """Reads a JSON text; `value` is its value from a strict parser."""
    try:
        tree = yaml.compose(_as_yaml(reading.text), Loader=_Loader)
    except yaml.YAMLError:
        raise BodyInvalid(f"A key of {reading.document} is longer than 1,024 characters.") from None
    own = _own_name(reading, value) if isinstance(value, dict) else None
    reading.begin(title or own or reading.document, _part(tree))
    _Objects(reading).read(tree, value, reading.root, None)


class _Objects:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def read(self, tree: Any, value: Any, node: FoundNode, key: str | None) -> None:
        """Reads the members of an object or list as statements about `node`. `key` is the field that contains it."""
        if isinstance(value, dict):
            for (_, inner), (name, member) in zip(tree.value, value.items(), strict=True):
                self._field(name, inner, member, node)
        elif isinstance(value, list):
            for inner, member in zip(tree.value, value, strict=True):
                self._element(inner, member, node, key)

    def _field(self, key: str, tree: Any, value: Any, node: FoundNode) -> None:
        reading, words = self._reading, _spaced(key)
        if isinstance(value, dict | list):
            named_type = reading.vocabulary.type_of(words)
            if isinstance(value, dict) and self._add_object(tree, value, node, named_type):
                return
            self.read(tree, value, node, words)
        elif isinstance(value, str):
            self._text(tree, value, node, words)
        elif value is not None and not isinstance(value, bool):
            reading.describe(node, words, str(value))
        elif value is not None:
            reading.describe(node, words, "true" if value else "false")

    def _text(self, tree: Any, value: str, node: FoundNode, words: str) -> None:
        reading, vocabulary, part = self._reading, self._reading.vocabulary, _inner(tree)
        word = singular(words)
        relation, named_type = vocabulary.relation_of(words), vocabulary.type_of(words)
        if named_type == "Person":
            relation = relation or vocabulary.relations["attendee"]
        if word in vocabulary.names and clean_title(value) == node.title:
            return
        if word in vocabulary.numbers:
            reading.name(node, value)
            reading.describe(node, "number", value)
        elif relation is not None:
            relate(reading, node, relation, words, part, self._unescaped(part, value))
        elif named_type is not None and part.start < part.end and not reading.states_none(named_type, part):
            self._add_node(named_type, words, part, value, node)
        elif word not in vocabulary.type_words:
            describe_field(reading, node, words, value)
        scan(reading, node, part)

    def _element(self, tree: Any, value: Any, node: FoundNode, key: str | None) -> None:
        reading, vocabulary = self._reading, self._reading.vocabulary
        named_type = vocabulary.type_of_each(key or "")
        if isinstance(value, dict):
            if not self._add_object(tree, value, node, named_type):
                self.read(tree, value, node, key)
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

    def _add_node(self, node_type: str, label: str, part: Part, value: str, within: FoundNode) -> FoundNode:
        reading = self._reading
        sentence = first_sentence(reading.text, part)
        return reading.add_labelled("key", node_type, label, sentence, within, self._unescaped(part, value))

    def _unescaped(self, part: Part, value: str) -> str | None:
        """Returns the value of a string if it is written with escapes, otherwise None."""
        return value if "\\" in self._reading.quote(part) else None

    def _add_object(self, tree: Any, value: dict[str, Any], within: FoundNode, named_type: str | None) -> bool:
        """Adds a node for an object that has a name, and reads its fields. Returns False if it has no name."""
        reading, vocabulary = self._reading, self._reading.vocabulary
        name = _own_name(reading, value)
        if name is None:
            return False
        stated_type = next((v for k, v in value.items() if singular(_spaced(k)) in vocabulary.type_words), None)
        own_type = vocabulary.type_of(_spaced(stated_type)) if isinstance(stated_type, str) else None
        part = next(
            _inner(inner) for (_, inner), member in zip(tree.value, value.values(), strict=True) if member == name
        )
        node_type = own_type or named_type or "Concept"
        if node_type == "Person":
            node_type = party_type(vocabulary, name, "Person") or "Concept"
        node = reading.add("key", node_type, part, within, title=name)
        for (_, inner), (field, member) in zip(tree.value, value.items(), strict=True):
            self._field(field, inner, member, node)
        return True


def _as_yaml(text: str) -> str:
    """Returns a text of the same length that a YAML parser accepts whenever it is JSON."""
    return yaml.reader.Reader.NON_PRINTABLE.sub("x", _UNLIKE_YAML.sub(r"\\u0041", text.replace("\t", " ")))


def _own_name(reading: Reading, value: dict[str, Any]) -> str | None:
    """Returns the text under the first of the keys that name an object, or None."""
    by_word = {singular(_spaced(key)): text for key, text in value.items() if isinstance(text, str) and text.strip()}
    return next((by_word[name] for name in reading.vocabulary.names if name in by_word), None)


def _spaced(key: str) -> str:
    """Returns a camelCase or snake_case key as words."""
    spaced = "".join(f" {c}" if c.isupper() and i and key[i - 1].islower() else c for i, c in enumerate(key))
    return spaced.replace("_", " ")


def _part(tree: Any) -> Part:
    return Part(tree.start_mark.index, tree.end_mark.index)


def _inner(tree: Any) -> Part:
    """Returns the part of a string without its quotes."""
    return Part(tree.start_mark.index + 1, tree.end_mark.index - 1)
