"""The source of words and names: YAML files, compiled into one file."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from guardrail.compiled import Plain, load_compiled

_PACKAGE = Path(__file__).parent.parent
COMPILED = Path(__file__).with_name("words.json")
FILES = (
    "catalogue/names.yaml",
    "language/families.yaml",
    "reading/tool_lexicon.yaml",
    "reading/sentences.yaml",
    "reading/household.yaml",
)


def data_of(name: str) -> dict[str, Any]:
    """Returns the content of a file of `FILES`."""
    data: dict[str, Any] = load_data()[name]["data"]
    return data


def digest_of(name: str) -> str:
    """Returns the digest of the source of a file of `FILES`."""
    return str(load_data()[name]["digest"])


@cache
def load_data() -> Plain:
    """Returns the digest and the data of each file, also from an installed wheel."""
    return load_from(_PACKAGE, COMPILED)


def load_from(package: Path, compiled: Path) -> Plain:
    """Returns the digest and the data of each file below a directory."""
    sources = {name: (package / name).read_bytes() for name in FILES if (package / name).is_file()}
    return load_compiled(compiled, sources, (Path(__file__),), lambda: _plain(sources))


def _plain(sources: dict[str, bytes]) -> Plain:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {
        name: {
            "digest": hashlib.sha256(content).hexdigest(),
            "data": yaml.load(content, loader),  # noqa: S506 (the safe loader, or its twin in C)
        }
        for name, content in sources.items()
    }


@cache
def names(group: str) -> frozenset[str]:
    """Returns a group of program names from the catalogue."""
    return frozenset(data_of("catalogue/names.yaml")[group])
