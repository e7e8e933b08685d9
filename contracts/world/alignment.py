"""Judges a proposal by the guardrail's rules, as the last stage. It needs neither graph nor lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contracts.guardrail import loaded_guardrail
from contracts.world.proposal import EdgeDraft, NodeDraft, Proposal
from contracts.world.stages import Judgement
from guardrail.engine import BLOCKS_FROM, Guardrail
from guardrail.verdict import Verdict
from guardrail.vocabulary import Severity

Alignment = Callable[[Proposal], Judgement]
"""Judges the agreement of a proposal with the rules."""

TO_BE_DONE = frozenset({"Action", "Task", "Assignment", "Decision", "Initiative", "Strategy", "Project"})
"""Types of nodes that agents act on."""

STEERED_BY = frozenset({"Vision", "Goal", "Aspiration", "Value", "Principle"})
"""Types of nodes by which agents choose their actions.

In other types a dangerous text describes something and requests nothing.
"""

ABOUT_TEXT = ("written-secrets.", "language.hidden_text", "language.look_alikes")
"""Rows that apply to a text itself, whatever its subject: nobody should write it down anywhere."""

_CONTEXT = {"tool": "world.write"}


def alignment(proposal: Proposal) -> Judgement:
    """Judges a proposal by the rules of this version."""
    return aligned_with(loaded_guardrail(), proposal)


def aligned_with(guardrail: Guardrail, proposal: Proposal) -> Judgement:
    """Judges the texts of every draft. Fails closed: a text that can't be judged is not written.

    Public drafts and drafts to act on have medium impact, all others low. A private draft that only describes
    something, such as a concept or an observation, causes a warning, unless its text itself must not exist.

    Example: a private Observation that mentions a dangerous command warns, a Task to run it fails, and a text that a
    row of `ABOUT_TEXT` blocks at medium impact fails in both.
    """
    warned: list[str] = []
    verdicts: dict[tuple[str, Severity], Verdict] = {}
    drafts: tuple[NodeDraft | EdgeDraft, ...] = (
        *proposal.nodes,
        *proposal.edges,
        *(act.edge() for act in proposal.acts),
    )
    texts_of = [_texts(draft) for draft in drafts]
    # many drafts share property names, and most texts contain no word that any rule looks for
    passing = guardrail.surely_passing({text for texts in texts_of for text in texts})
    for draft, texts in zip(drafts, texts_of, strict=True):
        if passing.issuperset(texts):
            continue
        impact = _impact(draft)
        matched = ""
        for text in texts:
            if text in passing or not text.strip():
                continue
            verdict = verdicts.get((text, impact))
            if verdict is None:
                verdict = verdicts[text, impact] = guardrail.check(text, impact, _CONTEXT)
            blocked = not verdict.passed and not (verdict.problem is None and _only_describes(draft))
            if blocked or _must_not_exist(verdict):
                which = ", ".join(verdict.matched_guardrails) or "not judged"
                return Judgement("fail", f"{_name(draft)}: {verdict.reason} ({which})")
            matched = matched or next(iter(verdict.matched_guardrails), "")
        if matched:
            warned.append(f"{_name(draft)}: {matched}")
    if warned:
        return Judgement("warn", f"Matches that do not block: {'; '.join(warned[:5])}")
    return Judgement("pass", f"None of {guardrail.rules_checked} rules of ruleset {guardrail.ruleset_version} matched.")


def _name(draft: NodeDraft | EdgeDraft) -> str:
    return draft.id if isinstance(draft, NodeDraft) else f"{draft.source} {draft.type} {draft.target}"


def _impact(draft: NodeDraft | EdgeDraft) -> Severity:
    acted_on = isinstance(draft, NodeDraft) and draft.type in TO_BE_DONE
    return Severity.MEDIUM if acted_on or draft.visibility == "public" else Severity.LOW


def _only_describes(draft: NodeDraft | EdgeDraft) -> bool:
    if draft.visibility == "public":
        return False
    return not isinstance(draft, NodeDraft) or draft.type not in TO_BE_DONE | STEERED_BY


def _must_not_exist(verdict: Verdict) -> bool:
    """Decides whether a row that blocks at medium impact concerns the text itself, not its subject."""
    least = BLOCKS_FROM[Severity.MEDIUM].rank
    return any(match.severity.rank >= least and match.id.startswith(ABOUT_TEXT) for match in verdict.matches)


def _texts(draft: NodeDraft | EdgeDraft) -> list[str]:
    """Returns the title, each text in the properties, and the property names joined into one text, one per line.

    Joined by commas, a name such as `to_block` would read as an instruction.
    """
    texts = [draft.title] if isinstance(draft, NodeDraft) else []
    names: list[str] = []
    _find_strings(draft.properties, texts, names)
    if names:
        texts.append("\n".join(names))
    return texts


def _find_strings(value: Any, texts: list[str], names: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        names.extend(value)
        for inner in value.values():
            _find_strings(inner, texts, names)
    elif isinstance(value, list):
        for inner in value:
            _find_strings(inner, texts, names)
