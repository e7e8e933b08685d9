"""The text of API keys: generated, checked offline, hashed, and never shown whole by accident."""

from __future__ import annotations

import copy
import pickle
import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.access.api_keys import BASE62, ApiKey, checksum, new_key, parse_key, redact_keys
from contracts.access.tiers import Tier

TIERS = st.sampled_from(list(Tier))
KEYS = st.builds(new_key, TIERS)


@pytest.mark.parametrize(
    ("body", "six"),
    [
        ("svc_free_" + "0" * 30, "2YANWL"),
        ("svc_basic_" + "a" * 30, "1WtGZW"),
        ("svc_pro_" + "zZ9" * 10, "34JkFq"),
    ],
)
def test_checksums_stay_what_they_are(body: str, six: str) -> None:
    value = 0
    for char in six:
        value = value * 62 + BASE62.index(char)
    assert value == zlib.crc32(body.encode())
    assert checksum(body) == six


@given(KEYS)
def test_a_new_key_has_the_form_of_its_tier_and_parses(key: ApiKey) -> None:
    text = key.reveal()
    assert re.fullmatch(r"svc_(free|basic|pro)_[0-9A-Za-z]{36}", text)
    assert parse_key(text) == key


@given(KEYS, st.data())
def test_one_wrong_character_is_seen_offline(key: ApiKey, data: st.DataObject) -> None:
    text = key.reveal()
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from(BASE62 + "_- ").filter(lambda char: char != text[place]))
    assert parse_key(text[:place] + other + text[place + 1 :]) is None


@given(KEYS, st.data())
def test_two_neighbours_exchanged_are_seen_offline(key: ApiKey, data: st.DataObject) -> None:
    text = key.reveal()
    place = data.draw(st.integers(0, len(text) - 2))
    exchanged = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    assert (parse_key(exchanged) is None) == (exchanged != text)


@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    parsed = parse_key(text)
    assert parsed is None or parsed.reveal() == text


def test_a_key_whose_prefix_names_another_tier_is_invalid() -> None:
    text = new_key(Tier.FREE).reveal()
    assert parse_key(text.replace("svc_free_", "svc_basic_")) is None
    assert parse_key(text + "\n") is None
    assert parse_key(" " + text) is None


@given(KEYS)
def test_a_key_shows_only_its_prefix_and_last_four(key: ApiKey) -> None:
    text = key.reveal()
    for shown in (repr(key), str(key), f"{key}", f"{[key]}", f"{key!r:>40}", key.redacted):
        assert text[-36:-4] not in shown
        assert text[-4:] in shown
    assert redact_keys(f"GET /?key={text} and {text}") == f"GET /?key={key.redacted} and {key.redacted}"


def test_a_key_is_neither_pickled_nor_found_in_its_attributes() -> None:
    key = new_key(Tier.PRO)
    with pytest.raises(TypeError):
        pickle.dumps(key)
    with pytest.raises(TypeError):
        copy.deepcopy(key)
    assert not hasattr(key, "__dict__")


def test_the_digest_needs_the_pepper() -> None:
    key = ApiKey("svc_free_" + "0" * 30 + "2YANWL")
    assert key.digest(b"one" * 11) != key.digest(b"two" * 11)
    assert re.fullmatch(r"[0-9a-f]{64}", key.digest(b"p" * 32))
    assert key.digest(b"p" * 32) == ApiKey(key.reveal()).digest(b"p" * 32)
