"""Finds the calls of tools in a text, as harnesses write them: `name(key=value)`, `name {json}`, JSON, tags."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from guardrail.model import Span
from guardrail.reading.tool_calls.tables import COMMAND_NAMES, SQL_NAMES, URL_NAMES
from guardrail.record import record

MAX_CALLS = 500
MAX_VALUES = 10_000
MAX_DEPTH = 32
MAX_LITERAL = 16_384
_NAME = r"[A-Za-z_](?:[\w.:/-]{0,120}\w)?"
_OPEN_CALL = re.compile(rf"\s*(?:await\s+)?({_NAME})\s*\(")
_NAME_AND_JSON = re.compile(rf"\s*({_NAME})\s*:?\s*(?=[{{\[])")
_REACT = re.compile(rf"^\s*Action:\s*({_NAME})\s*\n+\s*Action[ _]Input:\s*", re.MULTILINE)
_TAGS = re.compile(r"<(?:tool_call|function_call|tool_use)>\s*")
_INVOKE = re.compile(rf"<(?:\w+:)?invoke name=[\"']({_NAME})[\"']\s*>")
_PARAMETER = re.compile(r"<(?:\w+:)?parameter name=[\"']([\w.-]{1,80})[\"'][^>\n]{0,80}>([^<]*)")
_KEYWORD = re.compile(r"\s*([A-Za-z_][\w-]*)\s*(?:=(?!=)|:(?!/))\s*")
_QUOTED_TEXTS = {"'": r"'(?:[^'\\]|\\.)*'|", '"': r'"(?:[^"\\]|\\.)*"|'}
_PIECES = {
    unclosed: re.compile(
        "".join(text for quote, text in _QUOTED_TEXTS.items() if quote not in unclosed)
        + r"""[\[({]|[\])}]|,|[^'"\[\](){},]+|.""",
        re.DOTALL,
    )
    for unclosed in (frozenset[str](), frozenset("'"), frozenset('"'), frozenset("'\""))
}
"""The pieces of arguments, by the kinds of quotes that are never closed."""
_UNKNOWN_ESCAPE = re.compile(r"""\\[^\\'"abfnrtvxuU0-7\n]""")
_NAME_KEYS = (
    "tool",
    "name",
    "tool_name",
    "toolName",
    "function",
    "functionCall",
    "function_call",
    "action",
    "recipient_name",
)
_ARGUMENT_KEYS = (
    "arguments", "input", "args", "parameters", "params", "tool_input", "toolInput", "action_input", "kwargs",
    "rawInput",
)  # fmt: skip
_LISTS = ("tool_calls", "toolCalls", "calls", "tool_uses", "actions", "content", "parts", "function_calls")


@record
class ToolCall:
    """A call of a tool as it is written, with its place in the text. The name is empty if only arguments are there."""

    name: str
    arguments: Mapping[str, Any]
    span: Span


