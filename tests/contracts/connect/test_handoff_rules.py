"""The signed hand-off as rules: what is signed, which replies are believed, and whose word counts."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.connect.handoff import (
    ReplyRefused,
    may_be_asked,
    read_reply,
    request_body,
    signature_of,
    signed_headers,
    signed_nonce,
)
from contracts.connect.pairing import Vouched, is_code, new_code
from contracts.connect.tokens import is_token, new_token, redact_tokens

SECRET = b"s" * 32
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
GOOD = {"ok": True, "profileId": "ada", "issuedAt": "2026-11-21T11:59:00Z", "expiresAt": "2026-11-21T12:09:00Z"}


def test_a_message_is_signed_over_timestamp_nonce_and_body():
    # printf '1700000000.abcdefgh.{"pairingCode":"ABC123"}' | openssl dgst -sha256 -hmac secret
    assert request_body("ABC123") == b'{"pairingCode":"ABC123"}'
    signature = signature_of(b"secret", "1700000000", "abcdefgh", request_body("ABC123"))
    assert signature == "v1=2be139762c6834425e9a9eb40053e59fe71c5c7f92e77cc11e89352f5339c303"


def test_a_signed_message_is_taken_by_whoever_has_the_secret():
    headers = signed_headers(SECRET, "n" * 32, b"{}", 1_700_000_000.9)
    assert signed_nonce(SECRET, headers, b"{}", 1_700_000_060.0) == ("n" * 32, 1_700_000_000)


@pytest.mark.parametrize(
    ("change", "now_s", "reason"),
    [
        ({}, 1_700_000_061.0, "60 s"),
        ({}, 1_699_999_939.0, "60 s"),
        ({"X-Svc-Timestamp": "1700000001"}, 1_700_000_000.0, "signature"),
        ({"X-Svc-Nonce": "m" * 32}, 1_700_000_000.0, "signature"),
        ({"X-Svc-Signature": "v1=" + "0" * 64}, 1_700_000_000.0, "signature"),
        ({"X-Svc-Signature": ""}, 1_700_000_000.0, "signature"),
        ({"X-Svc-Signature": "v1=é"}, 1_700_000_000.0, "signature"),
        ({"X-Svc-Nonce": "short"}, 1_700_000_000.0, "not signed"),
        ({"X-Svc-Nonce": "a.b.c.d.e.f"}, 1_700_000_000.0, "not signed"),
        ({"X-Svc-Timestamp": "-1"}, 1_700_000_000.0, "not signed"),
        ({"X-Svc-Timestamp": "1e9"}, 1_700_000_000.0, "not signed"),
        ({"X-Svc-Timestamp": "٣"}, 1_700_000_000.0, "not signed"),
    ],
)
def test_a_message_that_was_changed_or_is_old_is_refused(change: dict[str, str], now_s: float, reason: str):
    headers = signed_headers(SECRET, "n" * 32, b"{}", 1_700_000_000.0) | change
    with pytest.raises(ReplyRefused, match=reason):
        signed_nonce(SECRET, headers, b"{}", now_s)


def test_another_body_or_another_secret_is_refused():
    headers = signed_headers(SECRET, "n" * 32, b"{}", 1_700_000_000.0)
    for secret, body in ((SECRET, b"{} "), (b"t" * 32, b"{}")):
        with pytest.raises(ReplyRefused, match="signature"):
            signed_nonce(secret, headers, body, 1_700_000_000.0)


def reply(**changes: Any) -> bytes:
    return json.dumps({name: value for name, value in (GOOD | changes).items() if value is not ...}).encode()


def test_a_good_reply_names_whom_the_code_pairs_with():
    assert read_reply(reply(theme="dark"), NOW) == Vouched(
        "ada", NOW - timedelta(minutes=1), NOW + timedelta(minutes=9)
    )
    assert read_reply(b'{"ok":false}', NOW) is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"true",
        b"[]",
        b"{}",
        b'{"ok":true}',
        b"\xff",
        reply(ok="true"),
        reply(ok=1),
        reply(ok=None),
        reply(profileId=...),
        reply(profileId=None),
        reply(profileId=7),
        reply(profileId=""),
        reply(profileId="a b"),
        reply(profileId="a\nb"),
        reply(profileId="é"),
        reply(profileId="a" * 201),
        reply(issuedAt=...),
        reply(issuedAt="2026-11-21T12:01:01Z"),
        reply(issuedAt="2026-11-21T11:59:00"),
        reply(issuedAt=1_700_000_000),
        reply(issuedAt="1700000000"),
        reply(expiresAt=...),
        reply(expiresAt="2026-11-21T12:00:00Z"),
        reply(expiresAt="2026-11-21T11:00:00Z"),
        reply(expiresAt="2026-11-22T11:59:01Z"),
        reply(expiresAt="9999-12-31T23:59:59-23:00"),
        reply(expiresAt="soon"),
        reply() + b"x",
    ],
)
def test_a_reply_that_is_not_as_agreed_is_refused(body: bytes):
    with pytest.raises(ReplyRefused):
        read_reply(body, NOW)


@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(body: bytes):
    with contextlib.suppress(ReplyRefused):
        assert read_reply(body, NOW) is None


@pytest.mark.parametrize(
    ("app_url", "unsigned"),
    [
        ("http://127.0.0.1:3000", True),
        ("http://127.8.9.1", True),
        ("http://[::1]:3000/app", True),
        ("http://localhost:3000", True),
        ("https://app.example", False),
        ("http://10.0.0.7", False),
        ("http://127.0.0.1@app.example", False),
        ("http://localhost.app.example", False),
        ("http://0.0.0.0:3000", False),
        ("http://[::ffff:10.0.0.7]", False),
    ],
)
def test_only_a_companion_on_this_machine_needs_no_secret(app_url: str, unsigned: bool):
    assert may_be_asked(app_url, signed=False) is unsigned
    assert may_be_asked(app_url, signed=True)


@pytest.mark.parametrize(
    ("given_", "good"),
    [
        ("ABC123", True),
        ("_-_-_-", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("ABC12", False),
        ("ABC 123", False),
        ("ABC123\n", False),
        ("ＡＢＣ１２３", False),
        ("", False),
        (None, False),
        (123456, False),
        (["ABC123"], False),
    ],
)
def test_a_code_is_6_to_64_plain_characters(given_: object, good: bool):
    assert is_code(given_) is good


def test_generated_codes_and_tokens_have_the_right_form_and_are_new():
    codes, tokens = {new_code() for _ in range(500)}, {new_token() for _ in range(500)}
    assert len(codes) == len(tokens) == 500
    assert all(map(is_code, codes))
    assert all(map(is_token, tokens))
    assert not is_token(new_token() + "x")


def test_a_token_in_a_text_is_redacted():
    token = new_token()
    assert redact_tokens(f'{{"session_token":"{token}"}}') == '{"session_token":"svcs_…"}'
    assert redact_tokens("svcs_short stays") == "svcs_short stays"
