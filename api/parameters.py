"""Query parameters as a client sent them."""

from __future__ import annotations

from collections import Counter

from fastapi import Request

from contracts.errors import ParameterInvalid
from contracts.problems import MOST_ERRORS


def refuse_repeated(request: Request) -> None:
    """Raise `ParameterInvalid` where a parameter was given more than once: which was meant can't be known."""
    counts = Counter(name for name, _ in request.query_params.multi_items())
    if repeated := sorted(name for name, count in counts.items() if count > 1):
        raise ParameterInvalid(
            f"Given more than once: {', '.join(repeated[:MOST_ERRORS])}.",
            errors=[(f"/query/{name}", "given more than once") for name in repeated],
        )
