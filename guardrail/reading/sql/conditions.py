"""Judges which share of the rows the condition of a statement selects."""

from __future__ import annotations

from collections.abc import Sequence

from guardrail.reading.sql.tokens import Token
from guardrail.vocabulary import Scope


def reach_of(condition: Sequence[Token]) -> Scope:
    """Returns the share of the rows that a condition selects: all if it always holds, one if a column equals a value,
    else unknown."""
    plain = [token for token in condition if not (token.kind == "p" and token.text in "()")]
    parts: list[list[Token]] = [[]]
    connectives = set()
    for token in plain:
        if token.kind == "w" and token.text in ("AND", "OR") and not _between(parts[-1]):
            connectives.add(token.text)
            parts.append([])
        else:
            parts[-1].append(token)
    always = [_always(part) for part in parts]
    if all(always) or ("OR" in connectives and any(always) and "AND" not in connectives):
        return Scope.ALL
    if any(_equals_value(part) for part in parts) and "OR" not in connectives:
        return Scope.ONE
    return Scope.UNKNOWN


def _between(part: Sequence[Token]) -> bool:
    return any(token.text == "BETWEEN" for token in part[-2:])


def _equals_value(part: Sequence[Token]) -> bool:
    return len(part) >= 3 and part[0].kind in "wq" and part[-2].text == "=" and part[-1].kind != "p"


def _always(part: Sequence[Token]) -> bool:
    """Decides whether a condition always holds, or holds for every realistic row."""
    texts = [token.text for token in part]
    if len(part) == 1:
        return texts[0] in ("TRUE", "1")
    if len(part) == 3 and texts[1] == "=":
        return texts[0] == texts[2]
    if texts[-3:] == ["IS", "NOT", "NULL"]:
        return True
    if len(part) == 3 and texts[1] == "LIKE":
        return texts[2] in ("'%'", "'%%'")
    if len(part) >= 3 and texts[1] == ">":
        return "".join(texts[2:]) in ("0", "=0", "-1", "=1")
    return len(part) == 4 and "".join(texts[1:3]) in ("<>", "!=") and texts[3] in ("''", "0", "-1", "NULL")
