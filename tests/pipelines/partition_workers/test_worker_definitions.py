"""The workers' code location: which runs it requests, and what a run of several partitions leaves in the store."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG
from ingest_helpers import TOKEN, logs_at, small_chain

from cli.demo.recorded import RecordedNode
from contracts.settings import Settings
from pipelines.partition_workers.definitions import JOB, build_worker_definitions, runs_of
from pipelines.token.partitions import missing_partitions


@pytest.mark.parametrize(
    ("missing", "runs"),
    [
        ("abcde", ["ab", "cd", "ee"]),
        ("abde", ["ab", "de"]),
        ("c", ["cc"]),
        ("", []),
    ],
)
def test_a_run_has_partitions_that_follow_one_another(missing, runs):
    assert runs_of(missing, "abcde", at_most=2) == [tuple(run) for run in runs]


def test_the_sensor_asks_for_what_the_store_lacks_until_it_holds_all(tmp_path: Path):
    with RecordedNode(small_chain(logs_at(3, 60, 130), head=200)) as node:
        settings = Settings(
            _env_file=None,
            data_dir=tmp_path,
            rpc_urls=node.url,
            token_address=TOKEN,
            partition_blocks=50,
            publish_url=f"file://{tmp_path}/store",
        )
        definitions = build_worker_definitions(settings)
        sensor = definitions.resolve_sensor_def("missing_partitions")
        with dg.DagsterInstance.ephemeral() as instance:

            def ask() -> dg.SensorResult:
                context = dg.build_sensor_context(instance, repository_def=definitions.get_repository_def())
                result = sensor(context)
                assert isinstance(result, dg.SensorResult)
                return result

            asked = ask()
            (request,) = asked.run_requests
            assert (request.tags[ASSET_PARTITION_RANGE_START_TAG], request.tags[ASSET_PARTITION_RANGE_END_TAG]) == (
                "000000000000-000000000049",
                "000000000100-000000000149",
            )
            instance.add_dynamic_partitions("blocks", asked.dynamic_partitions_requests[0].partition_keys)
            job = definitions.resolve_job_def(JOB)
            assert job.execute_in_process(instance=instance, tags=request.tags).success
            assert ask().run_requests == []
            (schedule,) = definitions.get_repository_def().schedule_defs
            assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
            stored = set((tmp_path / "store").rglob("*.parquet"))
            assert definitions.resolve_job_def(schedule.job_name).execute_in_process(instance=instance).success
            assert set((tmp_path / "store").rglob("*.parquet")) == stored != set()
        assert missing_partitions(settings, 198) == {}
