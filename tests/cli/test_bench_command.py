"""`svc bench`: a bench that fails and a contender that can't run report why, without affecting the numbers of
others."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psutil
import pytest
import typer
from patience import HANG_S

from benchmarks.__main__ import NAMES, main
from benchmarks.command import Bench, benches_of, run_benches
from benchmarks.contest import NotRun, attempt
from benchmarks.incremental import run_on
from benchmarks.load import ask_again_and_again
from benchmarks.partitions import Backfill, PartitionCost
from benchmarks.tables import contest_table, partitions_text


def bench_of(name: str, measure: Callable[[], Any]) -> Bench:
    return Bench(name, f"measuring {name}", measure, lambda value, _: f"{name}: {value}")


def fails() -> None:
    raise EOFError("the peer closed")


def test_a_bench_that_fails_is_named_with_its_reason_and_the_others_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    benches = [bench_of("first", lambda: 1), bench_of("second", fails), bench_of("third", lambda: 3)]
    with pytest.raises(typer.Exit) as ended:
        run_benches(benches, as_json=False)
    printed = capsys.readouterr()
    assert ended.value.exit_code == 1
    assert printed.out == "first: 1\nthird: 3\n"
    assert "second failed: EOFError: the peer closed (test_bench_command.py:" in printed.err
    assert printed.err.endswith("1 of 3 benches failed: second\n")


def test_as_json_a_failed_bench_is_null_with_its_reason_next_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        run_benches([bench_of("first", lambda: NotRun("x", "y")), bench_of("second", fails)], as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["first"], answer["second"]) == (False, {"contender": "x", "reason": "y"}, None)
    assert answer["failed"]["second"].startswith("EOFError: the peer closed")


def test_a_bench_that_is_unknown_is_answered_with_the_known_ones() -> None:
    with pytest.raises(typer.BadParameter, match=r"'severing' is not a bench\. The benches are .*\bserving\b"):
        main(["serving", "severing"])


def test_every_bench_runs_under_its_name() -> None:
    assert tuple(bench.name for bench in benches_of(10_000, 10_000, 1_000)) == NAMES


def test_benches_that_all_end_well_end_the_command_well(capsys: pytest.CaptureFixture[str]) -> None:
    run_benches([bench_of("first", lambda: [1])], as_json=True)
    assert json.loads(capsys.readouterr().out) == {"ok": True, "failed": {}, "first": [1]}


def test_a_contender_that_cannot_run_is_a_row_that_says_why() -> None:
    def missing() -> int:
        raise ModuleNotFoundError("No module named 'ladybug'")

    rows = [attempt("ours", lambda: 5), attempt("theirs", missing)]
    assert rows == [5, NotRun("theirs", "ModuleNotFoundError: No module named 'ladybug'")]
    table = contest_table(("engine", "ms", "MB"), rows, lambda ms: ("ours", str(ms), "1"))
    assert table.splitlines()[2:] == [
        "| ours | 5 | 1 |",
        "| theirs | did not run: ModuleNotFoundError: No module named 'ladybug' |  |",
    ]


def test_a_contender_that_ends_with_an_error_is_described_by_its_last_words() -> None:
    def ends() -> None:
        subprocess.run(
            ["sh", "-c", "echo first >&2; echo 'no such chain' >&2; exit 3"], check=True, capture_output=True
        )

    assert attempt("cryo", ends) == NotRun("cryo", "exit code 3: no such chain")


class Closing(BaseHTTPRequestHandler):
    """Closes each connection after some answers, as nginx does after a thousand; `tells` decides whether the last one
    announces it."""

    protocol_version = "HTTP/1.1"
    answers_a_connection = 7
    tells = True

    def setup(self) -> None:
        super().setup()
        self.answers = 0

    def do_GET(self) -> None:
        self.answers += 1
        last = self.answers == self.answers_a_connection
        self.send_response(304 if "If-None-Match" in self.headers else 200)
        self.send_header("Content-Length", "2")
        if last and self.tells:
            self.send_header("Connection", "close")
        self.end_headers()
        if "If-None-Match" not in self.headers:
            self.wfile.write(b"ok")
        self.close_connection = last

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


class ClosingSilently(Closing):
    tells = False


class Refusing(Closing):
    def do_GET(self) -> None:
        self.send_error(503)


class Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that hang up, which this test expects."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("handler", [Closing, ClosingSilently])
@pytest.mark.parametrize("headers", [{}, {"If-None-Match": '"x"'}])
def test_the_client_goes_on_where_the_server_closes_connections(
    handler: type[Closing], headers: dict[str, str]
) -> None:
    with serving(handler) as port:
        answers = ask_again_and_again(port, "/document", headers, lambda so_far: so_far < 400)
    assert answers >= 400


def test_an_error_status_does_not_count_as_an_answer() -> None:
    with serving(Refusing) as port, pytest.raises(RuntimeError, match="503 for /document"):
        ask_again_and_again(port, "/document", {}, lambda so_far: so_far < 400)


def test_backfills_are_rows_next_to_that_of_a_single_worker() -> None:
    one = Backfill("1 worker", 5_000_000, 40, 5.0, 1.0, 240.0, "ab")
    four = Backfill("4 workers", 5_000_000, 40, 5.5, 1.1, 250.0, "ab")
    tokens = Backfill("1 worker, 20 tokens", 5_000_000, 40, 4.0, 3.0, 200.0, "cd")
    assert partitions_text(PartitionCost([one, four], [one, tokens]), {}).splitlines()[2:] == [
        "| 1 worker | 5.00 | 1.00 | 1.00 | 40 | 6.0 | yes |",
        "| 4 workers | 5.50 | 1.10 | 1.10 | 40 | 6.2 | yes |",
        "| 1 worker, 20 tokens | 4.00 | 3.00 | 1.17 | 40 | 5.0 | other tokens |",
    ]


@pytest.mark.soak  # a bench takes seconds to load and to run
def test_new_blocks_are_read_and_published_on_a_written_history() -> None:
    cost = run_on(2_000, holders=500)
    assert cost.transfers == 2_000
    assert min(cost.run_wall_s, cost.run_cpu_s, cost.publish_wall_s) > 0


@pytest.mark.soak  # a bench takes seconds to load
def test_a_bench_that_is_terminated_ends_its_chain() -> None:
    command = [sys.executable, "-m", "benchmarks", "ingestion"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as bench:
        until = time.monotonic() + HANG_S
        while not (chain := [child for child in psutil.Process(bench.pid).children() if child.name() == "anvil"]):
            assert time.monotonic() < until
            time.sleep(0.05)
        bench.terminate()
        assert bench.wait(HANG_S) == 128 + signal.SIGTERM
    assert psutil.wait_procs(chain, HANG_S)[1] == []
