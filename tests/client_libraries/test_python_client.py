"""The Python client against a listening service, on a chain: from the base URL to a key, and what the key is used
for."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_account import Account
from journey_setting import Setting, cold_start
from signing_wallets import RELAYER

from cli.demo.anvil import Anvil
from cli.demo.rpc import calldata
from cli.purchase import demo_payer
from svc_client import AsyncClient, Client, Forbidden, NotFound, PaymentNeeded, Unauthorized, api_types

ROOT = Path(__file__).resolve().parents[2]
README, PACKAGE_README = ROOT / "README.md", ROOT / "clients/python/README.md"
MOST_REQUESTS, MOST_SECONDS = 8, 5.0


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    directory = tmp_path_factory.mktemp("client")
    key_file = directory / "relayer.key"
    key_file.write_text(RELAYER.key.hex())
    with Anvil() as anvil:
        # Before the start, which checks whether the relayer can pay for gas.
        anvil.rpc.call("anvil_setBalance", RELAYER.address, hex(10**18))
        with cold_start(directory, anvil, relayer_key_file=key_file, claim_confirmations=1) as made:
            yield made


def pays(setting: Setting, quote: Any) -> str:
    """Sends the transfer that a quote asks for and returns its hash."""
    step = quote["data"]["next"]["pay"]
    return setting.wallet.send(
        step["asset"], calldata("transfer(address,uint256)", step["to"], int(step["amountUnits"]))
    )


def test_a_cold_start_gets_from_the_base_url_to_a_paid_and_checked_answer(setting: Setting) -> None:
    seen: list[httpx.Request] = []
    http = httpx.Client(timeout=60, event_hooks={"request": [seen.append]})
    began, cpu = time.perf_counter(), time.process_time()
    with Client(setting.base_url, http=http) as client:
        offers = client.plans()["plans"]
        plan = min(
            (offer for offer in offers if offer["tier"] != "free"), key=lambda offer: float(offer["price"]["amount"])
        )
        quote = client.quote(plan["id"], setting.wallet.address)
        client.claim(quote, pays(setting, quote))
        verdict = client.check(action="rm -rf / --no-preserve-root", severity="high")["data"]
        checked = client.verify()
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    assert verdict["passed"] is False
    assert checked.holder_count > 0
    assert len(seen) <= MOST_REQUESTS
    assert cpu_s < MOST_SECONDS  # the service's too, which runs in this process; others may use the machine
    print(f"{len(seen)} requests, {took_s:.2f} s, {cpu_s:.2f} s of CPU")


def test_a_trial_key_reads_asks_writes_designs_and_builds(setting: Setting) -> None:
    with Client(setting.base_url) as client:
        with pytest.raises((Unauthorized, PaymentNeeded)) as refused:
            client.query(search="garden")
        explained = httpx.get(refused.value.links["trial"], headers={"Accept": "text/markdown"})
        assert (explained.status_code, explained.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
        assert "`GET /api/agent-access/trials/{address}`" in explained.text
        packet = client.trial_key(Account.create())
        assert client.key == packet["apiKey"]
        written = client.signal(type="Goal", title="A garden", source="me")["data"]
        assert written["verdict"] == "approved"
        (found,) = client.query(search="garden", scope="own")["data"]["nodes"]
        assert found["title"] == "A garden"
        assert client.node(found["id"])["data"]["node"]["id"] == found["id"]
        assert client.check(action="ls -la")["data"]["passed"] is True
        note: api_types.SourceDocument = {"id": "n", "text": "# Plan\n\nOwner: Ada"}
        whole, built = client.build({"mode": "preview", "documents": [note]}), client.build(documents=[note])
        assert whole["data"]["nodes"] == built["data"]["nodes"] != []
        plan = client.design_memory(agent={"id": "gardener"}, goals=["Remember what was planted"])["data"]
        assert plan["mode"] == "preview"
        assert client.erase(found["id"])["data"]["nodes"] == 1
        with pytest.raises(NotFound) as unknown:
            client.node(found["id"] + "x")
        assert unknown.value.code == "node_unknown"
        with pytest.raises(Forbidden) as excluded:
            client.signal(type="Goal", title="For all", source="me", visibility="public")
        assert excluded.value.code == "trial_excluded"


def test_the_examples_of_both_readmes_run(setting: Setting) -> None:
    example, _ = examples_of(README, "http://127.0.0.1:8000", setting)
    client = run_example(example)["client"]
    assert client.key.startswith("svc_free_")
    nodes = client.query(search="hour day", scope="own")["data"]["nodes"]
    assert [node["title"] for node in nodes] == ["Answer in a day"]
    # The second client has the same key, since this network has three trials per day.
    (example,) = examples_of(PACKAGE_README, "https://svc.example", setting)
    example = example.replace("client.trial_key(Account", "trial_key(client, Account")
    second = run_example(example, trial_key=lambda made, _: setattr(made, "key", client.key))
    client.close()
    assert (len(second["nodes"]), second["allowed"], second["holders"].holder_count > 0) == (1, True, True)
    assert (second["built"]["graphId"], second["built"]["verdict"]) == ("notes", "approved")


def test_the_x402_client_of_the_readme_buys_a_key_with_the_wallet_of_the_demo(setting: Setting) -> None:
    _, example = examples_of(README, "http://127.0.0.1:8000", setting)
    wallet = Account.from_key(re.findall(r"0x[0-9a-f]{64}", example)[0])
    assert wallet == demo_payer()
    setting.new_wallet(wallet)
    bought = run_example(example)["bought"]
    assert bought.status_code == 201, bought.text
    with Client(setting.base_url, key=bought.json()["data"]["activationPacket"]["apiKey"]) as client:
        assert client.check(action="ls -la")["data"]["passed"] is True


def examples_of(page: Path, address: str, setting: Setting) -> list[str]:
    """Returns the Python examples of a page, with the service's address in place of `address`."""
    found = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    return [example.replace(address, setting.base_url) for example in found]


