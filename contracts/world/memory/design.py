"""Designs a memory plan from goals, sources and constraints, and turns a plan into nodes of the graph. Pure.

Example: with the goal "Support customers", a source of `messages` and 2,000 tokens, 200 tokens are reserved. The stores
that every plan has come first. The stores for the declared kinds of data follow by weight, until their smallest sizes
use up the 1,800 tokens. Any remaining tokens are divided by weight. Stores that don't fit are listed in `left_out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from contracts.canonical import canonical_sha256
from contracts.world.identity import content_id
from contracts.world.memory.memory_plan import (
    BudgetShare,
    DesignGoal,
    DesignRequest,
    DesignSource,
    MemoryPlan,
    MemoryStore,
    PlanRisk,
    RetrievalRoute,
    Unknown,
    WriteRule,
    iso_duration,
)
from contracts.world.memory.store_kinds import Concern, PrivacyRule, StoreKind, load_store_kinds
from contracts.world.ontology import OWNER_CONFIRMATION, Ontology, load_ontology
from contracts.world.proposal import Actor, EdgeDraft, NodeDraft, Proposal
from contracts.world.signal import SignalLink

RESERVE_SHARE = 0.1
TOKENS_A_NODE = 80
"""Tokens that one recalled node takes in a prompt: title, type and a few properties."""

DEEPEST = 6
MOST_NODES = 1000
UNDECLARED_FILL = "semantic"
"""The store for sources that don't declare their kinds of data."""

_PRIORITY = {"low": 0.5, "medium": 1.0, "high": 2.0}


@dataclass(frozen=True)
class _Chosen:
    """A store that the request calls for. `special` are the special categories of the sources that fill it."""

    id: str
    kind: StoreKind
    weight: float
    sources: tuple[str, ...]
    called_for_by: tuple[str, ...]
    personal: bool
    special: tuple[str, ...]

    def concerned_by(self, concern: Concern) -> bool:
        """Returns True if a need with this concern applies to writes to the store."""
        if concern == "lasting_personal":
            return self.personal and not self.kind.session
        return concern == "all" or bool(self.special)


def design_memory(request: DesignRequest, owner: str) -> MemoryPlan:
    """Returns the plan of a request for the graph of `owner`."""
    ontology, constraints = load_ontology(), request.constraints
    rule = load_store_kinds().privacy[constraints.privacy]
    usable = constraints.budget_tokens - int(constraints.budget_tokens * RESERVE_SHARE)
    wanted = [choice for name in load_store_kinds().stores if (choice := _called_for(name, request)) is not None]
    chosen, left_out = _affordable(wanted, usable)
    tokens = _split(chosen, usable)
    stated = request.model_dump(mode="json", exclude={"mode"})
    if constraints.confirmation is None:
        del stated["constraints"]["confirmation"]  # earlier versions lacked it
    plan_id = f"memory-{canonical_sha256(stated)[:16]}"
    kept = {choice.id: _kept(choice, constraints.retention, rule) for choice in chosen}
    stores = [
        _store(choice, kept[choice.id], _node_id(owner, plan_id, "store", choice.id), ontology) for choice in chosen
    ]
    return MemoryPlan(
        plan_id=plan_id,
        agent=request.agent,
        domains=[name for name in ontology.domains if any(name in store.domains for store in stores)],
        stores=stores,
        retrieval=[
            _route(choice, store.node_id, tokens[choice.id], request.goals)
            for choice, store in zip(chosen, stores, strict=True)
        ],
        write_rules=[
            WriteRule(
                store=choice.id,
                link=SignalLink(type="PART_OF", target=store.node_id),
                least_confidence=rule.least_confidence,
                needs=_needs(choice, rule, constraints.confirmation),
            )
            for choice, store in zip(chosen, stores, strict=True)
        ],
        budget=[
            BudgetShare(
                store=choice.id,
                tokens=tokens[choice.id],
                share=round(tokens[choice.id] / constraints.budget_tokens, 4),
            )
            for choice in chosen
        ],
        reserve_tokens=constraints.budget_tokens - usable,
        keep_for=iso_duration(max(keep for keep, _ in kept.values())),
        privacy=constraints.privacy,
        left_out=[choice.id for choice in left_out],
        risks=_risks(request, chosen, left_out),
        unknowns=_unknowns(request),
    )


