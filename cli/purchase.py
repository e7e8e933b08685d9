"""Implements `svc quote`, `svc pay` and plain `svc claim`: buys a key over HTTP and the chain, like any other client.

A purchase is stored in `DATA_DIR/purchases/<quoteId>.json`, readable only by its owner, because anyone with a quote's
hashes can claim what its payer paid. A signed payment is stored before it is sent, so a retry can't pay twice.
"""

import getpass
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from cli.demo.rpc import Rpc, RpcError
from cli.environment import effective_settings, given_address, make_data_dir, service_address
from cli.output import note, operator_problems, print_json, say
from contracts.access.eth_accounts import eth_account
from contracts.access.plans import CLAIM_PATH, DEFAULT_PLAN, QUOTE_PATH
from contracts.errors import ChainMismatch, OperatorProblem, RpcUnavailable, SettingsInvalid
from contracts.settings import Settings
from warehouse.clients.http import blocking_client
from warehouse.file_modes import make_private_directory

_TIMEOUT_S = 30.0
_RETRY_S = 2.0
_RETRY_AT_MOST_S = 60.0
_DEMO_MNEMONIC = "test test test test test test test test test test test junk"
_DEMO_PAYER = 9
"""Index of the demo chain's account that pays; nothing else is sent from it."""


class PurchaseRefused(OperatorProblem):
    """The service refused, or the purchase can't continue."""

    code = "purchase_refused"


class PurchaseUnknown(OperatorProblem):
    """The quote is not stored here."""

    code = "purchase_unknown"


class PurchasePending(OperatorProblem):
    """The service reports that the payment is not settled yet."""

    code = "purchase_pending"


@dataclass(frozen=True)
class Purchase:
    """A quote as the service returned it, and the signed payment for it."""

    service: str
    quote: dict[str, Any]
    transaction_hash: str | None = None
    nonce: int = 0
    raw_transaction: str | None = None

    @property
    def quote_id(self) -> str:
        return str(self.quote["quoteId"])


