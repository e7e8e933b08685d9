"""Buyers who continue buying on the demo chain while processes of `svc run` are killed, and what must hold afterwards.

Buyers behave as every example tells them to: a payment is signed once and may be sent repeatedly, and a claim has one
Idempotency-Key and is repeated until it is answered.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
from claim_service import CLAIM, QUOTE, api_key_of, body_of
from claim_store import unsound
from eth_account import Account
from patience import HANG_S
from run_processes import Installation
from sqlalchemy import text

from cli.demo.rpc import Rpc, RpcError
from contracts.access.api_keys import parse_key
from contracts.settings import Settings
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

BUYERS = 3
KEYED = "/api/v2/world-model/query"
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
BETWEEN_PURCHASES_S = 1.0
NEWEST = 60
_PAUSE_S = 0.3
_CLAIMS = """select c.quote_id, c.payer, c.state, k.state as key_state, k.digest
    from access_claims c left join api_keys k on k.claim_id = c.claim_id"""


class Reset(Exception):
    """The demo directory was reset: its earlier quotes, claims and payments are all gone."""


@dataclass
class Purchase:
    """What a buyer remembers of one purchase: enough to repeat each of its steps."""

    account: Any
    quote: dict[str, Any]
    raw_transaction: str
    transaction_hash: str
    key: str | None = None

    @property
    def step(self) -> dict[str, Any]:
        return dict(self.quote["data"]["next"]["pay"])


class Market:
    """Where buyers find the service and its chain across its starts. `epoch` counts resets of the demo."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.epoch = 0
        self.stop = threading.Event()
        self.purchases: list[Purchase] = []
        self.unanswered = 0
        self.replayed = 0
        self._lock = threading.Lock()

    @property
    def acknowledged(self) -> list[Purchase]:
        return [purchase for purchase in list(self.purchases) if purchase.key is not None]

    def begin(self, purchase: Purchase, epoch: int) -> None:
        """Counts a purchase whose quote was created in `epoch`. Raises `Reset` if that epoch is over."""
        with self._lock:
            if self.epoch != epoch:
                raise Reset
            self.purchases.append(purchase)

    def reset(self) -> list[Purchase]:
        """Starts over, as the demo did; returns the purchases that it forgot."""
        with self._lock:
            forgotten, self.purchases = self.purchases, []
            self.epoch += 1
        return forgotten

    def rpc(self) -> Rpc:
        """Returns the chain's current node. Raises `OSError` or `ValueError` if there is none."""
        described = json.loads((self.installation.data_dir / "demo/demo.json").read_bytes())
        if described["rpc_url"] is None:
            raise OSError("no node")
        return Rpc(described["rpc_url"], timeout_s=20.0)

    def on_chain(self, purchase: Purchase) -> bool:
        with self.rpc() as rpc:
            return rpc.call("eth_getTransactionReceipt", purchase.transaction_hash) is not None

    def pay(self, purchase: Purchase) -> None:
        """Sends the one signed payment if the chain does not have it; repeating it changes nothing."""
        with self.rpc() as rpc:
            if rpc.call("eth_getTransactionReceipt", purchase.transaction_hash) is None:
                payer, step = purchase.account.address, purchase.step
                rpc.call("anvil_setBalance", payer, hex(10**18))
                rpc.call("anvil_dealERC20", payer, step["asset"], hex(int(step["amountUnits"])))
                rpc.call("eth_sendRawTransaction", purchase.raw_transaction)
            for _ in range(3):
                rpc.call("evm_mine")

    def accepts(self, key: str) -> bool:
        """Decides whether the service accepts the key."""
        headers = {"Authorization": f"Bearer {key}"}
        answer = self.until(lambda answer: answer.status_code < 500, KEYED, {"search": "task"}, headers)
        assert answer.status_code in (200, 401, 403), answer.text
        return answer.status_code == 200

    def until(
        self, done: Callable[[httpx.Response], bool], path: str, body: dict[str, Any], headers: dict[str, str]
    ) -> httpx.Response:
        """Repeats a request that gets no answer or a temporary one, and returns the first answer that is `done`."""
        epoch, deadline, last = self.epoch, time.monotonic() + HANG_S, "none"
        while time.monotonic() < deadline:
            if self.epoch != epoch:
                raise Reset
            try:
                url = self.installation.base_url + path
                answer = httpx.post(url, json=body, headers=headers, timeout=20, trust_env=False)
            except httpx.HTTPError:
                self.unanswered += 1
                time.sleep(_PAUSE_S)
                continue
            if done(answer):
                return answer
            last = f"{answer.status_code} {answer.text}"
            time.sleep(_PAUSE_S)
        raise AssertionError(f"{path} came to nothing within {HANG_S:g} s; last answer: {last}")


