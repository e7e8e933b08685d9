"""Asset checks from the Great Expectations suites under `contracts/expectations/`, one per table.

SQL reduces a table to one row of facts; the suite asserts on that row. The facts are gathered in every run; they are
judged where they are not those that passed last. Great Expectations is imported inside the judging: it costs ten
seconds of CPU, which a run whose facts are the same must not pay.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from pipelines.resources import Runtime
from warehouse.duck.facts import gather_facts, last_pass, mark_checked, mark_passed

if TYPE_CHECKING:
    from great_expectations.core.batch_definition import BatchDefinition

NOT_NULL = "expect_column_values_to_not_be_null"
EXPECTATIONS = Path(__file__).resolve().parents[1] / "contracts" / "expectations"


@dataclass(frozen=True)
class Verdict:
    """What a suite said of one row of facts: `failures` holds (expectation, column, observed) for what did not hold."""

    passed: bool
    failures: tuple[tuple[str, str, Any], ...]


def judge(suite: dict[str, Any], facts: dict[str, Any]) -> Verdict:
    """Run a suite over one row of facts. A fact that is missing or null fails: most expectations would pass over it."""
    import pandas as pd
    from great_expectations.core.expectation_suite import ExpectationSuite

    held = ExpectationSuite(name=suite["name"], expectations=[dict(each) for each in suite["expectations"]])
    batch = _facts_batch().get_batch(batch_parameters={"dataframe": pd.DataFrame([facts])})
    result = batch.validate(held, result_format="BASIC")
    missing = [(NOT_NULL, column, None) for column in _columns(suite) if facts.get(column) is None]
    failures = [
        (r.expectation_config.type, column := r.expectation_config.kwargs.get("column", ""), facts.get(column))
        for r in result.results
        if not r.success
    ]
    return Verdict(passed=bool(result.success) and not missing, failures=(*missing, *failures))


def asserted_sha256(suite: dict[str, Any], facts: dict[str, Any]) -> str:
    """A digest of all that a verdict follows from: the expectations, the facts they name, and who judges."""
    asserted = {column: repr(facts.get(column)) for column in _columns(suite)}
    judged = [version("great_expectations"), suite["expectations"], asserted]
    return hashlib.sha256(json.dumps(judged, sort_keys=True).encode()).hexdigest()


@cache
def _facts_batch() -> "BatchDefinition[Any]":
    """Where a frame of facts enters Great Expectations. Nothing is kept there between two of them."""
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


def _columns(suite: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(expectation["kwargs"]["column"] for expectation in suite["expectations"]))


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
            asserted = asserted_sha256(suite, facts)
            passed_at = last_pass(connection, suite["name"], asserted)
            verdict = judge(suite, facts) if passed_at is None else Verdict(passed=True, failures=())
            if verdict.passed and passed_at is None:
                mark_passed(connection, suite["name"], asserted, datetime.now(UTC))
            if verdict.passed and "checked_to_block" in facts:
                mark_checked(connection, suite["name"], facts["checked_to_block"])
        return dg.AssetCheckResult(
            passed=verdict.passed,
            severity=dg.AssetCheckSeverity.ERROR if meta["blocking"] else dg.AssetCheckSeverity.WARN,
            metadata={
                "table": dg.MetadataValue.asset(dg.AssetKey(meta["table"])),
                "facts": dg.MetadataValue.md(_table(facts)),
                "judged": "now" if passed_at is None else f"equal to what passed at {passed_at:%Y-%m-%d %H:%M:%S} UTC",
                "failures": dg.MetadataValue.json([list(map(str, failure)) for failure in verdict.failures]),
            },
        )

    return check


def _table(facts: dict[str, Any]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    return f"| fact | value |\n|---|---|\n{rows}"
