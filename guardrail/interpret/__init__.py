"""Turns calls into effects: applies the catalogue's rows to a call's words, reads inner actions in turn, and applies
general rules to programs that the catalogue lacks.

`interpreter.py` follows the calls in order, `rows.py` applies the catalogue, `inner.py` follows actions inside a call,
and `general_rules.py` handles what the catalogue lacks.
"""

from __future__ import annotations

from guardrail.catalogue.loader import Catalogue
from guardrail.facts import Facts
from guardrail.interpret.findings import Findings
from guardrail.interpret.frame import MAX_CALLS, MAX_DEPTH, Frame
from guardrail.interpret.inner_words import read_as
from guardrail.interpret.interpreter import Interpreter
from guardrail.interpret.programs import means_something_to_any_program
from guardrail.model import Call, Effect, Passage, Reading, Uncovered
from guardrail.record import record
from guardrail.vocabulary import Coverage, Language

__all__ = ["MAX_CALLS", "MAX_DEPTH", "Interpretation", "interpret", "means_something_to_any_program", "read_as"]


@record
class Interpretation:
    """The effects of a reading's calls. `calls` includes those of inner actions, `passages` the inner texts that people
    would read."""

    effects: tuple[Effect, ...]
    uncovered: tuple[Uncovered, ...]
    coverage: Coverage
    calls: tuple[Call, ...]
    passages: tuple[Passage, ...] = ()


def interpret(reading: Reading, catalogue: Catalogue, facts: Facts) -> Interpretation:
    """Returns the effects of a reading and its uncovered parts."""
    interpreter = Interpreter(catalogue, facts)
    interpreter.read(reading, Frame())
    found = interpreter.findings
    return Interpretation(
        effects=tuple(found.effects),
        uncovered=tuple(found.uncovered),
        coverage=_coverage(reading, found),
        calls=tuple(found.calls),
        passages=tuple(found.passages),
    )


def _coverage(reading: Reading, found: Findings) -> Coverage:
    if not found.uncovered:
        return "none" if reading.language is Language.PROSE and not found.effects else "full"
    return "partial" if found.effects or found.covered_calls else "none"
