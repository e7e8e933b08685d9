"""Reads the arguments of a call: their values at any depth, and the positions of these in the text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from guardrail.language.actions import PARTS_OF_NAMES
from guardrail.model import Passage, Span, Word
from guardrail.reading.tool_calls.tables import PATH_WORDS
from guardrail.reading.tool_calls.written import MAX_DEPTH, MAX_VALUES, Stopped, ToolCall
from guardrail.record import record


@record
class Leaf:
    """A value without parts: its name is the innermost key, its path contains all keys."""

    name: str
    path: str
    value: Any


def words_of(leaves: list[Leaf], call: ToolCall, text: str, offset: int) -> tuple[Word, ...]:
    """Returns the arguments as words. Tools have different names for a path; the catalogue only knows `path`."""
    return tuple(
        Word(
            value := str(leaf.value),
            span_of(value, call, text, offset),
            name=PATH_WORDS.get(leaf.name, leaf.name),
        )
        for leaf in leaves
        if isinstance(leaf.value, str | int | float)
    )


def first_text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Returns the first of these arguments that is a text, or a command given as a list; None if there is none."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return _command_line(value)
    return None


def _command_line(words: list[str]) -> str:
    """Returns a command given as a list: its words, or the text of `["bash", "-lc", text]`, which the shell's reader
    unfolds."""
    return shlex.join(words) if " " not in words[0] else "\n".join(words)


def has_text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    """Decides whether one of these arguments is a text or a command."""
    return first_text(arguments, names) is not None


def leaves_of(value: Any, name: str = "", path: str = "", depth: int = 0) -> Iterator[Leaf]:
    """Yields the values without parts; an item of a list has the list's name. Raises `Stopped`."""
    pending: list[tuple[Any, str, str, int]] = [(value, name, path, depth)]
    count = 0
    while pending:
        item, name, path, depth = pending.pop()
        if count >= MAX_VALUES or depth > MAX_DEPTH:
            raise Stopped("more values than are read from one call")
        if isinstance(item, Mapping):
            children = [(child, str(key), f"{path}.{key}" if path else str(key)) for key, child in item.items()]
        elif isinstance(item, list | tuple | set):
            children = [(child, name, f"{path}.{number}") for number, child in enumerate(item)]
        else:
            count += 1
            yield Leaf(name, path, item)
            continue
        pending += [(*child, depth + 1) for child in reversed(children)]


def passages_in(leaves: list[Leaf], call: ToolCall, text: str, offset: int) -> tuple[Passage, ...]:
    """Returns the texts among the arguments, which people or other programs read."""
    return tuple(
        Passage(leaf.value, span_of(leaf.value, call, text, offset), leaf.name)
        for leaf in leaves
        if isinstance(leaf.value, str) and leaf.value.strip()
    )


def span_of(value: str, call: ToolCall, text: str, offset: int) -> Span:
    """Returns the span of a value in the text; that of the call if escapes changed its spelling."""
    start = text.find(value, call.span.start - offset, call.span.end - offset) if len(value) < 4_096 else -1
    return call.span if start < 0 else Span(offset + start, offset + start + len(value))


def plain_name(name: str) -> str:
    """Returns a name in lower case without the signs between its parts: `deleteFile` and `delete_file` are the same."""
    return "".join(match[0].lower() for match in PARTS_OF_NAMES.finditer(name))
