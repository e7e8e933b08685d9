"""Reads PowerShell into calls, with knowledge of the language's grammar, aliases and constant expressions but of no
cmdlet's effects.

The reader goes through the text once and needs no grammar tree: the existing grammar takes seconds for hostile texts of
64 KiB, and loses arguments of native programs that it can't parse.

One object reads a text. Its class is built in steps, one per module, each of which uses the previous ones: `reader.py`
(state and bounds), `calls.py`, `expressions.py`, `pipelines.py`, `statements.py`.
"""

from __future__ import annotations

import re

from guardrail.model import Reading, Span
from guardrail.reading.cmd import read as read_cmd
from guardrail.reading.decoding import from_base64, normalise
from guardrail.reading.powershell.statements import Statements
from guardrail.vocabulary import Language

__all__ = ["read", "read_cmd"]

_RUN = re.compile(r"\s*[A-Za-z0-9+/]+={0,2}\s*")


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a PowerShell text, in order, with the texts that people read and the parts that could not be
    read. A text that is one run of base64 is an encoded command."""
    encoded = from_base64(text.strip()) if len(text) > 11 and _RUN.fullmatch(text) else None
    reader = Statements(normalise(encoded or text), offset)
    if encoded is not None:
        reader.carrier = Span(offset, offset + len(text))
    reader.run()
    return Reading(
        language=Language.POWERSHELL,
        calls=tuple(reader.calls),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )
