"""Reduces the words of a text to search forms: guesses the language, drops its function words and cuts endings.

The stemmers are Snowball's. A language is guessed by its function words, because names and numbers don't indicate it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import tantivy

LONGEST_WORD_BYTES = 100
"""Long enough for a 32-byte hash in hex; longer runs are not words."""

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
"""The language of nodes without telling function words or letters."""

_MARKS = {
    "french": re.compile("[éèêîôûœ]"),
    "german": re.compile("[äöüß]|.{3}(?:ung|ungen|keit|keiten|heit|heiten|schaft|schaften)$"),
    "portuguese": re.compile("[ãõ]"),
    "spanish": re.compile("ñ|.{3}(?:ción|ciones)$"),
    "swedish": re.compile("å"),
}
"""Letters and endings of words that suggest a language."""

_ENGLISH_FUNCTION_WORDS = Path(__file__).with_name("english_function_words.txt").read_text().split()
"""Articles, pronouns, auxiliaries, prepositions and the like. tantivy's list for English has only 33 words."""

_split = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.remove_long(LONGEST_WORD_BYTES + 1))
    .filter(tantivy.Filter.lowercase())
    .build()
)
_LOWER_OR_BLANK = bytes(
    ord(sign.lower()) if sign.isascii() and sign.isalnum() else ord(" ") for sign in map(chr, range(256))
)
"""Maps each byte to its lower-case letter or digit, or to a blank for other signs."""

_unspaced = re.compile(
    "[\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]+"
)
"""Runs of Han, Kana and Hangul."""

_group = re.compile(r"[.,'’\u00a0\u202f][0-9]{3}")
_grouped_number = re.compile(
    r"(?<![\w.,'’])[0-9]{1,3}([.,'’\u00a0\u202f])[0-9]{3}(?:\1[0-9]{3})*(?![\w]|[.,'’][0-9]{3}(?![0-9]))"
)
"""A number in groups of three digits. The sign between them may also be a decimal sign: 1.234."""

_DOT_ABOVE = "\u0307"
"""The rest of a lower-cased Turkish `İ`. It is not a letter, so it would split the word."""

_fold = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.ascii_fold()).build()


def _filtered(word_filter: tantivy.Filter) -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(word_filter).build()


_stop_filters = {name: _filtered(tantivy.Filter.stopword(name)) for name in LANGUAGES} | {
    "english": _filtered(tantivy.Filter.custom_stopword(_ENGLISH_FUNCTION_WORDS))
}
_stemmers = {name: _filtered(tantivy.Filter.stemmer(name)) for name in LANGUAGES}


Found = TypeVar("Found")


class _PerWord(dict[str, Found]):
    """Caches the results of a function for up to `most` words, and then clears the whole cache.

    `lru_cache` also orders words by last use, which costs more than computing all of them again occasionally.
    """

    def __init__(self, function: Callable[[str], Found], most: int) -> None:
        self._function = function
        self._most = most

    def __missing__(self, word: str) -> Found:
        found = self._function(word)
        if len(self) >= self._most:
            self.clear()
        self[word] = found
        return found


def remembering(most: int) -> Callable[[Callable[[str], Found]], Callable[[str], Found]]:
    """Returns a decorator that caches a function of a word for up to `most` words."""
    return lambda function: _PerWord(function, most).__getitem__


def split_words(text: str) -> list[str]:
    """Returns the words of a text in order: runs of letters and digits, compatibility forms unified, in lower case.

    Chinese, Japanese and Korean don't separate all words by spaces, so each pair of adjacent characters counts as a
    word. A number in groups, such as 48,500, is followed by 48500.
    """
    if _group.search(text):  # takes a third of the time of the whole expression
        text = _grouped_number.sub(_with_number, text)
    if not text.isascii():
        unified = unicodedata.normalize("NFKC", text).replace("İ", "I").replace(_DOT_ABOVE, "")
        return list(_split.analyze(_unspaced.sub(_in_pairs, unified)))
    # the same in a fraction of the time: most texts of most graphs are ASCII
    words = text.encode().translate(_LOWER_OR_BLANK).decode().split()
    return words if len(text) <= LONGEST_WORD_BYTES else [word for word in words if len(word) <= LONGEST_WORD_BYTES]


def _with_number(number: re.Match[str]) -> str:
    return f"{number[0]} {''.join(filter(str.isdigit, number[0]))}"


def _in_pairs(run: re.Match[str]) -> str:
    characters = run[0]
    pairs = (characters[at : at + 2] for at in range(max(1, len(characters) - 1)))
    return f" {' '.join(pairs)} "


@remembering(_WORDS_REMEMBERED)
def folded(word: str) -> str:
    """Returns a word without its diacritics."""
    return word if word.isascii() else "".join(_fold.analyze(word))


@remembering(_WORDS_REMEMBERED)
def languages_with(word: str) -> tuple[str, ...]:
    """Returns the languages in which the word is a function word."""
    return tuple(name for name, words in _stop_filters.items() if not words.analyze(word))


@lru_cache(_WORDS_REMEMBERED)
def stems(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Returns the folded stems that a word has in these languages."""
    return frozenset(folded("".join(_stemmers[name].analyze(word))) for name in languages)


def languages_of(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the language with most function words among `words`: several if they tie, empty if there are none."""
    return _with_most_function_words(sum(map(_clues, words)))


def languages_of_text(words: Iterable[str]) -> tuple[str, ...]:
    """Returns the languages of a text: that of its function words, otherwise the default and all languages suggested by
    letters and endings. So a short title, "Rechnungen Müller", gets stems in each language that it may be in."""
    clues = sum(map(_clues, words))
    if not clues:
        return DEFAULT
    marked = (name for place, name in enumerate(_MARKS, len(LANGUAGES)) if _count_at(place, clues))
    return _with_most_function_words(clues) or (*DEFAULT, *marked)


_BITS_OF_COUNT = 32


@remembering(_WORDS_REMEMBERED)
def _clues(word: str) -> int:
    """Returns a number composed of counts: for each language 1 if the word is a function word in it, followed by 1 for
    each language with marks if the word has one. The sum of such numbers contains the counts of a text."""
    counted = [LANGUAGES.index(name) for name in languages_with(word)]
    counted += [place for place, mark in enumerate(_MARKS.values(), len(LANGUAGES)) if mark.search(word)]
    return sum(1 << _BITS_OF_COUNT * place for place in counted)


def _count_at(place: int, clues: int) -> int:
    return clues >> _BITS_OF_COUNT * place & (1 << _BITS_OF_COUNT) - 1


def _with_most_function_words(clues: int) -> tuple[str, ...]:
    counts = [_count_at(place, clues) for place in range(len(LANGUAGES))]
    most = max(counts)
    return tuple(name for name, count in zip(LANGUAGES, counts, strict=True) if count == most) if most else ()


def content_words(words: Iterable[str], languages: Sequence[str]) -> list[str]:
    """Returns `words` without the function words of these languages."""
    return [
        word for word in words if not (known := languages_with(word)) or not any(name in known for name in languages)
    ]
