"""Builds asset checks from the checks that tables declare. Great Expectations judges each table's row of facts.

Every run gathers the facts, and judges them only where they differ from those that passed last. Great Expectations is
imported only for facts with a violation: the import costs seconds of CPU, a third of a first run.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import dagster as dg

from pipelines.resources import Runtime
from warehouse.duck.facts import gather_facts, last_pass, mark_checked, mark_passed, violations_of
from warehouse.duck.tables import Checks, tables

if TYPE_CHECKING:
    from great_expectations.core.batch_definition import BatchDefinition

NOT_NULL = "expect_column_values_to_not_be_null"
BETWEEN = "expect_column_values_to_be_between"


@dataclass(frozen=True)
class TableVerdict:
    """The judgement of one row of facts: `failures` holds (expectation, column, observed) for each broken one."""

    passed: bool
    failures: tuple[tuple[str, str, Any], ...]


def judge(table: str, facts: dict[str, Any]) -> TableVerdict:
    """Returns the verdict of the suite of `table` over its row of facts.

    A suite asserts only that each count is 0, so a row of zeros passes without running it.
    """
    if all(type(count) is int and count == 0 for count in violations_of(facts).values()):
        return TableVerdict(passed=True, failures=())
    return run_suite(table, facts)


def run_suite(table: str, facts: dict[str, Any]) -> TableVerdict:
    """Runs the suite of `table` over its row of facts.

    A count of null fails too, although the expectation passes it.
    """
    import pandas as pd
    from great_expectations.core.expectation_suite import ExpectationSuite

    counts = violations_of(facts)
    suite = ExpectationSuite(name=table, expectations=_expectations(counts))
    batch = _facts_batch().get_batch(batch_parameters={"dataframe": pd.DataFrame([counts])})
    result = batch.validate(suite, result_format="BASIC")
    missing = [(NOT_NULL, column, None) for column, count in counts.items() if count is None]
    failures = [
        (config.type, column := config.kwargs.get("column", ""), counts.get(column))
        for outcome in result.results
        if not outcome.success and (config := outcome.expectation_config) is not None
    ]
    return TableVerdict(passed=bool(result.success) and not missing, failures=(*missing, *failures))


def asserted_sha256(facts: dict[str, Any]) -> str:
    """Returns a digest of everything that a verdict depends on: expectations, counts, and the judge's version."""
    counts = violations_of(facts)
    judged = [version("great_expectations"), _expectations(counts), list(map(repr, counts.values()))]
    return hashlib.sha256(json.dumps(judged, sort_keys=True).encode()).hexdigest()


def _expectations(counts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": BETWEEN, "kwargs": {"column": name, "min_value": 0, "max_value": 0}} for name in counts]


@cache
def _facts_batch() -> "BatchDefinition[Any]":
    """Returns the batch definition through which frames of facts enter Great Expectations.

    It keeps nothing between frames.
    """
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return (
        context.data_sources.add_pandas("warehouse")
        .add_dataframe_asset("facts")
        .add_batch_definition_whole_dataframe("row")
    )


def warm_up() -> None:
    """Imports Great Expectations before a run needs it: that takes seconds of CPU."""
    _facts_batch()


def expectation_checks() -> list[dg.AssetChecksDefinition]:
    """Builds one asset check per table that declares checks."""
    return [_check(table.name, table.checks) for table in tables().values() if table.checks is not None]


def _check(table: str, checks: Checks) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=dg.AssetKey(table),
        name="expectations",
        description=checks.promise,
        blocking=checks.blocking,
        pool="warehouse",
    )
    def check(runtime: dg.ResourceParam[Runtime]) -> dg.AssetCheckResult:
        with runtime.warehouse.connect() as connection:
            facts = gather_facts(connection, table)
            asserted = asserted_sha256(facts)
            passed_at = last_pass(connection, table, asserted)
            verdict = judge(table, facts) if passed_at is None else TableVerdict(passed=True, failures=())
            if verdict.passed and passed_at is None:
                mark_passed(connection, table, asserted, datetime.now(UTC))
            if verdict.passed and "checked_to_block" in facts:
                mark_checked(connection, table, facts["checked_to_block"])
        return dg.AssetCheckResult(
            passed=verdict.passed,
            severity=dg.AssetCheckSeverity.ERROR if checks.blocking else dg.AssetCheckSeverity.WARN,
            metadata={
                "table": dg.MetadataValue.asset(dg.AssetKey(table)),
                "facts": dg.MetadataValue.md(_table(facts)),
                "judged": "now" if passed_at is None else f"equal to what passed at {passed_at:%Y-%m-%d %H:%M:%S} UTC",
                "failures": dg.MetadataValue.json([list(map(str, failure)) for failure in verdict.failures]),
            },
        )

    return check


def _table(facts: dict[str, Any]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    return f"| fact | value |\n|---|---|\n{rows}"
