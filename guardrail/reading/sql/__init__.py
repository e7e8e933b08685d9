"""Reads SQL into effects, with knowledge of the statements of common databases and of the commands of their shells.

Statements are read token by token, so that statements of any dialect, half statements and hostile lengths are treated
alike: loading a parser and building its tree takes longer than a whole check may, and provides nothing more that is
needed here.

One object reads a text. Its class is built in steps, one per module, each of which uses the previous ones: `reader.py`
(state and bounds), `rows.py`, `things.py`, `sessions.py`, `statements.py`. They use `tokens.py` and `conditions.py`.
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
