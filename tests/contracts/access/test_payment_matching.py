"""The decision whether a transaction pays a quote: every case, every seeded bug, and real receipts of Base.

| row of the promises | held here by |
|---|---|
| S3 batches | `batch_second`, `batch_exhausted`, `test_a_batch_of_n_transfers_pays_n_quotes_and_never_one_more` |
| S6 the coin's own transfers | `wrongtoken`, `spoof`, `erc721`, `approval`, malformed logs, real receipts |
| S7 payer and recipient of the log | `wrongpayer`, `wrongto`, real receipts |
| S8 the amount exactly | `short`, `over`, `split`, real receipts |
| S9 what stays with us | `bounce`, `bounce_less`, `test_what_stays_with_us_covers_every_claim` |
| S10 status | `failed`, `status_missing`, `status_odd` |
| S11 canonical and buried | `mempool`, `one_confirmation`, `preconfirmed`, `off_the_chain`, `large_not_yet_final` |
| S13 chain | `all_of_another_chain`, `one_of_another_chain` |
| S14 agreement | `forged_payment`, `one_silent`, `second_...` |
| S15 the chain's time decides | `early`, `late`, `paid_in_time_claimed_after_expiry` |
| L1 unknown is not unpaid | every case of `UNKNOWN`, `err_is_402` |
| L5 money is named | `test_money_that_did_not_pay_is_reported_with_its_log` |
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from claim_cases import CASES, DUE, NOW, PAYER, TERMS, broken, judged, outcome, paid_chain, view_of
from claim_mutants import MATCHING_BUGS, seeded
from claim_payments import BRIDGED_USDC, KINDS, STRANGER, TREASURY, USDC, paying
from fake_providers import FakeChain
from hypothesis import given
from hypothesis import strategies as st
from recorded_material import RecordedMaterial

from contracts.access.matching import Agreed, Match, Mismatch, Terms, Unknown, judge, transfers_of
from contracts.access.provider_views import BlockView, View, read_block, read_receipt
from contracts.access.rail import Burial
from contracts.evm.codec import TRANSFER_TOPIC, quantity

UNKNOWN = ("unknown_tx", "confirmations", "not_canonical", "rpc_unavailable", "rpc_disagree")


@pytest.mark.parametrize("name", CASES)
def test_every_case_has_the_outcome_that_is_due(name: str) -> None:
    assert outcome(name) == CASES[name][0]


CAUGHT_BY = {
    "no_token": "wrongtoken",
    "no_from": "wrongpayer",
    "no_to": "wrongto",
    "no_amount": "short",
    "ge_amount": "over",
    "no_status": "failed",
    "no_canon": "off_the_chain",
    "no_conf": "one_confirmation",
    "no_chainid": "all_of_another_chain",
    "one_rpc": "forged_payment",
    "no_agreement": "forged_payment",
    "no_early": "early",
    "no_expiry": "late",
    "no_net": "bounce",
    "err_is_402": "both_silent",
}


@pytest.mark.parametrize("bug", MATCHING_BUGS)
def test_every_seeded_bug_of_the_judgement_is_caught(bug: str) -> None:
    assert broken() == set()
    with seeded(MATCHING_BUGS[bug]):
        assert CAUGHT_BY[bug] in broken()
    assert broken() == set()


def test_an_unknown_result_is_never_a_mismatch_and_a_mismatch_always_has_its_block() -> None:
    for due, case in CASES.values():
        verdict = case()
        assert isinstance(verdict, Unknown) == (due in UNKNOWN)
        if isinstance(verdict, Mismatch):
            assert verdict.block is not None


def test_money_that_did_not_pay_is_reported_with_its_log() -> None:
    found = {
        name: [(each.position, each.asset, each.sender, each.amount) for each in verdict.found]
        for name, (_, case) in CASES.items()
        if isinstance(verdict := case(), Mismatch) and verdict.found
    }
    amount = DUE.amount
    wanted = {
        "short": [(0, USDC, PAYER, amount - 1)],
        "over": [(0, USDC, PAYER, amount + 1)],
        "split": [(0, USDC, PAYER, amount // 2), (1, USDC, PAYER, amount - amount // 2)],
        "wrongpayer": [(0, USDC, STRANGER, amount)],
        "wrongtoken": [(0, BRIDGED_USDC, PAYER, amount)],
        "late": [(0, USDC, PAYER, amount)],
        "early": [(0, USDC, PAYER, amount)],
        "claimed_after_the_grace": [(0, USDC, PAYER, amount)],
        "bounce": [(0, USDC, PAYER, amount)],
    }
    assert {name: found.get(name) for name in wanted} == wanted
    assert not found.keys() & {"failed", "status_missing", "used", "batch_exhausted", "wrongto", "nothing"}


def test_a_batch_of_n_transfers_pays_n_quotes_and_never_one_more() -> None:
    chain, transaction = paid_chain([paying(DUE, payer=STRANGER), *[paying(DUE)] * 4, paying(DUE, amount=1)])
    views = [view_of(chain, transaction), view_of(chain, transaction, "two")]
    used: list[int] = []
    for _ in range(4):
        verdict = judged(views, used=used)
        assert isinstance(verdict, Match)
        used.append(verdict.transfer.position)
    assert used == [1, 2, 3, 4]
    expected = judged(views)
    assert isinstance(expected, Match)
    assert judged(views, used=used) == Mismatch("transfer_already_used", block=expected.block)


@given(
    came=st.lists(st.integers(0, 3), max_size=6),
    went=st.lists(st.integers(0, 2 * DUE.amount), max_size=3),
)
def test_what_stays_with_us_covers_every_claim(came: list[int], went: list[int]) -> None:
    """Claims use their transfers one after another; together they never use more than what stayed."""
    logs = [paying(DUE, amount=DUE.amount + 1 - (each > 0)) for each in came]
    logs += [paying(DUE, payer=TREASURY, pay_to=PAYER, amount=each) for each in went]
    chain, transaction = paid_chain(logs)
    views = [view_of(chain, transaction), view_of(chain, transaction, "two")]
    used: list[int] = []
    while isinstance(verdict := judged(views, used=used), Match):
        used.append(verdict.transfer.position)
    stays = sum(DUE.amount + 1 - (each > 0) for each in came) - sum(went)
    assert len(used) == len(set(used)) <= sum(each > 0 for each in came)
    assert len(used) * DUE.amount <= max(stays, 0)


@given(st.integers(0, 2**256 - 1))
def test_every_amount_but_the_quotes_own_is_a_mismatch(amount: int) -> None:
    chain, transaction = paid_chain([paying(DUE, amount=amount)])
    verdict = judged([view_of(chain, transaction), view_of(chain, transaction, "two")])
    assert isinstance(verdict, Match) == (amount == DUE.amount)


@given(st.binary(max_size=80), st.lists(st.sampled_from([TRANSFER_TOPIC, "0x" + "00" * 32, "0x" + "9a" * 32])))
def test_logs_of_any_form_are_read_or_passed_over(data: bytes, topics: list[str]) -> None:
    chain, transaction = paid_chain([replace(paying(DUE), topics=tuple(topics[:4]), data="0x" + data.hex())])
    verdict = judged([view_of(chain, transaction), view_of(chain, transaction, "two")])
    assert isinstance(verdict, Mismatch)


def test_a_removed_log_pays_nothing() -> None:
    chain, transaction = paid_chain([paying(DUE)])
    view = view_of(chain, transaction)
    assert view.receipt is not None
    removed = replace(view.receipt, logs=(replace(view.receipt.logs[0], removed=True),))
    assert judged([replace(view, receipt=removed, provider=name) for name in ("one", "two")]) == Mismatch(
        "payment_missing", block=view.block
    )


def test_a_reorg_makes_a_buried_payment_unknown_until_it_is_buried_again() -> None:
    chain, transaction = paid_chain([paying(DUE)])

    def now() -> str:
        verdict = judged([view_of(chain, transaction), view_of(chain, transaction, "two")])
        return "issued" if isinstance(verdict, Match) else verdict.code

    assert now() == "issued"
    before = chain.block_of(transaction)
    chain.reorg(4, drop=[transaction])
    assert now() == "unknown_tx"
    chain.mempool.append(transaction)
    chain.mine()
    assert now() == "confirmations"
    chain.mine(2)
    assert now() == "issued"
    assert chain.block_of(transaction) != before


def test_providers_on_two_sides_of_a_reorg_disagree() -> None:
    chain, transaction = paid_chain([paying(DUE)])
    other = FakeChain(blocks=list(chain.blocks), sent=chain.sent, time_s=chain.time_s)
    other.reorg(4)
    views = [view_of(chain, transaction), view_of(other, transaction, "two")]
    assert judged(views) == Unknown("rpc_disagree", judged(views).detail)  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def recorded_receipts(recorded_material: RecordedMaterial) -> list[tuple[View, dict]]:
    """Returns each recorded receipt of Base whose block is recorded too, as an agreed view and as it was sent."""
    rows = recorded_material.json_lines("data/base-recorded/base_blocks.jsonl.gz")
    blocks = {row["block"]["hash"]: row["block"] for row in rows}
    found = []
    for row in recorded_material.json_lines("data/base-recorded/base_receipts.jsonl.gz"):
        receipt = read_receipt(row["receipt"], row["receipt"]["transactionHash"])
        block = read_block(blocks.get(row["receipt"]["blockHash"]))
        if receipt is not None and block is not None:
            head = BlockView(block.number + 100, "0x" + "11" * 32, block.time_s + 200)
            found.append((View("one", 8453, receipt, block, head, block.number, block.number), row["receipt"]))
    return found


def coins_of(receipt: dict) -> list[tuple[str, str, int]]:
    """Returns (sender, recipient, amount) of each USDC transfer, parsed independently of the code under test."""
    return [
        ("0x" + log["topics"][1][-40:], "0x" + log["topics"][2][-40:], int(log["data"], 16))
        for log in receipt["logs"]
        if log["address"].lower() == USDC and log["topics"][0] == TRANSFER_TOPIC
    ]


def asked_for(view: View, sender: str, recipient: str, amount: int) -> Terms:
    """Returns the terms of a quote that was open at the time of the view's block."""
    assert view.block is not None
    issued_at = datetime.fromtimestamp(view.block.time_s, UTC) - timedelta(minutes=1)
    return Terms(8453, USDC, sender, recipient, amount, issued_at, issued_at + timedelta(hours=1), Burial(5, "safe"), 1)


