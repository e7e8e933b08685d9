"""Assembles the engine from the modules of this installation: readers, catalogue, policy, language, formats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from guardrail import formats, language, reading
from guardrail.catalogue.loader import Catalogue, default_catalogue
from guardrail.engine import Guardrail, Interpreted, Parts, with_intent_details
from guardrail.facts import Facts
from guardrail.interpret import MAX_CALLS, interpret
from guardrail.language import intent
from guardrail.model import Effect, Passage, Reading, Span
from guardrail.policy import Policy, PolicyMatch, Stage, default_policy
from guardrail.vocabulary import EffectKind, ObjectKind

if TYPE_CHECKING:
    from guardrail.plain_words import PlainWords


@cache
def default_guardrail() -> Guardrail:
    """Returns the guardrail with this installation's catalogue and policy, loaded once per process."""
    return guardrail_of(default_catalogue(), default_policy())


def guardrail_of(catalogue: Catalogue, policy: Policy) -> Guardrail:
    """Builds a guardrail from a catalogue and a policy."""

    def read(action: str, facts: Facts) -> Reading:
        return reading.read(action, facts, catalogue)

    def interpret_with_catalogue(read_action: Reading, facts: Facts) -> Interpreted:
        return interpret(read_action, catalogue, facts)

    @cache
    def plain_words() -> PlainWords:
        from guardrail.plain_words import PlainWords  # imports the tables of every reader, which few checks need

        return PlainWords(catalogue)

    def matching_nothing(texts: Iterable[str]) -> set[str]:
        return plain_words().matching_nothing(texts)

    return Guardrail(
        policy,
        Parts(
            read=read,
            interpret=interpret_with_catalogue,
            match_language=match_language,
            with_intent=with_intent,
            effects_of_steps=effects_of_steps,
            find=formats.find,
            masked=formats.masked,
            matching_nothing=matching_nothing,
            language_rules=language.rules_checked(),
            most_calls=MAX_CALLS,
            version=f"{catalogue.digest} {language.version()}",
        ),
    )


def with_intent(effects: Sequence[Effect], passages: Sequence[Passage], facts: Facts) -> Sequence[Effect]:
    """Adds to each effect who asked for it, if there is a request or content to compare it with."""
    if not effects or (facts.user_request is None and not facts.untrusted_content):
        return effects
    known = intent.with_origins(effects, facts)
    unrequested: dict[int, str] = {}
    for found in intent.unrequested(known, facts, passages):
        unrequested.setdefault(id(found.effect), found.why)
    # The answer depends only on kind and object, and a long request takes long to read.
    requested: dict[tuple[EffectKind, ObjectKind], str | None] = {}
    for effect in known:
        if (effect.kind, effect.object) not in requested:
            asked = intent.is_requested(effect, facts)
            refused = "only information" if intent.only_informs(effect, facts) else "no"
            requested[effect.kind, effect.object] = None if asked is None else "yes" if asked else refused
    return [
        with_intent_details(
            effect,
            requested=requested[effect.kind, effect.object],
            unrequested=unrequested.get(id(effect)),
        )
        for effect in known
    ]


def effects_of_steps(steps: Sequence[str], span: Span) -> Sequence[Effect]:
    """Returns the effects of the planned steps in the context, to which an action in plain words belongs."""
    if not steps:
        return ()
    from guardrail.reading import household

    return household.effects_of_steps(steps, span)


def match_language(action: str, passages: Sequence[Passage], facts: Facts) -> Sequence[PolicyMatch]:
    """Returns the families of language that match the action or its passages, in the form of policy matches."""
    return [
        PolicyMatch(
            id=match.id,
            stage=Stage(match.stage),
            severity=match.severity,
            reason=match.reason,
            remediation=match.remediation,
            references=match.references,
            spans=(match.span,),
        )
        for match in (*language.match_characters(action), *language.match(passages, facts))
    ]
