"""When a run is due, what the schedule does then, and what happens to lost and to old runs."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
import pytest
from dagster._grpc.client import DEFAULT_SCHEDULE_GRPC_TIMEOUT
from pipeline_runs import Place, recorded_chain
from publishing import DOCUMENTS, NOON, House, mint

from cli.demo.recorded import RecordedNode
from contracts.evm.codec import BlockHeader
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from contracts.token.holder_documents import ConsistencyLevel
from pipelines.definitions import build_definitions
from pipelines.due import LOCK_PATIENCE_S, POLL_PATIENCE_S, POLL_TIMEOUT_S, DueRun, chain_due, due_run
from pipelines.runs import RUNS_KEPT_FOR, delete_old_runs, end_lost_runs, this_process, unfinished_runs
from pipelines.token.head import ChainHead
from warehouse.duck.connection import Warehouse, run_lock
from warehouse.token.chain_head import SeenHead, record_head

FINAL, HEAD = BlockHeader(48, "0x48", "0x47", 0), BlockHeader(50, "0x50", "0x49", 0)
SEEN = SeenHead(50, "0x50", 48, "0x48", ConsistencyLevel.FINALIZED)


def chain_at(*, finalized: BlockHeader = FINAL, head: BlockHeader = HEAD) -> ChainHead:
    return ChainHead(8453, "0x00", head, finalized, ConsistencyLevel.FINALIZED)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house in which everything up to block 48 is read, folded, listed as a snapshot at noon, and published; only to
    be read."""
    house = House(tmp_path_factory.mktemp("house"))
    house.read_chain(mint(3), upto=48)
    with Warehouse(house.data_dir).connect() as connection:
        record_head(connection, SEEN, now=NOON)
    house.publish(*DOCUMENTS, *(row.path for row in PROJECTIONS if row.make is not None))
    return house


@pytest.mark.parametrize(
    ("head", "after", "settings", "why"),
    [
        (chain_at(), timedelta(0), {}, None),
        (None, timedelta(days=3), {}, None),
        (chain_at(finalized=replace(FINAL, number=49)), timedelta(0), {}, "there are new final blocks"),
        (chain_at(finalized=replace(FINAL, number=47, hash="0x47")), timedelta(0), {}, "the tip has moved"),
        (chain_at(head=replace(HEAD, hash="0x50b")), timedelta(0), {}, "the tip has moved"),
        (chain_at(), timedelta(minutes=59), {}, None),
        (chain_at(), timedelta(hours=1), {}, "the hourly snapshot is due"),
        (chain_at(), timedelta(hours=12), {}, "the daily snapshot is due"),
        (chain_at(), timedelta(0), {"base_url": "https://other"}, "nothing is published for this address"),
    ],
)
def test_a_run_is_due_when_it_would_change_something(
    house: House, head: ChainHead | None, after: timedelta, settings: dict[str, Any], why: str | None
):
    due = due_run(house.settings.model_copy(update=settings), head, NOON + after)
    assert (due and due.why) == why


def test_a_run_is_due_before_anything_is_published(tmp_path: Path):
    settings = Settings(data_dir=tmp_path, _env_file=None)
    assert due_run(settings, None, NOON) == DueRun("nothing is published for this address")


def test_a_run_is_due_while_documents_are_marked_stale(house: House, tmp_path: Path):
    marked = house.copied(tmp_path)
    marked.republish_stale("check_failed")
    assert due_run(marked.settings, chain_at(), NOON) == DueRun("published documents are marked stale")


@pytest.fixture
def place(tmp_path: Path):
    with RecordedNode(recorded_chain()) as node:
        yield Place(tmp_path, node.url)


@pytest.fixture
def instance(tmp_path: Path):
    with dg.DagsterInstance.local_temp(str(tmp_path)) as opened:
        yield opened


