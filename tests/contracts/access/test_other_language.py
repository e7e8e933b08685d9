"""Hashes and signatures as a client in another language recomputes them."""

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime

import pytest
from patience import HANG_S

from contracts.access.signing import key_text, new_private_key, parse_key_set
from contracts.canonical import canonical_sha256

SCRIPT = """
const crypto = require('crypto');
const canonical = (value) =>
  value === null || typeof value !== 'object' ? JSON.stringify(value)
  : Array.isArray(value) ? '[' + value.map(canonical).join(',') + ']'
  : '{' + Object.keys(value).sort().map((key) => JSON.stringify(key) + ':' + canonical(value[key])).join(',') + '}';
const {document, signature, jwks} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const hash = crypto.createHash('sha256').update(canonical(document), 'utf8').digest('hex');
const key = crypto.createPublicKey({key: jwks.keys.find((each) => each.kid === signature.kid), format: 'jwk'});
const [header, middle, signed] = signature.jws.split('.');
const input = Buffer.from(header + '.' + Buffer.from(hash).toString('base64url'));
const holds = middle === '' && crypto.verify(null, input, key, Buffer.from(signed, 'base64url'));
console.log(JSON.stringify({hash, holds}));
"""

DOCUMENTS = [
    {"b": "2", "a": None, "c": {"z": [True, False, 1, 9007199254740991], "é": '€\n"\\ \u007f'}},
    {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7},
]


@pytest.mark.skipif(shutil.which("node") is None and "CI" not in os.environ, reason="Node is not installed")
@pytest.mark.parametrize("document", DOCUMENTS)
def test_javascript_finds_the_same_hash_and_a_signature_that_holds(document):
    keys = parse_key_set(key_text(new_private_key()), "a file")
    expected = canonical_sha256(document)
    given = {
        "document": document,
        "signature": keys.signer(datetime.now(UTC)).sign(expected),
        "jwks": keys.jwks(),
    }
    ran = subprocess.run(
        ["node", "-e", SCRIPT], input=json.dumps(given), capture_output=True, text=True, timeout=HANG_S
    )
    assert json.loads(ran.stdout) == {"hash": expected, "holds": True}, ran.stderr