class Buyer:
    """Buys until told to stop, and continues what it has begun whatever happens to the service."""

    def __init__(self, market: Market) -> None:
        self._market = market

    def run(self) -> None:
        while not self._market.stop.is_set():
            with suppress(Reset):
                self._buy()

    def _buy(self) -> None:
        market, account, epoch = self._market, Account.create(), self._market.epoch
        quote = market.until(_made, QUOTE, {"payerAddress": account.address}, {}).json()
        purchase = _signed(account, quote)
        market.begin(purchase, epoch)
        headers = {"Idempotency-Key": quote["quoteId"]}
        body = body_of(quote, purchase.transaction_hash)

        def paid_and_made(answer: httpx.Response) -> bool:
            # The chain may have lost the payment since: a buyer whose claim waits sends it again.
            may_wait = answer.status_code in (201, 202, 503) or answer.json()["code"] == "claim_in_progress"
            assert may_wait or market.epoch != epoch or not self._chain_is_sound(purchase), answer.text
            if answer.status_code != 201:
                self._pay(purchase, epoch)
            return _made(answer)

        self._pay(purchase, epoch)
        answer = market.until(paid_and_made, CLAIM, body, headers)
        again = market.until(paid_and_made, CLAIM, body, headers)
        assert api_key_of(again) == api_key_of(answer), "another key for the same claim"
        market.replayed += "idempotent-replayed" in answer.headers
        purchase.key = api_key_of(answer)
        market.stop.wait(BETWEEN_PURCHASES_S)

    def _pay(self, purchase: Purchase, epoch: int) -> None:
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            if self._market.epoch != epoch:
                raise Reset
            with suppress(OSError, ValueError, KeyError, httpx.HTTPError, RpcError):
                self._market.pay(purchase)
                return
            time.sleep(_PAUSE_S)
        raise AssertionError(f"the chain takes no payment within {HANG_S:g} s")

    def _chain_is_sound(self, purchase: Purchase) -> bool:
        with suppress(OSError, ValueError, httpx.HTTPError, RpcError):
            return self._market.on_chain(purchase)
        return False


@contextmanager
def buying(market: Market) -> Iterator[list[Future[None]]]:
    """Runs buyers while the context is open; at its end each has finished what it began."""
    with ThreadPoolExecutor(BUYERS) as pool:
        buyers = [pool.submit(Buyer(market).run) for _ in range(BUYERS)]
        try:
            yield buyers
        finally:
            market.stop.set()
    for buyer in buyers:
        buyer.result()


def wait_for_more(market: Market, buyers: list[Future[None]], more: int = BUYERS) -> None:
    """Returns once `more` further keys have been issued."""
    before, deadline = len(market.acknowledged), time.monotonic() + HANG_S
    while len(market.acknowledged) < before + more:
        assert time.monotonic() < deadline, "nobody gets anything any more"
        for buyer in buyers:
            if buyer.done():
                buyer.result()
        time.sleep(0.05)


