"""Prints the tests that a change concerns: in every layer those of the rooms it touches, and all pure ones.

A change is the difference between `main` and the work tree, commits included.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
ALWAYS = ("tests/contracts", "tests/test_architecture.py")
LAYERS = frozenset(("contracts", "warehouse", "pipelines", "api", "cli"))
BY_PLACE = {
    "README.md": ("tests/test_documentation.py",),
    "docs": ("tests/test_documentation.py",),
    "guardrail": ("tests/guardrail", "tests/api/guardrail"),
    "clients": ("tests/client_libraries",),
    "site": ("tests/pipelines/site",),
    "contracts/errors.py": ("tests/api/openapi", "tests/pipelines/site"),
    "contracts/settings.py": ("tests/cli/test_doctor.py",),
    "pipelines": ("tests/pipelines/test_definitions.py",),
    "cli": ("tests/cli/test_command_line.py",),
}
"""Further tests besides those of a room, by the path that they concern or a folder above it. The tables of every room
also have `TABLE_TESTS`."""
TABLE_TESTS = (
    "tests/warehouse/duck",
    "tests/warehouse/open_data",
    "tests/pipelines/test_definitions.py",
    "tests/pipelines/test_expectations.py",
)


def changed_files() -> list[str]:
    """Returns the paths of files that differ from `main` or are new."""
    commands = (
        ("git", "diff", "--name-only", "main...HEAD"),
        ("git", "diff", "--name-only", "HEAD"),
        ("git", "ls-files", "--others", "--exclude-standard"),
    )
    outputs = (subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout for command in commands)
    return sorted({line for output in outputs for line in output.splitlines()})


def tests_of(paths: Iterable[str], exists: Mapping[str, str]) -> Iterator[str]:
    """Yields the entries of `exists` (test directories and files, with their texts) that concern `paths`.

    A helper of tests concerns the tests that import it.
    """
    for path in map(PurePosixPath, paths):
        for place in (str(path), *map(str, path.parents)):
            yield from BY_PLACE.get(place, ())
        if path.parts[0] == "tests" and path.name.startswith("test_"):
            if str(path) in exists:
                yield str(path)
        elif path.parts[0] == "tests" and path.suffix == ".py":
            imported = re.compile(rf"^(?:from|import) {path.stem}\b", re.MULTILINE)
            yield from (place for place, text in exists.items() if imported.search(text))
        elif path.parts[0] in LAYERS and len(path.parts) > 2:
            yield from (place for place in exists if PurePosixPath(place).name == path.parts[1])
            if path.parts[2] == "tables":
                yield from TABLE_TESTS
        elif path.parts[0] in LAYERS:
            yield from (place for place in exists if PurePosixPath(place).name == f"test_{path.stem}.py")


def places_of_tests() -> dict[str, str]:
    """Returns the directories and files of tests; files with their texts."""
    return {
        str(path.relative_to(ROOT)): path.read_text() if path.is_file() else ""
        for path in (ROOT / "tests").rglob("*")
        if (path.is_dir() and path.name != "__pycache__") or path.match("test_*.py")
    }


def main() -> None:
    print(*dict.fromkeys((*ALWAYS, *sorted(tests_of(changed_files(), places_of_tests())))))


if __name__ == "__main__":
    main()
