"""`svc quote`, `svc pay` and `svc claim` against their own service and chain, and each way in which they may fail."""

from __future__ import annotations

import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from access_sales import miss, redeem, sell
from fake_providers import FakeChain, Provider
from forked import ForkedCommand
from paid_service import PAYER, STRANGER, TREASURY
from patience import HANG_S
from typer.testing import CliRunner

from cli import purchase
from cli.app import app
from cli.demo.anvil import Anvil
from cli.demo.rpc import Rpc, RpcError, calldata
from cli.demo.write import deploy, mined_receipt
from cli.purchase import Purchase, PurchasePending, PurchaseRefused, Purchases, PurchaseUnknown, ServiceSilent, claimed
from contracts.settings import Settings
from warehouse.access.cases import cases_in
from warehouse.ledger.ledger import open_ledger


class Shop:
    """A served installation whose payer has a key file."""

    def __init__(self, data_dir: Path, anvil: Anvil) -> None:
        self.rpc = anvil.rpc
        owner = anvil.rpc.call("eth_accounts")[0]
        usdc = deploy(anvil.rpc, owner, "UsdcStandIn")
        mint = {"from": owner, "to": usdc, "data": calldata("mint(address,uint256)", PAYER.address, 10**9)}
        mined_receipt(anvil.rpc, anvil.rpc.call("eth_sendTransaction", mint))
        anvil.rpc.call("anvil_setBalance", PAYER.address, hex(10**18))
        self.key_file = data_dir / "payer.key"
        self.key_file.write_text(PAYER.key.hex() + "\n")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.environment = {
            "SVC_RPC_URLS": anvil.url,
            "SVC_DATA_DIR": str(data_dir),
            "SVC_PORT": str(self.port),
            "SVC_USDC_ADDRESS": usdc,
            "SVC_TREASURY_ADDRESS": TREASURY,
            "SVC_CONFIRMATIONS": "1",
            "SVC_RATE_LIMIT_PER_MINUTE": "0",
        }

    def run(self, *arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, [*arguments, "--json"], env=self.environment)
        assert result.exit_code == code, result.output
        return json.loads(result.stdout)

    def serve(self) -> ForkedCommand:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        process = ForkedCommand(kept | self.environment, self.key_file.with_name("log"), "serve")
        with httpx.Client(timeout=HANG_S) as client:
            while process.poll() is None:
                try:
                    if client.get(f"http://127.0.0.1:{self.port}/api/agent-access/plans").is_success:
                        return process
                except httpx.HTTPError:
                    time.sleep(0.05)
        raise AssertionError("the service did not start")


