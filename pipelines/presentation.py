"""Builds what an analyst sees of assets in Dagster: headers, column schemas, row counts, tables, charts."""

import base64
import io
import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

import dagster as dg
import polars as pl
from pydantic import BaseModel

from contracts.base import schema_of
from contracts.site.lineage import column_lineage
from contracts.token.proof import Proof
from contracts.world.proposal import Decision
from warehouse.duck.connection import Connection
from warehouse.duck.inspection import columns_of, count_rows
from warehouse.duck.tables import tables

OWNERS = ["team:data"]

LEDGER_GROUP = "ledger"

POOL = "warehouse"
"""The pool of steps that Dagster runs one at a time, since the warehouse has one writer."""

QUICK = {"svc/quick": "true"}
"""The tag of runs that are too frequent to draw pictures."""


def is_quick(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> bool:
    """Returns True if this run has no time for pictures."""
    return QUICK.items() <= context.run.tags.items()


CAPABILITY = "capability"
"""The key of an asset's metadata that names the capability of its header."""


class Header(TypedDict, total=False):
    """Optional parts of an asset's header. `kinds` are those besides `duckdb`; `capability` is the one without which
    nothing new is read into the table, which then needs no freshness policy."""

    deps: Sequence[str | dg.AssetSpec]
    kinds: Collection[str]
    freshness: dg.FreshnessPolicy | None
    capability: str


def table_asset(
    group: str, description: str, **more: Unpack[Header]
) -> Callable[[Callable[..., dg.MaterializeResult[None]]], dg.AssetsDefinition]:
    """Declares a function as the asset that builds the warehouse table of the same name."""

    def declare(function: Callable[..., dg.MaterializeResult[None]]) -> dg.AssetsDefinition:
        asset: dg.AssetsDefinition = dg.asset(**_header(function.__name__, group, description, **more), pool=POOL)(
            function
        )
        return asset

    return declare


def table_spec(table: str, group: str, description: str, **more: Unpack[Header]) -> dg.AssetSpec:
    """Returns the spec of a warehouse table, for a step that builds several."""
    return dg.AssetSpec(table, **_header(table, group, description, **more))


def other_spec(
    key: str, group: str, description: str, kind: str, *, deps: Sequence[str | dg.AssetSpec] = ()
) -> dg.AssetSpec:
    """Returns the spec of an asset that is not a table: a service, the chain, a log, events in the ledger."""
    return dg.AssetSpec(key, deps=deps, group_name=group, description=description, kinds={kind}, owners=OWNERS)


def model_schema(model: type[BaseModel]) -> dg.TableSchema:
    """Describes the fields of a document as columns: the JSON name, the JSON type, and the description of the field or
    else of its type. Nested fields come after the field that contains them: `concentration.gini`, `holders[].share`."""
    schema = schema_of(model, "serialization")
    columns = {column.name: column for column in _columns(schema["properties"], schema.get("$defs", {}))}
    return dg.TableSchema(list(columns.values()))


def _columns(
    fields: Mapping[str, Any], parts: Mapping[str, Any], above: str = "", around: frozenset[str] = frozenset()
) -> Iterator[dg.TableColumn]:
    """Yields the columns of fields and of their parts. Enclosing objects, named in `around`, are not entered again."""
    for name, field in fields.items():
        yield dg.TableColumn(f"{above}{name}", _json_type(field), field.get("description") or _meaning(field, parts))
        for part, suffix in _parts_of(field):
            if part not in around:
                yield from _columns(
                    parts[part].get("properties", {}), parts, f"{above}{name}{suffix}.", around | {part}
                )


def _parts_of(field: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the names of the objects in a field, with `[]` for each level of a list or a map around them."""
    if "$ref" in field:
        yield str(field["$ref"]).rpartition("/")[2], ""
    for choice in field.get("anyOf", ()):
        yield from _parts_of(choice)
    for many in (field.get("items"), field.get("additionalProperties")):
        if isinstance(many, Mapping):
            yield from ((part, f"[]{suffix}") for part, suffix in _parts_of(many))


def row_count(connection: Connection, table: str) -> dict[str, Any]:
    """Returns the row count of a table, under Dagster's key."""
    return {"dagster/row_count": count_rows(connection, table)}


def log_verdicts(log: logging.Logger, decisions: Sequence[Decision]) -> dict[str, int]:
    """Counts the approved and the rejected proposals of a run, and logs why stages rejected them."""
    for decision in decisions:
        for stage in decision.stages:
            if stage.result == "fail":
                log.warning(f"decision {decision.seq}: {stage.stage}: {stage.reason}")
    verdicts = [decision.verdict for decision in decisions]
    return {"approved": verdicts.count("approved"), "rejected": verdicts.count("rejected")}


def markdown_table(frame: pl.DataFrame, rows: int = 10) -> dg.MarkdownMetadataValue:
    """Renders the first rows of a frame."""
    with pl.Config(
        tbl_formatting="MARKDOWN",
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_rows=rows,
        tbl_cols=-1,
        fmt_str_lengths=80,
        tbl_width_chars=10_000,
    ):
        return dg.MetadataValue.md(str(frame.head(rows)))


def proof_markdown(proof: Proof) -> dg.MarkdownMetadataValue:
    """Renders the proof of a list: the verdict, then its figures."""
    facts = proof.model_dump(mode="json", by_alias=True)
    lines = "\n".join(f"| {name} | {_cell(value)} |" for name, value in facts.items())
    return dg.MetadataValue.md(f"**{proof.verdict.value}**\n\n| figure | value |\n|---|---|\n{lines}")


Chart = dict[str, dg.MarkdownMetadataValue]
"""A picture in Markdown under the name of its metadata; empty if there are fewer than two points in time."""


def line_chart(name: str, title: str, points: Sequence[tuple[datetime, float]], unit: str) -> Chart:
    """Draws a count over time. Times in UTC."""
    return lines_chart(name, title, {"": points}, unit, whole=True)


def lines_chart(
    name: str, title: str, lines: Mapping[str, Sequence[tuple[datetime, float]]], unit: str, *, whole: bool = False
) -> Chart:
    """Draws named lines over time; `whole` if the values are counts. Times in UTC."""
    if len({at for points in lines.values() for at, _ in points}) < 2:
        return {}
    # Importing matplotlib takes a second, which only a run that draws should spend.
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.add_subplot()
    for label, points in lines.items():
        times, values = date2num([at for at, _ in points]), [value for _, value in points]
        axes.plot(times, values, marker="o", markersize=3, label=label)
    if any(lines):
        axes.legend(fontsize=8)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
    locator = AutoDateLocator()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    if whole:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    encoded = base64.b64encode(picture.getvalue()).decode()
    return {name: dg.MetadataValue.md(f"![{title}](data:image/png;base64,{encoded})")}


def _header(
    table: str,
    group: str,
    description: str,
    *,
    deps: Sequence[str | dg.AssetSpec] = (),
    kinds: Collection[str] = (),
    freshness: dg.FreshnessPolicy | None = None,
    capability: str | None = None,
) -> dict[str, Any]:
    columns = [dg.TableColumn(column.name, column.type, column.description) for column in columns_of(table)]
    grain = tables()[table].grain
    schema = {"dagster/table_name": f"warehouse.main.{table}", "dagster/column_schema": dg.TableSchema(columns)}
    return {
        "deps": deps,
        "group_name": group,
        "description": f"{description} Grain: {grain[0].lower()}{grain[1:]}",
        "kinds": {"duckdb", *kinds},
        "owners": OWNERS,
        "metadata": schema | _column_lineage(table) | ({} if capability is None else {CAPABILITY: capability}),
        "freshness_policy": freshness,
    }


def _column_lineage(table: str) -> dict[str, dg.TableColumnLineage]:
    """Returns the columns from which those of a table are derived, under Dagster's key."""
    columns = column_lineage().get(table)
    if columns is None:
        return {}
    follows = {
        column: [dg.TableColumnDep(dg.AssetKey(table), source) for table, source in sources]
        for column, sources in columns.items()
    }
    return {"dagster/column_lineage": dg.TableColumnLineage(follows)}


def _meaning(field: Mapping[str, Any], named: Mapping[str, Any]) -> str | None:
    """Returns the description of the first model that a field's type names, or the field's constant value."""
    if "const" in field:
        return f"Always {json.dumps(field['const'])}"
    if "$ref" in field:
        description: str | None = named[field["$ref"].rpartition("/")[2]].get("description")
        return None if description is None else " ".join(description.split())
    inner = field.get("anyOf", [field["items"]] if "items" in field else [])
    return next((meaning for choice in inner if (meaning := _meaning(choice, named)) is not None), None)


def _json_type(field: Mapping[str, Any]) -> str:
    """Returns a field's type in words: `integer or null`, `array of HolderRow`."""
    if "anyOf" in field:
        return " or ".join(_json_type(choice) for choice in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "items" in field:
        return f"array of {_json_type(field['items'])}"
    return str(field.get("type", "any"))


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_cell(part)}" for name, part in value.items())
    return "none" if value is None else str(value)
