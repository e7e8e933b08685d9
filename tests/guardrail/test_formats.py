"""Formats of data: what is found, what is only a placeholder, and what masking leaves."""

from __future__ import annotations

import base64
import itertools
import json
import random
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail import formats
from guardrail.formats import Finding, checksums, find, masked, without_findings
from guardrail.formats.table import CREDENTIALS

# Assembled from parts, so that no scanner reports this file as a leak.
_AWS = "AKIA" + "Q3EGRZT5NWMJ4XYB"
_SLACK = "xoxb" + "-2813749506-5839201746-q7Xv9Lm2Rt5Wz8Kd3Bn6Yp4C"
_GITHUB = "ghp" + "_k7Xv9Lm2Rt5Wz8Kd3Bn6Yp4CqHsJgFaEuT1o"
_STRIPE = "sk" + "_live_4Kd8sVn2Qx7Wm1Rt6Yp3Bz9C"
_WALLET_KEY = "5HueCGU8rMjxEXxiPuD5BDku4MkFqe" + "Zyd4dZ1jvhTVqvbTLvyT"
_HEADER = base64.urlsafe_b64encode(json.dumps({"alg": "HS256"}).encode()).decode().rstrip("=")
_JWT = f"{_HEADER}.eyJzdWIiOiI5OTIifQ.q7Xv9Lm2Rt5Wz8Kd3Bn6"


@pytest.mark.parametrize(
    ("text", "kind", "confidence"),
    [
        (f"key: {_AWS}", "aws-access-key-id", "certain"),
        (f"token={_SLACK}", "slack-token", "certain"),
        (f"{_STRIPE} is live", "stripe-key", "certain"),
        (f"Bearer {_JWT}", "json-web-token", "certain"),
        (f"export GH={_GITHUB}", "github-token", "likely"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "private-key", "certain"),
        ("postgres://app:Zx81mKq7vT@db.internal/app", "url-password", "likely"),
        ("client_secret: 'q7Xv9Lm2Rt5Wz8Kd3Bn6'", "header-key", "likely"),
        ("Authorization: Basic dXNlcjpRN1h2OUxtMlJ0", "authorization-header", "likely"),
        ("pay with 4539 1488 0343 6467", "card-number", "likely"),
        ("to DE89 3704 0044 0532 0130 00", "iban", "likely"),
        ("routing 021000021", "routing-number", "likely"),
        ("his number is 536-90-4399", "us-social-security-number", "likely"),
        ("CPF 529.982.247-25", "brazilian-cpf", "likely"),
        ("DNI 12345678Z", "spanish-dni", "likely"),
        ("AHV 756.9217.0769.85", "swiss-ahv", "likely"),
    ],
)
def test_a_format_is_found_with_its_confidence(text: str, kind: str, confidence: str) -> None:
    assert [(finding.kind, finding.confidence) for finding in find(text)] == [(kind, confidence)]


@pytest.mark.parametrize(
    "text",
    [
        "key = read_key(path, 3)",
        "for keys in source[key], keys[4]:",
        "typedef struct _CREDENTIAL_ATTRIBUTE, *PCREDENTIAL_W1;",
        "load(session_key, allow_strict1=*)",
        'f"{url.render_as_string(hide_password=False)}"',
        'token = "".join(__version__.split(".")[0:2])',
        'f"secret={field.alias!r}"',
        "private_key: PKCS12PrivateKeyTypes",
        'keyword = "LEADING|LIKE|LIMIT_2|LOCK"',
        '(TOKEN_DATA, "#bygroup2")',
        'RELATED_TASK_META_KEY = "io.modelcontextprotocol/related-task"',
        'methods are "md5", "password", "scram-sha-256"',
        "driver://user:pass@localhost/dbname",
        "#define DER_OID_V_id_slh_dsa_sha2_128s 11",
        "const toSimple7702SmartAccountParameters = 1",
        "sk_X509_NAME_ENTRY_new_reserve_all(compare)",
        "AKIAIOSFODNN7EXAMPLE",
        "api_key = YOUR_API_KEY",
        "api_key = 'a-fake-api-key'",
        "token: ${{ secrets.DEPLOY_TOKEN }}",
        "password: $PASSWORD",
        "postgres://app:${PASSWORD}@db/app",
        "Authorization: Bearer $TOKEN",
        "commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "id 7f1c0f6e-9d1b-4f0e-8c55-0f2f7a1d9b3e",
        "integrity sha512-Zx81mKq7vTZx81mKq7vTZx81mKq7vTZx81mKq7vTZx81mKq7vTZx81mKq7vT==",
        "image: node@sha256:2f1c0f6e9d1b4f0e8c550f2f7a1d9b3e2f1c0f6e9d1b4f0e8c550f2f7a1d9b3e",
        "order 4539 1488 0343 6468",
        "DE89 3704 0044 0532 0130 01",
        "call 020 7946 0958 tomorrow",
        "write to anna@example.org",
        "region: us-east-1",
        "the password is in the vault",
        "curl http://127.0.0.1:5000 --user user:pass",
    ],
)
def test_placeholders_names_in_code_hashes_and_single_addresses_are_no_findings(text: str) -> None:
    assert find(text) == ()


def test_random_texts_are_found_although_some_contain_words() -> None:
    drawn = random.Random(7)
    texts = ["".join(drawn.choices(string.ascii_letters + string.digits + "_-", k=32)) for _ in range(500)]
    assert sum(bool(find(f"x = {text}")) for text in texts) >= 450


