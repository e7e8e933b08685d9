"""Designs a memory plan from goals, sources and constraints, and turns a plan into nodes of the graph. Pure.

Example: with the goal "Support customers" and 2,000 tokens, 200 tokens are reserved. The stores that every plan has
come first. Then stores whose words match the goal follow by weight, until the smallest sizes fill the 1,800 tokens. The
rest is divided by weight. Stores that no longer fit are listed in `left_out`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from contracts.canonical import canonical_sha256
from contracts.world.identity import content_id
from contracts.world.memory.memory_plan import (
    BudgetShare,
    DesignGoal,
    DesignRequest,
    MemoryPlan,
    MemoryStore,
    Method,
    PlanRisk,
    Privacy,
    RetrievalRoute,
    WriteRule,
)
from contracts.world.ontology import Ontology, load_ontology
from contracts.world.proposal import Actor, EdgeDraft, NodeDraft, Proposal

RESERVE_SHARE = 0.1
TOKENS_A_NODE = 80
"""Tokens of one recalled node in a prompt: title, type and a few properties."""

DEEPEST = 6
MOST_NODES = 1000
_PRIORITY = {"low": 0.5, "medium": 1.0, "high": 2.0}


@dataclass(frozen=True)
class StoreKind:
    """One row of `stores.yaml`."""

    id: str
    title: str
    purpose: str
    node_types: tuple[str, ...]
    called_for: tuple[str, ...]
    weight: float
    smallest_tokens: int
    keep_days: int
    personal: bool
    method: Method


@dataclass(frozen=True)
class PrivacyRule:
    """The strictness of a level of privacy."""

    keep_personal_days: int | None
    least_confidence: float
    needs: tuple[str, ...]


@dataclass(frozen=True)
class Kinds:
    """The whole content of `stores.yaml`."""

    stores: tuple[StoreKind, ...]
    privacy: Mapping[Privacy, PrivacyRule]
    personal_sources: tuple[str, ...]


@cache
def load_kinds() -> Kinds:
    """Returns the stores of this version."""
    raw = yaml.load((Path(__file__).parent / "stores.yaml").read_text(), yaml.CSafeLoader)
    return Kinds(
        tuple(
            StoreKind(id=name, **fields | {key: tuple(fields[key]) for key in ("node_types", "called_for")})
            for name, fields in raw["stores"].items()
        ),
        {name: PrivacyRule(**fields | {"needs": tuple(fields["needs"])}) for name, fields in raw["privacy"].items()},
        tuple(raw["personal_sources"]),
    )


@dataclass(frozen=True)
class _Chosen:
    kind: StoreKind
    reasons: tuple[str, ...]
    weight: float


def design_memory(request: DesignRequest) -> MemoryPlan:
    """Returns the plan of a request."""
    kinds, ontology = load_kinds(), load_ontology()
    constraints = request.constraints
    rule = kinds.privacy[constraints.privacy]
    usable = constraints.budget_tokens - int(constraints.budget_tokens * RESERVE_SHARE)
    wanted = [choice for kind in kinds.stores if (choice := _called_for(kind, request)) is not None]
    chosen, left_out = _affordable(wanted, usable)
    tokens = _split(chosen, usable)
    stores = [_store(choice, request, rule, ontology) for choice in chosen]
    return MemoryPlan(
        plan_id=f"memory-{canonical_sha256(request.model_dump(mode='json', exclude={'mode'}))[:16]}",
        agent=request.agent,
        domains=[name for name in ontology.domains if any(name in store.domains for store in stores)],
        stores=stores,
        retrieval=[_route(choice.kind, tokens[choice.kind.id], request.goals) for choice in chosen],
        write_rules=[
            WriteRule(store=choice.kind.id, least_confidence=rule.least_confidence, needs=_needs(choice.kind, rule))
            for choice in chosen
        ],
        budget=[
            BudgetShare(
                store=choice.kind.id,
                tokens=tokens[choice.kind.id],
                share=round(tokens[choice.kind.id] / constraints.budget_tokens, 4),
            )
            for choice in chosen
        ],
        reserve_tokens=constraints.budget_tokens - usable,
        keep_for=_iso(constraints.retention),
        privacy=constraints.privacy,
        left_out=[choice.kind.id for choice in left_out],
        risks=_risks(request, stores, left_out, kinds),
    )


def _called_for(kind: StoreKind, request: DesignRequest) -> _Chosen | None:
    """Returns a store with the texts that call for it, weighted by the priority of goals, or None."""
    texts = [(goal.title, _PRIORITY[goal.priority]) for goal in request.goals]
    texts += [(source.title, 1.0) for source in request.sources] + [(request.agent.role, 1.0)]
    reasons = [(text, weight) for text, weight in texts if _matches(text, kind.called_for)]
    if kind.called_for and not reasons:
        return None
    weight = kind.weight * (1 + sum(weight for _, weight in reasons))
    return _Chosen(kind, tuple(dict.fromkeys(text for text, _ in reasons)), weight)


def _matches(text: str, beginnings: Sequence[str]) -> bool:
    words = re.findall(r"\w+", text.casefold())
    return any(word.startswith(beginning) for word in words for beginning in beginnings)


def _affordable(wanted: Sequence[_Chosen], usable: int) -> tuple[list[_Chosen], list[_Chosen]]:
    """Returns the stores that fit the budget, and those that don't, both in the order of the file.

    Stores of every plan come first, then the others by weight. A larger budget only extends the same order.
    """
    base = [choice for choice in wanted if not choice.kind.called_for]
    others = sorted((choice for choice in wanted if choice.kind.called_for), key=lambda choice: -choice.weight)
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
    smallest = {choice.kind.id: choice.kind.smallest_tokens for choice in chosen}
    rest, weights = usable - sum(smallest.values()), sum(choice.weight for choice in chosen)
    shares = {choice.kind.id: int(rest * choice.weight / weights) for choice in chosen}
    shares[chosen[0].kind.id] += rest - sum(shares.values())
    return {name: smallest[name] + shares[name] for name in smallest}


def _store(chosen: _Chosen, request: DesignRequest, rule: PrivacyRule, ontology: Ontology) -> MemoryStore:
    kind = chosen.kind
    keep = min(timedelta(days=kind.keep_days), request.constraints.retention)
    if kind.personal and rule.keep_personal_days is not None:
        keep = min(keep, timedelta(days=rule.keep_personal_days))
    domains = {ontology.node_types[name].domain for name in kind.node_types}
    sources = [source.title for source in request.sources if _matches(source.title, kind.called_for)]
    return MemoryStore(
        id=kind.id,
        title=kind.title,
        purpose=kind.purpose,
        domains=[name for name in ontology.domains if name in domains],
        node_types=list(kind.node_types),
        record_schema=_record_schema(kind, ontology),
        sources=sources if kind.called_for else [source.title for source in request.sources],
        keep_for=_iso(keep),
        holds_personal_data=kind.personal,
        called_for_by=list(chosen.reasons),
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


def _route(kind: StoreKind, tokens: int, goals: Sequence[DesignGoal]) -> RetrievalRoute:
    """Returns the query of a store: as many nodes as its tokens hold, and the deeper the more room there is."""
    limit = max(1, min(MOST_NODES, tokens // TOKENS_A_NODE))
    query: dict[str, Any] = {"node_types": list(kind.node_types), "limit": limit}
    if kind.method == "full_text":
        query["search"] = " ".join(goal.title for goal in goals)[:200]
    elif kind.method == "traverse":
        depth = min(DEEPEST, 1 + limit // 10)
        query |= {"traverse": {"from_id": "<id of the agent's node>", "depth": depth, "direction": "both"}}
        query["include_edges"] = True
    elif kind.method == "by_id":
        query["node_id"] = "<id that a deliverable or an agreement names>"
    return RetrievalRoute(store=kind.id, method=kind.method, query=query, budget_tokens=tokens)


def _needs(kind: StoreKind, rule: PrivacyRule) -> list[str]:
    """Returns the needs of a write. Consent concerns only memory of people; all other needs concern every write."""
    return [need for need in rule.needs if kind.personal or need != "consent"]


def _risks(
    request: DesignRequest, stores: Sequence[MemoryStore], left_out: Sequence[_Chosen], kinds: Kinds
) -> list[PlanRisk]:
    constraints = request.constraints
    rule = kinds.privacy[constraints.privacy]
    speaks_of_people = [
        source.title
        for source in request.sources
        if source.personal or (source.personal is None and _matches(source.title, kinds.personal_sources))
    ]
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
            f"{', '.join(speaks_of_people)} speak of people",
            "high",
            "medium" if strict else "high",
            "Keep it private, end it in time, and erase it when the person asks.",
        )
    if constraints.privacy == "public" and speaks_of_people:
        risk("too_open", "Privacy is public, though sources speak of people", "high", "high", "Choose `private`.")
    if left_out:
        names = ", ".join(choice.kind.title.lower() for choice in left_out)
        risk("small_budget", f"No room for {names}", "high", "medium", "Raise `budgetTokens`, or ask by node id.")
    needed = max(kind.keep_days for kind in kinds.stores if any(kind.id == store.id for store in stores))
    if constraints.retention < timedelta(days=needed) / 4:
        risk(
            "short_retention",
            "Memory ends long before its use does",
            "medium",
            "medium",
            "Write down decisions and agreements where they are kept for longer.",
        )
    if not request.sources:
        risk("no_sources", "Nothing feeds the memory but the session itself", "medium", "low", "Name `sources`.")
    if rule.least_confidence < 0.5:
        risk("weak_evidence", "Statements of little confidence are kept", "medium", "medium", "Choose `internal`.")
    if len(request.sources) > 1:
        risk(
            "contradiction", "Sources may contradict one another", "medium", "medium", "Supersede, with a source each."
        )
    return risks


def _iso(duration: timedelta) -> str:
    hours = int(duration.total_seconds()) // 3600
    return f"P{hours // 24}D" if hours % 24 == 0 else f"PT{hours}H"


def plan_proposal(plan: MemoryPlan, goals: Sequence[DesignGoal], actor: Actor) -> Proposal:
    """Returns a plan as nodes and edges of its owner's private graph. The same plan has the same ids."""

    def node_id(*parts: str) -> str:
        return content_id("memory", actor.name, plan.plan_id, *parts)

    plan_node = NodeDraft(
        id=node_id("plan"),
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
            NodeDraft(id=node_id("store", store.id), type="Resource", title=store.title, properties=properties),
            "PART_OF",
        )
    for rule in plan.write_rules:
        title = f"Writes to {rule.store} bring {', '.join(rule.needs)}"
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
