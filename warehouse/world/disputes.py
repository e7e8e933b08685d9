"""Finds the values beside a disputed fact, for answers that contain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from contracts.world.facts import Dispute, dispute_of, ranked_facts
from contracts.world.identity import fact_key
from contracts.world.ontology import Ontology
from contracts.world.records import Node


def disputes_among(
    nodes: Iterable[Node], holding: Callable[[str], Iterable[Node]], ontology: Ontology
) -> list[Dispute]:
    """Returns the disputes in which some of these nodes take part, each once.

    `holding` returns the facts with a key (`identity.fact_key`) that hold at the time of the question. They belong to
    one owner, or are all public, so who sees one sees all. `ontology` is the one of the question's owner then.
    """
    keys = dict.fromkeys(
        fact_key(ontology, node.owner, node.properties) for node in nodes if node.disputed and not node.erased
    )
    found = (dispute_of(ranked_facts(holding(key))) for key in keys if key is not None)
    return [dispute for dispute in found if dispute is not None]
