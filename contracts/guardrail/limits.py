"""What the engine takes in: bounds on action and context, and the plain copy of the context that it works on."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MAX_ACTION_BYTES = 32 * 1024
MAX_CONTEXT_DEPTH = 32
MAX_CONTEXT_VALUES = 4_096
MAX_CONTEXT_CHARS = 256 * 1024

_ALLOWED_CONTROLS = "\t\n\r\x1b\x07\x08\x0b\x0c"
_MOST_CONTROLS = 0.3
"""Share of other control characters above which text is binary; a few stand in terminal captures and patches."""


@dataclass(frozen=True)
class Refusal(Exception):
    """Why a request can't be judged. `code` is stable; `pointer` is a JSON pointer into the body."""

    code: Literal["action_empty", "action_too_long", "action_binary", "context_invalid", "context_too_large"]
    pointer: str
    detail: str


def action_refusal(action: object) -> Refusal | None:
    """Why this action can't be judged, or None."""
    if not isinstance(action, str):
        return Refusal("action_binary", "/action", "the action has to be text")
    if not action or action.isspace():
        return Refusal("action_empty", "/action", "the action is empty")
    if len(action) > MAX_ACTION_BYTES or len(action.encode("utf-8", "surrogatepass")) > MAX_ACTION_BYTES:
        return Refusal("action_too_long", "/action", f"the action is longer than {MAX_ACTION_BYTES:,} bytes")
    if "\0" in action or _controls(action) > _MOST_CONTROLS * len(action):
        return Refusal("action_binary", "/action", "the action is binary, not text")
    return None


def _controls(text: str) -> int:
    if text.isprintable():
        return 0
    return sum(
        unicodedata.category(char) in ("Cc", "Cs", "Cn", "Co") and char not in _ALLOWED_CONTROLS for char in text
    )


def plain_context(context: object) -> dict[str, Any]:
    """A copy of the context as dicts with text keys, lists and scalars. Raises `Refusal` where it is out of bounds.

    References by name inside it (`$ref`, anchors, step names) are values like any other and are never followed; an
    object that holds itself ends at the bound on depth.
    """
    if context is None:
        return {}
    if not isinstance(context, Mapping):
        raise Refusal("context_invalid", "/context", "the context has to be an object")
    budget = _Budget()
    copied = budget.copy(context, 1)
    assert isinstance(copied, dict)
    return copied


class _Budget:
    def __init__(self) -> None:
        self._values = MAX_CONTEXT_VALUES
        self._chars = MAX_CONTEXT_CHARS

    def copy(self, value: object, depth: int) -> Any:
        self._values -= 1
        if self._values < 0:
            raise Refusal("context_too_large", "/context", f"the context has more than {MAX_CONTEXT_VALUES:,} values")
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if depth > MAX_CONTEXT_DEPTH:
            raise Refusal(
                "context_too_large", "/context", f"the context is nested deeper than {MAX_CONTEXT_DEPTH} levels"
            )
        if isinstance(value, Mapping):
            return {self._text(str(key)): self.copy(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.copy(item, depth + 1) for item in value]
        raise Refusal(
            "context_invalid", "/context", f"the context holds a {type(value).__name__}, which is no JSON value"
        )

    def _text(self, text: str) -> str:
        self._chars -= len(text)
        if self._chars < 0:
            raise Refusal(
                "context_too_large", "/context", f"the context has more than {MAX_CONTEXT_CHARS:,} characters"
            )
        return encodable(text)


def encodable(text: str) -> str:
    """Text without lone surrogates, which no UTF-8 can hold."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
