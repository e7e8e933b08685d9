"""Describes what an inner action inherits, and bounds how deep actions are followed."""

from __future__ import annotations

from guardrail.model import Call, Span, Word
from guardrail.record import record

MAX_DEPTH = 8
MAX_CALLS = 1_000
MAX_INNER_CHARS = 96 * 1024
"""Maximum total length of the inner texts that are read, since an action may contain itself."""


@record
class Frame:
    """The properties that an inner action inherits. `carrier` is the span of the text that contains it."""

    depth: int = 0
    host: str | None = None
    elevated: bool = False
    sure: bool = True
    carrier: Span | None = None
    directory: Word | None = None


def directory_of(call: Call) -> str | None:
    """Returns the directory that a call runs in, or None if the action names none."""
    return call.directory.text if call.directory is not None else None
