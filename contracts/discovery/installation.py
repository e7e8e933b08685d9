"""What documents state of one installation: its address, its settings as far as they are public, its signing keys.

Nothing secret belongs here: whatever is here may be published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from contracts.access.rail import PaymentRail, network_of, rail_of
from contracts.access.signing import KeySet
from contracts.settings import PREFIX, Settings


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation. Addresses are lower case; what is None is switched off, but `keys`, which may be elsewhere."""

    base_url: str
    """Without a trailing slash; may have a path."""
    rail: PaymentRail = field(default_factory=lambda: rail_of(Settings(_env_file=None)))
    app_url: str | None = None
    contact_email: str | None = None
    token_address: str | None = None
    bidwall_address: str | None = None
    trust_registry_address: str | None = None
    escrow_address: str | None = None
    partner: bool = False
    marketplace: bool = False
    rate_limit_per_minute: int = 20
    demo: bool = False
    keys: KeySet | None = None
    configured: frozenset[str] = frozenset()
    """The names of the settings that are made (`SVC_TOKEN_ADDRESS`); of secret ones, too, only the name."""

    @property
    def network(self) -> str:
        """The chain as CAIP-2 writes it."""
        return network_of(self.rail.chain_id)

    @property
    def prefix(self) -> str:
        """The path of the base URL, without a trailing slash: empty at the root of a host."""
        return urlsplit(self.base_url).path

    def header_fields(self, fields: Mapping[str, str]) -> dict[str, str]:
        """Header fields of the registry, in whose values `{prefix}` and `{network}` stand for what holds here."""
        return {name: value.format(prefix=self.prefix, network=self.network) for name, value in fields.items()}

    def url(self, path: str) -> str:
        """The absolute address of a path, which begins with a slash."""
        return self.base_url + path


def installation_of(settings: Settings, keys: KeySet | None = None) -> Installation:
    """The installation that the settings describe."""
    return Installation(
        base_url=settings.public_base_url,
        rail=rail_of(settings),
        app_url=settings.app_url,
        contact_email=settings.contact_email,
        token_address=settings.token_address,
        bidwall_address=settings.bidwall_address,
        trust_registry_address=settings.trust_registry_address,
        escrow_address=settings.escrow_address,
        partner=settings.partner_url is not None,
        marketplace=settings.marketplace_url is not None,
        rate_limit_per_minute=settings.rate_limit_per_minute,
        demo=settings.demo,
        keys=keys,
        configured=frozenset(
            PREFIX + name.upper() for name in Settings.model_fields if getattr(settings, name) not in (None, "", ())
        ),
    )
