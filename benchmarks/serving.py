"""Measures answers: server CPU per request of the API's front, nginx and StaticFiles, interleaved in one run.

CPU time of the server's process tree per completed request is reliable even on a busy machine; requests per second are
not.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import IO

from benchmarks.contest import NotRun, attempt
from benchmarks.load import load
from contracts.discovery.installation import installation_of
from contracts.errors import OperatorProblem
from contracts.publish.projection import Projection
from contracts.publish.routes import file_of
from contracts.settings import Settings
from pipelines.publish.documents import document_parts, published_document
from pipelines.publish.site import route_table, site_files
from warehouse.publish.generations import Part, begin, build

BODY_BYTES = 50_000
FREE_PATH = "/bench/document"
LIMITED_PATH = "/api/bench/document"
NEVER_REACHED = 1_000_000_000
STARTS_WITHIN_S = 60

STATIC_FILES = """
import sys, uvicorn
from starlette.staticfiles import StaticFiles
uvicorn.run(StaticFiles(directory=sys.argv[1]), port=int(sys.argv[2]), access_log=False, log_level="error")
"""


@dataclass(frozen=True)
class Row:
    """One case of one server: the lowest CPU time per answer over the rounds, the highest answers per second, and the
    ratio of that CPU time to nginx's for the same kind of answer (None if nginx did not run)."""

    server: str
    case: str
    cpu_us: float
    answers_per_s: float
    times_nginx: float | None


_Round = dict[str, tuple[float, float]]
"""One measurement of each case of a server: CPU microseconds per answer, and answers per second."""


@dataclass(frozen=True)
class _Server:
    name: str
    port: int
    pid: int
    paths: dict[str, str]
    """The path requested in each case."""


def run(*, seconds: float = 2.0, rounds: int = 3) -> list[Row | NotRun]:
    """Starts all servers on one published tree, loads them in turn and stops them. Fails if ours can't run."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        data_dir = Path(directory)
        ours = stack.enter_context(_front(data_dir))
        others: list[_Server] = []
        not_run: list[NotRun] = []
        for name, server_of in (("nginx", _nginx), ("StaticFiles", _static_files)):
            started = attempt(name, stack.enter_context, server_of(data_dir))
            if isinstance(started, NotRun):
                not_run.append(started)
            else:
                others.append(started)
        measured: dict[str, list[_Round]] = {}
        for _ in range(rounds):
            measured.setdefault(ours.name, []).append(_round(ours, seconds))
            for server in list(others):
                answers = attempt(server.name, _round, server, seconds)
                if isinstance(answers, NotRun):
                    not_run.append(answers)
                    others.remove(server)
                    measured.pop(server.name, None)
                else:
                    measured.setdefault(server.name, []).append(answers)
    return [*_rows(measured), *not_run]


def _round(server: _Server, seconds: float) -> _Round:
    return {
        f"{kind}{case}": _load(server, path, seconds, unchanged=kind == "304")
        for case, path in server.paths.items()
        for kind in ("50 kB", "304")
    }


def _rows(measured: dict[str, list[_Round]]) -> list[Row]:
    cases = {(server, case) for server, answers in measured.items() for case in answers[0]}
    least = {(server, case): min(answers[case][0] for answers in measured[server]) for server, case in cases}
    return [
        Row(
            server,
            case,
            round(least[server, case], 1),
            round(max(answers[case][1] for answers in measured[server])),
            _ratio(least[server, case], least.get(("nginx", case.partition(",")[0]))),
        )
        for server, case in sorted(cases)
    ]


def _ratio(ours: float, theirs: float | None) -> float | None:
    return None if theirs is None else round(ours / theirs, 2)


def _load(server: _Server, path: str, seconds: float, *, unchanged: bool) -> tuple[float, float]:
    headers = {"If-None-Match": _etag(server.port, path)} if unchanged else {}
    cpu_before = cpu_s(server.pid)
    started = time.monotonic()
    answers = load(server.port, path, headers, seconds)
    took_s = time.monotonic() - started
    return (cpu_s(server.pid) - cpu_before) / answers * 1e6, answers / took_s


def _etag(port: int, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    assert response.status == 200 and len(body) >= BODY_BYTES, response.status
    etag = response.getheader("ETag")
    connection.close()
    assert etag is not None
    return etag


def cpu_s(pid: int) -> float:
    """Returns user and system time of a process and its children, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(cpu_s(int(child)) for child in children)


