"""How runs of Dagster become the status of their jobs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from contracts.settings import Settings
from pipelines.run_status import record_run_status
from pipelines.runs import opened_instance


@dg.op
def fail() -> None:
    raise ValueError


@dg.job
def failing() -> None:
    fail()


def test_a_failed_run_counts_once_although_it_gets_a_tag_after_its_end(tmp_path: Path):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with opened_instance(tmp_path) as instance:
        first = failing.execute_in_process(instance=instance, raise_on_error=False)
        counts = []
        for _ in range(2):
            status = record_run_status(settings, instance, datetime.now(UTC))
            counts.append((status.jobs["failing"].consecutive_failures, status.jobs["failing"].runs))
            instance.add_run_tags(first.run_id, {"dagster/did_retry": "true"})
        assert counts == [(1, 1), (1, 1)]
        failing.execute_in_process(instance=instance, raise_on_error=False)
        assert record_run_status(settings, instance, datetime.now(UTC)).jobs["failing"].consecutive_failures == 2
