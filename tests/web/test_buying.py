"""A person buys a key on the connect page with a browser wallet, on a real chain."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from addressed_service import running
from nginx import free_port
from paid_service import CLAIM, PAYER, QUOTE, PaidService, selling
from web_fixtures import WebTools

from api.app import create_app
from cli.demo.anvil import PRUNED, Anvil
from contracts.settings import Settings
from pipelines.initial_publish import publish_initial

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def sold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, PaidService]]:
    """Yields the address of a published service that listens and sells on a chain, and the service."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("buying"))
    with (
        Anvil(flags=PRUNED) as anvil,
        selling(settings, anvil, base_url=base_url, port=port, claim_confirmations=3) as paid,
    ):
        publish_initial(paid.service.settings)
        with running(create_app(paid.service.settings), port):
            until = time.monotonic() + 60
            while httpx.get(f"{base_url}/api/agent-access/plans").status_code != 200 and time.monotonic() < until:
                time.sleep(0.1)
            yield base_url, paid


@pytest.fixture(scope="module")
def bought(sold: tuple[str, PaidService], web_tools: WebTools, chromium: Path) -> dict[str, Any]:
    """Buys a key on the page and returns what happened."""
    base_url, paid = sold
    found: dict[str, Any] = web_tools.run(
        "buying.mjs", f"{base_url}/connect/", paid.rpc.url, PAYER.address, CHROMIUM=str(chromium)
    )
    return found


def test_a_wallet_on_another_chain_is_asked_to_switch_before_anything_is_quoted(bought: dict[str, Any]):
    assert bought["calls"][:4] == ["eth_requestAccounts", "eth_chainId", "wallet_switchEthereumChain", "eth_chainId"]


def test_a_rejected_transfer_costs_nothing_and_its_quote_is_used_again(bought: dict[str, Any]):
    assert bought["rejected"] == "You rejected it in the wallet. Nothing was paid."
    assert bought["afterRejection"] == {"quote": True, "sending": False}
    assert bought["sameQuote"]
    assert bought["posts"].count(QUOTE) == 1


def test_a_reload_in_the_middle_continues_the_claim_and_pays_nothing_again(bought: dict[str, Any]):
    assert "needs more confirmations; don’t pay again" in bought["pending"]
    assert bought["afterReload"] == {"hash": bought["transaction"], "step": "claim"}
    assert bought["calls"].count("eth_sendTransaction") == 2  # the first of which was rejected
    assert bought["posts"].count(CLAIM) >= 3


def test_the_key_is_shown_once_and_opens_what_it_was_bought_for(bought: dict[str, Any], sold: tuple[str, PaidService]):
    base_url, _ = sold
    assert bought["keptAfterwards"] is None
    assert bought["isKeyGone"]
    answer = httpx.get(f"{base_url}/api/v2/health", headers={"Authorization": f"Bearer {bought['key']}"})
    assert answer.status_code == 200
    checked = httpx.post(
        f"{base_url}/api/v2/guardrail/check",
        headers={"Authorization": f"Bearer {bought['key']}"},
        json={"action": "ls -la"},
    )
    assert checked.status_code == 200


def test_a_page_that_was_left_while_the_wallet_was_asked_takes_the_hash_rather_than_paying_again(
    bought: dict[str, Any],
):
    assert not bought["asksForHash"]
    assert "enter the transaction’s hash" in bought["left"]
    assert bought["forgotten"] is None


def test_the_browser_complains_of_nothing(bought: dict[str, Any]):
    assert bought["complaints"] == []