def test_real_receipts_pay_the_quotes_that_they_fit_and_no_others(recorded_receipts: list[tuple[View, dict]]) -> None:
    """S6, S7, S8 on real receipts of Base: with one address or unit changed, nothing is paid."""
    paid = refused = 0
    for view, sent in recorded_receipts:
        coins = coins_of(sent)
        came: dict[str, int] = {}
        for sender, recipient, amount in coins:
            came[recipient] = came.get(recipient, 0) + amount
            came[sender] = came.get(sender, 0) - amount
        now = datetime.fromtimestamp(view.head.time_s, UTC) if view.head else NOW
        for sender, recipient, amount in set(coins):
            terms = asked_for(view, sender, recipient, amount)
            verdict = judged([view], terms, now)
            if came[recipient] >= amount:
                assert isinstance(verdict, Match), sent["transactionHash"]
                assert coins_of({"logs": [sent["logs"][verdict.transfer.position]]}) == [(sender, recipient, amount)]
                paid += 1
            else:
                assert isinstance(verdict, Mismatch), sent["transactionHash"]
                assert verdict.code == "payment_returned"
            others = {(a, b, v) for a, b, v in coins}
            for changed in (
                replace(terms, amount=amount + 1),
                replace(terms, amount=amount - 1),
                replace(terms, payer=STRANGER),
                replace(terms, pay_to=STRANGER),
                replace(terms, asset=BRIDGED_USDC),
            ):
                if (changed.payer, changed.pay_to, changed.amount) not in others or changed.asset != USDC:
                    assert isinstance(judged([view], changed, now), Mismatch)
                    refused += 1
    assert paid >= 40
    assert refused >= 200


