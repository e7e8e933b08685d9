"""How nodes and edges are told apart: ids made of content, and the keys by which duplicates and facts are found."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from contracts.canonical import canonical_sha256

if TYPE_CHECKING:
    from contracts.world.ontology import Ontology

_ID_LENGTH = 32


def content_id(prefix: str, *parts: Any) -> str:
    """`<prefix>:` and 128 bits of the hash of `parts`, so that the same content always has the same id."""
    return f"{prefix}:{canonical_sha256(list(parts))[:_ID_LENGTH]}"


def edge_id(owner: str | None, source: str, edge_type: str, target: str) -> str:
    """The id of an edge: an owner states one edge of a type between two nodes once."""
    return content_id("edge", owner, source, edge_type, target)


def dedupe_key(owner: str | None, node_type: str, title: str) -> str:
    """What nodes share that may be one: owner, type and title, whatever its case, width and spaces."""
    plain = " ".join(unicodedata.normalize("NFKC", title).casefold().split())
    return canonical_sha256([owner, node_type, plain])


def fact_key(ontology: Ontology, owner: str | None, properties: dict[str, Any]) -> str | None:
    """What facts share of which one holds at a time: owner, subject and predicate. None for any other node."""
    subject, predicate = properties.get("subject"), properties.get("predicate")
    if not isinstance(subject, str) or predicate not in ontology.single_valued_predicates:
        return None
    return canonical_sha256([owner, subject, predicate])
