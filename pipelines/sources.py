"""A source outside this service: its name, the settings that turn it on, and how often it is queried."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.settings import PREFIX, Settings
from warehouse.duck.connection import Connection
from warehouse.duck.fetch_log import may_ask


@dataclass(frozen=True, kw_only=True)
class Source:
    """One source, named by the same short name everywhere.

    `needs` are fields of `Settings` that must all be set; the first one contains the source's address. `networks` maps
    the chain ids that the source supports to its names for them; None if the chain makes no difference.
    """

    name: str
    needs: tuple[str, ...]
    every: timedelta = timedelta(minutes=1)
    networks: Mapping[int, str] | None = None

    @property
    def setting(self) -> str:
        """The name of the setting that contains the source's address."""
        return f"{PREFIX}{self.needs[0].upper()}"

    def is_configured(self, settings: Settings) -> bool:
        """Returns True if the settings turn the source on."""
        known = self.networks is None or settings.chain_id in self.networks
        return known and all(getattr(settings, name) for name in self.needs)

    def is_due(self, connection: Connection, settings: Settings, now: datetime) -> bool:
        """Returns True if the source is configured and may be queried now."""
        return self.is_configured(settings) and may_ask(connection, self.name, now, every=self.every)
