"""Kills each process of `svc run` once while buyers buy, and all at once; run by `make soak`. Prints counts."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx
import psutil
from patience import HANG_S
from run_processes import Installation, Service, is_zombie
from service_kills import Market, account, buying, hold_against_the_chain, wait_for_more

from contracts.settings import Settings
from warehouse.publish.generations import current_generation

BUILD = "/api/v2/knowledge-graph/build"
BEFORE_A_KILL_S = 5.0
DOCUMENT = "\n".join(f"- [ ] Task {number} of a long list" for number in range(2_000))


class Run:
    """The service across its starts: `up` starts it, the other methods kill a part of it."""

    def __init__(self, installation: Installation, market: Market, rng: random.Random) -> None:
        self.installation = installation
        self.market = market
        self.rng = rng
        self.left: list[psutil.Process] = []
        self.forgotten: list[str] = []
        self.service: Service

    def up(self) -> None:
        """Starts the service, waits for its API, and records the keys that a reset of the demo forgot."""
        self.service = self.installation.run()
        while not any("continuing at block" in line or "is reset" in line for line in list(self.service.lines)):
            if any("written in" in line for line in list(self.service.lines)):
                break
            assert self.service.process.poll() is None, self.service.lines
            time.sleep(0.02)
        if any("is reset" in line for line in self.service.lines):
            self.forgotten += [purchase.key for purchase in self.market.reset() if purchase.key is not None]
        self.service.wait_for("api ")
        _gone(self.left)
        self.left = []

    def whole(self) -> None:
        self.service.wait_for("Ctrl-C stops everything")

    def parts(self, mark: str) -> list[psutil.Process]:
        """Returns the service's processes whose command line contains `mark`."""
        return [process for process in self.service.descendants() if mark in _command(process)]

    def kill(self, process: psutil.Process) -> None:
        """Kills a process at a random moment, in the middle of claims."""
        time.sleep(self.rng.uniform(0.0, BEFORE_A_KILL_S))
        process.kill()

    def kill_and_end(self, mark: str) -> str:
        """Kills an essential part: the service must end and leave no process running. Returns the line that says so."""
        everything = self.service.descendants()
        (victim,) = self.parts(mark)
        self.kill(victim)
        assert self.service.process.wait(HANG_S) == 1, self.service.lines
        _gone(everything)
        self.service.close()
        return next(line for line in reversed(self.service.lines) if "ended" in line and "every process" not in line)

    def kill_supervisor(self) -> str:
        """Kills `svc run` itself. Everything ends by itself, before or during the next start."""
        left = self.service.descendants()
        self.kill(psutil.Process(self.service.process.pid))
        self.service.process.wait(HANG_S)
        if self.rng.random() < 0.5:
            self.left = left
            return "the next start begins at once"
        _gone(left)
        return "what it left ends by itself"

    def kill_all(self) -> str:
        """Kills everything at once, as a power failure does."""
        time.sleep(self.rng.uniform(0.0, BEFORE_A_KILL_S))
        everything = [psutil.Process(self.service.process.pid), *self.service.descendants()]
        for process in everything:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.service.process.wait(HANG_S)
        self.left = everything[1:]
        return "nothing is left to say anything"

    def kill_worker(self) -> str:
        """Kills a worker in the middle of a build: the answer is a 503, and repeating the same request succeeds."""
        made = self.installation.svc("keys", "create", "--tier", "pro", "--owner", "builder", "--json")
        assert made.returncode == 0, made.stderr
        headers = {"Authorization": f"Bearer {json.loads(made.stdout)['apiKey']}"}
        statuses: list[int] = []

        def build() -> None:
            body = {"documents": [{"text": DOCUMENT}]}
            url = self.installation.base_url + BUILD
            answer = httpx.post(url, json=body, headers=headers, timeout=HANG_S, trust_env=False)
            assert answer.status_code != 503 or answer.headers["Retry-After"], answer.headers
            statuses.append(answer.status_code)

        for kills in (True, False):
            asking = threading.Thread(target=build)
            asking.start()
            while kills and asking.is_alive():
                for process in self.parts("anyio.to_process"):
                    process.kill()
                    kills = False
                time.sleep(0.005)
            asking.join()
        assert statuses == [503, 200], statuses
        assert self.service.process.poll() is None
        return "the build is 503, and sent again 200"

    def kill_in_dagster(self, mark: str) -> str:
        """Kills what executes or schedules runs: `svc run` starts another, and publishing continues."""
        while not (found := self.parts(mark)):
            assert self.service.process.poll() is None, self.service.lines
            time.sleep(0.05)
        for process in found:
            process.kill()
        data_dir = self.installation.data_dir / "demo"
        before, deadline = current_generation(data_dir), time.monotonic() + HANG_S
        while (now := current_generation(data_dir)) is None or before is None or now.id == before.id:
            assert time.monotonic() < deadline, "nothing is published any more"
            assert self.service.process.poll() is None, self.service.lines
            time.sleep(0.5)
        return "svc run starts another, and publishing goes on"


def rounds(run: Run) -> list[tuple[str, Callable[[], str]]]:
    """Returns what to kill, in order. Each kill that ends the service is followed by its next start."""
    return [
        ("pool worker", run.kill_worker),
        ("a run of the pipeline", lambda: run.kill_in_dagster(".worker")),
        ("code server", lambda: run.kill_in_dagster("cli.dagster_code")),
        ("Dagster daemon", lambda: run.kill_in_dagster("cli.dagster_daemon")),
        ("Dagster web server", lambda: run.kill_and_end("cli.dagster_web")),
        ("API server", lambda: run.kill_and_end("svc serve")),
        ("svc run", run.kill_supervisor),
        ("anvil", lambda: run.kill_and_end("bin/anvil")),
        ("all at once", run.kill_all),
    ]


NEEDS_DAGSTER = {"a run of the pipeline", "code server", "Dagster daemon", "Dagster web server"}


def soak(directory: Path, seed: int, only: set[str]) -> None:
    installation = Installation(directory)
    market = Market(installation)
    run = Run(installation, market, random.Random(seed))
    with closing(installation):
        run.up()
        with buying(market) as buyers:
            wait_for_more(market, buyers)
            for name, kill in rounds(run):
                if only and name not in only:
                    continue
                if name in NEEDS_DAGSTER:
                    run.whole()
                wait_for_more(market, buyers)
                said = kill()
                if run.service.process.poll() is not None:
                    run.up()
                keys = len(market.acknowledged)
                wait_for_more(market, buyers)
                lost = hold_against_the_chain(market)
                told = "the demo is reset" if keys == 0 else f"{keys} keys held, {lost} payments lost by the chain"
                print(f"{name}: {said}; {told}", flush=True)
        hold_against_the_chain(market)
        assert not any(market.accepts(key) for key in run.forgotten), "a key for money that is not on the chain"
        account(market, Settings(_env_file=None, data_dir=installation.data_dir / "demo"))
        audited = installation.svc("world", "audit", "--json")
        assert audited.returncode == 0, audited.stdout + audited.stderr
    print(
        f"service kills: {len(market.acknowledged)} acknowledged, {len(run.forgotten)} forgotten with their chain, "
        f"{market.unanswered} requests without an answer, {market.replayed} answers repeated (seed {seed})",
        flush=True,
    )


def _command(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


def _gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=HANG_S)
    assert [process.cmdline() for process in alive if not is_zombie(process)] == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        soak(Path(temporary), random.SystemRandom().randrange(1 << 32), set(sys.argv[1:]))
