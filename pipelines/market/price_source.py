"""The row of a price source: asking, lineage, `svc doctor` and the order of belief follow from it."""

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
    """The block at which every call of one reading is made."""

    number: int
    at: datetime

    def call(self, address: str | None, data: str) -> Call:
        """An `eth_call` at this block."""
        return "eth_call", [{"to": address, "data": data}, hex(self.number)]


@dataclass(frozen=True)
class ChainReading:
    """The inputs of one reading of the chain. `past` and `eth_usd` are None where they are unknown."""

    chain: RpcPool
    block: Block
    settings: Settings
    eth_usd: Decimal | None
    past: PoolPast | None


@dataclass(frozen=True)
class OverHttp:
    """Asks by one GET: `path` is appended to the source's address, `decode` reads the JSON of the answer."""

    path: Callable[[Settings], str]
    decode: Callable[[Any, Settings], Decoded]


@dataclass(frozen=True)
class OnChain:
    """Asks the chain's nodes, at their newest block."""

    read: Callable[[ChainReading], Awaitable[Decoded]]


@dataclass(frozen=True, kw_only=True)
class PriceSource(Source):
    """A source of one market. Of a market's sources the one with the lowest `rank` is believed first."""

    market: Market
    rank: int
    ask: OverHttp | OnChain
    description: str
