"""Finds edges and requests that an owner took over from another, with a capsule or a key, and that keep their old ids.

Example: the id of a capsule's edge is derived from its ends, its type and the capsule. The claimant would derive
another id for the same edge, so it is also searched for by its ends and type. Ids of signals, builds and plans are
derived from their owner too, so a request that is repeated after an operator's consent is also searched for by former
names.
`ownership.py` and `capsules.py` hand nodes and edges over.
"""

from __future__ import annotations

from contracts.world.identity import edge_id
from warehouse.ledger.ledger import Reader


def has_taken_over(reader: Reader, owner: str) -> bool:
    """Returns False if every edge of an owner must have been written as the owner's."""
    return reader.row("world_took_over", owner=owner) is not None


def former_names(reader: Reader, owner: str) -> list[str]:
    """Returns the owner names under which an owner's keys wrote before they belonged to this owner."""
    return [row["name"] for row in reader.rows("world_former_names", owner=owner)]


def taken_over_edges(reader: Reader, owner: str) -> dict[str, str]:
    """Returns the ids of the edges that an owner took over, by the ids that new edges of the owner would get."""
    if not has_taken_over(reader, owner):
        return {}
    ids: dict[str, str] = {}
    for known, source, edge_type, target in reader.values("world_ordinary_edges", owner=owner):
        own = edge_id(owner, source, edge_type, target)
        if known == own:
            ids[own] = known
        else:
            ids.setdefault(own, known)
    return {own: known for own, known in ids.items() if own != known}


def took_over_since(reader: Reader, owner: str, seq: int) -> bool:
    """Decides whether an owner took over edges after a revision, or changed edges that were taken over before."""
    if not has_taken_over(reader, owner):
        return False
    edges = reader.values("world_edges_since", owner=owner, seq=seq)
    return any(known != edge_id(owner, source, edge_type, target) for known, source, edge_type, target in edges)
