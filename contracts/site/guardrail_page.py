"""Computes the page of the guardrail: judged examples, the rules, and how to install the hook. Pure.

The library judges the examples when the page is built, so they show what a check would answer.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml

from contracts.guardrail import RulesetInvalid, loaded_guardrail
from contracts.site.page import Documents
from guardrail import language
from guardrail.catalogue.loader import default_catalogue
from guardrail.engine import BLOCKS_FROM, Guardrail
from guardrail.explain import explain, tree
from guardrail.hooks.adapters import HARNESSES
from guardrail.model import Effect
from guardrail.policy import default_policy
from guardrail.verdict import Match, Verdict
from guardrail.vocabulary import Sensitivity, Severity

_HERE = Path(__file__).parent
WORDS: Mapping[str, Mapping[str, str]] = yaml.safe_load((_HERE / "guardrail_words.yaml").read_text())
EXAMPLES: list[dict[str, Any]] = yaml.safe_load((_HERE / "guardrail_examples.yaml").read_text())

Marked = Literal["", "blocks", "unread", "noticed"]
"""The reason to mark a part of an action, most severe first; empty for an unmarked part."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an action, and the reason why it is marked."""

    text: str
    mark: Marked


@dataclass(frozen=True, slots=True)
class ShownEffect:
    """An effect in words: what is done to what, its targets, and known facts about it."""

    says: str
    targets: tuple[str, ...]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged action, in the words of the page."""

    id: str
    title: str
    action: str
    context: str | None
    verdict: Verdict
    language: str
    pieces: tuple[Piece, ...]
    effects: tuple[ShownEffect, ...]
    matches: tuple[tuple[Match, bool], ...]
    """Each match with whether it blocks."""
    tree: str


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A row of the policy or a family of language, in readable form."""

    id: str
    severity: str
    reason: str
    milder: str


def guardrail_page(documents: Documents, load: Callable[[], Guardrail] = loaded_guardrail) -> Mapping[str, Any]:
    """Returns judged examples, families with their rules, words and hooks, or the fault of unusable rules."""
    try:
        guardrail = load()
    except RulesetInvalid as invalid:
        return {"problem": str(invalid)}
    return {
        "problem": None,
        "examples": _examples(guardrail),
        "families": _families(),
        "rules_checked": guardrail.rules_checked,
        "ruleset_version": guardrail.ruleset_version,
        "severities": [
            (severity.value, blocks_from.value, _those_from(blocks_from))
            for severity, blocks_from in BLOCKS_FROM.items()
        ],
        "words": WORDS,
        "harnesses": list(HARNESSES.values()),
    }


@cache
def _examples(guardrail: Guardrail) -> tuple[Judged, ...]:
    return tuple(judged(guardrail, **example) for example in EXAMPLES)


def judged(guardrail: Guardrail, id: str, title: str, action: str, context: dict[str, Any] | None = None) -> Judged:
    """Judges an action at the default severity."""
    verdict = guardrail.check(action, context=context)
    explanation = explain(action, context, verdict, default_catalogue())
    return Judged(
        id=id,
        title=title,
        action=action,
        context=None if context is None else json.dumps(context, indent=1, ensure_ascii=False),
        verdict=verdict,
        language=explanation.language.replace("_", " "),
        pieces=tuple(pieces(action, _marks(verdict))),
        effects=tuple(effect_in_words(effect) for effect in verdict.effects),
        matches=tuple((match, _blocks(match)) for match in verdict.matches),
        tree="\n".join(tree(explanation)),
    )


def pieces(action: str, marks: Iterable[tuple[int, int, Marked]]) -> list[Piece]:
    """Splits an action where marks begin and end. If several marks cover a part, the most severe counts."""
    known = list(marks)
    bounds = sorted({0, len(action), *(at for start, end, _ in known for at in (start, end) if 0 <= at <= len(action))})
    found = []
    for first, last in pairwise(bounds):
        over = {mark for start, end, mark in known if start <= first and last <= end}
        gravest: Marked = "blocks" if "blocks" in over else "unread" if "unread" in over else "noticed" if over else ""
        found.append(Piece(action[first:last], gravest))
    return found


def effect_in_words(effect: Effect) -> ShownEffect:
    """Describes what an effect does and what is known about it."""
    targets = [target.text for target in effect.targets if target.text]
    known = [WORDS["scope"][effect.scope], *(WORDS["place"][target.place] for target in effect.targets)]
    known += [WORDS["sensitivity"][t.sensitivity] for t in effect.targets if t.sensitivity is not Sensitivity.NONE]
    known.append(WORDS["reversible"][effect.reversible])
    known += [*(["perhaps"] if not effect.sure else []), *(["with raised rights"] if effect.elevated else [])]
    return ShownEffect(
        f"{WORDS['kind'][effect.kind]} {WORDS['object'][effect.object]}",
        tuple(dict.fromkeys(targets)),
        tuple(dict.fromkeys(known)),
    )


def _marks(verdict: Verdict) -> list[tuple[int, int, Marked]]:
    evidence: list[tuple[int, int, Marked]] = [
        (part.start, part.end, "blocks" if _blocks(match) else "noticed")
        for match in verdict.matches
        for part in match.evidence
    ]
    return [*evidence, *((part.span.start, part.span.end, "unread") for part in verdict.uncovered)]


def _blocks(match: Match) -> bool:
    return match.severity.rank >= BLOCKS_FROM[Severity.MEDIUM].rank


def _those_from(least: Severity) -> str:
    names = [severity.value for severity in Severity if severity.rank >= least.rank]
    return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


@cache
def _families() -> tuple[tuple[str, str, tuple[ShownRule, ...]], ...]:
    """Returns name, title and rules of each family of the policy, and of the families of language together."""
    of_policy = [
        (
            family.name,
            family.title,
            tuple(
                ShownRule(
                    row.id,
                    row.severity.value if row.severity else "passes",
                    row.reason.replace("{target}", "the target"),
                    "; ".join(
                        f"{to.value if to else 'passes'} if {circumstance.replace('_', ' ')}"
                        for circumstance, to in row.lowered_by
                    ),
                )
                for row in family.rows
            ),
        )
        for family in default_policy().families
    ]
    of_language = tuple(
        ShownRule(family.id, family.severity.value, family.reason, "") for family in language.families()
    )
    return (*of_policy, ("language", "What the words of a request or message are after", of_language))
