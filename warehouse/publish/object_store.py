"""Reads and writes the object store of `SVC_PUBLISH_URL`: objects by the hash of their content, and pointers.

The same code serves S3, Google Cloud Storage, Azure and a directory (`file://`). Credentials come from the environment
variables that the store's own tools use, such as `AWS_ACCESS_KEY_ID`.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import from_url

from contracts.errors import ObjectStoreAway, SettingsInvalid
from contracts.publish.pointers import pointer_name, pointer_number

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

POINTERS, OBJECTS, RUNS = "pointers", "objects", "runs.json"
AT_ONCE = 16
"""The number of concurrent transfers."""

_TIMEOUT_S = 10
_TOOK = re.compile(r" in [0-9.]+(?:ns|µs|ms|s)\b")
_CLIENT: ClientConfig = {"timeout": f"{_TIMEOUT_S}s", "connect_timeout": "3s", "allow_http": True}
_RETRIES: RetryConfig = {"max_retries": 2, "retry_timeout": timedelta(seconds=_TIMEOUT_S)}


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object's name, and the time of its last write by the store's clock."""

    name: str
    written_at: datetime


class ObjectStore:
    """One prefix of a store. Every method raises `ObjectStoreAway` if the store can't be used."""

    def __init__(self, url: str) -> None:
        self.url = url
        try:
            if url.startswith("file://"):
                self._store = from_url(url, mkdir=True)
            else:
                self._store = from_url(url, client_options=_CLIENT, retry_config=_RETRIES)
        except (BaseError, OSError, ValueError) as error:
            raise SettingsInvalid(
                f"SVC_PUBLISH_URL can't be used: {_first_line(error)}.",
                cure="Set s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///DIRECTORY.",
            ) from None

    def pointer_numbers(self, *, above: int = 0) -> list[int]:
        """Returns the numbers of all stored pointers greater than `above`, ascending."""
        offset = f"{POINTERS}/{pointer_name(above)}"
        with self._at_hand():
            listed = [
                entry["path"].rpartition("/")[2]
                for batch in obstore.list(self._store, prefix=POINTERS, offset=offset)
                for entry in batch
            ]
        return sorted(number for name in listed if (number := pointer_number(name)) is not None)

    def pointer(self, number: int) -> bytes | None:
        """Returns the stored bytes of a pointer, or None if there is none with that number."""
        return self.content(f"{POINTERS}/{pointer_name(number)}")

    def create_pointer(self, number: int, body: bytes) -> bool:
        """Stores a pointer under a free number. Returns False if another publisher took it first."""
        return self.create(f"{POINTERS}/{pointer_name(number)}", body)

    def create(self, name: str, body: bytes) -> bool:
        """Stores bytes under a free name. Returns False if another writer took it first."""
        with self._at_hand():
            try:
                obstore.put(self._store, name, body, mode="create")
            except AlreadyExistsError:
                return False
        return True

    def put_runs(self, content: bytes) -> None:
        """Replaces the stored status of the publishing host's jobs."""
        with self._at_hand():
            obstore.put(self._store, RUNS, content)

    def runs(self) -> bytes | None:
        """Returns what `put_runs` stored last, or None."""
        return self.content(RUNS)

    def content(self, name: str) -> bytes | None:
        """Returns the bytes that are stored under a name, or None."""
        with self._at_hand():
            try:
                return bytes(obstore.get(self._store, name).bytes())
            except FileNotFoundError:
                return None

    def listed(self, folder: str) -> list[StoredObject]:
        """Returns all objects in a folder."""
        with self._at_hand():
            return [
                StoredObject(entry["path"], entry["last_modified"])
                for batch in obstore.list(self._store, prefix=folder)
                for entry in batch
            ]

    def put_bytes(self, content: bytes) -> str:
        """Stores an object, and returns its SHA-256."""
        sha256 = hashlib.sha256(content).hexdigest()
        with self._at_hand():
            obstore.put(self._store, object_name(sha256), content)
        return sha256

    def bytes_of(self, sha256: str) -> bytes | None:
        """Returns an object's bytes, or None if it is not stored or its content does not match its name."""
        with self._at_hand():
            try:
                content = bytes(obstore.get(self._store, object_name(sha256)).bytes())
            except FileNotFoundError:
                return None
        return content if hashlib.sha256(content).hexdigest() == sha256 else None

    def put_files(self, files: Mapping[str, Path]) -> None:
        """Stores files under these names. A file that is stored already is written again, which renews its time."""

        async def put(name: str, path: Path, slots: asyncio.Semaphore) -> None:
            async with slots:
                await obstore.put_async(self._store, name, path)

        async def put_all() -> None:
            slots = asyncio.Semaphore(AT_ONCE)
            await asyncio.gather(*(put(name, path, slots) for name, path in files.items()))

        with self._at_hand():
            asyncio.run(put_all())

    def get_files(self, files: Iterable[tuple[str, Path]]) -> None:
        """Downloads objects, given by name, to files. An object that is not stored gives no file.

        The caller verifies the contents.
        """

        async def get(name: str, path: Path, slots: asyncio.Semaphore) -> None:
            async with slots:
                try:
                    answer = await obstore.get_async(self._store, name)
                except FileNotFoundError:
                    return
                with path.open("wb") as file:
                    async for chunk in answer.stream():
                        file.write(chunk)

        async def get_all() -> None:
            slots = asyncio.Semaphore(AT_ONCE)
            await asyncio.gather(*(get(name, path, slots) for name, path in files))

        with self._at_hand():
            asyncio.run(get_all())

    def delete_pointers(self, numbers: Iterable[int]) -> None:
        self.delete([f"{POINTERS}/{pointer_name(number)}" for number in numbers])

    def delete(self, names: Sequence[str]) -> None:
        if names:
            with self._at_hand():
                obstore.delete(self._store, names)

    @contextmanager
    def _at_hand(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise ObjectStoreAway(
                f"The object store {self.url} can't be used: {_first_line(error)}.",
                cure="The served generation stays, and the store is tried again. Check its address and credentials.",
            ) from None


def object_name(sha256: str) -> str:
    """Returns the name of an object that is stored by its content."""
    return f"{OBJECTS}/{sha256[:2]}/{sha256}"


def _first_line(error: BaseException) -> str:
    """Returns the first line of a client's error without the time it took, so that equal faults give equal texts."""
    return _TOOK.sub("", str(error).strip().partition("\n")[0]).rstrip(".")
