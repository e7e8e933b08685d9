"""Decides which of the claims about one subject and single-valued predicate hold, and when. Pure.

Claims are processed in the order of their start times. A claim ends the earlier ones that it supersedes. Those that it
doesn't supersede continue alongside it, and the values are disputed. The result does not depend on the order in which
the claims arrived, so a late report of an older observation goes into history.

Example: "open" (document) from 09:00, "shut" (hearsay) from 10:00, "ajar" (document) from 11:00. "open" holds until
11:00, because hearsay does not supersede a document; from 10:00 to 11:00 it is disputed by "shut"; "ajar" ends both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from contracts.canonical import canonical_json
from contracts.standing import SourceClass, band, higher, rank
from contracts.world.records import Edge, Node
from contracts.world.text import folded

MOST_CLAIMS = 100
"""Maximum number of claims per dispute in an answer."""


@dataclass(frozen=True)
class Claim:
    """One statement about the subject. Times are strings as in `records.py`."""

    id: str
    source: str
    value: str
    valid_from: str
    source_class: SourceClass = SourceClass.INFERENCE
    confidence: float | None = None
    stated_to: str | None = None
    """The end that its writer stated."""
    stated_at: str = ""
    """The time at which it was recorded."""
    confirmed_as: SourceClass | None = None
    confirmed_at: str | None = None

    @property
    def stands_as(self) -> SourceClass:
        """Returns its class, or the class of its confirmation if that is higher."""
        return self.source_class if self.confirmed_as is None else higher(self.source_class, self.confirmed_as)

    @property
    def standing(self) -> tuple[int, int]:
        """Returns its standing: its class, then its confidence band."""
        return rank(self.stands_as), band(self.confidence)


@dataclass(frozen=True)
class Span:
    """The end of a claim's validity, and the claim that ended it; None if no other claim did."""

    valid_to: str | None
    ended_by: str | None = None


def may_replace(newer: Claim, older: Claim) -> bool:
    """Decides whether a claim may replace an older one: it has the same source or at least the same standing."""
    if older.confirmed_as is SourceClass.OWNER and newer.stands_as is not SourceClass.OWNER:
        return False
    return newer.source == older.source or newer.standing >= older.standing


def supersedes(newer: Claim, older: Claim) -> bool:
    """Decides whether `newer`, which begins no earlier, ends `older`."""
    # confirming what holds today says nothing about what will hold from a later day
    knew_it = older.confirmed_at is not None and max(newer.stated_at, newer.valid_from) <= older.confirmed_at
    if knew_it and older.confirmed_as is not None and rank(newer.stands_as) <= rank(older.confirmed_as):
        return False
    if newer.valid_from == older.valid_from and newer.source != older.source and newer.standing == older.standing:
        return False  # neither is newer, and neither stands higher
    return may_replace(newer, older)


def timeline(claims: Iterable[Claim]) -> dict[str, Span]:
    """Returns the span of every claim by id."""
    by_id = {claim.id: claim for claim in claims}
    spans = {claim.id: Span(claim.stated_to) for claim in by_id.values()}
    moments = [(claim.valid_from, False, claim.stated_at, claim.id) for claim in by_id.values()]
    moments += [
        (max(claim.confirmed_at, claim.valid_from), True, claim.confirmed_at, claim.id)
        for claim in by_id.values()
        if claim.confirmed_at is not None
    ]
    holding: dict[str, Claim] = {}
    for moment, is_confirmation, _, claim_id in sorted(moments):
        claim = by_id[claim_id]
        holding = {key: other for key, other in holding.items() if other.stated_to is None or other.stated_to > moment}
        if is_confirmation:
            ended = _overruled(claim, holding) if claim_id in holding else []
        else:
            ended = [other.id for other in holding.values() if supersedes(claim, other)]
            holding[claim_id] = claim
        for key in ended:
            del holding[key]
            spans[key] = Span(moment, claim_id)
    return spans


def _overruled(confirmed: Claim, holding: dict[str, Claim]) -> list[str]:
    """Returns the claims that a confirmation ends: those of other values that stand no higher than its class."""
    assert confirmed.confirmed_as is not None
    return [
        other.id
        for other in holding.values()
        if other.value != confirmed.value and rank(other.stands_as) <= rank(confirmed.confirmed_as)
    ]


