"""A key of low standing tries every way to take a known fact's place: all of them fail, on both engines."""

from __future__ import annotations

from random import Random

import pytest
from rounds import ROUNDS
from world_writes import fact, no_rules, proposal, tie

from contracts.standing import SourceClass
from contracts.times import utc_text
from contracts.world.facts import standing_at
from contracts.world.identity import fact_key
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Act, Actor, EdgeDraft
from contracts.world.records import is_live
from warehouse.ledger.ledger import Ledger
from warehouse.world.due import settle_due
from warehouse.world.events import current_node
from warehouse.world.view import LedgerView
from warehouse.world.write import propose

ADA = Actor("caller", "local:ada", max_class=SourceClass.OWNER)
AGENT = Actor("caller", "local:ada")
HOSTILE = Actor("caller", "local:ada", max_class=SourceClass.HEARSAY)
TIMES = [None, "2020-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z", "2029-01-01T00:00:00Z"]
CLAIMS = 200
"""Number of claims in one round; a thousand in a soak."""

DOOR = {"subject": "door", "predicate": "state"}


@pytest.mark.parametrize("confirmed", [False, True])
def test_no_hostile_claim_replaces_a_known_fact(ledger: Ledger, confirmed: bool) -> None:
    known = fact("known", "shut", valid_from=TIMES[2], properties={**DOOR, "value": "shut", "confidence": 0.9})
    propose(
        ledger,
        proposal(known, actor=AGENT, source="the register", source_class=SourceClass.DOCUMENT),
        alignment=no_rules,
    )
    if confirmed:
        note = fact("note", 0, properties={})
        propose(
            ledger, proposal(note, actor=ADA, acts=(Act("confirms", "note", "known", "so it is"),)), alignment=no_rules
        )
    random, ids = Random(20261122), ["known"]
    for number in range(CLAIMS * ROUNDS // 2):
        name = f"hostile{number}"
        properties = {**DOOR, "subject": random.choice(["door", "DOOR", "ｄｏｏｒ"]), "value": f"open{number}"}
        properties["confidence"] = random.choice([0.05, 0.5, 1.0])
        acts, links = (), list[EdgeDraft]()
        way = random.choice(["states", "links", "corrects", "retracts", "confirms", "in place", "ends"])
        if way in ("corrects", "retracts", "confirms"):
            acts = (Act(way, name, random.choice(["known", random.choice(ids)]), "I say so"),)
        elif way == "links":
            links = [tie(name, "SUPERSEDES", "known")]
        drafted = fact("known" if way in ("in place", "ends") else name, 0, properties=properties)
        until = utc_text(ledger.now()) if way == "ends" else None
        drafted = fact(drafted.id, 0, properties=properties, valid_from=random.choice(TIMES), valid_to=until)
        decision = propose(
            ledger,
            proposal(
                drafted,
                *links,
                actor=HOSTILE,
                source=random.choice(["the register", "a joke", f"stranger {number}"]),
                source_class=random.choice(list(SourceClass)),
                acts=acts,
            ),
            alignment=no_rules,
        )
        if decision.verdict == "approved":
            ids.append(name)
    settle_due(ledger)
    with ledger.read() as reader:
        node = current_node(reader, "known")
        key = fact_key(load_ontology(), "local:ada", DOOR)
        assert node is not None and key is not None and is_live(node)
        assert (node.valid_to, node.retracted, node.properties["value"]) == (None, False, "shut")
        standing = standing_at(LedgerView(reader).holding(key), utc_text(ledger.now()))
    assert standing[0].id == "known" and len(standing) > 1, "it ranks first, and the others are shown next to it"