class Stopped(Exception):
    """A bound was reached, so that calls or values would not be examined."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def is_call(text: str) -> bool:
    """Decides whether a text is one or several calls of a tool, even if they are too many to be read."""
    try:
        return next(calls_in(text, 0), None) is not None
    except Stopped:
        return True


def calls_in(text: str, offset: int) -> Iterator[ToolCall]:
    """Yields the calls in a text. `offset` is the position at which the text begins. Raises `Stopped`."""
    stripped = text.strip()
    whole = Span(offset, offset + len(text))
    if stripped[:1] in ("{", "["):
        value = _json(stripped)
        for item in [value] if value is not None else _json_lines(stripped):
            yield from _from_value(item, whole)
        return
    for match in _INVOKE.finditer(text):
        end = text.find("</", match.end())
        body_end = text.find("<invoke", match.end())
        body = text[match.end() : body_end if body_end > 0 else len(text)]
        arguments = {parameter[1]: _scalar(parameter[2]) for parameter in _PARAMETER.finditer(body)}
        yield ToolCall(match[1], arguments, Span(offset + match.start(), offset + max(match.end(), end)))
    if "<" in text:
        for match in _TAGS.finditer(text):
            value, end = _json_at(text, match.end())
            yield from _from_value(value, Span(offset + match.start(), offset + end))
    for match in _REACT.finditer(text):
        value, end = _json_at(text, match.end())
        arguments = value if isinstance(value, dict) else {"0": text[match.end() :].strip()}
        yield ToolCall(match[1], arguments, Span(offset + match.start(), offset + end))
    yield from _written_calls(text, offset)


def _written_calls(text: str, offset: int) -> Iterator[ToolCall]:
    """Yields consecutive calls `name(...)` and `name {json}`; none if there is other text between them."""
    at, found = 0, list[ToolCall]()
    while at < len(text) and len(found) <= MAX_CALLS:
        if text[at:].strip(" \t\r\n;,") == "":
            break
        start = at
        while start < len(text) and text[start] in " \t\r\n;,":
            start += 1
        opening = _OPEN_CALL.match(text, start)
        named = None if opening else _NAME_AND_JSON.match(text, start)
        if opening:
            split = _split_arguments(text, opening.end())
            if split is None:
                return
            arguments, at = split
            only = arguments.get("0") if len(arguments) == 1 else None
            if isinstance(only, dict):  # `name({"key": value})`
                arguments = only
            found.append(ToolCall(opening[1], arguments, Span(offset + start, offset + at)))
        elif named:
            value, at = _json_at(text, named.end())
            if not isinstance(value, dict):
                return
            found.append(ToolCall(named[1], value, Span(offset + start, offset + at)))
        else:
            return
    yield from found


def _from_value(value: Any, span: Span, depth: int = 0) -> Iterator[ToolCall]:
    """Yields the calls in a JSON value: one, a list of them, or the message of a model that contains some."""
    if depth > MAX_DEPTH:
        raise Stopped("calls nested too deeply")
    if isinstance(value, list):
        for item in value:
            yield from _from_value(item, span, depth + 1)
        return
    if not isinstance(value, dict):
        return
    if value.get("method") == "tools/call" and isinstance(value.get("params"), dict):
        yield from _from_value(value["params"], span, depth + 1)
        return
    for key in _LISTS:
        if isinstance(value.get(key), list) and any(isinstance(item, dict) for item in value[key]):
            inner = list(_from_value(value[key], span, depth + 1))
            if inner:
                yield from inner
                return
    for key in _NAME_KEYS:
        name = value.get(key)
        if isinstance(name, dict):
            yield from _from_value(name, span, depth + 1)
            return
        if isinstance(name, str) and re.fullmatch(_NAME, name):
            yield ToolCall(name, _arguments_of(value, key), span)
            return
    if any(key in value for key in (*COMMAND_NAMES, *SQL_NAMES, *URL_NAMES)):
        yield ToolCall("", value, span)


def _arguments_of(value: Mapping[str, Any], name_key: str) -> Mapping[str, Any]:
    for key in _ARGUMENT_KEYS:
        arguments = value.get(key)
        if isinstance(arguments, str):
            parsed = _json(arguments)
            return parsed if isinstance(parsed, dict) else {"0": arguments}
        if isinstance(arguments, dict):
            return arguments
        if isinstance(arguments, list):
            return {str(number): item for number, item in enumerate(arguments)}
    return {key: item for key, item in value.items() if key not in (name_key, "id", "type", "tool_call_id")}


def _json(text: str) -> Any:
    _refuse_depth(text)
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise Stopped("values nested too deeply") from None
    except ValueError:
        return None


def _json_lines(text: str) -> Iterator[Any]:
    """Yields the values of a text that has one on each line; none if a line is something else."""
    lines = [line for line in text.splitlines() if line.strip()]
    if 1 < len(lines) <= MAX_CALLS:
        values = [_json(line) for line in lines]
        if all(isinstance(value, dict | list) for value in values):
            yield from values


def _json_at(text: str, at: int) -> tuple[Any, int]:
    """Returns the JSON value that begins at the position, and its end; None and the end of the text if there is
    none."""
    _refuse_depth(text)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        raise Stopped("values nested too deeply") from None
    except ValueError:
        return None, len(text)
    return value, end


_DECODER = json.JSONDecoder(strict=False)


def _refuse_depth(text: str) -> None:
    """Refuses a text that nests too deeply. Python's recursion limit stops the decoder, but some packages raise it so
    far that the stack overflows first."""
    if _depth(text) > _DEEPEST_JSON:
        raise Stopped("values nested too deeply")


_DEEPEST_JSON = 2_000


@lru_cache(maxsize=4)
def _depth(text: str) -> int:
    deepest = depth = 0
    for match in re.finditer(r"[\[{(]+|[\]})]+", text):
        run = match[0]
        depth += len(run) if run[0] in "[{(" else -len(run)
        deepest = max(deepest, depth)
    return deepest


def _pieces(text: str, at: int) -> Iterator[re.Match[str]]:
    """Yields the pieces of arguments. If nothing closes a quote, nothing closes a later one of its kind either, so the
    rest is not searched for its end again."""
    unclosed = frozenset[str]()
    while (match := _PIECES[unclosed].match(text, at)) is not None:
        yield match
        at = match.end()
        if match[0] in _QUOTED_TEXTS:
            unclosed |= {match[0]}


def _split_arguments(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    """Returns the arguments up to the closing bracket, split at commas, and the end of the call. None if it never
    closes, or if an argument is an expression: then the text is a program."""
    arguments: dict[str, Any] = {}
    depth, start = 0, at
    for match in _pieces(text, at):
        piece = match[0]
        if depth == 0 and piece in (",", ")"):
            argument = text[start : match.start()].strip()
            if argument and not _add_argument(arguments, argument):
                return None
            if piece == ")":
                return arguments, match.end()
            if len(arguments) > MAX_VALUES:
                raise Stopped("more arguments than are read from one call")
            start = match.end()
        elif piece in "[({":
            depth += 1
        elif piece in "])}":
            depth -= 1
            if depth < 0:
                return None
    return None


class Code(str):
    """An argument that is an expression: Python computes it before the tool is called."""

    __slots__ = ()


_EXPRESSION = re.compile(r"[A-Za-z_][\w.]*\s*\(|^[A-Za-z_][\w.]*$|^[^'\"\[{\d+-]")
_CALLS_SOMETHING = re.compile(r"[A-Za-z_][\w.]*\(")
_WORDS_AS_VALUES = frozenset(("true", "false", "none", "null", "nan"))


def _add_argument(arguments: dict[str, Any], argument: str) -> bool:
    keyword = _KEYWORD.match(argument)
    if keyword:
        value = argument[keyword.end() :].strip()
        arguments[keyword[1]] = Code(value) if _CALLS_SOMETHING.match(value) else _scalar(value)
        return True
    if argument.lower() not in _WORDS_AS_VALUES and _EXPRESSION.match(argument):
        return False
    arguments[str(len(arguments))] = _scalar(argument)
    return True


def _scalar(text: str) -> Any:
    """Parses a value: JSON or a Python literal, else the text itself."""
    text = text.strip()
    value = _json(text) if text[:1] in '"[{-0123456789tfn' else None
    if value is not None:
        return value
    if (
        text[:1] in "'\"[{("
        and len(text) <= MAX_LITERAL
        and not _UNKNOWN_ESCAPE.search(text)
        and _depth(text) <= MAX_DEPTH
    ):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return text.strip("'\"")
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    return text
