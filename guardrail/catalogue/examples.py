"""Reads and interprets the examples of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guardrail.catalogue.loader import Catalogue
from guardrail.facts import parse_context
from guardrail.interpret import interpret, read_as
from guardrail.model import Effect


def effects_of(example: Mapping[str, Any], catalogue: Catalogue) -> tuple[tuple[Effect, ...], tuple[str, ...]]:
    """Returns the effects of the example's action, and the reasons for its uncovered parts."""
    facts, _ = parse_context(example.get("context"))
    reading = read_as(example["action"], example.get("language", "auto"), facts, catalogue)
    interpretation = interpret(reading, catalogue, facts)
    return interpretation.effects, tuple(uncovered.reason for uncovered in interpretation.uncovered)
