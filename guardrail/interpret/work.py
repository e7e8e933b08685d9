"""The state that the parts of one interpretation share."""

from __future__ import annotations

from guardrail.catalogue.loader import Catalogue
from guardrail.facts import Facts
from guardrail.interpret.consequences import of_write
from guardrail.interpret.findings import Findings
from guardrail.interpret.memory import Memory
from guardrail.interpret.targets import Targets
from guardrail.model import Call, Effect


class Work:
    """One pass over an action's calls: what it knows, remembers and finds."""

    def __init__(self, catalogue: Catalogue, facts: Facts) -> None:
        self.catalogue = catalogue
        self.facts = facts
        self.findings = Findings()
        self.memory = Memory(catalogue, facts)
        self.targets = Targets(facts, self.memory)


class Part:
    """A part of an interpretation, which adds to the findings of the whole."""

    def __init__(self, work: Work) -> None:
        self.catalogue = work.catalogue
        self.facts = work.facts
        self.findings = work.findings
        self.memory = work.memory
        self.targets = work.targets

    def add_write(self, effect: Effect, directory: str | None, call: Call | None = None) -> None:
        """Adds the further effects of a write, judged by its path."""
        self.findings.add_all(of_write(effect, directory, self.facts, call))
