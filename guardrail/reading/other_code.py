"""Reads programs in languages without a reader: treats their quoted commands, statements and paths like those in code
that a tool runs."""

from __future__ import annotations

from guardrail.catalogue.loader import default_catalogue
from guardrail.model import Call, Reading, Span, Word
from guardrail.vocabulary import Language


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the run of the program as one call, and the lines that only a shell would understand: to a shell, the
    first line of a program is a mistake or a comment, and it runs the rest."""
    from guardrail.reading.shell import read as read_shell  # imports the grammar, which most programs don't need

    programs = default_catalogue()
    span = Span(offset, offset + len(text))
    calls = [Call("tool:code.run", (Word(text, span),), span, Language.CODE)]
    at = offset
    for line in text.split("\n"):
        first, _, rest = line.strip().partition(" ")
        if rest[:1] in _OPERANDS and first in programs and first not in _OF_LANGUAGES:
            calls += read_shell(line, offset=at).calls
        at += len(line) + 1
    return Reading(Language.CODE, calls=tuple(calls))


_OPERANDS = frozenset("-/~.*$")
"""The first characters of an operand as people type it."""
_OF_LANGUAGES = frozenset(("print", "printf", "return", "exit", "sort", "open", "split", "join", "go", "case", "test"))