def ranked(claims: Iterable[Claim]) -> list[Claim]:
    """Returns claims by standing, highest first, then newest first."""
    by_id = sorted(claims, key=lambda claim: claim.id)
    newest_first = sorted(by_id, key=lambda claim: (claim.valid_from, claim.stated_at), reverse=True)
    return sorted(newest_first, key=lambda claim: claim.standing, reverse=True)


def place(facts: Iterable[Node], now: str) -> dict[str, Node]:
    """Returns the unretracted facts about one subject and predicate, with `valid_to` and `disputed` as of `now`."""
    nodes = {node.id: node for node in facts if not node.retracted}
    spans = timeline(claim_of(node) for node in nodes.values())
    placed = {node_id: _with_span(node, spans[node_id]) for node_id, node in nodes.items()}
    holding = {node.id for node in standing_at(placed.values(), now)}
    disputed = len({claim_of(placed[node_id]).value for node_id in holding}) > 1
    return {
        node_id: msgspec.structs.replace(node, disputed=disputed and node_id in holding)
        for node_id, node in placed.items()
    }


def standing_at(facts: Iterable[Node], instant: str) -> list[Node]:
    """Returns the placed facts that hold at an instant, highest standing first, then the newest."""
    return ranked_facts(
        node for node in facts if node.valid_from <= instant and (node.valid_to is None or instant < node.valid_to)
    )


def ranked_facts(facts: Iterable[Node]) -> list[Node]:
    """Returns facts by standing, highest first, then newest first."""
    by_id = {node.id: node for node in facts}
    return [by_id[claim.id] for claim in ranked(map(claim_of, by_id.values()))]


def _with_span(node: Node, span: Span) -> Node:
    stated_to = None if span.ended_by is None else stated_end(node)
    return msgspec.structs.replace(node, valid_to=span.valid_to, ended_by=span.ended_by, stated_to=stated_to)


class DisputedClaim(msgspec.Struct, frozen=True, rename="camel"):
    """One claim of a dispute, as an answer contains it."""

    id: str
    title: str
    value: Any
    source: str
    source_class: SourceClass
    confidence: float | None
    valid_from: str


class Dispute(msgspec.Struct, frozen=True, rename="camel"):
    """The claims that hold for one subject and predicate, highest standing first."""

    subject: str
    predicate: str
    total: int
    claims: list[DisputedClaim]


def dispute_of(holding: list[Node]) -> Dispute | None:
    """Returns the dispute between facts that hold at one instant, ordered as by `standing_at`. None if they agree."""
    if len({claim_of(node).value for node in holding}) < 2:
        return None
    highest = holding[0].properties
    return Dispute(
        highest["subject"], highest["predicate"], len(holding), [_disputed(node) for node in holding[:MOST_CLAIMS]]
    )


def _disputed(node: Node) -> DisputedClaim:
    claim = claim_of(node)
    return DisputedClaim(
        node.id,
        node.title,
        node.properties.get("value"),
        node.source,
        claim.stands_as,
        claim.confidence,
        node.valid_from,
    )


def claim_of(node: Node) -> Claim:
    """Returns the claim that a fact makes. Its value is the property `value`, or else its title."""
    value = node.properties.get("value")
    confidence = node.properties.get("confidence")
    return Claim(
        id=node.id,
        source=folded(node.source),
        value=canonical_json(_plain(node.title if value is None else value)).decode(),
        valid_from=node.valid_from,
        source_class=node.source_class,
        confidence=confidence if isinstance(confidence, int | float) else None,
        stated_to=stated_end(node),
        stated_at=node.stated_at or node.recorded_at,
        confirmed_as=node.confirmed_as,
        confirmed_at=node.confirmed_at,
    )


def claim_of_edge(edge: Edge) -> Claim:
    """Returns the claim that an edge of a single-valued type makes: its value is its target."""
    confidence = edge.properties.get("confidence")
    return Claim(
        id=edge.id,
        source=folded(edge.stated_in),
        value=edge.target,
        valid_from=edge.valid_from,
        source_class=edge.source_class,
        confidence=confidence if isinstance(confidence, int | float) else None,
        stated_at=edge.recorded_at,
    )


def stated_end(node: Node) -> str | None:
    """Returns the end that the writer of a node stated, regardless of what has ended it since."""
    return node.valid_to if node.ended_by is None else node.stated_to


def _plain(value: object) -> object:
    return folded(value) if isinstance(value, str) else value
