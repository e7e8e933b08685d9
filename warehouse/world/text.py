"""Converts nodes and searches to the words that are compared, for the snapshot's index, the overlay and the past alike.

The values of properties are searched, but neither their names nor the place where a text was read. A node also has the
words of its edges: their types and texts, and the titles of its aliases. Only edges of its own owner count, or public
ones for a public node, and both ends must be live, so a node has the same words for everybody who sees it. Edges don't
describe a hub, so a node with very many edges does not have their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from rapidfuzz.distance import OSA

from contracts.world.records import Edge, Node
from warehouse.world.language import (
    LANGUAGES,
    content_words,
    folded,
    languages_of,
    languages_of_text,
    remembering,
    split_words,
    stems,
)

ORIGIN = ("spans", "rule")
"""Properties that record where a node was read from a document, and by which rule."""

SHORTEST_PREFIX = 3
CHANGING_LETTERS = 2
"""Number of letters at the end of a stem in which its words may differ: "happi" is the stem of "happy"."""

SHORTEST_MISTYPED = 5
"""Minimum length of a word that is found even if one letter is wrong."""


_WORDS_REMEMBERED = 50_000
_LANGUAGES_REMEMBERED = 20
"""Maximum number of languages, or combinations that tie, whose word forms are cached."""

_NONE: frozenset[str] = frozenset()

MOST_EDGES = 2_000
"""Number of edges of one owner at a node above which none of them counts for its words."""

ALIAS_OF = "ALIAS_OF"


DOUBTFUL_AT_MOST = 8
"""Maximum number of words per search for which similar ones are sought if no node has them."""

NEAR_LETTERS = 2
NEAR_WORDS_AT_MOST = 10


class EdgeWords(msgspec.Struct, frozen=True, gc=False):
    """Words of a node's edges: as written, and the same with their stems."""

    written: frozenset[str]
    forms: frozenset[str]


class NodeWords(msgspec.Struct, frozen=True, gc=False):
    """The words of a node: all as written, in order and folded; the same with the stems of its content words; those of
    its title; and words that only its edges have."""

    written: tuple[str, ...]
    forms: frozenset[str]
    title: frozenset[str]
    edges_written: frozenset[str] = frozenset()
    edges: frozenset[str] = frozenset()

    @property
    def length(self) -> int:
        """Returns the number of words."""
        return len(self.written)


def words_of(node: Node) -> NodeWords:
    """Returns the words of a node."""
    return words_of_text(node.title, node.properties)


def words_of_text(title: str, properties: Mapping[str, Any]) -> NodeWords:
    """Returns the words of a title and of every value in the properties."""
    text = "\n".join(_values(_told(properties)))
    in_title, below = split_words(title), split_words(text)
    words = [*in_title, *below]
    forms_of = _forms_in(languages_of_text(words))
    of_title = _NONE.union(*map(forms_of, in_title))
    written = words if title.isascii() and text.isascii() else map(folded, words)
    return NodeWords(tuple(written), of_title.union(*map(forms_of, below)), of_title)


@lru_cache(_LANGUAGES_REMEMBERED)
def _forms_in(languages: tuple[str, ...]) -> Callable[[str], frozenset[str]]:
    """Returns a function that maps a word in a text of these languages to its forms: the word as written and folded,
    and its stems unless it is a function word."""

    @remembering(_WORDS_REMEMBERED)
    def forms(word: str) -> frozenset[str]:
        written = frozenset((folded(word),))
        return written | stems(word, languages) if content_words((word,), languages) else written

    return forms


