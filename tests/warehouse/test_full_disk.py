"""A full disk is told apart from a broken disk or file, whatever the store reports."""

import errno
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pysqlite3.dbapi2 as sqlite
import pytest
from small_disk import fill, small_disk

from contracts.access.signing import key_text, new_private_key
from contracts.errors import DiskFull, StoreUnusable
from contracts.settings import Settings
from pipelines.instance import diary_unusable
from warehouse.access.signing_keys import SigningKeys
from warehouse.full_disk import is_full
from warehouse.ledger.master_secret import load_secrets


def sqlite_error(name: str, text: str) -> sqlite.OperationalError:
    error = sqlite.OperationalError(text)
    error.sqlite_errorname = name
    return error


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """Yields a disk with 100 kB left."""
    with small_disk(tmp_path / "small", otherwise="nothing else has a disk of its own") as place:
        fill(place / "filler", leave=100_000)
        yield place


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_the_system_s_own_word_for_a_full_disk_or_quota_counts(tmp_path: Path, number: int):
    assert is_full(tmp_path, OSError(number, os.strerror(number)))


def test_sqlite_s_own_word_for_a_full_disk_counts(tmp_path: Path):
    with sqlite.connect(str(tmp_path / "a.db")) as connection:
        connection.execute("pragma max_page_count = 2")
        connection.execute("create table a (b)")
        with pytest.raises(sqlite.OperationalError, match="database or disk is full") as caught:
            connection.execute("insert into a values (zeroblob(100000))")
    assert is_full(tmp_path, caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SQLITE_IOERR_SHMSIZE", "disk I/O error"),
        ("SQLITE_IOERR_WRITE", "disk I/O error"),
        ("SQLITE_CANTOPEN", "unable to open database file"),
    ],
)
def test_an_error_that_says_nothing_of_room_is_a_full_disk_s_where_hardly_anything_is_free(
    tmp_path: Path, full: Path, name: str, text: str
):
    assert is_full(full, sqlite_error(name, text))
    assert is_full(full / "not/made/yet", sqlite_error(name, text))
    assert not is_full(tmp_path, sqlite_error(name, text))


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EACCES, "Permission denied"),
        sqlite_error("SQLITE_CORRUPT", "database disk image is malformed"),
        ValueError("x"),
    ],
)
def test_another_fault_on_a_full_disk_stays_that_fault(full: Path, error: Exception):
    assert not is_full(full, error)


def written_secret(data_dir: Path) -> None:
    load_secrets(Settings(_env_file=None, data_dir=data_dir))


def written_signing_key(data_dir: Path) -> None:
    SigningKeys(Settings(_env_file=None, data_dir=data_dir)).current()


def rotated_signing_key(data_dir: Path) -> None:
    SigningKeys(Settings(_env_file=None, data_dir=data_dir, signing_key_file=data_dir / "k.pem")).rotate(
        datetime.now(UTC)
    )


@pytest.mark.parametrize(
    ("write", "file"),
    [
        (written_secret, "The master secret {}/master.secret"),
        (written_signing_key, "The signing key file {}/signing.pem"),
        (rotated_signing_key, "The signing key file {}/k.pem"),
    ],
)
def test_a_key_that_a_full_disk_keeps_from_being_written_is_cured_by_space(
    tmp_path: Path, write: Callable[[Path], None], file: str
):
    with small_disk(tmp_path / "small", otherwise="nothing else has a disk of its own") as place:
        (place / "k.pem").write_text(key_text(new_private_key()))
        fill(place / "filler", leave=0)
        with pytest.raises(DiskFull) as caught:
            write(place)
        assert caught.value.what == f"{file.format(place)} can't be written: No space left on device."
        assert caught.value.cure.startswith("Free space on the disk of ")
        (place / "filler").unlink()
        write(place)


def test_dagster_s_records_are_moved_away_only_where_the_disk_has_room(tmp_path: Path, full: Path):
    broken = sqlite_error("SQLITE_IOERR_WRITE", "disk I/O error")
    on_full = diary_unusable(full / "dagster", "A database of it can't be read or written on this disk", broken)
    assert (type(on_full), on_full.what, on_full.cure) == (
        DiskFull,
        f"Dagster's records in {full}/dagster can't be written: the disk is full.",
        f"Free space on the disk of {full}/dagster, and try again; nothing has to be moved.",
    )
    with_room = diary_unusable(tmp_path, "A database of it can't be read or written on this disk", broken)
    assert (type(with_room), with_room.cure.startswith(f"Move {tmp_path} away")) == (StoreUnusable, True)
