"""Reads the results of the checks of tables, for publishing and for the checks of documents."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from contracts.discovery.checks_document import CHECKS_PATH, CheckedColumn, CheckedFact, CheckedTable, PublishedChecks
from contracts.publish.routes import file_of
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection
from warehouse.duck.rows import aware_utc
from warehouse.duck.tables import tables
from warehouse.publish.generations import Generation
from warehouse.statements import read_sql


@dataclass(frozen=True)
class CheckResult:
    """One row of `out_checks__results`."""

    table_name: str
    check_name: str
    blocking: bool
    fact: str
    value: float | None
    minimum: float
    maximum: float | None
    passed: bool
    judged_by: str
    judged_at: datetime


def check_results(connection: Connection) -> list[CheckResult]:
    """Returns the facts of each table's latest judgement, by table."""
    return [CheckResult(*row) for row in connection.execute(read_sql("check_results")).fetchall()]


def read_checks(context: DocumentContext) -> PublishedChecks:
    """Returns the results of the checks, and statistics of the columns of the checked tables."""
    results = check_results(context.connection)
    columns: dict[str, list[CheckedColumn]] = {}
    for table, name, *facts in context.connection.execute(read_sql("check_columns")).fetchall():
        rows, nulls, distinct_about, least, greatest, deciles = facts
        columns.setdefault(table, []).append(
            CheckedColumn(
                column=name,
                rows=rows,
                nulls=nulls,
                distinct_about=distinct_about,
                least=least,
                greatest=greatest,
                deciles=deciles,
            )
        )
    checked = list(_checked_tables(results, columns))
    return PublishedChecks(failed=sum(not table.passed for table in checked), tables=checked)


@lru_cache(maxsize=2)
def published_checks(generation: Path) -> Mapping[str, bool]:
    """Returns whether each table's checks passed, according to a generation; empty for one of an earlier version."""
    try:
        body = (generation / "public" / file_of(CHECKS_PATH)).read_bytes()
    except FileNotFoundError:
        return {}
    return {table.table: table.passed for table in PublishedChecks.model_validate_json(body).tables}


def failed_tables(generation: Generation | None) -> list[str]:
    """Returns the tables whose checks did not pass according to a generation, in order."""
    checks = {} if generation is None else published_checks(generation.path)
    return sorted(table for table, passed in checks.items() if not passed)


def _checked_tables(results: list[CheckResult], columns: dict[str, list[CheckedColumn]]) -> Iterator[CheckedTable]:
    for name, group in groupby(results, attrgetter("table_name")):
        facts = list(group)
        declared = tables().get(name)
        if declared is None or declared.checks is None:
            continue  # a table of an earlier version
        yield CheckedTable(
            table=name,
            check=facts[0].check_name,
            promise=declared.checks.promise,
            blocking=facts[0].blocking,
            passed=all(fact.passed for fact in facts),
            judged_at=aware_utc(facts[0].judged_at),
            judged_by=facts[0].judged_by,
            facts=[
                CheckedFact(
                    fact=fact.fact,
                    value=fact.value,
                    minimum=fact.minimum,
                    maximum=fact.maximum,
                    passed=fact.passed,
                )
                for fact in facts
            ],
            columns=columns.get(name, []),
        )
