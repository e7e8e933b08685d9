"""Prints the tests that a change concerns: those of the rooms it touches, in every layer, and all pure ones.

A change is what the work tree and the commits since `main` differ in.
"""

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
ALWAYS = ("tests/contracts", "tests/test_architecture.py")
LAYERS = frozenset(("contracts", "warehouse", "pipelines", "api", "cli"))


def changed_files() -> list[str]:
    """Returns paths of files that differ from `main`, or are new."""
    commands = (
        ("git", "diff", "--name-only", "main...HEAD"),
        ("git", "diff", "--name-only", "HEAD"),
        ("git", "ls-files", "--others", "--exclude-standard"),
    )
    outputs = (subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout for command in commands)
    return sorted({line for output in outputs for line in output.splitlines()})


def tests_of(paths: Iterable[str], exists: frozenset[str]) -> Iterator[str]:
    """Yields those of `exists`, directories and files of tests, that concern `paths`."""
    for path in map(PurePosixPath, paths):
        if path.parts[0] == "tests" and path.name.startswith("test_"):
            if str(path) in exists:
                yield str(path)
        elif path.parts[0] in LAYERS and len(path.parts) > 2:
            yield from (place for place in exists if PurePosixPath(place).name == path.parts[1])
        elif path.parts[0] in LAYERS:
            yield from (place for place in exists if PurePosixPath(place).name == f"test_{path.stem}.py")


def main() -> None:
    exists = frozenset(
        str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*") if "__pycache__" not in str(path)
    )
    print(*dict.fromkeys((*ALWAYS, *sorted(tests_of(changed_files(), exists)))))


if __name__ == "__main__":
    main()
