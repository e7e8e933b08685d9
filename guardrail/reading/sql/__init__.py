"""Reads SQL into effects, with knowledge of the statements of common databases and of the commands of their shells.

Statements are read token by token, so that dialects' own statements, half statements and hostile lengths are treated
alike: loading a parser and making its tree takes longer than a whole check may, and provides no more than is needed
here.

One object reads a text. Its class is made in steps, one a module, each of which uses those before it: `reader.py`
(state and bounds), `rows.py`, `things.py`, `sessions.py`, `statements.py`. `tokens.py` and `conditions.py` are what
they work on.
"""

from __future__ import annotations

from guardrail.model import Reading
from guardrail.reading.decoding import normalise
from guardrail.reading.sql.statements import Statements
from guardrail.vocabulary import Language


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the effects of a text's statements, the commands that they pass to a shell, and the parts that could not
    be read."""
    reader = Statements(normalise(text), offset)
    reader.run()
    return Reading(
        language=Language.SQL,
        calls=tuple(reader.calls),
        effects=tuple(reader.effects),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )
