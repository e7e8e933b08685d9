"""JSON bodies are parsed strictly: only what the standard library and all other parsers read alike is accepted."""

import contextlib
import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import DEEPEST, MOST_CONTAINERS, MOST_CONTAINERS_OF_LARGER, MOST_KEYS, strict_json
from contracts.errors import BodyInvalid

MIB = 1024 * 1024
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_every_value_that_json_has_comes_back(value, escaped):
    assert strict_json(json.dumps(value, ensure_ascii=escaped).encode()) == value


@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value)[:-1].encode()))
def test_any_body_is_a_value_or_is_refused(body):
    try:
        value = strict_json(body)
    except BodyInvalid as refused:
        assert refused.detail
    else:
        assert json.loads(body) == value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a": 1, "b": 2, "a": 1}', '"a" occurs twice'),
        (b'[{"x": {"a": 1, "\\u0061": 2}}]', '"a" occurs twice'),
        (b"NaN", "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"1e400", "too large"),
        (b"-1e999999999", "too large"),
        (b"1" * 5_000, "too many digits"),
        (b'"\\ud800"', "surrogate"),
        (b'{"\\udfff": 1}', "surrogate"),
        (b'["\\ude00\\ud83d"]', "surrogate"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        ('"é"'.encode("latin-1"), "UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "UTF-8"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b'{"a": 1} {"a": 2}', "not JSON"),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), "levels"),
        (b'{"a":' * 1000 + b"1" + b"}" * 1000, "levels"),
        (b"[" * 60_000 + b"]" * 60_000, "50,000 arrays and objects"),
        (b"[" + b"{}," * MOST_CONTAINERS + b"{}]", "5,000 arrays and objects"),
        (b"[" + b"{}," * MOST_CONTAINERS_OF_LARGER + b"{}]", "50,000 arrays and objects"),
        (b"{%s}" % b",".join(b'"%d":0' % number for number in range(MOST_KEYS + 1)), "1,000 keys"),
        (b"", "not JSON"),
    ],
)
def test_bodies_that_parsers_disagree_on_are_refused_with_the_reason(body, said):
    with pytest.raises(BodyInvalid, match=said):
        strict_json(body)


def test_bodies_at_the_limits_are_read():
    assert strict_json(b"[" * DEEPEST + b"]" * DEEPEST)
    assert strict_json(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"
    assert math.isfinite(strict_json(b"1.7e308"))
    assert strict_json(json.dumps([[]] * 1000).encode()) == [[]] * 1000
    for most in (MOST_CONTAINERS, MOST_CONTAINERS_OF_LARGER):
        assert len(strict_json(b"[" + b"{}," * (most - 2) + b"{}]")) == most - 1
    assert len(strict_json(json.dumps({str(number): 0 for number in range(MOST_KEYS)}).encode())) == MOST_KEYS


@pytest.mark.parametrize("text", ["[" * 200_000, "{" * 200_000, '"[' * 50_000, "\\[" * 50_000, '\\"[' * 50_000])
def test_brackets_within_strings_are_no_structure(text):
    assert strict_json(json.dumps([text, {"[": text}] + [[]] * DEEPEST).encode())[0] == text


HOSTILE = {
    "brackets": b"[" * MIB,
    "objects": b"[" + b"{}," * (MIB // 3) + b"{}]",
    "arrays": b"[" + b"[]," * (MIB // 3) + b"[]]",
    "many deep arrays": b"[" + b",".join([b"[" * 60 + b"]" * 60] * 8_000) + b"]",
    "keys": b"{%s}" % b",".join(b'"%x":0' % number for number in range(100_000)),
    "half a text": b'[[[{"' * 100 + b"\\" * MIB,
    "quotes": b'[[[[{"' * 20 + b'"' * MIB,
    "numbers": b"[" + b"0.5," * (MIB // 4) + b"0]",
    "digits": b"[" + b",".join([b"9" * 4_300] * 240) + b"]",
    "escapes": b'["\\ud83d\\ude00",' + b'"\\u00e9",' * (MIB // 9) + b"0]",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_mib_of_anything_costs_little(body):
    began = time.process_time()
    with contextlib.suppress(BodyInvalid):
        strict_json(body)
    assert time.process_time() - began < 0.5
