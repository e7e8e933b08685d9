"""Chainlink's ETH/USD feed on the chain, trusted while the sequencer's uptime feed is sound."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from contracts.evm.codec import selector
from contracts.market import Quote, Refusal, usd_price
from contracts.pools import read_words
from pipelines.market.price_source import ChainReading, Decoded, OnChain, PriceSource

LATEST_ROUND = selector("latestRoundData()")
DECIMALS = selector("decimals()")

HEARTBEAT_S = 1200 + 60
"""The longest time between updates: on Base the feed writes every 1,200 s, plus a while until the transaction is
included."""

GRACE_S = 3600
"""Seconds after a sequencer's return for which prices are not trusted, since nobody could act while it was down."""

_CLOCK_SKEW_S = 120
_INT256 = 1 << 256
_DECIMALS_LIMIT = 36


@dataclass(frozen=True)
class Round:
    """The result of `latestRoundData()`: the answer in the feed's own decimals, times in Unix seconds."""

    answer: int
    started_s: int
    updated_s: int


def read_round(result: object) -> Round | None:
    """Reads the five words of an `eth_call` result; None if the result is something else."""
    words = read_words(result, 5)
    if words is None:
        return None
    _, answer, started_s, updated_s, _ = words
    return Round(answer - _INT256 if answer >> 255 else answer, started_s, updated_s)


def decode(
    latest: object, decimals: object, sequencer: object, *, has_sequencer: bool, block: int, now: datetime
) -> Quote | Refusal:
    """Reads the price from `eth_call` results. `sequencer` is the uptime feed's round, if there is such a feed."""
    if has_sequencer and (refusal := _sequencer(read_round(sequencer), now)) is not None:
        return refusal
    feed, places = read_round(latest), read_words(decimals, 1)
    if feed is None or places is None or places[0] > _DECIMALS_LIMIT:
        return Refusal("no_feed")
    if feed.answer <= 0:
        return Refusal("no_price")
    age_s = now.timestamp() - feed.updated_s
    if feed.updated_s == 0 or age_s < -_CLOCK_SKEW_S:
        return Refusal("unfinished_round")
    if age_s > HEARTBEAT_S:
        return Refusal("heartbeat_missed")
    price = usd_price(Decimal(feed.answer).scaleb(-places[0]))
    if price is None:
        return Refusal("no_price")
    return Quote(price, observed_at=datetime.fromtimestamp(feed.updated_s, UTC), block=block)


def _sequencer(status: Round | None, now: datetime) -> Refusal | None:
    if status is None or status.started_s == 0:
        return Refusal("sequencer_unknown")
    if status.answer != 0:
        return Refusal("sequencer_down")
    if now.timestamp() - status.started_s < GRACE_S:
        return Refusal("sequencer_grace_period")
    return None


async def _read(reading: ChainReading) -> Decoded:
    settings, block = reading.settings, reading.block
    feed, sequencer = settings.chainlink_feed_address, settings.sequencer_feed_address
    calls = [block.call(feed, LATEST_ROUND), block.call(feed, DECIMALS)]
    if sequencer:
        calls.append(block.call(sequencer, LATEST_ROUND))
    latest, decimals, *status = await reading.chain.batch(calls)
    return decode(
        latest,
        decimals,
        status[0] if status else None,
        has_sequencer=sequencer is not None,
        block=block.number,
        now=datetime.now(UTC),
    )


SOURCE = PriceSource(
    name="chainlink",
    market="eth",
    rank=1,
    needs=("chainlink_feed_address", "rpc_urls"),
    ask=OnChain(_read),
    description="Chainlink's feed at SVC_CHAINLINK_FEED_ADDRESS: ETH in USD.",
)
