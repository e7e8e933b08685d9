"""The pages of open data: everything that they name exists, their commands are the tested ones, pictures have room."""

from __future__ import annotations

import itertools
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts.discovery.checks_document import CHECKS_PATH, CheckedFact, CheckedTable, PublishedChecks
from contracts.discovery.installation import Installation
from contracts.open_data.datasets import DataIndex, IndexDataset, IndexFile
from contracts.site.data_pages import CHECKING, lineage_page, reading_lines, size, tables_page
from contracts.site.lineage import BOX_HEIGHT, BOX_WIDTH, drawing, lineage, upstream
from contracts.site.page import Documents

DOCS = Path(__file__).parents[3] / "docs/open-data.md"
AT = datetime(2026, 1, 2, tzinfo=UTC)
NUMBERS = [asset.name for asset in lineage().assets if asset.kind == "document"]


def file(name: str, block: int) -> IndexFile:
    return IndexFile(
        url=f"https://agents.example/data/{name}", format="parquet", bytes=1, sha256="0" * 64, rows=1,
        first_block=0, last_block=block, day=None, written_at=AT,
    )  # fmt: skip


def index(**files: IndexFile) -> DataIndex:
    datasets = [
        IndexDataset(name=name, description="", split="block", contract="", exact_sums={}, columns=[], files=[each])
        for name, each in files.items()
    ]
    return DataIndex(service="", manifest="", data_package="", croissant="", database="", datasets=datasets)


def test_the_lines_are_those_of_the_documentation_which_a_test_runs():
    lines = reading_lines(
        index(transfers=file("transfers-0-99999.parquet", 50_000), holders=file("holders-80.parquet", 80)),
        "https://agents.example/data",
    )
    blocks = {block.strip() for block in re.findall(r"```(?:python|r)[^\n]*\n(.*?)```", DOCS.read_text(), re.DOTALL)}
    assert [name for name, *_ in lines] == ["duckdb", "polars", "pandas", "r"]
    assert {code for *_, code in lines} <= blocks


def test_lines_whose_file_is_missing_are_left_out():
    assert [name for name, *_ in reading_lines(index(), "https://svc.example/data")] == ["r"]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_picture_has_a_box_for_all_that_flows_in_and_none_over_another(name: str):
    drawn = drawing(lineage(), name)
    assert [box.asset.name for box in drawn.boxes] == [asset.name for asset in upstream(lineage(), name)]
    for a, b in itertools.combinations(drawn.boxes, 2):
        assert abs(a.x - b.x) >= BOX_WIDTH or abs(a.y - b.y) >= BOX_HEIGHT, (a.asset.name, b.asset.name)
    assert all(box.x + BOX_WIDTH <= drawn.width and box.y + BOX_HEIGHT <= drawn.height for box in drawn.boxes)


def test_every_number_leads_back_to_a_source():
    sources = {asset.name for asset in lineage().assets if asset.kind == "source"}
    for name in NUMBERS:
        assert sources & {asset.name for asset in upstream(lineage(), name)}, name


def test_fields_of_the_parts_of_a_document_are_listed_under_their_paths():
    fields = {name: {column.name for column in lineage().by_name[name].columns} for name in NUMBERS}
    for document, path in (
        ("/api/token/holders", "concentration.hhi"),
        ("/api/token/series/daily", "points[].gini"),
        ("/api/token/series/daily", "points[].priceUsd.close"),
        ("/api/token/price", "sources[].latencyMs"),
        ("/api/bidwall/snapshot", "trigger.progress"),
        ("/api/v2/trust/registry", "agents[].weightedScore"),
        ("/api/site-metrics", "metrics.holders.value"),
    ):
        assert path in fields[document], (document, path)


def documents(*tables: CheckedTable) -> Documents:
    checks = PublishedChecks(failed=0, tables=list(tables))
    return Documents(Installation("https://svc.example"), {CHECKS_PATH: checks.model_dump_json(by_alias=True).encode()})


def checked(table: str, *, passed: bool) -> CheckedTable:
    fact = CheckedFact(fact="doubled_events", value=2, minimum=0, maximum=0, passed=passed)
    return CheckedTable(
        table=table, check="c", promise="p", blocking=True, passed=passed, judged_at=AT, judged_by="bounds",
        facts=[fact], columns=[],
    )  # fmt: skip


def test_a_check_that_failed_is_shown_at_every_number_that_rests_on_it():
    failed, held = checked("raw_chain__transfers", passed=False), checked("core_holders__balances", passed=True)
    shown = lineage_page(documents(failed, held))
    assert shown["failed"] == ["raw_chain__transfers"]
    states = {
        number.asset.name: {check.table: (check.state, check.found) for check in number.checks}
        for number in shown["numbers"]
    }
    holders = states["/api/token/holders"]
    assert holders["raw_chain__transfers"] == ("failed", "doubled events is 2")
    assert holders["core_holders__balances"] == ("held", "")
    assert holders["out_holders__lists"] == ("unjudged", "")
    assert "raw_chain__transfers" not in states["/api/revenue/marketplace"]


def test_the_lines_that_check_a_number_ask_for_what_is_published():
    steps = {number.asset.name: number.steps for number in lineage_page(documents())["numbers"] if number.steps}
    assert steps.keys() == CHECKING.keys()
    for name, lines in steps.items():
        code = "\n".join(code for _, code in lines)
        asked = set(re.findall(r"https://svc\.example(/api/[a-z0-9/-]+)", code))
        assert asked <= set(NUMBERS)
        assert name in asked or "svc verify https://svc.example" in code or "/data/index.json" in code
    every = "\n".join(code for lines in steps.values() for _, code in lines)
    assert subprocess.run(["bash", "-n", "-c", every], check=False).returncode == 0


def test_every_declared_table_is_listed_with_its_columns():
    shown = tables_page(documents())
    listed = {table.name: table for _, tables in shown["groups"] for table, *_ in tables}
    assert {"raw_chain__transfers", "core_holders__state", "out_trust__scores"} <= listed.keys()
    assert all(table.columns for table in listed.values())


def test_sizes_are_formatted_as_people_write_them():
    table = [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (12_345, "12.3 kB"),
        (123_456, "123 kB"),
        (5 * 10**9, "5.0 GB"),
    ]
    assert [size(count) for count, _ in table] == [text for _, text in table]