@pytest.mark.parametrize("kind", ["CERTIFICATE", "PUBLIC KEY", "PGP PUBLIC KEY BLOCK", "X509 CRL"])
def test_what_is_published_with_a_key_is_no_secret_and_what_follows_it_may_be_one(kind: str) -> None:
    line = base64.b64encode(random.Random(4).randbytes(48)).decode()
    block = f"-----BEGIN {kind}-----\n{line}\n{line}\n-----END {kind}-----\n"
    assert [finding.kind for finding in find(f"{line}\n")] == ["high-entropy"]
    assert find(block) == ()
    assert [finding.start for finding in find(f"{block}{line}\n")] == [len(block)]


def test_addresses_in_bulk_are_personal_data() -> None:
    text = " ".join(f"{name}@mail.test" for name in ("ann", "bob", "cem", "dot", "eve"))
    assert {(finding.kind, finding.category) for finding in find(text)} == {("email-addresses", "personal_data")}
    assert len(find(text)) == 5


def test_a_finding_contains_only_the_place_of_the_secret() -> None:
    text = "ü AccountKey=" + "Qx7Wm1Rt6Yp3Bz9C" * 5 + "Qx7Wm1==;"
    (finding,) = find(text)
    assert finding == Finding("azure-storage-key", "certain", 13, 101)
    assert text[finding.start : finding.end].startswith("Qx7W")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key {_AWS} end", "key AKIA*** end"),
        ("https://u:abc9Xz7q@h/", "https://u:***@h/"),
        ("nothing here", "nothing here"),
    ],
)
def test_masking_shows_four_characters_of_long_secrets(text: str, shown: str) -> None:
    assert masked(text) == shown


def test_every_format_has_a_name_and_a_pattern_that_compiles() -> None:
    import re2

    for shape in CREDENTIALS:
        assert re2.compile(shape.pattern).groups <= 1, shape.kind
    assert len({shape.kind for shape in CREDENTIALS}) >= 120


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (checksums.luhn, "79927398713", "79927398710"),
        (checksums.iban, "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),
        (checksums.routing_number, "011401533", "011401534"),
        (checksums.french_insee, "2 55 08 14 168 025 38", "2 55 08 14 168 025 39"),
        (checksums.italian_fiscal_code, "MRTMTT91D08F205J", "MRTMTT91D08F205K"),
        (checksums.german_tax_id, "86095742719", "86095742718"),
        (checksums.dutch_bsn, "111222333", "111222334"),
        (checksums.polish_pesel, "44051401359", "44051401358"),
        (checksums.finnish_personal_code, "131052-308T", "131052-308U"),
        (checksums.nhs_number, "943 476 5919", "943 476 5918"),
        (checksums.aadhaar, "234123412346", "234123412347"),
        (checksums.chinese_resident_id, "11010519491231002X", "110105194912310021"),
        (checksums.base58_check, _WALLET_KEY + "J", _WALLET_KEY + "K"),
    ],
)  # fmt: skip
def test_a_check_digit_tells_right_from_wrong(check: checksums.Check, right: str, wrong: str) -> None:
    assert check(right)
    assert not check(wrong)


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_searched_and_masked_without_a_fault(text: str) -> None:
    findings = find(text)
    assert all(0 <= finding.start < finding.end <= len(text) for finding in findings)
    assert all(before.end <= after.start for before, after in itertools.pairwise(findings))
    assert len(masked(text)) <= len(text)


@settings(max_examples=20 * ROUNDS, deadline=None)
@given(
    st.lists(st.sampled_from([_AWS, _SLACK, "key=", "'", ": ", "@", "://u:", "4539 ", "eyJ", "-u a:b"]), max_size=60)
)
def test_pieces_of_formats_are_searched_without_a_fault(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert len(masked(text)) <= len(text)


_PIECES = (
    *(_AWS, _AWS[:9], _AWS[9:], _SLACK, _STRIPE, _WALLET_KEY + "J", _JWT, "4539 1488", "0343 6467", "DE89 3704 0044"),
    *("0532 0130 00", "password is", "machine a login b password", "q7Xv9Lm2Rt5W", "key=", "'", ": ", "@", "://u:"),
    *("a@mail.test", "b@mail.test", "stripe", "routing 021000021", "a quiet harbour", "\r", "\0", "ü", " "),
)


@settings(max_examples=60 * ROUNDS, deadline=None)
@given(st.lists(st.lists(st.sampled_from(_PIECES), max_size=4).map("".join), max_size=120))
def test_lines_without_findings_are_recognised_in_bulk_as_one_by_one(lines: list[str]) -> None:
    assert list(without_findings(lines)) == [line for line in lines if not find(line)]


def test_every_shape_treats_the_end_of_a_line_like_the_end_of_a_text() -> None:
    either_end = re.compile(r"\(\?:[\^$]\|\[\^(?![^]]*\\s)[^]]*]\)")  # a following character may be a line break too
    sign, end = re.compile(r"\\[^AzB]|\[(?:\\.|[^]\\])*]"), re.compile(r"[\^$]|\\[AzB]")
    for pattern, _ in formats._ROWS:
        assert not end.search(sign.sub("", either_end.sub("", pattern))), pattern
