"""Files written by a second thread: either they are complete with their digests, or the caller gets the error."""

from __future__ import annotations

import errno
import hashlib
import threading
from pathlib import Path

import pytest

from warehouse.world.digested_files import PIECES_WAITING, DigestedFiles
from warehouse.world.snapshot import FileEntry

FULL = Path("/dev/full")
"""A device that accepts no byte, like a full disk."""


def test_pieces_are_written_in_order_and_each_file_has_its_size_and_digest(tmp_path: Path) -> None:
    with DigestedFiles(tmp_path) as files:
        write_letters, write_numbers, _ = files.open("letters"), files.open("numbers"), files.open("empty")
        for number in range(100):
            write_letters(b"ab")
            write_numbers(memoryview(bytes([number])))
    written = {"letters": b"ab" * 100, "numbers": bytes(range(100)), "empty": b""}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == written
    assert files.entries() == {
        name: FileEntry(len(content), hashlib.sha256(content).hexdigest()) for name, content in written.items()
    }


def test_the_size_of_an_array_is_in_bytes(tmp_path: Path) -> None:
    with DigestedFiles(tmp_path) as files:
        files.open("numbers.u32")(memoryview(bytes([1, 0, 0, 0, 2, 0, 0, 0])).cast("I"))
    assert files.entries()["numbers.u32"].bytes == 8 == (tmp_path / "numbers.u32").stat().st_size


@pytest.mark.parametrize("pieces", [1, PIECES_WAITING, 10 * PIECES_WAITING])
def test_an_error_of_the_thread_reaches_the_caller_at_the_latest_at_the_end(tmp_path: Path, pieces: int) -> None:
    (tmp_path / "full").symlink_to(FULL)
    threads, written = threading.active_count(), 0
    with pytest.raises(OSError) as caught, DigestedFiles(tmp_path) as files:
        write = files.open("full")
        for _ in range(pieces):
            write(bytes(1_000_000))
            written += 1
    assert caught.value.errno == errno.ENOSPC
    assert written <= PIECES_WAITING
    assert threading.active_count() == threads


def test_the_rest_in_a_buffer_is_not_lost_without_an_error(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to(FULL)
    with pytest.raises(OSError, match="No space left"), DigestedFiles(tmp_path) as files:
        files.open("full")(b"a")


def test_a_write_that_failed_is_named_before_what_failed_after_it(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to(FULL)
    with pytest.raises(OSError, match="No space left"), DigestedFiles(tmp_path) as files:
        files.open("full")(bytes(1_000_000))
        raise ValueError("the index can't be written")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_block_that_fails_otherwise_raises_its_error_and_ends_the_thread(
    tmp_path: Path, error: type[BaseException]
) -> None:
    threads = threading.active_count()
    with pytest.raises(error), DigestedFiles(tmp_path) as files:
        files.open("a")(b"a")
        raise error
    assert threading.active_count() == threads
