"""Guardrail checks as assets: what the API judged, and how much of it was blocked by day and stage."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import dagster as dg

from contracts.errors import OperatorProblem
from pipelines.presentation import OWNERS, markdown_table, row_count, table_facts
from pipelines.resources import Runtime
from warehouse.duck.inspection import preview
from warehouse.guardrail.checks import take_over_checks
from warehouse.guardrail.log import open_guardrail_log

GROUP = "guardrail"

guardrail_log = dg.AssetSpec(
    "guardrail_log",
    group_name=GROUP,
    description="The log that the API keeps of guardrail checks beside the ledger, for a month.",
    kinds={"sqlite"},
    owners=OWNERS,
)


@dg.multi_asset(
    name="take_over_guardrail_checks",
    specs=[
        dg.AssetSpec(
            "raw_guardrail__checks",
            deps=[guardrail_log],
            group_name=GROUP,
            description=(
                "Guardrail checks as they were answered, without the text that was judged and who asked. "
                "Grain: one row per check; latency in microseconds, times UTC."
            ),
            kinds={"duckdb"},
            owners=OWNERS,
            metadata=table_facts("raw_guardrail__checks"),
        ),
        dg.AssetSpec(
            "out_guardrail__daily",
            deps=["raw_guardrail__checks"],
            group_name=GROUP,
            description=(
                "Checks, those blocked, and the latency of judging. Grain: one row per UTC day and stage, and one for "
                "all checks of the day; latency in microseconds."
            ),
            kinds={"duckdb"},
            owners=OWNERS,
            metadata=table_facts("out_guardrail__daily"),
        ),
    ],
    pool="warehouse",
)
def take_over_guardrail_checks(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> Iterator[dg.MaterializeResult]:
    """Take over what the log holds beyond the last run. A log that can't be read holds up nothing else."""
    with runtime.warehouse.connect() as connection:
        taken: dict[str, Any] = {"new_checks": 0}
        try:
            with closing(open_guardrail_log(runtime.settings, runtime.data_dir)) as log:
                taken["new_checks"] = take_over_checks(connection, log)
        except OperatorProblem as problem:
            context.log.warning(f"no checks are taken over: {problem}")
            taken["problem"] = problem.code
        counts = {name: row_count(connection, name) for name in ("raw_guardrail__checks", "out_guardrail__daily")}
        days = markdown_table(preview(connection, "guardrail_newest_days"))
    yield dg.MaterializeResult("raw_guardrail__checks", metadata=taken | counts["raw_guardrail__checks"])
    yield dg.MaterializeResult("out_guardrail__daily", metadata={"preview": days, **counts["out_guardrail__daily"]})
