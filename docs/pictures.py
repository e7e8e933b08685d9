"""Generates the tables and pictures of the documentation from the code; `make contracts` runs it.

`docs/data.md` and `contracts/site/lineage.json` are generated from the asset graph. With the address of a running
service, `python docs/pictures.py http://127.0.0.1:8000` also takes a screenshot of every page with Chromium for the
sheet in README.md, and renders the picture that other sites show with a link. Browser tests build the same sheet from
the pages they open.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import dagster as dg
import msgspec
import sqlglot
from PIL import Image
from sqlglot import exp
from sqlglot.lineage import Node
from sqlglot.lineage import lineage as sqlglot_lineage

from contracts.base import Freshness
from contracts.publish.projection import Projection
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from contracts.site import lineage as site_lineage
from contracts.site.lineage import AssetRecord, CheckRecord, ColumnRecord, LineageRecord
from contracts.site.pages import PAGES
from pipelines.definitions import build_definitions
from pipelines.presentation import model_schema
from pipelines.publish.assets import age_in_words, document_key
from warehouse.duck.inspection import columns_of
from warehouse.duck.tables import room_of, tables
from warehouse.statements import read_sql

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data.md"
SHEET = ROOT / "docs" / "pictures" / "pages.webp"
WINDOW_WIDTH, WINDOW_HEIGHT = 1440, 1080
SMALL_WIDTH, SMALL_HEIGHT, COLUMNS, GAP = 432, 324, 4, 8
SOCIAL_DRAWING = ROOT / "site" / "social.svg"
SOCIAL_PICTURE = ROOT / "site" / "assets" / "social.png"
"""The picture that other sites show with a link to a page. It has no live number, so it is never out of date."""

TABLE = re.compile(r"(raw|core|out)_\w+")
_PARAMETER = re.compile(r"\$[a-z_]+")

_PRICED_BY = ("record_bucket_prices", "record_pool_prices")
_WRITTEN_BY = {
    "out_bidwall__events": ("newest_events",),
    "out_holders__daily": _PRICED_BY,
    "out_holders__hourly": _PRICED_BY,
}
"""For tables that declare no query of their rows: the statements that write their columns."""

DATA_OPENING = """# Data

`docs/pictures.py` generates this page from the asset graph and the document registry.

The prefix of a table's name is its stage: `raw_` as a source delivered it, `core_` after the rules were applied, `out_`
from which documents are built. The suffix of a column's name is its unit (`_wei`, `_usd`, `_s`); times are UTC. Dagster
shows the descriptions of every table and column with the lineage, and published databases (`svc.duckdb`) contain them
as comments (`select * from duckdb_columns()`).

