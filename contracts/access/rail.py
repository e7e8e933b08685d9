"""Describes the payment rail: the chain, the coin, the recipient, and the depth at which a payment is settled."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from contracts.settings import Settings

USDC_DECIMALS = 6
ASSET_SYMBOL = "USDC"
ASSET_NAME = "USD Coin"
ASSET_VERSION = "2"
"""Name and version of the coin's EIP-712 domain."""

FINALIZED_FROM = 1_000 * 10**USDC_DECIMALS
"""From this amount (smallest units), only the chain's own finality settles a payment."""

BlockTag = Literal["safe", "finalized"]


@dataclass(frozen=True, slots=True)
class Burial:
    """The depth of a settled block: `confirmations` blocks up to the head, including itself, or at or below `tag`."""

    confirmations: int | None
    tag: BlockTag


@dataclass(frozen=True, slots=True)
class PaymentRail:
    """Chain and coin. `treasury` and `asset` are lower-case addresses; amounts are in smallest units.

    `providers` is the number of RPC providers that are queried about a payment. Nothing can be sold with a `missing`
    setting.
    sold.
    """

    chain_id: int
    asset: str
    treasury: str
    providers: int
    confirmations: int | None
    proof_above: int | None
    """Above this amount a claim needs the payer's signature."""
    missing: tuple[str, ...]
    """Unset settings without which nobody can pay."""
    relays: bool = False
    """True if this service has a key for sending signed payments."""

    @property
    def network(self) -> str:
        """Returns the chain as a CAIP-2 id."""
        return network_of(self.chain_id)

    @property
    def quorum(self) -> int:
        """Returns the number of providers that must agree on a payment."""
        return min(2, self.providers)

    @property
    def takes_signatures(self) -> bool:
        """Decides whether the settings allow payments by signature (x402)."""
        return self.relays and not self.missing

    def burial_of(self, amount: int) -> Burial:
        """Returns the depth that a payment of `amount` needs."""
        if amount >= FINALIZED_FROM:
            return Burial(None, "finalized")
        return Burial(self.confirmations, "safe")

    def needs_proof(self, amount: int) -> bool:
        """Decides whether a claim of `amount` needs the payer's signature."""
        return self.proof_above is not None and amount > self.proof_above


def rail_of(settings: Settings) -> PaymentRail:
    """Returns the rail that the settings describe."""
    needed = {
        "SVC_USDC_ADDRESS": settings.usdc_address,
        "SVC_TREASURY_ADDRESS": settings.treasury_address,
        "SVC_RPC_URLS": settings.rpc_urls,
    }
    above = settings.signature_above_usd
    confirmations = settings.claim_confirmations
    return PaymentRail(
        chain_id=settings.chain_id,
        asset=settings.usdc_address or "",
        treasury=settings.treasury_address or "",
        providers=len(set(settings.rpc_urls)),
        confirmations=settings.confirmations if confirmations is None else confirmations,
        proof_above=None if above is None else above * 10**USDC_DECIMALS,
        missing=tuple(name for name, value in needed.items() if not value),
        relays=settings.relayer_key_file is not None,
    )


def network_of(chain_id: int) -> str:
    """Returns a chain id as a CAIP-2 id."""
    return f"eip155:{chain_id}"


def units_of(usd: str) -> int:
    """Converts US dollars as text to the coin's smallest unit. Raises `ValueError` if that is not a whole number."""
    units = Decimal(usd) * 10**USDC_DECIMALS
    if units != units.to_integral_value():
        raise ValueError(f"{usd} USD is not a whole number of the smallest unit")
    return int(units)


def usd_of(units: int) -> str:
    """Converts smallest units to US dollars as a decimal string without trailing zeros."""
    whole, part = divmod(units, 10**USDC_DECIMALS)
    digits = f"{part:0{USDC_DECIMALS}}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
