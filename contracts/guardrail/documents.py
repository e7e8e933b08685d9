"""Bodies of the guardrail's route. The interface gives their names in snake_case."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.base import Timestamp
from contracts.guardrail.rules import Severity, Stage


class _Snake(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class GuardrailRequest(_Snake):
    """An action that an agent is about to take."""

    action: str = Field(
        description="A command, a tool call or a plan in words; at most 32 KiB",
        json_schema_extra={"minLength": 1, "pattern": r"\S"},
    )
    severity: Severity = Field(
        default=Severity.MEDIUM,
        description="The impact that the caller claims; the higher, the milder a rule that blocks",
    )
    context: dict[str, Any] | None = Field(
        default=None,
        description="Circumstances: environment, approved, backup_available, untrusted_content, user_request, limits",
    )


class GuardrailEvidence(_Snake):
    """What a rule saw."""

    view: str = Field(description="The form of the action that matched: raw, commands, urls, ...")
    text: str = Field(description="The matching text, shortened, with secrets masked")
    start: int = Field(ge=0, description="Its place in the view, in characters")
    end: int = Field(ge=0)


class GuardrailMatch(_Snake):
    """One rule that holds for the action."""

    id: str
    version: int
    stage: Stage
    severity: Severity
    title: str
    reason: str
    remediation: str
    references: list[str]
    evidence: list[GuardrailEvidence]


class GuardrailStage(_Snake):
    """One of the seven stages."""

    stage: Stage
    result: Literal["pass", "warn", "fail"] = Field(description="`warn` matched below what blocks at this severity")
    matched: list[str]
    reason: str | None


class GuardrailResult(_Snake):
    """The verdict. All but `checked_at` is the same for the same request and ruleset."""

    passed: bool
    severity: Literal["none", "low", "medium", "high", "critical"] = Field(description="The highest that matched")
    reason: str
    rules_checked: int = Field(ge=0)
    matched_guardrails: list[str] = Field(description="Ids of the rules that hold, most severe first")
    check_id: str = Field(description="Hash of the request and the ruleset")
    checked_at: Timestamp
    ruleset_version: str
    stages: list[GuardrailStage]
    remediation: list[str] = Field(description="What would make the action acceptable")
    matches: list[GuardrailMatch]


class GuardrailAnswer(_Snake):
    """The envelope of API v2."""

    ok: Literal[True] = True
    data: GuardrailResult