class Purchases:
    """The purchases stored in a directory."""

    def __init__(self, data_dir: Path) -> None:
        self._directory = data_dir / "purchases"

    def keep(self, purchase: Purchase) -> None:
        """Writes a purchase atomically, readable only by its owner."""
        make_private_directory(self._directory)
        path = self._path(purchase.quote_id)
        draft = path.with_name(f".{path.name}-{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(asdict(purchase), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    def find(self, quote_id: str | None) -> Purchase:
        """Returns the purchase with this quote, or the newest without an id. Raises `PurchaseUnknown`."""
        purchases = sorted(self._directory.glob("[!.]*.json"), key=lambda path: path.stat().st_mtime)
        chosen = purchases[-1] if quote_id is None and purchases else self._path(quote_id or "none")
        try:
            return Purchase(**json.loads(chosen.read_text()))
        except (OSError, ValueError, TypeError):
            raise PurchaseUnknown(
                f"No quote {quote_id or ''} is stored in {self._directory}.".replace("  ", " "),
                cure="Request one with `svc quote`.",
            ) from None

    def _path(self, quote_id: str) -> Path:
        return self._directory / f"{Path(quote_id).name}.json"


def quote(payer: str | None, operator: str | None, plan: str | None, url: str | None, as_json: bool) -> None:
    with operator_problems(as_json):
        settings = effective_settings()
        service = given_address("--url", url or service_address(settings)).rstrip("/")
        plan = plan or DEFAULT_PLAN
        body = {"planId": plan, "payerAddress": payer or _demo_account(settings).address}
        answer = _post(service + QUOTE_PATH, body | ({"operatorAddress": operator} if operator else {}), {})
        if answer.status_code != 201:
            raise _refused(answer)
        make_data_dir(settings.data_dir)
        purchase = Purchase(service, answer.json())
        Purchases(settings.data_dir).keep(purchase)
    if as_json:
        print_json(purchase.quote)
        return
    step = purchase.quote["data"]["next"]["pay"]
    say(f"{purchase.quote_id}: {plan} for {step['amount']} {step['assetSymbol']}, to be paid by {step['notAfter']}")
    say(f"from {step['from']} to {step['to']} in one transfer; `svc pay` does it")


def pay(quote_id: str | None, key_file: Path | None, rpc: str | None, wait: float, as_json: bool) -> None:
    with operator_problems(as_json):
        settings = effective_settings()
        purchases = Purchases(settings.data_dir)
        purchase = purchases.find(quote_id)
        urls = (given_address("--rpc", rpc),) if rpc else settings.rpc_urls
        if not urls:
            raise RpcUnavailable("There is no RPC to send to.", cure="Pass --rpc URL, or set SVC_RPC_URLS.")
        try:
            with Rpc(urls[0], timeout_s=_TIMEOUT_S) as node:
                if purchase.raw_transaction is None:
                    account = _demo_account(settings) if key_file is None else _account_of(key_file)
                    purchase = _signed(purchase, account, node)
                    purchases.keep(purchase)
                block = _sent(purchase, node, wait)
        except (httpx.HTTPError, httpx.InvalidURL, RpcError) as error:
            known = (
                "Nothing is paid" if purchase.raw_transaction is None else "It is unknown whether the payment was sent"
            )
            raise RpcUnavailable(
                f"{known}: {error if isinstance(error, RpcError) else 'no answer'}.",
                cure="Run the same `svc pay` again; it can't pay twice.",
            ) from None
    if as_json:
        print_json(
            {
                "ok": True,
                "quoteId": purchase.quote_id,
                "transactionHash": purchase.transaction_hash,
                "blockNumber": block,
            }
        )
    else:
        say(f"paid by {purchase.transaction_hash}" + ("" if block is None else f" in block {block}"))


def redeem(
    settings: Settings, quote_id: str | None, transaction_hash: str | None, wait_s: float, as_json: bool
) -> None:
    purchase = Purchases(settings.data_dir).find(quote_id)
    sent = transaction_hash or purchase.transaction_hash
    if sent is None:
        raise PurchaseRefused("The quote has not been paid from here.", cure="Run `svc pay`, or pass --transaction.")
    body = purchase.quote["data"]["next"]["claim"]["body"] | {"transactionHash": sent}
    answer = claimed(
        lambda: _post(purchase.service + CLAIM_PATH, body, {"Idempotency-Key": f"{purchase.quote_id}:{sent}"}),
        wait_s,
        quiet=as_json,
    )
    if as_json:
        print_json(answer)
        return
    packet, receipt = answer["data"]["activationPacket"], answer["data"]["receipt"]
    say(packet["apiKey"])
    say(f"{packet['keyId']}, tier {packet['tier']}. Until its first use, `svc claim` shows it again, for up to a day.")
    say(f"receipt {receipt['links']['receipt']}")


def claimed(ask: Callable[[], httpx.Response], wait_s: float, *, quiet: bool) -> dict[str, Any]:
    """Returns the body of a 201. Repeats `ask` while the answer is pending or missing.

    Raises `PurchaseRefused` on a refusal, and `PurchasePending` if `wait_s` seconds do not suffice.
    """
    deadline = time.monotonic() + wait_s
    while True:
        answer: httpx.Response | None = None
        why = "the service does not answer"
        try:
            answer = ask()
        except ServiceSilent as silent:
            why = silent.what
        if answer is not None:
            if answer.status_code == 201:
                return dict(answer.json())
            if not _may_pass(answer):
                raise _refused(answer)
            why = str(_body(answer).get("code", answer.status_code))
        pause_s = _retry_after(answer)
        if time.monotonic() + pause_s > deadline:
            raise PurchasePending(
                f"The claim is pending: {why}.", cure="Run the same `svc claim` again later; don't pay again."
            )
        if not quiet:
            note(f"pending: {why}; trying again in {pause_s:g} s")
        time.sleep(pause_s)


class ServiceSilent(OperatorProblem):
    """The service did not answer."""

    code = "service_silent"


def _may_pass(answer: httpx.Response) -> bool:
    return answer.status_code == 202 or _body(answer).get("retryable") is True or answer.status_code in (502, 504)


def _retry_after(answer: httpx.Response | None) -> float:
    header = "" if answer is None else answer.headers.get("Retry-After", "")
    return min(float(header), _RETRY_AT_MOST_S) if header.isdigit() else _RETRY_S


def _post(url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> httpx.Response:
    try:
        with blocking_client(_TIMEOUT_S) as client:
            return client.post(url, json=dict(body), headers=dict(headers))
    except (httpx.HTTPError, httpx.InvalidURL):
        raise ServiceSilent(f"{url} does not answer.", cure="Start the service, or pass --url.") from None


def _body(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _refused(answer: httpx.Response) -> PurchaseRefused:
    body = _body(answer)
    what = f"{body.get('code', answer.status_code)}: {body.get('detail', 'no explanation was given')}"
    wait = answer.headers.get("Retry-After", "")
    again = f" Try again in {wait} s." if wait.isdigit() else ""
    return PurchaseRefused(what, cure=f"The service answered {answer.status_code}.{again}")


def _signed(purchase: Purchase, account: Any, node: Rpc) -> Purchase:
    step = purchase.quote["data"]["next"]["pay"]
    if account.address.lower() != step["from"].lower():
        raise PurchaseRefused(
            f"The quote must be paid by {step['from']}, but the key belongs to {account.address}.",
            cure="Pass the payer's key file, or request a quote with this address as --payer.",
        )
    node_chain_id = int(node.call("eth_chainId"), 16)
    if node_chain_id != step["chainId"]:
        raise ChainMismatch(
            f"The RPC answers for chain {node_chain_id}, but the quote is for chain {step['chainId']}.",
            cure="Pass --rpc with a URL of that chain.",
        )
    call = {"from": account.address, "to": step["asset"], "data": step["call"]}
    nonce, gas, price, head = node.batch(
        [
            ("eth_getTransactionCount", [account.address, "pending"]),
            ("eth_estimateGas", [call]),
            ("eth_maxPriorityFeePerGas", []),
            ("eth_getBlockByNumber", ["latest", False]),
        ]
    )
    priority = int(price, 16)
    signed = account.sign_transaction(
        {
            "chainId": node_chain_id,
            "nonce": int(nonce, 16),
            "to": step["asset"],
            "data": step["call"],
            "value": 0,
            "gas": int(gas, 16) * 6 // 5,
            "maxPriorityFeePerGas": priority,
            "maxFeePerGas": 2 * int(head.get("baseFeePerGas", "0x0"), 16) + priority,
        }
    )
    return replace(
        purchase,
        transaction_hash=signed.hash.to_0x_hex(),
        nonce=int(nonce, 16),
        raw_transaction=signed.raw_transaction.to_0x_hex(),
    )


def _sent(purchase: Purchase, node: Rpc, wait_s: float) -> int | None:
    """Sends the payment if the node lacks it. Returns its block, or None if it was not mined in time."""
    receipt = node.call("eth_getTransactionReceipt", purchase.transaction_hash)
    if receipt is None and node.call("eth_getTransactionByHash", purchase.transaction_hash) is None:
        sender = purchase.quote["data"]["next"]["pay"]["from"]
        if int(node.call("eth_getTransactionCount", sender, "latest"), 16) > purchase.nonce:
            raise PurchaseRefused(
                "Another transaction of the payer used this one's nonce, so this payment can no longer be mined.",
                cure="Check whether the payer has paid, and if not, request a fresh quote.",
            )
        node.call("eth_sendRawTransaction", purchase.raw_transaction)
    deadline = time.monotonic() + wait_s
    while receipt is None and time.monotonic() < deadline:
        time.sleep(0.2)
        receipt = node.call("eth_getTransactionReceipt", purchase.transaction_hash)
    if receipt is None:
        return None
    if receipt["status"] != "0x1":
        raise PurchaseRefused("The transfer failed and moved no money.", cure="Request a fresh quote.")
    return int(receipt["blockNumber"], 16)


def _demo_account(settings: Settings) -> Any:
    """Returns the demo chain's payer, whose key is public. Raises `SettingsInvalid` elsewhere."""
    from cli.demo.directory import DemoDirectory

    description = DemoDirectory(settings.data_dir.parent).description()
    if settings.data_dir.name != "demo" or description is None or description.rpc_url not in settings.rpc_urls:
        raise SettingsInvalid(
            "This is not the demo chain, so there is no default address and key.",
            cure="Pass --payer ADDRESS to `svc quote` and --key-file FILE to `svc pay`.",
        )
    return demo_payer()


def demo_payer() -> Any:
    """Returns the account that has coins to pay with on every demo chain."""
    accounts = eth_account().Account
    accounts.enable_unaudited_hdwallet_features()
    return accounts.from_mnemonic(_DEMO_MNEMONIC, account_path=f"m/44'/60'/0'/0/{_DEMO_PAYER}")


def _account_of(key_file: Path) -> Any:
    """Returns the account of a key file: JSON with a prompted password, or 64 hex digits. Raises `SettingsInvalid`."""
    accounts = eth_account().Account
    try:
        text = key_file.read_text().strip()
        if text.startswith("{"):
            encrypted = {name.lower(): value for name, value in json.loads(text).items()}
            if "crypto" not in encrypted:
                raise ValueError("no key file")
            return accounts.from_key(accounts.decrypt(encrypted, getpass.getpass(f"Password of {key_file}: ")))
        return accounts.from_key(text)
    except (OSError, ValueError, TypeError, KeyError):
        # Not chained, because the library's message may contain the key.
        raise SettingsInvalid(
            f"{key_file} contains no readable key.",
            cure="Pass an encrypted JSON key file and its password, or a file with 64 hex digits.",
        ) from None
