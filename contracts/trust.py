"""Trust: thresholds, and how the registry contract weighs attestations, in the same integer arithmetic. Pure."""

from __future__ import annotations

from typing import Final

THRESHOLDS: Final = {"low": 50, "medium": 70, "high": 85}
"""Least weighted score of each level."""
