"""Builds asset checks from the checks that tables declare. DuckDB reduces a table to facts; Great Expectations judges.

Every run gathers the facts, and has them judged only if they differ from those that passed last. Only runs that have
time for pictures, at most hourly, gather statistics of columns. Importing Great Expectations costs seconds of CPU time:
the warm worker has done it; any other process does it only for facts outside their bounds.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from contracts.stand_ins import stand_ins
from pipelines.presentation import is_quick, table_spec
from pipelines.resources import Runtime
from warehouse.duck.connection import Connection
from warehouse.duck.facts import (
    Bounded,
    ColumnFacts,
    asserted_facts,
    gather_columns,
    gather_facts,
    last_pass,
    mark_checked,
    record_columns,
    record_judged,
    recorded_columns,
)
from warehouse.duck.tables import Checks, tables

if TYPE_CHECKING:
    from great_expectations.core.batch_definition import BatchDefinition

NOT_NULL = "expect_column_values_to_not_be_null"
BETWEEN = "expect_column_values_to_be_between"
BOUNDS = "bounds"
"""The judge if every fact is within its bounds, unless this process is warm."""

_GX = "great_expectations"
_CHARTS: dict[str, dict[str, object]] = {"altair": {}, "scipy": {"stats": None}}
"""Modules for charts and for tests of distributions, with the stand-in that Great Expectations gets for each. No table
needs either; they take a third of the time of its import, and 80 MB."""


@dataclass(frozen=True)
class TableVerdict:
    """The verdict on a table's facts: `failures` has (expectation, fact, observed) for each violated expectation, and
    `judge` names what judged now, if anything did."""

    passed: bool
    failures: tuple[tuple[str, str, Any], ...]
    judge: str = field(default="", compare=False)


@dataclass
class Readiness:
    """Whether this process is warm, that is, has imported Great Expectations and judges everything with it."""

    warm: bool = False


READINESS = Readiness()


@cache
def _suite_judge() -> str:
    return f"{_GX} {version(_GX)}"


def judge(table: str, facts: Mapping[str, Any], columns: Sequence[ColumnFacts] = ()) -> TableVerdict:
    """Returns the verdict on the facts of `table` and of its columns."""
    if not READINESS.warm and all(bounded.within for bounded in asserted_facts(table, facts, columns)):
        return TableVerdict(passed=True, failures=(), judge=BOUNDS)
    return run_suite(table, facts, columns)


def run_suite(table: str, facts: Mapping[str, Any], columns: Sequence[ColumnFacts] = ()) -> TableVerdict:
    """Runs the suite of `table` on its row of facts.

    A fact that is null fails too, although the expectation lets it pass.
    """
    import pandas as pd

    definition = _facts_batch()
    from great_expectations.core.expectation_suite import ExpectationSuite  # after `_facts_batch`, which imports it

    asserted = asserted_facts(table, facts, columns)
    values = {bounded.fact: bounded.value for bounded in asserted}
    batch = definition.get_batch(batch_parameters={"dataframe": pd.DataFrame([values])})
    result = batch.validate(ExpectationSuite(name=table, expectations=_expectations(asserted)), result_format="BASIC")
    missing = [(NOT_NULL, fact, None) for fact, value in values.items() if value is None]
    failures = [
        (config.type, fact := config.kwargs.get("column", ""), values.get(fact))
        for outcome in result.results
        if not outcome.success and (config := outcome.expectation_config) is not None
    ]
    return TableVerdict(
        passed=bool(result.success) and not missing, failures=(*missing, *failures), judge=_suite_judge()
    )


def asserted_sha256(asserted: Sequence[Bounded], judged_by: str) -> str:
    """Returns a digest of everything that a verdict depends on: expectations, facts and the judge."""
    judged = [judged_by, _expectations(asserted), [repr(bounded.value) for bounded in asserted]]
    return hashlib.sha256(json.dumps(judged, sort_keys=True).encode()).hexdigest()


def warm_up() -> None:
    """Imports Great Expectations before a run needs it, which takes seconds of CPU time. From then on it judges all
    facts."""
    _facts_batch()
    READINESS.warm = True


def write_data_docs(connection: Connection, directory: Path, on_step: Callable[[str], None]) -> Path:
    """Writes the Data Docs of Great Expectations for the current facts, and returns their first page.

    These pages are for the operator and are not published. Writing them takes minutes, so `on_step` gets a line per
    table.
    """
    import pandas as pd

    context = _context(directory)
    import great_expectations as gx  # after the context, which sets its environment

    batch_definition = _batch_definition(context)
    checked = [(table, table.checks) for table in tables().values() if table.checks is not None]
    for number, (table, checks) in enumerate(checked, start=1):
        on_step(f"checking {table.name}, {number} of {len(checked)}")
        columns = gather_columns(connection, table.name)
        facts = asserted_facts(table.name, gather_facts(connection, table.name), columns)
        name = f"{table.name}.{checks.name}"
        suite = context.suites.add_or_update(gx.ExpectationSuite(name=name, expectations=_expectations(facts)))
        definition = context.validation_definitions.add_or_update(
            gx.ValidationDefinition(name=name, data=batch_definition, suite=suite)
        )
        frame = pd.DataFrame([{bounded.fact: bounded.value for bounded in facts}])
        checkpoint = gx.Checkpoint(name=name, validation_definitions=[definition])
        context.checkpoints.add_or_update(checkpoint).run(batch_parameters={"dataframe": frame})
    on_step("writing the pages")
    (page,) = context.build_data_docs().values()
    return Path(page.removeprefix("file://"))


def _expectations(asserted: Sequence[Bounded]) -> list[dict[str, Any]]:
    return [
        {
            "type": BETWEEN,
            "kwargs": {"column": bounded.fact, "min_value": bounded.minimum, "max_value": bounded.maximum},
        }
        for bounded in asserted
    ]


@cache
def _facts_batch() -> "BatchDefinition[Any]":
    """Returns the batch definition by which Great Expectations reads frames of facts.

    It stores nothing between frames.
    """
    return _batch_definition(_context(None))


def _context(directory: Path | None) -> Any:
    """Creates a context that stores nothing, or one that stores its project in `directory`."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with stand_ins(_CHARTS):
        import great_expectations as gx
        from great_expectations.data_context.types.base import ProgressBarsConfig

    if directory is None:
        context: Any = gx.get_context(mode="ephemeral")
    else:
        context = gx.get_context(mode="file", project_root_dir=directory)
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


