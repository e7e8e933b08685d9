"""Writes the token's row before its first run."""

from datetime import datetime

from contracts.settings import Settings
from contracts.token.holder_documents import Token
from warehouse.duck.connection import Connection
from warehouse.token.holder_status import is_status_recorded, record_status


def starting_rows(connection: Connection, settings: Settings, now: datetime) -> None:
    """Records that the configured token will be read, unless a run has recorded its status."""
    if settings.token_address is None or is_status_recorded(connection):
        return
    record_status(
        connection,
        chain_id=settings.chain_id,
        token=Token(address=settings.token_address, name=None, symbol=None, decimals=None),
        start_block=settings.token_start_block,
        finalized_block=None,
        now=now,
    )
