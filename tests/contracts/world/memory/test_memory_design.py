"""Memory plans: what follows from goals, sources and constraints, and in which direction each constraint moves them."""

from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from contracts.world.memory.design import design_memory, load_kinds, plan_proposal
from contracts.world.memory.memory_plan import DesignRequest, MemoryPlan
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Actor, checked

PRIVACY = ("public", "internal", "private", "regulated")
GOALS = ["Answer customers within the hour", "Track the price of tea", "Plan the launch", "Pay invoices", "Fix code"]
SOURCES = ["support inbox", "market data feed", "git repository", "calendar", "wallet transactions"]


def plan(**fields) -> MemoryPlan:
    return design_memory(DesignRequest.model_validate({"agent": {"id": "a"}, "goals": GOALS[:1]} | fields))


def kept(text: str) -> timedelta:
    return TypeAdapter(timedelta).validate_python(text)


def tokens(made: MemoryPlan) -> dict[str, int]:
    return {share.store: share.tokens for share in made.budget}


def test_goals_and_sources_say_which_stores_there_are():
    support = plan(goals=["Answer customers within the hour"], sources=["support inbox"])
    trader = plan(goals=["Watch the price of tea"], sources=["wallet transactions"])
    assert [store.id for store in support.stores] == ["working", "semantic", "episodic"]
    assert [store.id for store in trader.stores] == ["working", "semantic", "metrics", "receipts"]
    assert "TRACK" in trader.domains
    assert support.stores[2].called_for_by == ["Answer customers within the hour", "support inbox"]
    assert support.stores[2].sources == ["support inbox"]


def test_an_urgent_goal_gets_a_larger_part():
    usual = plan(goals=["Track prices", "Answer mail"])
    urgent = plan(goals=[{"title": "Track prices", "priority": "high"}, "Answer mail"])
    assert tokens(urgent)["metrics"] > tokens(usual)["metrics"]


def test_a_store_names_the_schema_of_its_records_and_how_it_is_asked():
    made = plan(goals=["Track the price"])
    metrics = next(store for store in made.stores if store.id == "metrics")
    schema = Draft202012Validator(metrics.record_schema)
    assert schema.is_valid({"type": "Metric", "title": "Price", "payload": {"unit": "USD"}, "source": "feed"})
    assert not schema.is_valid({"type": "Person", "title": "Price", "payload": {}, "source": "feed"})
    route = next(route for route in made.retrieval if route.store == "metrics")
    assert route.query["traverse"]["direction"] == "both" and 1 <= route.query["traverse"]["depth"] <= 6


def test_too_small_a_budget_leaves_out_and_says_so():
    made = plan(goals=GOALS, constraints={"budgetTokens": 1024})
    assert made.left_out
    assert "small_budget" in {risk.id for risk in made.risks}
    assert plan(goals=GOALS, constraints={"budgetTokens": 100_000}).left_out == []


def test_sources_that_speak_of_people_are_a_risk():
    assert "personal_data" in {risk.id for risk in plan(sources=["support inbox"]).risks}
    assert "personal_data" not in {risk.id for risk in plan(sources=[{"title": "inbox", "personal": False}]).risks}
    assert "too_open" in {r.id for r in plan(sources=["chat"], constraints={"privacy": "public"}).risks}


@pytest.mark.parametrize(
    "constraints",
    [
        {"retention": "90 days"},
        {"retention": "P0D"},
        {"retention": "-P1D"},
        {"retention": "P200Y"},
        {"privacy": "secret"},
        {"budgetTokens": 0},
        {"budgetTokens": "many"},
        {"tokens": 5},
    ],
)
def test_constraints_that_make_no_sense_are_refused(constraints):
    with pytest.raises(ValidationError):
        plan(constraints=constraints)


requests = st.fixed_dictionaries(
    {
        "goals": st.lists(st.sampled_from(GOALS), min_size=1, max_size=5, unique=True),
        "sources": st.lists(st.sampled_from(SOURCES), max_size=5, unique=True),
    }
)
budgets = st.integers(512, 200_000)
retentions = st.integers(1, 4000)


@given(requests, budgets, budgets)
@example({"goals": GOALS[:1], "sources": []}, 512, 568)
def test_a_larger_budget_never_takes_a_store_away_and_adds_up(request, one, other):
    small, large = sorted((one, other))
    less, more = (plan(**request, constraints={"budgetTokens": each}) for each in (small, large))
    assert {store.id for store in less.stores} <= {store.id for store in more.stores}
    for made, budget in ((less, small), (more, large)):
        assert sum(tokens(made).values()) + made.reserve_tokens == budget
        assert all(share.tokens > 0 for share in made.budget)


@given(requests, retentions, retentions, st.sampled_from(PRIVACY))
def test_a_shorter_retention_ends_nothing_later(request, one, other, privacy):
    short, long = sorted((one, other))
    less, more = (plan(**request, constraints={"retention": f"P{d}D", "privacy": privacy}) for d in (short, long))
    for before, after in zip(more.stores, less.stores, strict=True):
        assert kept(after.keep_for) <= min(kept(before.keep_for), timedelta(days=short))


@given(requests, st.sampled_from(range(3)))
def test_stricter_privacy_keeps_people_no_longer_and_asks_for_more(request, level):
    open_, strict = (plan(**request, constraints={"privacy": PRIVACY[level + n]}) for n in (0, 1))
    for before, after in zip(open_.stores, strict.stores, strict=True):
        assert kept(after.keep_for) <= kept(before.keep_for)
    for before, after in zip(open_.write_rules, strict.write_rules, strict=True):
        assert set(before.needs) <= set(after.needs)
        assert before.least_confidence < after.least_confidence


@given(requests, budgets)
def test_a_plan_fits_its_published_schema_and_can_be_proposed(request, budget):
    made = plan(**request, constraints={"budgetTokens": budget})
    assert made == plan(**request, constraints={"budgetTokens": budget})
    Draft202012Validator(MemoryPlan.model_json_schema(by_alias=True)).validate(
        made.model_dump(mode="json", by_alias=True)
    )
    asked = DesignRequest.model_validate({"agent": {"id": "a"}, **request})
    proposal = checked(plan_proposal(made, asked.goals, Actor("caller", "local:ada")))
    ontology = load_ontology()
    types = {node.id: node.type for node in proposal.nodes}
    for node in proposal.nodes:
        assert ontology.faults_of(node.type, node.properties) == []
    for edge in proposal.edges:
        assert ontology.edge_types[edge.type].allows(types[edge.source], types[edge.target])


def test_every_store_is_of_types_that_the_schema_has():
    ontology = load_ontology()
    for kind in load_kinds().stores:
        assert set(kind.node_types) <= set(ontology.node_types)
