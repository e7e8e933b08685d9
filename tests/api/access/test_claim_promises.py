"""The promises of the paid claim, one test per row, on both engines.

| row | promise | held here, or by |
|---|---|---|
| S1 | a quote gives one key | `test_claims_of_one_quote...`, `test_claim_issue.py`, `test_claim_durability.py` |
| S2 | a transfer pays one quote | `test_a_transfer_that_fits_two_quotes_pays_one_of_them` |
| S3 | a batch of n pays n quotes | `test_claim_machine.py`, `test_payment_matching.py`, `test_claim_on_evm.py` |
| S4 | nobody redeems another's payment | `test_nobody_who_ordered_a_quote_for_the_payer_beforehand...` |
| S5 | both hashes, on every path | `test_both_hashes_have_to_be_right_on_every_path...` |
| S6 to S10, S15 | what pays, and when | `test_payment_matching.py`, machine, `test_claim_on_evm.py` |
| S11 | canonical and buried | `test_payment_matching.py`, `test_claim_on_evm.py` |
| S12 | a payment that leaves the chain | `test_watcher.py`, `test_claim_states.py` |
| S13, S14 | chain and agreement | `test_one_provider_in_trouble_makes_a_claim_wait...` |
| S16 | no key anywhere | `test_claim_kills.py` (all files), `test_no_answer_but_the_one_that_issues...` |
| S17 | quotes are as they were signed | `test_claim_issue.py`, `test_other_language.py` |
| S18 | signatures are no identities | `test_the_twin_of_a_signature_gets_no_second_key` |
| S19 | refusals consume nothing | `test_what_is_refused_or_pending_changes_nothing...` |
| S20 | quotas over all workers | `test_authentication.py` |
| S24 | nobody else's money | `test_case_orders.py` |
| S22 | `callbackUrl` is never fetched | `test_a_callback_is_kept_and_never_called` |
| L1 | unknown is not unpaid | `test_one_provider_in_trouble_makes_a_claim_wait...` |
| L2 | one key, whatever is killed | `test_claim_kills.py` |
| L3, L7 | repeated answers, named conflicts | `test_paid_access_routes.py`, `test_claim_machine.py` |
| L4 | recovery by rotation | `test_recovery.py` |
| L5 | money that does not match is kept | `test_money_of_every_refused_kind_is_kept_for_the_operator` |
| L6 | acknowledged is durable | `test_claim_durability.py` |
| L8 | quotes can't be exhausted | `test_quotes_for_a_payer_run_out_for_nobody_else_and_not_for_the_payer` |
| L10 | a wrong amount has a case | `test_cases.py` |
| L9 | clock skew | `test_watcher.py` |
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from claim_mutants import MATCHING_BUGS, Replaced, seeded
from claim_payments import KINDS, MISMATCHING, STRANGER, paying
from claim_service import CLAIM, QUOTE, Sale, api_key_of, body_of, due_of, new_payer, on_sale, said
from claim_store import count, unsound
from eth_account import Account
from fake_providers import FAULTY, Provider
from patience import HANG_S, slowness
from patient_providers import patient_providers
from sqlalchemy import text

from api.access import judging, service
from api.access import quotes as quoting
from api.access.rpc import Providers
from contracts.access import quotes
from contracts.access.proofs import claim_typed_data
from contracts.settings import Settings
from warehouse.access.cases import cases_in
from warehouse.ledger.ledger import Ledger, Transaction

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


@pytest.fixture
def sale(ledger_settings: Settings) -> Any:
    with on_sale(ledger_settings) as opened:
        yield opened


@pytest.fixture
def sale_here(tmp_path: Any) -> Any:
    with on_sale(Settings(_env_file=None, data_dir=tmp_path)) as opened:
        yield opened


def execute(sale: Sale, statement: str) -> None:
    with sale.ledger._writers.begin() as connection:
        connection.execute(text(statement))


@pytest.mark.both_engines
def test_claims_of_one_quote_at_once_issue_one_key(sale: Sale) -> None:
    """S1, and the races within one worker: eight claims at a time, each with its own idempotency key, until all are
    answered."""
    for quote in [sale.quote(new_payer()) for _ in range(3)]:
        body = body_of(quote, sale.pay(quote))
        requests = [("POST", CLAIM, {"json": body, "headers": {"Idempotency-Key": f"k{n}"}}) for n in range(8)]
        first, *others = sorted(said(each) for each in sale.at_once(*requests))
        assert first == (201, "issued")
        assert set(others) <= {(409, "claim_exists"), (409, "claim_in_progress")}
    assert count(sale.ledger, "access_claims") == count(sale.ledger, "api_keys") == 3
    assert unsound(sale.ledger) == set()


class Overtaken:
    """A ledger on which somebody else is faster: `meanwhile` runs before the first transaction."""

    def __init__(self, ledger: Ledger, meanwhile: Callable[[], object]) -> None:
        self.read = ledger.read
        self._ledger = ledger
        self._meanwhile = [meanwhile]

    def transaction(self) -> AbstractContextManager[Transaction]:
        while self._meanwhile:
            self._meanwhile.pop()()
        return self._ledger.transaction()


@pytest.mark.both_engines
@pytest.mark.parametrize(("key", "replies"), [("k", (201, "replayed")), ("another", (409, "claim_exists"))])
def test_a_claim_that_another_overtakes_is_answered_without_asking_the_chain(
    sale: Sale, key: str, replies: tuple[int, str]
) -> None:
    quote = sale.quote(new_payer())
    transaction, ledger = sale.pay(quote), sale.ledger
    with on_sale(sale.settings) as other:
        other.providers.chain, other.now = sale.chain, sale.now
        first: list[Any] = []
        sale.ledger = Overtaken(ledger, lambda: first.append(other.claim(quote, transaction, "k")))
        second = sale.claim(quote, transaction, key)
    sale.ledger = ledger
    assert (said(first[0]), said(second), sale.providers.asked) == ((201, "issued"), replies, 0)
    assert key != "k" or api_key_of(second) == api_key_of(first[0])


NO_SALT: Replaced = {quotes.free_amount: lambda price, taken, draw: price}


def two_quotes_of_one_amount(sale: Sale) -> list[dict[str, Any]]:
    """Returns two open quotes of one amount, which can exist only without the index that forbids them."""
    execute(sale, "drop index access_quotes_amount_of_payer")
    payer = new_payer()
    first = sale.quote(payer)
    return [first, sale.quote_of_amount(payer, due_of(first).amount)]


@pytest.mark.both_engines
def test_a_transfer_that_fits_two_quotes_pays_one_of_them(sale: Sale) -> None:
    """S2: with two quotes of one amount, claimed at once by the same transaction."""
    pair = two_quotes_of_one_amount(sale)
    transaction = sale.pay(pair[0])
    requests = [("POST", CLAIM, {"json": body_of(pair[n % 2], transaction)}) for n in range(8)]
    answers = [said(each) for each in sale.at_once(*requests)]
    assert [answer for answer in answers if answer[0] == 201] == [(201, "issued")]
    assert {answer[1] for answer in answers if answer[0] != 201} <= {
        "claim_exists",
        "claim_in_progress",
        "transfer_already_used",
    }
    sale.pass_time(20)
    later = {said(sale.claim(quote, transaction)) for quote in pair}
    assert later == {(409, "claim_exists"), (409, "transfer_already_used")}


def is_stolen(sale: Sale) -> bool:
    """Decides whether a thief who ordered quotes for the payer's address beforehand gets a key for the payer's
    money."""
    victim = new_payer()
    wanted = {"payerAddress": victim, "operatorAddress": STRANGER, "planId": "api_basic_monthly"}
    ordered = [sale.ask("POST", QUOTE, json=wanted) for _ in range(20)]
    own = sale.quote(victim)
    transaction = sale.pay(own)
    stolen = [sale.claim(each.json(), transaction) for each in ordered if each.status_code == 201]
    return any(each.status_code == 201 for each in stolen) or sale.claim(own, transaction).status_code != 201


def test_nobody_who_ordered_a_quote_for_the_payer_beforehand_gets_the_payers_key(sale: Sale) -> None:
    """S4."""
    assert not is_stolen(sale)


def test_the_seeded_bug_no_salt_is_caught(sale: Sale) -> None:
    """The index of amounts would hide this bug by refusing every second quote, so both are removed together."""
    execute(sale, "drop index access_quotes_amount_of_payer")
    assert not is_stolen(sale)
    with seeded(NO_SALT, quoting):
        assert is_stolen(sale)


def test_if_only_the_salt_is_missing_the_index_of_amounts_refuses_the_second_quote(sale_here: Sale) -> None:
    payer = new_payer()
    with seeded(NO_SALT, quoting):
        sale_here.quote(payer)
        asked = {"payerAddress": payer, "planId": "api_basic_monthly"}
        assert sale_here.ask("POST", QUOTE, json=asked).status_code == 500


def wrong_hashes(sale: Sale) -> list[tuple[int, str]]:
    """Returns the answers to claims with hashes other than the quote's, before it is redeemed and when repeated
    afterwards."""
    quote, other = sale.quote(new_payer()), sale.quote(new_payer())
    transaction = sale.pay(quote)
    changes: list[dict[str, Any]] = [
        {"quoteHash": other["quoteHash"]},
        {"paymentRequirementHash": other["paymentRequirementHash"]},
        {"quoteHash": quote["paymentRequirementHash"], "paymentRequirementHash": quote["quoteHash"]},
        {"quoteHash": "0" * 64},
        {"quoteId": other["quoteId"]},
        {"quoteId": "quote_none"},
    ]
    before = sale.providers.asked
    answers = [said(sale.claim(quote, transaction, "k", **changed)) for changed in changes]
    assert sale.providers.asked == before or answers[0][0] == 201
    sale.claim(quote, transaction, "k")
    return answers + [said(sale.claim(quote, transaction, "k", **changed)) for changed in changes]


def test_both_hashes_have_to_be_right_on_every_path_and_nobody_is_asked_before(sale: Sale) -> None:
    """S5."""
    assert set(wrong_hashes(sale)) == {(402, "quote_mismatch")}


def test_the_seeded_bug_no_hash_is_caught(sale: Sale) -> None:
    with seeded({service._hashes_match: lambda asked, quote: True}):
        assert set(wrong_hashes(sale)) != {(402, "quote_mismatch")}


def told_with(sale: Sale, modes: tuple[str, str]) -> tuple[int, str]:
    """Returns the answer to a paid claim while two providers over HTTP are in these modes."""
    quote = sale.quote(new_payer())
    transaction = sale.pay(quote)
    with ExitStack() as stack:
        nodes = [stack.enter_context(Provider(sale.chain, mode)) for mode in modes]
        for node in nodes:
            node.lag = 6
            node.lie = _says_it_failed
        # short only where the time-out is waited for: on a busy machine an honest provider takes longer too
        timeout_s = 2.0 * slowness() if "timeout" in modes else HANG_S
        urls = [node.url for node in nodes]
        sale.service._providers = Providers(urls, timeout_s=timeout_s, all_calls_timeout_s=2 * timeout_s)
        found = said(sale.claim(quote, transaction))
        for node in nodes:
            node.mode = "honest"
        sale.service._providers = patient_providers([node.url for node in nodes])
        assert found == (201, "issued") or said(sale.claim(quote, transaction)) == (201, "issued")
    return found


def _says_it_failed(method: str, params: Any, truth: Any) -> Any:
    return truth | {"status": "0x0"} if method == "eth_getTransactionReceipt" and truth else truth


@pytest.mark.parametrize("mode", ["lying", *FAULTY])
def test_one_provider_in_trouble_makes_a_claim_wait_and_never_refuses_it(sale_here: Sale, mode: str) -> None:
    """S13, S14, L1, for either of the two providers; once it has recovered, the same claim is issued."""
    for modes in ((mode, "honest"), ("honest", mode)):
        status, code = told_with(sale_here, modes)
        assert status == 202
        assert code in ("rpc_unavailable", "rpc_disagree")


@pytest.mark.parametrize("mode", ["429", "garbage", "null", "other_chain", "wrong_types"])
def test_all_providers_in_trouble_make_a_claim_wait(sale_here: Sale, mode: str) -> None:
    status, code = told_with(sale_here, (mode, mode))
    assert status == 202
    assert code in ("rpc_unavailable", "unknown_tx")


def test_the_seeded_bug_err_is_402_is_caught(sale_here: Sale) -> None:
    with seeded(MATCHING_BUGS["err_is_402"], judging):
        quote = sale_here.quote(new_payer())
        sale_here.providers.modes = ["timeout", "honest"]
        assert said(sale_here.claim(quote, sale_here.pay(quote))) == (402, "payment_missing")


def test_the_twin_of_a_signature_gets_no_second_key(ledger_settings: Settings) -> None:
    """S18: anybody can derive a second valid signature from an ECDSA signature."""
    payer = Account.from_key("0x" + "11" * 32)
    with on_sale(ledger_settings, signature_above_usd=0) as sale:
        quote = sale.quote(payer.address)
        transaction = sale.pay(quote)
        signed = payer.sign_typed_data(full_message=claim_typed_data(quote["quoteHash"], 8453))
        low = signed.r.to_bytes(32) + signed.s.to_bytes(32) + bytes([signed.v])
        high = signed.r.to_bytes(32) + (ORDER - signed.s).to_bytes(32) + bytes([55 - signed.v])
        proofs = [{"integrity": {"type": "eip712", "signature": "0x" + each.hex()}} for each in (high, low)]
        assert said(sale.claim(quote, transaction, "k", **proofs[0])) == (201, "issued")
        for key, proof in (("k", proofs[1]), (None, proofs[1]), ("other", proofs[0])):
            assert sale.claim(quote, transaction, key, **proof).status_code == 409
        assert count(sale.ledger, "api_keys") == 1


def test_what_is_refused_or_pending_changes_nothing_but_the_record_of_money(sale: Sale) -> None:
    """S19."""
    quote = sale.quote(new_payer())
    paid = sale.pay(quote)
    tables = ("access_quotes", "access_claims", "access_receipts", "api_keys", "access_leases")
    short = sale.pay(quote, amount=due_of(quote).amount - 1)
    waiting = sale.send([paying(due_of(quote))], bury=1)

    def rows() -> list[Any]:
        with sale.ledger._readers.begin() as connection:
            return [connection.execute(text(f"select * from {table}")).all() for table in tables]

    before, head = rows(), sale.ledger.head()
    for transaction in (short, waiting, "0x" + "00" * 32, short):
        assert sale.claim(quote, transaction, "k").status_code in (402, 202)
        assert sale.claim({**quote, "quoteHash": "0" * 64}, transaction).status_code == 402
    assert rows() == before
    assert [each.kind for each in sale.ledger.changes_after(head, 100)] == ["unmatched_payment"]
    assert said(sale.claim(quote, paid, "k")) == (201, "issued")


def test_a_callback_is_kept_and_never_called(sale: Sale) -> None:
    """S22."""
    called: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            called.append(self.path)

        do_POST = do_HEAD = do_GET

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/hook"
        quote = sale.quote(new_payer(), callbackUrl=url)
        answer = sale.claim(quote, sale.pay(quote))
        assert answer.status_code == 201
        assert sale.ask("GET", f"/api/agent-access/claims/{answer.json()['data']['claim']['claimId']}").is_success
    finally:
        server.shutdown()
        server.server_close()
    assert quote["data"]["quote"]["callbackUrl"] == url
    assert called == []


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254/latest/meta-data/", "http://[::1]:9/", "https://10.0.0.1/x", "http://localhost/hook"],
)
def test_a_callback_to_a_private_address_is_kept_like_any_other(sale_here: Sale, url: str) -> None:
    assert sale_here.quote(new_payer(), callbackUrl=url)["data"]["quote"]["callbackUrl"] == url


def test_money_of_every_refused_kind_is_kept_for_the_operator(sale: Sale) -> None:
    """L5: money that reached us and pays nothing is listed once, with its code; money that did not reach us is not
    listed."""
    listed = {}
    for kind in MISMATCHING:
        quote = sale.quote(new_payer())
        transaction = sale.send(KINDS[kind].logs(due_of(quote)), KINDS[kind].status)
        refusal = sale.claim(quote, transaction)
        assert said(refusal) == (402, KINDS[kind].code)
        assert said(sale.claim(quote, transaction)) == (402, KINDS[kind].code)
        with sale.ledger.read() as reader:
            found = [each for each in cases_in(reader) if each.transaction_hash == transaction]
        assert ("don't pay again" in refusal.json()["detail"]) == bool(found)
        assert {each.code for each in found} <= {KINDS[kind].code}
        listed[kind] = len(found)
    assert {kind for kind, rows in listed.items() if rows} == {
        "wrongtoken",
        "spoof",
        "spoof_beside_dust",
        "short",
        "over",
        "dust",
        "whole_range",
        "split",
        "wrongpayer",
        "bounce",
        "bounce_less",
    }
    assert (listed["split"], listed["spoof"]) == (2, 2)


def test_quotes_for_a_payer_run_out_for_nobody_else_and_not_for_the_payer(sale_here: Sale) -> None:
    """L8: exhausting a payer's quotes only makes that payer sign."""
    payer = Account.from_key("0x" + "22" * 32)
    for _ in range(100):
        sale_here.quote(payer.address)
    full = sale_here.ask("POST", QUOTE, json={"payerAddress": payer.address})
    assert said(full) == (400, "payer_proof_required")
    sale_here.quote(STRANGER)
    message = full.json()["proof"]
    signature = payer.sign_typed_data(full_message=message).signature.to_0x_hex()
    proof = {"type": "eip712", "signature": signature, "issuedAt": message["message"]["issuedAt"]}
    quote = sale_here.quote(payer.address, "agent_runtime_activation", integrity=proof)
    assert said(sale_here.claim(quote, sale_here.pay(quote))) == (201, "issued")


