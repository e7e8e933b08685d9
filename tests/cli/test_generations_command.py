"""`svc generations` over a directory as the store: two hosts with a disk each, and an API on the second."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from publishing import House, mint
from typer.testing import CliRunner

from api.app import create_app
from cli.main import app
from contracts.access.signing import key_text, new_private_key
from contracts.settings import load_settings
from warehouse.publish.generations import current_generation


@pytest.fixture
def hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the key file and the store of hosts `a`, which has published, and `b`."""
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
    done = CliRunner().invoke(app, [*arguments, "--json"], env={"SVC_DATA_DIR": str(data_dir)})
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
