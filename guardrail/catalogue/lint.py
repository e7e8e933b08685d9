"""Checks catalogue files: that their format is valid, names are unique, and examples hold.

`python -m guardrail.catalogue.lint FILE…` prints faults as `file:line: message` and exits 1 if there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from guardrail.catalogue.checking import Fault, check_source
from guardrail.catalogue.examples import effects_of
from guardrail.catalogue.loader import PROGRAMS, Catalogue, collect, source_files
from guardrail.model import Effect
from guardrail.vocabulary import EffectKind, Place, Scope


def lint(paths: Iterable[Path], programs: Path = PROGRAMS) -> list[Fault]:
    """Returns the faults of the given files: of their format, of names that other files use too, of examples that don't
    hold. Examples are run with the whole catalogue, in which the given files come first."""
    linted = {path.name: path.read_bytes() for path in paths}
    others = {name: content for name, content in source_files(programs).items() if name not in linted}
    plain, collected = collect(linted | others)
    faults = [fault for fault in collected if fault.file in linted or any(name in fault.message for name in linted)]
    catalogue = Catalogue(plain)
    for name, content in linted.items():
        for entry in check_source(name, content)[0]:
            for example in entry.get("examples", ()):
                faults += example_faults(name, example, catalogue)
    return faults


def example_faults(file: str, example: Mapping[str, Any], catalogue: Catalogue) -> list[Fault]:
    """Returns the differences between an example and the effects of its action."""
    effects, reasons = effects_of(example, catalogue)
    shown = ", ".join(spell(effect) for effect in effects) or "nothing"
    if reasons:
        shown += f" (uncovered: {'; '.join(reasons)})"
    if not example["effects"]:
        wrong = [effect for effect in effects if effect.kind is not EffectKind.READ]
        message = f"{example['action']!r} has effects though it should have none: {shown}"
        return [Fault(file, example["line"], message)] if wrong else []
    return [
        Fault(file, example["line"], f"{example['action']!r} lacks the effect `{expected}`; it yields {shown}")
        for expected in example["effects"]
        if not any(matches(expected, effect) for effect in effects)
    ]


def matches(expected: str, effect: Effect) -> bool:
    """Decides whether the effect matches `kind object [scope] [place]`. Production counts as remote, and all as
    many."""
    kind, thing, *rest = expected.split()
    scopes = (effect.scope, Scope.MANY) if effect.scope is Scope.ALL else (effect.scope,)
    places = {str(target.place) for target in effect.targets}
    if Place.PRODUCTION in places:
        places.add(Place.REMOTE)
    return effect.kind == kind and effect.object == thing and all(word in scopes or word in places for word in rest)


def spell(effect: Effect) -> str:
    """Spells an effect in the words of an example, with its targets."""
    places = sorted({str(target.place) for target in effect.targets})
    targets = " ".join(repr(target.text) for target in effect.targets)
    return " ".join(filter(None, (effect.kind, effect.object, effect.scope, *places, targets)))


def main(arguments: list[str]) -> int:
    """Prints the faults and returns 1 if there are any."""
    paths = [Path(argument) for argument in arguments] or sorted(PROGRAMS.glob("*.yaml"))
    faults = lint(paths)
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
