"""Memory plans: what follows from goals, sources and constraints, and the direction in which each constraint moves
them."""

from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from contracts.world.memory.design import design_memory, plan_proposal
from contracts.world.memory.memory_plan import DesignRequest, MemoryPlan
from contracts.world.memory.store_kinds import load_store_kinds
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Actor, checked
from contracts.world.read_api import GraphQueryRequest

PRIVACY = ("public", "internal", "private", "regulated")
OWNER = "local:ada"
GOALS = [
    {"title": "Answer customers within the hour", "kinds": ["messages", "contacts"]},
    {"title": "Track the price of tea", "kinds": ["measurements"]},
    {"title": "Plan the launch", "kinds": ["tasks", "decisions"]},
    {"title": "Pay invoices", "kinds": ["payments"]},
    "Fix code",
]
SOURCES = [
    {"title": "support inbox", "kinds": ["messages"]},
    {"title": "market data feed", "kinds": ["measurements"], "personal": False},
    {"title": "git repository", "kinds": ["code", "procedures"]},
    {"title": "clinic", "kinds": ["logs"], "specialCategories": ["health"]},
    "wallet",
]


def plan(**fields) -> MemoryPlan:
    return design_memory(DesignRequest.model_validate({"agent": {"id": "a"}, "goals": GOALS[:1]} | fields), OWNER)


def kept(text: str) -> timedelta:
    return TypeAdapter(timedelta).validate_python(text)


def tokens(made: MemoryPlan) -> dict[str, int]:
    return {share.store: share.tokens for share in made.budget}


def store(made: MemoryPlan, name: str):
    return next(store for store in made.stores if store.id == name)


def test_declared_kinds_of_data_say_which_stores_there_are():
    support = plan(goals=GOALS[:1], sources=SOURCES[:1])
    trader = plan(goals=[GOALS[1]], sources=[{"title": "wallet", "kinds": ["payments"]}])
    assert [store.id for store in support.stores] == ["working", "semantic", "goals", "episodic"]
    assert [store.id for store in trader.stores] == ["working", "semantic", "goals", "metrics", "receipts"]
    assert "TRACK" in trader.domains
    assert store(support, "episodic").called_for_by == ["Answer customers within the hour", "support inbox"]
    assert store(support, "episodic").sources == ["support inbox"]


@pytest.mark.parametrize("title", ["mail", "price history", "metrics", "legal risk", "calendar of meetings"])
def test_the_words_of_a_title_say_nothing(title):
    assert [store.id for store in plan(goals=[title], sources=[title]).stores] == ["working", "semantic", "goals"]


def test_undeclared_facts_are_named_with_the_plans_assumptions():
    made = plan(goals=["Help"], sources=["notes", {"title": "logs", "kinds": ["logs"], "personal": False}])
    assert [(unknown.about, unknown.assumed) for unknown in made.unknowns] == [
        ("/goals/0/kinds", "Only those that the sources provide."),
        ("/sources/0/kinds", "Facts: it fills `semantic`."),
        ("/sources/0/personal", "Yes: it may be."),
        ("/sources/0/specialCategories", "None."),
        ("/budget", "80."),
        ("/stores", "Any number: the budget bounds what is recalled, not what is stored."),
    ]
    assert store(made, "semantic").sources == ["notes"]


def test_an_urgent_goal_gets_a_larger_part():
    usual = plan(goals=GOALS[:2])
    urgent = plan(goals=[GOALS[0], {**GOALS[1], "priority": "high"}])
    assert tokens(urgent)["metrics"] > tokens(usual)["metrics"]


def test_a_store_names_the_schema_of_its_records_and_how_it_is_asked():
    made = plan(goals=[GOALS[1]])
    metrics = store(made, "metrics")
    schema = Draft202012Validator(metrics.record_schema)
    assert schema.is_valid({"type": "Metric", "title": "Price", "payload": {"unit": "USD"}, "source": "feed"})
    assert not schema.is_valid({"type": "Person", "title": "Price", "payload": {}, "source": "feed"})
    route = next(route for route in made.retrieval if route.store == "metrics")
    assert route.query["traverse"]["from_id"] == metrics.node_id and 1 <= route.query["traverse"]["depth"] <= 6
    rule = next(rule for rule in made.write_rules if rule.store == "metrics")
    assert (rule.link.type, rule.link.target, rule.link.direction) == ("PART_OF", metrics.node_id, "outbound")