Amounts of tokens are exact over all of uint256: integer limbs in tables, decimal strings in JSON. A document states its
`source`, `observedAt`, `quality` and `staleAfter` in its freshness block. The models in `contracts/` are the reference,
and `/openapi.json` of a running service is generated from them. [Open data](open-data.md) shows which tables are public
and how to read them.
"""


def asset_graph() -> dg.AssetGraph:
    """Returns the assets of the service with no setting set."""
    return build_definitions(Settings(_env_file=None)).resolve_asset_graph()


def lineage(graph: dg.AssetGraph) -> str:
    """Draws the groups of assets and the arrows between them as a Mermaid chart, without the group of all checks."""
    group_of = {asset.key: asset.group_name for asset in graph.asset_nodes}
    arrows = {
        (group_of[parent], group_of[asset.key])
        for asset in graph.asset_nodes
        for parent in asset.parent_keys
        if group_of[parent] != group_of[asset.key] and "checks" not in (group_of[parent], group_of[asset.key])
    }
    drawn = [
        f"    {upstream} --> {' & '.join(downstream for _, downstream in group)}"
        for upstream, group in groupby(sorted(arrows), key=lambda arrow: arrow[0])
    ]
    apart = sorted(set(group_of.values()) - {"checks"} - {group for arrow in arrows for group in arrow})
    return "\n".join(["```mermaid", "flowchart LR", *drawn, *(f"    {group}" for group in apart), "```", ""])


def data_page(graph: dg.AssetGraph) -> str:
    """Renders `docs/data.md`: every table and every published document with its description in the code."""
    described = {asset.key.path[-1]: (asset.group_name, asset.description or "") for asset in graph.asset_nodes}
    tables = [
        f"| `{name}` | {group} | {_cell(text)} |"
        for name, (group, text) in sorted(described.items(), key=lambda item: (item[1][0], item[0]))
        if TABLE.fullmatch(name)
    ]
    documents = [
        f"| `{row.path}` | {_cell(row.summary)} | {_age(row)} |"
        for row in sorted(PROJECTIONS, key=lambda row: row.path)
        if row.collection is None
    ]
    collections = sorted({row.collection for row in PROJECTIONS if row.collection is not None})
    whole = "One page each, also in Markdown"
    documents += [f"| `/{name}/…/` | {whole} | as fresh as what it shows |" for name in collections]
    return "\n".join(
        [
            DATA_OPENING,
            "## What flows where\n",
            "The groups of assets, without the checks of all groups; Dagster shows the whole graph.\n",
            lineage(graph),
            "## Tables of the warehouse\n",
            "| table | group | content and grain |",
            "|---|---|---|",
            *tables,
            "\n## Published documents\n",
            "| path | content | fresh for |",
            "|---|---|---|",
            *documents,
            "",
        ]
    )


def lineage_record(graph: dg.AssetGraph) -> bytes:
    """Returns, for the pages for people, what every table and every document with numbers is built from."""
    numbers = {document_key(row): row for row in PROJECTIONS if row.freshness is not None}
    assets = [
        _document_record(asset, numbers[asset.key]) if asset.key in numbers else _asset_record(asset)
        for asset in graph.asset_nodes
        if asset.key in numbers or asset.key.path[0] != "document"
    ]
    known = {asset.name for asset in assets}
    assets += [_table_record(name, room_of(name)) for name in tables() if name not in known]
    record = LineageRecord(tuple(sorted(assets, key=lambda asset: (asset.kind, asset.group, asset.name))))
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def followed_columns(table: str, statement: str) -> dict[str, tuple[str, ...]]:
    """Returns, for each column of a table, the columns (`table.column`) from which a statement derives it.

    The statement is a query, or an `insert` or `update` with one. Returns nothing for any other form.
    """
    declared = {name: dict.fromkeys((column.name for column in columns_of(name)), "varchar") for name in tables()}
    parsed = sqlglot.parse_one(_PARAMETER.sub("null", statement.replace("$table", table)), dialect="duckdb")
    query, columns = _query_of(parsed)
    if query is None:
        return {}
    ends = {
        name: _ends(table, sqlglot_lineage(name, query, schema=declared, dialect="duckdb"))
        for name in set().union(*columns.values())
    }
    return {column: tuple(sorted(set().union(*(ends[name] for name in names)))) for column, names in columns.items()}


def _query_of(parsed: exp.Expr) -> tuple[exp.Query | None, dict[str, set[str]]]:
    """Returns the query within a statement, and for each column that it writes the names of the query's columns."""
    if isinstance(parsed, exp.Insert) and isinstance(parsed.expression, exp.Query):
        query = parsed.expression
        if parsed.ctes:
            query.set("with_", parsed.args["with_"])
    elif isinstance(parsed, exp.Update):
        subquery = parsed.find(exp.Subquery)
        assert subquery is not None
        updating = subquery.unnest()
        assert isinstance(updating, exp.Query)
        assigned = {part.this.name: part.expression.find_all(exp.Column) for part in parsed.expressions}
        # A value that the update keeps from the row itself is already covered by the lineage of that row's column.
        kept = parsed.this.alias_or_name
        return updating, {
            name: {column.name for column in columns if column.table != kept} for name, columns in assigned.items()
        }
    elif isinstance(parsed, exp.Query):
        query = parsed
    else:
        return None, {}
    return query, {name: {name} for name in query.named_selects}


def _ends(table: str, node: Node) -> set[str]:
    """Returns the columns of other tables at which a column's lineage ends."""
    ends = [end for end in node.walk() if not end.downstream and isinstance(end.source, exp.Table)]
    return {f"{end.source.name}.{exp.to_column(end.name).name}" for end in ends if end.source.name != table}


def column_lineage(table: str) -> dict[str, tuple[str, ...]]:
    """Returns the column lineage of a table, from its declared rows or from the statements that write its columns."""
    rows = tables()[table].rows
    texts = [read_sql(name) for name in _WRITTEN_BY.get(table, ())] + ([] if rows is None else [rows.query])
    found: dict[str, set[str]] = {}
    for text in texts:
        for column, sources in followed_columns(table, text).items():
            found.setdefault(column, set()).update(sources)
    return {column: tuple(sorted(sources)) for column, sources in found.items()}


