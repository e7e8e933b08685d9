"""The master secret: one for all processes, private, created once; on PostgreSQL it must be configured."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.errors import SettingsInvalid, StoreUnusable
from contracts.secrets import derive_secrets, require_secrets
from contracts.settings import Settings
from warehouse.ledger.master_secret import MASTER_SECRET_FILE, load_secrets

MASTER = "m" * 32
POSTGRESQL = "postgresql+psycopg://svc@localhost/svc"


def settings(data_dir: Path, **given: object) -> Settings:
    return Settings(_env_file=None, data_dir=data_dir, **given)


def test_the_master_secret_is_created_once_and_private(tmp_path: Path) -> None:
    first = load_secrets(settings(tmp_path / "new"))
    file = tmp_path / "new" / MASTER_SECRET_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load_secrets(settings(tmp_path / "new")) == first
    assert load_secrets(settings(tmp_path / "other")) != first
    assert [each.name for each in file.parent.iterdir()] == [MASTER_SECRET_FILE]


def test_processes_that_start_together_agree_on_the_master_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        loaded = list(threads.map(lambda _: load_secrets(settings(tmp_path)), range(64)))
    assert len(set(loaded)) == 1


def test_a_given_master_secret_is_used_and_nothing_is_written(tmp_path: Path) -> None:
    assert load_secrets(settings(tmp_path, master_secret=MASTER)) == derive_secrets(MASTER)
    assert not list(tmp_path.iterdir())


def test_derived_secrets_differ_stay_what_they_are_and_do_not_show() -> None:
    derived = derive_secrets(MASTER)
    assert derived.pepper.hex() == "29c20c68fe7ef1943503e03ad16324ba3d8f95568e9af351c369a3101a11e265"
    assert derived.sealing_key.hex() == "eff59b61d962f0559f04093fcaa45e4799fa0504db9c21afd4aebc6117ed6709"
    assert len({derived.pepper, derived.sealing_key, derived.approval_key}) == 3
    assert repr(derived) == "DerivedSecrets()"


MASTER_CURE = "SVC_MASTER_SECRET to the output of `openssl rand -hex 32`"
KEY_CURE = "SVC_SIGNING_KEY_FILE to a file of `openssl genpkey -algorithm ed25519 -out FILE`"


@pytest.mark.parametrize(
    ("given", "what", "cure"),
    [
        ({"master_secret": "abc"}, "SVC_MASTER_SECRET has fewer than 32 characters.", MASTER_CURE),
        (
            {"ledger_url": POSTGRESQL},
            "SVC_MASTER_SECRET and SVC_SIGNING_KEY_FILE are not set, and SVC_LEDGER_URL requires them.",
            f"{MASTER_CURE} and {KEY_CURE}",
        ),
        (
            {"ledger_url": POSTGRESQL, "signing_key_file": Path("k")},
            "SVC_MASTER_SECRET is not set, and SVC_LEDGER_URL requires it.",
            MASTER_CURE,
        ),
        (
            {"ledger_url": POSTGRESQL, "master_secret": MASTER},
            "SVC_SIGNING_KEY_FILE is not set, and SVC_LEDGER_URL requires it.",
            KEY_CURE,
        ),
        (
            {"ledger_url": POSTGRESQL, "master_secret": "abc"},
            "SVC_SIGNING_KEY_FILE is not set, and SVC_LEDGER_URL requires it. "
            "SVC_MASTER_SECRET has fewer than 32 characters.",
            f"{MASTER_CURE} and {KEY_CURE}",
        ),
    ],
)
def test_all_missing_secrets_are_named_at_once_with_a_cure(
    tmp_path: Path, given: dict[str, object], what: str, cure: str
) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        load_secrets(settings(tmp_path, **given))
    assert (caught.value.what, caught.value.cure) == (what, f"Set {cure}, the same for every process.")


def test_with_everything_set_postgresql_is_fine(tmp_path: Path) -> None:
    require_secrets(settings(tmp_path, ledger_url=POSTGRESQL, master_secret=MASTER, signing_key_file=tmp_path / "k"))


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 64])
def test_a_damaged_file_is_refused_and_not_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MASTER_SECRET_FILE).write_bytes(content)
    with pytest.raises(StoreUnusable) as caught:
        load_secrets(settings(tmp_path))
    assert caught.value.cure
    assert (tmp_path / MASTER_SECRET_FILE).read_bytes() == content


def test_an_unwritable_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable):
        load_secrets(settings(tmp_path / "file"))
