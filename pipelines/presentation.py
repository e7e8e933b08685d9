"""What an analyst sees of an asset in Dagster: column schema, row counts, tables in Markdown, charts."""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import dagster as dg
import polars as pl
from pydantic import BaseModel

from contracts.token.proof import Proof
from contracts.world.proposal import Decision
from warehouse.duck.connection import Connection
from warehouse.duck.inspection import columns_of, count_rows

OWNERS = ["team:data"]

LEDGER_GROUP = "ledger"

QUICK = {"svc/quick": "true"}
"""Tags of runs so frequent that they draw no pictures."""


def table_facts(table: str) -> dict[str, Any]:
    """What holds of a warehouse table before any run, under Dagster's own keys: its name and its column schema."""
    columns = [dg.TableColumn(each.name, each.type, each.description) for each in columns_of(table)]
    return {"dagster/table_name": f"warehouse.main.{table}", "dagster/column_schema": dg.TableSchema(columns)}


def ledger_table(table: str, deps: list[str], description: str) -> dg.AssetSpec:
    """The asset of a warehouse table whose rows come from the ledger."""
    return dg.AssetSpec(
        table,
        deps=deps,
        group_name=LEDGER_GROUP,
        description=description,
        kinds={"duckdb"},
        owners=OWNERS,
        metadata=table_facts(table),
    )


def model_schema(model: type[BaseModel]) -> dg.TableSchema:
    """The fields of a document as Dagster shows columns: JSON name, JSON type, description."""
    properties = model.model_json_schema(by_alias=True, mode="serialization")["properties"]
    return dg.TableSchema(
        [dg.TableColumn(name, _json_type(field), field.get("description")) for name, field in properties.items()]
    )


def row_count(connection: Connection, table: str) -> dict[str, Any]:
    """How many rows the table holds now, under Dagster's own key."""
    return {"dagster/row_count": count_rows(connection, table)}


def verdicts_told(log: logging.Logger, decisions: Sequence[Decision]) -> dict[str, int]:
    """How many proposals of a run the validator approved and rejected; why it failed any is logged."""
    for decision in decisions:
        for stage in decision.stages:
            if stage.result == "fail":
                log.warning(f"decision {decision.seq}: {stage.stage}: {stage.reason}")
    verdicts = [decision.verdict for decision in decisions]
    return {"approved": verdicts.count("approved"), "rejected": verdicts.count("rejected")}


def markdown_table(frame: pl.DataFrame, rows: int = 10) -> dg.MarkdownMetadataValue:
    """The first rows of a frame, for reading."""
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
    """The proof of a list as an analyst reads it: the verdict, then each figure."""
    facts = proof.model_dump(mode="json", by_alias=True)
    lines = "\n".join(f"| {name} | {_cell(value)} |" for name, value in facts.items())
    return dg.MetadataValue.md(f"**{proof.verdict.value}**\n\n| figure | value |\n|---|---|\n{lines}")


def line_chart(title: str, points: Sequence[tuple[datetime, float]], unit: str) -> dg.MarkdownMetadataValue:
    """A count over time as a picture in Markdown. Times in UTC."""
    return lines_chart(title, {"": points}, unit, whole=True)


def lines_chart(
    title: str, lines: Mapping[str, Sequence[tuple[datetime, float]]], unit: str, *, whole: bool = False
) -> dg.MarkdownMetadataValue:
    """Named lines over time as a picture in Markdown; `whole` where values are counts. Times in UTC."""
    # matplotlib costs a second to import, which only a run that draws should pay.
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.add_subplot()
    for name, points in lines.items():
        axes.plot([at for at, _ in points], [value for _, value in points], marker="o", markersize=3, label=name)
    if any(lines):
        axes.legend(fontsize=8)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
    moments = {at for points in lines.values() for at, _ in points}
    if len(moments) == 1:
        (only,) = moments
        axes.set_xlim(only - timedelta(hours=12), only + timedelta(hours=12))
    locator = AutoDateLocator()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    if whole:
        axes.yaxis.get_major_locator().set_params(integer=True)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    encoded = base64.b64encode(picture.getvalue()).decode()
    return dg.MetadataValue.md(f"![{title}](data:image/png;base64,{encoded})")


def _json_type(field: Mapping[str, Any]) -> str:
    """A field's type in a word or two: `integer or null`, `array of HolderRow`."""
    if "anyOf" in field:
        return " or ".join(_json_type(choice) for choice in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "items" in field:
        return f"array of {_json_type(field['items'])}"
    return str(field.get("type", "any"))


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_cell(each)}" for name, each in value.items())
    return "none" if value is None else str(value)
