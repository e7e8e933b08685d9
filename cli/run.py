"""Implements `svc run`: the demo chain if no RPC is set, API, pipeline and Dagster, all in the foreground."""

import os
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

import httpx
import typer

from cli.dagster_processes import (
    BIN,
    LISTENING_WITHIN_S,
    code_server,
    daemon,
    is_listening,
)
from cli.demo.chain import CHAIN_ID, DemoChain
from cli.environment import as_environment, make_data_dir
from cli.output import operator_problems, print_json, progress_line, say
from cli.ports import require_free_port, require_two_ports
from cli.same_origin import LOOPBACK_ADDRESS
from cli.supervise import Children, PartEnded, end_leftovers, only_one
from contracts.errors import ConfigurationProblem, DemoChainLost
from contracts.secrets import require_secrets
from contracts.settings import Settings, load_settings
from pipelines.instance import FIRST_RUN_MARK, prepare_home, prepare_workspace
from warehouse.access.watch import newest_final_block
from warehouse.discovery.processes import CHILDREN_FILE
from warehouse.duck.connection import Warehouse
from warehouse.file_modes import make_private_directory
from warehouse.ledger.engine import ledger_location
from warehouse.ledger.ledger import open_ledger
from warehouse.publish.generations import current_generation
from warehouse.token.transfers import last_checkpoint

API_READY_S = 60.0

LINES_END_S = 5.0

LOOK_EVERY_S = 10.0
"""Interval of an additional check of the children; usually a signal reports that one has ended."""

DAEMON_PACE = {
    "DAGSTER_EVENT_LOG_CONSUMER_DAEMON_INTERVAL_SECONDS": "30",
    "FRESHNESS_DAEMON_INTERVAL_SECONDS": "60",
}
"""Intervals in seconds at which Dagster's daemon looks for failed runs to retry, and checks the age of assets. Each
round costs CPU."""


def run(*, dagster_launch: bool, as_json: bool) -> None:
    """Runs everything: chain (the demo's if none is set), API, pipeline and Dagster. Ctrl-C stops it all.

    Dagster's pages are read-only unless --dagster-launch is given. They are served only to this machine, whatever
    SVC_HOST is.
    """
    stopping = _Stopping()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stopping.signalled)
    signal.signal(signal.SIGCHLD, stopping.wake)
    with operator_problems(as_json):
        settings = load_settings()
        require_secrets(settings)
        make_data_dir(settings.data_dir)
        with only_one(settings.data_dir / "service.lock"):
            record = settings.data_dir / CHILDREN_FILE
            end_leftovers(record)  # they occupy the ports
            require_two_ports(settings, LOOPBACK_ADDRESS)
            require_free_port(settings.host, settings.port, "SVC_PORT")
            require_free_port(LOOPBACK_ADDRESS, settings.dagster_port, "SVC_DAGSTER_PORT")
            _Service(settings, Children(record), stopping, as_json, dagster_launch=dagster_launch).run()


class _Stopping(threading.Event):
    """Set by a signal. Within `at_once` the signal also raises, since the code that runs there ignores the event.

    `sleep` ends with any signal. It waits on a socket, since a handler must not take a lock that it may interrupt.
    """

    def __init__(self) -> None:
        super().__init__()
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._raises = False

    def sleep(self, longest_s: float) -> None:
        if select.select([self._woken], [], [], longest_s)[0]:
            self._woken.recv(4096)

    def wake(self, *_: object) -> None:
        with suppress(BlockingIOError):  # full of earlier wake-ups
            self._waker.send(b".")

    def signalled(self, number: int, frame: FrameType | None) -> None:
        self.set()
        self.wake()
        if self._raises:
            self._raises = False
            raise typer.Exit(0)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        self._raises = True
        try:
            yield
        finally:
            self._raises = False


class _Step:
    """Something that the worker does first. `lines` and `code` read its output and its exit code; the worker writes
    them to `handed`."""

    def __init__(self) -> None:
        self.lines, output = os.pipe()
        self.code, ended = os.pipe()
        self.handed = (output, ended)


