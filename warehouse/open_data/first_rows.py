"""Reads the newest rows of every public table, for a document and for the CSV files that contain more of them."""

import duckdb

from contracts.open_data.first_rows import (
    FIRST_ROWS_PATH,
    ROWS_SHOWN,
    FirstColumn,
    FirstRows,
    PublishedFirstRows,
    first_rows_path,
)
from contracts.token.holders import list_file_name
from warehouse.document_context import DocumentContext
from warehouse.open_data.public_tables import HOLDERS, PublicTable, Units, known_units, prepare, public_tables
from warehouse.token.holders import rows_of

_PART_OF_AMOUNT = ("_limb0", "_limb1", "_limb2")


def read_first_rows(context: DocumentContext) -> PublishedFirstRows:
    """Returns the newest rows of every public table that can be read now. For a table that has not changed it repeats
    the published rows, since prices are published every minute and the other tables are large."""
    connection = context.connection
    published = _published(context)
    prepare(connection)
    units = known_units(connection)
    newest = connection.execute("select max(block) from out_holders__lists").fetchall()[0][0]
    tables = []
    for public in public_tables().values():
        if public.dataset.name in published and public.source.name not in (context.moved_tables or ()):
            tables.append(published[public.dataset.name])
        elif public.dataset.name != HOLDERS:
            tables.append(_first_rows(connection, public, units, public.source.name))
        elif newest is not None:
            source = rows_of(context.holders_dir / list_file_name(newest))
            tables.append(_first_rows(connection, public, units, source))
    return PublishedFirstRows(tables=tables)


def _published(context: DocumentContext) -> dict[str, FirstRows]:
    body = context.bodies.get(FIRST_ROWS_PATH)
    if context.moved_tables is None or body is None:
        return {}
    return {shown.dataset: shown for shown in PublishedFirstRows.model_validate_json(body).tables}


def newest_rows(public: PublicTable, units: Units, source: str, most: int) -> str:
    """Returns the statement that selects the newest rows of a table, or the largest holders."""
    column = public.publication.column
    if public.dataset.name != HOLDERS and column is None:
        return f"{public.rows(units, source)} order by all desc limit {most}"
    order, inner, written = "rank", "rank", ""
    if column is not None:
        # Among rows of one block or second the last written comes first, so the same table always gives the same rows.
        order, inner, written = f"{column} desc, written desc", f"{column} desc, rowid desc", ", rowid as written"
    # Only in the chosen rows are amounts converted to text.
    newest = f"(select *{written} from {source} order by {inner} limit {most})"  # noqa: S608 - our own names
    return f"{public.rows(units, newest)} order by {order}"


def _first_rows(connection: duckdb.DuckDBPyConnection, public: PublicTable, units: Units, source: str) -> FirstRows:
    columns = [column for column in public.dataset.columns if not column.name.endswith(_PART_OF_AMOUNT)]
    chosen = ", ".join(f'"{column.name}"::varchar' for column in columns)
    newest = newest_rows(public, units, source, ROWS_SHOWN)
    rows = connection.execute(f"select {chosen} from ({newest})").fetchall()  # noqa: S608
    ((total,),) = connection.execute(f"select count(*) from {source}").fetchall()  # noqa: S608
    return FirstRows(
        dataset=public.dataset.name,
        grain=public.dataset.grain,
        total=total,
        file=first_rows_path(public.dataset.name),
        columns=[FirstColumn(name=column.name, kind=column.kind) for column in columns],
        rows=[list(row) for row in rows],
    )
