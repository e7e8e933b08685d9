"""Derives the ids of nodes and edges from content, and the keys that find duplicates and facts.

A node has three identities, which answer different questions:

* its id, which the writer chooses or `content_id` derives: writing the same id again changes that node;
* its `dedupe_key`: "Ship v1" and "ship  V1" of one owner and type may mean the same, so the second one causes a
  warning. The graph keeps both, because only people can decide;
* its `fact_key`: "holders of the token = 100" and "= 120" answer one question at different times, so the newer
  supersedes the older. Such nodes are never duplicates of one another.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from contracts.canonical import canonical_sha256, sha256_hex
from contracts.world.text import folded

if TYPE_CHECKING:
    from contracts.world.ontology import Ontology

_ID_LENGTH = 32
_OWN = "own/"
LONGEST_GIVEN_ID = 160
"""Maximum length of an id that an owner gives to a node."""


def content_id(prefix: str, *parts: Any) -> str:
    """Returns `<prefix>:` and 128 bits of the hash of `parts`, so that the same content always has the same id."""
    return f"{prefix}:{canonical_sha256(list(parts))[:_ID_LENGTH]}"


def _of_texts(*texts: str | None) -> str:
    """Returns the `canonical_sha256` of a list of texts. For these a plain JSON encoder writes the same, and faster."""
    return sha256_hex(_encode(texts))


_encode = msgspec.json.Encoder().encode


def own_id(owner: str, given: str) -> str:
    """Returns the id under which the graph stores a private node that its owner calls `given`.

    Other owners may use the same id for their nodes, because each owner's ids have a prefix, which is never shown.
    """
    return f"{_prefix_of(owner)}{given}"


def given_id(owner: str, text: str) -> str:
    """Replaces stored ids in an id or a sentence with those that `owner` gave. Ids that the graph derived stay."""
    return text.replace(_prefix_of(owner), "") if _OWN in text else text


@lru_cache(maxsize=1_000)
def _prefix_of(owner: str) -> str:
    return f"{_OWN}{canonical_sha256(['own', owner])[:_ID_LENGTH]}/"


def edge_id(owner: str | None, source: str, edge_type: str, target: str) -> str:
    """Returns the id of an edge. An owner has at most one edge of a type between two nodes."""
    return f"edge:{_of_texts(owner, source, edge_type, target)[:_ID_LENGTH]}"


def dedupe_key(owner: str | None, node_type: str, title: str) -> str:
    """Returns the key that possible duplicates share: owner, type, and title, ignoring case, width and spaces."""
    return _of_texts(owner, node_type, folded(title))


def fact_key(ontology: Ontology, owner: str | None, properties: dict[str, Any]) -> str | None:
    """Returns the key of facts of which only one holds at a time: owner, subject and predicate. None for other nodes.

    "Acme" and "ACME" are one subject.
    """
    predicate = properties.get("predicate")
    if not isinstance(predicate, str) or predicate not in ontology.part_of(owner).single_valued_predicates:
        return None
    return statement_key(owner, properties)


def statement_key(owner: str | None, properties: dict[str, Any]) -> str | None:
    """Returns the key that nodes of one owner, subject and predicate share, or None if a node lacks either.

    It does not depend on the ontology, so it also finds nodes whose predicate becomes single-valued later.
    """
    subject, predicate = properties.get("subject"), properties.get("predicate")
    if not isinstance(subject, str) or not isinstance(predicate, str):
        return None
    return _of_texts(owner, folded(subject), predicate)
