"""Describes one installation: its address, the public part of its settings, its signing keys.

Nothing secret belongs here: all of it may be published.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from contracts.access.rail import PaymentRail, network_of, rail_of
from contracts.access.signing import KeySet
from contracts.settings import PREFIX, Settings


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation. Addresses are lower case.

    None means switched off, except for `keys`, which may be on another host.
    """

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
    issues_trials: bool = True
    demo: bool = False
    keys: KeySet | None = None
    configured: frozenset[str] = frozenset()
    """Names of the settings that are set (`SVC_TOKEN_ADDRESS`), even for secret ones. 0 counts as unset."""

    @property
    def network(self) -> str:
        """Returns the chain in CAIP-2 form."""
        return network_of(self.rail.chain_id)

    @property
    def prefix(self) -> str:
        """Returns the path of the base URL, without a trailing slash: empty at the root of a host."""
        return urlsplit(self.base_url).path

    def header_fields(self, fields: Mapping[str, str]) -> dict[str, str]:
        """Fills `{prefix}` and `{network}` in the registry's header fields with the values of this installation."""
        return {name: value.format(prefix=self.prefix, network=self.network) for name, value in fields.items()}

    def url(self, path: str) -> str:
        """Returns the absolute address of a path, which begins with a slash."""
        return self.base_url + path


def installation_of(settings: Settings, keys: KeySet | None = None) -> Installation:
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
        issues_trials=settings.trial_keys_per_day > 0,
        demo=settings.demo,
        keys=keys,
        configured=frozenset(
            PREFIX + name.upper() for name in Settings.model_fields if getattr(settings, name) not in (None, "", (), 0)
        ),
    )
