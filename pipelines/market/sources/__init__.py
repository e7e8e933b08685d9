"""The price sources: each module here declares one as `SOURCE`. No other list names them."""

from importlib import import_module
from pkgutil import iter_modules

from contracts.settings import Settings
from pipelines.market.price_source import PriceSource
from warehouse.market.prices import Market

PRICE_SOURCES: tuple[PriceSource, ...] = tuple(
    sorted(
        (import_module(f"{__name__}.{module.name}").SOURCE for module in iter_modules(__path__)),
        key=lambda source: (source.market, source.rank),
    )
)
"""The sources of each market, in order of belief."""


def configured_sources(market: Market, settings: Settings) -> tuple[PriceSource, ...]:
    """Returns the configured sources of a market, in order of belief."""
    return tuple(source for source in PRICE_SOURCES if source.market == market and source.is_configured(settings))