def _needs(choice: _Chosen, rule: PrivacyRule, confirmation: str | None) -> list[str]:
    """Returns the needs that a write to a store must satisfy."""
    needs = [need for need, concern in rule.needs.items() if choice.concerned_by(concern)]
    if confirmation is None or not choice.concerned_by("lasting_personal"):
        return needs
    return [*(need for need in needs if need != "operator_approval"), OWNER_CONFIRMATION]


def _called_for(store: str, request: DesignRequest) -> _Chosen | None:
    """Returns a store with the goals and sources that call for it, weighted by the goals' priority, or None."""
    kinds = load_store_kinds()
    kind = kinds.stores[store]

    def fills(names: Sequence[str]) -> bool:
        return any(store in kinds.data_kinds[name].stores for name in names)

    goals = [goal for goal in request.goals if fills(goal.kinds)]
    # a source that declares no kinds is read for facts
    sources = [s for s in request.sources if fills(s.kinds) or (not s.kinds and store == UNDECLARED_FILL)]
    if not (kind.always or goals or sources):
        return None
    special = {category for source in sources for category in source.special_categories or ()}
    return _Chosen(
        id=store,
        kind=kind,
        weight=kind.weight * (1 + sum(_PRIORITY[goal.priority] for goal in goals) + len(sources)),
        sources=tuple(source.title for source in sources),
        called_for_by=tuple(dict.fromkeys([*(goal.title for goal in goals), *(source.title for source in sources)])),
        personal=kind.personal or any(source.may_be_personal for source in sources),
        special=tuple(category for category in kinds.special_categories if category in special),
    )


def _affordable(wanted: Sequence[_Chosen], usable: int) -> tuple[list[_Chosen], list[_Chosen]]:
    """Returns the stores that fit the budget, and those that don't, both in the order of the file.

    Stores that every plan has are chosen first, then the others by weight. A larger budget only extends the choice.
    """
    base = [choice for choice in wanted if choice.kind.always]
    others = sorted((choice for choice in wanted if not choice.kind.always), key=lambda choice: -choice.weight)
    within: list[_Chosen] = []
    left = usable
    for choice in [*base, *others]:
        left -= choice.kind.smallest_tokens
        if left < 0:
            break
        within.append(choice)
    return [choice for choice in wanted if choice in within], [choice for choice in wanted if choice not in within]


def _split(chosen: Sequence[_Chosen], usable: int) -> dict[str, int]:
    """Returns the tokens of each store: its smallest size and a share of the rest by weight. The sum is `usable`."""
    smallest = {choice.id: choice.kind.smallest_tokens for choice in chosen}
    rest, weights = usable - sum(smallest.values()), sum(choice.weight for choice in chosen)
    shares = {choice.id: int(rest * choice.weight / weights) for choice in chosen}
    shares[chosen[0].id] += rest - sum(shares.values())
    return {name: smallest[name] + shares[name] for name in smallest}


def _kept(chosen: _Chosen, retention: timedelta | None, rule: PrivacyRule) -> tuple[timedelta, str]:
    """Returns how long a store is kept, and the reason. A requested retention has precedence."""
    useful = timedelta(days=chosen.kind.keep_days)
    if chosen.kind.session:
        return (useful, "session") if retention is None else (min(useful, retention), "session")
    if retention is not None:
        return retention, "requested"
    if chosen.personal and rule.personal_days is not None and rule.personal_days < chosen.kind.keep_days:
        return timedelta(days=rule.personal_days), "privacy"
    return useful, "usefulness"


def _store(chosen: _Chosen, kept: tuple[timedelta, str], node_id: str, ontology: Ontology) -> MemoryStore:
    kind = chosen.kind
    domains = {ontology.node_types[name].domain for name in kind.node_types}
    return MemoryStore.model_validate(
        {
            "id": chosen.id,
            "node_id": node_id,
            "title": kind.title,
            "purpose": kind.purpose,
            "domains": [name for name in ontology.domains if name in domains],
            "node_types": list(kind.node_types),
            "record_schema": _record_schema(kind, ontology),
            "sources": list(chosen.sources),
            "keep_for": iso_duration(kept[0]),
            "keep_for_reason": kept[1],
            "holds_personal_data": chosen.personal,
            "special_categories": list(chosen.special),
            "called_for_by": list(chosen.called_for_by),
        }
    )


_JSON_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "integer": {"type": "integer"},
    "fraction": {"type": "number", "minimum": 0, "maximum": 1},
    "instant": {"type": "string", "format": "date-time"},
    "level": {"enum": ["low", "medium", "high", "critical"]},
}


