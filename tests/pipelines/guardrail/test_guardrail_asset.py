"""The guardrail's asset reports what it imported, and an unreadable log stops no run."""

from datetime import UTC, datetime

import dagster as dg
import pytest
from keyed_service import DANGEROUS

from contracts.guardrail import loaded_guardrail, result_of
from contracts.settings import Settings
from guardrail.vocabulary import Severity
from pipelines.guardrail.assets import sync_guardrail_checks
from pipelines.resources import runtime_resource
from warehouse.guardrail.log import open_guardrail_log

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def run(settings: Settings) -> dict[str, dict]:
    done = dg.materialize([sync_guardrail_checks], resources={"runtime": runtime_resource(settings)})
    assert done.success
    return {
        event.asset_key.path[0]: {name: value.value for name, value in event.materialization.metadata.items()}
        for event in done.get_asset_materialization_events()
    }


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path)


def test_logged_checks_are_imported_once(settings):
    log = open_guardrail_log(settings, settings.data_dir)
    for action in (DANGEROUS, "ls"):
        log.record(
            result_of(loaded_guardrail().check(action), check_id="grc_1", checked_at=NOON),
            action=action,
            asked=Severity.MEDIUM,
            source="api",
            caller="key_1",
            latency_us=100,
        )
    log.close()
    first = run(settings)
    assert first["raw_guardrail__checks"] == {"new_checks": 2, "dagster/row_count": 2}
    assert first["out_guardrail__daily"]["dagster/row_count"] == 2
    assert run(settings)["raw_guardrail__checks"]["new_checks"] == 0


def test_a_damaged_log_is_reported_and_stops_nothing(settings):
    settings.data_dir.joinpath("guardrail.db").write_bytes(b"no database" * 1000)
    said = run(settings)
    assert said["raw_guardrail__checks"] == {"new_checks": 0, "problem": "store_unusable", "dagster/row_count": 0}
