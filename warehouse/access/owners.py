"""Owners of paid keys: the payer, until the operator that the quote names has signed; and the keys that a migration
took from operators that never did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from contracts.access.claims import Claim
from warehouse.access.claims import CLAIM_CHANGED
from warehouse.access.keys import KEY_CHANGED
from warehouse.ledger.ledger import Reader, Transaction, utc_text
from warehouse.world.events import decode_edges, decode_nodes
from warehouse.world.ownership import Moved, hand_over


@dataclass(frozen=True, slots=True)
class MovedKey:
    """A key whose owner was an operator that never signed, and which its payer owns since `moved_at`.

    `nodes` and `edges` of the operator became the payer's with all keys of the two; `left` are those of which nobody
    can say which key wrote them. They stay with the operator's address, which gets its key back by signing.
    """

    key_id: str
    claim_id: str
    from_owner: str
    to_owner: str
    nodes: int
    edges: int
    left: int
    moved_at: datetime


def give_to_operator(tx: Transaction, claim: Claim) -> Moved:
    """Make the operator that the claim's quote names the owner of its keys, and of what they alone wrote.

    Nothing where it is the owner already. The operator has to have signed.
    """
    if claim.owner == claim.operator:
        return Moved()
    whose = {"claim_id": claim.claim_id, "payer": claim.payer, "operator": claim.operator}
    nodes, edges = tx.rows("access_nodes_of_claim", **whose), tx.rows("access_edges_of_claim", **whose)
    moved = hand_over(
        tx,
        decode_nodes(row for row in nodes if not row["shared"]),
        decode_edges(row for row in edges if not row["shared"]),
        claim.operator,
        takes_over=claim.payer,
        reason=f"{claim.operator} has signed for the key of {claim.claim_id}.",
    )
    tx.run("world_move_capsules", from_owner=claim.payer, to_owner=claim.operator)
    tx.run("access_move_payloads", claim_id=claim.claim_id, owner=claim.operator)
    tx.run("access_move_pending", claim_id=claim.claim_id, owner=claim.operator)
    tx.run("access_own_claim", claim_id=claim.claim_id, owner=claim.operator)
    tx.run("access_own_keys", claim_id=claim.claim_id, owner=claim.operator)
    tx.changed(CLAIM_CHANGED, claim.claim_id)
    tx.changed_each([(KEY_CHANGED, row["key_id"]) for row in tx.rows("access_keys_of_claim", claim_id=claim.claim_id)])
    shared = sum(bool(row["shared"]) for row in (*nodes, *edges))
    return replace(moved, left=moved.left + shared)


def moved_keys(reader: Reader) -> list[MovedKey]:
    """Every key that the migration took from an operator that never signed, by operator."""
    return [_moved_key(row) for row in reader.rows("access_moved_keys")]


def settle_moved_keys(tx: Transaction) -> None:
    """Finish what the migration began: after its keys, the graph of each operator that never signed.

    Where one payer's keys alone stood for an operator, they wrote all that is its own, which becomes the payer's. Else
    nobody can say who wrote what, and it stays with the address named, since only that address can have lost it.
    """
    now = utc_text(tx.now())
    for row in tx.rows("access_moves_due"):
        operator, payer = row["from_owner"], row["to_owner"]
        nodes = decode_nodes(tx.rows("world_nodes_of_owner", owner=operator))
        edges = decode_edges(tx.rows("world_edges_of_owner", owner=operator))
        moved = Moved(left=len(nodes) + len(edges))
        if not row["others"]:
            reason = f"{operator} never signed for the keys that {payer} paid."
            moved = hand_over(tx, nodes, edges, payer, takes_over=operator, reason=reason, key_id=row["key_id"])
            tx.run("world_move_capsules", from_owner=operator, to_owner=payer)
            tx.run("world_move_payloads", from_owner=operator, to_owner=payer)
            tx.run("world_move_pending", from_owner=operator, to_owner=payer)
        counts = {"nodes": moved.nodes, "edges": moved.edges, "left_behind": moved.left}
        tx.run("access_settle_move", from_owner=operator, to_owner=payer, moved_at=now, **counts)
    tx.changed_each([(KEY_CHANGED, key.key_id) for key in moved_keys(tx)])


def _moved_key(row: dict[str, Any]) -> MovedKey:
    return MovedKey(
        key_id=row["key_id"],
        claim_id=row["claim_id"],
        from_owner=row["from_owner"],
        to_owner=row["to_owner"],
        nodes=int(row["nodes"]),
        edges=int(row["edges"]),
        left=int(row["left_behind"]),
        moved_at=datetime.fromisoformat(row["moved_at"]),
    )
