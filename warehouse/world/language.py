"""Reduces the words of a text to what a search compares: guesses the language, drops its function words, cuts endings.

The stemmers are Snowball's. A language is guessed by its function words, because names and numbers say nothing of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import tantivy

LONGEST_WORD_BYTES = 100
"""A hash of 32 bytes in hex is a word; longer runs are not."""

_WORDS_REMEMBERED = 200_000

LANGUAGES = (
    "english",
    "danish",
    "dutch",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
)
DEFAULT = ("english",)
"""The language of nodes of which neither function words nor letters show one."""

_MARKS = {
    "french": re.compile("[éèêîôûœ]"),
    "german": re.compile("[äöüß]|.{3}(?:ung|ungen|keit|keiten|heit|heiten|schaft|schaften)$"),
    "portuguese": re.compile("[ãõ]"),
    "spanish": re.compile("ñ|.{3}(?:ción|ciones)$"),
    "swedish": re.compile("å"),
}
"""Letters and endings of words by which a text may be in a language."""

_ENGLISH_FUNCTION_WORDS = Path(__file__).with_name("english_function_words.txt").read_text().split()
"""Articles, pronouns, auxiliaries, prepositions and their like: tantivy's own list for English has 33 words only."""

_split = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.remove_long(LONGEST_WORD_BYTES + 1))
    .filter(tantivy.Filter.lowercase())
    .build()
)
_ascii_words = re.compile("[a-z0-9]+").findall
_unspaced = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]+"
)
"""Runs of Han, Kana and Hangul."""

_DOT_ABOVE = "\u0307"
"""What is left of a Turkish `İ` in lower case: no letter, so it would cut the word."""

_fold = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.ascii_fold()).build()


def _filtered(word_filter: tantivy.Filter) -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(word_filter).build()


_stop_filters = {name: _filtered(tantivy.Filter.stopword(name)) for name in LANGUAGES} | {
    "english": _filtered(tantivy.Filter.custom_stopword(_ENGLISH_FUNCTION_WORDS))
}
_stemmers = {name: _filtered(tantivy.Filter.stemmer(name)) for name in LANGUAGES}


def split_words(text: str) -> list[str]:
    """Returns the words of a text in order: runs of letters and digits, compatibility forms unified, in lower case.

    Chinese, Japanese and Korean have no spaces between all words, so of them each two neighbouring characters are one.
    """
    if not text.isascii():
        unified = unicodedata.normalize("NFKC", text).replace("İ", "I").replace(_DOT_ABOVE, "")
        return list(_split.analyze(_unspaced.sub(_in_pairs, unified)))
    # the same in half the time: most texts of most graphs are ASCII
    words = _ascii_words(text.lower())
    return words if len(text) <= LONGEST_WORD_BYTES else [word for word in words if len(word) <= LONGEST_WORD_BYTES]


def _in_pairs(run: re.Match[str]) -> str:
    characters = run[0]
    pairs = (characters[at : at + 2] for at in range(max(1, len(characters) - 1)))
    return f" {' '.join(pairs)} "


@lru_cache(_WORDS_REMEMBERED)
def folded(word: str) -> str:
    """Returns a word without its diacritics."""
    return word if word.isascii() else "".join(_fold.analyze(word))


@lru_cache(_WORDS_REMEMBERED)
def languages_with(word: str) -> tuple[str, ...]:
    """Returns the languages in which the word is a function word."""
    return tuple(name for name, words in _stop_filters.items() if not words.analyze(word))


@lru_cache(_WORDS_REMEMBERED)
def stems(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Returns the folded stems that a word has in these languages."""
    return frozenset(folded("".join(_stemmers[name].analyze(word))) for name in languages)


def languages_of(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the language with most function words among `words`, several if they tie, none if there are none."""
    counts: dict[str, int] = {}
    for known in filter(None, map(languages_with, words)):
        for language in known:
            counts[language] = counts.get(language, 0) + 1
    if not counts:
        return ()
    most = max(counts.values())
    return tuple(name for name in LANGUAGES if counts.get(name) == most)


def languages_of_text(words: Sequence[str]) -> tuple[str, ...]:
    """Returns the languages of a text: that of its function words, or else the default one and all those of which its
    words have marks. So a short title, "Rechnungen Müller", has stems of each language that it may be in."""
    if languages := languages_of(words):
        return languages
    marked = set().union(*map(_languages_marked_by, words))
    return (*DEFAULT, *(name for name in _MARKS if name in marked))


@lru_cache(_WORDS_REMEMBERED)
def _languages_marked_by(word: str) -> frozenset[str]:
    return frozenset(name for name, mark in _MARKS.items() if mark.search(word))


def content_words(words: Iterable[str], languages: Sequence[str]) -> list[str]:
    """Returns `words` without the function words of these languages."""
    return [
        word for word in words if not (known := languages_with(word)) or not any(name in known for name in languages)
    ]