@contextmanager
def _front(data_dir: Path) -> Iterator[_Server]:
    port = free_port()
    settings = Settings(data_dir=data_dir, port=port, rate_limit_per_minute=NEVER_REACHED)
    publish_document(settings)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("SVC_")},
        "SVC_DATA_DIR": str(data_dir),
        "SVC_PORT": str(port),
        "SVC_RATE_LIMIT_PER_MINUTE": str(NEVER_REACHED),
        "SVC_RPC_URLS": "http://127.0.0.1:1",
    }
    command = [str(Path(sys.executable).with_name("svc")), "serve"]
    with running(command, port, environment) as pid:
        yield _Server("ours", port, pid, {"": FREE_PATH, ", limited": LIMITED_PATH})


@contextmanager
def _nginx(data_dir: Path) -> Iterator[_Server]:
    if shutil.which("nginx") is None:
        raise OperatorProblem("nginx is not installed.", cure="Install it to compare with it.")
    port = free_port()
    configuration = data_dir / "nginx-bench.conf"
    generated = (data_dir / "current/hosting/nginx.conf").read_text()
    generated = generated.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    configuration.write_text(generated.replace("worker_processes auto;", "worker_processes 1;"))
    user = "user root;" if os.geteuid() == 0 else ""
    command = ["nginx", "-p", str(data_dir), "-c", str(configuration), "-g", f"daemon off; {user}"]
    with running(command, port, dict(os.environ)) as pid:
        yield _Server("nginx", port, pid, {"": FREE_PATH})


@contextmanager
def _static_files(data_dir: Path) -> Iterator[_Server]:
    port = free_port()
    public = (data_dir / "current/public").resolve()
    command = [sys.executable, "-c", STATIC_FILES, str(public), str(port)]
    with running(command, port, dict(os.environ)) as pid:
        yield _Server("StaticFiles", port, pid, {"": f"/{file_of(FREE_PATH)}"})


def publish_document(settings: Settings, more: Mapping[str, Part] = MappingProxyType({})) -> None:
    """Publishes one document under two paths, one of them rate-limited, and `more` parts."""
    numbers = random.Random(1)
    holders = [{"rank": n, "address": f"0x{numbers.getrandbits(160):040x}"} for n in range(BODY_BYTES // 68 + 1)]
    body = json.dumps({"ok": True, "holders": holders}).encode()
    draft = begin(settings.data_dir, datetime.now(UTC))
    rows = [
        Projection(name=path, path=path, model=None, group="bench", summary="", description="")
        for path in (FREE_PATH, LIMITED_PATH)
    ]
    documents = [published_document(row, body, draft) for row in rows]
    files = site_files(route_table(installation_of(settings), rows, ()), f"{settings.host}:{settings.port}")
    parts = document_parts(documents) | {path: Part.of_bytes(content) for path, content in files.items()} | dict(more)
    entries = {document.path: document.entry for document in documents}
    build(settings.data_dir, draft, parts, entries, settings.public_base_url)


@contextmanager
def running(command: list[str], port: int, environment: dict[str, str]) -> Iterator[int]:
    """Runs a server that must listen at `port`, and yields its process id. If it doesn't listen, quotes its output."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command, env=environment, stderr=complaints)
        try:
            _wait_until_it_listens(process, port, complaints)
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(15)


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, complaints: IO[bytes]) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                complaints.seek(0)
                lines = complaints.read().decode(errors="replace").strip().splitlines()
                quoted = lines[-1] if lines else "it printed nothing"
                raise RuntimeError(f"no server at port {port}: {quoted}") from None
            time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
