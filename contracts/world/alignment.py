"""Judges a proposal by the guardrail's rules, as the last stage. It needs neither graph nor lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from contracts.guardrail.engine import GuardrailVerdict, Ruleset
from contracts.guardrail.loader import load_ruleset
from contracts.guardrail.rules import Severity
from contracts.world.proposal import EdgeDraft, NodeDraft, Proposal
from contracts.world.stages import Judgement

Alignment = Callable[[Proposal], Judgement]
"""Judges the agreement of a proposal with the rules."""

TO_BE_DONE = frozenset({"Action", "Task", "Assignment", "Decision", "Initiative", "Strategy", "Project"})
"""Types of nodes that agents act on."""

STEERED_BY = frozenset({"Vision", "Goal", "Aspiration", "Value", "Principle"})
"""Types of nodes by which agents choose their actions.

In other types a dangerous text describes something and requests nothing.
"""

ABOUT_TEXT = ("secrets.", "concealment.")
"""Families whose rules apply to a text itself, whatever its subject: nobody should write it down anywhere."""

_CONTEXT = {"tool": "world.write"}


@cache
def _rules() -> Ruleset:
    return load_ruleset()


def alignment(proposal: Proposal) -> Judgement:
    """Judges a proposal by the rules of this version."""
    return aligned_with(_rules(), proposal)


def aligned_with(rules: Ruleset, proposal: Proposal) -> Judgement:
    """Judges the texts of every draft. Fails closed: a text that can't be judged is not written.

    Public drafts and drafts to act on have medium impact, all others low. A private draft that only describes
    something, such as a concept or an observation, causes a warning, unless its text itself must not exist.

    Example: a private Observation that mentions a dangerous command warns, a Task to run it fails, and a text that a
    critical rule of `secrets.` matches fails in both.
    """
    warned: list[str] = []
    drafts: tuple[NodeDraft | EdgeDraft, ...] = (*proposal.nodes, *proposal.edges)
    for draft in drafts:
        text = "\n".join(_texts(draft))
        if not text:
            continue
        verdict = rules.check(text, _impact(draft), _CONTEXT)
        name = draft.id if isinstance(draft, NodeDraft) else f"{draft.source} {draft.type} {draft.target}"
        if not verdict.passed and not (_only_describes(draft) and _concerns_actions(verdict)):
            which = ", ".join(verdict.matched_guardrails) or "not judged"
            return Judgement("fail", f"{name}: {verdict.reason} ({which})")
        if verdict.matched_guardrails:
            warned.append(f"{name}: {verdict.matched_guardrails[0]}")
    if warned:
        return Judgement("warn", f"Below what blocks: {'; '.join(warned[:5])}")
    return Judgement("pass", f"None of {rules.rules_checked} rules of ruleset {rules.version} matched.")


def _impact(draft: NodeDraft | EdgeDraft) -> Severity:
    acted_on = isinstance(draft, NodeDraft) and draft.type in TO_BE_DONE
    return Severity.MEDIUM if acted_on or draft.visibility == "public" else Severity.LOW


def _only_describes(draft: NodeDraft | EdgeDraft) -> bool:
    if draft.visibility == "public":
        return False
    return not isinstance(draft, NodeDraft) or draft.type not in TO_BE_DONE | STEERED_BY


def _concerns_actions(verdict: GuardrailVerdict) -> bool:
    """Decides whether the blocking rules concern actions and not the text itself."""
    return verdict.problem is None and not any(
        match.severity is Severity.CRITICAL and match.id.startswith(ABOUT_TEXT) for match in verdict.matches
    )


def _texts(draft: NodeDraft | EdgeDraft) -> Iterator[str]:
    if isinstance(draft, NodeDraft):
        yield draft.title
    yield from _strings(draft.properties)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
