"""S25, L11: kills, lost replies and RPC faults at every step of a signed payment; the relayer's nonces and gas."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from claim_cases import view_of
from claim_store import count, unsound
from coin_chain import MODES, Killed, Steps
from patience import HANG_S
from rounds import ROUNDS
from seeds import seed_of_run
from settling_rounds import RELAYER, Paying, paying, rounds_of
from signing_wallets import CHECK, LIVE, header, offered, settled

from contracts.access.authorizations import Presented, read_presented
from contracts.access.provider_views import read_block
from contracts.access.watching import Sighting
from contracts.settings import Settings
from warehouse.access.watch import Outcome, apply_sightings, payments_to_watch


@pytest.fixture
def service(ledger_settings: Settings) -> Iterator[Paying]:
    with paying(ledger_settings) as made:
        yield made


@pytest.mark.both_engines
def test_whatever_fails_at_whatever_step_nobody_is_charged_twice_or_without_an_answer(
    ledger_settings: Settings,
) -> None:
    """Every fifth step by default, every step in a soak."""
    modes = [(mode, path) for mode in MODES for path in (CHECK, LIVE)]
    rounds = rounds_of(ledger_settings, modes, every=max(1, 6 - ROUNDS), seed=seed_of_run())
    assert rounds.wrong == []
    assert rounds.outcomes["bought"] >= 20
    assert rounds.kills >= 4


def charged(service: Paying, payload: dict[str, Any]) -> int:
    """Returns the amount that the treasury has received from the payer of a payload."""
    payer = payload["payload"]["authorization"]["from"].lower()
    return 10**9 - service.chain.coins[payer]


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def reason_of(answer: httpx.Response) -> str:
    said = settled(answer)
    assert (said["success"], said["transaction"]) == (False, "")
    return str(said["errorReason"])


def held_back(service: Paying, **changed: Any) -> dict[str, Any]:
    """Returns a payment that was sent and is in no block yet, on a service whose requests wait only for a moment."""
    service.start(wait_s=0.05)
    service.chain.holding = True
    payload = service.signed(**changed)
    waiting = service.ask(payload)
    assert waiting.status_code == 202
    while not service.chain.waiting:
        service.drive()
    return payload


def answered(service: Paying, payload: dict[str, Any]) -> httpx.Response:
    """Repeats a payment while it is under way and returns the final answer."""
    ends = time.monotonic() + HANG_S
    while (answer := service.ask(payload)).status_code == 202 and time.monotonic() < ends:
        pass
    return answer


def test_a_payment_that_no_block_takes_is_a_202_with_a_link_and_then_answered(service: Paying) -> None:
    payload = held_back(service)
    waiting = service.ask(payload)
    told = waiting.json()
    assert code_of(waiting) == (202, "settlement_pending")
    assert (waiting.headers["retry-after"], waiting.headers["location"]) == ("5", told["links"]["payment"])
    status = service.run(service.client.get(told["links"]["payment"])).json()
    assert (status["status"], status["transactionHash"], status["amountUnits"]) == ("pending", None, "2000")
    service.chain.holding = False
    service.chain.run_waiting()
    answer = answered(service, payload)
    assert answer.status_code == 200
    status = service.run(service.client.get(told["links"]["payment"])).json()
    assert (status["status"], status["transactionHash"]) == ("settled", settled(answer)["transaction"])
    assert status["claimId"] in status["links"]["receipt"]
    assert charged(service, payload) == 2_000


def test_a_payment_of_another_request_is_refused_at_once_and_nothing_more_is_taken(service: Paying) -> None:
    payload = service.signed()
    first = service.ask(payload)
    asked = [
        service.ask(payload, body={"action": "pwd"}),
        service.ask(payload, path=LIVE),
        service.run(service.client.post(CHECK + "?x=1", json={"action": "ls"}, headers=header(payload))),
    ]
    assert [code_of(answer) for answer in asked] == [(409, "payment_used")] * 3
    assert all("payments/pay_" in answer.json()["links"]["payment"] for answer in asked)
    assert service.ask(payload).text == first.text
    assert charged(service, payload) == 2_000


def test_the_answer_is_kept_for_a_day_and_then_the_receipt_is_named(service: Paying) -> None:
    payload = service.signed()
    first = service.ask(payload)
    service.pass_time(24 * 3600 - 60)
    again = service.ask(payload)
    assert (again.text, again.headers["idempotent-replayed"]) == (first.text, "true")
    service.pass_time(120)
    gone = service.ask(payload)
    assert code_of(gone) == (409, "payment_answered")
    assert "/claims/claim_" in gone.json()["links"]["receipt"]
    assert charged(service, payload) == 2_000


def test_no_payment_is_taken_if_the_answer_would_be_a_refusal(service: Paying) -> None:
    payload = service.signed()
    refused = service.ask(payload, body={"deed": "ls"})
    assert refused.status_code == 400
    assert charged(service, payload) == 0
    assert service.ask(payload).status_code == 200, "the same authorization pays a request that can be answered"


def test_a_payer_without_balance_at_settlement_is_told_so_and_the_same_signature_never_pays(service: Paying) -> None:
    payload = held_back(service)
    payer = payload["payload"]["authorization"]["from"].lower()
    service.chain.coins[payer] = 0
    service.chain.run_waiting()
    failed = answered(service, payload)
    assert code_of(failed) == (402, "payment_failed")
    assert reason_of(failed) == "invalid_exact_evm_insufficient_balance"
    assert offered(failed)["accepts"]
    service.chain.coins[payer] = 10**9
    again = answered(service, payload)
    assert (code_of(again), reason_of(again)) == (code_of(failed), reason_of(failed))
    service.pass_time(90)
    service.drive()
    assert charged(service, payload) == 0


def test_an_authorization_that_is_cancelled_in_between_takes_nothing(service: Paying) -> None:
    payload = held_back(service)
    said = payload["payload"]["authorization"]
    service.chain.cancel(said["from"].lower(), said["nonce"])
    service.chain.run_waiting()
    failed = answered(service, payload)
    assert (code_of(failed), reason_of(failed)) == ((402, "payment_failed"), "authorization_canceled")
    assert charged(service, payload) == 0


def test_an_authorization_that_somebody_else_sends_first_is_still_answered(service: Paying) -> None:
    payload = held_back(service)
    (ours,) = service.chain.waiting.values()
    theirs = service.chain.settle_by_other(ours.data)
    service.chain.run_waiting()
    answer = answered(service, payload)
    assert answer.status_code == 200
    assert settled(answer)["transaction"] == theirs
    assert charged(service, payload) == 2_000


def test_an_authorization_that_ends_before_a_block_takes_it_is_given_up_and_takes_nothing(service: Paying) -> None:
    payload = held_back(service)
    service.pass_time(80)
    failed = answered(service, payload)
    assert reason_of(failed) == "invalid_exact_evm_payload_authorization_valid_before"
    service.chain.holding = False
    service.chain.run_waiting()
    assert charged(service, payload) == 0
    assert answered(service, service.signed()).status_code == 200, "its nonce blocks nobody else"


def test_a_transaction_that_hangs_is_replaced_with_a_higher_fee(service: Paying) -> None:
    payload = held_back(service)
    (first,) = service.chain.waiting.values()
    service.pass_time(13)
    service.drive()
    (second,) = service.chain.waiting.values()
    assert (second.nonce, second.hash) == (first.nonce, second.hash)
    assert second.fee >= first.fee * 1.1
    service.chain.run_waiting()
    assert answered(service, payload).status_code == 200
    assert charged(service, payload) == 2_000


def test_a_nonce_that_somebody_else_used_is_replaced_by_the_next_one(service: Paying) -> None:
    payload = held_back(service)
    service.chain.waiting.clear()
    service.chain.nonces[RELAYER.address.lower()] += 1
    service.chain.holding = False
    service.pass_time(31)
    answer = answered(service, payload)
    assert answer.status_code == 200
    assert charged(service, payload) == 2_000


def test_missing_nonces_are_filled_so_that_none_waits_for_ever(service: Paying) -> None:
    """Models a chain that continues from an older state, and a ledger restored from an older backup."""
    relayer = RELAYER.address.lower()
    service.chain.nonces[relayer] = 3
    payload = held_back(service)
    service.chain.nonces[relayer] = 1
    service.chain.run_waiting()
    assert service.chain.waiting, "it waits behind the gap"
    service.chain.holding = False
    service.drive()
    assert answered(service, payload).status_code == 200
    assert service.chain.nonces[relayer] == 4


def test_a_relayer_without_gas_is_a_503_with_a_reason_and_nothing_is_stored(service: Paying) -> None:
    payload = service.signed()
    service.chain.gas[RELAYER.address.lower()] = 1
    refused = service.ask(payload)
    assert code_of(refused) == (503, "settlement_unavailable")
    assert "relayer_out_of_gas" in refused.json()["detail"]
    assert refused.headers["retry-after"]
    assert code_of(service.ask()) == (401, "unauthorized"), "nothing is offered meanwhile"
    service.chain.gas[RELAYER.address.lower()] = 10**21
    assert service.ask(payload).status_code == 200
    assert charged(service, payload) == 2_000


def test_a_relayer_that_runs_dry_after_a_payment_is_stored_sends_it_when_it_has_gas_again(service: Paying) -> None:
    payload = service.signed()
    service.start(Steps("killed after", 4))
    with pytest.raises(Killed):
        service.ask(payload)
    assert count(service.ledger, "access_authorizations") == 1
    service.start(wait_s=0.05)
    service.pass_time(16)
    service.chain.gas[RELAYER.address.lower()] = 1
    assert service.ask(payload).status_code == 202
    service.chain.gas[RELAYER.address.lower()] = 10**21
    assert answered(service, payload).status_code == 200
    assert charged(service, payload) == 2_000


def cancels(service: Paying, payload: dict[str, Any]) -> None:
    said = payload["payload"]["authorization"]
    service.chain.cancel(said["from"].lower(), said["nonce"])


def sends_itself(service: Paying, payload: dict[str, Any]) -> None:
    presented = read_presented(header(payload)["PAYMENT-SIGNATURE"], service.settlements.rail)
    assert isinstance(presented, Presented)
    service.chain.settle_by_other(presented.authorization.call)


def spends(service: Paying, payload: dict[str, Any]) -> None:
    service.chain.coins[payload["payload"]["authorization"]["from"].lower()] = 1_999


def is_blocked(service: Paying, payload: dict[str, Any]) -> None:
    service.chain.blocked.add(payload["payload"]["authorization"]["from"].lower())


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (cancels, "nonce_already_used"),
        (sends_itself, "nonce_already_used"),
        (spends, "insufficient_balance"),
        (is_blocked, "transaction_simulation_failed"),
    ],
)
def test_a_payment_that_the_chain_would_refuse_is_refused_before_anything_is_stored(
    service: Paying, before: Callable[[Paying, dict[str, Any]], None], code: str
) -> None:
    payload = service.signed()
    before(service, payload)
    held = charged(service, payload)
    refused = service.ask(payload)
    assert code_of(refused) == (402, "payment_refused")
    assert refused.json()["errors"][0]["detail"] == f"invalid_exact_evm_{code}"
    assert offered(refused)["accepts"]
    assert count(service.ledger, "access_authorizations") == 0
    assert charged(service, payload) == held


def test_a_payer_cannot_spend_the_same_coins_in_two_payments_at_once(service: Paying) -> None:
    wallet = service.wallet(3_000)
    first, second = service.signed(wallet), service.signed(wallet)
    service.start(wait_s=0.05)
    service.chain.holding = True
    assert service.ask(first).status_code == 202
    refused = service.ask(second)
    assert code_of(refused) == (402, "payment_refused")
    assert refused.json()["errors"][0]["detail"] == "invalid_exact_evm_insufficient_balance"


def test_two_processes_that_settle_the_same_payment_take_it_once_and_give_one_answer(service: Paying) -> None:
    other = service.another()
    for _ in range(3 * ROUNDS):
        payload = service.signed()

        async def at_once(payload: Any = payload) -> list[httpx.Response]:
            sent = {"json": {"action": "ls"}, "headers": header(payload)}
            return await asyncio.gather(*(each.post(CHECK, **sent) for each in (service.client, other) * 2))

        answers = service.run(at_once())
        answers = [service.ask(payload) if answer.status_code == 202 else answer for answer in answers]
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.text for answer in answers}) == 1
        assert charged(service, payload) == 2_000
    assert unsound(service.ledger) == set()


def test_simultaneous_payments_get_consecutive_nonces(service: Paying) -> None:
    payloads = [service.signed() for _ in range(8)]

    async def at_once() -> list[httpx.Response]:
        posts = (service.client.post(CHECK, json={"action": "ls"}, headers=header(payload)) for payload in payloads)
        return await asyncio.gather(*posts)

    answers = service.run(at_once())
    answers = [service.ask(p) if a.status_code == 202 else a for a, p in zip(answers, payloads, strict=True)]
    assert [answer.status_code for answer in answers] == [200] * 8
    assert service.chain.nonces[RELAYER.address.lower()] == 8


def test_a_reorganised_payment_suspends_the_key_is_sent_again_and_reinstates_it(service: Paying) -> None:
    payload = service.signed(path=LIVE)
    bought = service.ask(payload, path=LIVE)
    assert bought.status_code == 201
    transaction = settled(bought)["transaction"]
    said = payload["payload"]["authorization"]
    service.chain.reorg(1, drop=[transaction])
    service.chain.nonces[RELAYER.address.lower()] -= 1
    service.chain.spent.clear()
    service.chain.coins[said["from"].lower()] = 10**9
    service.pass_time(10)
    assert watched(service) == ["reversed"]
    link = bought.json()["data"]["claim"]["claimId"]
    states = [
        service.ledger_value("select state from access_claims"),
        service.ledger_value("select state from api_keys"),
    ]
    assert states == ["reversed", "suspended"], link
    service.drive()
    assert watched(service) == ["reinstated"]
    states = [
        service.ledger_value("select state from access_claims"),
        service.ledger_value("select state from api_keys"),
    ]
    assert states == ["issued", "active"]
    assert charged(service, payload) == 5_000_000


def watched(service: Paying) -> list[Outcome]:
    """Checks every payment of a claim once, as the watcher does, and returns the outcomes."""
    outcomes = []
    for each in payments_to_watch(service.ledger, service.settlements.rail):
        payment = each.payment
        held = read_block(service.chain.answer("eth_getBlockByNumber", [hex(payment.block_number), False]))
        seen = [Sighting(view_of(service.chain, payment.transaction_hash, name), held) for name in "ab"]
        outcomes.append(apply_sightings(service.ledger, each, seen, now=service.now))
    return outcomes


@pytest.mark.parametrize("what", ["asset domain", "decimals", "silence", "another chain"])
def test_nothing_is_offered_or_taken_while_the_rail_does_not_work(service: Paying, what: str) -> None:
    payload = service.signed()
    if what == "asset domain":
        service.chain.domain = "0x" + "12" * 32
    elif what == "decimals":
        service.chain.decimals = 18
    elif what == "another chain":
        service.chain.chain_id = 1
    else:
        service.chain.mute = True
    service.start()
    assert code_of(service.ask()) == (401, "unauthorized")
    assert "payment-required" not in service.ask().headers
    refused = service.ask(payload)
    assert code_of(refused) == (503, "settlement_unavailable")
    assert charged(service, payload) == 0
    assert count(service.ledger, "access_authorizations") == 0


def test_without_a_relayer_a_payment_is_not_checked(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with paying(settings) as able:
        payload = able.signed()
    with paying(settings, relayer_key_file=None) as service:
        assert [code_of(service.ask()), code_of(service.ask(payload))] == [(401, "unauthorized")] * 2


@pytest.mark.parametrize("key", ["Bearer svc_free_wrong", "Basic YTpi", "Bearer", ""])
def test_a_wrong_key_is_401_whatever_is_paid(service: Paying, key: str) -> None:
    payload = service.signed()
    answers = [
        service.ask(headers={"Authorization": key}),
        service.ask(headers={"Authorization": key} | header(payload)),
        service.ask(headers={"X-Api-Key": key} | header(payload)),
    ]
    assert [code_of(answer) for answer in answers] == [(401, "unauthorized")] * 3
    assert charged(service, payload) == 0


def test_silence_while_the_chain_is_asked_what_became_of_a_payment_is_never_a_refusal(service: Paying) -> None:
    for step in range(10):
        service.start()
        payload = held_back(service)
        (ours,) = service.chain.waiting.values()
        service.chain.settle_by_other(ours.data)
        service.chain.run_waiting()
        service.chain.holding = False
        service.start(Steps("silent", step), wait_s=0.01)
        assert service.ask(payload).status_code in (200, 202), step
        service.start()
        assert service.ask(payload).status_code == 200
        assert charged(service, payload) == 2_000
