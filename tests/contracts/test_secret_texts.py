"""Secrets are found anywhere in a text, and ordinary texts are left alone (P5)."""

import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from eth_account.hdaccount.mnemonic import Mnemonic
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from contracts.access.api_keys import BASE62, checksum, new_key
from contracts.access.tiers import Tier
from contracts.secret_texts import SecretInText, refuse_secrets, secret_in

ENGLISH = Mnemonic()
PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
UNCHECKED = "legal winner thank year wave sausage worth useful legal winner thank thank"
MEBIBYTE = 1 << 20
PROSE = (
    "Please keep my goals together and remind me of what I promised to friends.",
    "We sign the agreement on Monday; the first delivery follows within two weeks.",
    "ssh-keygen writes id_ed25519, whose first line is -----BEGIN OPENSSH PRIVATE KEY----- by the way.",
    "0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318",
    "Send svc_free_ keys in X-Api-Key, such as svc_free_000000000000000000000000000000000000.",
    "",
)

entropies = st.sampled_from([16, 20, 24, 28, 32]).flatmap(lambda size: st.binary(min_size=size, max_size=size))
separators = st.sampled_from([" ", "\n", ", ", "\t", " - ", "\r\n", "_", "\u2022", "\u3000", "\u2014"])
cases = st.sampled_from([str.lower, str.upper, str.title])


def test_the_rule_of_the_standard_is_that_of_its_reference_phrases():
    zeros = " ".join(["abandon"] * 11)
    assert secret_in(f"{zeros} about") == secret_in(PHRASE) == "seed_phrase"
    assert secret_in(f"{zeros} abandon") is secret_in(UNCHECKED) is None
    assert secret_in(" ".join(["test"] * 11) + " junk") == "seed_phrase"


@given(entropy=entropies, separator=separators, case=cases, around=st.sampled_from(PROSE))
def test_a_phrase_is_found_in_any_case_and_spacing_amid_prose(entropy, separator, case, around):
    words = ENGLISH.to_mnemonic(entropy).split()
    text = f"{around} {case(separator.join(words))} {around}"
    assert secret_in(text) is not None
    assert secret_in(" ".join(f"{place}. {word}" for place, word in enumerate(words, 1))) == "seed_phrase"


@given(before=st.lists(st.sampled_from(ENGLISH.wordlist), max_size=40), entropy=entropies)
def test_words_of_the_list_before_a_phrase_don_t_hide_it(before, entropy):
    assert secret_in(" ".join([*before, ENGLISH.to_mnemonic(entropy)])) == "seed_phrase"


@settings(max_examples=60 * ROUNDS)
@given(words=st.lists(st.sampled_from(ENGLISH.wordlist), min_size=12, max_size=12))
def test_twelve_words_are_a_phrase_exactly_where_their_check_is_right(words):
    text = " ".join(words)
    assert (secret_in(text) == "seed_phrase") == ENGLISH.is_mnemonic_valid(text)


@given(words=st.lists(st.sampled_from(ENGLISH.wordlist), max_size=11))
def test_fewer_than_twelve_words_are_no_phrase(words):
    assert secret_in(" ".join(words) + " and then something else than the list has") is None


@pytest.mark.parametrize("text", PROSE)
def test_ordinary_texts_hold_no_secret(text):
    assert secret_in(text) is None


def private_keys() -> list[str]:
    made: list[rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey] = [
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        ec.generate_private_key(ec.SECP256K1()),
        ed25519.Ed25519PrivateKey.generate(),
    ]
    pems = [key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode() for key in made]
    pems.append(
        made[0]
        .private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"x" * 8))
        .decode()
    )
    pems.append(made[2].private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode())
    return pems


def test_a_private_key_is_found_with_its_lines_as_they_are_or_escaped():
    for pem in private_keys():
        assert secret_in(f"key: {pem}") == "private_key"
        assert secret_in(repr(pem)) == "private_key"
        assert secret_in(pem.replace("\n", " ")) == "private_key"


def test_a_public_key_is_no_secret():
    public = ed25519.Ed25519PrivateKey.generate().public_key()
    assert secret_in(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()) is None


@pytest.mark.parametrize("tier", Tier)
def test_an_api_key_is_found_by_its_check(tier):
    key = new_key(tier).reveal()
    assert secret_in(f"curl -H 'X-Api-Key: {key}'") == "api_key"
    other = BASE62[(BASE62.index(key[-1]) + 1) % 62]
    assert secret_in(f"curl -H 'X-Api-Key: {key[:-1]}{other}'") is None
    assert key.endswith(checksum(key[:-6]))


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"useCase": f"My phrase is {PHRASE}"}, "/useCase"),
        ({"a/b": {"c~d": [{"note": PHRASE}]}}, "/a~1b/c~0d/0/note"),
        ({"values": PHRASE.split()}, "/values"),
        ({"payload": {PHRASE: 1}}, "/payload"),
        ([1, None, {"x": [PHRASE]}], "/2/x"),
        (PHRASE, ""),
    ],
)
def test_a_refusal_points_to_the_text_and_repeats_nothing_of_it(value, pointer):
    with pytest.raises(SecretInText) as refused:
        refuse_secrets(value)
    problem = refused.value
    assert (problem.status, problem.code) == (400, "secret_in_text")
    assert problem.errors == [(pointer, "contains a seed phrase")]
    assert "winner" not in f"{problem.detail}{problem.errors}{problem!r}"
    assert "Remove it" in problem.detail


def test_texts_of_different_fields_are_not_read_as_one():
    words = PHRASE.split()
    refuse_secrets({"first": " ".join(words[:6]), "second": " ".join(words[6:])})


@pytest.mark.parametrize(
    "text",
    [
        "act " * (MEBIBYTE // 4),
        f"{'act ' * 11}zzz " * (MEBIBYTE // 48),
        f"{UNCHECKED} " * (MEBIBYTE // 75),
        "The quick brown fox jumps over the lazy dog and rests. " * (MEBIBYTE // 55),
        "-----BEGIN RSA PRIVATE KEY-----\n" * (MEBIBYTE // 32),
        f"-----BEGIN {'A ' * (MEBIBYTE // 2)}PRIVATE KEY",
        f"-----BEGIN RSA PRIVATE KEY-----\n{('a' * 39 + ' ') * 30}" * (MEBIBYTE // 1232),
        f"svc_free_{'0' * 36} " * (MEBIBYTE // 46),
        "é" * (MEBIBYTE // 2),
    ],
    ids=["one word", "elevens", "unchecked", "prose", "headers", "half a header", "no body", "keys", "letters"],
)
def test_no_text_of_a_mebibyte_costs_more_than_a_tenth_of_a_second(text):
    secret_in(PHRASE)
    costs_s = []
    for _ in range(5):
        started_s = time.process_time()
        assert secret_in(text) is None
        costs_s.append(time.process_time() - started_s)
    assert min(costs_s) < 0.1  # a slow machine needs half of that; reading the text repeatedly needs seconds
