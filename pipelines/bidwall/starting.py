"""Writes the watched contract's row before its first run."""

from datetime import datetime

from contracts.settings import Settings
from warehouse.bidwall.contract_balance import is_bidwall_recorded, record_bidwall_status
from warehouse.duck.connection import Connection


def starting_rows(connection: Connection, settings: Settings, now: datetime) -> None:
    """Records that the configured contract will be read, unless a run has recorded its status."""
    contract, token = settings.bidwall_address, settings.token_address
    if contract is None or token is None or is_bidwall_recorded(connection):
        return
    record_bidwall_status(
        connection,
        chain_id=settings.chain_id,
        contract=contract,
        service_token=token,
        usdc=settings.usdc_address,
        trigger_wei=settings.bidwall_trigger_wei,
        finalized_block=None,
        now=now,
    )
