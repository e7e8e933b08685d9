"""Coinbase's answer to `/v2/prices/ETH-USD/spot`, decoded. Pure; the request is in `source.py`."""

from __future__ import annotations

from typing import Any

from contracts.market import Quote, Refusal, inner, usd_price

PATH = "/v2/prices/ETH-USD/spot"


def decode(answer: Any) -> Quote | Refusal:
    """The spot price. The answer bears no time of its own."""
    data = inner(answer, "data")
    if not isinstance(data, dict):
        return Refusal("error_answer")
    if (data.get("base"), data.get("currency")) != ("ETH", "USD"):
        return Refusal("other_pair")
    price = usd_price(data.get("amount"))
    return Refusal("no_price") if price is None else Quote(price)