def _told(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns properties without those that record where a text was read."""
    if "spans" not in properties:
        return properties
    return {name: value for name, value in properties.items() if name not in ORIGIN}


def with_edges(words: NodeWords, of_edges: Iterable[EdgeWords]) -> NodeWords:
    """Returns the words of a node with those of its edges."""
    written: set[str] = set()
    forms: set[str] = set()
    for edge in of_edges:
        written |= edge.written
        forms |= edge.forms
    return NodeWords(
        words.written,
        words.forms,
        words.title,
        frozenset(written.difference(words.written)),
        frozenset(forms - words.forms),
    )


def words_of_edge(edge: Edge) -> EdgeWords:
    """Returns the words of an edge: those of its type and of the texts in its properties."""
    return words_of_edges([edge.type], [edge.properties], [])


def words_of_edges(types: Iterable[str], properties: Iterable[Mapping[str, Any]], aliases: Iterable[str]) -> EdgeWords:
    """Returns the content words of edges, given their parts. `aliases` are the titles of nodes that are aliases."""
    of_types = _words_of_types(tuple(types))
    parts = [_content_of(title) for title in aliases]
    parts += [_content_of("\n".join(_values(_told(_texts_only(values))))) for values in properties if values]
    if not parts:
        return of_types
    return EdgeWords(
        of_types.written.union(*(part.written for part in parts)), of_types.forms.union(*(part.forms for part in parts))
    )


@lru_cache(10_000)
def _words_of_types(types: tuple[str, ...]) -> EdgeWords:
    parts = [_content_of(name.replace("_", " ")) for name in types]
    return EdgeWords(_NONE.union(*(part.written for part in parts)), _NONE.union(*(part.forms for part in parts)))


def _content_of(text: str) -> EdgeWords:
    words = split_words(text)
    languages = languages_of_text(words)
    content = content_words(set(words), languages)
    written = frozenset(map(folded, content))
    return EdgeWords(written, written.union(*(stems(word, languages) for word in content)))


def _texts_only(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Returns properties without plain numbers: a confidence, for example, does not describe a node."""
    return {name: value for name, value in properties.items() if not isinstance(value, int | float)}


@dataclass(frozen=True, slots=True)
class SearchWord:
    """One word of a search: as written, the same with its stems, and whether it also matches as a prefix.

    A word that no visible node has is `mistyped` if it is long enough: then words that differ by one letter match.
    """

    written: str
    forms: frozenset[str]
    is_prefix: bool = False
    mistyped: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """A search. It matches nodes with one of its words."""

    words: tuple[SearchWord, ...]

    @property
    def roots(self) -> frozenset[str]:
        """Returns letter sequences of which every matching node contains at least one: forms without their endings."""
        forms = {form for word in self.words for form in word.forms}
        return frozenset(form[: max(SHORTEST_PREFIX, len(form) - CHANGING_LETTERS)] for form in forms)

    def matches(self, words: NodeWords) -> bool:
        """Returns True if a node with these words has a word of the search."""
        return any(has_word(words, word) for word in self.words)


def has_word(words: NodeWords, word: SearchWord) -> bool:
    """Returns True if a node with these words has `word`, or one that its prefix or spelling also matches."""
    if not words.forms.isdisjoint(word.forms) or not words.edges.isdisjoint(word.forms):
        return True
    written = (*words.written, *words.edges_written)
    if word.is_prefix and any(form.startswith(word.written) for form in written):
        return True
    return word.mistyped and has_like(words, word)


def has_like(words: NodeWords, word: SearchWord) -> bool:
    """Returns True if a node with these words has one that differs from `word` by one letter."""
    return any(differs_by_one(word.written, form) for form in (*words.written, *words.edges_written))


def differs_by_one(word: str, form: str) -> bool:
    """Decides whether two words differ in one letter at most."""
    return bool(OSA.distance(word, form, score_cutoff=1) <= 1)


def exactly(written: str) -> Search:
    """Returns a search for a word in exactly this folded form."""
    return Search((SearchWord(written, frozenset({written})),))


def doubtful(search: Search) -> list[SearchWord]:
    """Returns the first words of a search that are long enough to be mistyped."""
    return [word for word in search.words if len(word.written) >= SHORTEST_MISTYPED][:DOUBTFUL_AT_MOST]


def parse_search(text: str) -> Search:
    """Returns the distinct content words of a search, or all its words if it has only function words.

    The last word, and any word before a `*`, is also a prefix if it has three characters or more. Example: "what are
    the open pro" has the words "open" and "pro", and "pro" also finds "proof". If no function word reveals the search's
    language, the stems of all languages are used.
    """
    words: list[str] = []
    prefixes: set[str] = set()
    parts = text.split("*")
    for number, part in enumerate(parts):
        part_words = split_words(part)
        words += part_words
        before_star = number < len(parts) - 1 and part and not part[-1].isspace()
        at_end = number == len(parts) - 1
        if part_words and (before_star or at_end) and len(part_words[-1]) >= SHORTEST_PREFIX:
            prefixes.add(part_words[-1])
    languages = languages_of(words)
    kept = content_words(words, languages) or words
    distinct = dict.fromkeys(word for word in words if word in kept or (word in prefixes and word != words[-1]))
    return Search(tuple(_search_word(word, languages or LANGUAGES, word in prefixes) for word in distinct))


def _search_word(word: str, languages: tuple[str, ...], is_prefix: bool) -> SearchWord:
    written = folded(word)
    return SearchWord(written, stems(word, languages) | {written}, is_prefix)


def _values(value: Any) -> list[str]:
    """Returns the texts and numbers in a value, in order."""
    found: list[str] = []
    _find_values(value, found)
    return found


def _find_values(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            _find_values(item, found)
    elif isinstance(value, list):
        for item in value:
            _find_values(item, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found.append(str(value))