def test_too_small_a_budget_leaves_out_and_says_so():
    made = plan(goals=GOALS, constraints={"budgetTokens": 1024})
    assert made.left_out
    assert "small_budget" in {risk.id for risk in made.risks}
    assert plan(goals=GOALS, constraints={"budgetTokens": 100_000}).left_out == []


@pytest.mark.parametrize(
    ("source", "risks"),
    [
        ({"title": "inbox", "kinds": ["messages"]}, {"personal_data"}),
        ("inbox", {"personal_data"}),
        ({"title": "inbox", "personal": False}, set()),
        ({"title": "code", "kinds": ["code"]}, set()),
        ({"title": "code", "kinds": ["code"], "personal": True}, {"personal_data"}),
        (
            {"title": "ward", "kinds": ["logs"], "specialCategories": ["health"]},
            {"personal_data", "special_categories"},
        ),
    ],
)
def test_sources_that_may_be_about_people_are_a_risk(source, risks):
    assert {risk.id for risk in plan(sources=[source]).risks} == risks


def test_public_memory_of_people_is_too_open():
    assert "too_open" in {r.id for r in plan(sources=["chat"], constraints={"privacy": "public"}).risks}


@pytest.mark.parametrize(
    ("privacy", "retention", "kept_for"),
    [
        ("regulated", "P30D", {"working": "P1D", "semantic": "P30D", "goals": "P30D", "episodic": "P30D"}),
        ("private", "P730D", {"working": "P1D", "semantic": "P730D", "goals": "P730D", "episodic": "P730D"}),
        ("public", "PT12H", {"working": "PT12H", "semantic": "PT12H", "goals": "PT12H", "episodic": "PT12H"}),
        ("regulated", None, {"working": "P1D", "semantic": "P30D", "goals": "P1095D", "episodic": "P30D"}),
        ("private", None, {"working": "P1D", "semantic": "P180D", "goals": "P1095D", "episodic": "P180D"}),
        ("public", None, {"working": "P1D", "semantic": "P730D", "goals": "P1095D", "episodic": "P180D"}),
    ],
)
def test_a_retention_that_is_named_is_obeyed_and_otherwise_each_store_says_why(privacy, retention, kept_for):
    made = plan(constraints={"privacy": privacy, "retention": retention})
    assert {store.id: store.keep_for for store in made.stores} == kept_for
    assert kept(made.keep_for) == max(map(kept, kept_for.values()))
    reasons = {store.keep_for_reason for store in made.stores}
    assert "session" in reasons
    assert reasons == {"session", "requested"} if retention else "requested" not in reasons


def test_a_retention_that_privacy_forbids_is_refused():
    with pytest.raises(ValidationError, match="is P730D, but privacy `regulated` keeps memory about people"):
        plan(constraints={"privacy": "regulated", "retention": "P2Y"})


def test_approval_and_consent_concern_only_lasting_memory_of_people():
    made = plan(sources=[SOURCES[3]], constraints={"privacy": "regulated"})
    needs = {rule.store: set(rule.needs) for rule in made.write_rules}
    assert needs["working"] == needs["goals"] == {"source", "purpose", "redacted_secrets"}
    assert needs["semantic"] == needs["working"] | {"consent", "operator_approval"}
    assert needs["episodic"] == needs["semantic"] | {"explicit_consent"}
    assert store(made, "episodic").special_categories == ["health"]


