"""Finds the competing values of a disputed fact, for answers that contain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from contracts.world.facts import Dispute, dispute_of, ranked_facts
from contracts.world.identity import fact_key
from contracts.world.ontology import Ontology
from contracts.world.records import Node


def disputes_among(
    nodes: Iterable[Node], holding: Callable[[str], Iterable[Node]], ontology: Ontology
) -> list[Dispute]:
    """Returns the disputes in which any of these nodes takes part, each once.

    `holding` returns the facts with a key (`identity.fact_key`) that hold at the time of the query. They belong to one
    owner or are all public, so anyone who sees one sees all. `ontology` is that of the querying owner at that time.
    """
    keys = dict.fromkeys(
        fact_key(ontology, node.owner, node.properties) for node in nodes if node.disputed and not node.erased
    )
    found = (dispute_of(ranked_facts(holding(key))) for key in keys if key is not None)
    return [dispute for dispute in found if dispute is not None]
