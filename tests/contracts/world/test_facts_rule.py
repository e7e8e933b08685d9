"""The rule of standing on literal claims: what holds from when to when, who ended it, and what is disputed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS
from world_writes import held_node

from contracts.standing import SourceClass, band
from contracts.world.facts import Claim, Span, dispute_of, place, standing_at, supersedes, timeline
from contracts.world.identity import fact_key
from contracts.world.ontology import load_ontology

OWNER, SIGNED, DOCUMENT, INFERENCE, HEARSAY = SourceClass


def claim(name: str, start: str, source_class: SourceClass = DOCUMENT, **fields: object) -> Claim:
    """Returns a claim with its own source and value, recorded when it begins."""
    return Claim(
        **{
            "id": name,
            "source": f"source of {name}",
            "value": f"value of {name}",
            "valid_from": start,
            "source_class": source_class,
            "stated_at": start,
            **fields,
        }
    )


SUPERSEDES = {
    "a newer one of equal standing": (claim("b", "2"), claim("a", "1"), True),
    "a newer one of a higher class": (claim("b", "2", SIGNED), claim("a", "1"), True),
    "a newer one of a lower class": (claim("b", "2", INFERENCE), claim("a", "1"), False),
    "a joke": (claim("b", "2", INFERENCE, confidence=0.05), claim("a", "1", INFERENCE, confidence=0.9), False),
    "a lower band": (claim("b", "2", confidence=0.69), claim("a", "1", confidence=0.7), False),
    "the same band": (claim("b", "2", confidence=0.7), claim("a", "1", confidence=0.99), True),
    "the class goes before the band": (claim("b", "2", confidence=0.1), claim("a", "1", INFERENCE), True),
    "no confidence against a high one": (claim("b", "2"), claim("a", "1", confidence=0.9), False),
    "a high confidence against none": (claim("b", "2", confidence=0.9), claim("a", "1"), True),
    "the same source, lower": (claim("b", "2", HEARSAY, source="s"), claim("a", "1", SIGNED, source="s"), True),
    "the same source, but the owner confirmed": (
        claim("b", "2", source="s"), claim("a", "1", source="s", confirmed_as=OWNER, confirmed_at="1"), False,
    ),
    "the same instant, as high": (claim("b", "1"), claim("a", "1"), False),
    "the same instant, higher": (claim("b", "1", SIGNED), claim("a", "1"), True),
    "the same instant, the same source": (claim("b", "1", HEARSAY, source="s"), claim("a", "1", source="s"), True),
    "what the confirmation knew": (
        claim("b", "2", stated_at="2"), claim("a", "1", INFERENCE, confirmed_as=DOCUMENT, confirmed_at="3"), False,
    ),
    "what the confirmation knew and what begins later": (
        claim("b", "5", stated_at="2"), claim("a", "1", INFERENCE, confirmed_as=DOCUMENT, confirmed_at="3"), True,
    ),
    "what came after the confirmation": (
        claim("b", "2", stated_at="4"), claim("a", "1", INFERENCE, confirmed_as=DOCUMENT, confirmed_at="3"), True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SUPERSEDES)
def test_a_claim_supersedes_by_source_class_and_band(name: str) -> None:
    newer, older, expected = SUPERSEDES[name]
    assert supersedes(newer, older) is expected


TIMELINES: dict[str, tuple[list[Claim], dict[str, Span]]] = {
    "one after the other": (
        [claim("a", "1"), claim("b", "2"), claim("c", "3")],
        {"a": Span("2", "b"), "b": Span("3", "c"), "c": Span(None)},
    ),
    "a late report of an older observation goes into history": (
        [claim("b", "2", stated_at="2"), claim("a", "1", stated_at="9")], {"a": Span("2", "b"), "b": Span(None)},
    ),
    "hearsay stands beside a document until a document ends both": (
        [claim("a", "1"), claim("b", "2", HEARSAY), claim("c", "3")],
        {"a": Span("3", "c"), "b": Span("3", "c"), "c": Span(None)},
    ),
    "a stated end is kept": (
        [claim("a", "1", stated_to="4"), claim("b", "5")], {"a": Span("4"), "b": Span(None)},
    ),
    "what is over is not superseded": (
        [claim("a", "1", stated_to="2"), claim("b", "2")], {"a": Span("2"), "b": Span(None)},
    ),
    "a confirmation ends what stands no higher": (
        [claim("a", "1", INFERENCE, confirmed_as=DOCUMENT, confirmed_at="3"), claim("b", "2", DOCUMENT)],
        {"a": Span(None), "b": Span("3", "a")},
    ),
    "a confirmation leaves what stands higher": (
        [claim("a", "2", HEARSAY, confirmed_as=HEARSAY, confirmed_at="3"), claim("b", "1")],
        {"a": Span(None), "b": Span(None)},
    ),
    "a confirmation leaves what agrees": (
        [claim("a", "1", HEARSAY, confirmed_as=OWNER, confirmed_at="3", value="v"), claim("b", "2", value="v")],
        {"a": Span(None), "b": Span(None)},
    ),
    "a later document does not end the owner's statement": (
        [claim("a", "1", confirmed_as=OWNER, confirmed_at="2"), claim("b", "3")], {"a": Span(None), "b": Span(None)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TIMELINES)
def test_claims_end_by_the_rule(name: str) -> None:
    claims, expected = TIMELINES[name]
    assert timeline(claims) == expected


INSTANTS = st.integers(0, 9).map(str)
CLAIMS = st.lists(
    st.builds(
        lambda start, source, value, source_class, confidence, end: (
            start,
            source,
            value,
            source_class,
            confidence,
            end,
        ),
        INSTANTS,
        st.sampled_from(["s", "t", "u"]),
        st.sampled_from(["v", "w"]),
        st.sampled_from(list(SourceClass)),
        st.sampled_from([None, 0.1, 0.5, 0.9]),
        st.none() | INSTANTS,
    ),
    max_size=8,
).map(
    lambda rows: [
        Claim(f"c{n}", source, value, start, source_class, confidence, end, stated_at=f"{n:02}")
        for n, (start, source, value, source_class, confidence, end) in enumerate(rows)
    ]
)


@settings(deadline=None, max_examples=40 * ROUNDS)
@given(CLAIMS, st.randoms())
def test_the_order_of_arrival_does_not_matter_and_the_highest_standing_always_holds(
    claims: list[Claim], random: object
) -> None:
    spans = timeline(claims)
    shuffled = list(claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert timeline(shuffled) == spans
    for each in claims:
        span = spans[each.id]
        if span.ended_by is not None:
            ending = next(other for other in claims if other.id == span.ended_by)
            assert supersedes(ending, each) and ending.valid_from == span.valid_to


def test_a_thousand_hostile_claims_replace_no_fact() -> None:
    fact = claim("fact", "0001", confidence=0.9)
    classes, low = (INFERENCE, HEARSAY, DOCUMENT), 0.69
    hostile = [
        claim(f"h{n}", f"{n + 2:04}", classes[n % 3], confidence=low if n % 3 == 2 else 0.99) for n in range(1000)
    ]
    assert timeline([fact, *hostile])["fact"] == Span(None)


def test_bands_of_confidence_begin_where_the_data_says() -> None:
    assert [band(value) for value in (0.0, 0.29, 0.3, 0.69, 0.7, 1.0, None)] == [0, 0, 1, 1, 2, 2, 1]


def test_a_dispute_names_every_value_highest_standing_first() -> None:
    about = {"subject": "Acme", "predicate": "owner"}
    facts = [
        held_node("a", type="Observation", properties={**about, "value": "Ada", "confidence": 0.9}),
        held_node("b", type="Observation", source="chat", properties={**about, "value": "Bob", "confidence": 0.05}),
        held_node("c", type="Observation", source="book", properties={**about, "value": "ADA"}, source_class=HEARSAY),
    ]
    placed = place(facts, facts[0].recorded_at)
    assert {node.disputed for node in placed.values()} == {True}
    dispute = dispute_of(standing_at(placed.values(), facts[0].recorded_at))
    assert dispute is not None and (dispute.subject, dispute.total) == ("Acme", 3)
    assert [(each.id, each.value, each.source) for each in dispute.claims] == [
        ("a", "Ada", "a test"),
        ("b", "Bob", "chat"),
        ("c", "ADA", "book"),
    ]
    assert not any(node.disputed for node in place([facts[0], facts[2]], facts[0].recorded_at).values()), "they agree"


def test_subjects_are_compared_without_case_and_width() -> None:
    keys = {
        fact_key(load_ontology(), "o", {"subject": subject, "predicate": "owner"})
        for subject in ("Acme GmbH", "ACME  gmbh", "Ａｃｍｅ GmbH", "acme\u00a0GMBH")
    }
    assert len(keys) == 1
