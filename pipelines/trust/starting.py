"""Writes the trust registry's row before its first run."""

from datetime import datetime

from contracts.settings import Settings
from warehouse.duck.connection import Connection
from warehouse.trust.attestations import is_trust_recorded, record_trust_status


def starting_rows(connection: Connection, settings: Settings, now: datetime) -> None:
    """Records that the configured registry will be read, unless a run has recorded its status."""
    registry = settings.trust_registry_address
    if registry is None or settings.token_address is None or is_trust_recorded(connection):
        return
    record_trust_status(
        connection,
        chain_id=settings.chain_id,
        registry=registry,
        escrow=settings.escrow_address,
        head=None,
        reason=None,
        now=now,
    )