def hold_against_the_chain(market: Market) -> int:
    """Asserts that the newest acknowledged keys work exactly if their payment is on the chain; sending a lost payment
    again restores them.

    Returns how many payments the chain had lost.
    """
    acknowledged = market.acknowledged
    with market.rpc() as rpc:
        calls = [("eth_getTransactionReceipt", [purchase.transaction_hash]) for purchase in acknowledged]
        receipts = rpc.batch(calls) if calls else []
    lost = [purchase for purchase, receipt in zip(acknowledged, receipts, strict=True) if receipt is None]
    for purchase in lost:
        _until(partial(_refused, market, purchase), "a key for money that is not on the chain")
        market.pay(purchase)
    for purchase in [*lost, *acknowledged[-NEWEST:]]:
        _until(partial(_accepted, market, purchase), "a paid key that does not work")
    return len(lost)


def account(market: Market, settings: Settings) -> None:
    """Asserts that keys, claims and payments match what buyers were told, once each. `settings` are the demo's."""
    told = {purchase.quote["quoteId"]: purchase for purchase in market.acknowledged}
    assert len(told) == len(market.purchases), "a purchase that was never finished"
    ledger, pepper = open_ledger(settings, settings.data_dir), load_secrets(settings).pepper
    try:
        with ledger._readers.begin() as connection:
            claims = connection.execute(text(_CLAIMS)).all()
            paid = set(connection.execute(text("select transaction_hash from access_payments")).scalars())
            cases = set(connection.execute(text("select transaction_hash from access_cases")).scalars())
        assert unsound(ledger) == set()
    finally:
        ledger.close()
    expected = {
        (quote_id, purchase.account.address.lower(), "issued", "active", _digest(purchase, pepper))
        for quote_id, purchase in told.items()
    }
    assert sorted(map(tuple, claims)) == sorted(expected), "claims and keys that differ from what buyers were told"
    sent = _sent_by(market, {purchase.account.address.lower() for purchase in market.purchases})
    assert len(sent) == len(set(sent.values())), "a buyer who paid twice"
    assert set(sent) <= paid | cases, "money that is neither redeemed nor a case"
    assert paid <= set(sent), "a claim for money that is not on the chain"


def _made(answer: httpx.Response) -> bool:
    return answer.status_code == 201


def _signed(account: Any, quote: dict[str, Any]) -> Purchase:
    step = quote["data"]["next"]["pay"]
    signed = account.sign_transaction(
        {
            "chainId": step["chainId"],
            "nonce": 0,
            "to": step["asset"],
            "data": step["call"],
            "value": 0,
            "gas": 200_000,
            "maxPriorityFeePerGas": 10**9,
            "maxFeePerGas": 100 * 10**9,
        }
    )
    return Purchase(account, quote, signed.raw_transaction.to_0x_hex(), signed.hash.to_0x_hex())


def _sent_by(market: Market, payers: set[str]) -> dict[str, str]:
    """Returns transaction hash -> payer of each transfer of the coin to the treasury by one of `payers`."""
    described = json.loads((market.installation.data_dir / "demo/demo.json").read_bytes())
    to = "0x" + described["treasury_address"][2:].lower().rjust(64, "0")
    wanted = {"address": described["usdc_address"], "topics": [TRANSFER, None, to], "fromBlock": "0x0"}
    with market.rpc() as rpc:
        logs = rpc.call("eth_getLogs", wanted)
    senders = [(log["transactionHash"], "0x" + log["topics"][1][-40:]) for log in logs]
    return {transaction: sender for transaction, sender in senders if sender in payers}


def _digest(purchase: Purchase, pepper: bytes) -> str:
    key = parse_key(purchase.key or "")
    assert key is not None
    return key.digest(pepper)


def _accepted(market: Market, purchase: Purchase) -> bool:
    assert purchase.key is not None
    return market.accepts(purchase.key)


def _refused(market: Market, purchase: Purchase) -> bool:
    return not _accepted(market, purchase)


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + HANG_S
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(_PAUSE_S)
