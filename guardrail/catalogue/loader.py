"""Loads the catalogue: checks YAML and turns it into plain data, and plain data into an object when a program is first
needed.

Mistakes raise `CatalogueInvalid`, which lists each one with file and line. Nothing is changed in place, so that a
catalogue that was loaded before stays usable.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from guardrail.catalogue.building import build_program
from guardrail.catalogue.checking import Fault, check_source
from guardrail.catalogue.entries import Program
from guardrail.compiled import Plain, digest_of_all, load_compiled

PROGRAMS = Path(__file__).parent / "programs"
COMPILED = Path(__file__).parent / "catalogue.json"
_MAKERS = (
    Path(__file__),
    Path(__file__).with_name("checking.py"),
    Path(__file__).parent.parent / "vocabulary.py",
)


class CatalogueInvalid(ValueError):
    """The catalogue has mistakes; `faults` lists each with file and line."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class Catalogue:
    """All programs by name. A program's object is built when it is first needed."""

    __slots__ = ("_built", "_entries", "_names", "digest")

    def __init__(self, plain: Plain) -> None:
        self.digest: str = plain["digest"]
        self._entries: list[str] = plain["entries"]
        self._names: dict[str, tuple[int, str]] = plain["names"]
        self._built: dict[str, Program] = {}

    def program(self, name: str) -> Program | None:
        """Returns the program's entry, or None if the catalogue lacks it."""
        built = self._built.get(name)
        if built is not None:
            return built
        found = self._names.get(name)
        if found is None:
            return None
        at, main = found
        built = build_program(json.loads(self._entries[at]), main)
        self._built[name] = built
        return built

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len({main for _, main in self._names.values()})


def load(programs: Path = PROGRAMS, compiled: Path = COMPILED) -> Catalogue:
    """Loads the catalogue of these sources, or the compiled one of an installed wheel."""
    sources = source_files(programs)
    return Catalogue(load_compiled(compiled, sources, _MAKERS, lambda: plain_catalogue(sources)))


@cache
def default_catalogue() -> Catalogue:
    """Returns the catalogue of this installation, loaded once."""
    return load()


def source_files(programs: Path) -> dict[str, bytes]:
    """Returns the YAML files of a directory by name."""
    if not programs.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in sorted(programs.glob("*.yaml"))}


def plain_catalogue(sources: Mapping[str, bytes]) -> Plain:
    """Returns all sources as one plain JSON structure. Mistakes of all files are raised together."""
    plain, faults = collect(sources)
    if faults:
        raise CatalogueInvalid(faults)
    return plain


def collect(sources: Mapping[str, bytes]) -> tuple[Plain, list[Fault]]:
    """Returns the valid entries of all sources as one plain structure, and the mistakes. A name that occurs twice
    belongs to the first entry. Each entry is a separate text, which is parsed when its program is needed."""
    entries: list[str] = []
    names: dict[str, tuple[int, str]] = {}
    homes: dict[str, str] = {}
    faults: list[Fault] = []
    for file, content in sources.items():
        checked, file_faults = check_source(file, content)
        faults.extend(file_faults)
        for entry in checked:
            line = entry["line"]
            for main, spellings in _spellings(entry):
                for spelling in spellings:
                    if homes.get(spelling) == f"{file}:{line}":
                        continue  # two spellings of one name, such as `ps:x` and `ps:X`
                    if spelling in homes:
                        message = f"the name {spelling!r} is already taken ({homes[spelling]})"
                        faults.append(Fault(file, line, message))
                        continue
                    homes[spelling] = f"{file}:{line}"
                    names[spelling] = (len(entries), main)
            kept = {key: value for key, value in entry.items() if key not in ("line", "examples")}
            entries.append(json.dumps(kept, ensure_ascii=False, separators=(",", ":")))
    return {"digest": digest_of_all(sources), "entries": entries, "names": names}, faults


def _spellings(entry: Plain) -> Iterator[tuple[str, tuple[str, ...]]]:
    if "program" in entry:
        yield entry["program"], (entry["program"], *entry.get("aliases", ()))
    for name in entry.get("programs", ()):
        yield name, (name,)