@pytest.fixture
def shop(tmp_path: Path, anvil: Anvil, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    for name in [name for name in os.environ if name.startswith("SVC_")]:
        monkeypatch.delenv(name)
    yield Shop(tmp_path, anvil)


def test_three_lines_buy_a_key_and_each_can_be_repeated(shop: Shop, tmp_path: Path) -> None:
    service = shop.serve()
    try:
        quote = shop.run("quote", "--payer", PAYER.address, "--plan", "api_basic_monthly")
        early = shop.run("claim", "--wait", "0", code=1)
        assert early["code"] == "purchase_refused"
        wrong = tmp_path / "stranger.key"
        wrong.write_text(STRANGER.key.hex())
        assert shop.run("pay", "--key-file", str(wrong), code=1)["code"] == "purchase_refused"
        paid = shop.run("pay", "--key-file", str(shop.key_file))
        assert paid["quoteId"] == quote["quoteId"]
        assert shop.run("pay") == paid, "the second time nothing is signed, so no key is needed"
        assert int(shop.rpc.call("eth_getTransactionCount", PAYER.address, "latest"), 16) == 1
        first = shop.run("claim")
        again = shop.run("claim", "--quote", quote["quoteId"])
        packet = first["data"]["activationPacket"]
        assert packet["apiKey"].startswith("svc_basic_")
        assert again["data"]["activationPacket"] == packet
        (kept,) = (tmp_path / "purchases").iterdir()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert packet["apiKey"] not in kept.read_text()
        assert PAYER.key.hex() not in kept.read_text()
        shown = shop.run("claim", "show", first["data"]["claim"]["claimId"])
        assert (shown["state"], shown["keyState"], shown["transactionHash"]) == (
            *("issued", "active"),
            paid["transactionHash"],
        )
        assert packet["apiKey"] not in json.dumps(shown)
    finally:
        service.terminate()
        service.wait(20)


def test_missing_things_are_reported_with_a_cure(shop: Shop, tmp_path: Path) -> None:
    assert shop.run("quote", "--payer", PAYER.address, code=1)["code"] == "service_silent"
    assert shop.run("quote", code=2)["code"] == "settings_invalid"
    assert shop.run("pay", code=1)["code"] == "purchase_unknown"
    assert shop.run("claim", code=1)["code"] == "purchase_unknown"
    open_ledger(Settings(_env_file=None), tmp_path).close()
    assert shop.run("claim", "show", "claim_0", code=1)["code"] == "claim_not_here"
    Purchases(tmp_path).keep(Purchase("http://127.0.0.1:9", {"quoteId": "q"}))
    for content in ("not a key", "0x" + "11" * 31, "{}", ""):
        bad = tmp_path / "bad.key"
        bad.write_text(content)
        said = shop.run("pay", "--key-file", str(bad), code=2)
        assert said["code"] == "settings_invalid"
        assert "11" * 8 not in json.dumps(said)
    assert shop.run("pay", "--key-file", str(tmp_path / "none"), code=2)["code"] == "settings_invalid"


def test_a_payment_that_can_not_be_made_is_reported_as_not_made(shop: Shop, tmp_path: Path) -> None:
    """The payer has none of the coin; and what answers at the address is not a node."""
    step = {"from": PAYER.address, "asset": shop.environment["SVC_USDC_ADDRESS"], "chainId": 8453}
    call = calldata("transfer(address,uint256)", TREASURY, 10**30)
    Purchases(tmp_path).keep(Purchase("http://x", {"quoteId": "q", "data": {"next": {"pay": step | {"call": call}}}}))
    key_file = tmp_path / "payer.key"
    key_file.write_text(PAYER.key.hex())
    for given, code in (
        ([], "rpc_unavailable"),
        (["--rpc", "http://127.0.0.1:9"], "rpc_unavailable"),
        (["--rpc", "http://127.0.0.1:port"], "settings_invalid"),
    ):
        said = shop.run("pay", "--key-file", str(key_file), *given, code=2 if code == "settings_invalid" else 1)
        assert said["code"] == code
        assert code == "settings_invalid" or said["detail"].startswith("Nothing is paid: ")


@pytest.mark.parametrize("mode", ["garbage", "empty", "no_result", "wrong_types"])
def test_an_unusable_answer_of_a_node_is_an_rpc_error(mode: str) -> None:
    with Provider(FakeChain(), mode) as node, Rpc(node.url) as rpc, pytest.raises(RpcError):
        rpc.call("eth_chainId")


def test_money_that_no_claim_uses_is_listed_with_both_sides_and_settled(shop: Shop, tmp_path: Path) -> None:
    ledger = open_ledger(Settings(_env_file=None), tmp_path)
    now = datetime.now(UTC)
    over, short, back, claimed_since = (sell(ledger, number, now=now) for number in (1, 2, 3, 4))
    miss(ledger, over, amount=over.amount + 11, now=now)
    for quote in (short, back, claimed_since):
        miss(ledger, quote, now=now)
    redeem(ledger, claimed_since, now=now)
    with ledger.read() as reader:
        ids = {case.quote_id: case.case_id for case in cases_in(reader)}
    listed = {case["caseId"]: case for case in shop.run("claim", "unmatched")["cases"]}
    assert set(listed) == set(ids.values())
    shown = listed[ids[over.quote_id]]
    assert (shown["payment"]["sentUnits"], shown["payment"]["from"]) == (str(over.amount + 11), over.payer)
    assert (shown["quote"]["askedUnits"], shown["quotePayer"]) == (str(over.amount), over.payer)

    transaction = "0x" + "11" * 32
    both = ["--issue", "--refunded", transaction]
    for wrong in ([], both, ["--refund", "--supplement"], ["--refunded", "0x11"], ["--refunded", "0x" + "zz" * 32]):
        assert shop.run("claim", "resolve", ids[back.quote_id], *wrong, code=2)["code"] == "settings_invalid"
    due = shop.run("claim", "resolve", ids[back.quote_id], "--refund")
    assert (due["state"], due["refund"]["amountUnits"]) == ("refund_due", "7")
    sent_back = shop.run("claim", "resolve", ids[back.quote_id], "--refunded", "0x" + "AB" * 32)
    assert (sent_back["state"], sent_back["refund"]["transactionHash"]) == ("refunded", "0x" + "ab" * 32)
    for case_id in (ids[back.quote_id], ids[claimed_since.quote_id]):
        assert shop.run("claim", "resolve", case_id, "--issue", code=1)["code"] == "payment_not_settled"
    assert shop.run("claim", "resolve", "pay_0", "--issue", code=1)["code"] == "payment_unknown"

    assert shop.run("claim", "resolve", ids[over.quote_id], "--issue", code=1)["code"] == "payment_not_settled"
    shop.environment["SVC_USDC_ADDRESS"] = json.loads(over.quote_json)["asset"]
    assert "short" in shop.run("claim", "resolve", ids[short.quote_id], "--issue", code=1)["detail"]
    offered = shop.run("claim", "resolve", ids[short.quote_id], "--supplement")
    assert offered["state"] == "supplement_offered"
    assert offered["supplement"]["data"]["quote"]["supplementTo"]["quoteId"] == short.quote_id
    issued = shop.run("claim", "resolve", ids[over.quote_id], "--issue")
    assert issued["apiKey"].startswith("svc_basic_")
    assert (issued["state"], issued["restUnits"], issued["refund"]["amountUnits"]) == ("refund_due", "11", "11")
    assert shop.run("claim", "show", issued["claimId"])["quoteId"] == over.quote_id
    left = {case["caseId"]: case["state"] for case in shop.run("claim", "unmatched")["cases"]}
    assert left == {
        ids[over.quote_id]: "refund_due",
        ids[short.quote_id]: "supplement_offered",
        ids[claimed_since.quote_id]: "open",
    }
    ledger.close()


def test_a_case_is_shown_to_people_on_a_line_with_both_sides(shop: Shop, tmp_path: Path) -> None:
    ledger = open_ledger(Settings(_env_file=None), tmp_path)
    quote = sell(ledger, 1, now=datetime.now(UTC))
    miss(ledger, quote, amount=quote.amount + 3, now=datetime.now(UTC))
    ledger.close()
    shop.environment["SVC_USDC_ADDRESS"] = json.loads(quote.quote_json)["asset"]

    def printed(*arguments: str) -> str:
        return CliRunner().invoke(app, ["claim", *arguments], env=shop.environment).stdout

    line = printed("unmatched")
    for part in (
        "case_",
        "open",
        "amount_mismatch",
        f"{quote.amount + 3} of ",
        quote.payer,
        f"asks {quote.amount} from",
    ):
        assert part in line
    done = printed("resolve", line.split()[0], "--issue")
    assert "svc_basic_" in done and "3 units are too much and must go back" in done
    assert "3 goes back" in printed("unmatched")


def answers(*scripted: httpx.Response | Exception) -> Any:
    left = list(scripted)

    def ask() -> httpx.Response:
        each = left.pop(0)
        if isinstance(each, Exception):
            raise each
        return each

    return ask


def pending(retry_after: str = "0", status: int = 202, **body: Any) -> httpx.Response:
    return httpx.Response(status, json={"code": "confirmations"} | body, headers={"Retry-After": retry_after})


ISSUED = httpx.Response(201, json={"ok": True})
SILENT = ServiceSilent("no answer", cure="")


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.pauses_s: list[float] = []

    def monotonic(self) -> float:
        return sum(self.pauses_s)

    def sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(purchase, "time", clock := Clock())
    return clock


def test_a_claim_is_asked_again_after_what_may_pass_and_as_late_as_the_service_says(clock: Clock) -> None:
    ask = answers(pending("1"), pending(status=409, retryable=True), pending(status=503, retryable=True), ISSUED)
    assert claimed(ask, 60, quiet=True) == {"ok": True}
    assert clock.pauses_s == [1, 0, 0]


def test_a_service_that_does_not_answer_is_asked_again(clock: Clock) -> None:
    ask = answers(SILENT, httpx.Response(502, text="<html>"), pending("nonsense"), ISSUED)
    assert claimed(ask, 60, quiet=True) == {"ok": True}
    assert clock.pauses_s == [2, 2, 2]


@pytest.mark.parametrize("status", [400, 402, 404, 409, 500])
def test_a_refusal_ends_it_at_once_with_its_code(status: int) -> None:
    refusal = httpx.Response(status, json={"code": "payment_late", "detail": "Too late.", "retryable": False})
    with pytest.raises(PurchaseRefused, match="payment_late: Too late"):
        claimed(answers(refusal), 60, quiet=True)


def test_a_refusal_says_when_to_try_again() -> None:
    limited = httpx.Response(429, json={"code": "rate_limited", "detail": "Slower."}, headers={"Retry-After": "51"})
    with pytest.raises(PurchaseRefused) as caught:
        claimed(answers(limited), 60, quiet=True)
    assert caught.value.cure == "The service answered 429. Try again in 51 s."


def test_a_claim_that_stays_pending_ends_in_time_and_says_not_to_pay_again() -> None:
    with pytest.raises(PurchasePending, match="confirmations") as caught:
        claimed(answers(pending("5")), 1, quiet=True)
    assert "don't pay again" in caught.value.cure


def test_purchases_are_found_by_quote_or_the_newest_and_never_outside_their_directory(tmp_path: Path) -> None:
    purchases = Purchases(tmp_path)
    for name in ("a", "b"):
        purchases.keep(Purchase("http://x", {"quoteId": name}))
        os.utime(tmp_path / "purchases" / f"{name}.json", (ord(name), ord(name)))
    assert purchases.find(None).quote_id == "b"
    assert purchases.find("a").quote_id == "a"
    (tmp_path / "secret.json").write_text("{}")
    for other in ("../secret", "c", ""):
        with pytest.raises(PurchaseUnknown):
            purchases.find(other)


def test_a_payment_whose_nonce_was_taken_is_not_paid_again(shop: Shop, tmp_path: Path) -> None:
    step = {"from": PAYER.address, "to": TREASURY, "asset": shop.environment["SVC_USDC_ADDRESS"], "chainId": 8453}
    quote = {"quoteId": "q", "data": {"next": {"pay": step}}}
    Purchases(tmp_path).keep(Purchase("http://x", quote, "0x" + "11" * 32, 0, "0x00"))
    with Rpc(shop.environment["SVC_RPC_URLS"]) as rpc:
        rpc.call("anvil_setNonce", PAYER.address, "0x5")
    said = shop.run("pay", code=1)
    assert said["code"] == "purchase_refused"
    assert "used this one's nonce" in said["detail"]
