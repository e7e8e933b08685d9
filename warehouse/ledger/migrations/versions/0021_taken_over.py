"""Gives operators that have signed the idempotency keys of the requests that their keys sent before, and adds indexes
for finding what an owner received from others."""

from alembic import op
from sqlalchemy import text

from warehouse.ledger.schema import run_sql

revision = "0021"
down_revision = "0020"

_SIGNED = "select claim_id, payer, owner from access_claims where owner <> payer order by issued_at, claim_id"
_MOVE = """
update world_requests
set scope = :owner
where scope = :payer
    and seq in (
        select p.seq
        from world_decision_payloads p
        join api_keys k on k.key_id = p.key_id
        where k.claim_id = :claim_id
    )
    and not exists (select 1 from world_requests as known where known.scope = :owner and known.key = world_requests.key)
"""


def upgrade() -> None:
    run_sql(op, "0021_taken_over")
    connection = op.get_bind()
    for claim in connection.execute(text(_SIGNED)).mappings().all():
        connection.execute(text(_MOVE), dict(claim))
