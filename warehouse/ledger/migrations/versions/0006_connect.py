"""Creates the tables of pairing codes and of the sessions opened with them."""

from alembic import op

from warehouse.ledger.schema import run_sql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_sql(op, "0006_connect")
