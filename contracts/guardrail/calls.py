"""Tool calls: the name and arguments of an action written as a call or as JSON, and trees as `path=value` lines."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_LINES = 10_000
_CALL = re.compile(r"\s*([A-Za-z_][\w.:/-]{0,120})\s*\((.*)\)\s*;?\s*\Z", re.DOTALL)
_NAME_KEYS = ("tool", "name", "tool_name", "function", "method", "action", "command")
_ARGUMENT_KEYS = ("arguments", "args", "parameters", "params", "input", "tool_input", "kwargs")
_KEYWORD = re.compile(r"\s*([A-Za-z_]\w*)\s*[=:]\s*")
_UNKNOWN_ESCAPE = re.compile(r"""\\[^\\'"abfnrtv]|\b[0-9]+[A-Za-z_]""")
_WHITE = re.compile(r"\s+")
_OPENING, _CLOSING = frozenset("[({"), frozenset("])}")
_LITERAL = re.compile(r"""['"\[{\d-]|(?:true|false|null|none)$""", re.IGNORECASE)
MAX_JSON_DEPTH = 64


@dataclass(frozen=True)
class Call:
    """A tool's name and its arguments; positional ones are named `0`, `1`, ..."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


def parse_call(action: str) -> Call | None:
    """The call that an action is as a whole, or None: `send_money(recipient="x", amount=5)` or a JSON object."""
    stripped = action.strip()
    if stripped[:1] == "{":
        return _from_json(stripped)
    found = _CALL.match(stripped)
    if found is None:
        return None
    arguments = _literals(stripped, found[1])
    if arguments is None:
        arguments = _split_arguments(found[2])
    return None if arguments is None else Call(found[1], arguments)


def parse_json(text: str) -> Any:
    """A JSON value, or None where the text is none or nested too deep."""
    if text.count("[") + text.count("{") > 5_000 or nesting(text) > MAX_JSON_DEPTH:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def nesting(text: str) -> int:
    """How deep brackets are nested in a text."""
    deepest = depth = 0
    for char in text:
        if char in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]})":
            depth -= 1
    return deepest


def _from_json(text: str) -> Call | None:
    value = parse_json(text)
    if not isinstance(value, dict):
        return None
    for key in _NAME_KEYS:
        name = value.get(key)
        if isinstance(name, dict):
            inner = _from_json(json.dumps(name))
            if inner is not None:
                return inner
        if isinstance(name, str) and name and not _WHITE.search(name):
            for arguments_key in _ARGUMENT_KEYS:
                arguments = value.get(arguments_key)
                if isinstance(arguments, str):
                    arguments = parse_json(arguments) or {"0": arguments}
                if isinstance(arguments, Mapping):
                    return Call(name, dict(arguments))
            return Call(name, {other: item for other, item in value.items() if other != key})
    return Call("", value)


def _literals(text: str, name: str) -> dict[str, Any] | None:
    """Arguments by Python's own grammar, when the text is one call of `name` and each is a literal."""
    # Escapes that Python doesn't know would make its compiler warn.
    if len(text) > 8_192 or _UNKNOWN_ESCAPE.search(text) or nesting(text) > MAX_JSON_DEPTH:
        return None
    try:
        tree = ast.parse(text.rstrip().rstrip(";"), mode="eval").body
        if not isinstance(tree, ast.Call) or ast.unparse(tree.func) != name:
            return None
        arguments = {str(number): ast.literal_eval(each) for number, each in enumerate(tree.args)}
        return arguments | {each.arg: ast.literal_eval(each.value) for each in tree.keywords if each.arg is not None}
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


_PIECE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\[({]|[\])}]|,|[^'"\[\](){},]+|.""", re.DOTALL)


def _split_arguments(body: str) -> dict[str, Any] | None:
    """Arguments split at top-level commas, for calls that are no Python literals: `f(a: 1, b=true, c="x")`.

    None where it is no list of arguments: brackets that don't match, or a positional one that is an expression. Raises
    ValueError above `MAX_LINES` of them.
    """
    arguments: dict[str, Any] = {}
    depth, pieces = 0, list[str]()
    for found in _PIECE.finditer(body + ","):
        piece = found[0]
        depth += (piece in _OPENING) - (piece in _CLOSING)
        if depth < 0:
            return None
        if piece != "," or depth:
            pieces.append(piece)
            continue
        text = "".join(pieces).strip()
        pieces.clear()
        keyword = _KEYWORD.match(text)
        if keyword:
            arguments[keyword[1]] = _scalar(text[keyword.end() :])
        elif text:
            if not _LITERAL.match(text):
                return None
            arguments[str(len(arguments))] = _scalar(text)
        if len(arguments) > MAX_LINES:
            raise ValueError(f"a call with more than {MAX_LINES:,} arguments")
    return None if depth else arguments


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    value = parse_json(text)
    return text if value is None else value


def flattened(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The leaves of a tree as `(path, value)`: `a.b.0.c`. An empty list or object is a leaf of its own.

    Raises ValueError below `MAX_JSON_DEPTH` levels, where a tree that holds itself ends.
    """
    if depth > MAX_JSON_DEPTH:
        raise ValueError(f"nested deeper than {MAX_JSON_DEPTH} levels")
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from flattened(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list | tuple | set) and value:
        for number, item in enumerate(value):
            yield from flattened(item, f"{path}.{number}" if path else str(number), depth + 1)
    else:
        yield path, value


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The texts among the leaves as `(path, text)`, and each list of nothing but texts as one command line too."""
    for at, leaf in flattened(value, path):
        if isinstance(leaf, str):
            yield at, leaf
    pending = [(path, value)]
    while pending:
        at, each = pending.pop()
        if isinstance(each, list | tuple) and each and all(isinstance(item, str) for item in each):
            yield at, shlex.join(each)
        elif isinstance(each, dict | list | tuple):
            items = each.items() if isinstance(each, dict) else enumerate(each)
            pending += [(f"{at}.{key}" if at else str(key), item) for key, item in items]


def values_at(tree: Any, path: str) -> list[Any]:
    """The values at a dotted path; null counts as missing, `*` is any item. A key that itself has dots is found too."""
    if isinstance(tree, dict) and path in tree:
        return [] if tree[path] is None else [tree[path]]
    head, _, rest = path.partition(".")
    if head == "*":
        found = list(tree.values()) if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    elif isinstance(tree, dict) and head in tree:
        found = [tree[head]]
    elif isinstance(tree, list) and head.isdecimal() and int(head) < len(tree):
        found = [tree[int(head)]]
    else:
        return []
    if not rest:
        return [each for each in found if each is not None]
    return [value for each in found for value in values_at(each, rest)]


def one_line(value: Any) -> str:
    """A leaf as text on one line: JSON's words for truth values and null, white space runs as one space."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, dict | list | tuple | set):
        return "{}" if isinstance(value, dict) else "[]"
    return _WHITE.sub(" ", str(value))


def path_lines(value: Any) -> list[str]:
    """A tree as `path=value` lines. Raises ValueError above `MAX_LINES`, or what `flattened` raises."""
    lines = []
    for path, leaf in flattened(value) if value else ():
        lines.append(f"{path}={one_line(leaf)}")
        if len(lines) > MAX_LINES:
            raise ValueError(f"a tree with more than {MAX_LINES:,} values")
    return lines
