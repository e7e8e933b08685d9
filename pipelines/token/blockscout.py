"""Reads Blockscout's holder count as a second opinion. A fault of Blockscout gives a value with a reason, never an
error."""

import asyncio
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from contracts.base import Quality
from pipelines.clients.http_json import Feeds
from pipelines.sources import Source
from warehouse.duck.fetch_log import Attempt

BLOCKSCOUT = Source(name="blockscout", needs=("blockscout_url", "token_address"))

Count = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,15}$")] | Annotated[int, msgspec.Meta(ge=0, lt=10**15)]


class TokenCounters(msgspec.Struct, frozen=True):
    """The fields of `/api/v2/tokens/{address}/counters` that are read."""

    token_holders_count: Count


class TokenInfo(msgspec.Struct, frozen=True):
    """The fields of `/api/v2/tokens/{address}` that are read."""

    holders_count: Count


@dataclass(frozen=True)
class HolderCounts:
    """Blockscout's running counter, and the number in its token information; they often differ.

    `reason` is set if both are missing, to a code of `pipelines.clients.http_json`.
    """

    source: str
    counters_holders: int | None
    token_holders: int | None
    reason: str | None


async def fetch_blockscout(feeds: Feeds, base_url: str, token_address: str) -> tuple[HolderCounts, Attempt]:
    """Queries the Blockscout instance at `base_url` for a token's holder counts; returns them and the attempt."""
    address = f"{base_url}/api/v2/tokens/{token_address}"
    counters, token = await asyncio.gather(
        feeds.get(f"{address}/counters", TokenCounters), feeds.get(address, TokenInfo)
    )
    counts = HolderCounts(
        urlsplit(base_url).netloc,
        None if counters.value is None else int(counters.value.token_holders_count),
        None if token.value is None else int(token.value.holders_count),
        counters.reason if token.value is None else None,
    )
    better = token if counters.value is None else counters
    return counts, better.attempt(BLOCKSCOUT.name, quality=Quality.ESTIMATED)
