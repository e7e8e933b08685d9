"""Reads Python into calls, with knowledge of Python's syntax, names and text functions but of no function's effects.

Statements are followed in order with the values of their variables. A function of the code is followed where it is
called; functions that nothing calls are read at the end as code that may never run.

One object reads a text. Its class is built in steps, one per module, each of which uses the previous ones: `reader.py`
(state and bounds), `values.py`, `calls.py`, `statements.py`. `text.py` computes the results of text functions.
"""

from __future__ import annotations

from guardrail.model import Reading
from guardrail.reading.decoding import normalise
from guardrail.reading.python.statements import Statements
from guardrail.vocabulary import Language


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a Python text, in order, with the texts that people read and the parts that could not be
    read."""
    reader = Statements(normalise(text), offset)
    reader.run()
    return Reading(
        language=Language.PYTHON,
        calls=tuple(reader.calls),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )
