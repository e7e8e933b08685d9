"""Derives the public form of tables from their declarations: the published columns, their kinds, and their SQL.

Addresses and hashes become hex text. An amount in smallest units (`<name>_raw` or `<name>_wei`) becomes exact decimal
text (`<name>_raw`), a double in whole units (`<name>`), and three limbs of 26 digits whose sums are exact. Any other
exact decimal becomes a double and text (`<name>_exact`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb

from contracts.access.rail import USDC_DECIMALS
from contracts.open_data.datasets import DataCheck, DataColumn, Dataset, Kind
from warehouse.duck.inspection import empty_warehouse
from warehouse.duck.tables import MEASURE, Checks, Publication, Table, read_table, tables
from warehouse.statements import literal, read_sql

HOLDERS = "holders"
"""The dataset of holder lists, whose rows are in files instead of a table."""

_PLAIN: Mapping[str, Kind] = {
    "BIGINT": "integer",
    "INTEGER": "integer",
    "SMALLINT": "integer",
    "TINYINT": "integer",
    "DOUBLE": "number",
    "FLOAT": "number",
    "BOOLEAN": "boolean",
    "TIMESTAMP": "datetime",
    "DATE": "date",
    "VARCHAR": "string",
}
_U256 = "STRUCT(limb3 UBIGINT, limb2 UBIGINT, limb1 UBIGINT, limb0 UBIGINT)"
_AMOUNT_ENDINGS = ("_raw", "_wei")
_STORED_UNIT = re.compile(r",? in (wei|(the|the token's) smallest unit)\b")
"""The part of an amount's comment, to its end, that describes how the table stores it, unlike its public forms."""
_WEI_DECIMALS = 18
_LIMBS = ("lowest 26 digits", "26 digits above those of limb 0", "digits above those of limb 1")


@dataclass(frozen=True)
class Units:
    """The service token (lower-case hex; None if unknown), and the decimals of every token whose decimals are known."""

    token: str | None
    decimals: Mapping[str, int]


@dataclass(frozen=True)
class PublicTable:
    """One table in its public form. `source` is the declared table, or the declaration of the holder lists' rows."""

    publication: Publication
    source: Table
    dataset: Dataset
    expressions: tuple[str, ...]
    """The SQL of each column. `$whole` is replaced by the number of smallest units in a whole token."""
    texts: tuple[str, ...]
    """The SQL of amounts as text, from which several columns are computed: planning it once for each takes longer than
    reading a table."""

    def rows(self, units: Units, source: str) -> str:
        """Returns a select of the declared table's rows in public form. `source` is the SQL after its `from`."""
        whole = self._whole(units)
        columns = ", ".join(
            f'{expression.replace("$whole", whole)} as "{column.name}"'
            for expression, column in zip(self.expressions, self.dataset.columns, strict=True)
        )
        return f"select {columns} from {_with_texts(source, self.texts)}"  # noqa: S608 - our own names

    def _whole(self, units: Units) -> str:
        """Returns the SQL of the number of smallest units in a whole token. In a table with amounts of several tokens
        it depends on the token of the row."""
        names = [column.name for column in self.dataset.columns]
        if "token_address" not in names:
            decimals = units.decimals.get(units.token or "")
            return "null::double" if decimals is None else f"1e{decimals}"
        known = " ".join(f"when {literal(token)} then 1e{places}" for token, places in sorted(units.decimals.items()))
        return f"case {self.expressions[names.index('token_address')]} {known} end" if known else "null::double"

    def comments(self, database: str) -> str:
        """Returns statements that describe the table and its columns in a database."""
        place = f"{database}.{self.dataset.name}"
        columns = (
            f"comment on column {place}.{column.name} is {literal(column.meaning)};" for column in self.dataset.columns
        )
        return "\n".join((f"comment on table {place} is {literal(self.dataset.grain)};", *columns))


@cache
def public_tables() -> Mapping[str, PublicTable]:
    """Returns every published table by its public name, sorted by name.

    Raises `ValueError` if two have the same name, or a column's type has no public form.
    """
    declared = [table for table in tables().values() if table.public is not None]
    holders = read_table((Path(__file__).parent / "holders.sql").read_text(), room="token")
    found: dict[str, PublicTable] = {}
    with empty_warehouse().cursor() as connection:
        connection.execute(holders.sql.replace("create table", "create temp table", 1))
        for table in (*declared, holders):
            public = _public_table(connection, table)
            if public.dataset.name in found:
                raise ValueError(f"{table.name} has the public name of another table: {public.dataset.name}")
            found[public.dataset.name] = public
    return dict(sorted(found.items()))


def prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the macros of the public form on this connection unless it has them, since that takes 5 ms."""
    try:
        connection.execute("select hex_text(''::blob)")
    except duckdb.CatalogException:
        connection.execute(read_sql("amount_macros"))


def known_units(connection: duckdb.DuckDBPyConnection) -> Units:
    """Returns the service token and the known decimals: its own, and those of USDC."""
    row = connection.execute(read_sql("service_token")).fetchone()
    token, decimals = row or (None, None)
    coins = connection.execute(read_sql("recorded_usdc")).fetchall()
    known = {coin: USDC_DECIMALS for (coin,) in coins}
    return Units(token, known if decimals is None else known | {token: decimals})


def _public_table(connection: duckdb.DuckDBPyConnection, table: Table) -> PublicTable:
    assert table.public is not None
    described = connection.execute(f"describe {table.name}").fetchall()
    columns = [
        column
        for name, type_, nullable, *_ in described
        if name not in table.public.without
        for column in _public_columns(table.name, name, type_, table.meanings[name], required=nullable == "NO")
    ]
    texts = tuple(f'u256_text("{name}") as {_text_of(name)}' for name, type_, *_ in described if type_ == _U256)
    types = _types(connection, _with_texts(table.name, texts), columns)
    dataset = Dataset(
        table.public.name,
        table.grain,
        [DataColumn(name, types[name], kind, meaning, required) for name, kind, meaning, required, _ in columns],
        "list" if table.public.name == HOLDERS else table.public.split,
        None if table.checks is None else _check(table.checks),
    )
    return PublicTable(table.public, table, dataset, tuple(expression for *_, expression in columns), texts)


def _text_of(amount: str) -> str:
    """Returns the column name of an amount's text within a select."""
    return f'"{amount} as text"'


def _with_texts(source: str, texts: tuple[str, ...]) -> str:
    """Returns `source` with the texts of its amounts added to its columns."""
    return f"(select *, {', '.join(texts)} from {source})" if texts else source  # noqa: S608 - our own names


_Column = tuple[str, Kind, str, bool, str]
"""Name, kind, meaning, whether it always has a value, and SQL."""


def _public_columns(table: str, name: str, type_: str, meaning: str, *, required: bool) -> Iterator[_Column]:
    base = next((name.removesuffix(ending) for ending in _AMOUNT_ENDINGS if name.endswith(ending)), None)
    text = _text_of(name) if type_ == _U256 else f'"{name}"::varchar'
    if type_ in (_U256, "BIGNUM") and base is None:
        raise ValueError(f"{table}.{name} is a large number whose name has no unit: end it in _raw or _wei")
    if base is not None and type_ in (_U256, "BIGNUM", "VARCHAR"):
        stored = _STORED_UNIT.search(meaning)
        if stored is None:
            raise ValueError(f"{table}.{name} is an amount whose comment has no unit: in wei, or the smallest unit")
        amount = meaning[: stored.start()]
        of_ether = name.endswith("_wei")
        whole = f"1e{_WEI_DECIMALS}" if of_ether else "$whole"
        units = "ETH" if of_ether else "whole tokens, null where their decimals are not known"
        smallest = "wei" if of_ether else "smallest units"
        yield f"{base}_raw", "string", f"{amount}; exact, as decimal text in {smallest}", required, text
        yield base, "number", f"{amount}; rounded, in {units}", False, f"({text})::double / {whole}"
        for place, digits in enumerate(_LIMBS):
            limb = f"{amount}; {digits} in {smallest}, for exact sums"
            yield f"{base}_limb{place}", "decimal", limb, required, f"amount_limb({text}, {place})"
    elif type_ == "BLOB":
        yield name, "string", f"{meaning}; as 0x and lower-case hex", required, f'hex_text("{name}")'
    elif type_.startswith("ENUM(") or type_ == "JSON":
        yield name, "string", meaning, required, f'"{name}"::varchar'
    elif type_.startswith("DECIMAL("):
        yield name, "number", f"{meaning}; rounded", required, f'"{name}"::double'
        exact = f"rtrim(rtrim(\"{name}\"::varchar, '0'), '.')" if not type_.endswith(",0)") else f'"{name}"::varchar'
        yield f"{name}_exact", "string", f"{meaning}; exact, as decimal text", required, exact
    elif type_ == "HUGEINT":
        yield name, "decimal", meaning, required, f'"{name}"::decimal(38, 0)'
    elif type_ in _PLAIN:
        yield name, _PLAIN[type_], meaning, required, f'"{name}"'
    else:
        raise ValueError(f"{table}.{name} has no public form: {type_}")


def _types(connection: duckdb.DuckDBPyConnection, source: str, columns: list[_Column]) -> dict[str, str]:
    """Returns the DuckDB type of each public column."""
    prepare(connection)
    selected = ", ".join(f'{expression.replace("$whole", "1e0")} as "{name}"' for name, *_, expression in columns)
    described = connection.execute(f"describe select {selected} from {source}").fetchall()  # noqa: S608 - ours
    return {name: type_ for name, type_, *_ in described}


def _check(checks: Checks) -> DataCheck:
    query = checks.query.strip().rstrip(";").replace("$after_block", "-1")
    with empty_warehouse().cursor() as connection:
        described = connection.execute(f"describe {query}").fetchall()
    names = [name for name, *_ in described if not name.startswith(MEASURE)]
    return DataCheck(checks.promise, {name: f"select {name} from ({query})" for name in names})  # noqa: S608 - ours
