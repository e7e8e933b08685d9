"""What the fork server has imported: all that the steps of tests need, which none of them pays for then."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import alembic.command
import claim_store
import import_process
import ledger_process
import sqlalchemy.dialects.postgresql.psycopg
import world_process

import warehouse.guardrail.approvals

__all__ = ["alembic", "claim_store", "import_process", "ledger_process", "sqlalchemy", "warehouse", "world_process"]
