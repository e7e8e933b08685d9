"""Reads and writes private files: whole, only for the owner, never through a link."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

from guardrail.hooks.directories import make_private

PRIVATE = 0o600


def write_private(path: Path, content: bytes) -> None:
    """Writes a file that only its owner can use, so that a reader sees either the old or the new content."""
    make_private(str(path.parent))
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_private(path: Path) -> bytes | None:
    """Returns the content of a file that only its owner can use; None if it doesn't exist or others could have written
    it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        return file.read() if found.st_uid == os.getuid() and not found.st_mode & 0o022 else None


def read_private_json(path: Path) -> dict[str, Any]:
    """Returns the object in a private file; an empty one if the file is missing or can't be used."""
    try:
        value = json.loads(read_private(path) or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def write_private_json(path: Path, value: dict[str, Any]) -> None:
    """Writes an object as a private file."""
    write_private(path, json.dumps(value, indent=1, sort_keys=True).encode())