def test_tokens_of_all_kinds_in_real_receipts_are_told_from_transfers(
    recorded_receipts: list[tuple[View, dict]],
) -> None:
    """Every log that is parsed is an ERC-20 transfer with one word of data; ERC-721 logs of the same topic are not."""
    read = erc721 = 0
    for view, sent in recorded_receipts:
        assert view.receipt is not None
        positions = {each.position for each in transfers_of(view.receipt)}
        for position, log in enumerate(sent["logs"]):
            is_transfer = log["topics"][:1] == [TRANSFER_TOPIC]
            erc20 = is_transfer and len(log["topics"]) == 3 and len(log["data"]) == 66
            erc721 += is_transfer and len(log["topics"]) == 4
            assert (position in positions) == erc20
            read += erc20
    assert read > 1_000
    assert erc721 > 0


def test_a_real_failed_transaction_pays_nothing(recorded_material: RecordedMaterial) -> None:
    for row in recorded_material.json_lines("data/base-recorded/ethereum_failed_receipts.jsonl.gz"):
        receipt = read_receipt(row["receipt"], row["receipt"]["transactionHash"])
        assert receipt is not None
        block = BlockView(receipt.block_number, receipt.block_hash, int(NOW.timestamp()))
        assert judge(TERMS, Agreed(receipt, block, receipt.block_number + 9), now=NOW) == Mismatch(
            "tx_failed", block=block
        )


@pytest.mark.parametrize("answer", [[], "0x", 7, {}, True, {"status": "0x1"}, {"logs": []}])
def test_an_answer_that_is_no_receipt_is_not_believed(answer: object) -> None:
    with pytest.raises(ValueError):
        read_receipt(answer, "0x" + "ab" * 32)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("transactionHash", "0x" + "00" * 32),
        ("transactionHash", None),
        ("logs", None),
        ("logs", "none"),
        ("logs", [7]),
        ("logs", [{}]),
        ("blockNumber", 7),
        ("blockNumber", "7"),
        ("blockNumber", "0x" + "f" * 65),
        ("blockHash", "0x12"),
        ("blockHash", "0x" + "00" * 32),
        ("status", 1),
        ("status", True),
    ],
)
def test_a_receipt_with_one_odd_field_is_not_believed(field: str, value: object) -> None:
    chain, transaction = paid_chain([paying(DUE)])
    answer = chain.receipt(transaction)
    assert answer is not None
    with pytest.raises(ValueError):
        read_receipt({**answer, field: value}, transaction)


@pytest.mark.parametrize("field", ["address", "topics", "data", "transactionHash", "blockHash", "removed"])
@pytest.mark.parametrize("value", [None, 7, "0x0", "0xzz", [None], "true"])
def test_a_receipt_with_one_odd_log_is_not_believed(field: str, value: object) -> None:
    chain, transaction = paid_chain([paying(DUE), paying(DUE)])
    answer = chain.receipt(transaction)
    assert answer is not None
    answer["logs"][1][field] = value
    with pytest.raises(ValueError):
        read_receipt(answer, transaction)


def test_a_receipt_without_a_block_is_one_of_the_mempool() -> None:
    chain, transaction = paid_chain([paying(DUE)])
    answer = chain.receipt(transaction)
    assert answer is not None
    assert read_receipt({**answer, "blockHash": None}, transaction) is None
    assert read_receipt({**answer, "blockNumber": None}, transaction) is None
    assert read_receipt(None, transaction) is None


def test_upper_case_hex_of_a_node_is_the_same_receipt() -> None:
    chain, transaction = paid_chain([paying(DUE)])

    def loud(value: Any) -> Any:
        match value:
            case str():
                return value.upper().replace("0X", "0x")
            case list():
                return [loud(each) for each in value]
            case dict():
                return {name: loud(each) for name, each in value.items()}
        return value

    assert read_receipt(loud(chain.receipt(transaction)), transaction) == view_of(chain, transaction).receipt


def test_every_kind_of_payment_is_among_the_cases() -> None:
    assert set(KINDS) <= set(CASES)
    assert quantity("0x2105") == TERMS.chain_id