def run_example(example: str, **given: Any) -> dict[str, Any]:
    """Runs an example and returns its variables."""
    names: dict[str, Any] = {**given}
    exec(example, names)
    return names


def test_the_free_routes_in_llms_txt_answer_without_a_key(setting: Setting) -> None:
    guide = httpx.get(setting.base_url + "/llms.txt").text
    named = re.findall(r"`POST (\S+?)\?(\w+)=\.\.\.`", guide)
    assert [name for _, name in named] == ["action", "search"]
    for url, name in named:
        answer = httpx.post(url, params={name: "ls -la"}, json={"account": "me"}, timeout=60)
        assert answer.status_code == 200, answer.text
        assert answer.json()["message"]
        assert "ratelimit" in answer.headers, "counted like the rest"


def test_documents_are_read_by_their_paths(setting: Setting) -> None:
    with Client(setting.base_url) as client:
        assert client.document("/api/site-metrics")["ok"] is True
        assert client.document("/llms.txt").startswith("# ")
        holders = client.holders()
        assert client.verify().total_supply_raw == int(holders["totalSupplyRaw"] or 0)
        first, *_ = client.document("/api/token/holders-map", limit=60)["holders"]
        assert client.holder(first["address"])["address"] == first["address"]


def test_the_async_client_tries_and_verifies(setting: Setting) -> None:
    async def tries() -> Any:
        # Its own address, since the tests before have used up much of the requests per minute of 127.0.0.1.
        transport = httpx.AsyncHTTPTransport(local_address="127.0.0.2")
        async with AsyncClient(setting.base_url, http=httpx.AsyncClient(transport=transport, timeout=60)) as client:
            await client.trial_key(Account.create())
            verdicts = await asyncio.gather(*(client.check(action=action) for action in ("ls", "rm -rf /")))
            return [verdict["data"]["passed"] for verdict in verdicts], await client.verify()

    verdicts, checked = asyncio.run(tries())
    assert verdicts == [True, False]
    assert checked.block > 0
