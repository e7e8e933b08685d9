"""The price sources: each module here declares one as `SOURCE`. There is no other list of them."""

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
"""The sources of each market, most trusted first."""


def configured_sources(market: Market, settings: Settings) -> tuple[PriceSource, ...]:
    """Returns the configured sources of a market, most trusted first."""
    return tuple(source for source in PRICE_SOURCES if source.market == market and source.is_configured(settings))