class _Service:
    """One run of the whole service: starts the parts in order, waits, and stops every child."""

    def __init__(
        self, settings: Settings, children: Children, stopping: _Stopping, as_json: bool, *, dagster_launch: bool
    ) -> None:
        self._settings = settings
        self._dagster_launch = dagster_launch
        self._children = children
        self._stopping = stopping
        self._as_json = as_json
        self._demo: DemoChain | None = None

    def run(self) -> None:
        sockets = tempfile.TemporaryDirectory(prefix="svc-")  # private, and short: a socket's path is limited
        try:
            self._start(Path(sockets.name))
            with operator_problems(as_json=False):  # the one JSON value has been printed
                self._wait()
        finally:
            started = time.monotonic()
            self._children.stop()
            if self._demo:
                self._demo.stop()
            sockets.cleanup()
            self._announce("stopped", f"every process ended in {time.monotonic() - started:.1f} s")

    def _start(self, sockets: Path) -> None:
        self._children.sweep_if_killed()
        if not self._settings.rpc_urls:
            self._start_demo()
        settings = self._settings
        home = prepare_home(settings.data_dir)
        environment = as_environment(settings) | {"DAGSTER_HOME": str(home)} | DAEMON_PACE
        logs = settings.data_dir / "logs"
        make_private_directory(logs)

        publication, first_run = _Step(), _Step()
        (home / FIRST_RUN_MARK).touch(mode=0o600)
        self._start_worker(environment, logs / "worker.log", publication, first_run)
        if not self._succeeded("publish", self._code_of(publication, "publish")):
            generation = current_generation(settings.data_dir)
            if generation is None or generation.manifest.base_url != settings.public_base_url:
                raise PartEnded("Nothing could be published.", cure="See the message above, or run `svc doctor`.")
        # The first run goes on while the API and Dagster start: each of them keeps one processor busy for seconds.
        self._children.start("api", _svc("serve"), environment, logs / "api.log")
        self._until_answering(f"http://{settings.listens_at}/health", API_READY_S)
        self._announce("api", f"{settings.public_base_url} answers")

        if settings.publish_url:
            push = _svc("generations", "push")
            self._children.start("object store", push, environment, logs / "object-store.log", restarted=True)
            self._announce("object store", f"{settings.publish_url} gets every generation")

        socket_path = sockets / "code"
        server = code_server(socket_path, "pipelines.definitions", lazy=True)
        self._children.start("dagster code server", server, environment, logs / "dagster-code.log", restarted=True)
        self._until_listening(socket_path, LISTENING_WITHIN_S)
        workspace = prepare_workspace(home, socket_path)
        web = [*_module("cli.dagster_web"), "--workspace", str(workspace)]
        web += ["--port", str(settings.dagster_port)]
        web += ["--may-launch"] if self._dagster_launch else []
        self._children.start("dagster web server", web, environment, logs / "dagster-webserver.log")

        code = self._code_of(first_run, "pipeline")
        if code is None:
            lost = "the first run's process was killed before the run ended (process_lost)"
            self._announce("pipeline", f"{lost}; a new one starts, and the schedule keeps trying")
        elif self._succeeded("pipeline", code):
            self._announce("pipeline", f"published {settings.public_base_url}/api/token/holders")
        else:
            self._announce("pipeline", "the first run failed, see above; the schedule keeps trying")

        log = logs / "dagster-daemon.log"
        self._children.start("dagster daemon", daemon(workspace), environment, log, restarted=True)
        self._until_answering(f"{self._dagster_url}/server_info", LISTENING_WITHIN_S)
        if self._dagster_launch:
            may = "and launches runs for anyone on this machine"
        else:
            may = "read-only; `svc run --dagster-launch` allows it to launch runs"
        self._announce("dagster", f"{self._dagster_url} shows lineage and checks, {may}")
        self._next_steps()

    @property
    def _dagster_url(self) -> str:
        return f"http://{LOOPBACK_ADDRESS}:{self._settings.dagster_port}"

    def _start_demo(self) -> None:
        demo_dir = self._settings.data_dir / "demo"
        with self._stopping.at_once():
            self._demo = DemoChain.start(
                self._settings.data_dir,
                say=lambda text: self._announce("chain", text.removeprefix("Demo chain: ")),
                held_blocks=lambda: held_blocks(self._settings, demo_dir),
            )
        self._settings = self._settings.model_copy(update=self._demo.settings)
        self._demo.start_traffic()  # before the API looks: to it, a chain that stands still looks like a wrong clock

    def _start_worker(self, environment: Mapping[str, str], log: Path, *steps: _Step) -> None:
        """Starts the worker, which does these steps before it waits for runs."""
        handed = [*(descriptor for step in steps for descriptor in step.handed), os.dup(sys.stderr.fileno())]
        command = [*_module("cli.worker"), *map(str, handed)]
        self._children.start(
            "worker", command, environment, log, restarted=True, again=_module("pipelines.worker"), handed=handed
        )
        for descriptor in handed:
            os.close(descriptor)

    def _code_of(self, step: _Step, part: str) -> int | None:
        """Waits for a step, and shows its output among our milestones.

        Returns its exit code, or None if its process ended without one.
        """
        announcing = self._announcing(part, os.fdopen(step.lines))
        with os.fdopen(step.code, "rb") as reader:
            while not select.select([reader], [], [], 0)[0]:
                self._go_on()
            announcing.join(LINES_END_S)  # a child of a killed worker may keep its output open
            code = reader.read()
            return int.from_bytes(code) if code else None

    def _succeeded(self, name: str, exit_code: int | None) -> bool:
        """Returns False after a failure that another attempt may fix; raises `PartEnded` after any other."""
        if exit_code == ConfigurationProblem.exit_code:
            raise PartEnded(f"{name} was refused.", cure="See its message above, or run `svc doctor`.")
        return exit_code == 0

    def _go_on(self) -> None:
        """Waits for a moment. Raises if a part that must stay up has ended, or if we are told to stop."""
        self._refuse_ended()
        if self._stopping.wait(0.1):
            raise typer.Exit(0)

    def _until_answering(self, url: str, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        with httpx.Client(timeout=2.0, trust_env=False) as client:
            while time.monotonic() < deadline:
                self._go_on()
                try:
                    if client.get(url).is_success:
                        return
                except httpx.HTTPError:
                    continue
        raise PartEnded(f"{url} gave no answer in {timeout_s:.0f} s.", cure=f"See {self._settings.data_dir}/logs.")

    def _until_listening(self, path: Path, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self._go_on()
            if is_listening(path):
                return
        raise PartEnded(
            f"Nothing listens on {path} after {timeout_s:.0f} s.", cure=f"See {self._settings.data_dir}/logs."
        )

    def _wait(self) -> None:
        while not self._stopping.is_set():
            self._refuse_ended()
            self._stopping.sleep(LOOK_EVERY_S)

    def _refuse_ended(self) -> None:
        for name in self._children.restart_ended():
            self._announce("restarted", f"the {name}, which had stopped by itself")
        for name, code in self._children.ended().items():
            raise PartEnded(f"The {name} ended with {code}.", cure=f"See {self._settings.data_dir}/logs.")
        if self._demo and not self._demo.running():
            raise DemoChainLost(
                "The local chain has stopped by itself.",
                cure="Run it again. The chain continues from its last dump, or starts over if the stores have more.",
            )

    def _announce(self, part: str, text: str) -> None:
        if not self._as_json:
            say(progress_line(part, text))

    def _announcing(self, part: str, output: IO[str]) -> threading.Thread:
        """Announces lines as they arrive, in a thread that ends with the output."""

        def announce() -> None:
            with output:
                for line in output:
                    self._announce(part, line.rstrip())

        thread = threading.Thread(target=announce, name=f"lines of {part}", daemon=True)
        thread.start()
        return thread

    def _next_steps(self) -> None:
        base = self._settings.public_base_url
        if self._as_json:
            print_json(
                {"ok": True, "baseUrl": base, "dagsterUrl": self._dagster_url, "rpcUrls": self._settings.rpc_urls}
            )
        for line in (
            f"{base}/ in a browser; curl {base}/llms.txt for an agent",
            f"curl {base}/api/token/holders",
            f".venv/bin/svc verify {base}; .venv/bin/svc docs check {base}",
            ".venv/bin/svc quote, svc pay, svc claim; svc pair for an assistant",
            ".venv/bin/svc pipeline run --snapshot",
            "Ctrl-C stops everything; `make run` continues where it stopped.",
        ):
            self._announce("next", line)


def held_blocks(settings: Settings, data_dir: Path) -> list[tuple[int, str]]:
    """Returns the blocks (number, hash) that the stores of `data_dir` rely on, if any.

    They are the newest block that the warehouse has read, and the newest one with a payment that the ledger treats as
    final and no longer watches.
    """
    with Warehouse(data_dir).read_only() as connection:
        read = last_checkpoint(connection) if connection else None
    blocks = [] if read is None else [(read.to_block, read.to_block_hash)]
    location = ledger_location(settings.ledger_url, data_dir)
    if isinstance(location, Path) and not location.exists():
        return blocks
    with closing(open_ledger(settings, data_dir)) as ledger, ledger.read() as reader:
        paid = newest_final_block(reader, CHAIN_ID)
    return blocks if paid is None else [*blocks, paid]


def _module(name: str) -> list[str]:
    return [sys.executable, "-P", "-m", name]


def _svc(command: str, *arguments: str) -> list[str]:
    return [str(BIN / "svc"), command, *arguments]
