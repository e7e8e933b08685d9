"""Searches everything under a directory for a text: raw bytes, decompressed bytes, and what each store's own reader
returns."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import brotli
import duckdb
import pysqlite3.dbapi2 as sqlite
import zstandard

from warehouse.world.snapshot import FORM_FIELDS, MANIFEST, PRIVATE_TEXT, PUBLIC_TEXT, TextIndex

UNPACKERS = {
    ".br": brotli.decompress,
    ".gz": gzip.decompress,
    ".zst": lambda body: zstandard.ZstdDecompressor().stream_reader(body).read(),
    ".zstd": lambda body: zstandard.ZstdDecompressor().stream_reader(body).read(),
}


def files_with(directory: Path, word: str) -> set[str]:
    """Returns the files, by path within the directory, in which `word` (lower-case letters) is found in any way."""
    return {
        str(path.relative_to(directory))
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.is_symlink() and _holds(path, word)
    }


def _holds(path: Path, word: str) -> bool:
    body = path.read_bytes()
    raw = word.encode()
    if raw in body.lower():
        return True
    if path.suffix in UNPACKERS and raw in UNPACKERS[path.suffix](body).lower():
        return True
    if path.suffix == ".duckdb":
        return any(word in row.lower() for row in _duckdb_rows(path))
    if body.startswith(b"SQLite format 3\0"):
        return any(word in row.lower() for row in _sqlite_rows(path))
    if path.suffix == ".parquet":
        return word in str(duckdb.sql(f"from read_parquet('{path}')").fetchall()).lower()
    if path.name == MANIFEST and (path.parent / PUBLIC_TEXT).is_dir():
        return any(word in _words(TextIndex(path.parent / name)) for name in (PUBLIC_TEXT, PRIVATE_TEXT))
    return False


def _words(index: TextIndex) -> set[str]:
    fields = ("written", *FORM_FIELDS)
    return {word for name in fields for word, _ in index.searcher.terms_with_prefix(name, "", limit=1_000_000)}


def _duckdb_rows(path: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as aside:  # an open file is left alone
        copy = Path(aside) / path.name
        copy.write_bytes(path.read_bytes())
        with duckdb.connect(str(copy), read_only=True) as connection:
            for (table,) in connection.execute("select table_name from duckdb_tables()").fetchall():
                for row in connection.execute(f'from "{table}"').fetchall():
                    yield str(row)


def _sqlite_rows(path: Path) -> Iterator[str]:
    with closing(sqlite.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        for (table,) in tables:
            for row in connection.execute(f'select * from "{table}"'):
                yield str(row)