def _asset_record(asset: dg.AssetNode) -> AssetRecord:
    name, parents = asset.key.path[-1], tuple(sorted(parent.path[-1] for parent in asset.parent_keys))
    description = (asset.description or "").partition(" Grain: ")[0]
    if name in tables():
        return _table_record(name, asset.group_name, description, parents)
    return AssetRecord(name, "source", asset.group_name, description, parents)


def _table_record(name: str, group: str, description: str = "", parents: tuple[str, ...] = ()) -> AssetRecord:
    table = tables()[name]
    rows, checks, public = table.rows, table.checks, table.public
    follows = column_lineage(name)
    return AssetRecord(
        name,
        "table",
        group,
        description,
        parents,
        title=table.grain,
        columns=tuple(
            ColumnRecord(column.name, column.type, column.description, follows.get(column.name, ()))
            for column in columns_of(name)
        ),
        rows=None if rows is None else rows.meaning,
        check=None if checks is None else CheckRecord(checks.name, checks.promise, checks.blocking),
        public=None if public is None else public.name,
    )


def _document_record(asset: dg.AssetNode, row: Projection) -> AssetRecord:
    model = row.freshness
    assert model is not None
    by_field = {} if row.reader or row.make or row.describe else followed_columns(row.name, read_sql(row.name))
    aliases = {field.serialization_alias or name: name for name, field in model.model_fields.items()}
    fields = [
        ColumnRecord(column.name, column.type, column.description or "", by_field.get(aliases.get(column.name, ""), ()))
        for column in model_schema(model).columns
        if column.name not in Freshness.model_json_schema(by_alias=True)["properties"]
    ]
    parents = tuple(sorted(parent.path[-1] for parent in asset.parent_keys))
    return AssetRecord(row.path, "document", row.group, row.description, parents, row.summary, tuple(fields))


def take_picture(address: str, target: Path, width: int, height: int) -> None:
    """Writes a screenshot of the page at an address, taken with Chromium."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed.")
    with tempfile.TemporaryDirectory() as profile:
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={profile}")
        shot = (f"--window-size={width},{height}", f"--screenshot={target}")
        subprocess.run([chromium, *options, *shot, address], check=True, timeout=120, capture_output=True)


def contact_sheet(pictures: Sequence[Path], target: Path) -> None:
    """Combines the upper parts of all pictures, reduced and in order, into one picture."""
    rows = -(-len(pictures) // COLUMNS)
    size = (COLUMNS * (SMALL_WIDTH + GAP) - GAP, rows * (SMALL_HEIGHT + GAP) - GAP)
    with Image.new("RGB", size, "#d9d5c9") as sheet:
        for number, path in enumerate(pictures):
            with Image.open(path) as picture:
                height = min(picture.height, picture.width * SMALL_HEIGHT // SMALL_WIDTH)
                upper = picture.convert("RGB").crop((0, 0, picture.width, height))
            small = upper.resize((SMALL_WIDTH, SMALL_WIDTH * height // picture.width), Image.Resampling.LANCZOS)
            row, column = divmod(number, COLUMNS)
            place = (column * (SMALL_WIDTH + GAP), row * (SMALL_HEIGHT + GAP))
            edge = upper.getpixel((0, height - 1))
            assert edge is not None
            sheet.paste(edge, (*place, place[0] + SMALL_WIDTH, place[1] + SMALL_HEIGHT))
            sheet.paste(small, place)
        sheet.save(target, quality=82, method=6)


def _cell(description: str) -> str:
    return " ".join(description.split()).replace("|", "\\|")


def _age(row: Projection) -> str:
    seconds = row.max_age_s
    if seconds is None:
        return age_in_words(row)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def main() -> None:
    graph = asset_graph()
    DATA.write_text(data_page(graph))
    site_lineage.FILE.write_bytes(lineage_record(graph))
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as folder:
            pictures = [Path(folder, f"{page.name}.png") for page in PAGES]
            for page, picture in zip(PAGES, pictures, strict=True):
                take_picture(sys.argv[1].rstrip("/") + page.path, picture, WINDOW_WIDTH, WINDOW_HEIGHT)
            contact_sheet(pictures, SHEET)
        take_picture(SOCIAL_DRAWING.as_uri(), SOCIAL_PICTURE, 1200, 630)
        with Image.open(SOCIAL_PICTURE) as drawn:
            drawn.convert("RGB").quantize(64).save(SOCIAL_PICTURE, optimize=True)


if __name__ == "__main__":
    main()
