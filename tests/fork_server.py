"""Imports into the fork server all that the steps of tests and the start of `svc serve` need, so that forked processes
neither import it nor have the garbage collector traverse it."""

import sys
from pathlib import Path

from warehouse.cycles import while_importing

sys.path.insert(0, str(Path(__file__).parent))

with while_importing():
    import alembic.command
    import claim_store
    import import_process
    import ledger_process
    import sqlalchemy.dialects.postgresql.psycopg
    import world_process

    import cli.serve
    import warehouse.guardrail.approvals
    from api.app import build_rooms
    from api.stores import Stores
    from contracts.settings import Settings

    build_rooms(Stores(Settings(_env_file=None)), lambda: None)

__all__ = [
    "alembic",
    "claim_store",
    "cli",
    "import_process",
    "ledger_process",
    "sqlalchemy",
    "warehouse",
    "world_process",
]
