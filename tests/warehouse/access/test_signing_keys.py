import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from patience import HANG_S
from signature_checks import verify_signature

from contracts.access.signing import ACTIVE_AFTER, key_text, new_private_key
from contracts.errors import SettingsInvalid, StoreUnusable
from contracts.settings import Settings
from contracts.times import utc_text
from warehouse.access.signing_keys import SIGNING_KEY_FILE, SigningKeys

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HASH = "ab" * 32


def keys_in(directory: Path, **settings) -> SigningKeys:
    return SigningKeys(Settings(_env_file=None, data_dir=directory, **settings))


def test_the_first_process_creates_a_private_file_and_all_others_read_it(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        sets = list(pool.map(lambda _: keys_in(tmp_path / "data").current().jwks(), range(8)))
    assert all(each == sets[0] for each in sets)
    (made,) = (tmp_path / "data").iterdir()
    assert (made.name, made.stat().st_mode & 0o777) == (SIGNING_KEY_FILE, 0o600)


def test_a_rotation_is_seen_by_those_who_hold_the_file_and_keeps_what_was_signed(tmp_path):
    running, operator = keys_in(tmp_path), keys_in(tmp_path)
    before = running.current().signer(NOON)
    signature = before.sign(HASH)
    added = operator.rotate(NOON)
    assert [key.kid for key in running.current().keys] == [before.kid, added.kid]
    assert running.current().signer(NOON).kid == before.kid
    assert running.current().signer(NOON + ACTIVE_AFTER).kid == added.kid
    assert verify_signature(signature, HASH, running.current().jwks()["keys"])
    assert (tmp_path / SIGNING_KEY_FILE).stat().st_mode & 0o777 == 0o600
    operator.rotate(NOON + ACTIVE_AFTER)
    assert len(running.current().keys) == 3


def test_a_key_from_openssl_works_and_a_named_file_is_never_created(tmp_path):
    named = tmp_path / "signing.pem"
    with pytest.raises(StoreUnusable, match=r"signing\.pem"):
        keys_in(tmp_path / "data", signing_key_file=named).current()
    assert not named.exists()
    named.write_text(key_text(new_private_key()))
    assert len(keys_in(tmp_path / "data", signing_key_file=named).current().keys) == 1
    named.write_text("not a key\n")
    with pytest.raises(SettingsInvalid, match="no private key"):
        keys_in(tmp_path / "data", signing_key_file=named).current()


def test_the_operators_command_rotates(tmp_path):
    command = [Path(sys.executable).with_name("svc"), "keys", "rotate-signing", "--json"]
    environment = {"SVC_DATA_DIR": str(tmp_path), "PATH": "/usr/bin:/bin", "SVC_RPC_URLS": "http://127.0.0.1:1"}
    ran = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=HANG_S)
    assert ran.returncode == 0, ran.stderr
    (first, second) = keys_in(tmp_path).current().keys
    said = json.loads(ran.stdout)
    assert said == {"ok": True, "kid": second.kid, "activeFrom": utc_text(second.active_from)}
    assert first.active_from < second.active_from