def test_quotes_for_a_contract_do_not_run_out_either(sale_here: Sale) -> None:
    """L8: a payer without a private key proves itself by ERC-1271."""
    payer = new_payer()
    for _ in range(100):
        sale_here.quote(payer)
    body = {"payerAddress": payer, "planId": "agent_runtime_activation"}
    message = sale_here.ask("POST", QUOTE, json=body).json()["proof"]
    proof = {"type": "erc1271", "signature": "0x1234", "issuedAt": message["message"]["issuedAt"]}
    for stands_by, code in (
        ([False, False], (400, "payer_proof_required")),
        ([True, False], (503, "payer_contract_unsure")),
        ([True, None], (503, "payer_contract_unsure")),
    ):
        sale_here.providers.stands_by = stands_by
        assert said(sale_here.ask("POST", QUOTE, json=body | {"integrity": proof})) == code
    sale_here.providers.stands_by = [True, True]
    quote = sale_here.quote(payer, "agent_runtime_activation", integrity=proof)
    assert said(sale_here.claim(quote, sale_here.pay(quote))) == (201, "issued")
    sale_here.pass_time(301)
    assert said(sale_here.ask("POST", QUOTE, json=body | {"integrity": proof})) == (400, "payer_proof_required")


def test_no_answer_but_the_one_that_issues_holds_the_key(sale: Sale, caplog: pytest.LogCaptureFixture) -> None:
    """S16: neither the receipt, nor a refusal of a request that contains the key, nor a log line."""
    quote = sale.quote(new_payer())
    transaction = sale.pay(quote)
    key = api_key_of(sale.claim(quote, transaction, "k"))
    answers = [
        sale.claim(quote, transaction),
        sale.claim(quote, "0x" + "00" * 32, "k"),
        sale.claim(quote, transaction, quoteId=key),
        sale.claim(quote, transaction, key),
        sale.ask("GET", f"/api/agent-access/claims/{key}"),
        sale.ask("GET", f"/api/agent-access/plans?key={key}"),
        sale.ask("POST", CLAIM, content=key, headers={"Content-Type": "application/json"}),
        sale.ask("POST", CLAIM, json={"apiKey": key, key: 1}),
    ]
    for answer in answers:
        assert key not in answer.text
    assert key not in caplog.text
