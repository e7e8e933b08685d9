"""Turns telemetry into proposals: metrics as single-valued facts, and observations of rules. Pure.

The number of nodes is bounded: a metric's value is superseded at most once per hour, or when it passes a round number,
and an observation has one node per rule, subject and bucket. So a day without changes adds no node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from contracts.standing import SourceClass
from contracts.times import utc_text
from contracts.world.identity import content_id
from contracts.world.proposal import PIPELINE, EdgeDraft, NodeDraft, Proposal
from contracts.world.records import Node

PREDICATE = "value"


@dataclass(frozen=True)
class Reading:
    """A metric's value now.

    `metric` is a node of the constitution, `source` the table of the value. Changes of at most the fraction
    `least_change` are ignored.
    """

    metric: str
    title: str
    subject: str
    value: float | str
    observed_at: datetime
    source: str
    least_change: float = 0.0

    @property
    def fact_subject(self) -> str:
        """Returns the subject of the value in the graph."""
        return f"{self.metric}/{self.subject}"


@dataclass(frozen=True)
class Noticed:
    """The finding of a rule (a pattern of the constitution) about a subject within a bucket of time or of blocks."""

    rule: str
    type: Literal["Observation", "Alert"]
    subject: str
    bucket: str
    title: str
    observed_at: datetime
    source: str
    properties: dict[str, float | str]


def metric_proposal(reading: Reading, fact_before: Node | None) -> Proposal | None:
    """Returns the proposal of a reading, given the fact that holds now, or None if there is nothing to state."""
    value = reading.value
    if fact_before is not None:
        before = fact_before.properties.get("value")
        if utc_text(reading.observed_at) <= fact_before.valid_from or _is_same(before, value, reading.least_change):
            return None
        passed = _passed(before, value)
        if _hour(reading.observed_at) == fact_before.valid_from[:13] and passed is None and not isinstance(value, str):
            return None
    else:
        passed = None
    bucket = _hour(reading.observed_at) + (f"/{passed}" if passed is not None else "")
    if isinstance(value, str):
        bucket = utc_text(reading.observed_at)
    fact = NodeDraft(
        id=content_id("metric", reading.metric, reading.subject, bucket),
        type="Metric",
        title=reading.title,
        properties={
            "subject": reading.fact_subject,
            "predicate": PREDICATE,
            "value": _plain(value),
            "observed_at": utc_text(reading.observed_at),
        },
        visibility="public",
        valid_from=utc_text(reading.observed_at),
    )
    nodes = [fact]
    edges = [EdgeDraft(source=fact.id, target=reading.metric, type="PART_OF", visibility="public")]
    if passed is not None:
        noticed = _threshold(reading, passed)
        nodes.append(noticed)
        edges += [
            EdgeDraft(source=noticed.id, target="pattern:threshold", type="DERIVED_FROM", visibility="public"),
            EdgeDraft(source=noticed.id, target=reading.metric, type="TRACKS", visibility="public"),
        ]
    return Proposal(
        actor=PIPELINE,
        source=reading.source,
        nodes=tuple(nodes),
        edges=tuple(edges),
        source_class=SourceClass.DOCUMENT,
    )


def noticed_proposal(noticed: Noticed) -> Proposal:
    """Returns the proposal of an observation. The same subject and bucket always give the same node."""
    node = NodeDraft(
        id=content_id(noticed.type.lower(), noticed.rule, noticed.subject, noticed.bucket),
        type=noticed.type,
        title=noticed.title,
        properties={"rule": noticed.rule, "observed_at": utc_text(noticed.observed_at), **noticed.properties},
        visibility="public",
        valid_from=utc_text(noticed.observed_at),
    )
    edge = EdgeDraft(source=node.id, target=f"pattern:{noticed.rule}", type="DERIVED_FROM", visibility="public")
    return Proposal(actor=PIPELINE, source=noticed.source, nodes=(node,), edges=(edge,))


def _threshold(reading: Reading, passed: float) -> NodeDraft:
    day = utc_text(reading.observed_at)[:10]
    return NodeDraft(
        id=content_id("observation", "threshold", reading.fact_subject, f"{passed}/{day}"),
        type="Observation",
        title=f"{reading.title} passed {passed:,g}",
        properties={"rule": "threshold", "threshold": _plain(passed), "value": _plain(reading.value)},
        visibility="public",
        valid_from=utc_text(reading.observed_at),
    )


def _hour(instant: datetime) -> str:
    return utc_text(instant)[:13]


def _plain(value: float | str) -> float | int | str:
    """Returns whole numbers as integers, so that JSON shows them without a decimal point."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _is_same(before: object, value: float | str, least_change: float) -> bool:
    if isinstance(value, str) or not isinstance(before, int | float):
        return before == value
    return abs(value - before) <= least_change * abs(before)


def _passed(before: object, value: float | str) -> float | None:
    """Returns the highest round number (1, 2 or 5 times a power of ten) between two values, or None.

    Example: from 95 to 230 it is 200, from 210 to 230 None. Falling from 230 to 95 also passes 200.
    """
    if isinstance(value, str) or not isinstance(before, int | float) or min(before, value) <= 0:
        return None
    low, high = sorted((float(before), float(value)))
    power = 10.0 ** math.floor(math.log10(high))
    passed = next(step * power for step in (5, 2, 1) if step * power <= high)
    return passed if low < passed else None
