"""GeckoTerminal's pools of the token (`/networks/{network}/tokens/{token}/pools`). All of its numbers are strings."""

from datetime import UTC, datetime
from typing import Any

from contracts.market import Quote, Refusal, inner, number, usd_price
from contracts.settings import Settings
from pipelines.market.pools import Pool, as_float, quote_of
from pipelines.market.price_source import Decoded, OverHttp, PriceSource

NETWORKS = {1: "eth", 10: "optimism", 56: "bsc", 137: "polygon_pos", 8453: "base", 42161: "arbitrum"}
"""Chain id -> GeckoTerminal's name."""


def decode(answer: Any, *, chain_id: int, token: str) -> Quote | Refusal:
    """Reads the quote in an answer; skips pools of other networks and tokens. `token` is lower-case hex."""
    listed = inner(answer, "data")
    if not isinstance(listed, list):
        return Refusal("error_answer")
    name = f"{NETWORKS.get(chain_id)}_{token}"
    ours = [pool for pool in listed if _side(pool, name)]
    if not ours:
        return Refusal("unknown_token")
    return quote_of([sound for pool in ours if (sound := _pool(pool, name)) is not None])


def _side(pool: Any, name: str) -> str | None:
    for side in ("base", "quote"):
        token_id = inner(pool, "relationships", f"{side}_token", "data", "id")
        if isinstance(token_id, str) and token_id.lower() == name:
            return side
    return None


def _pool(pool: Any, name: str) -> Pool | None:
    """Reads a pool from the token's side; None if it has no usable price."""
    side = _side(pool, name)
    facts = inner(pool, "attributes")
    price = usd_price(inner(facts, f"{side}_token_price_usd"))
    if price is None:
        return None
    inverted = side == "quote"
    buys, sells = (number(inner(facts, "transactions", "h24", way), 0, 1e9) for way in ("buys", "sells"))
    if inverted:
        buys, sells = sells, buys
    # The capitalisation is the requested token's if its price is given too, else the base token's.
    worth = number(inner(facts, "market_cap_usd"), 0, 1e15) or number(inner(facts, "fdv_usd"), 0, 1e15)
    traded_at = number(inner(facts, "last_trade_timestamp"), 1e9, 1e10)
    address = inner(facts, "address")
    return Pool(
        address=address if isinstance(address, str) else None,
        price_usd=price,
        inverted=inverted,
        liquidity_usd=float(number(inner(facts, "reserve_in_usd"), 0, 1e13) or 0),
        volume_24h_usd=as_float(number(inner(facts, "volume_usd", "h24"), 0, 1e13)),
        buys_24h=None if buys is None else int(buys),
        sells_24h=None if sells is None else int(sells),
        change_24h_percent=None
        if inverted
        else as_float(number(inner(facts, "price_change_percentage", "h24"), -100, 1e6)),
        change_1h_percent=None
        if inverted
        else as_float(number(inner(facts, "price_change_percentage", "h1"), -100, 1e6)),
        mcap_usd=as_float(worth) if not inverted or inner(facts, "token_price_usd") is not None else None,
        observed_at=None if traded_at is None else datetime.fromtimestamp(int(traded_at), UTC),
    )


def _path(settings: Settings) -> str:
    return f"/networks/{NETWORKS[settings.chain_id]}/tokens/{settings.token_address}/pools"


def _decode(answer: Any, settings: Settings) -> Decoded:
    return decode(answer, chain_id=settings.chain_id, token=settings.token_address or "")


SOURCE = PriceSource(
    name="geckoterminal",
    market="token",
    rank=2,
    needs=("geckoterminal_url", "token_address"),
    networks=NETWORKS,
    ask=OverHttp(_path, _decode),
    description="GeckoTerminal at SVC_GECKOTERMINAL_URL: pools of the token.",
)
