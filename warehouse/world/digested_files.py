"""Writes files in a second thread, which also computes their digests, so that the caller waits for neither."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import BinaryIO

from warehouse.world.snapshot import FileEntry

Write = Callable[[bytes | memoryview], None]
"""Appends content, which must not change afterwards, to a file. Raises the error of an earlier write."""

PIECES_WAITING = 8
"""Maximum number of pieces of content in the queue. A caller with one more waits until the first is written."""


class DigestedFiles:
    """Writes files in `directory`. At the end of the `with` block they are complete, or the error of the first failed
    write is raised."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._thread = ThreadPoolExecutor(1)
        self._waiting: deque[Future[None]] = deque()
        self._opened = ExitStack()
        self._files: dict[str, _DigestedFile] = {}

    def open(self, name: str) -> Write:
        """Creates an empty file and returns a function that appends to it."""
        file = _DigestedFile(self._opened.enter_context((self._directory / name).open("wb")))
        self._files[name] = file
        return partial(self._write, file)

    def entries(self) -> dict[str, FileEntry]:
        """Returns the size and digest of every file by name. Call it after the `with` block."""
        return {name: file.entry() for name, file in self._files.items()}

    def _write(self, file: _DigestedFile, content: bytes | memoryview) -> None:
        self._waiting.append(self._thread.submit(file.write, content))
        self._wait_until_at_most(PIECES_WAITING)

    def _wait_until_at_most(self, pieces: int) -> None:
        while len(self._waiting) > pieces:
            self._waiting.popleft().result()

    def __enter__(self) -> DigestedFiles:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        with self._opened:
            try:
                if failure is None or issubclass(failure, Exception):  # the same full disk may have caused both
                    self._wait_until_at_most(0)
            finally:
                self._thread.shutdown(cancel_futures=True)


class _DigestedFile:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bytes = 0
        self._sha256 = hashlib.sha256()

    def write(self, content: bytes | memoryview) -> None:
        self._file.write(content)
        self._sha256.update(content)
        self._bytes += memoryview(content).nbytes

    def entry(self) -> FileEntry:
        return FileEntry(self._bytes, self._sha256.hexdigest())
