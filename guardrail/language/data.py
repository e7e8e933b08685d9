"""Where words come from: YAML files in a checkout, one compiled file in a wheel, so that no YAML is read at start."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parent.parent
COMPILED = Path(__file__).with_name("words.json")
FILES = (
    "language/families.yaml",
    "reading/tool_lexicon.yaml",
    "reading/sentences.yaml",
    "reading/household.yaml",
)


@cache
def data_of(name: str) -> dict[str, Any]:
    """What a file of `FILES` holds: from the compiled file if that belongs to the source, or if there is no source."""
    compiled = _compiled().get(name)
    source = _PACKAGE / name
    if compiled is not None and (not source.is_file() or compiled["digest"] == _digest(source.read_bytes())):
        data: dict[str, Any] = compiled["data"]
        return data
    return _parsed(source)


def digest_of(name: str) -> str:
    """The digest of the source of a file of `FILES`."""
    source = _PACKAGE / name
    return _digest(source.read_bytes()) if source.is_file() else str(_compiled()[name]["digest"])


def compile_data() -> Path:
    """Writes every file into one that is quick to load; the wheel's build calls it."""
    compiled = {
        name: {"digest": digest_of(name), "data": _parsed(_PACKAGE / name)}
        for name in FILES
        if (_PACKAGE / name).is_file()
    }
    COMPILED.write_text(json.dumps(compiled, ensure_ascii=False), "utf-8")
    return COMPILED


@cache
def _compiled() -> dict[str, Any]:
    return json.loads(COMPILED.read_bytes()) if COMPILED.is_file() else {}


def _parsed(source: Path) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data: dict[str, Any] = yaml.load(source.read_text("utf-8"), loader)  # noqa: S506 (the safe loader, or its twin in C)
    return data


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
