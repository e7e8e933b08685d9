"""Numbers as contexts and calls write them."""

from __future__ import annotations

import math
from typing import Any


def number(value: Any) -> float | None:
    """A number, also one written as text with separators or a currency sign; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        bare = value.strip().lstrip("$€£").replace(",", "").replace("_", "")
        if len(bare) > 400:
            return None
        try:
            value = int(bare, 0) if bare[:2].lower() == "0x" else float(bare)
        except ValueError:
            return None
    if not isinstance(value, int | float):
        return None
    try:
        converted = float(value)
    except OverflowError:
        return math.inf
    return None if math.isnan(converted) else converted
