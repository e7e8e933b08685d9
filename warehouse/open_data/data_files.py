"""Builds the data files of a generation from the warehouse: Parquet and CSV of public tables, and one DuckDB file.

A part's version is a digest of everything that determines its bytes, so a file whose rows did not change is linked from
the last generation instead of written.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import duckdb

from contracts.open_data.block_ranges import RangeFacts, plan_ranges
from contracts.open_data.first_rows import ROWS_IN_FILE, first_rows_path
from contracts.open_data.names import DATABASE_PATH, FileName, parse_file_name
from contracts.token.holders import list_file_name
from warehouse.duck.connection import STORAGE_VERSION, transaction
from warehouse.open_data.first_rows import newest_rows
from warehouse.open_data.public_tables import HOLDERS, PublicTable, Units, known_units, prepare, public_tables
from warehouse.publish.disk import full_disk_named
from warehouse.publish.generations import Draft, Part
from warehouse.statements import literal, read_sql
from warehouse.token.holders import rows_of

FOLDER = "public/data/"
DATABASE_FILE = f"public{DATABASE_PATH}"

DATABASE_AT_MOST_EVERY = timedelta(hours=1)

_FORM = "1"
"""Must change when equal rows give other bytes than before."""

_ROWS_PER_GROUP = 6144
"""Rows per Parquet row group: a multiple of DuckDB's vector size. A look-up of one key reads the file's index and one
group."""

_COUNTED_BLOCKS = 1000
"""Blocks per bucket when rows are counted; within a bucket, blocks are counted one by one."""

_PARQUET = f"format parquet, compression zstd, row_group_size {_ROWS_PER_GROUP}"
_CSV = "format csv, header, timestampformat '%Y-%m-%dT%H:%M:%S.%fZ'"
"""Times have microseconds, as in Parquet, in every row: readers derive a column's format from its first rows."""


def data_parts(
    connection: duckdb.DuckDBPyConnection, holders_dir: Path, blocks: Mapping[int, int], draft: Draft
) -> dict[str, Part]:
    """Returns every data file. `blocks` are those of the readable holder lists, with their numbers of holders.

    The DuckDB file comes last, since it is built from the others; it is rebuilt at most once an hour.
    """
    prepare(connection)
    units = known_units(connection)
    parts: dict[str, Part] = {}
    for public in public_tables().values():
        if public.dataset.name != HOLDERS:
            parts |= _table_parts(connection, public, units, date.min)
    parts |= _list_parts(connection, holders_dir, blocks, units)
    return parts | {DATABASE_FILE: _database(connection, parts, units, draft)}


def recent_day_parts(connection: duckdb.DuckDBPyConnection, draft: Draft) -> dict[str, Part]:
    """Returns the files of yesterday and today of tables that are published by day, since prices are read every minute.

    All other files stay unchanged, including the DuckDB file.
    """
    prepare(connection)
    units = known_units(connection)
    since = draft.created_at.date() - timedelta(days=1)
    parts: dict[str, Part] = {}
    for public in public_tables().values():
        if public.dataset.split == "day":
            parts |= _by_day(connection, public, units, since)
    return parts


def _table_parts(
    connection: duckdb.DuckDBPyConnection, public: PublicTable, units: Units, since: date
) -> Iterator[tuple[str, Part]]:
    match public.dataset.split:
        case "block":
            return _by_block(connection, public, units)
        case "day":
            return _by_day(connection, public, units, since)
        case _:
            return _whole(connection, public, units)


