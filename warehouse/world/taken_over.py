"""Finds edges that an owner took over from another, with a capsule or a key. They keep the ids that they had.

Example: a capsule's edge has an id of its ends, its type and the capsule. Who claims the capsule would give another id
to the same edge, so it is looked for by its ends and type as well. `ownership.py` and `capsules.py` hand edges over.
"""

from __future__ import annotations

from contracts.world.identity import edge_id
from warehouse.ledger.ledger import Reader


def has_taken_over(reader: Reader, owner: str) -> bool:
    """Returns False if an owner can have no edge but those that were written as his."""
    return reader.row("world_took_over", owner=owner) is not None


def taken_over_edges(reader: Reader, owner: str) -> dict[str, str]:
    """Returns the ids of the edges that an owner took over, by those that he would give them."""
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
