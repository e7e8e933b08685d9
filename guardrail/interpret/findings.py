"""Collects the findings of an interpretation: effects, uncovered parts, calls and texts for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from guardrail.model import Call, Effect, Passage, Target, Uncovered
from guardrail.vocabulary import EffectKind, ObjectKind


class Findings:
    """The findings so far, in the order of the calls."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.uncovered: list[Uncovered] = []
        self.calls: list[Call] = []
        self.passages: list[Passage] = []
        self.covered_calls = 0

    def add(self, effect: Effect) -> None:
        """Adds an effect, only once for the same words."""
        if effect not in self.effects[-8:]:
            self.effects.append(effect)

    def add_all(self, effects: Iterable[Effect]) -> None:
        """Adds effects in order."""
        for effect in effects:
            self.add(effect)

    def add_generic(
        self,
        kind: EffectKind,
        thing: ObjectKind,
        targets: tuple[Target, ...],
        call: Call,
        detail: Mapping[str, str],
        sure: bool,
    ) -> None:
        """Adds an effect that follows from a general rule."""
        self.add(
            Effect(
                kind=kind,
                object=thing,
                span=call.span,
                source="generic",
                targets=targets,
                sure=call.sure and sure,
                elevated=call.elevated,
                detail=detail,
            )
        )
