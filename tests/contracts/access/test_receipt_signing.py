import base64
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from signature_checks import verify_signature

from contracts.access.signing import ACTIVE_AFTER, key_text, new_private_key, parse_key_set
from contracts.errors import SettingsInvalid

HASH = "ab" * 32
GOLDEN_JWS = (
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImtQcktfcW14VldhWVZBOXd3QkY2SXVvM3ZWeno3VHhIQ1R3WEJ5Z3JTNGsifQ.."
    "51HnTA5Zckh6mEnFtXGu1TqWaDge42O6HgQEG2U72jqNHvNYV4DdnK1V61nHWR2pD82_N6OXlxVZ8QCkY5tYAQ"
)
OTHER = "cd" * 32
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)

# RFC 8037, appendix A: a private key, and the thumbprint of its public key.
RFC_8037_D = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
RFC_8037_THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493


def rfc_key_text() -> str:
    der = bytes.fromhex("302e020100300506032b657004220420") + base64.urlsafe_b64decode(RFC_8037_D + "=")
    return f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END PRIVATE KEY-----\n"


def test_a_key_is_named_by_the_thumbprint_that_the_standard_gives():
    (key,) = parse_key_set(rfc_key_text(), "a file").keys
    assert key.kid == RFC_8037_THUMBPRINT
    assert key.jwk["x"] == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"


def test_a_signature_is_the_same_for_the_same_hash_and_never_changes_its_form():
    (key,) = parse_key_set(rfc_key_text(), "a file").keys
    assert key.sign(HASH) == {
        "alg": "EdDSA",
        "kid": RFC_8037_THUMBPRINT,
        "jws": GOLDEN_JWS,
    }


def test_another_library_confirms_that_a_signature_holds_only_for_its_hash_and_key():
    keys = parse_key_set(key_text(new_private_key()), "a file")
    strange = parse_key_set(key_text(new_private_key()), "a file")
    signature = keys.signer(NOON).sign(HASH)
    published = keys.jwks()["keys"]
    assert verify_signature(signature, HASH, published)
    header, _, signed = signature["jws"].split(".")
    raw = bytearray(base64.urlsafe_b64decode(signed + "=="))
    twin = raw[:32] + (int.from_bytes(raw[32:], "little") + ED25519_ORDER).to_bytes(32, "little")
    for wrong, hash_hex, key_set in [
        (signature, OTHER, published),
        (signature, HASH, strange.jwks()["keys"]),
        (signature, HASH, [{**strange.jwks()["keys"][0], "kid": signature["kid"]}]),
        ({**signature, "jws": f"{header}.{HASH}.{signed}"}, HASH, published),
        ({**signature, "jws": f"e30..{signed}"}, HASH, published),
        ({**signature, "jws": f"{header}..{base64.urlsafe_b64encode(twin).decode()}"}, HASH, published),
        ({**signature, "jws": ""}, HASH, published),
        ({}, HASH, published),
    ]:
        assert not verify_signature(wrong, hash_hex, key_set)


def test_a_new_key_is_published_before_it_signs_and_old_signatures_hold_for_ever():
    first, second = new_private_key(), new_private_key()
    before = parse_key_set(key_text(first), "a file")
    old = before.signer(NOON).sign(HASH)
    after = parse_key_set(key_text(first) + key_text(second, NOON + ACTIVE_AFTER), "a file")
    assert [key["kid"] for key in after.jwks()["keys"]] == [after.keys[1].kid, before.keys[0].kid]
    assert after.signer(NOON + ACTIVE_AFTER - timedelta(seconds=1)).kid == before.keys[0].kid
    assert after.signer(NOON + ACTIVE_AFTER).kid == after.keys[1].kid
    assert verify_signature(old, HASH, after.jwks()["keys"])


def test_the_published_keys_hold_nothing_private():
    keys = parse_key_set(rfc_key_text(), "a file")
    assert set(keys.jwks()["keys"][0]) == {"kty", "crv", "x", "kid", "alg", "use"}
    assert RFC_8037_D not in repr(keys)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no key at all",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        key_text(new_private_key()) + "Active-From: soon\n" + key_text(new_private_key()),
    ],
)
def test_a_file_without_usable_keys_is_refused(text):
    with pytest.raises(SettingsInvalid):
        parse_key_set(text, "a file")
