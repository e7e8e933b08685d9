"""Manages the owner of a paid key: the payer, until the operator named by the quote has signed. Also finishes the
migration that took keys away from operators that never signed."""

from dataclasses import dataclass, replace
from datetime import datetime

from contracts.access.claims import Claim
from warehouse.access.claims import CLAIM_CHANGED
from warehouse.access.keys import KEY_CHANGED
from warehouse.ledger.ledger import Reader, Transaction, utc_text
from warehouse.ledger.records import record_of
from warehouse.world.events import decode_edges, decode_nodes
from warehouse.world.ownership import Moved, hand_over


@dataclass(frozen=True, slots=True)
class MovedKey:
    """A key that belonged to an operator that never signed, and has belonged to its payer since `moved_at`.

    `nodes` and `edges` count what moved from the operator to the payer; all keys of the same two have equal counts.
    `left` counts those whose writing key can't be determined: they stay with the operator's address, which gets its key
    back by signing.
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
    """Makes the operator named by the claim's quote the owner of its keys and of the nodes and edges that only these
    keys wrote.

    Does nothing if the operator is the owner already. The operator must have signed.
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
    tx.run("access_move_requests", claim_id=claim.claim_id, payer=claim.payer, owner=claim.operator)
    tx.run("access_move_imports", claim_id=claim.claim_id, owner=claim.operator)
    tx.run("access_move_payloads", claim_id=claim.claim_id, owner=claim.operator)
    tx.run("access_move_pending", claim_id=claim.claim_id, owner=claim.operator)
    tx.run("access_own_claim", claim_id=claim.claim_id, owner=claim.operator)
    tx.run("access_own_keys", claim_id=claim.claim_id, owner=claim.operator)
    tx.changed(CLAIM_CHANGED, claim.claim_id)
    tx.changed_each([(KEY_CHANGED, row["key_id"]) for row in tx.rows("access_keys_of_claim", claim_id=claim.claim_id)])
    shared = sum(bool(row["shared"]) for row in (*nodes, *edges))
    return replace(moved, left=moved.left + shared)


def moved_keys(reader: Reader) -> list[MovedKey]:
    """Returns every key that the migration took from an operator that never signed, ordered by operator."""
    return [record_of(MovedKey, row, left=row["left_behind"]) for row in reader.rows("access_moved_keys")]


def settle_moved_keys(tx: Transaction) -> None:
    """Finishes the migration, which has moved the keys: moves the graph of each operator that never signed.

    If only one payer's keys named an operator, they wrote everything the operator owns, and it becomes the payer's.
    Otherwise nobody can tell who wrote what, and the graph stays with the named address, the only one that can have
    lost it.
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
            tx.run("world_move_requests", from_owner=operator, to_owner=payer)
            tx.run("world_move_payloads", from_owner=operator, to_owner=payer)
            tx.run("world_move_pending", from_owner=operator, to_owner=payer)
        counts = {"nodes": moved.nodes, "edges": moved.edges, "left_behind": moved.left}
        tx.run("access_settle_move", from_owner=operator, to_owner=payer, moved_at=now, **counts)
    tx.changed_each([(KEY_CHANGED, key.key_id) for key in moved_keys(tx)])