def tick(place: Place, instance: dg.DagsterInstance) -> dg.RunRequest | dg.SkipReason:
    """Returns the result of one evaluation of the schedule."""
    schedule = build_definitions(place.settings()).resolve_schedule_def("chain_schedule")
    repository = build_definitions(place.settings()).get_repository_def()
    with dg.build_schedule_context(
        instance=instance, scheduled_execution_time=datetime.now(UTC), repository_def=repository
    ) as context:
        data = schedule.evaluate_tick(context)
    return data.run_requests[0] if data.run_requests else dg.SkipReason(data.skip_message)


def record_run(instance: dg.DagsterInstance, status: dg.DagsterRunStatus, **tags: str) -> str:
    recorded = dg.DagsterRun(
        job_name="chain", status=status, tags={name.replace("__", "/"): value for name, value in tags.items()}
    )
    return instance.add_run(recorded).run_id


def dead_process() -> str:
    """Returns the tag of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    tag = f"{child.pid} {psutil.Process(child.pid).create_time():.2f}"
    child.communicate()
    return tag


def test_the_schedule_asks_for_a_run_and_says_why(place: Place, instance: dg.DagsterInstance):
    answer = tick(place, instance)
    assert isinstance(answer, dg.RunRequest)
    assert answer.tags["why"] == "nothing is published for this address"


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED])
def test_the_schedule_skips_while_a_run_is_recorded_as_going_on(
    place: Place, instance: dg.DagsterInstance, status: dg.DagsterRunStatus
):
    record_run(instance, status, svc__process=this_process())
    assert tick(place, instance) == dg.SkipReason("a run is in progress")


def test_the_schedule_skips_while_the_lock_is_held(
    place: Place, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(chain_due.__kwdefaults__, "lock_wait_s", 0.1)
    with run_lock(place.data_dir, wait_s=0):
        assert tick(place, instance) == dg.SkipReason("a run is in progress")


def test_a_run_whose_process_was_killed_does_not_hold_up_the_schedule(place: Place, instance: dg.DagsterInstance):
    lost = record_run(instance, dg.DagsterRunStatus.STARTED, svc__process=dead_process())
    assert isinstance(tick(place, instance), dg.RunRequest)
    assert instance.get_run_by_id(lost).status is dg.DagsterRunStatus.FAILURE


def test_runs_that_live_or_have_no_process_yet_are_left_alone(instance: dg.DagsterInstance):
    record_run(instance, dg.DagsterRunStatus.STARTED, svc__process=this_process())
    record_run(instance, dg.DagsterRunStatus.STARTING)
    assert end_lost_runs(instance, unfinished_runs(instance)) == 0


def test_the_schedule_skips_with_the_reason_where_the_chain_does_not_answer(
    house: House, tmp_path: Path, instance: dg.DagsterInstance
):
    house.copied(tmp_path)
    place = Place(tmp_path, "http://127.0.0.1:1", base_url=house.settings.base_url)
    answer = tick(place, instance)
    assert isinstance(answer, dg.SkipReason)
    assert answer.skip_message.startswith("rpc_unavailable: ")
    assert place.staleness() == {(True, "rpc_unavailable")}


def test_records_of_runs_that_ended_long_ago_are_deleted(instance: dg.DagsterInstance):
    ended = record_run(instance, dg.DagsterRunStatus.SUCCESS)
    going_on = record_run(instance, dg.DagsterRunStatus.STARTED)
    now = datetime.now(UTC)
    assert delete_old_runs(instance, now + RUNS_KEPT_FOR - timedelta(minutes=1)) == 0
    assert delete_old_runs(instance, now + RUNS_KEPT_FOR + timedelta(minutes=1)) == 1
    assert [run.run_id for run in instance.get_runs()] == [going_on]
    assert ended != going_on


def test_a_tick_that_waits_for_silent_nodes_ends_before_dagster_aborts_it():
    # A last attempt may begin right before patience ends.
    assert LOCK_PATIENCE_S + POLL_PATIENCE_S + POLL_TIMEOUT_S <= 0.8 * DEFAULT_SCHEDULE_GRPC_TIMEOUT
