"""Buyers, thieves, liars and accidents in any order, against a model of the answers that each of them must get.

Independent small steps issue next to nothing, so every rule is a whole scenario; what came of them is counted, and
rounds of scenarios run until every count has reached its floor: a machine that no longer reaches an outcome tests
nothing of it.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from typing import Any, ClassVar

import httpx
import pytest
from case_desk import offered_supplement, refund
from claim_payments import KINDS, MISMATCHING, STRANGER, TREASURY, paying
from claim_service import CONFIRMATIONS, Sale, api_key_of, due_of, new_payer, on_sale, said
from claim_store import count, unsound
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from rounds import ROUNDS
from seeds import seed_of_run

from contracts.access.matching import CLAIM_GRACE
from contracts.access.quotes import QUOTE_TTL
from warehouse.access.claims import LEASE_FOR, take_lease

PLANS = st.sampled_from(["agent_runtime_activation", "api_basic_monthly", "api_pro_monthly"])
SILENT = st.sampled_from(["timeout", "429", "garbage", "other_chain"])
PLACE = st.integers(0, 1)
TTL_S = int(QUOTE_TTL.total_seconds())
GRACE_S = int(CLAIM_GRACE.total_seconds())


class Buying(RuleBasedStateMachine):
    """One shop for all runs. Every scenario has its own buyers, but later scenarios meet what earlier ones left."""

    sale: Sale
    seen: Counter[tuple[int, str]]
    keys: set[str]
    surprises: list[str]
    """Answers that no scenario allows. The shop keeps the state that the first one left, so a replay may fail
    elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[tuple[dict[str, Any], str, str]] = []

    def expect(self, answer: httpx.Response, status: int, *codes: str) -> httpx.Response:
        found = said(answer)
        if found[0] != status or found[1] not in codes:
            self.surprises.append(f"{found} instead of {status} {codes}: {answer.text[:300]}")
            raise AssertionError(self.surprises[-1])
        self.seen[found] += 1
        if found == (201, "issued"):
            key = api_key_of(answer)
            assert key not in self.keys
            self.keys.add(key)
        elif status != 201:
            assert "svc_" not in answer.text
        return answer

    def issued(self, quote: dict[str, Any], transaction: str, key: str | None = None) -> httpx.Response:
        answer = self.expect(self.sale.claim(quote, transaction, key), 201, "issued")
        self.left.append((quote, transaction, api_key_of(answer)))
        return answer

    @rule(plan=PLANS, how=st.sampled_from(["honest", "amid_others", "double"]))
    def buys_and_claims_again_without_a_key(self, plan: str, how: str) -> None:
        quote = self.sale.quote(new_payer(), plan)
        transaction = self.sale.send(KINDS[how].logs(due_of(quote)))
        self.issued(quote, transaction)
        self.expect(self.sale.claim(quote, transaction), 409, "claim_exists")
        self.expect(self.sale.claim(quote, self.sale.pay(quote), "other"), 409, "claim_exists")

    @rule(plan=PLANS, hours=st.sampled_from([0, 23, 25]))
    def loses_the_answer_and_repeats_it(self, plan: str, hours: int) -> None:
        quote, key = self.sale.quote(new_payer(), plan), secrets.token_hex(8)
        transaction = self.sale.pay(quote)
        first = self.issued(quote, transaction, key)
        self.sale.pass_time(3600 * hours)
        if hours > 24:
            self.expect(self.sale.claim(quote, transaction, key), 409, "claim_exists")
            return
        again = self.expect(self.sale.claim(quote, transaction.upper().replace("X", "x"), key), 201, "replayed")
        assert api_key_of(again) == api_key_of(first)
        self.expect(self.sale.claim(quote, self.sale.pay(quote), key), 409, "idempotency_mismatch")
        other = self.sale.quote(due_of(quote).payer, plan)
        self.expect(self.sale.claim(other, transaction, key), 402, "amount_mismatch")

    @rule(kind=st.sampled_from(MISMATCHING), plan=PLANS, then_right=st.booleans())
    def pays_wrongly(self, kind: str, plan: str, then_right: bool) -> None:
        quote = self.sale.quote(new_payer(), plan)
        wrong = self.sale.send(KINDS[kind].logs(due_of(quote)), KINDS[kind].status)
        for _ in range(2):
            self.expect(self.sale.claim(quote, wrong, "k"), 402, KINDS[kind].code)
        if then_right:
            self.issued(quote, self.sale.pay(quote), "k")

    @rule(plan=PLANS, missing=st.integers(1, 4_000_000), closed=st.booleans())
    def pays_too_little_and_then_the_difference(self, plan: str, missing: int, closed: bool) -> None:
        quote = self.sale.quote(new_payer(), plan)
        short = self.sale.pay(quote, amount=due_of(quote).amount - missing)
        case_id = self.expect(self.sale.claim(quote, short), 402, "amount_mismatch").json()["caseId"]
        supplement = offered_supplement(self.sale, case_id)
        if closed:
            refund(self.sale, case_id)
            self.expect(self.sale.claim(supplement, self.sale.pay(supplement)), 402, "case_closed")
            return
        self.expect(self.sale.claim(supplement, short), 402, "amount_mismatch", "payment_before_quote")
        rest = self.sale.pay(supplement)
        self.issued(supplement, rest, "k")
        self.expect(self.sale.claim(supplement, rest, "k"), 201, "replayed")
        self.expect(self.sale.claim(quote, short), 409, "claim_exists")
        self.expect(self.sale.claim(self.sale.quote(due_of(quote).payer), rest), 402, "amount_mismatch")

    @rule(blocks=st.integers(0, CONFIRMATIONS - 1))
    def is_impatient(self, blocks: int) -> None:
        quote = self.sale.quote(new_payer())
        transaction = self.sale.send([paying(due_of(quote))], bury=blocks)
        code = "confirmations" if blocks else "unknown_tx"
        self.expect(self.sale.claim(quote, transaction), 202, code)
        self.expect(self.sale.claim(quote, transaction, "k"), 202, code)
        asked = self.sale.providers.asked
        self.expect(self.sale.claim(quote, transaction, remembered=True), 202, code)
        assert self.sale.providers.asked == asked
        self.sale.mine(CONFIRMATIONS)
        self.issued(quote, transaction)

    @rule(quotes_before=st.integers(1, 4), plan=PLANS)
    def is_robbed(self, quotes_before: int, plan: str) -> None:
        victim = new_payer()
        stolen = [self.sale.quote(victim, plan, operatorAddress=STRANGER) for _ in range(quotes_before)]
        quote = self.sale.quote(victim, plan)
        transaction = self.sale.pay(quote)
        for each in stolen:
            self.expect(self.sale.claim(each, transaction), 402, "amount_mismatch")
            swapped = {**each, "quoteId": quote["quoteId"]}
            self.expect(self.sale.claim(swapped, transaction), 402, "quote_mismatch")
            swapped = {**quote, "quoteId": each["quoteId"]}
            self.expect(self.sale.claim(swapped, transaction), 402, "quote_mismatch")
        self.issued(quote, transaction)

    @rule(count_of=st.integers(1, 4), shuffled=st.randoms())
    def pays_for_many_at_once(self, count_of: int, shuffled: Any) -> None:
        payer = new_payer()
        quotes = [self.sale.quote(payer) for _ in range(count_of + 1)]
        transaction = self.sale.send([paying(due_of(quote)) for quote in quotes[:-1]])
        order = quotes[:]
        shuffled.shuffle(order)
        for quote in order:
            if quote is quotes[-1]:
                self.expect(self.sale.claim(quote, transaction), 402, "amount_mismatch")
            else:
                self.issued(quote, transaction)

    @rule(copies=st.integers(1, 3))
    def has_quotes_of_one_amount(self, copies: int) -> None:
        """The amount of a claimed quote is free again; the transfer that paid it never pays the next one."""
        payer = new_payer()
        quote = self.sale.quote(payer)
        amount = due_of(quote).amount
        transaction = self.sale.send([paying(due_of(quote))] * copies)
        for _ in range(copies):
            self.issued(quote, transaction)
            quote = self.sale.quote_of_amount(payer, amount)
        self.expect(self.sale.claim(quote, transaction), 409, "transfer_already_used")
        self.issued(quote, self.sale.pay(quote))

    @rule(mode=SILENT, place=PLACE, both=st.booleans())
    def meets_providers_that_say_nothing(self, mode: str, place: int, both: bool) -> None:
        quote = self.sale.quote(new_payer())
        transaction = self.sale.pay(quote)
        self.sale.providers.modes = [mode if both or place == n else "honest" for n in range(2)]
        for key in (None, "k"):
            self.expect(self.sale.claim(quote, transaction, key), 202, "rpc_unavailable")
        self.sale.providers.modes = ["honest", "honest"]
        self.issued(quote, transaction)

    @rule(place=PLACE, shape=st.sampled_from(["amount", "recipient", "status", "block"]), paid=st.booleans())
    def meets_a_liar(self, place: int, shape: str, paid: bool) -> None:
        quote = self.sale.quote(new_payer())
        due = due_of(quote)
        transaction = self.sale.pay(quote, **({} if paid else {"pay_to": STRANGER}))

        def lie(method: str, params: Any, truth: Any) -> Any:
            if method != "eth_getTransactionReceipt" or truth is None:
                return truth
            log = truth["logs"][0]
            match shape:
                case "amount":
                    log["data"] = f"0x{due.amount + paid:064x}"
                    log["topics"][2] = paying(due).topics[2]
                case "recipient":
                    log["topics"][2] = paying(due, pay_to=STRANGER if paid else TREASURY).topics[2]
                case "status":
                    truth["status"] = "0x0"
                case "block":
                    truth["blockHash"] = log["blockHash"] = "0x" + "ff" * 32
            return truth

        self.sale.providers.lie = lie
        self.sale.providers.modes[place] = "lying"
        self.expect(self.sale.claim(quote, transaction), 202, "rpc_disagree", "not_canonical")
        self.sale.providers.modes[place] = "honest"
        if paid:
            self.issued(quote, transaction)
        else:
            self.expect(self.sale.claim(quote, transaction), 402, "recipient_mismatch")

    @rule(place=PLACE)
    def meets_a_provider_that_lags(self, place: int) -> None:
        quote = self.sale.quote(new_payer())
        transaction = self.sale.pay(quote)
        self.sale.providers.modes[place] = "lagging"
        self.expect(self.sale.claim(quote, transaction), 202, "rpc_disagree")
        self.sale.mine(5)
        self.expect(self.sale.claim(quote, transaction), 202, "confirmations", "rpc_disagree")
        self.sale.mine(6)
        self.sale.providers.modes[place] = "honest"
        self.issued(quote, transaction)

    @rule(back=st.booleans())
    def pays_on_a_branch_that_is_left(self, back: bool) -> None:
        quote = self.sale.quote(new_payer())
        transaction = self.sale.send([paying(due_of(quote))], bury=2)
        self.expect(self.sale.claim(quote, transaction), 202, "confirmations")
        self.sale.chain.reorg(2, drop=[transaction])
        self.expect(self.sale.claim(quote, transaction), 202, "unknown_tx")
        if back:
            self.sale.chain.mempool.append(transaction)
            self.sale.mine(CONFIRMATIONS)
            self.issued(quote, transaction)

    @rule(wait_s=st.sampled_from([TTL_S - 30, TTL_S + 1, TTL_S + 86_400, TTL_S + GRACE_S - 60, TTL_S + GRACE_S + 60]))
    def claims_later(self, wait_s: int) -> None:
        quote = self.sale.quote(new_payer())
        transaction = self.sale.pay(quote)
        self.sale.pass_time(wait_s)
        if wait_s > TTL_S + GRACE_S:
            self.expect(self.sale.claim(quote, transaction), 402, "claim_late")
        else:
            self.issued(quote, transaction)

    @rule(over_s=st.integers(2, 100_000))
    def pays_later(self, over_s: int) -> None:
        quote = self.sale.quote(new_payer())
        self.sale.pass_time(TTL_S + over_s)
        self.expect(self.sale.claim(quote, self.sale.pay(quote)), 402, "payment_late")

    @rule(before_s=st.integers(61, 10_000))
    def brings_an_old_payment(self, before_s: int) -> None:
        payer = new_payer()
        old = self.sale.quote(payer)
        transaction = self.sale.pay(old)
        self.sale.pass_time(before_s + 10)
        self.issued(old, transaction) if before_s % 2 else None
        if before_s % 2:
            quote = self.sale.quote_of_amount(payer, due_of(old).amount)
            self.expect(self.sale.claim(quote, transaction), 402, "payment_before_quote")
        else:
            self.expect(self.sale.claim(self.sale.quote(payer), transaction), 402, "amount_mismatch")

    @rule()
    def claims_while_another_does(self) -> None:
        quote = self.sale.quote(new_payer())
        transaction = self.sale.pay(quote)
        with self.sale.ledger.transaction() as tx:
            assert take_lease(tx, quote["quoteId"], "another", now=self.sale.now)
        self.expect(self.sale.claim(quote, transaction), 409, "claim_in_progress")
        self.sale.pass_time(LEASE_FOR.total_seconds())
        self.issued(quote, transaction)

    @rule(steals=st.booleans())
    def meets_what_was_left(self, steals: bool) -> None:
        if not self.left:
            return
        quote, transaction, key = self.left[len(self.left) // 2]
        if steals:
            self.expect(self.sale.claim(self.sale.quote(STRANGER), transaction), 402, "payer_mismatch", "claim_late")
        answer = self.expect(self.sale.claim(quote, transaction), 409, "claim_exists")
        receipt = self.sale.ask("GET", f"/api/agent-access/claims/{answer.json()['claimId']}")
        assert receipt.status_code == 200
        assert key not in receipt.text and quote["quoteHash"] not in receipt.text

    @invariant()
    def nothing_is_unsound(self) -> None:
        assert self.sale.providers.modes == ["honest", "honest"]
        assert count(self.sale.ledger, "access_claims") == count(self.sale.ledger, "api_keys") == len(self.keys)

    def teardown(self) -> None:
        self.sale.providers.modes = ["honest", "honest"]
        self.sale.pass_time(1)
        assert unsound(self.sale.ledger) == set()


FLOOR = 20 * ROUNDS
"""Fewest occurrences of each status in one run."""

EXAMPLES_A_ROUND = 4
MOST_ROUNDS = 20
"""A few rounds reach the floors; a machine that needs this many no longer reaches some outcome."""

CODES = {
    (201, "issued"),
    (201, "replayed"),
    *((202, code) for code in ("unknown_tx", "confirmations", "rpc_unavailable", "rpc_disagree")),
    *((402, KINDS[kind].code) for kind in MISMATCHING),
    *((402, code) for code in ("quote_mismatch", "payment_before_quote", "payment_late", "claim_late", "case_closed")),
    *((409, code) for code in ("claim_exists", "transfer_already_used", "claim_in_progress", "idempotency_mismatch")),
}
"""Every outcome that a claim can have, except those of the payer's proofs."""


def machine_of(sale: Sale) -> type[Buying]:
    return type("BuyingHere", (Buying,), {"sale": sale, "seen": Counter(), "keys": set(), "surprises": []})


@pytest.mark.both_engines
def test_every_scenario_meets_its_outcomes(ledger_settings: Any) -> None:
    with on_sale(ledger_settings) as sale:
        machine = machine_of(sale)
        buying = machine()
        plan = "api_basic_monthly"
        buying.buys_and_claims_again_without_a_key(plan, "amid_others")
        for hours in (0, 25):
            buying.loses_the_answer_and_repeats_it(plan, hours)
        for kind in MISMATCHING:
            buying.pays_wrongly(kind, plan, True)
        for closed in (True, False):
            buying.pays_too_little_and_then_the_difference(plan, 3_000_000, closed)
        for blocks in range(CONFIRMATIONS):
            buying.is_impatient(blocks)
        buying.is_robbed(2, plan)
        buying.pays_for_many_at_once(3, random.Random(1))
        buying.has_quotes_of_one_amount(2)
        for mode in ("timeout", "other_chain"):
            buying.meets_providers_that_say_nothing(mode, 1, False)
        for shape in ("amount", "recipient", "status", "block"):
            for paid in (True, False):
                buying.meets_a_liar(0, shape, paid)
        buying.meets_a_provider_that_lags(0)
        buying.pays_on_a_branch_that_is_left(True)
        for wait_s in (TTL_S + GRACE_S - 60, TTL_S + GRACE_S + 60):
            buying.claims_later(wait_s)
        buying.pays_later(2)
        for before_s in (61, 62):
            buying.brings_an_old_payment(before_s)
        buying.claims_while_another_does()
        buying.meets_what_was_left(True)
        buying.nothing_is_unsound()
        buying.teardown()
        assert set(machine.seen) == CODES


def by_status(seen: Counter[tuple[int, str]]) -> Counter[int]:
    counts: Counter[int] = Counter({201: 0, 202: 0, 402: 0, 409: 0})
    for (status, _), times in seen.items():
        counts[status] += times
    return counts


def run_until_floors_are_reached(machine: Any, first_seed: int) -> None:
    """Runs rounds of random scenarios, each with the next seed, until every status has occurred `FLOOR` times."""
    for number in range(first_seed, first_seed + MOST_ROUNDS):
        run_state_machine_as_test(
            seed(number)(machine),
            settings=settings(
                max_examples=EXAMPLES_A_ROUND,
                stateful_step_count=25,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
        if min(by_status(machine.seen).values()) >= FLOOR:
            return
    raise AssertionError(f"{MOST_ROUNDS} rounds from seed {first_seed} leave a status below {FLOOR}: {machine.seen}")


def test_whatever_buyers_thieves_and_liars_do_the_shop_stays_sound(ledger_settings: Any) -> None:
    with on_sale(ledger_settings) as sale:
        machine = machine_of(sale)
        try:
            run_until_floors_are_reached(machine, seed_of_run())
        finally:
            assert machine.surprises[:1] == []
    assert set(machine.seen) <= CODES


class OnlyIssues(RuleBasedStateMachine):
    """A shop that refuses nothing and never makes a client wait."""

    seen: ClassVar[Counter[tuple[int, str]]] = Counter()

    @rule()
    def issues(self) -> None:
        self.seen[201, "issued"] += 1


def test_a_state_machine_that_no_longer_reaches_an_outcome_is_noticed() -> None:
    with pytest.raises(
        AssertionError, match=rf"20 rounds from seed 7 leave a status below {FLOOR}: .*\(201, 'issued'\)"
    ):
        run_until_floors_are_reached(OnlyIssues, 7)
