"""What an answer costs: server CPU per request of the API's front, nginx and StaticFiles, interleaved in one run.

CPU time of the server's process tree over completed requests bears a busy machine; requests per second do not.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from contracts.discovery.installation import installation_of
from contracts.projections import Projection
from contracts.routes import file_of
from contracts.settings import Settings
from pipelines.publish.documents import document_parts, published_document
from pipelines.publish.site import route_table, site_files
from warehouse.generations import Part, begin, build

BODY_BYTES = 50_000
CONNECTIONS = 16
FREE_PATH = "/bench/document"
LIMITED_PATH = "/api/bench/document"
NEVER_REACHED = 1_000_000_000

STATIC_FILES = """
import sys, uvicorn
from starlette.staticfiles import StaticFiles
uvicorn.run(StaticFiles(directory=sys.argv[1]), port=int(sys.argv[2]), access_log=False, log_level="error")
"""


@dataclass(frozen=True)
class Row:
    """One case of one server: the least CPU time of an answer over the rounds, the most answers a second, and the
    ratio of that CPU time to nginx's for the same kind of answer (None where nginx did not run)."""

    server: str
    case: str
    cpu_us: float
    answers_per_s: float
    times_nginx: float | None


@dataclass(frozen=True)
class _Server:
    name: str
    port: int
    pid: int
    paths: dict[str, str]
    """The path asked for in each case."""


def run(*, seconds: float = 2.0, rounds: int = 3) -> list[Row]:
    """Start all servers on one published tree, load them in turn, end them. nginx is left out where it is missing."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        data_dir = Path(directory)
        servers = [stack.enter_context(_front(data_dir))]
        if shutil.which("nginx"):
            servers.append(stack.enter_context(_nginx(data_dir)))
        servers.append(stack.enter_context(_static_files(data_dir)))
        measured: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for _ in range(rounds):
            for server in servers:
                for case, path in server.paths.items():
                    for kind in ("50 kB", "304"):
                        key = (server.name, f"{kind}{case}")
                        measured.setdefault(key, []).append(_load(server, path, seconds, unchanged=kind == "304"))
    least = {key: min(cpu for cpu, _ in runs) for key, runs in measured.items()}
    return [
        Row(
            server,
            case,
            round(least[server, case], 1),
            round(max(rate for _, rate in runs)),
            _ratio(least[server, case], least.get(("nginx", case.partition(",")[0]))),
        )
        for (server, case), runs in measured.items()
    ]


def _ratio(ours: float, theirs: float | None) -> float | None:
    return None if theirs is None else round(ours / theirs, 2)


def _load(server: _Server, path: str, seconds: float, *, unchanged: bool) -> tuple[float, float]:
    """CPU microseconds for each answer, and answers a second."""
    headers = {"If-None-Match": _etag(server.port, path)} if unchanged else {}
    cpu_before = cpu_s(server.pid)
    started = time.monotonic()
    answers = load(server.port, path, headers, seconds)
    took_s = time.monotonic() - started
    return (cpu_s(server.pid) - cpu_before) / answers * 1e6, answers / took_s


def load(port: int, path: str, headers: dict[str, str], seconds: float) -> int:
    """Ask for a path again and again over some connections, and say how often it was answered."""
    if shutil.which("wrk"):
        return _wrk(port, path, headers, seconds)
    return asyncio.run(_ask(port, path, headers, seconds))


def _wrk(port: int, path: str, headers: dict[str, str], seconds: float) -> int:
    named = [f"-H{name}: {value}" for name, value in headers.items()]
    command = [
        "wrk",
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{max(1, round(seconds))}s",
        *named,
        f"http://127.0.0.1:{port}{path}",
    ]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Non-2xx" not in said, said
    match = re.search(r"(\d+) requests in", said)
    assert match is not None, said
    return int(match[1])


async def _ask(port: int, path: str, headers: dict[str, str], seconds: float) -> int:
    """Answers to `CONNECTIONS` clients that ask again and again."""
    lines = [f"GET {path} HTTP/1.1", "Host: bench", *(f"{name}: {value}" for name, value in headers.items())]
    request = "\r\n".join([*lines, "", ""]).encode()
    until = time.monotonic() + seconds

    async def client() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answers = 0
        while time.monotonic() < until:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if length is not None and b" 304 " not in head.partition(b"\r\n")[0]:
                await reader.readexactly(int(length[1]))
            answers += 1
        writer.close()
        await writer.wait_closed()
        return answers

    return sum(await asyncio.gather(*(client() for _ in range(CONNECTIONS))))


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
    """User and system time of a process and its children, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(cpu_s(int(child)) for child in children)


@contextmanager
def _front(data_dir: Path) -> Iterator[_Server]:
    port = free_port()
    settings = Settings(data_dir=data_dir, port=port, rate_limit_per_minute=NEVER_REACHED)
    _publish(settings)
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


def _publish(settings: Settings) -> None:
    """A generation of one document under two paths, one of them counted by the limit."""
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
    parts = document_parts(documents) | {path: Part.of_bytes(content) for path, content in files.items()}
    entries = {document.path: document.entry for document in documents}
    build(settings.data_dir, draft, parts, entries, settings.public_base_url)


@contextmanager
def running(command: list[str], port: int, environment: dict[str, str]) -> Iterator[int]:
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{command[0]} does not listen") from None
                time.sleep(0.05)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(15)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
