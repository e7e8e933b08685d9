"""Paid access in Dagster: its tables are materialized with the metadata that an analyst needs, and waiting money raises
a warning."""

from datetime import UTC, datetime

import dagster as dg
import pytest
from access_sales import NOON, miss, redeem, sell

from contracts.settings import Settings
from pipelines.access.assets import none_waits, sync_access_tables
from pipelines.access.watch import claims_due
from pipelines.definitions import build_definitions
from pipelines.derived import refill_derived_tables
from pipelines.resources import runtime_resource
from warehouse.access.cases import cases_in, move_case
from warehouse.ledger.ledger import Ledger, open_ledger


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path)


@pytest.fixture
def ledger_here(settings):
    opened = open_ledger(settings, settings.data_dir)
    yield opened
    opened.close()


def run(settings: Settings) -> tuple[dict[str, dict], dg.AssetCheckEvaluation]:
    resources = {"runtime": runtime_resource(settings)}
    done = dg.materialize([sync_access_tables, refill_derived_tables, none_waits], resources=resources)
    assert done.success
    said = {
        event.asset_key.path[0]: {name: value.value for name, value in event.materialization.metadata.items()}
        for event in done.get_asset_materialization_events()
    }
    (check,) = done.get_asset_check_evaluations()
    return said, check


def test_sales_are_shown_by_day_and_waiting_money_warns(settings: Settings, ledger_here: Ledger) -> None:
    redeem(ledger_here, sell(ledger_here, 1))
    miss(ledger_here, sell(ledger_here, 2))
    said, check = run(settings)
    assert said["raw_ledger__claims"]["dagster/row_count"] == 1
    assert said["raw_ledger__claims"]["changed_rows"] == 5
    assert "9.000001" in said["out_access__revenue_daily"]["preview"]
    assert "api_basic_monthly" in said["out_access__funnel"]["preview"]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    waiting = check.metadata["waiting"]
    assert isinstance(waiting, dg.MarkdownMetadataValue) and "amount_mismatch" in waiting.value
    with ledger_here.transaction() as tx:
        (case,) = cases_in(tx)
        move_case(tx, case, "refunded", now=NOON, refund_transaction_hash="0x" + "11" * 32)
    said, check = run(settings)
    assert said["raw_ledger__claims"]["changed_rows"] == 1
    assert check.passed


def test_the_job_that_looks_at_claims_has_nothing_to_do_without_payments(settings: Settings) -> None:
    assert build_definitions(settings).resolve_job_def("claims").execute_in_process().success
    assert claims_due(settings, datetime.now(UTC)) is None
    assert not settings.data_dir.joinpath("ledger.db").exists()
