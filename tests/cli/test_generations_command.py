"""`svc generations` with a directory as the store: two hosts with a disk each, and an API on the second."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import called
from patience import HANG_S
from publishing import BASE_URL, NOON, House, mint
from rounds import ROUNDS
from serving_process import serving

from api.app import create_app
from contracts.access.signing import key_text, new_private_key
from contracts.settings import load_settings
from warehouse.publish.generations import Generation, Part, begin, build, current_generation


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a directory with the key file and the store of hosts `a`, which has published, and `b`."""
    (tmp_path / "signing.pem").write_text(key_text(new_private_key()))
    for name, value in {
        "SVC_BASE_URL": "https://svc.example",
        "SVC_RPC_URLS": "http://127.0.0.1:9",
        "SVC_MASTER_SECRET": "m" * 40,
        "SVC_SIGNING_KEY_FILE": str(tmp_path / "signing.pem"),
        "SVC_PUBLISH_URL": f"file://{tmp_path}/store",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def svc(data_dir: Path, *arguments: str) -> dict[str, Any]:
    done = called({**os.environ, "SVC_DATA_DIR": str(data_dir)}, *arguments, "--json")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


async def answer_of_the_api(path: str) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(load_settings()))
    async with httpx.AsyncClient(transport=transport, base_url="https://svc.example") as client:
        return await client.get(path)


def test_an_api_host_serves_what_another_host_published(hosts, monkeypatch):
    house = House(hosts / "a")
    house.read_chain(mint(3), 20)
    first = house.publish("/api/token/holders").generation
    assert svc(hosts / "a", "generations", "push", "--once") == {"ok": True, "generation": first, "pointer": 1}
    assert svc(hosts / "b", "generations", "follow", "--once") == {"ok": True, "generation": first, "pointer": 1}

    monkeypatch.setenv("SVC_DATA_DIR", str(hosts / "b"))
    served = asyncio.run(answer_of_the_api("/api/token/holders"))
    holders = served.json()
    assert (served.status_code, holders["generation"], holders["holderCount"]) == (200, first, 3)

    house.read_chain(mint(1, first=9, block=30), 40)
    second = house.publish("/api/token/holders").generation
    svc(hosts / "a", "generations", "push", "--once")
    svc(hosts / "b", "generations", "follow", "--once")
    listed = svc(hosts / "b", "generations", "list")
    assert (listed["served"], listed["kept"]) == (second, [first, second])
    assert [pointer["generation"] for pointer in listed["stored"]] == [first, second]

    assert svc(hosts / "a", "generations", "rollback", first)["pointer"] == 3
    svc(hosts / "b", "generations", "follow", "--once")
    assert [current_generation(hosts / host).id for host in "ab"] == [first, first]


def test_without_a_store_only_this_host_is_rolled_back(hosts, monkeypatch):
    monkeypatch.delenv("SVC_PUBLISH_URL")
    house = House(hosts / "a")
    house.read_chain(mint(3), 20)
    first = house.publish("/api/token/holders").generation
    house.read_chain(mint(1, first=9, block=30), 40)
    house.publish("/api/token/holders")
    assert svc(hosts / "a", "generations", "rollback", "20200101T000000Z-000001")["code"] == "generation_unknown"
    assert svc(hosts / "a", "generations", "rollback", first) == {"ok": True, "generation": first, "pointer": None}
    assert current_generation(hosts / "a").id == first
    assert svc(hosts / "a", "generations", "push", "--once")["code"] == "settings_invalid"


def test_a_generation_for_another_address_than_the_service_that_runs_is_not_served(hosts, monkeypatch):
    monkeypatch.delenv("SVC_PUBLISH_URL")
    other = House(hosts / "a", base_url="https://other.example").publish("/llms.txt").generation
    with serving(hosts / "a", BASE_URL):
        listed = called({**os.environ, "SVC_DATA_DIR": str(hosts / "a")}, "generations", "list")
        assert listed.stdout == (
            f"here    {other}  built for https://other.example, so the service at {BASE_URL} does not serve it\n"
        )
        assert svc(hosts / "a", "generations", "list") == {"ok": True, "served": None, "kept": [other], "stored": []}
        refused = svc(hosts / "a", "generations", "rollback", other)
        assert (refused["code"], refused["detail"]) == (
            "foreign_generation",
            f"{other} was built for https://other.example, but the running service is {BASE_URL}.",
        )
    assert svc(hosts / "a", "generations", "list")["served"] == other
    assert svc(hosts / "a", "generations", "rollback", other)["ok"] is True


def test_a_generation_for_another_address_is_not_stored(hosts):
    House(hosts / "a", base_url="https://other.example").publish("/llms.txt")
    assert svc(hosts / "a", "generations", "push", "--once") == {"ok": True, "generation": None, "pointer": None}


KILLS = 4 * ROUNDS
FILES = 40


def publish_numbers(data_dir: Path, number: int) -> str:
    """Publishes a generation whose files all contain `number`, except for one that never changes."""
    parts = {f"public/{name}": Part.of_bytes(b"%d" % number * 500) for name in range(FILES)}
    parts["public/always"] = Part.of_bytes(b"always")
    built = build(data_dir, begin(data_dir, NOON + timedelta(minutes=number)), parts, {}, BASE_URL)
    assert built is not None
    return built.generation.id


def test_a_generation_that_is_unknown_is_answered_with_the_newest_that_are_kept(hosts, monkeypatch):
    monkeypatch.delenv("SVC_PUBLISH_URL")
    published = [publish_numbers(hosts / "a", number) for number in range(7)]
    refused = svc(hosts / "a", "generations", "rollback", "20200101T000000Z-000001")
    newest = ", ".join(reversed(published[-5:]))
    assert refused["cure"] == f"It has {newest} and older ones, which `svc generations list` shows."


def half(generation: Generation) -> list[str]:
    """Returns the files of a served generation that differ from its manifest."""
    return [
        path
        for path, component in generation.manifest.components.items()
        if Part.of_bytes((generation.path / path).read_bytes()).version != component.sha256
    ]


@contextmanager
def reader(data_dir: Path) -> Iterator[list[str]]:
    """Reads repeatedly what a host serves, and yields the list of errors."""
    wrong: list[str] = []
    ending = threading.Event()

    def read() -> None:
        while not ending.wait(0.02):
            try:
                generation = current_generation(data_dir)
                if generation is not None:
                    wrong.extend(half(generation))
            except Exception as error:
                wrong.append(repr(error))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield wrong
    finally:
        ending.set()
        thread.join()


def start(data_dir: Path, action: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [Path(sys.executable).with_name("svc"), "generations", action],
        env={**os.environ, "SVC_DATA_DIR": str(data_dir)},
        stderr=subprocess.DEVNULL,
    )


def test_hosts_whose_processes_are_killed_never_serve_half_a_generation(hosts):
    random_ = random.Random(7)
    processes = {"push": start(hosts / "a", "push"), "follow": start(hosts / "b", "follow")}
    try:
        with reader(hosts / "b") as wrong:
            for number in range(KILLS):
                last = publish_numbers(hosts / "a", number)
                time.sleep(random_.uniform(0.2, 1.0))
                action = random_.choice(list(processes))
                processes[action].send_signal(signal.SIGKILL)
                assert processes[action].wait() == -signal.SIGKILL
                processes[action] = start(hosts / {"push": "a", "follow": "b"}[action], action)
            deadline = time.monotonic() + HANG_S
            while (served := current_generation(hosts / "b")) is None or served.id != last:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        assert wrong == []
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
