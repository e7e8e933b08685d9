"""Guardrail checks as assets: the API's verdicts, and the blocked share by day and stage."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import dagster as dg

from contracts.errors import OperatorProblem
from pipelines.presentation import POOL, markdown_table, other_spec, row_count, table_spec
from pipelines.resources import Runtime
from warehouse.duck.inspection import preview
from warehouse.guardrail.checks import sync_checks
from warehouse.guardrail.log import open_guardrail_log

GROUP = "guardrail"

guardrail_log = other_spec(
    "guardrail_log",
    GROUP,
    "The API's log of guardrail checks, which it keeps next to the ledger for a month.",
    "sqlite",
)


@dg.multi_asset(
    name="sync_guardrail_checks",
    specs=[
        table_spec(
            "raw_guardrail__checks",
            GROUP,
            "The answered guardrail checks, without the checked texts and the callers.",
            deps=[guardrail_log],
        ),
        table_spec(
            "out_guardrail__daily",
            GROUP,
            "The numbers of checks and blocked checks, and the latency of checking.",
            deps=["raw_guardrail__checks"],
        ),
    ],
    pool=POOL,
)
def sync_guardrail_checks(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> Iterator[dg.MaterializeResult[None]]:
    """Syncs the log's checks since the last run. An unreadable log does not stop the run."""
    with runtime.warehouse.connect() as connection:
        outcome: dict[str, Any] = {"new_checks": 0}
        try:
            with closing(open_guardrail_log(runtime.settings, runtime.data_dir)) as log:
                outcome["new_checks"] = sync_checks(connection, log)
        except OperatorProblem as problem:
            context.log.warning(f"no checks are synced: {problem}")
            outcome["problem"] = problem.code
        counts = {name: row_count(connection, name) for name in ("raw_guardrail__checks", "out_guardrail__daily")}
        days = markdown_table(preview(connection, "guardrail_newest_days"))
    yield dg.MaterializeResult("raw_guardrail__checks", metadata=outcome | counts["raw_guardrail__checks"])
    yield dg.MaterializeResult("out_guardrail__daily", metadata={"preview": days, **counts["out_guardrail__daily"]})