def _batch_definition(context: Any) -> "BatchDefinition[Any]":
    source = context.data_sources.add_or_update_pandas("warehouse")
    definition: BatchDefinition[Any] = source.add_dataframe_asset("facts").add_batch_definition_whole_dataframe("row")
    return definition


check_tables = [
    table_spec(
        name,
        "checks",
        description,
        deps=sorted(table.name for table in tables().values() if table.checks is not None),
    )
    for name, description in {
        "out_checks__results": "The facts that were judged last, with their bounds. The checks of the tables write it.",
        "out_checks__columns": "Statistics of the columns of checked tables. The checks of the tables write it hourly.",
    }.items()
]


def table_checks() -> list[dg.AssetChecksDefinition]:
    """Builds one asset check per table that declares checks."""
    return [_check(table.name, table.checks) for table in tables().values() if table.checks is not None]


def _check(table: str, checks: Checks) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=dg.AssetKey(table),
        name=checks.name,
        description=checks.promise,
        blocking=checks.blocking,
        pool="warehouse",
    )
    def check(context: dg.AssetCheckExecutionContext, runtime: dg.ResourceParam[Runtime]) -> dg.AssetCheckResult:
        with runtime.warehouse.connect() as connection:
            outcome = check_table(connection, table, quick=is_quick(context))
        return dg.AssetCheckResult(
            passed=outcome.verdict.passed,
            severity=dg.AssetCheckSeverity.ERROR if checks.blocking else dg.AssetCheckSeverity.WARN,
            metadata={
                "table": dg.MetadataValue.asset(dg.AssetKey(table)),
                "judged": outcome.judged,
                "failures": dg.MetadataValue.json([list(map(str, failure)) for failure in outcome.verdict.failures]),
                **outcome.facts,
            },
        )

    return check


@dataclass(frozen=True)
class TableOutcome:
    """A verdict, when and how it was reached, and the facts: numbers as numbers."""

    verdict: TableVerdict
    judged: str
    facts: dict[str, Any]


def check_table(connection: Connection, table: str, *, quick: bool) -> TableOutcome:
    """Gathers the facts of `table`, judges them if they changed, and records the results. The caller holds the lock.

    With `quick` the statistics of columns are the recorded ones.
    """
    facts, now = gather_facts(connection, table), datetime.now(UTC)
    if not quick:
        record_columns(connection, table, gather_columns(connection, table), now)
    columns = recorded_columns(connection, table)
    asserted = asserted_facts(table, facts, columns)
    judges = [_suite_judge()] if READINESS.warm else [_suite_judge(), BOUNDS]
    passed_at = last_pass(connection, table, [asserted_sha256(asserted, judged_by) for judged_by in judges])
    if passed_at is not None:
        verdict = TableVerdict(passed=True, failures=())
        judged = f"equal to what passed at {passed_at:%F %T} UTC"
    else:
        verdict = judge(table, facts, columns)
        digest = asserted_sha256(asserted, verdict.judge) if verdict.passed else None
        record_judged(connection, table, asserted, verdict.judge, now, digest=digest)
        judged = f"now, by {verdict.judge}"
    if verdict.passed and "checked_to_block" in facts:
        mark_checked(connection, table, facts["checked_to_block"])
    return TableOutcome(verdict, judged, {name: value for name, value in facts.items() if value is not None})
