"""`svc pipeline` and `svc publish` in this process: their refusals, and their JSON."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from commands import called
from fault_node import Fault, FaultNode, Reply, always
from ingest_helpers import TOKEN
from patience import HANG_S
from pipeline_runs import recorded_chain
from publishing import FEW, House, commands_publish, mint, runs_publish
from rounds import ROUNDS, SOAK_ROUNDS
from serving_process import serving
from small_disk import fill, small_disk
from typer.testing import Result

from cli.demo.recorded import RecordedNode
from cli.logs import ConsoleLines
from pipelines import checks
from warehouse.discovery.checks import check_results, failed_tables
from warehouse.discovery.run_status import EndedRun, Outcome, read_run_status, update_run_status, with_run
from warehouse.duck.connection import Warehouse
from warehouse.duck.tables import tables
from warehouse.publish.generations import current_generation

Svc = Callable[..., Result]
DOCUMENT = "/api/token/holders"
HOLD_OPEN = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


@pytest.fixture
def svc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Svc:
    """Calls `svc` on a data directory, ignoring the `.env` of this checkout."""
    monkeypatch.chdir(tmp_path)
    commands_publish(monkeypatch, *FEW)

    def call(*arguments: str, **variables: str) -> Result:
        return called({"SVC_DATA_DIR": str(tmp_path / "var")} | variables, *arguments)

    return call


@pytest.fixture
def svc_of_few(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> Svc:
    """The same `svc` publishing few documents, for runs that test something else."""
    runs_publish(monkeypatch, *FEW)
    return svc


def said(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def said_last(result: Result) -> dict[str, Any]:
    """Returns the JSON value on the last line, after whatever Dagster has printed."""
    return json.loads(result.stdout.splitlines()[-1])


def test_next_to_a_service_for_another_address_nothing_is_published(svc: Svc, tmp_path: Path):
    House(tmp_path / "var", base_url="http://127.0.0.1:28310").publish(*FEW)
    before = current_generation(tmp_path / "var")
    elsewhere = {"SVC_PORT": "28330", "SVC_RPC_URLS": "http://127.0.0.1:9", "SVC_TOKEN_ADDRESS": TOKEN}
    with serving(tmp_path / "var", "http://127.0.0.1:28310"):
        for command in (("publish",), ("pipeline", "run"), ("serve",)):
            refused = svc(*command, "--json", **elsewhere)
            assert (refused.exit_code, said(refused)) == (
                2,
                {
                    "ok": False,
                    "code": "foreign_generation",
                    "detail": f"A service is running on {tmp_path}/var for http://127.0.0.1:28310, "
                    "not http://127.0.0.1:28330.",
                    "cure": "Set SVC_BASE_URL=http://127.0.0.1:28310, or stop that service first to publish for "
                    "another address.",
                },
            )
        assert current_generation(tmp_path / "var") == before
        assert svc("publish", "--json", **elsewhere, SVC_BASE_URL="http://127.0.0.1:28310").exit_code == 0
    moved = said(svc("publish", "--json", **elsewhere))
    generation = current_generation(tmp_path / "var")
    assert generation is not None
    assert (moved["published"], generation.manifest.base_url) == (True, "http://127.0.0.1:28330")


def test_without_a_chain_to_read_the_pipeline_is_refused(svc: Svc):
    result = svc("pipeline", "run", "--json")
    assert result.exit_code == 2
    assert said(result)["code"] == "settings_invalid"
    assert "svc run" in said(result)["cure"]


@pytest.mark.parametrize("command", [("pipeline", "run"), ("publish",)])
def test_missing_secrets_are_refused_before_anything_is_written(svc: Svc, tmp_path: Path, command: tuple[str, ...]):
    ledger = {"SVC_RPC_URLS": "http://127.0.0.1:9", "SVC_LEDGER_URL": "postgresql+psycopg://127.0.0.1:9/svc"}
    result = svc(*command, "--json", **ledger)
    assert (result.exit_code, said(result)["code"]) == (2, "settings_invalid")
    assert said(result)["detail"] == (
        "SVC_MASTER_SECRET and SVC_SIGNING_KEY_FILE are not set, and SVC_LEDGER_URL requires them."
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "detail"),
    [
        ("SVC_SIGNING_KEY_FILE", "The signing key file other.txt holds no private key."),
        ("SVC_TOKENS_FILE", "SVC_TOKENS_FILE is wrong at its content: Input should be a valid list."),
    ],
)
def test_an_unusable_file_of_a_setting_is_refused_before_the_chain_is_read_and_fails_no_job(
    svc: Svc, tmp_path: Path, setting: str, detail: str
):
    (tmp_path / "other.txt").write_text("not a key")
    partitions = {"SVC_PARTITION_BLOCKS": "50", "SVC_PUBLISH_URL": f"file://{tmp_path}/store"}
    with FaultNode(recorded_chain()) as node:
        chain = {"SVC_RPC_URLS": node.url, "SVC_TOKEN_ADDRESS": TOKEN}
        result = svc("pipeline", "run", "--json", **chain, **partitions, **{setting: "other.txt"})
        assert node.calls == []
    assert (result.exit_code, said(result)["detail"]) == (2, detail)
    assert read_run_status(tmp_path / "var").jobs == {}


def test_an_api_host_names_all_settings_that_it_lacks(svc: Svc):
    result = svc("api", "--json", SVC_LEDGER_URL="postgresql+psycopg://127.0.0.1:9/svc")
    assert (result.exit_code, said(result)["detail"]) == (
        2,
        "An API host needs settings that are not set here: SVC_PUBLISH_URL, SVC_MASTER_SECRET, SVC_SIGNING_KEY_FILE.",
    )


def test_the_report_of_a_run_is_one_json_value_and_a_run_for_another_token_exits_with_2(svc_of_few: Svc):
    with RecordedNode(recorded_chain()) as node:
        result = svc_of_few("pipeline", "run", "--json", SVC_RPC_URLS=node.url, SVC_TOKEN_ADDRESS=TOKEN)
        other = svc_of_few(
            "pipeline", "run", "--snapshot", "--json", SVC_RPC_URLS=node.url, SVC_TOKEN_ADDRESS="0x" + "71" * 20
        )
    assert result.exit_code == 0
    report = said(result)
    assert (report["ok"], report["runs"]) == (True, 1)
    assert report["assets"]["out_holders__lists"]["verdict"] == "proven"
    assert (other.exit_code, said(other)["code"]) == (2, "foreign_store")


def test_a_list_whose_proof_fails_is_a_failed_check_everywhere_and_exits_with_1(svc: Svc, tmp_path: Path):
    # Reading starts at block 2, so the mint of block 1 is missing, and the sender of block 5 sent what it never had.
    with RecordedNode(recorded_chain()) as node:
        chain = {"SVC_RPC_URLS": node.url, "SVC_TOKEN_ADDRESS": TOKEN, "SVC_TOKEN_START_BLOCK": "2"}
        result = svc("pipeline", "run", "--json", **chain)
        again = svc("pipeline", "run", "--snapshot", **chain)
        unchanged, as_json = svc("pipeline", "run", **chain), svc("pipeline", "run", "--json", **chain)
    report = said(result)
    assert (result.exit_code, report["ok"]) == (1, False)
    assert report["assets"]["out_holders__lists"]["verdict"] == "failed"
    failed = {"document/api/token/holders:proof", "out_chain__disputes:chain_and_list_agree"}
    assert failed <= {name for name, passed in report["checks"].items() if not passed}
    assert again.exit_code == 1 and "check not passed: document/api/token/holders:proof" in again.stdout
    assert (unchanged.exit_code, as_json.exit_code) == (1, 1)
    assert "nothing is new" in unchanged.stdout
    assert "its checks fail for out_chain__disputes: see /checks.json" in unchanged.stdout
    nothing_new = said(as_json)
    assert (nothing_new["ok"], nothing_new["runs"], nothing_new["failedChecks"]) == (False, 0, ["out_chain__disputes"])

    assert failed_tables(current_generation(tmp_path / "var")) == ["out_chain__disputes"]
    assert said(svc("pipeline", "status", "--json", **chain))["failedChecks"] == ["out_chain__disputes"]
    assert "checks out_chain__disputes" in svc("doctor", **chain).output
    with Warehouse(tmp_path / "var").connect() as connection:
        judged = {row.fact: row.value for row in check_results(connection) if row.table_name == "out_chain__disputes"}
    assert (judged["failed_newest_lists"], judged["open_disputes"]) == (1, 0)


def test_an_address_without_a_contract_is_named_and_has_no_numbers(svc_of_few: Svc, tmp_path: Path):
    with RecordedNode(recorded_chain()) as node:
        result = svc_of_few("pipeline", "run", SVC_RPC_URLS=node.url, SVC_TOKEN_ADDRESS="0x" + "71" * 20)
    assert result.exit_code == 0
    assert "0 holders at block 48: unproven (no_contract), kept as a snapshot" in result.stdout
    document = json.loads((tmp_path / "var/current/public" / f"{DOCUMENT[1:]}.json").read_bytes())
    assert (document["quality"], document["reason"]) == ("unavailable", "no_contract")
    assert (document["holderCount"], document["concentration"], document["basis"]) == (None, None, None)


def test_a_list_that_nothing_proves_is_no_fault(svc_of_few: Svc):
    with RecordedNode(recorded_chain(has_state=False)) as node:
        result = svc_of_few("pipeline", "run", "--json", SVC_RPC_URLS=node.url, SVC_TOKEN_ADDRESS=TOKEN)
    assert said(result)["assets"]["out_holders__lists"]["verdict"] == "unproven"
    assert (result.exit_code, said(result)["ok"]) == (0, True)


@pytest.mark.parametrize("left_bytes", [0, 100_000, 1_000_000, 3_000_000] if ROUNDS > 1 else [0, 100_000, 1_000_000])
def test_a_full_disk_is_cured_by_space_and_nothing_has_to_be_moved(svc: Svc, tmp_path: Path, left_bytes: int):
    otherwise = "tests/warehouse/test_full_disk.py has the same errors without"
    with (
        small_disk(tmp_path / "small", otherwise=otherwise) as place,
        RecordedNode(recorded_chain()) as node,
    ):
        (place / "var").mkdir()
        fill(place / "filler", leave=left_bytes)
        given = {"SVC_DATA_DIR": str(place / "var"), "SVC_RPC_URLS": node.url, "SVC_TOKEN_ADDRESS": TOKEN}
        full = svc("pipeline", "run", "--json", **given)
        (place / "filler").unlink()
        freed = svc("pipeline", "run", "--json", **given)
    assert (full.exit_code, full.stderr) == (1, "")
    told = said_last(full)
    assert told["cure"].lower().startswith("free "), told
    assert "away" not in told["cure"], told
    assert (freed.exit_code, said(freed)["runs"]) == (0, 1)


def test_a_signal_ends_a_run_with_a_problem_and_its_job_does_not_fail(tmp_path: Path):
    never = Fault("eth_getLogs", always(Reply(delay_s=HANG_S)))
    with FaultNode(recorded_chain(), never) as node:
        given = {"SVC_DATA_DIR": str(tmp_path), "SVC_RPC_URLS": node.url, "SVC_TOKEN_ADDRESS": TOKEN}
        command = [Path(sys.executable).with_name("svc"), "pipeline", "run", "--json"]
        run = subprocess.Popen(command, env={**os.environ, **given}, stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + HANG_S
        while not node.asked("eth_getLogs"):
            assert run.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        run.send_signal(signal.SIGTERM)
        answer, _ = run.communicate(timeout=HANG_S)
    assert (run.returncode, json.loads(answer)) == (
        130,
        {
            "ok": False,
            "code": "interrupted",
            "detail": "A signal ended the command before it was done.",
            "cure": "Run it again: it continues.",
        },
    )
    chain = read_run_status(tmp_path).jobs["chain"]
    assert (chain.last_outcome, chain.failing_since, chain.consecutive_failures) == ("canceled", None, 0)


def test_the_status_of_an_empty_place_is_nothing_yet(svc: Svc):
    status = said(svc("pipeline", "status", "--json"))
    assert (status["ok"], status["generation"], status["verdict"]) == (True, None, None)


def test_the_status_while_a_run_holds_the_warehouse_is_that_of_the_published_list(svc: Svc, tmp_path: Path):
    house = House(tmp_path / "var")
    house.read_chain(mint(3), upto=48)
    house.publish(DOCUMENT)
    chain = {"SVC_RPC_URLS": "http://127.0.0.1:1"}
    before = said(svc("pipeline", "status", "--json", **chain))
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_OPEN, tmp_path / "var" / "warehouse.duckdb"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as run:
        assert run.stdout is not None and run.stdout.readline()
        during = said(svc("pipeline", "status", "--json", **chain))
        run.communicate()
    assert during["running"]
    assert during.keys() == before.keys()
    known = ("generation", "readToBlock", "newestList", "verdict")
    assert (
        [during[name] for name in known] == [before[name] for name in known] == [before["generation"], 48, 48, "proven"]
    )


def test_publishing_by_hand_does_not_take_the_mark_of_a_failed_run_away(svc: Svc, tmp_path: Path):
    house = House(tmp_path / "var")
    house.read_chain(mint(3), upto=48)
    house.publish(DOCUMENT)
    house.republish_stale("check_failed")
    variables = {"SVC_RPC_URLS": "http://127.0.0.1:1", "SVC_BASE_URL": "https://moved.example"}
    result = svc("publish", "--json", **variables)
    assert result.exit_code == 0
    status = said(svc("pipeline", "status", "--json", **variables))
    assert status["staleDocuments"]
    assert status["generation"] == said(result)["generation"]


def test_the_status_names_each_job_that_fails_and_why(svc: Svc, tmp_path: Path):
    def ended(job: str, outcome: Outcome, reason: str | None = None) -> None:
        run = EndedRun(job, outcome, datetime(2026, 11, 29, 12, tzinfo=UTC), 1.0, reason=reason)
        update_run_status(tmp_path / "var", lambda status: with_run(status, run))

    def status(*options: str) -> Result:
        return svc("pipeline", "status", *options, SVC_RPC_URLS="http://127.0.0.1:1")

    ended("price", "success")
    assert said(status("--json"))["failingJobs"] == {}
    ended("chain", "failure", "rpc_unavailable")
    assert said(status("--json"))["failingJobs"] == {"chain": "rpc_unavailable"}
    assert "failingJobs      chain (rpc_unavailable)\n" in status().output


def test_data_docs_have_a_page_for_the_checks_of_each_table(svc: Svc, monkeypatch: pytest.MonkeyPatch):
    """All tables in a soak, one of six by default, since the same code writes all pages."""
    every = [(table.name, table) for table in tables().values() if table.checks is not None]
    written = dict(every[:: 1 if ROUNDS >= SOAK_ROUNDS else 6])
    monkeypatch.setattr(checks, "tables", lambda: written)
    result = svc("pipeline", "datadocs", "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[1:] == [
        *(f"checking {name}, {number} of {len(written)}" for number, name in enumerate(written, 1)),
        "writing the pages",
    ]
    first = Path(said(result)["page"])
    checked = {f"{name}/{table.checks.name}" for name, table in written.items()}
    pages = {str(page.relative_to(first.parent)) for page in first.parent.rglob("*.html")}
    assert {f"expectations/{name}.html" for name in checked} <= pages
    judged = [page for page in pages if page.startswith("validations/")]
    assert {"/".join(page.split("/")[1:3]) for page in judged} == checked
    assert all(page in first.read_text() for page in judged)


@pytest.mark.parametrize(
    ("level", "line"),
    [
        (logging.INFO, "pipeline  40,000 words read"),
        (logging.WARNING, "warning   40,000 words read"),
        (logging.ERROR, "error     40,000 words read"),
    ],
)
def test_a_line_of_a_command_names_its_part_and_has_no_time(level: int, line: str):
    record = logging.LogRecord("pipelines.token", level, "f", 1, "%s words read", ("40,000",), None)
    assert ConsoleLines().format(record) == line
