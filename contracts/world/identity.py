"""Derives the ids of nodes and edges from content, and the keys that find duplicates and facts.

A node has three identities, which answer different questions:

* its id, which the writer chooses or `content_id` derives: writing the same id again changes that node;
* its `dedupe_key`: "Ship v1" and "ship  V1" of one owner and type may mean the same, so the second one causes a
  warning. Both are kept, because only people can decide;
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
"""Most characters of an id that an owner gives to a node of his."""


def content_id(prefix: str, *parts: Any) -> str:
    """Returns `<prefix>:` and 128 bits of the hash of `parts`, so that the same content always has the same id."""
    return f"{prefix}:{canonical_sha256(list(parts))[:_ID_LENGTH]}"


def _of_texts(*texts: str | None) -> str:
    """Returns the `canonical_sha256` of a list of texts, which an ordinary writer of JSON gives sooner."""
    return sha256_hex(_encode(texts))


_encode = msgspec.json.Encoder().encode


def own_id(owner: str, given: str) -> str:
    """Returns the id under which the graph holds a private node that its owner calls `given`.

    Others may call nodes of theirs the same: each owner's ids stand under a name of his own, which he is not shown.
    """
    return f"{_prefix_of(owner)}{given}"


def given_id(owner: str, text: str) -> str:
    """Returns what `owner` calls a node, in an id or a sentence: the id that he gave to it, or the graph's own."""
    return text.replace(_prefix_of(owner), "") if _OWN in text else text


@lru_cache(maxsize=1_000)
def _prefix_of(owner: str) -> str:
    return f"{_OWN}{canonical_sha256(['own', owner])[:_ID_LENGTH]}/"


def edge_id(owner: str | None, source: str, edge_type: str, target: str) -> str:
    """Returns the id of an edge. An owner states one edge of a type between two nodes once."""
    return f"edge:{_of_texts(owner, source, edge_type, target)[:_ID_LENGTH]}"


def dedupe_key(owner: str | None, node_type: str, title: str) -> str:
    """Returns the key that possible duplicates share: owner, type, and title, ignoring case, width and spaces."""
    return _of_texts(owner, node_type, folded(title))


def fact_key(ontology: Ontology, owner: str | None, properties: dict[str, Any]) -> str | None:
    """Returns the key of facts of which one holds at a time: owner, subject and predicate. None for other nodes.

    "Acme" and "ACME" are one subject.
    """
    predicate = properties.get("predicate")
    if not isinstance(predicate, str) or predicate not in ontology.part_of(owner).single_valued_predicates:
        return None
    return statement_key(owner, properties)


def statement_key(owner: str | None, properties: dict[str, Any]) -> str | None:
    """Returns the key that nodes of one owner, subject and predicate share, or None if they have none.

    It does not depend on the ontology, so nodes are found by it also if their predicate becomes single-valued later.
    """
    subject, predicate = properties.get("subject"), properties.get("predicate")
    if not isinstance(subject, str) or not isinstance(predicate, str):
        return None
    return _of_texts(owner, folded(subject), predicate)
