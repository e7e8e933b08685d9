"""Defines memory plans and the requests for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from contracts.base import Document, Listed
from contracts.world.graph_documents import OneLine, StageDocument
from contracts.world.memory.store_kinds import Method, Privacy, load_store_kinds
from contracts.world.proposal import Verdict
from contracts.world.signal import SignalLink

Title = Annotated[str, Field(min_length=1, max_length=300), OneLine]
Name = Annotated[str, Field(min_length=1, max_length=200), OneLine]

LONGEST_RETENTION_DAYS = 36_500


def _with_title(value: Any) -> Any:
    return {"title": value} if isinstance(value, str) else value


def _iso_duration(value: Any) -> Any:
    if isinstance(value, str) and not value.startswith("P"):
        raise ValueError("is not an ISO 8601 duration such as P90D or PT12H")
    return value


Retention = Annotated[
    timedelta, Field(ge=timedelta(hours=1), le=timedelta(days=LONGEST_RETENTION_DAYS)), BeforeValidator(_iso_duration)
]


def iso_duration(duration: timedelta) -> str:
    """Returns whole hours or days of `duration` as an ISO 8601 duration."""
    hours = int(duration.total_seconds()) // 3600
    return f"P{hours // 24}D" if hours % 24 == 0 else f"PT{hours}H"


def _known_data_kind(name: str) -> str:
    if name not in (known := load_store_kinds().data_kinds):
        raise ValueError(f"is not one of {', '.join(known)}")
    return name


def _known_category(name: str) -> str:
    if name not in (known := load_store_kinds().special_categories):
        raise ValueError(f"is not one of {', '.join(known)}")
    return name


DataKindName = Annotated[
    str, AfterValidator(_known_data_kind), Field(json_schema_extra={"enum": list(load_store_kinds().data_kinds)})
]
SpecialCategory = Annotated[
    str, AfterValidator(_known_category), Field(json_schema_extra={"enum": list(load_store_kinds().special_categories)})
]
DataKindNames = Annotated[list[DataKindName], Field(max_length=len(load_store_kinds().data_kinds))]


class DesignAgent(Document):
    """The agent that owns the memory."""

    id: Name
    role: Name = "assistant"


class DesignGoal(Document):
    """A purpose of the agent, and the kinds of data that it must recall for it."""

    title: Title
    priority: Literal["low", "medium", "high"] = "medium"
    kinds: DataKindNames = Field(default=[])


class DesignSource(Document):
    """A source from which the agent learns. Undeclared properties are not guessed from the title."""

    title: Title
    kinds: DataKindNames = Field(default=[])
    personal: bool | None = Field(
        default=None, strict=True, description="Whether it is about people; null = not declared, treated as if it were"
    )
    special_categories: list[SpecialCategory] | None = Field(
        default=None,
        max_length=len(load_store_kinds().special_categories),
        description="Special categories of personal data in it; null = not declared",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        about_people = [name for name in self.kinds if load_store_kinds().data_kinds[name].personal]
        if self.personal is False and about_people:
            raise ValueError(f"is declared as not personal, but {', '.join(about_people)} are always about people")
        if self.personal is False and self.special_categories:
            raise ValueError("is declared as not personal, but has special categories of personal data")
        return self

    @property
    def may_be_personal(self) -> bool:
        """Returns True unless the declaration or the kinds rule out that it is about people."""
        if self.personal is not None:
            return self.personal
        kinds = load_store_kinds().data_kinds
        return (
            bool(self.special_categories) or not self.kinds or any(kinds[n].personal is not False for n in self.kinds)
        )


class DesignConstraints(Document):
    """Bounds of the plan; each one has a default."""

    privacy: Privacy = "private"
    retention: Retention | None = Field(
        default=None,
        description="ISO 8601 duration of at least an hour for which memory is kept, in every store that outlives the "
        "session. Null: each store is kept as long as it is useful and privacy allows",
        validate_default=True,
    )
    budget_tokens: int = Field(
        default=8_000,
        strict=True,
        ge=512,
        le=10_000_000,
        description="Tokens that recalled memory may fill in one request",
    )
    confirmation: Literal["owner"] | None = Field(
        default=None,
        description="`owner`: each record about a person that outlives the session waits until its owner confirms it; "
        "a regulated plan then needs no operator for it. Null: writes wait for nobody",
    )

    @field_validator("retention")
    @classmethod
    def _allowed(cls, retention: timedelta | None, info: ValidationInfo) -> timedelta | None:
        privacy = info.data.get("privacy")
        most_days = None if privacy is None else load_store_kinds().privacy[privacy].most_personal_days
        if retention is not None and most_days is not None and retention > timedelta(days=most_days):
            raise ValueError(
                f"is {iso_duration(retention)}, but privacy `{privacy}` keeps memory about people for at most "
                f"P{most_days}D: request that or less, or another level of privacy"
            )
        return retention


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

    @field_validator("constraints")
    @classmethod
    def _private_enough(cls, constraints: DesignConstraints, info: ValidationInfo) -> DesignConstraints:
        special = [source.title for source in info.data.get("sources", []) if source.special_categories]
        if special and not load_store_kinds().privacy[constraints.privacy].special_categories:
            raise ValueError(
                f"have privacy `{constraints.privacy}`, but {', '.join(special)} has special categories of personal "
                "data, which need `private` or `regulated`"
            )
        return constraints


class MemoryStore(Document):
    """One kind of memory."""

    id: str
    node_id: str = Field(description="Its node in your graph once the plan is applied; its records are linked to it")
    title: str
    purpose: str
    domains: list[str] = Field(description="Graph domains of its nodes")
    node_types: list[str]
    record_schema: dict[str, Any] = Field(description="JSON Schema of one of its records, as a signal")
    sources: list[str] = Field(description="Titles of the sources that fill it")
    keep_for: str = Field(description="ISO 8601 duration, after which a record ends")
    keep_for_reason: Literal["requested", "session", "privacy", "usefulness"] = Field(
        description="`requested`: your retention; `session`: it ends with the session; `privacy`: this level's limit "
        "for memory about people, used if you name no retention; `usefulness`: this store's default"
    )
    holds_personal_data: bool
    special_categories: list[str] = Field(description="Special categories of personal data that its sources declare")
    called_for_by: list[str] = Field(description="Goals and sources that call for it; empty: every plan has it")


class RetrievalRoute(Document):
    """The query that recalls a store before the agent acts."""

    store: str
    method: Method
    query: dict[str, Any] = Field(description="Body of `POST /api/v2/world-model/query` that recalls it, ready to send")
    budget_tokens: int


class WriteRule(Document):
    """The conditions of a write to a store."""

    store: str
    through: Literal["POST /api/v2/world-model/signal"] = "POST /api/v2/world-model/signal"
    link: SignalLink = Field(description="The link that makes a signal a record of this store")
    least_confidence: float = Field(ge=0, le=1)
    needs: list[str] = Field(description="What a write requires")
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


class Unknown(Document):
    """Something that the request leaves open and that can't be derived, and what the plan assumes instead."""

    about: str = Field(description="JSON pointer to the part of the request, or to the part of this plan")
    question: str
    assumed: str


class MemoryPlan(Document):
    """A whole plan. The same request gives the same plan, with the same id."""

    plan_id: str
    agent: DesignAgent
    domains: list[str]
    stores: list[MemoryStore]
    retrieval: list[RetrievalRoute]
    write_rules: list[WriteRule]
    budget: list[BudgetShare]
    reserve_tokens: int = Field(description="Reserved for the request itself")
    keep_for: str = Field(description="The longest retention of any store, as an ISO 8601 duration")
    privacy: Privacy
    left_out: list[str] = Field(description="Stores that were called for but did not fit the budget")
    risks: list[PlanRisk]
    unknowns: list[Unknown] = Field(description="What the plan can't know, and what it assumes")


class DesignResult(MemoryPlan):
    """A plan, with the decision if it was applied."""

    mode: Literal["preview", "apply"]
    verdict: Verdict | None = Field(description="The validator's verdict; null for a preview")
    stages: list[StageDocument] = Field(description="The results of its stages; empty for a preview")
    node_ids: list[str] = Field(description="Nodes of the applied plan; empty if nothing was written")
    revision: int


class DesignAnswer(Document):
    """The envelope of a plan."""

    ok: Literal[True] = True
    data: DesignResult
