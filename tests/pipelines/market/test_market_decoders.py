"""Decoders of each source's answer, tried on recorded answers and on answers that no source should give."""

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_material import RecordedMaterial

from contracts.base import Quality
from contracts.market import Quote, Refusal, decimal_of, is_jump, usd_price
from pipelines.market.pools import Pool, quote_of
from pipelines.market.sources import coinbase, dexscreener, geckoterminal

AERO = "0x940181a94a35a4569e4529a3cdfb74e38fd98631"
WETH_BASE = "0x4200000000000000000000000000000000000006"
WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
USDT = "0xdac17f958d2ee523a2206206994597c13d831ec7"

Recorded = Callable[..., Any]


@pytest.fixture
def recorded(recorded_material: RecordedMaterial) -> Recorded:
    """Returns recorded bodies as the edge decodes them: numbers with a point are `Decimal`."""

    def body_of(name: str, key: str = "response") -> Any:
        body = json.dumps(recorded_material.json(f"upstream/{name}.json")[key])
        return msgspec.json.Decoder(float_hook=Decimal).decode(body.encode())

    return body_of


def test_dexscreener_quotes_the_base_token_of_a_recorded_pair(recorded: Recorded) -> None:
    quote = dexscreener.decode(recorded("dexscreener_pair_aero_base"), chain_id=8453, token=AERO)
    assert quote == Quote(
        Decimal("0.7207").quantize(Decimal("1e-24")),
        Quality.EXACT,
        mcap_usd=600319879.0,
        volume_24h_usd=565343.15,
        change_24h_percent=3.97,
        change_1h_percent=-1.25,
        buys_24h=680,
        sells_24h=3534,
        liquidity_usd=1017969.4,
        pool="0x3d5D143381916280ff91407FeBEB52f2b60f33Cf",
        pools=1,
    )


def test_dexscreener_turns_a_pair_round_where_the_token_is_the_quote(recorded: Recorded) -> None:
    quote = dexscreener.decode(recorded("dexscreener_pair_weth_usdc_2026-10-04"), chain_id=1, token=USDC)
    assert isinstance(quote, Quote)
    assert (decimal_of(quote.price_usd)[:10], quote.quality) == ("0.99999870", Quality.DERIVED)
    assert (quote.buys_24h, quote.sells_24h) == (6834, 6104)
    assert (quote.change_24h_percent, quote.change_1h_percent, quote.mcap_usd) == (None, None, None)
    assert quote.volume_24h_usd == 17174868.85


def test_geckoterminal_quotes_the_same_pool_and_not_quite_the_same_numbers(recorded: Recorded) -> None:
    answer = recorded("geckoterminal_pool_weth_usdc_2026-10-04")
    quote = geckoterminal.decode({"data": [answer["data"]]}, chain_id=1, token=WETH)
    theirs = dexscreener.decode(recorded("dexscreener_pair_weth_usdc_2026-10-04"), chain_id=1, token=WETH)
    assert isinstance(quote, Quote) and isinstance(theirs, Quote)
    assert (decimal_of(quote.price_usd), decimal_of(theirs.price_usd)) == ("2700.79", "2701.37")
    assert (quote.buys_24h, quote.sells_24h, theirs.sells_24h) == (6104, 6826, 6834)
    assert quote.mcap_usd == 5533831201.00416


def test_geckoterminal_gives_the_price_of_a_quote_token_itself(recorded: Recorded) -> None:
    answer = recorded("geckoterminal_token_pools", "example")
    quote = geckoterminal.decode(answer, chain_id=1, token=USDT)
    assert isinstance(quote, Quote)
    assert (decimal_of(quote.price_usd), quote.quality) == ("0.998449563724543", Quality.DERIVED)
    assert (quote.buys_24h, quote.sells_24h, quote.change_24h_percent) == (1217, 1062, None)
    assert quote.mcap_usd == 189288747230.058


def test_a_token_that_nobody_knows_is_no_price_of_zero(recorded: Recorded) -> None:
    assert dexscreener.decode(recorded("dexscreener_unknown_token"), chain_id=8453, token=AERO) == Refusal(
        "unknown_token"
    )
    pair = recorded("dexscreener_pair_aero_base")
    assert dexscreener.decode(pair, chain_id=1, token=AERO) == Refusal("unknown_token")
    assert dexscreener.decode(pair, chain_id=8453, token=USDT) == Refusal("unknown_token")
    assert geckoterminal.decode({"data": []}, chain_id=8453, token=AERO) == Refusal("unknown_token")


@pytest.mark.parametrize("answer", [None, [], "no", 5, {}, {"error": "oops"}, {"pairs": "x"}, {"data": {"a": 1}}])
def test_an_error_inside_an_answer_is_no_price(answer: Any) -> None:
    assert dexscreener.decode(answer, chain_id=8453, token=AERO) == Refusal("error_answer")
    assert geckoterminal.decode(answer, chain_id=8453, token=AERO) == Refusal("error_answer")
    assert isinstance(coinbase.decode(answer), Refusal)


BREAKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "null price": lambda pair: pair.update(priceUsd=None),
    "no price": lambda pair: pair.pop("priceUsd"),
    "zero": lambda pair: pair.update(priceUsd="0"),
    "negative": lambda pair: pair.update(priceUsd="-0.7"),
    "absurd": lambda pair: pair.update(priceUsd="1e30"),
    "not a number": lambda pair: pair.update(priceUsd="NaN"),
    "a list": lambda pair: pair.update(priceUsd=["0.7"]),
    "true": lambda pair: pair.update(priceUsd=True),
    "long": lambda pair: pair.update(priceUsd="1" * 5000),
}


@pytest.mark.parametrize("damage", BREAKS.values(), ids=BREAKS.keys())
def test_an_invalid_price_is_refused(recorded: Recorded, damage: Callable[[dict[str, Any]], Any]) -> None:
    answer = recorded("dexscreener_pair_aero_base")
    damage(answer["pairs"][0])
    assert dexscreener.decode(answer, chain_id=8453, token=AERO) == Refusal("no_price")


def test_other_invalid_values_are_left_out_and_the_price_stays(recorded: Recorded) -> None:
    answer = recorded("dexscreener_pair_aero_base")
    (pair,) = answer["pairs"]
    pair.update(volume={"h24": -5}, txns=None, marketCap="x", fdv=-1, liquidity=None, priceChange={"h24": -101})
    quote = dexscreener.decode(answer, chain_id=8453, token=AERO)
    assert isinstance(quote, Quote)
    assert decimal_of(quote.price_usd) == "0.7207"
    left_out = (quote.volume_24h_usd, quote.buys_24h, quote.mcap_usd, quote.change_24h_percent, quote.change_1h_percent)
    assert left_out == (None,) * 5
    assert (quote.quality, quote.reason) == (Quality.ESTIMATED, "thin_liquidity")


def pool(price: str, liquidity: float, trades: int, **changes: Any) -> Pool:
    values: dict[str, Any] = {
        "address": f"0x{price}",
        "price_usd": Decimal(price),
        "inverted": False,
        "liquidity_usd": liquidity,
        "volume_24h_usd": 10.0,
        "buys_24h": trades,
        "sells_24h": 0,
        "change_24h_percent": None,
        "change_1h_percent": None,
        "mcap_usd": None,
    }
    return Pool(**(values | changes))


def test_a_broken_pool_with_the_greatest_liquidity_sets_no_price() -> None:
    quote = quote_of([pool("500", 9e9, 0), pool("1.00", 50_000, 40), pool("1.02", 90_000, 30), pool("0.99", 2_000, 9)])
    assert isinstance(quote, Quote)
    assert (quote.price_usd, quote.pools, quote.volume_24h_usd, quote.buys_24h) == (Decimal("1.02"), 3, 30.0, 79)


def test_two_pools_that_disagree_are_decided_by_where_people_trade() -> None:
    quote = quote_of([pool("7", 1e9, 1), pool("1", 5_000, 50)])
    assert isinstance(quote, Quote)
    assert (quote.price_usd, quote.pools) == (Decimal(1), 1)


def test_volume_that_some_pools_do_not_say_is_summed_over_the_others() -> None:
    quote = quote_of([pool("1", 5_000, 5, volume_24h_usd=None), pool("1", 4_000, 5), pool("1", 1, 2, buys_24h=None)])
    assert isinstance(quote, Quote)
    assert (quote.volume_24h_usd, quote.buys_24h, quote.sells_24h) == (20.0, 10, 0)
    assert quote_of([]) == Refusal("no_price")


@given(
    st.lists(st.tuples(st.decimals("1e-18", "1e9", places=18), st.floats(0, 1e12), st.integers(0, 10**6)), min_size=1)
)
def test_the_price_is_that_of_one_sound_pool_among_any(listed: list[tuple[Decimal, float, int]]) -> None:
    quote = quote_of([pool(str(price), liquidity, trades) for price, liquidity, trades in listed if price > 0] or [])
    if isinstance(quote, Quote):
        assert quote.price_usd in {price for price, _, _ in listed}
        assert quote.pools is not None and 1 <= quote.pools <= len(listed)


def test_coinbase_says_ether_and_no_other_pair(recorded: Recorded) -> None:
    answer = recorded("coinbase_spot")
    assert coinbase.decode(answer) == Refusal("other_pair")
    ether = copy.deepcopy(answer)
    ether["data"] |= {"base": "ETH", "amount": "3012.345"}
    quote = coinbase.decode(ether)
    assert isinstance(quote, Quote) and decimal_of(quote.price_usd) == "3012.345"
    for amount in (None, "", "-1", "Infinity", {}):
        ether["data"]["amount"] = amount
        assert coinbase.decode(ether) == Refusal("no_price")


@pytest.mark.parametrize(
    ("price", "reference", "jumps"),
    [
        ("1", None, False),
        ("9.9", "1", False),
        ("10", "1", True),
        ("0.11", "1", False),
        ("0.1", "1", True),
        ("1000", "1", True),
    ],
)
def test_ten_times_the_last_sound_price_is_a_jump(price: str, reference: str | None, jumps: bool) -> None:
    assert is_jump(Decimal(price), None if reference is None else Decimal(reference)) is jumps


@given(st.decimals("1e-18", "1e9", places=20))
def test_a_price_keeps_its_digits(price: Decimal) -> None:
    found = usd_price(str(price))
    if found is not None:
        assert Decimal(decimal_of(found)) == price
        assert "E" not in decimal_of(found)


def test_the_last_trade_is_when_geckoterminal_observed() -> None:
    attributes = {"base_token_price_usd": "2", "reserve_in_usd": "5000", "last_trade_timestamp": "1779897791"}
    sides = {"base_token": {"data": {"id": f"base_{AERO}"}}, "quote_token": {"data": {"id": f"base_{WETH_BASE}"}}}
    answer = {"data": [{"attributes": attributes, "relationships": sides}]}
    quote = geckoterminal.decode(answer, chain_id=8453, token=AERO)
    assert isinstance(quote, Quote)
    assert quote.observed_at == datetime(2026, 5, 27, 16, 3, 11, tzinfo=UTC)
