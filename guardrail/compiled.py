"""Here belongs how data that people write in YAML is kept in a form that is quick to load, and when that form counts.

It counts while it was made of the very sources that are there by the very code that is there. An installed wheel has no
sources, so there it always counts. Elsewhere it is made at the first load, and kept where that can be written.
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
    """What `make` makes of the sources, from the file if that was made of them before. `makers` are the modules whose
    code decides about the result. What `make` raises passes on and leaves the file as it was."""
    mark = mark_of(sources, makers) if sources else None
    known = _read(file)
    if known is not None and (mark is None or known["made_of"] == mark):
        data: Plain = known["data"]
        return data
    made = make()
    # An installation that somebody else owns can't be written; then every start makes it anew.
    with suppress(OSError):
        _write(file, {"made_of": mark, "data": made})
    return made


def mark_of(sources: Mapping[str, bytes], makers: Iterable[Path]) -> str:
    """Returns the digest by which a compiled file is matched with its sources and with the code that made it."""
    modules = {f"code {path.name}": path.read_bytes() for path in makers}
    return digest_of_all({**sources, **modules})


def digest_of_all(contents: Mapping[str, bytes]) -> str:
    """Returns the digest of contents with their names."""
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
    """Writes the whole file or nothing: other processes may load it meanwhile."""
    beside = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        beside.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
