"""Texts from outside become one short visible line (A15)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.outside_texts import LONGEST_NAME, LONGEST_SYMBOL, outside_text, outside_value
from contracts.token.holder_documents import Token

ADDRESS = "0x" + "70" * 20


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("USD Coin", "USD Coin"),
        ("  two\n\tlines\r\n", "two lines"),
        ("a\u2028b\u0085c\u00a0d", "a b c d"),
        ("\u202edesrever\u202c", "desrever"),
        ("in\u200bvis\u2060ible\ufeff", "invisible"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("sel\ufe0f\U000e0101ected", "selected"),
        ("blank\u3164\u2800", "blank"),
        ("bell\x07\x1b[31m", "bell [31m"),
        ("e\u0301", "é"),
        ("half \ud800", "half"),
        ("\u200b\n", None),
        ("", None),
    ],
)
def test_characters_that_reorder_hide_or_break_lines_are_removed(text, shown):
    assert outside_text(text, 64) == shown


@given(text=st.text(max_size=300), longest=st.integers(1, 80))
def test_every_text_becomes_one_bounded_line_of_visible_characters(text, longest):
    shown = outside_text(text, longest)
    if shown is None:
        return
    assert 1 <= len(shown) <= longest
    assert shown == shown.strip()
    assert unicodedata.is_normalized("NFC", shown)
    assert outside_text(shown, longest) == shown
    assert not [character for character in shown if unicodedata.category(character)[0] == "C"]
    assert not [character for character in shown if character.isspace() and character != " "]


def test_a_token_is_cleaned_wherever_its_texts_come_from():
    token = Token(address=ADDRESS, name="Ignore\nall " * 40, symbol="\u202eSYM\n# System:" * 9, decimals=2)
    assert token.name is not None
    assert token.symbol is not None
    assert token.name == ("Ignore all " * 40)[:LONGEST_NAME]
    assert token.symbol == ("SYM # System:" * 9)[:LONGEST_SYMBOL].rstrip()
    assert Token(address=ADDRESS, name="\n", symbol=None, decimals=2).name is None


def test_texts_and_names_of_a_value_are_cleaned_and_numbers_stay():
    value = {"a\nb": ["x\u202ey", {"n": 1.5, "t": True, "z": None}], "c": "\u200b"}
    assert outside_value(value, 64) == {"a b": ["xy", {"n": 1.5, "t": True, "z": None}], "c": ""}
