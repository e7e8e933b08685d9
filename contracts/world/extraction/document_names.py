"""Gives each note of a folder the id that its document has in the graph, even if the file has moved since.

Example: `trip.md` was `plan.md` when it was imported, and most of its text is the same. Its document stays `plan.md`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import PurePosixPath

from contracts.canonical import sha256_hex
from contracts.world.extraction.moved_documents import LEAST_IN_COMMON, BuiltDocument, document_like, part_in

_NOT_OF_AN_ID = re.compile(r"[^A-Za-z0-9._/@#-]+")
_LONGEST_DOCUMENT_ID = 128


class DocumentNames:
    """Gives each note the id of its document: its former id, even if the note has moved since.

    `former` are the documents in the graph; `read` returns the text at a path, or None if it is unreadable.
    """

    def __init__(
        self, former: Mapping[str, BuiltDocument], paths: Collection[str], read: Callable[[str], str | None]
    ) -> None:
        self._former = former
        self._at = _last_paths(former, paths)
        self._read = read
        self._by_path = {path: name for name, path in self._at.items() if path in paths}
        left = self._left()
        staying = set(self._by_path.values()) - left.keys()
        lost = {name: document for name, document in former.items() if name not in staying}
        unsure = {path for path in paths if self._by_path.get(path) not in staying}
        found = self._found(lost, left, sorted(unsure)) if lost else {}
        moved = set(found.values())
        self._by_path = {path: name for path, name in self._by_path.items() if name not in moved} | found
        self._taken = set(self._by_path.values())
        self.moved = len(found)
        """The number of notes that had other paths before."""

    def id_of(self, path: str) -> str:
        """Returns the id of the note at a path below the folder."""
        known = self._by_path.get(path)
        if known is None:
            plain = _document_id(path)
            known = self._by_path[path] = _hashed_id(path) if plain in self._taken else plain
            self._taken.add(known)
        return known

    def _left(self) -> dict[str, float]:
        """Returns the documents that may have moved, as at most half of each is at its path, with the part that is."""
        texts = ((name, self._read(path)) for path, name in self._by_path.items())
        parts = {name: part_in(text, self._former[name]) for name, text in texts if text is not None}
        return {name: part for name, part in parts.items() if part <= LEAST_IN_COMMON}

    def _found(self, lost: dict[str, BuiltDocument], left: Mapping[str, float], paths: Iterable[str]) -> dict[str, str]:
        """Returns the ids of lost documents by their present paths.

        Compares documents of the same file name first: most notes keep theirs when folders are reorganised, and
        comparing each note with all lost documents takes quadratic time.
        """
        by_file_name: dict[str, list[str]] = {}
        for name in lost:
            by_file_name.setdefault(PurePosixPath(self._at[name]).name, []).append(name)
        found: dict[str, str] = {}
        for path in paths:
            if not lost:
                break
            if (text := self._read(path)) is None:
                continue
            called_so = by_file_name.get(PurePosixPath(path).name, ())
            alike = document_like(text, {name: lost[name] for name in called_so if name in lost}, left)
            alike = alike or document_like(text, lost, left)
            if alike is not None:
                found[path] = alike
                del lost[alike]
        return found


def _last_paths(former: Mapping[str, BuiltDocument], paths: Collection[str]) -> dict[str, str]:
    """Returns the path of each document: its last one. If that is gone, its id is its path, unless another document is
    there."""
    last = {name: document.url or name for name, document in former.items()}
    there = {path for path in last.values() if path in paths}
    return {name: name if path not in paths and name not in there else path for name, path in last.items()}


def _document_id(path: str) -> str:
    """Returns the path of a note as an id that spans may contain. A path with other characters gets a hash."""
    plain = _plain_id(path)
    return plain if plain == path and len(plain) <= _LONGEST_DOCUMENT_ID else _hashed_id(path)


def _plain_id(path: str) -> str:
    return _NOT_OF_AN_ID.sub("-", path).lstrip("-._/@#")


def _hashed_id(path: str) -> str:
    return f"{_plain_id(path)[-100:].lstrip('-._/@#')}-{sha256_hex(path.encode())[:8]}"