def _record_schema(kind: StoreKind, ontology: Ontology) -> dict[str, Any]:
    properties: dict[str, str] = {}
    for name in kind.node_types:
        properties |= ontology.node_types[name].properties
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["type", "title", "payload", "source"],
        "properties": {
            "type": {"enum": list(kind.node_types)},
            "title": {"type": "string", "minLength": 1, "maxLength": 300},
            "payload": {
                "type": "object",
                "properties": {name: _JSON_TYPES[value] for name, value in sorted(properties.items())},
            },
            "source": {"type": "string", "minLength": 1},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
    }


def _route(chosen: _Chosen, node_id: str, tokens: int, goals: Sequence[DesignGoal]) -> RetrievalRoute:
    """Returns the query of a store: as many nodes as fit its tokens, and a depth that grows with that number."""
    limit = max(1, min(MOST_NODES, tokens // TOKENS_A_NODE))
    query: dict[str, Any] = {"node_types": list(chosen.kind.node_types), "limit": limit}
    if chosen.kind.method == "recent":
        query["order"] = "recent"
    elif chosen.kind.method == "full_text":
        query["search"] = " ".join(goal.title for goal in goals)[:200]
    else:
        depth = min(DEEPEST, 1 + limit // 10)
        query |= {"traverse": {"from_id": node_id, "depth": depth, "direction": "inbound"}, "include_edges": True}
    return RetrievalRoute(store=chosen.id, method=chosen.kind.method, query=query, budget_tokens=tokens)


def _risks(request: DesignRequest, chosen: Sequence[_Chosen], left_out: Sequence[_Chosen]) -> list[PlanRisk]:
    constraints = request.constraints
    rule = load_store_kinds().privacy[constraints.privacy]
    speaks_of_people = [source.title for source in request.sources if source.may_be_personal]
    risks: list[PlanRisk] = []

    def risk(name: str, title: str, likelihood: str, impact: str, mitigation: str) -> None:
        risks.append(
            PlanRisk.model_validate(
                {"id": name, "title": title, "likelihood": likelihood, "impact": impact, "mitigation": mitigation}
            )
        )

    if speaks_of_people:
        strict = constraints.privacy in ("private", "regulated")
        risk(
            "personal_data",
            f"{', '.join(speaks_of_people)}: about people, or not declared",
            "high",
            "medium" if strict else "high",
            "Keep it private, end it in time, and erase it when the person asks.",
        )
    if special := sorted({category for choice in chosen for category in choice.special}):
        risk(
            "special_categories",
            f"Special categories of personal data: {', '.join(special)}",
            "high",
            "high",
            "Write only what the person explicitly agreed to, and nothing that the goals do not need.",
        )
    if constraints.privacy == "public" and speaks_of_people:
        risk("too_open", "Privacy is public, though sources may be about people", "high", "high", "Choose `private`.")
    if left_out:
        names = ", ".join(choice.kind.title.lower() for choice in left_out)
        risk("small_budget", f"No room for {names}", "high", "medium", "Raise `budgetTokens`, or query by node id.")
    needed = timedelta(days=max(choice.kind.keep_days for choice in chosen))
    if constraints.retention is not None and constraints.retention < needed / 4:
        risk(
            "short_retention",
            "Memory ends long before it stops being useful",
            "medium",
            "medium",
            "Record decisions and agreements where they are kept for longer.",
        )
    if not request.sources:
        risk("no_sources", "Only the session itself feeds the memory", "medium", "low", "Name `sources`.")
    if rule.least_confidence < 0.5:
        risk("weak_evidence", "Statements of low confidence are kept", "medium", "medium", "Choose `internal`.")
    if len(request.sources) > 1:
        risk(
            "contradiction",
            "Sources may contradict one another",
            "medium",
            "medium",
            "Supersede old statements, and name the source of each.",
        )
    return risks


def _unknowns(request: DesignRequest) -> list[Unknown]:
    """Returns what the request leaves open, in the order of the request."""
    unknowns = [
        Unknown(
            about=f"/goals/{number}/kinds",
            question=f'Which kinds of data does "{goal.title}" need?',
            assumed="Only those that the sources provide.",
        )
        for number, goal in enumerate(request.goals)
        if not goal.kinds
    ]
    for number, source in enumerate(request.sources):
        unknowns += _unknowns_of_source(f"/sources/{number}", source)
    if request.constraints.privacy == "regulated":
        unknowns.append(
            Unknown(
                about="/constraints/privacy",
                question="Which law and which legal basis apply?",
                assumed="Consent of the person, for every record about a person that outlives the session.",
            )
        )
    unknowns += [
        Unknown(
            about="/budget",
            question="How many tokens does one record take in your model's prompt?",
            assumed=f"{TOKENS_A_NODE}.",
        ),
        Unknown(
            about="/stores",
            question="How many records will be written?",
            assumed="Any number: the budget bounds what is recalled, not what is stored.",
        ),
    ]
    return unknowns


def _unknowns_of_source(about: str, source: DesignSource) -> list[Unknown]:
    unknowns = []
    if not source.kinds:
        unknowns.append(
            Unknown(
                about=f"{about}/kinds",
                question=f'Which kinds of data does "{source.title}" contain?',
                assumed=f"Facts: it fills `{UNDECLARED_FILL}`.",
            )
        )
    kinds = load_store_kinds().data_kinds
    open_kinds = not source.kinds or any(kinds[name].personal is None for name in source.kinds)
    if source.personal is None and open_kinds and not any(kinds[name].personal for name in source.kinds):
        unknowns.append(
            Unknown(about=f"{about}/personal", question=f'Is "{source.title}" about people?', assumed="Yes: it may be.")
        )
    if source.special_categories is None and source.may_be_personal:
        unknowns.append(
            Unknown(
                about=f"{about}/specialCategories",
                question=f'Does "{source.title}" contain special categories of personal data, such as health?',
                assumed="None.",
            )
        )
    return unknowns


def _node_id(owner: str, plan_id: str, *parts: str) -> str:
    return content_id("memory", owner, plan_id, *parts)


def plan_node_id(owner: str, plan_id: str) -> str:
    """Returns the id of the node that stands for a plan in the graph of `owner`."""
    return _node_id(owner, plan_id, "plan")


def plan_proposal(plan: MemoryPlan, goals: Sequence[DesignGoal], actor: Actor, author: str | None = None) -> Proposal:
    """Returns a plan as nodes and edges of its owner's private graph. The same plan has the same ids.

    `author` is the owner for whom `plan` was designed, if not the actor.
    """

    def node_id(*parts: str) -> str:
        return _node_id(author or actor.name, plan.plan_id, *parts)

    plan_node = NodeDraft(
        id=plan_node_id(author or actor.name, plan.plan_id),
        type="Strategy",
        title=f"Memory of {plan.agent.id}"[:300],
        properties={
            "plan_id": plan.plan_id,
            "role": plan.agent.role,
            "privacy": plan.privacy,
            "keep_for": plan.keep_for,
            "reserve_tokens": plan.reserve_tokens,
        },
    )
    nodes = [plan_node]
    edges: list[EdgeDraft] = []

    def add(node: NodeDraft, edge_type: str, *, outbound: bool = False) -> None:
        nodes.append(node)
        source, target = (plan_node.id, node.id) if outbound else (node.id, plan_node.id)
        edges.append(EdgeDraft(source=source, target=target, type=edge_type))

    for number, goal in enumerate(goals):
        add(NodeDraft(id=node_id("goal", str(number)), type="Goal", title=goal.title), "PURSUES", outbound=True)
    tokens = {share.store: share.tokens for share in plan.budget}
    for store in plan.stores:
        properties = {
            "description": store.purpose,
            "node_types": store.node_types,
            "keep_for": store.keep_for,
            "budget_tokens": tokens[store.id],
            "sources": store.sources,
        }
        add(
            NodeDraft(id=store.node_id, type="Resource", title=store.title, properties=properties),
            "PART_OF",
        )
    for rule in plan.write_rules:
        title = f"Writes to {rule.store} require {', '.join(rule.needs)}"
        properties = {"least_confidence": rule.least_confidence, "needs": rule.needs}
        principle = NodeDraft(id=node_id("rule", rule.store), type="Principle", title=title, properties=properties)
        nodes.append(principle)
        edges.append(EdgeDraft(source=node_id("store", rule.store), target=principle.id, type="GOVERNED_BY"))
    for risk in plan.risks:
        properties = {"likelihood": risk.likelihood, "impact": risk.impact, "description": risk.mitigation}
        add(
            NodeDraft(id=node_id("risk", risk.id), type="Risk", title=risk.title[:300], properties=properties),
            "THREATENS",
        )
    return Proposal(actor=actor, source=f"memory/design:{plan.plan_id}", nodes=tuple(nodes), edges=tuple(edges))
