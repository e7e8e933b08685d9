"""Reads declarations of the warehouse's tables: `<room>/tables/<table>.sql` is the only description of its table.

A file starts with the table's grain and, optionally, how the table is published, and continues with `create table if
not exists` and a meaning after every column. A derived table continues with `-- rows:` and a query of all its rows,
with the table's column names. A file may end with `-- checks (blocking) name_of_what_holds:` or `-- checks (warning)
...:` and a query of one row. In that row a column that begins with `checked_` counts the checked rows; every other
column counts violations. A meaning that contains `0..100` bounds its column. The schema, the comments in published
databases, the columns and checks of the asset, the whole asset of a derived table, the Great Expectations suite and the
published data contract are all derived from the file.

`-- public: <name>` after the grain publishes the table under `/data/` with its public name: as a whole, `by block of
<column>` or `by day of <column>` (a file per range of blocks or per UTC day), `without <columns>` that stay private.
Only rooms that read nothing but the chain and public feeds can publish tables.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from warehouse.statements import ROOMS, literal, without_comments

MEASURE = "checked_"

PUBLIC_ROOMS = frozenset({"bidwall", "market", "token", "trust"})
"""Rooms whose tables come only from the chain and public feeds. No other table may be published: keys, registrations,
sessions and the graph contain what people told the service."""

_FILE = re.compile(
    r"(?P<grain>(?:--(?! public:).*\n)+)(?:-- public: (?P<public>.*)\n)?"
    r"(?P<sql>create table if not exists (?P<name>\w+) \(\n(?P<columns>(?s:.*?\n))\);\n(?s:.*))"
)
_PUBLIC = re.compile(
    r"(?P<name>[a-z][a-z0-9_]*)(?: by (?P<split>block|day) of (?P<column>\w+))?(?: without (?P<without>\w+(?:, \w+)*))?"
)
_ROWS = re.compile(r"(?P<words>.*\n(?:--.*\n)*)(?P<query>\w(?s:.+))")
_CHECKS = re.compile(rf"\((?P<on_failure>blocking|warning)\)(?: (?P<name>\w+))?:{_ROWS.pattern}")
_BOUNDS = re.compile(r"(?<![\w.])(-?\d+)\.\.(-?\d+)(?![\w.])")
UNNAMED = "rows_are_as_declared"
_COLUMN = re.compile(r"^    (?P<name>\w+) (?P<type>[^\n]+?),?  (?P<meaning>--.*\n(?:    --.*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Rows:
    """The rows of a derived table in words, and the query that returns them."""

    meaning: str
    query: str


@dataclass(frozen=True)
class Checks:
    """The promise of a table in words, and the query that counts its violations. Failed `blocking` checks stop
    publishing.

    `name` states what is true if they pass.
    """

    name: str
    promise: str
    blocking: bool
    query: str


Split = Literal["whole", "block", "day"]


@dataclass(frozen=True)
class Publication:
    """How a table is published: its public name, its files, and the columns that are left out.

    `split` is the kind of files, and `column` the column that decides which file contains a row.
    """

    name: str
    split: Split = "whole"
    column: str | None = None
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Table:
    """One declared table. `sql` creates it; `meanings` and `types` (without `not null`) have an entry per column, in
    order; `public` is None if the table stays within the service."""

    name: str
    grain: str
    public: Publication | None
    sql: str
    meanings: Mapping[str, str]
    types: Mapping[str, str]
    rows: Rows | None
    checks: Checks | None

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        """Returns the least and greatest value of each column whose meaning states them."""
        found = {name: _BOUNDS.search(meaning) for name, meaning in self.meanings.items()}
        return {name: (float(match[1]), float(match[2])) for name, match in found.items() if match}

    def comments(self, database: str) -> str:
        """Returns statements that add grain and meanings as comments to the table in a `database` to be published.

        The warehouse itself has no comments: they would take three times as long as its tables, at every first opening.
        """
        place = f"{database}.{self.name}"
        columns = (
            f"comment on column {place}.{name} is {literal(meaning)};" for name, meaning in self.meanings.items()
        )
        return "\n".join((f"comment on table {place} is {literal(self.grain)};", *columns))


@cache
def tables() -> Mapping[str, Table]:
    """Returns every declared table by its name."""
    files = sorted(ROOMS.glob("*/tables/*.sql"))
    declared = {file.stem: read_table(file.read_text(), room=file.parts[-3]) for file in files}
    assert all(name == table.name for name, table in declared.items()), "a file has the name of its table"
    assert len(declared) == len(files), "a table is declared once"
    return declared


@cache
def room_of(table: str) -> str:
    """Returns the room that declares a table."""
    (file,) = ROOMS.glob(f"*/tables/{table}.sql")
    return file.parents[1].name


@cache
def schema() -> str:
    """Returns statements that bring a database to the declared state after `missing_columns`."""
    return "\n".join((_types(), *(table.sql for table in tables().values())))


def missing_columns(columns: Iterable[tuple[str, str]]) -> str:
    """Returns statements that add the declared columns which tables of a database lack. `columns` are the existing
    ones, as table and column.

    In existing rows an added column is null until the table's declaration or a run fills it, since DuckDB can't add a
    `not null` column.
    """
    existing: dict[str, set[str]] = {}
    for table, column in columns:
        existing.setdefault(table, set()).add(column)
    added = (
        f"alter table {name} add column {column} {kind};"
        for name, table in tables().items()
        for column, kind in table.types.items()
        if name in existing and column not in existing[name]
    )
    return "\n".join((_types(), *added))


@cache
def _types() -> str:
    return (ROOMS / "duck" / "schema.sql").read_text()


def read_table(text: str, *, room: str) -> Table:
    """Parses one declaration of a room.

    Raises `ValueError` if the grain or a column's meaning is missing, or the table must not be public.
    """
    declaration, checks_opening, rest = text.partition("\n-- checks ")
    declaration, rows_opening, filling = declaration.partition("\n-- rows:")
    file, rows, checks = _FILE.fullmatch(declaration), _ROWS.fullmatch(filling), _CHECKS.fullmatch(rest)
    if file is None or (rows_opening and rows is None) or (checks_opening and checks is None):
        raise ValueError(f"This is not the declaration of a table:\n{text}")
    columns = {column["name"]: _prose(column["meaning"]) for column in _COLUMN.finditer(file["columns"])}
    types = {column["name"]: column["type"].removesuffix(" not null") for column in _COLUMN.finditer(file["columns"])}
    undescribed = without_comments(_COLUMN.sub("", file["columns"])).strip()
    if undescribed:
        raise ValueError(f"A column of {file['name']} has no meaning: {undescribed}")
    if file["public"] is not None and (room not in PUBLIC_ROOMS or file["name"].startswith("raw_ledger__")):
        raise ValueError(
            f"{file['name']} of the room {room} can't be public: only {', '.join(sorted(PUBLIC_ROOMS))} can."
        )
    return Table(
        file["name"],
        _prose(file["grain"]),
        None if file["public"] is None else _publication(file["name"], file["public"], columns),
        file["sql"],
        columns,
        types,
        rows and Rows(_prose(rows["words"]), rows["query"]),
        checks
        and Checks(
            checks["name"] or UNNAMED, _prose(checks["words"]), checks["on_failure"] == "blocking", checks["query"]
        ),
    )


def _publication(table: str, text: str, columns: Mapping[str, str]) -> Publication:
    parsed = _PUBLIC.fullmatch(text)
    if parsed is None:
        raise ValueError(f"{table} declares how it is public in an unknown form: {text}")
    without = frozenset((parsed["without"] or "").split(", ")) - {""}
    unknown = ({parsed["column"]} - {None} | without) - columns.keys()
    if unknown or parsed["column"] in without:
        raise ValueError(f"{table} declares how it is public by columns that it does not have: {text}")
    split: Split = "whole" if parsed["split"] is None else "block" if parsed["split"] == "block" else "day"
    return Publication(parsed["name"], split, parsed["column"], without)


def _prose(comment: str) -> str:
    """Returns the text of comment lines as one line."""
    return " ".join(line.strip().removeprefix("--").strip() for line in comment.splitlines())
