"""Reads POSIX shell and bash into calls, with knowledge of the shell's grammar and expansions but of no program.

The grammar is tree-sitter-bash. It parses a copy of the text in which here-documents and a few forms that it doesn't
know are blanked, character for character; every extracted text comes from the original.

One object reads a text. Its class is built in steps, one per module, each of which uses the previous ones: `reader.py`
(state and bounds), `expansions.py` (words), `variables.py`, `redirections.py`, `functions.py`, `commands.py`,
`statements.py`. They work on the types of `text.py` and `words.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from guardrail.catalogue.loader import default_catalogue
from guardrail.model import Reading, Word
from guardrail.reading.crontab import commands_of
from guardrail.reading.decoding import Normalised, normalise
from guardrail.reading.shell.own_words import OWN_WORDS
from guardrail.reading.shell.statements import Statements
from guardrail.reading.shell.text import Budget, Source
from guardrail.reading.units import commands_of_unit
from guardrail.vocabulary import Language

__all__ = ["OWN_WORDS", "read", "read_script"]


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a shell text, in order, with the texts that people read and the parts that could not be
    read. The commands of a crontab or of a unit of systemd are read as if they ran now."""
    commands = commands_of(text, default_catalogue())
    if commands is None:
        commands = commands_of_unit(text)
    return read_script(normalise(text if commands is None else commands), offset=offset)


def read_script(
    script: Normalised,
    *,
    offset: int = 0,
    variables: Mapping[str, str] | None = None,
    directory: Word | None = None,
    budget: Budget | None = None,
) -> Reading:
    """Reads a text inside another one like `read`, with its variables and directory, and the remaining budget of the
    whole."""
    shell = Statements(directory, variables or {}, budget or Budget())
    shell.read_source(Source(script.text, script, offset))
    shell.finish()
    return Reading(
        language=Language.BASH,
        calls=tuple(shell.calls),
        effects=tuple(shell.effects),
        passages=tuple(shell.passages),
        uncovered=tuple(shell.uncovered),
    )
