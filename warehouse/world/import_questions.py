"""Looks up many ids of an imported file in the ledger at once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from contracts.errors import IdTaken
from contracts.world.identity import own_id
from warehouse.ledger.ledger import Reader, Row

MOST_TAKEN = 20
"""Maximum number of taken ids that an error names."""


def rows_of(reader: Reader, question: str, values: Sequence[str]) -> list[Row]:
    """Returns the rows of a statement that gets these values as a JSON array."""
    return reader.rows(question, values=msgspec.json.encode(values).decode()) if values else []


def owners_of(reader: Reader, ids: Sequence[str]) -> dict[str, str]:
    """Returns the owners of those nodes that the graph has, by id; public nodes have an empty owner."""
    return {row["id"]: row["owner"] for row in rows_of(reader, "world_node_owners", ids)}


def claimed_ids(reader: Reader, owner: str, called: Sequence[str]) -> dict[str, str]:
    """Returns the stored ids of the nodes that have these ids in an owner's file. Raises `IdTaken`."""
    own = {node_id: own_id(owner, node_id) for node_id in called}
    owners = owners_of(reader, [*own.values(), *called])
    taken = [node_id for node_id in called if owners.get(node_id) == "" and own[node_id] not in owners]
    if taken:
        raise IdTaken(
            "An id of the file is that of a public node; give your node another one.",
            errors=[("/nodes", f"{node_id} is the id of a public node") for node_id in taken[:MOST_TAKEN]],
        )
    return {
        node_id: node_id if stored not in owners and owners.get(node_id) == owner else stored
        for node_id, stored in own.items()
    }


def stored_elsewhere(reader: Reader, owner: str, called: Sequence[str]) -> dict[str, str]:
    """Returns the stored ids of the owner's nodes that a file names but does not contain."""
    owners = owners_of(reader, [own_id(owner, node_id) for node_id in called])
    return {node_id: own for node_id in called if owners.get(own := own_id(owner, node_id)) == owner}


def has_nothing_of(reader: Reader, owner: str) -> bool:
    """Decides whether the graph has nothing that belongs to an owner or has an id with the owner's prefix."""
    first = own_id(owner, "")
    behind = first[:-1] + chr(ord(first[-1]) + 1)
    return reader.row("world_known_of", owner=owner, after=first, before=behind) is None
