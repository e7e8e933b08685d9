"""Two hosts on one PostgreSQL ledger: a quote, claim or suspension by one of them holds at the other at once."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from keyed_service import ACTION, CHECK, KeyedService, serving
from ledger_process import MASTER_SECRET
from paid_service import CLAIM, PaidService, claim_body, selling
from patience import HANG_S
from patient_providers import patient_providers
from postgres_fixtures import TemporaryPostgres

from api.access.watcher import Watcher
from cli.demo.anvil import Anvil
from contracts.access.rail import rail_of
from contracts.settings import Settings

SVC = Path(sys.executable).with_name("svc")


class Hosts:
    """Two services with separate directories and the same ledger, secret and signing key."""

    def __init__(self, first: PaidService, second: KeyedService) -> None:
        self.first = first
        self.second = second

    def works_at(self, service: KeyedService, key: str) -> bool:
        (answer,) = service.ask(("POST", CHECK, {"X-Api-Key": key}, {"json": ACTION}))
        return answer.status_code == 200


@pytest.fixture
def hosts(postgres: TemporaryPostgres, anvil: Anvil, tmp_path: Path) -> Iterator[Hosts]:
    url = postgres.url(postgres.new_database())
    homes = [tmp_path / name for name in ("first", "second")]
    for home in homes:
        home.mkdir()
    with selling(Settings(_env_file=None, data_dir=homes[0], ledger_url=url), anvil, claim_confirmations=1) as first:
        shutil.copy(homes[0] / "signing.pem", homes[1] / "signing.pem")
        with serving(first.service.settings.model_copy(update={"data_dir": homes[1]})) as second:
            yield Hosts(first, second)


def watcher_of(service: KeyedService) -> Watcher:
    providers = patient_providers(service.settings.rpc_urls)
    return Watcher(rail_of(service.settings), providers, lambda: service.ledger)


def test_a_quote_of_one_host_is_claimed_at_the_other_and_its_key_works_at_both(hosts: Hosts) -> None:
    quote = hosts.first.quoted(planId="api_basic_monthly")
    body = claim_body(quote, hosts.first.pay(quote))
    headers = {"Idempotency-Key": "k"}
    (claimed,) = hosts.second.ask(("POST", CLAIM, headers, {"json": body}))
    assert claimed.status_code == 201, claimed.text
    again = hosts.first.post(CLAIM, body, Idempotency_Key="k")
    assert again.headers["idempotent-replayed"] == "true"
    packet = claimed.json()["data"]["activationPacket"]
    assert again.json()["data"]["activationPacket"] == packet
    assert all(hosts.works_at(service, packet["apiKey"]) for service in (hosts.first.service, hosts.second))
    claim_id = claimed.json()["data"]["claim"]["claimId"]
    (receipt,) = hosts.second.ask(("GET", f"/api/agent-access/claims/{claim_id}", {}, {}))
    assert receipt.json() == hosts.first.get(f"/api/agent-access/claims/{claim_id}").json()


def test_a_claim_that_one_host_sees_reversed_is_reversed_at_the_other(hosts: Hosts) -> None:
    quote = hosts.first.quoted()
    step = quote["data"]["next"]["pay"]
    transaction = hosts.first.sent(step["from"], step["call"])["transactionHash"]
    answer = hosts.first.claim(quote, transaction)
    key = answer.json()["data"]["activationPacket"]["apiKey"]
    assert hosts.works_at(hosts.second, key)
    hosts.first.rpc.call("anvil_reorg", 1, [])
    watchers = [watcher_of(hosts.second), watcher_of(hosts.first.service)]

    async def watched() -> list[dict[str, int]]:
        return [dict(each) for each in await asyncio.gather(*(watcher.watch_claims() for watcher in watchers))]

    outcomes = sorted(str(each) for each in asyncio.run(watched()))
    assert "{'reversed': 1}" in outcomes
    assert outcomes[0] in ("{'missing': 1}", "{'overtaken': 1}")
    assert not hosts.works_at(hosts.first.service, key)


def test_claims_of_one_quote_at_both_hosts_at_once_issue_one_key(hosts: Hosts) -> None:
    quote = hosts.first.quoted()
    body = claim_body(quote, hosts.first.pay(quote))

    async def asked() -> list[int]:
        answers = []
        for front in (hosts.first.service.front, hosts.second.front):
            transport = httpx.ASGITransport(front, client=("192.0.2.1", 50000))
            client = httpx.AsyncClient(transport=transport, base_url="http://test")
            answers += [client.post(CLAIM, json=body) for _ in range(3)]
        return sorted(answer.status_code for answer in await asyncio.gather(*answers))

    assert asyncio.run(asked()) == [201, 409, 409, 409, 409, 409]


@pytest.mark.parametrize("missing", ["SVC_MASTER_SECRET", "SVC_SIGNING_KEY_FILE"])
def test_a_host_that_would_make_up_a_secret_of_its_own_does_not_start(tmp_path: Path, missing: str) -> None:
    given = {
        "SVC_RPC_URLS": "http://127.0.0.1:1",
        "SVC_DATA_DIR": str(tmp_path),
        "SVC_LEDGER_URL": f"postgresql+psycopg://svc@/nowhere?host={tmp_path}",
        "SVC_MASTER_SECRET": MASTER_SECRET,
        "SVC_SIGNING_KEY_FILE": str(tmp_path / "signing.pem"),
    }
    del given[missing]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    ran = subprocess.run([SVC, "serve"], env=kept | given, capture_output=True, text=True, timeout=HANG_S)
    assert ran.returncode == 2
    assert f"{missing} is not set" in ran.stderr
    assert "openssl" in ran.stderr
    assert not list(tmp_path.iterdir())
