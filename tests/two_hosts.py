"""API hosts with a disk each behind nginx, as processes that are started, killed and ended with their context."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from forked import ForkedCommand
from nginx import free_port, wait_until_listening
from patience import HANG_S

SVC = str(Path(sys.executable).with_name("svc"))
LOOK_AT_LEAST_EVERY_S = 0.3
BALANCER = Path(__file__).resolve().parents[1] / "site/hosting/balancer.conf"


class Process:
    """A command of `svc` that runs until it is ended, across its starts; its output is in `log`."""

    def __init__(self, directory: Path, environment: Mapping[str, str], *command: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.log = directory.with_suffix(".log")
        self.environment = dict(environment)
        self.command = [SVC, *command]
        self.process: subprocess.Popen[bytes] | ForkedCommand | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C is for who started it
            )

    def whole(self) -> list[psutil.Process]:
        """Returns the process and everything that it started."""
        if self.process is None or self.process.poll() is not None:
            return []
        own = psutil.Process(self.process.pid)
        with suppress(psutil.NoSuchProcess):
            return [own, *own.children(recursive=True)]
        return []

    def kill(self) -> None:
        """Ends everything at once, as a machine failure does."""
        everything = self.whole()
        for process in everything:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.process is not None:
            self.process.wait()
        psutil.wait_procs(everything[1:], timeout=HANG_S)

    def end(self) -> int:
        """Ends it as an operator does. Returns its exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(HANG_S)

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def wait_for(self, text: str, after: int) -> None:
        """Returns once its output contains `text` after the first `after` characters."""
        until(lambda: text in self.said()[after:], lambda: f"{self.log.name} never said {text!r}:\n{self.said()}")


class ApiHost(Process):
    """One `svc api`, with its own directory and port."""

    def __init__(self, name: str, directory: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self.port = free_port()
        self.data_dir = directory / name
        own = {"SVC_DATA_DIR": str(self.data_dir), "SVC_PORT": str(self.port), "SVC_HOST_NAME": name}
        super().__init__(self.data_dir, {**environment, **own}, "api")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def health(self) -> dict[str, Any] | None:
        """Returns the answer of `/health`; None unless it is 200."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)  # a tenth of what httpx costs
        try:
            connection.request("GET", "/health")
            answer = connection.getresponse()
            return dict(json.loads(answer.read())) if answer.status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def serves(self, generation: str) -> bool:
        health = self.health()
        return health is not None and health["generation"] == generation

    def serving_process(self) -> psutil.Process:
        """Returns the process that answers requests; the other one is its supervisor."""
        return next(process for process in self.whole()[1:] if "serve" in process.cmdline())


def until(holds: Callable[[], bool], otherwise: Callable[[], str]) -> None:
    """Returns once `holds` is true, checking at growing intervals. Fails with `otherwise` if it never is."""
    deadline = time.monotonic() + HANG_S
    pause_s = 0.03
    while not holds():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(pause_s)
        pause_s = min(LOOK_AT_LEAST_EVERY_S, pause_s * 1.3)


def balancer_configuration(port: int, hosts: Sequence[ApiHost]) -> str:
    """Returns the documented configuration of nginx, for these hosts."""
    text = BALANCER.read_text().replace("listen 8080;", f"listen 127.0.0.1:{port};")
    for number, host in enumerate(hosts, 1):
        assert f"10.0.0.{number}:8000" in text
        text = text.replace(f"10.0.0.{number}:8000", f"127.0.0.1:{host.port}")
    return text


@contextmanager
def balancing(directory: Path, port: int, hosts: Sequence[ApiHost]) -> Iterator[None]:
    """Runs nginx in front of the hosts while the context is open."""
    directory.mkdir()
    (directory / "balancer.conf").write_text(balancer_configuration(port, hosts))
    user = "user root; " if os.geteuid() == 0 else ""
    command = ["nginx", "-p", str(directory), "-c", "balancer.conf", "-g", f"{user}daemon off;"]
    with (directory / "log").open("w") as log:
        nginx = subprocess.Popen(command, stdout=log, stderr=log, text=True, start_new_session=True)
    try:
        wait_until_listening(port, nginx)
        yield
    finally:
        nginx.send_signal(signal.SIGQUIT)
        nginx.wait(HANG_S)
