"""Stores compiled YAML as plain data in a file that loads quickly, and checks whether that file is current.

A compiled file is current if the present code made it from the present sources. An installed wheel contains no sources,
so its file is always current. Elsewhere the first load compiles the YAML, and stores the file if it can be written.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

Plain = dict[str, Any]


def load_compiled(file: Path, sources: Mapping[str, bytes], makers: Iterable[Path], make: Callable[[], Plain]) -> Plain:
    """Returns the file's data if it is current; otherwise calls `make` and writes the file. `makers` are the modules
    whose code determines the result. Errors of `make` propagate and leave the file unchanged."""
    mark = mark_of(sources, makers) if sources else None
    known = _read(file)
    if known is not None and (mark is None or known["made_of"] == mark):
        data: Plain = known["data"]
        return data
    made = make()
    # An installation owned by another user can't be written; then every start compiles again.
    with suppress(OSError):
        _write(file, {"made_of": mark, "data": made})
    return made


def mark_of(sources: Mapping[str, bytes], makers: Iterable[Path]) -> str:
    """Returns the digest that ties a compiled file to its sources and to the code that made it."""
    modules = {f"code {path.name}": path.read_bytes() for path in makers}
    return digest_of_all({**sources, **modules})


def digest_of_all(contents: Mapping[str, bytes]) -> str:
    """Returns the digest of contents and their names."""
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _read(file: Path) -> Plain | None:
    try:
        known = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and "made_of" in known and "data" in known else None


def _write(file: Path, content: Plain) -> None:
    """Replaces the file in one step, since other processes may load it meanwhile."""
    beside = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        beside.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
