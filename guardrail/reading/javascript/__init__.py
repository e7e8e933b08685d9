"""Reads JavaScript and most TypeScript into calls, with knowledge of syntax, modules and text functions but of no
function's effects.

The grammar is tree-sitter-javascript. It is slow for texts that are not JavaScript, so long texts are parsed in parts,
and parsing stops when too much of them was broken.

One object reads a text. Its class is built in steps, one per module, each of which uses the previous ones: `reader.py`
(state and bounds), `values.py`, `calls.py`, `statements.py`.
"""

from __future__ import annotations

from guardrail.model import Reading
from guardrail.reading.decoding import normalise
from guardrail.reading.javascript.statements import Statements
from guardrail.vocabulary import Language


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a JavaScript text, in order, with the texts that people read and the parts that could not be
    read."""
    reader = Statements(normalise(text), offset)
    reader.run()
    return Reading(
        language=Language.JAVASCRIPT,
        calls=tuple(reader.calls),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )
