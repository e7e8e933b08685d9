"""Quotes while the configured coin is known to have other decimals than USDC, or while nobody knows its decimals."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_desk import ALICE, ask_supplement, read_case
from claim_service import QUOTE, Sale, due_of, new_payer, on_sale, said
from patience import HANG_S

from api.access.coin import ASKED_AGAIN_AFTER_S
from api.access.watcher import Watcher
from contracts.settings import Settings


@pytest.fixture
def sale(tmp_path: Path) -> Iterator[Sale]:
    with on_sale(Settings(_env_file=None, data_dir=tmp_path)) as opened:
        yield opened


def quoted(sale: Sale) -> tuple[int, str]:
    return said(sale.ask("POST", QUOTE, json={"payerAddress": new_payer()}))


def claimable(sale: Sale) -> set[tuple[bool, str | None]]:
    catalog = sale.ask("GET", "/api/agent-access/plans").json()
    assert catalog["payment"]["live"] is (catalog["next"]["quote"] is not None)
    return {(plan["claimable"], plan["reason"]) for plan in catalog["plans"]}


def test_no_quote_is_signed_while_the_coin_has_other_decimals(sale: Sale) -> None:
    sale.chain.decimals = 18
    refused = sale.ask("POST", QUOTE, json={"payerAddress": new_payer()})
    assert said(refused) == (400, "plan_not_claimable")
    assert refused.json()["detail"] == (
        "The coin that the operator has set has 18 decimals, and USDC has 6: no amount would be right."
    )
    assert claimable(sale) == {(False, "coin_decimals_differ")}


def test_the_coin_is_checked_before_anybody_asks_for_a_quote(sale: Sale) -> None:
    sale.chain.decimals = 18
    watcher = Watcher(
        sale.service.rail,
        sale.providers,
        lambda: sale.ledger,
        look_at_coin=sale.service.coin.look,
    )

    async def watched() -> None:
        watching = asyncio.ensure_future(watcher.run())
        while sale.service.coin.problem is None:
            await asyncio.sleep(0.01)
        watching.cancel()

    asyncio.run(asyncio.wait_for(watched(), HANG_S))
    assert claimable(sale) == {(False, "coin_decimals_differ")}


def test_quotes_resume_some_seconds_after_the_coin_is_correct(sale: Sale) -> None:
    sale.chain.decimals = 18
    assert quoted(sale) == (400, "plan_not_claimable")
    sale.chain.decimals = 6
    assert quoted(sale) == (400, "plan_not_claimable"), "asked again only after a while"
    sale.monotonic_s += ASKED_AGAIN_AFTER_S
    quoted(sale)
    assert quoted(sale) == (201, "issued")
    assert claimable(sale) == {(True, None)}


def test_the_decimals_of_a_correct_coin_are_requested_once(sale: Sale) -> None:
    asked = []
    for _ in range(3):
        assert quoted(sale) == (201, "issued")
        sale.monotonic_s += ASKED_AGAIN_AFTER_S
        asked.append(sale.providers.asked_of_coin)
    assert asked == [1, 1, 1]


@pytest.mark.parametrize(
    "modes",
    [["silent", "silent"], ["honest", "silent"], ["honest", "other_chain"], ["honest", "lying"]],
    ids=["nobody answers", "too few answer", "another chain", "they disagree"],
)
def test_a_coin_about_which_nothing_is_known_is_quoted(sale: Sale, modes: list[str]) -> None:
    sale.chain.decimals = 18
    sale.providers.modes = modes
    sale.providers.lie = lambda method, params, truth: f"0x{6:064x}" if method == "eth_call" else truth
    assert quoted(sale) == (201, "issued")


def test_the_known_facts_about_the_coin_survive_silent_providers(sale: Sale) -> None:
    sale.chain.decimals = 18
    quoted(sale)
    sale.providers.modes = ["silent", "silent"]
    for _ in range(3):
        sale.monotonic_s += ASKED_AGAIN_AFTER_S
        assert quoted(sale) == (400, "plan_not_claimable")


def test_no_difference_is_quoted_in_a_coin_of_other_decimals(sale: Sale) -> None:
    sale.chain.decimals = 18
    first = sale.quote_of_amount(ALICE.address.lower(), 9_000_123)
    case_id = sale.claim(first, sale.pay(first, amount=due_of(first).amount - 2_000_000)).json()["caseId"]
    assert said(ask_supplement(sale, case_id)) == (503, "payments_not_configured")
    assert read_case(sale, case_id).status_code == 200
