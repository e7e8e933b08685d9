"""The declaration of a price source, from which requests, lineage, `svc doctor` and the order of trust are derived."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from contracts.market import Quote, Refusal
from contracts.settings import Settings
from pipelines.sources import Source
from warehouse.market.prices import Market, PoolPast

if TYPE_CHECKING:
    from pipelines.clients.rpc import RpcPool

Decoded = Quote | Refusal
Call = tuple[str, Sequence[Any]]


@dataclass(frozen=True)
class Block:
    """The block at which all calls of one reading are made."""

    number: int
    at: datetime

    def call(self, address: str | None, data: str) -> Call:
        """Returns an `eth_call` at this block."""
        return "eth_call", [{"to": address, "data": data}, hex(self.number)]


@dataclass(frozen=True)
class ChainReading:
    """The inputs of one reading of the chain. `past` and `eth_usd` are None if unknown."""

    chain: RpcPool
    block: Block
    settings: Settings
    eth_usd: Decimal | None
    past: PoolPast | None


@dataclass(frozen=True)
class OverHttp:
    """Queries by one GET: `path` is appended to the source's address, and `decode` reads the JSON of the answer."""

    path: Callable[[Settings], str]
    decode: Callable[[Any, Settings], Decoded]


@dataclass(frozen=True)
class OnChain:
    """Queries the chain's nodes, at their newest block."""

    read: Callable[[ChainReading], Awaitable[Decoded]]


@dataclass(frozen=True, kw_only=True)
class PriceSource(Source):
    """A source of one market. Among a market's sources, one with a lower `rank` takes precedence."""

    market: Market
    rank: int
    ask: OverHttp | OnChain
    description: str
