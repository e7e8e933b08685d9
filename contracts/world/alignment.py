"""The last stage: what a proposal says, against the guardrail's rules. It needs no graph and so no lock."""

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
"""How far what is proposed agrees with the rules."""

TO_BE_DONE = frozenset({"Action", "Task", "Assignment", "Decision", "Initiative", "Strategy", "Project"})
"""Types of nodes that agents act on."""

STEERED_BY = frozenset({"Vision", "Goal", "Aspiration", "Value", "Principle"})
"""Types of nodes that agents choose their actions by. Elsewhere a dangerous text is spoken of rather than asked for."""

ABOUT_TEXT = ("secrets.", "concealment.")
"""Families whose rules hold against a text itself, whatever it speaks of: it should be written down nowhere."""

_CONTEXT = {"tool": "world.write"}


@cache
def _rules() -> Ruleset:
    return load_ruleset()


def alignment(proposal: Proposal) -> Judgement:
    """`aligned_with` the rules of this version."""
    return aligned_with(_rules(), proposal)


def aligned_with(rules: Ruleset, proposal: Proposal) -> Judgement:
    """Check every draft's texts. Fails closed: what can't be judged is not written.

    What is to be done, and what is public, counts as of medium impact, all else as of low. What only speaks of things,
    such as a concept or an observation of the caller's own, is warned of unless its text itself is what should not be.
    """
    warned: list[str] = []
    drafts: tuple[NodeDraft | EdgeDraft, ...] = (*proposal.nodes, *proposal.edges)
    for draft in drafts:
        text = "\n".join(_texts(draft))
        if not text:
            continue
        verdict = rules.check(text, _impact(draft), _CONTEXT)
        name = draft.id if isinstance(draft, NodeDraft) else f"{draft.source} {draft.type} {draft.target}"
        if not verdict.passed and not (_speaks_of(draft) and _of_deeds(verdict)):
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


def _speaks_of(draft: NodeDraft | EdgeDraft) -> bool:
    if draft.visibility == "public":
        return False
    return not isinstance(draft, NodeDraft) or draft.type not in TO_BE_DONE | STEERED_BY


def _of_deeds(verdict: GuardrailVerdict) -> bool:
    """Whether the rules that block are of what somebody would do."""
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
        for name, each in value.items():
            yield name
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
