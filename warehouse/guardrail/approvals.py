"""Records in the ledger which approvals of blocked actions were used, so that each lets only one check pass."""

from datetime import UTC, datetime, timedelta

from guardrail.approval import Approval
from warehouse.ledger.ledger import Transaction, utc_text

APPROVAL_CHANGED = "guardrail_approval"
"""The kind under which used approvals are on the change feed; the entity id is the approval's, which approves nothing.
"""

KEPT = timedelta(days=1)
"""Time for which a used approval stays stored after its expiry, because the hosts' clocks may differ."""


def take_approval(tx: Transaction, approval: Approval) -> bool:
    """Marks an approval as used. Returns False if it was used before."""
    taken = tx.run(
        "guardrail_take_approval",
        approval_id=approval.id,
        digest=approval.digest,
        owner=approval.owner,
        expires_at=utc_text(datetime.fromtimestamp(approval.expires_at, UTC)),
        taken_at=utc_text(tx.now()),
    )
    if taken:
        tx.changed(APPROVAL_CHANGED, approval.id)
    return bool(taken)


def delete_expired(tx: Transaction) -> int:
    """Deletes used approvals that expired long ago and returns their number.

    The deletions don't go on the change feed, since nothing needs to follow them.
    """
    return tx.run("guardrail_delete_approvals", expired_before=utc_text(tx.now() - KEPT))
