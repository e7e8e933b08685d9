"""The languages of a text are those of its words, however the words are counted and cached."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.world.language import (
    LANGUAGES,
    languages_of,
    languages_of_text,
    languages_with,
    remembering,
    split_words,
)

FUNCTION_WORDS = ("the", "and", "der", "und", "die", "les", "que", "los", "och", "att", "ja", "on", "en", "és", "не")
NAMES = ("ada", "harbour", "2026", "müller", "größe", "zeitung", "coração", "año", "nación", "årsmöte", "œuvre")
words = st.lists(st.one_of(st.sampled_from(FUNCTION_WORDS), st.sampled_from(NAMES)), max_size=30)


@given(words)
def test_a_text_is_in_the_languages_with_most_of_its_function_words(text: list[str]) -> None:
    counts = Counter(name for word in text for name in languages_with(word))
    most = max(counts.values(), default=0)
    expected = tuple(name for name in LANGUAGES if most and counts[name] == most)
    assert languages_of(text) == expected
    assert not expected or languages_of_text(text) == expected


def test_a_text_without_function_words_is_in_english_and_in_the_languages_of_its_marks() -> None:
    assert languages_of_text(["ada", "2026"]) == languages_of_text([]) == ("english",)
    assert languages_of_text(["müller", "ada", "coração", "grüße"]) == ("english", "german", "portuguese")


def test_a_word_that_comes_very_often_outweighs_two_of_another_language() -> None:
    assert languages_of(["und"] * (1 << 16) + ["och", "att"]) == ("german",)


def test_the_memory_of_words_is_cleared_when_it_grows_too_large() -> None:
    asked = []

    @remembering(2)
    def length(word: str) -> int:
        asked.append(word)
        return len(word)

    assert [length(word) for word in ("a", "bb", "a", "bb", "ccc", "ccc", "a")] == [1, 2, 1, 2, 3, 3, 1]
    assert asked == ["a", "bb", "ccc", "a"]


@pytest.mark.parametrize(
    "text, words",
    [
        ("48,500 EUR", "48 500 48500 eur"),
        ("CHF 48’500.-", "chf 48 500 48500"),
        ("1.234.567,89 €", "1 234 567 1234567 89"),
        ("48\u202f500 and 12,000.", "48 500 48500 and 12 000 12000"),
        ("on 2026-05-01, 100, 200", "on 2026 05 01 100 200"),
        ("v1.200 and 1,2345", "v1 200 and 1 2345"),
    ],
)
def test_a_number_in_groups_is_also_one_word(text: str, words: str) -> None:
    assert split_words(text) == words.split()
