"""The chain job without any Dagster process: what it creates, what it leaves unchanged, and what a failure leaves
behind."""

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from clock_windows import stay_within
from ingest_helpers import ALICE, BOB, TOKEN
from nginx import free_port
from pipeline_runs import HOLDERS_ROUTES, Place, recorded_chain
from publishing import FEW, runs_publish

from cli.demo.recorded import RecordedChain, RecordedNode
from cli.pipeline import _summary
from contracts.errors import CheckFailed, FinalizedMismatch, ForeignStore, RpcUnavailable, StartBlockAhead
from pipelines.definitions import build_definitions
from pipelines.due import DueRun, chain_due
from pipelines.failure import stale_reason
from pipelines.headless import PipelineReport
from pipelines.runs import PROCESS_TAG, this_process
from warehouse.duck.tables import tables
from warehouse.ledger.ledger import LedgerIdentity, open_ledger

CORRUPTION = "update raw_chain__transfers set from_address = '\\x01'::blob where block_number = 5"
MENDING = f"update raw_chain__transfers set from_address = unhex('{ALICE[2:]}') where block_number = 5"


@pytest.fixture
def chain() -> RecordedChain:
    return recorded_chain()


@pytest.fixture
def place(tmp_path: Path, chain: RecordedChain):
    with RecordedNode(chain) as node:
        yield Place(tmp_path, node.url)


