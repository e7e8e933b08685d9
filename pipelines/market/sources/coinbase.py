"""Coinbase's spot price of ETH in USD."""

from typing import Any

from contracts.market import Quote, Refusal, inner, usd_price
from pipelines.market.price_source import OverHttp, PriceSource


def decode(answer: Any) -> Quote | Refusal:
    """Reads the spot price. The answer contains no time."""
    data = inner(answer, "data")
    if not isinstance(data, dict):
        return Refusal("error_answer")
    if (data.get("base"), data.get("currency")) != ("ETH", "USD"):
        return Refusal("other_pair")
    price = usd_price(data.get("amount"))
    return Refusal("no_price") if price is None else Quote(price)


SOURCE = PriceSource(
    name="coinbase",
    market="eth",
    rank=2,
    needs=("coinbase_url",),
    ask=OverHttp(lambda _: "/v2/prices/ETH-USD/spot", lambda answer, _: decode(answer)),
    description="Coinbase at SVC_COINBASE_URL: the spot price of ETH in USD.",
)
