"""Raw HTTP requests, as sent over the wire."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.reading import http


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("DELETE /v1/users/7 HTTP/1.1\nHost: api.test\n", "delete", "https://api.test/v1/users/7"),
        ("POST https://api.test/send\nContent-Type: text/plain\n\nhello", "send", "https://api.test/send"),
        ("GET /health HTTP/1.1\r\nHost: api.test\r\n\r\n", "download", "https://api.test/health"),
        ("PUT /x\nHost: h.test\n\n{}", "overwrite", "https://h.test/x"),
    ],
)
def test_a_request_has_the_effect_of_its_method(text: str, kind: str, target: str) -> None:
    assert http.is_request(text)
    (effect,) = http.read(text).effects
    assert (effect.kind.value, effect.targets[0].text) == (kind, target)


def test_the_body_is_a_passage() -> None:
    text = "POST https://api.test/send\nX-Id: 3\n\nhello there"
    assert [(passage.name, passage.text) for passage in http.read(text).passages] == [
        ("x-id", "3"),
        ("body", "hello there"),
    ]


@pytest.mark.parametrize("text", ["", "GET coffee", "DELETE the file", "POST a tweet about /r/python now", "hello"])
def test_a_sentence_is_no_request(text: str) -> None:
    assert not http.is_request(text)


@settings(max_examples=20 * ROUNDS, deadline=None)
@given(st.text(alphabet="GET POST/:h\r\n{} ", max_size=80))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    http.read(text)