@pytest.fixture
def place_of_few(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place whose runs publish few documents, for tests of what runs read."""
    runs_publish(monkeypatch, *FEW)
    return place


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, PipelineReport]:
    """A place after its first run, and the report of that run; only to be read and copied."""
    with RecordedNode(recorded_chain()) as node:
        place = Place(tmp_path_factory.mktemp("first"), node.url)
        return place, place.run()


@pytest.fixture
def begun(tmp_path: Path, place: Place, first_run: tuple[Place, PipelineReport]) -> Place:
    """A copy of the place after its first run, to continue from."""
    return first_run[0].copied(tmp_path, place.rpc_url)


@pytest.fixture
def begun_this_hour(begun: Place) -> Place:
    """The same place, in an hour that does not end during the test: otherwise a snapshot would fall due."""
    stay_within(3600, for_s=30)
    assert any(begun.run().runs == 0 for _ in range(3)), "something is always due"
    return begun


def test_a_run_from_nothing_publishes_a_proven_list(first_run: tuple[Place, PipelineReport]):
    place, report = first_run
    assert (report.runs, report.why) == (1, "nothing is published for this address")
    assert report.assets["raw_chain__transfers"]["new_transfers"] == 2
    assert report.assets["out_holders__lists"]["verdict"] == "proven"
    suites = {f"{table.name}:{table.checks.name}" for table in tables().values() if table.checks}
    prices = {name for name in suites if "_market__" in name}
    assert {*suites - prices, "document/api/token/holders:proof"} <= set(report.checks)
    assert all(report.checks.values())
    document = place.document()
    assert (document["holderCount"], document["consistency"]["proof"]["verdict"]) == (2, "proven")
    assert place.staleness() == {(False, None)}
    (run,) = place.dagster_runs()
    assert run.tags[PROCESS_TAG] == this_process()


def test_a_start_above_the_chains_head_is_refused_until_the_chain_is_that_long(
    place_of_few: Place, chain: RecordedChain
):
    with pytest.raises(StartBlockAhead, match=r"SVC_TOKEN_START_BLOCK is 52, .* newest block is 50") as refused:
        place_of_few.run(token_start_block=52)
    assert refused.value.exit_code == 1 and "deployed" in refused.value.cure
    due = chain_due(place_of_few.settings(token_start_block=52), datetime.now(UTC), lock_wait_s=0)
    assert due is not None, "the schedule keeps trying"
    chain.advance_to(52)
    report = place_of_few.run(token_start_block=52)
    assert list(_summary(report.assets, {})) == ["reading begins at block 52, which is not final yet"]
    chain.advance_to(60)
    assert place_of_few.run(token_start_block=52).assets["raw_chain__transfers"]["to_block"] == 58


def test_a_start_that_was_refused_can_be_corrected(place_of_few: Place):
    with pytest.raises(StartBlockAhead):
        place_of_few.run(token_start_block=99_999_999)
    assert place_of_few.run(token_start_block=0).assets["out_holders__lists"]["verdict"] == "proven"


def test_a_second_run_with_nothing_new_makes_no_run_and_writes_nothing(begun_this_hour: Place):
    place = begun_this_hour
    before, generation = (place.files(), len(place.dagster_runs())), (place.data_dir / "current").readlink().name
    again = place.run()
    assert (again.runs, again.why, again.generation) == (0, None, generation)
    assert (place.files(), len(place.dagster_runs())) == before


def test_rows_that_break_their_contract_leave_the_last_good_generation_up_until_a_good_run_which_keeps_a_snapshot(
    begun_this_hour: Place, chain: RecordedChain, first_run: tuple[Place, PipelineReport]
):
    """A single test, because a run takes seconds of CPU."""
    place, good = begun_this_hour, begun_this_hour.document()
    chain.advance_to(60)
    due = chain_due(place.settings(), datetime.now(UTC), lock_wait_s=0)
    assert due is not None and due.why == "there are new final blocks"
    with place.warehouse() as connection:
        connection.execute(CORRUPTION)
        connection.execute("delete from core_checks__watermarks")
    with pytest.raises(CheckFailed):
        place.run()
    assert place.staleness() == {(True, "check_failed")}
    assert place.document()["consistency"] == good["consistency"]

    with place.warehouse() as connection:
        connection.execute(MENDING)
    second = place.run()
    assert (second.runs, second.why) == (1, "published documents are marked stale")
    assert second.generation != first_run[1].generation
    assert place.staleness() == {(False, None)}
    assert place.document()["consistency"]["proof"]["block"] == 58
    rows = place.document("/api/token/holders-map")["holders"]
    assert {row["address"].lower(): row["balanceRaw"] for row in rows} == {ALICE: "985", BOB: "15"}
    assert not second.assets["out_holders__lists"]["snapshot"]

    third = place.run(snapshot=True)
    assert (third.runs, third.why) == (1, "a snapshot was requested")
    assert third.assets["out_holders__lists"]["snapshot"], "though nothing is new"
    with place.warehouse() as connection:
        held = connection.execute("select id, reason from core_holders__snapshots order by block").fetchall()
    assert held == [("48", "first"), ("58", "demand")]


def test_a_failed_check_in_dagster_itself_leaves_the_last_good_generation_marked(begun: Place, chain: RecordedChain):
    with begun.warehouse() as connection:
        connection.execute(CORRUPTION)
        connection.execute("delete from core_checks__watermarks")
    chain.advance_to(60)
    job = build_definitions(begun.settings()).resolve_job_def("chain")
    with begun.dagster() as instance:
        assert not job.execute_in_process(instance=instance, raise_on_error=False).success
    assert begun.staleness() == {(True, "check_failed")}


def test_a_chain_that_does_not_answer_marks_what_is_published_stale_once(
    tmp_path: Path, chain: RecordedChain, first_run: tuple[Place, PipelineReport]
):
    place = first_run[0].copied(tmp_path, f"http://127.0.0.1:{free_port()}")
    runs = len(place.dagster_runs())
    with pytest.raises(RpcUnavailable):
        place.run()
    assert place.staleness() == {(True, "rpc_unavailable")}
    marked = place.files()
    with pytest.raises(RpcUnavailable):
        place.run()
    assert place.files() == marked
    assert len(place.dagster_runs()) == runs
    with RecordedNode(chain) as node:
        place.rpc_url = node.url
        why = chain_due(place.settings(), datetime.now(UTC), lock_wait_s=0)
    assert why == DueRun("published documents are marked stale"), "the next run mends it, as after a failed check"


def test_history_that_contradicts_what_was_final_is_not_rewritten(begun: Place, chain: RecordedChain):
    chain.reorg(40, "other")
    chain.advance_to(60)
    with pytest.raises(FinalizedMismatch):
        begun.run()
    assert begun.staleness() == {(True, "finalized_mismatch")}
    with begun.warehouse() as connection:
        held = connection.execute("select max(to_block), sum(log_count) from raw_chain__ranges").fetchone()
    assert held == (48, 2)


@pytest.mark.parametrize(
    "changes", [{"token_start_block": 3}, {"token_address": "0x" + "71" * 20}], ids=["start block", "token"]
)
def test_a_warehouse_of_another_token_is_refused_and_what_it_published_stays(begun: Place, changes: dict):
    before = begun.files()
    with pytest.raises(ForeignStore) as refused:
        begun.run(snapshot=True, **changes)
    assert refused.value.exit_code == 2
    after = begun.files()
    assert {name: after[name] for name in after if name != "warehouse.duckdb"} == {
        name: before[name] for name in before if name != "warehouse.duckdb"
    }
    assert begun.staleness() == {(False, None)}


def test_a_ledger_of_another_chain_is_refused(place: Place):
    with closing(open_ledger(place.settings(), place.data_dir)) as ledger:
        ledger.stamp(LedgerIdentity(1, "0x" + "ab" * 32, TOKEN))
    with pytest.raises(ForeignStore, match="ledger"):
        place.run()


def test_a_run_stamps_the_ledger_as_it_stamps_the_warehouse(
    first_run: tuple[Place, PipelineReport], chain: RecordedChain
):
    place, _ = first_run
    with closing(open_ledger(place.settings(), place.data_dir)) as ledger:
        assert ledger.identity() == LedgerIdentity(8453, chain.block_hash(0), TOKEN)


def test_a_fault_that_nobody_foresaw_is_a_failed_run():
    try:
        raise RuntimeError("from a step") from ValueError("deep")
    except RuntimeError as failure:
        assert stale_reason(failure) == "run_failed"
    assert stale_reason(None) == "run_failed"


def test_without_a_token_the_documents_say_so(place: Place):
    report = place.run(token_address=None)
    assert report.runs == 1
    for route in HOLDERS_ROUTES:
        assert "not_configured" in json.dumps(place.document(route)), route
    assert place.run(token_address=None).runs == 0
