"""Defines requests for memory plans, and the plans."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from contracts.base import Document, Listed
from contracts.world.graph_documents import OneLine, StageDocument
from contracts.world.proposal import Verdict

Privacy = Literal["public", "internal", "private", "regulated"]
Method = Literal["recent", "full_text", "traverse", "by_id"]
Title = Annotated[str, Field(min_length=1, max_length=300), OneLine]
Name = Annotated[str, Field(min_length=1, max_length=200), OneLine]

LONGEST_RETENTION_DAYS = 36_500


def _with_title(value: Any) -> Any:
    return {"title": value} if isinstance(value, str) else value


def _iso_duration(value: Any) -> Any:
    if isinstance(value, str) and not value.startswith("P"):
        raise ValueError("is no ISO 8601 duration such as P90D or PT12H")
    return value


Retention = Annotated[
    timedelta, Field(ge=timedelta(hours=1), le=timedelta(days=LONGEST_RETENTION_DAYS)), BeforeValidator(_iso_duration)
]


class DesignAgent(Document):
    """The agent that owns the memory."""

    id: Name
    role: Name = "assistant"


class DesignGoal(Document):
    """A purpose of the agent."""

    title: Title
    priority: Literal["low", "medium", "high"] = "medium"


class DesignSource(Document):
    """A source from which the agent learns."""

    title: Title
    personal: bool | None = Field(
        default=None, strict=True, description="Whether it speaks of people; null = judged by the words of its title"
    )


class DesignConstraints(Document):
    """Bounds of the plan; each one has a default."""

    retention: Retention = Field(
        default=timedelta(days=365), description="ISO 8601 duration of at least an hour: nothing is kept longer"
    )
    privacy: Privacy = "private"
    budget_tokens: int = Field(
        default=8_000,
        strict=True,
        ge=512,
        le=10_000_000,
        description="Tokens that recalled memory may fill in one request",
    )


class DesignRequest(Document):
    """The input of a plan."""

    agent: DesignAgent
    goals: Listed[Annotated[DesignGoal, BeforeValidator(_with_title, json_schema_input_type=Title | DesignGoal)]] = (
        Field(min_length=1, max_length=50)
    )
    sources: Listed[
        Annotated[DesignSource, BeforeValidator(_with_title, json_schema_input_type=Title | DesignSource)]
    ] = Field(default=[], max_length=50)
    constraints: DesignConstraints = DesignConstraints()
    mode: Literal["preview", "apply"] = "preview"


class MemoryStore(Document):
    """One kind of memory."""

    id: str
    title: str
    purpose: str
    domains: list[str] = Field(description="Graph domains that its nodes are of")
    node_types: list[str]
    record_schema: dict[str, Any] = Field(description="JSON Schema of one of its records, as a graph node")
    sources: list[str] = Field(description="Titles of the sources that fill it")
    keep_for: str = Field(description="ISO 8601 duration, after which a record ends")
    holds_personal_data: bool
    called_for_by: list[str] = Field(description="Goals, role and sources that asked for it; empty: every plan has it")


class RetrievalRoute(Document):
    """The query of a store before the agent acts."""

    store: str
    method: Method
    query: dict[str, Any] = Field(description="The body of `POST /api/v2/world-model/query` that asks it")
    budget_tokens: int


class WriteRule(Document):
    """The conditions of a write to a store."""

    store: str
    through: Literal["POST /api/v2/world-model/signal"] = "POST /api/v2/world-model/signal"
    least_confidence: float = Field(ge=0, le=1)
    needs: list[str] = Field(description="What a write has to bring along")
    visibility: Literal["private"] = "private"


class BudgetShare(Document):
    """Tokens of one request that a store may fill."""

    store: str
    tokens: int
    share: float = Field(ge=0, le=1)


class PlanRisk(Document):
    """A risk of this plan, and its mitigation."""

    id: str
    title: str
    likelihood: Literal["low", "medium", "high"]
    impact: Literal["low", "medium", "high"]
    mitigation: str


class MemoryPlan(Document):
    """A whole plan. The same request gives the same plan, with the same id."""

    plan_id: str
    agent: DesignAgent
    domains: list[str]
    stores: list[MemoryStore]
    retrieval: list[RetrievalRoute]
    write_rules: list[WriteRule]
    budget: list[BudgetShare]
    reserve_tokens: int = Field(description="Kept for the request itself")
    keep_for: str = Field(description="The longest that anything is kept, as an ISO 8601 duration")
    privacy: Privacy
    left_out: list[str] = Field(description="Stores that were asked for, and for which the budget is too small")
    risks: list[PlanRisk]


class DesignResult(MemoryPlan):
    """A plan, with the decision if it was applied."""

    mode: Literal["preview", "apply"]
    verdict: Verdict | None = Field(description="The validator's; null for a preview")
    stages: list[StageDocument] = Field(description="What its stages said; empty for a preview")
    node_ids: list[str] = Field(description="Nodes of the applied plan; empty where nothing was written")
    revision: int


class DesignAnswer(Document):
    """The envelope of a plan."""

    ok: Literal[True] = True
    data: DesignResult