@pytest.mark.parametrize(
    "fields",
    [
        {"sources": [{"title": "crm", "kinds": ["contacts"], "personal": False}]},
        {"sources": [{"title": "ward", "personal": False, "specialCategories": ["health"]}]},
        {"sources": [SOURCES[3]], "constraints": {"privacy": "internal"}},
        {"sources": [{"title": "crm", "kinds": ["people"]}]},
        {"sources": [{"title": "crm", "specialCategories": ["shoe_size"]}]},
        {"goals": [{"title": "x", "kinds": ["mail"]}]},
    ],
)
def test_declarations_that_contradict_one_another_or_are_unknown_are_refused(fields):
    with pytest.raises(ValidationError):
        plan(**fields)


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
        "goals": st.lists(st.sampled_from(GOALS), min_size=1, max_size=5, unique_by=str),
        "sources": st.lists(st.sampled_from(SOURCES), max_size=5, unique_by=str),
    }
)
ordinary = st.fixed_dictionaries(
    {"goals": st.just(GOALS[:2]), "sources": st.lists(st.sampled_from(SOURCES[:3]), max_size=3, unique_by=str)}
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


@given(requests, retentions, st.sampled_from(PRIVACY[2:]))
def test_nothing_is_kept_for_longer_or_shorter_than_asked(request, days, privacy):
    retention = {"privacy": privacy, "retention": f"P{days}D"}
    if privacy == "regulated" and days > 30:
        with pytest.raises(ValidationError):
            plan(**request, constraints=retention)
        return
    lasting = [store for store in plan(**request, constraints=retention).stores if store.keep_for_reason != "session"]
    assert {store.keep_for for store in lasting} == {f"P{days}D"}


@given(ordinary, st.sampled_from(range(3)))
def test_stricter_privacy_keeps_people_no_longer_and_asks_for_more(request, level):
    open_, strict = (plan(**request, constraints={"privacy": PRIVACY[level + n]}) for n in (0, 1))
    for before, after in zip(open_.stores, strict.stores, strict=True):
        assert kept(after.keep_for) <= kept(before.keep_for)
    for looser, stricter in zip(open_.write_rules, strict.write_rules, strict=True):
        assert set(looser.needs) <= set(stricter.needs)
        assert looser.least_confidence < stricter.least_confidence


@given(requests, budgets)
def test_every_route_is_a_query_as_it_stands(request, budget):
    for route in plan(**request, constraints={"budgetTokens": budget}).retrieval:
        GraphQueryRequest.model_validate(route.query)


@given(requests, budgets)
def test_a_plan_fits_its_published_schema_and_can_be_proposed(request, budget):
    made = plan(**request, constraints={"budgetTokens": budget})
    assert made == plan(**request, constraints={"budgetTokens": budget})
    Draft202012Validator(MemoryPlan.model_json_schema(by_alias=True)).validate(
        made.model_dump(mode="json", by_alias=True)
    )
    asked = DesignRequest.model_validate({"agent": {"id": "a"}, **request})
    proposal = checked(plan_proposal(made, asked.goals, Actor("caller", OWNER)))
    ontology = load_ontology()
    types = {node.id: node.type for node in proposal.nodes}
    for node in proposal.nodes:
        assert ontology.faults_of(node.type, node.properties) == []
    for edge in proposal.edges:
        assert ontology.edge_types[edge.type].allows(types[edge.source], types[edge.target])


def test_the_file_of_stores_names_only_what_there_is():
    ontology, kinds = load_ontology(), load_store_kinds()
    for kind in kinds.stores.values():
        assert set(kind.node_types) <= set(ontology.node_types)
    for data_kind in kinds.data_kinds.values():
        assert set(data_kind.stores) <= set(kinds.stores)
    assert {name for kind in kinds.data_kinds.values() for name in kind.stores} | {"working"} == set(kinds.stores)


def test_an_owner_may_confirm_what_is_kept_about_people_in_the_operator_s_place():
    asked = {"agent": {"id": "a"}, "goals": [{"title": "Know customers", "kinds": ["contacts"]}]}

    def needs(**constraints):
        request = DesignRequest.model_validate(asked | {"constraints": constraints})
        plan = design_memory(request, "local:ada")
        return plan.plan_id, {rule.store: set(rule.needs) for rule in plan.write_rules}

    (before, regulated), (after, confirmed) = (
        needs(privacy="regulated"),
        needs(privacy="regulated", confirmation="owner"),
    )
    assert before != after
    assert confirmed["semantic"] == regulated["semantic"] - {"operator_approval"} | {"owner_confirmation"}
    assert confirmed["working"] == regulated["working"]
    assert "owner_confirmation" in needs(privacy="private", confirmation="owner")[1]["semantic"]
    assert needs(privacy="regulated", confirmation=None)[0] == before
