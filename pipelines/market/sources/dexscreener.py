"""DexScreener's pairs of the token (`/latest/dex/tokens/{token}`)."""

from typing import Any

from contracts.market import HIGHEST_USD, LOWEST_USD, Quote, Refusal, inner, number, usd_price
from contracts.settings import Settings
from pipelines.market.pools import Pool, as_float, quote_of
from pipelines.market.price_source import Decoded, OverHttp, PriceSource

CHAINS = {1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 8453: "base", 42161: "arbitrum"}
"""Chain id -> DexScreener's name."""


def decode(answer: Any, *, chain_id: int, token: str) -> Quote | Refusal:
    """Reads the quote in an answer; skips pairs of other chains and tokens. `token` is lower-case hex."""
    if not isinstance(answer, dict) or "pairs" not in answer:
        return Refusal("error_answer")
    pairs = answer["pairs"]
    if pairs is not None and not isinstance(pairs, list):
        return Refusal("error_answer")
    ours = [pair for pair in pairs or [] if inner(pair, "chainId") == CHAINS.get(chain_id) and _side(pair, token)]
    if not ours:
        return Refusal("unknown_token")
    return quote_of([pool for pair in ours if (pool := _pool(pair, token)) is not None])


def _side(pair: Any, token: str) -> str | None:
    for side in ("base", "quote"):
        address = inner(pair, f"{side}Token", "address")
        if isinstance(address, str) and address.lower() == token:
            return side
    return None


def _pool(pair: dict[str, Any], token: str) -> Pool | None:
    """Reads a pair from the token's side; None if it has no usable price."""
    inverted = _side(pair, token) == "quote"
    price = usd_price(pair.get("priceUsd"))
    if inverted and price is not None:
        # priceUsd is the base token's, and priceNative the price of one base token in the quote token, which is ours.
        in_ours = number(pair.get("priceNative"), LOWEST_USD, HIGHEST_USD / LOWEST_USD)
        price = None if in_ours is None else usd_price(price / in_ours)
    if price is None:
        return None
    buys, sells = (number(inner(pair, "txns", "h24", side), 0, 1e9) for side in ("buys", "sells"))
    if inverted:
        buys, sells = sells, buys
    worth = number(pair.get("marketCap"), 0, 1e15) or number(pair.get("fdv"), 0, 1e15)
    return Pool(
        address=pair.get("pairAddress") if isinstance(pair.get("pairAddress"), str) else None,
        price_usd=price,
        inverted=inverted,
        liquidity_usd=float(number(inner(pair, "liquidity", "usd"), 0, 1e13) or 0),
        volume_24h_usd=as_float(number(inner(pair, "volume", "h24"), 0, 1e13)),
        buys_24h=None if buys is None else int(buys),
        sells_24h=None if sells is None else int(sells),
        change_24h_percent=None if inverted else as_float(number(inner(pair, "priceChange", "h24"), -100, 1e6)),
        change_1h_percent=None if inverted else as_float(number(inner(pair, "priceChange", "h1"), -100, 1e6)),
        mcap_usd=None if inverted else as_float(worth),
    )


def _decode(answer: Any, settings: Settings) -> Decoded:
    return decode(answer, chain_id=settings.chain_id, token=settings.token_address or "")


SOURCE = PriceSource(
    name="dexscreener",
    market="token",
    rank=1,
    needs=("dexscreener_url", "token_address"),
    networks=CHAINS,
    ask=OverHttp(lambda settings: f"/latest/dex/tokens/{settings.token_address}", _decode),
    description="DexScreener at SVC_DEXSCREENER_URL: pairs of the token with price, volume and trades.",
)
