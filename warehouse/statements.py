"""Loads SQL text from the folder of the room that runs it: short statements are named blocks of one file, and each long
statement has its own file.

`-- name: head` opens a block; `-- name: head (postgresql)` opens its form for one dialect. In a statement of the ledger
`{head}` is replaced by the text of that block. Names of the warehouse's statements (`read_sql`) are unique over all
rooms, and so are those of the ledger.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOMS = Path(__file__).parent

_FRAGMENT = re.compile(r"\{(\w+)\}")
_OPENING = re.compile(r"^-- name: (\w+)(?: \((\w+)\))?\n", re.MULTILINE)


@cache
def read_sql(name: str) -> str:
    """Returns the text of a DuckDB statement: a block of a room's `statements.sql`, or `<room>/<name>.sql`.

    Raises `LookupError` if no room, or more than one, has such a statement.
    """
    block = _statements().get((name, None))
    if block is not None:
        return block
    files = list(ROOMS.glob(f"*/{name}.sql"))
    if len(files) != 1:
        raise LookupError(f"{len(files)} rooms have a statement {name}")
    return files[0].read_text()


@cache
def dialect_statement(files: tuple[Path, ...], name: str, dialect: str) -> str:
    """Returns a block of `files` without comment lines: its form for `dialect` if it has one, else its common form."""
    blocks = _blocks_of(files)
    text = blocks.get((name, dialect)) or blocks[name, None]
    return without_comments(_FRAGMENT.sub(lambda named: dialect_statement(files, named[1], dialect).strip(), text))


def literal(value: object) -> str:
    """Returns a text or a path as an SQL literal, for statements that accept no parameter."""
    return "'" + str(value).replace("'", "''") + "'"


def without_comments(text: str) -> str:
    """Returns SQL without its comment lines: a `:name` in one would be read as a parameter."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("--"))


@cache
def _statements() -> dict[tuple[str, str | None], str]:
    return _blocks_of(tuple(sorted(ROOMS.glob("*/statements.sql"))))


@cache
def _blocks_of(files: Iterable[Path]) -> dict[tuple[str, str | None], str]:
    blocks: dict[tuple[str, str | None], str] = {}
    for file in files:
        _, *parts = _OPENING.split(file.read_text())
        for name, dialect, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            if (name, dialect) in blocks:
                raise LookupError(f"{file} names {name} a second time")
            blocks[name, dialect] = text
    return blocks