def _by_block(connection: duckdb.DuckDBPyConnection, public: PublicTable, units: Units) -> Iterator[tuple[str, Part]]:
    table, column = public.source.name, public.publication.column
    ((highest,),) = connection.execute(_filled("highest_block", public)).fetchall()
    buckets = _facts(connection, public, 0, highest, _COUNTED_BLOCKS)

    def facts_of(first: int, last: int) -> RangeFacts:
        if first % _COUNTED_BLOCKS == 0 and ((last + 1) % _COUNTED_BLOCKS == 0 or last == highest):
            wanted = range(first // _COUNTED_BLOCKS, last // _COUNTED_BLOCKS + 1)
            found = [buckets[bucket] for bucket in wanted if bucket in buckets]
        else:
            found = list(_facts(connection, public, first, last, 1).values())
        digest = 0
        for facts in found:
            digest ^= facts.digest
        return RangeFacts(
            sum(facts.rows for facts in found), max((facts.last_block for facts in found), default=-1), digest
        )

    for part in plan_ranges(highest, facts_of):
        name = FileName(public.dataset.name, first_block=part.first, last_block=part.last)
        rows = f"{table} where {column} between {part.first} and {part.last}"
        path, written = _part(connection, name, public, units, rows, "", part.facts.rows, part.facts.digest)
        yield path, replace(written, last_block=part.facts.last_block)
    digests = [(bucket, facts.rows, facts.digest) for bucket, facts in sorted(buckets.items())]
    yield _first_part(connection, public, units, table, digests)


def _by_day(
    connection: duckdb.DuckDBPyConnection, public: PublicTable, units: Units, since: date
) -> Iterator[tuple[str, Part]]:
    table, column = public.source.name, public.publication.column
    days = connection.execute(_filled("day_facts", public, since=since.isoformat())).fetchall()
    for day, rows, digest in days:
        name, of_day = FileName(public.dataset.name, day=day), f"{table} where {column}::date = '{day}'::date"
        yield _part(connection, name, public, units, of_day, f"order by {column}", rows, digest)
    yield _first_part(connection, public, units, table, days[-1:])


def _whole(connection: duckdb.DuckDBPyConnection, public: PublicTable, units: Units) -> Iterator[tuple[str, Part]]:
    """Yields the same rows as Parquet and as CSV."""
    digested = read_sql("table_digest").replace("$table", public.source.name)
    ((rows, digest),) = connection.execute(digested).fetchall()
    for format_ in ("parquet", "csv"):
        name = FileName(public.dataset.name, format_)
        yield _part(connection, name, public, units, public.source.name, "order by all", rows, digest)
    yield _first_part(connection, public, units, public.source.name, (rows, digest))


def _list_parts(
    connection: duckdb.DuckDBPyConnection, holders_dir: Path, blocks: Mapping[int, int], units: Units
) -> Iterator[tuple[str, Part]]:
    """Yields the holder lists sorted by address, so that a look-up of one address reads one group of rows."""
    public = public_tables()[HOLDERS]
    for block, holders in blocks.items():
        file = holders_dir / list_file_name(block)
        name = FileName(HOLDERS, first_block=block, last_block=block)
        source = f"read_parquet({literal(file)})"
        digest = Part.of_file(file).version
        yield _part(connection, name, public, units, source, "order by address", holders, digest)
    if blocks:
        file = holders_dir / list_file_name(max(blocks))
        yield _first_part(connection, public, units, rows_of(file), Part.of_file(file).version)


def _part(
    connection: duckdb.DuckDBPyConnection,
    name: FileName,
    public: PublicTable,
    units: Units,
    source: str,
    order: str,
    rows: int,
    digest: object,
) -> tuple[str, Part]:
    """Returns the path and the part of one file. `source` is the SQL after `from`; `digest` identifies its rows."""
    options = _CSV if name.format == "csv" else _PARQUET

    def write(path: Path) -> None:
        with full_disk_named(path):
            connection.execute(f"copy ({public.rows(units, source)} {order}) to {literal(path)} ({options})")

    anywhere = public.rows(units, public.source.name)  # moving the data directory must not change the version
    version = hashlib.sha256(repr((_FORM, anywhere, options, rows, digest)).encode()).hexdigest()
    return f"{FOLDER}{name}", Part(version, write=write, rows=rows)


def _first_part(
    connection: duckdb.DuckDBPyConnection, public: PublicTable, units: Units, source: str, digest: object
) -> tuple[str, Part]:
    """Returns path and part of the file with the newest rows; `digest` identifies all rows that may be among them."""
    selected = newest_rows(public, units, source, ROWS_IN_FILE)

    def write(path: Path) -> None:
        with full_disk_named(path):
            connection.execute(f"copy ({selected}) to {literal(path)} ({_CSV})")

    anywhere = newest_rows(public, units, public.source.name, ROWS_IN_FILE)
    version = hashlib.sha256(repr((_FORM, anywhere, _CSV, digest)).encode()).hexdigest()
    return f"public{first_rows_path(public.dataset.name)}", Part(version, write=write)


def _database(connection: duckdb.DuckDBPyConnection, parts: Mapping[str, Part], units: Units, draft: Draft) -> Part:
    """Returns the DuckDB file of all datasets with their comments. Of the holder lists it contains only the newest."""
    described = "\n".join(public.comments("open_data") for public in public_tables().values())
    versions = {path: part.version for path, part in parts.items()}
    version = hashlib.sha256(repr((_FORM, STORAGE_VERSION, described, versions)).encode()).hexdigest()
    kept = _too_young_to_change(parts, draft)
    if kept is not None:
        return Part(kept)

    def write(path: Path) -> None:
        sources = _sources(path.parent, parts)
        with full_disk_named(path):
            connection.execute(f"attach {literal(path)} as open_data (storage_version '{STORAGE_VERSION}')")
            try:
                with transaction(connection):
                    for name, public in public_tables().items():
                        connection.execute(_created(public, units, sources.get(name, [])))
                    connection.execute(described)
                connection.execute("checkpoint open_data")
            finally:
                connection.execute("detach database if exists open_data")

    return Part(version, write=write)


def _created(public: PublicTable, units: Units, files: list[Path]) -> str:
    columns = ", ".join(
        f'"{column.name}" {column.type}{" not null" if column.required else ""}' for column in public.dataset.columns
    )
    create = f"create table open_data.{public.dataset.name} ({columns});"
    if not files:
        return create
    listed = ", ".join(map(literal, files))
    return create + f"insert into open_data.{public.dataset.name} by name from read_parquet([{listed}]);"


def _sources(folder: Path, parts: Iterable[str]) -> dict[str, list[Path]]:
    """Returns the Parquet files of each dataset, in the order of their rows; of the holder lists only the newest."""
    named = [parse_file_name(path.removeprefix(FOLDER)) for path in parts]
    names = [name for name in named if name is not None and name.format == "parquet"]
    found: dict[str, list[Path]] = {}
    for name in sorted(names, key=lambda name: (name.dataset, name.first_block or 0, name.day or "")):
        file = folder / str(name)
        found[name.dataset] = [file] if name.dataset == HOLDERS else [*found.get(name.dataset, []), file]
    return found


def _too_young_to_change(parts: Mapping[str, Part], draft: Draft) -> str | None:
    """Returns the version of the last generation's file if it is less than an hour old, else None. Also returns None if
    the file was built before the first holder list."""
    components = {} if draft.previous is None else draft.previous.manifest.components
    last = components.get(DATABASE_FILE)
    if HOLDERS in _sources(Path(), parts) and HOLDERS not in _sources(Path(), components):
        return None
    if last is None or draft.created_at.timestamp() - last.mtime >= DATABASE_AT_MOST_EVERY.total_seconds():
        return None
    return last.version


def _facts(
    connection: duckdb.DuckDBPyConnection, public: PublicTable, first: int, last: int, length: int
) -> dict[int, RangeFacts]:
    statement = _filled("block_facts", public, first=first, last=last, length=length)
    return {bucket: RangeFacts(*facts) for bucket, *facts in connection.execute(statement).fetchall()}


def _filled(name: str, public: PublicTable, **values: object) -> str:
    """Returns a statement with the names of a table and its columns inserted, since names can't be parameters."""
    assert public.publication.column is not None
    # Texts and hashes take most of the time to read, and don't change while numbers and times stay the same.
    digested = [
        f'"{column}"'
        for column in public.source.meanings
        if column not in public.publication.without and not column.endswith(("_address", "_hash"))
    ]
    values |= {"table": public.source.name, "column": public.publication.column, "digested": ", ".join(digested)}
    statement = read_sql(name)
    for key in sorted(values, key=len, reverse=True):
        statement = statement.replace(f"${key}", str(values[key]))
    return statement
