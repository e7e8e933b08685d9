"""The answer of a check, as data and as plain JSON."""

from __future__ import annotations

from typing import Any, Literal

from guardrail.approval import Outcome
from guardrail.model import Effect, Uncovered
from guardrail.policy import ReliedOn, Stage
from guardrail.record import record
from guardrail.vocabulary import Coverage, Decision, Severity, SeverityOrNone

ProblemCode = Literal[
    "action_empty",
    "action_too_long",
    "action_binary",
    "severity_invalid",
    "context_invalid",
    "context_too_large",
    "too_many_calls",
    "too_many_effects",
    "fault",
]


@record
class Problem:
    """The reason why an action could not be judged. `pointer` is a JSON pointer into the body of the request."""

    code: ProblemCode
    pointer: str
    message: str


@record
class Evidence:
    """The part of the action that a match is about, secrets masked, and its position there in characters."""

    text: str
    start: int
    end: int


@record
class Match:
    """A row of the policy, or a family of language, that matches the action."""

    id: str
    stage: Stage
    severity: Severity
    reason: str
    remediation: str
    references: tuple[str, ...]
    evidence: tuple[Evidence, ...]


@record
class StageResult:
    """The result of one stage: `fail` blocks, `warn` matched below the threshold."""

    stage: Stage
    result: Literal["pass", "warn", "fail"]
    matched: tuple[str, ...] = ()
    reason: str | None = None


@record
class Verdict:
    """The answer to a check. It is equal for equal input and rules; the caller adds the time and the id of the check.

    `passed` is true only for the decision `allow`. `matched_guardrails` are the ids of the matches, most severe first.
    `approval` is the outcome of an approval token, if the context contains one that was needed. `problem` is the reason
    why the action couldn't be judged; then the decision is `deny`.
    """

    passed: bool
    decision: Decision
    severity: SeverityOrNone
    reason: str
    rules_checked: int
    matched_guardrails: tuple[str, ...]
    matches: tuple[Match, ...]
    stages: tuple[StageResult, ...]
    remediation: tuple[str, ...]
    effects: tuple[Effect, ...]
    coverage: Coverage
    uncovered: tuple[Uncovered, ...]
    relied_on: tuple[ReliedOn, ...]
    ignored_context: tuple[str, ...]
    ruleset_version: str
    digest: str
    approval: Outcome | None = None
    problem: Problem | None = None


def plain_verdict(verdict: Verdict) -> dict[str, Any]:
    """Returns the verdict as plain JSON data."""
    return {
        "passed": verdict.passed,
        "decision": verdict.decision,
        "severity": str(verdict.severity),
        "reason": verdict.reason,
        "rules_checked": verdict.rules_checked,
        "matched_guardrails": list(verdict.matched_guardrails),
        "matches": [_plain_match(match) for match in verdict.matches],
        "stages": [
            {"stage": str(stage.stage), "result": stage.result, "matched": list(stage.matched), "reason": stage.reason}
            for stage in verdict.stages
        ],
        "remediation": list(verdict.remediation),
        "effects": [plain_effect(effect) for effect in verdict.effects],
        "coverage": verdict.coverage,
        "uncovered": [
            {
                "start": part.span.start,
                "end": part.span.end,
                "reason": part.reason,
                "executable": part.executable,
            }
            for part in verdict.uncovered
        ],
        "relied_on": [
            {"fact": fact.fact, "source": fact.source, "meaning": fact.meaning} for fact in verdict.relied_on
        ],
        "ignored_context": list(verdict.ignored_context),
        "ruleset_version": verdict.ruleset_version,
        "digest": verdict.digest,
        "approval": str(verdict.approval) if verdict.approval is not None else None,
        "problem": _plain_problem(verdict.problem) if verdict.problem is not None else None,
    }


def plain_effect(effect: Effect) -> dict[str, Any]:
    """Returns an effect as plain JSON data."""
    return {
        "kind": str(effect.kind),
        "object": str(effect.object),
        "targets": [
            {
                "text": target.text,
                "place": str(target.place),
                "sensitivity": str(target.sensitivity),
                "origin": str(target.origin),
            }
            for target in effect.targets
        ],
        "scope": str(effect.scope),
        "reversible": str(effect.reversible),
        "sure": effect.sure,
        "elevated": effect.elevated,
        "start": effect.span.start,
        "end": effect.span.end,
        "source": effect.source,
        "detail": dict(effect.detail),
    }


def _plain_problem(problem: Problem) -> dict[str, str]:
    return {"code": problem.code, "pointer": problem.pointer, "message": problem.message}


def _plain_match(match: Match) -> dict[str, Any]:
    return {
        "id": match.id,
        "stage": str(match.stage),
        "severity": str(match.severity),
        "reason": match.reason,
        "remediation": match.remediation,
        "references": list(match.references),
        "evidence": [{"text": part.text, "start": part.start, "end": part.end} for part in match.evidence],
    }
