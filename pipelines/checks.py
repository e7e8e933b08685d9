"""Asset checks from the Great Expectations suites under `contracts/expectations/`, one per table.

SQL reduces a table to one row of facts; the suite asserts on that row. Great Expectations is imported inside the check:
it costs seconds that a tick without checks must not pay.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from pipelines.resources import Runtime
from warehouse.facts import gather_facts, mark_checked

EXPECTATIONS = Path(__file__).resolve().parents[1] / "contracts" / "expectations"


@dataclass(frozen=True)
class Verdict:
    """What a suite said of one row of facts: `failures` holds (expectation, column, observed) for what did not hold."""

    passed: bool
    failures: tuple[tuple[str, str, Any], ...]


def judge(suite: dict[str, Any], facts: dict[str, Any]) -> Verdict:
    """Run a suite over one row of facts. A fact that is missing or null fails: most expectations would pass over it."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    import pandas as pd
    from great_expectations.core.expectation_suite import ExpectationSuite
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    columns = dict.fromkeys(expectation["kwargs"]["column"] for expectation in suite["expectations"])
    not_null = [{"type": "expect_column_values_to_not_be_null", "kwargs": {"column": c}} for c in columns]
    expectations = [*not_null, *(dict(expectation) for expectation in suite["expectations"])]
    held = context.suites.add(ExpectationSuite(name=suite["name"], expectations=expectations))
    batch = (
        context.data_sources.add_pandas("warehouse")
        .add_dataframe_asset(suite["name"])
        .add_batch_definition_whole_dataframe("facts")
    )
    validation = gx.ValidationDefinition(name=suite["name"], data=batch, suite=held)
    result = validation.run(batch_parameters={"dataframe": pd.DataFrame([facts])}, result_format="BASIC")
    failures = tuple(
        (r.expectation_config.type, column := r.expectation_config.kwargs.get("column", ""), facts.get(column))
        for r in result.results
        if not r.success
    )
    return Verdict(passed=bool(result.success), failures=failures)


def expectation_checks() -> list[dg.AssetChecksDefinition]:
    """One asset check per suite file."""
    return [_check(json.loads(path.read_text())) for path in sorted(EXPECTATIONS.glob("*.json"))]


def _check(suite: dict[str, Any]) -> dg.AssetChecksDefinition:
    meta = suite["meta"]

    @dg.asset_check(
        asset=dg.AssetKey(meta["table"]),
        name="expectations",
        description=meta["description"],
        blocking=meta["blocking"],
        pool="warehouse",
    )
    def check(runtime: dg.ResourceParam[Runtime]) -> dg.AssetCheckResult:
        with runtime.warehouse.connect() as connection:
            facts = gather_facts(connection, suite["name"])
            verdict = judge(suite, facts)
            if verdict.passed and "checked_to_block" in facts:
                mark_checked(connection, suite["name"], facts["checked_to_block"])
        return dg.AssetCheckResult(
            passed=verdict.passed,
            severity=dg.AssetCheckSeverity.ERROR if meta["blocking"] else dg.AssetCheckSeverity.WARN,
            metadata={
                "table": dg.MetadataValue.asset(dg.AssetKey(meta["table"])),
                "facts": dg.MetadataValue.md(_table(facts)),
                "failures": dg.MetadataValue.json([list(map(str, failure)) for failure in verdict.failures]),
            },
        )

    return check


def _table(facts: dict[str, Any]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    return f"| fact | value |\n|---|---|\n{rows}"
