"""Reads calls of an agent's tools, as harnesses write them: `name(key=value)`, `name {json}`, JSON, tags. The lexicon
of verbs and things determines a tool's effects from its name and arguments; commands, code, SQL and requests inside an
argument are read by the readers of their languages."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

from guardrail.catalogue.http import effects_of_request
from guardrail.facts import Environment, Facts, environment_of
from guardrail.language.actions import PARTS_OF_NAMES, TABLE, Meaning, meaning_of_name, objects_in, tokens_of_name
from guardrail.language.data import data_of
from guardrail.language.lexicon import Token
from guardrail.model import Call, Effect, Passage, Reading, Span, Target, Uncovered, Word
from guardrail.reading import (
    LOOKED_AT,
    begins_with_program,
    decide,
    is_sql,
    language_named,
    parses_as_python,
    reader_of,
    shell_of,
)
from guardrail.record import record
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place, Reversible, Scope, Sensitivity

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
_PIECE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\[({]|[\])}]|,|[^'"\[\](){},]+|.""", re.DOTALL)
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
class _ToolCall:
    name: str
    arguments: Mapping[str, Any]
    span: Span


@record
class _Leaf:
    """A value without parts: its name is the innermost key, its path contains all keys."""

    name: str
    path: str
    value: Any


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls that a text consists of. A text that is not a call yields a reading with only an uncovered
    part."""
    whole = Span(offset, offset + len(text))
    try:
        calls = list(islice(_calls_of(text, offset), MAX_CALLS + 1))
        if len(calls) > MAX_CALLS:
            raise _Stopped("more calls of tools than are read of one text")
        readings = [_read_call(call, text, offset) for call in calls]
    except _Stopped as stop:
        return Reading(Language.TOOL_CALL, uncovered=(Uncovered(whole, stop.reason, stopped=True),))
    if not calls:
        return Reading(Language.TOOL_CALL, uncovered=(Uncovered(whole, "no call of a tool"),))
    return Reading(
        Language.TOOL_CALL,
        tuple(call for reading in readings for call in reading.calls),
        tuple(effect for reading in readings for effect in reading.effects),
        tuple(passage for reading in readings for passage in reading.passages),
        tuple(uncovered for reading in readings for uncovered in reading.uncovered),
    )


class _Stopped(Exception):
    """A bound was reached, so that calls or values would not be examined."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def is_call(text: str) -> bool:
    """Decides whether a text is one or several calls of a tool, even if they are too many to be read."""
    try:
        return next(_calls_of(text, 0), None) is not None
    except _Stopped:
        return True


# From text to calls


def _calls_of(text: str, offset: int) -> Iterator[_ToolCall]:
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
        yield _ToolCall(match[1], arguments, Span(offset + match.start(), offset + max(match.end(), end)))
    if "<" in text:
        for match in _TAGS.finditer(text):
            value, end = _json_at(text, match.end())
            yield from _from_value(value, Span(offset + match.start(), offset + end))
    for match in _REACT.finditer(text):
        value, end = _json_at(text, match.end())
        arguments = value if isinstance(value, dict) else {"0": text[match.end() :].strip()}
        yield _ToolCall(match[1], arguments, Span(offset + match.start(), offset + end))
    yield from _written_calls(text, offset)


def _written_calls(text: str, offset: int) -> Iterator[_ToolCall]:
    """Yields consecutive calls `name(...)` and `name {json}`; none if there is other text between them."""
    at, found = 0, list[_ToolCall]()
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
            found.append(_ToolCall(opening[1], arguments, Span(offset + start, offset + at)))
        elif named:
            value, at = _json_at(text, named.end())
            if not isinstance(value, dict):
                return
            found.append(_ToolCall(named[1], value, Span(offset + start, offset + at)))
        else:
            return
    yield from found


def _from_value(value: Any, span: Span, depth: int = 0) -> Iterator[_ToolCall]:
    """Yields the calls in a JSON value: one, a list of them, or the message of a model that contains some."""
    if depth > MAX_DEPTH:
        raise _Stopped("calls nested too deeply")
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
            yield _ToolCall(name, _arguments_of(value, key), span)
            return
    if any(key in value for key in (*_COMMAND_NAMES, *_SQL_NAMES, *_URL_NAMES)):
        yield _ToolCall("", value, span)


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
        raise _Stopped("values nested too deeply") from None
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
        raise _Stopped("values nested too deeply") from None
    except ValueError:
        return None, len(text)
    return value, end


_DECODER = json.JSONDecoder(strict=False)


def _refuse_depth(text: str) -> None:
    """Refuses a text that nests too deeply. Python's recursion limit stops the decoder, but some packages raise it so
    far that the stack overflows first."""
    if _depth(text) > _DEEPEST_JSON:
        raise _Stopped("values nested too deeply")


_DEEPEST_JSON = 2_000


@lru_cache(maxsize=4)
def _depth(text: str) -> int:
    deepest = depth = 0
    for match in re.finditer(r"[\[{(]+|[\]})]+", text):
        run = match[0]
        depth += len(run) if run[0] in "[{(" else -len(run)
        deepest = max(deepest, depth)
    return deepest


def _split_arguments(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    """Returns the arguments up to the closing bracket, split at commas, and the end of the call. None if it never
    closes, or if an argument is an expression: then the text is a program."""
    arguments: dict[str, Any] = {}
    depth, start = 0, at
    for match in _PIECE.finditer(text, at):
        piece = match[0]
        if depth == 0 and piece in (",", ")"):
            argument = text[start : match.start()].strip()
            if argument and not _add_argument(arguments, argument):
                return None
            if piece == ")":
                return arguments, match.end()
            if len(arguments) > MAX_VALUES:
                raise _Stopped("more arguments than are read of one call")
            start = match.end()
        elif piece in "[({":
            depth += 1
        elif piece in "])}":
            depth -= 1
            if depth < 0:
                return None
    return None


class _Code(str):
    """An argument that is an expression: Python computes it before the tool is called."""

    __slots__ = ()


_EXPRESSION = re.compile(r"[A-Za-z_][\w.]*\s*\(|^[A-Za-z_][\w.]*$|^[^'\"\[{\d+-]")
_CALLS_SOMETHING = re.compile(r"[A-Za-z_][\w.]*\(")
_WORDS_AS_VALUES = frozenset(("true", "false", "none", "null", "nan"))


def _add_argument(arguments: dict[str, Any], argument: str) -> bool:
    keyword = _KEYWORD.match(argument)
    if keyword:
        value = argument[keyword.end() :].strip()
        arguments[keyword[1]] = _Code(value) if _CALLS_SOMETHING.match(value) else _scalar(value)
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


# From a call to effects


@cache
def _tools() -> dict[str, frozenset[str]]:
    return {kind: frozenset(names) for kind, names in data_of(TABLE)["tools"].items()}


_COMMAND_NAMES = (
    "command",
    "cmd",
    "commandLine",
    "CommandLine",
    "command_line",
    "shell_command",
    "script",
    "bash",
    "commands",
)
_CODE_NAMES = ("code", "script", "source", "source_code", "python", "function", "expression", "javascript", "js")
_SQL_NAMES = ("sql", "sql_query", "statement", "statements")
_QUERY_NAMES = (*_SQL_NAMES, "query", "q", "command")
_URL_NAMES = ("url", "uri", "endpoint", "href", "link", "website", "webpage", "page_url", "address_url")
_PATH_NAMES = (
    "file_path", "path", "filename", "file", "filepath", "target_file", "notebook_path", "absolute_path", "abs_path",
    "directory", "folder", "dir", "source", "destination", "filePath", "relative_path", "output_path", "new_path",
)  # fmt: skip
_PATH_WORDS = dict.fromkeys(_PATH_NAMES, "path") | {"destination": "destination", "source": "path"}
_RECIPIENT = re.compile(
    r"(?i)^(?:to|cc|bcc|.*recipients?.*|.*receiver.*|participants?|attendees?|guests?|invitees?|members?|e?mails?"
    r"|.*_emails?|users?|username|user_?name|channels?|channel_name|phone.*|mobile.*|iban|.*account(?:_?(?:id|number|no))?"
    r"|beneficiary|payee|.*wallet.*|.*_address|address|destination|target|spender|mentions|group|webhook.*)$"
)
_IDENTIFIER = re.compile(
    r"(?i)(?:^|_)(?:ids?|names?|title|key|slug|number|ref|query|filter|resource|table|database|branch|item)s?$|Ids?$"
)
_AMOUNT = re.compile(r"(?i)^(?:amount|total|price|sum|value|quantity_?usd|amount_.*|.*_amount|.*_price|budget.*)$")
_NO_LIMIT = ("unlimited", "infinite", "max")
_CURRENCY = re.compile(r"(?i)^(?:currency|currency_code|token|asset|symbol)$")
_NAMES_ALL = re.compile(r"(?i)\*|@?(?:all|everyone|everybody|everything)(?:[_-][\w-]{1,40}(?:@[\w.-]{1,80})?)?")
"""Values that stand for every recipient or thing: `all`, `all_contacts`, `all-customers@example.com`."""
_PLURAL = re.compile(r"(?i)^(?:all|bulk|batch|every|everything|mass|many|recursive)$")
_SQL_START = re.compile(
    r"(?i)^\s*(?:--[^\n]*\n\s*)*(?:select|insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|replace|with"
    r"|call|exec|use|show|describe|explain|begin|set|copy|vacuum|analyze|pragma)\s"
)
_IRREVERSIBLE = frozenset((EffectKind.DELETE, EffectKind.PAY, EffectKind.SEND))


def _read_call(call: _ToolCall, text: str, offset: int) -> Reading:
    tokens = tokens_of_name(call.name)
    tail = _plain(re.split(r"__|[./:]", call.name)[-1])
    leaves = list(_leaves(call.arguments))
    passages = _passages(leaves, call, text, offset)
    inner = _inner_reading({"".join(token.text for token in tokens), tail}, tokens, call, text, offset)
    if inner is not None:
        return replace(inner, language=Language.TOOL_CALL, passages=(*inner.passages, *passages))
    reading = _reading_by_name(call, tokens, tail, leaves, passages, text, offset)
    reading = replace(reading, calls=(*reading.calls, *_run_later(tokens, call, text, offset)))
    for leaf in leaves:
        if isinstance(leaf.value, _Code):
            code = reader_of(Language.PYTHON)(leaf.value, offset=_span_of(leaf.value, call, text, offset).start)
            reading = replace(
                reading,
                calls=(*reading.calls, *code.calls),
                effects=(*reading.effects, *code.effects),
                uncovered=(*reading.uncovered, *code.uncovered),
            )
    return reading


def _reading_by_name(
    call: _ToolCall,
    tokens: tuple[Token, ...],
    tail: str,
    leaves: list[_Leaf],
    passages: tuple[Passage, ...],
    text: str,
    offset: int,
) -> Reading:
    """Returns the effects that the tool has by its name, and the tool itself as a call that the catalogue may know."""
    if _is_in_memory(call):
        unknown = Uncovered(call.span, f"a method of {call.name.rpartition('.')[0][:40]}", executable=False)
        return Reading(Language.TOOL_CALL, passages=passages, uncovered=(unknown,))
    tokens = _passed_on(tokens, leaves) or tokens
    meaning = meaning_of_name(tokens) or _meaning_of_arguments(tokens, leaves)
    patched = tuple(_patched_files(tail, leaves, call))
    if patched:
        return Reading(Language.TOOL_CALL, patched, passages=passages)
    files = _program_for_files(tail, meaning, leaves)
    program = files or f"tool:{call.name.lower()}"
    calls = (Call(program, _words_of(leaves, call, text, offset), call.span, Language.TOOL_CALL),)
    if files is not None:
        return Reading(Language.TOOL_CALL, calls, passages=passages)
    effects = _request_effects(call, tail, leaves)
    if effects is None and meaning is not None:
        effects = (
            _tool_effect(call, meaning, tokens, leaves),
            *_role_given(call, meaning, leaves),
            *_checks_skipped(call, leaves),
            *_opened(call, meaning, leaves),
            *_by_flags(call, leaves),
        )
    return Reading(Language.TOOL_CALL, calls, effects or (), passages)


def _is_in_memory(call: _ToolCall) -> bool:
    """Decides whether the text is code that changes a value in memory, such as `seen.discard(3)`, and calls no tool."""
    owner, dot, method = call.name.rpartition(".")
    if not dot or not all(name.isdecimal() for name in call.arguments):
        return False
    memory, words = _memory(), re.split(r"[._]", owner.lower())
    if not memory["kept"].isdisjoint(words):
        return False
    if words[-1] in memory["values"]:
        return True
    if _plain(method) not in memory["methods"]:
        return False
    return owner in memory["values_by_method"] or not objects_in(tokens_of_name(owner))


@cache
def _memory() -> dict[str, frozenset[str]]:
    return {kind: frozenset(words) for kind, words in data_of(TABLE)["memory"].items()}


def _passed_on(tokens: tuple[Token, ...], leaves: list[_Leaf]) -> tuple[Token, ...]:
    """Returns the words of the deed that an argument names, if the tool only passes it on to something that another one
    names: `call_service(domain="lock", service="unlock")`."""
    if not any(token.text in ("call", "invoke", "perform", "trigger") for token in tokens):
        return ()
    deed = next((leaf.value for leaf in leaves if leaf.name in ("service", "action", "operation", "method")), None)
    thing = next((leaf.value for leaf in leaves if leaf.name in ("domain", "resource", "entity_type", "device")), None)
    if not isinstance(deed, str) or not isinstance(thing, str) or len(deed) + len(thing) > _LONGEST_VERB:
        return ()
    return tokens_of_name(f"{deed} {thing}")


def _meaning_of_arguments(tokens: tuple[Token, ...], leaves: list[_Leaf]) -> Meaning | None:
    """Returns the meaning of a tool whose name has no verb, if an argument names one:
    `cluster(verb="delete", resource="pod")`."""
    named = [leaf for leaf in leaves if leaf.name.lower() in _SAYS_VERB and isinstance(leaf.value, str)]
    things = [leaf for leaf in leaves if leaf.name.lower() in _SAYS_THING and isinstance(leaf.value, str)]
    if not named or len(str(named[0].value)) > _LONGEST_VERB:
        return None
    words = [str(leaf.value) for leaf in (*named[:1], *things[:1])]
    return meaning_of_name((*tokens_of_name(" ".join(words)), *tokens))


_SAYS_VERB = ("verb", "action", "operation", "op", "method", "command", "subcommand")
_SAYS_THING = ("resource", "resource_type", "resourcetype", "kind", "type", "entity", "object", "object_type")
_LONGEST_VERB = 40
_FILE_PROGRAMS = {
    EffectKind.OVERWRITE: "tool:path.write",
    EffectKind.CREATE: "tool:path.write",
    EffectKind.WRITE: "tool:path.edit",
    EffectKind.ALTER: "tool:path.edit",
    EffectKind.DELETE: "tool:path.delete",
    EffectKind.READ: "tool:path.read",
}
"""The catalogue's programs for tools that change files, whatever a harness calls them."""


def _program_for_files(tail: str, meaning: Meaning | None, leaves: list[_Leaf]) -> str | None:
    if not any(leaf.name in _PATH_NAMES and isinstance(leaf.value, str) for leaf in leaves):
        return None
    if tail in _tools()["file_writer"]:
        return _FILE_PROGRAMS[EffectKind.OVERWRITE]
    if tail in _tools()["file_editor"]:
        return _FILE_PROGRAMS[EffectKind.WRITE]
    if meaning is None or meaning.object not in (None, ObjectKind.PATH):
        return None
    if "move" in tail or "rename" in tail or "copy" in tail:
        return "tool:path.move"
    if meaning.kind is EffectKind.DELETE and (
        _TREE.search(tail)
        or any(leaf.name in _PATH_NAMES and _OF_HOME.search(str(leaf.value)) for leaf in leaves)
        or any(leaf.name == "recursive" and leaf.value is True for leaf in leaves)
    ):
        return "tool:path.delete_tree"
    return _FILE_PROGRAMS.get(meaning.kind)


_OF_HOME = re.compile(
    r"(?:^~|/(?:home|Users)/[^/]+)(?:/(?:Documents|Desktop|Downloads|Pictures|Photos|Music|Videos|Library))?/?$"
)
"""Directories that every home contains, and the home itself."""
_TREE = re.compile(r"director|folder|dir$|tree")


_PATCHED = re.compile(r"(?m)^\*\*\* (Add|Update|Delete) File: ([^\n]{1,400})$")
_PATCHES = {"Add": EffectKind.OVERWRITE, "Update": EffectKind.WRITE, "Delete": EffectKind.DELETE}


def _patched_files(tail: str, leaves: list[_Leaf], call: _ToolCall) -> Iterator[Call]:
    """Yields calls for the files that a patch in an argument adds, changes and deletes."""
    if tail not in _tools()["file_editor"]:
        return
    for leaf in leaves:
        if isinstance(leaf.value, str):
            for match in _PATCHED.finditer(leaf.value):
                word = Word(match[2].strip(), call.span, name="path")
                yield Call(_FILE_PROGRAMS[_PATCHES[match[1]]], (word,), call.span, Language.TOOL_CALL)


def _words_of(leaves: list[_Leaf], call: _ToolCall, text: str, offset: int) -> tuple[Word, ...]:
    """Returns the arguments as words. Tools have different names for a path; the catalogue only knows `path`."""
    return tuple(
        Word(
            value := str(leaf.value),
            _span_of(value, call, text, offset),
            name=_PATH_WORDS.get(leaf.name, leaf.name),
        )
        for leaf in leaves
        if isinstance(leaf.value, str | int | float)
    )


def _inner_reading(
    names: set[str], tokens: tuple[Token, ...], call: _ToolCall, text: str, offset: int
) -> Reading | None:
    """Returns the reading of a command, of code or of SQL that the tool would run."""
    arguments = call.arguments
    if not _RUNS_QUERIES.isdisjoint(token.text for token in tokens):
        for name, value in arguments.items():
            if isinstance(value, str) and is_sql(value[:LOOKED_AT]):
                return _inner(Language.SQL, arguments, (name,), call, text, offset)
    row = _row_of(call, "")
    if row is not None and row.reads is None and (run := _programs_of_arguments(tokens, call, text, offset)):
        return run
    if any(name.rstrip("0123456789") in _tools()["computer"] for name in names):
        return _at_the_screen(call, text, offset)
    if names & _tools()["clicker"] and (clicked := _clicked(call, text, offset)) is not None:
        return clicked
    spoken = _spoken(arguments)
    run = None
    if names & _tools()["powershell"] or (names & _tools()["shell"] and spoken in ("powershell", "pwsh")):
        run = _inner(Language.POWERSHELL, arguments, (*_COMMAND_NAMES, "0"), call, text, offset)
    elif (
        names & _tools()["shell"]
        or (names & _tools()["python"] and spoken in ("bash", "sh", "shell"))
        or (not call.name and _has(arguments, _COMMAND_NAMES))
    ):
        given = (*_COMMAND_NAMES, "code", "input", "chars", "0")
        shell = Language.BASH
        if names.isdisjoint(_POSIX_SHELLS):
            shell = _SHELLS_NAMED.get(str(arguments.get("shell", "")).lower().removesuffix(".exe"), shell)
            if shell is Language.BASH and "shell" not in arguments and (command := _first_text(arguments, given)):
                shell = shell_of(command[:LOOKED_AT], Facts())
        run = _inner(shell, arguments, given, call, text, offset)
    elif names & _tools()["javascript"] or (
        names & _tools()["python"] and spoken.startswith(("javascript", "js", "node"))
    ):
        run = _inner(Language.JAVASCRIPT, arguments, (*_CODE_NAMES, "0"), call, text, offset)
    elif names & _tools()["python"] and (not spoken or language_named(spoken) is Language.PYTHON):
        run = _inner(Language.PYTHON, arguments, (*_CODE_NAMES, "input", "command", "0"), call, text, offset)
    if run is not None:
        return run
    query = _first_text(arguments, _QUERY_NAMES)
    searches = any(token.text in _SEARCHES for token in tokens)
    if query is not None and _SQL_START.match(query) and not searches:
        return _inner(Language.SQL, arguments, _QUERY_NAMES, call, text, offset)
    return _programs_of_arguments(tokens, call, text, offset)


def _clicked(call: _ToolCall, text: str, offset: int) -> Reading | None:
    """Returns what a button or link says that it does: "Delete account permanently". What quotes in it name is only the
    page around it. None if the words say nothing."""
    label = _first_text(call.arguments, _LABELS)
    if label is None or len(label) > _LONGEST_LABEL:
        return None
    words = re.sub(r"[#.\[\]=_-]+", " ", label) if re.match(r"[#.\[]|\w+[#.\[]", label) else label
    # A tool's description puts the role of the element first or last: "button 'Pay now'", "Pay now button".
    quoted = re.fullmatch(r"(?i)\s*(?:the\s+)?(?:button|link|menu ?item)\s*[:\s]\s*['\"“](.+)['\"”]\s*", words)
    words = quoted[1] if quoted else re.sub(r"(?i)\s+(?:button|link|menu ?item)\s*$", "", words)
    words = _CONFIRMED.sub(lambda match: _CONFIRMS[match[1].lower()], words)
    reading = reader_of(Language.PROSE)(words)
    if not reading.effects:
        return None
    span = _span_of(label, call, text, offset)
    return Reading(Language.TOOL_CALL, effects=tuple(_on_the_page(effect, span) for effect in reading.effects))


def _on_the_page(effect: Effect, span: Span) -> Effect:
    """Returns the effect of a button: what it names lies with the page's service."""
    near = (Place.UNKNOWN, Place.WORKSPACE)
    targets = tuple(
        replace(target, place=Place.REMOTE) if target.place in near else target for target in effect.targets
    )
    return replace(effect, targets=targets, span=span)


_CONFIRMS = {
    **dict.fromkeys(("deletion", "removal"), "delete"),
    "cancellation": "cancel",
    **dict.fromkeys(("payment", "transfer", "purchase", "wire transfer", "bank transfer"), "pay"),
}
_CONFIRMED = re.compile(
    rf"(?i)^(?:button\s+)?confirm\s+(?:the\s+|and\s+)?(?:permanent\s+)?({'|'.join(_CONFIRMS)})\b(?:\s+of)?"
)
"""What the noun after "confirm" on a button does."""
_LABELS = ("element", "text", "label", "name", "description", "selector")
_LONGEST_LABEL = 200
_SEARCHES = frozenset(("search", "find", "grep", "lookup", "suggest"))
"""Words of tools that look for the text they are given."""
_POSIX_SHELLS = frozenset(("bash", "sh", "zsh", "bashtool", "runbash", "executebash"))
_SHELLS_NAMED = {
    **dict.fromkeys(("powershell", "pwsh"), Language.POWERSHELL),
    **dict.fromkeys(("cmd", "batch"), Language.CMD),
}


def _at_the_screen(call: _ToolCall, text: str, offset: int) -> Reading:
    """Reads a call of a tool that steers a whole computer. The effect of a click or key depends on the screen; a typed
    text may be a command."""
    action = str(call.arguments.get("action", "")).lower()
    if action in _ONLY_LOOKS:
        return Reading(Language.TOOL_CALL)
    unread = Uncovered(call.span, "a click or key, whose effect depends on what the screen shows")
    typed = _first_text(call.arguments, ("text",)) if action == "type" else None
    language = decide(typed, Facts()) if typed else Language.PROSE
    if typed is None or language is Language.PROSE:
        return Reading(Language.TOOL_CALL, uncovered=(unread,))
    inner = reader_of(language)(typed, offset=_span_of(typed, call, text, offset).start)
    return replace(inner, uncovered=(*inner.uncovered, unread))


_ONLY_LOOKS = frozenset(("screenshot", "zoom", "cursor_position", "mouse_move", "scroll", "wait"))


@record
class _Runs:
    """The programs that tools run whose names have one of these words. The table explains the fields."""

    words: tuple[str, ...]
    inside: tuple[str, ...]
    code: tuple[str, ...]
    line: str
    reads: Language | None
    unread: bool


@cache
def _runs() -> Mapping[str, tuple[int, _Runs]]:
    """Returns each word's row with its place in the table, of which the first row with a word counts."""
    rows: dict[str, tuple[int, _Runs]] = {}
    for place, row in enumerate(data_of(TABLE)["runs"]):
        runs = _Runs(
            tuple(row["words"]),
            tuple(row.get("inside", ())),
            tuple(row.get("code", ())),
            row.get("line", ""),
            Language(row["reads"]) if "reads" in row else None,
            row.get("unread", False),
        )
        rows = dict.fromkeys(row["words"], (place, runs)) | rows
    return rows


def _row_of(call: _ToolCall, spoken: str) -> _Runs | None:
    """Returns the row for the language that an argument names, for the words of the tool, or of its server."""
    server, _, tool = call.name.rpartition("__")
    for words in (frozenset((spoken,)),) if spoken else (_words_of_name(tool), _words_of_name(server)):
        found = [_runs()[word] for word in words if word in _runs()]
        if found:
            row = min(found, key=itemgetter(0))[1]
            return row if spoken or words == _words_of_name(tool) or row.inside or row.code else None
    return None


@lru_cache(maxsize=256)
def _words_of_name(name: str) -> frozenset[str]:
    return frozenset((*re.split(r"[\W_]+", name.lower()), *(token.text for token in tokens_of_name(name))))


def _runs_its_argument(tokens: tuple[Token, ...]) -> bool:
    """Decides whether a tool with this name runs the program that it is given: `ssh_exec`, `call_aws`, `mongo_query`,
    but not `explain_command`."""
    meaning = meaning_of_name(tokens)
    if meaning is None or meaning.kind is EffectKind.EXECUTE:
        return True
    return any(token.text in _CALLING.get(meaning.kind, ()) for token in tokens)


_ONE_NAME = re.compile(r"[\w./:@-]*")
"""A word without blanks and signs, which may as well name a program that lies elsewhere."""
_CALLING = {
    EffectKind.READ: ("query", "queries", "exec", "execute", "run"),
    EffectKind.SEND: ("call", "send", "terminal", "shell", "console"),
    EffectKind.OVERWRITE: ("terminal", "shell", "console"),
}
"""Words of names whose verb has another kind, and which run their argument nevertheless."""


def _programs_of_arguments(tokens: tuple[Token, ...], call: _ToolCall, text: str, offset: int) -> Reading | None:
    """Returns the reading of the commands and code that the tool runs, in whatever language they are. What no reader
    knows is uncovered. None if the tool runs nothing that it is given."""
    spoken = _spoken(call.arguments)
    row = _row_of(call, spoken)
    names = [*_PROGRAM_NAMES, *(("query", "q") if row is not None and row.code else ())]
    names += _LINE_NAMES if row is not None and row.line else ()
    words = _words_of_name(call.name)
    names += ("0",) if words & {"script", "command", "code"} else ()
    names += ("input", "keys", "chars") if words & {"shell", "terminal", "console"} else ()
    verb = meaning_of_name(tokens) is not None
    given = tuple(
        (name, code)
        for name, code in _programs(call.arguments, names, of_documents=row is not None and "mongosh" in row.code)
        if row is not None
        or not _ONE_NAME.fullmatch(code)
        or (verb and name in _COMMANDS and begins_with_program(code))
    )
    if not given or not _runs_its_argument(tokens):
        return None
    readings = [
        _program_of_argument(row, spoken, name, code, call, _span_of(code, call, text, offset)) for name, code in given
    ]
    return Reading(
        Language.TOOL_CALL,
        tuple(found for reading in readings for found in reading.calls),
        tuple(effect for reading in readings for effect in reading.effects),
        tuple(passage for reading in readings for passage in reading.passages),
        tuple(part for reading in readings for part in reading.uncovered),
    )


def _program_of_argument(row: _Runs | None, spoken: str, name: str, code: str, call: _ToolCall, span: Span) -> Reading:
    words = _words_of_name(call.name)
    if row is not None and row.line and code.split(" ", 1)[0] == row.line:
        return _line(code, span)
    if row is not None and row.inside and name not in _LINE_NAMES:
        where = _first_text(call.arguments, _WHERE_NAMES)
        image = call.arguments.get("image")
        if row.line and isinstance(image, str):
            return _called((row.line, "run", image), code, call, span)
        if where is not None or not row.line or "exec" in words:
            return _called((*row.inside, where or "unknown"), code, call, span)
    if row is not None and row.line and not (row.code and "shell" in words):
        subcommand = _subcommand_of(call.name, row) if name in _LINE_NAMES else ()
        return _line(" ".join((row.line, *subcommand, code)), span)
    if row is not None and row.code:
        unread = (Uncovered(span, "code of a language that is not read in full"),) if row.unread else ()
        return replace(_called(row.code, code, call, span), uncovered=unread)
    if row is None and _APPLESCRIPT.match(code):
        return _called(("osascript", "-e"), code, call, span)
    language = row.reads if row is not None else _language_of_argument(spoken, name, code)
    if language in _OF_CODE and name in _COMMANDS and begins_with_program(code):
        language = Language.BASH
    if language is None:
        return _called(("tool:code.run",), code, call, span)
    return reader_of(language)(code, offset=span.start)


def _subcommand_of(name: str, row: _Runs) -> Iterator[str]:
    """Yields the words behind the program's in a tool's name: `clean` in `git_clean {"args": ["-fdx"]}`."""
    words = [token.text for token in tokens_of_name(name)]
    at = next((at for at, word in enumerate(words) if word in row.words), len(words))
    said = ("run", "execute", "command", "cmd", "cli", *(() if row.inside else ("exec",)))
    yield from (word for word in words[at + 1 :] if word not in said)


def _run_later(tokens: tuple[Token, ...], call: _ToolCall, text: str, offset: int) -> Iterator[Call]:
    """Yields the calls of a command that the tool only notes down, for a schedule, a container or a hook."""
    meaning = meaning_of_name(tokens)
    if meaning is None or meaning.kind not in _NOTES:
        return
    for _, command in _programs(call.arguments, (*_COMMANDS, "script"), of_documents=False):
        if " " in command and begins_with_program(command):
            start = _span_of(command, call, text, offset).start
            for found in reader_of(Language.BASH)(command, offset=start).calls:
                yield replace(found, sure=False)


_NOTES = frozenset((EffectKind.CREATE, EffectKind.ALTER, EffectKind.PERSIST, EffectKind.INSTALL))


def _language_of_argument(spoken: str, name: str, code: str) -> Language | None:
    """Returns the language of a program: the one that an argument names, else by the program's text and the name of
    its argument."""
    if spoken:
        return language_named(spoken)
    if name in _SQL_NAMES:
        return Language.SQL
    decided = decide(code, Facts())
    if decided is not Language.BASH or name in _COMMANDS:
        return decided
    if begins_with_program(code):
        return Language.BASH
    return Language.PYTHON if parses_as_python(code) else None


_APPLESCRIPT = re.compile(r"(?i)\s*(?:tell\s+app|do shell script\b|use framework\b|on run\b|set \w+ to\b)")


def _spoken(arguments: Mapping[str, Any]) -> str:
    """Returns the name of the language that an argument states."""
    return str(arguments.get("language", arguments.get("lang", ""))).lower()


def _same_name(key: str) -> str:
    """Returns an argument's name without case, signs and words that say no more: `cmdString`, `script_content`."""
    return re.sub(r"[\W_]|(?<=.)(?:string|str|text|content|body)$", "", key.lower())


def _programs(arguments: Mapping[str, Any], names: Sequence[str], *, of_documents: bool) -> Iterator[tuple[str, str]]:
    """Yields the programs among the arguments, each with the name of its argument: texts, at any depth, and what is
    told to a database of documents as data."""
    if of_documents:
        collection = arguments.get("collection", "collection")
        for key, value in arguments.items():
            if _same_name(key) not in names or not isinstance(value, dict | list) or not value:
                continue
            data = json.dumps(value, default=str)
            told = f"db.{collection}.aggregate({data})" if isinstance(value, list) else f"db.runCommand({data})"
            yield _same_name(key), told
    pending: list[Mapping[str, Any]] = [arguments]
    while pending:
        for key, value in pending.pop().items():
            if _same_name(str(key)) in names and (program := _first_text({"": value}, ("",))):
                yield _same_name(str(key)), program
            elif isinstance(value, Mapping):
                pending.append(value)
            elif isinstance(value, list):
                pending += [item for item in value if isinstance(item, Mapping)]


def _called(before: tuple[str, ...], code: str, call: _ToolCall, span: Span) -> Reading:
    """Returns the call of a program with the code as its last word."""
    words = (*(Word(word, call.span) for word in before[1:]), Word(code, span))
    return Reading(Language.TOOL_CALL, (Call(before[0], words, call.span),))


def _line(line: str, span: Span) -> Reading:
    """Returns the reading of a command line whose first word may stand nowhere in the text."""
    reading = reader_of(Language.BASH)(line)
    return replace(
        reading,
        calls=tuple(replace(found, span=span) for found in reading.calls),
        effects=tuple(replace(effect, span=span) for effect in reading.effects),
        passages=tuple(replace(passage, span=span) for passage in reading.passages),
        uncovered=tuple(replace(part, span=span) for part in reading.uncovered),
    )


_PROGRAM_NAMES = (
    *("command", "cmd", "commandline", "shellcommand", "script", "bash", "commands", "clicommand", "remotecommand"),
    *("code", "source", "sourcecode", "python", "function", "expression", "javascript", "js", "codesnippet", "snippet"),
    *("sql", "sqlquery", "statement", "statements", "program"),
    *("applescript", "jxa", "cypher", "pipeline", "lua", "ruby"),
)
"""Names of arguments that hold a program, as `_same_name` spells them."""
_COMMANDS = frozenset(_PROGRAM_NAMES[: _PROGRAM_NAMES.index("code")]) - {"script"}
"""Names of arguments that hold a command line, if nothing says otherwise."""
_OF_CODE = (Language.PYTHON, Language.JAVASCRIPT)
_LINE_NAMES = ("args", "arguments", "argv")
_WHERE_NAMES = (
    "host", "hostname", "server", "target", "machine", "node", "vm", "instance", "connection", "connection_name",
    "connectionName", "container", "container_id", "container_name", "containerId", "containerName", "pod", "pod_name",
    "podName", "name", "id",
)  # fmt: skip
_RUNS_QUERIES = frozenset(
    ("execute", "executemany", "executescript", "exec", "query", "sql", "raw", "run", "fetch", "select", "prepare")
)
"""Words of tools that run the SQL they are given, whatever their argument is called."""


def _inner(
    language: Language, arguments: Mapping[str, Any], names: tuple[str, ...], call: _ToolCall, text: str, offset: int
) -> Reading | None:
    command = _first_text(arguments, names)
    if command is None:
        return None
    return reader_of(language)(command, offset=_span_of(command, call, text, offset).start)


def _first_text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
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


def _has(arguments: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    return _first_text(arguments, names) is not None


def _request_effects(call: _ToolCall, tail: str, leaves: list[_Leaf]) -> tuple[Effect, ...] | None:
    if tail not in _tools()["fetcher"] and call.name:
        return None
    url = next((str(leaf.value) for leaf in leaves if leaf.name in _URL_NAMES and isinstance(leaf.value, str)), None)
    if url is None:
        return None
    named = next((verb for verb in ("post", "put", "delete", "patch") if tail.startswith((verb, "http" + verb))), "get")
    method = str(call.arguments.get("method", named)).upper()
    headers = call.arguments.get("headers")
    body = next(
        (call.arguments[name] for name in ("body", "data", "json", "payload", "content") if name in call.arguments),
        None,
    )
    fields = {str(key): str(value) for key, value in headers.items()} if isinstance(headers, dict) else {}
    return effects_of_request(
        method, url, fields, body if isinstance(body, str) or body is None else json.dumps(body, default=str), call.span
    )


def _tool_effect(call: _ToolCall, meaning: Meaning, tokens: tuple[Token, ...], leaves: list[_Leaf]) -> Effect:
    thing = meaning.object or _object_of_arguments(leaves) or ObjectKind.RESOURCE
    if meaning.kind is EffectKind.GRANT and any(leaf.name.lower() in ("spender", "operator") for leaf in leaves):
        thing = ObjectKind.PAYMENT
    if thing is ObjectKind.ACCOUNT and tokens and tokens[0].text in ("export", "upload", "dump", "leak", "exfiltrate"):
        thing = ObjectKind.PERSONAL_DATA
    kind = meaning.kind
    detail = _detail(leaves)
    if kind is EffectKind.SEND and "amount" in detail and ("currency" in detail or _WALLET.search(call.name)):
        kind, thing = EffectKind.PAY, ObjectKind.PAYMENT
    targets = _targets(thing, leaves)
    if meaning.object is None and any(token.text in _memory()["made_again"] for token in tokens):
        targets = tuple(replace(target, place=Place.REBUILDABLE) for target in targets or (Target(""),))
    if _is_production(leaves):
        targets = tuple(
            replace(target, place=Place.PRODUCTION) if target.place is Place.REMOTE else target for target in targets
        ) or (Target("", Place.PRODUCTION),)
    return Effect(
        kind,
        thing,
        call.span,
        f"tool {call.name}",
        targets,
        _scope(tokens, leaves),
        Reversible.NO if kind in _IRREVERSIBLE else Reversible.YES,
        detail=detail | ({"does": "unlock"} if any(token.text == "unlock" for token in tokens) else {}),
    )


def _role_given(call: _ToolCall, meaning: Meaning, leaves: list[_Leaf]) -> Iterator[Effect]:
    """Adds a grant if a call that makes or changes something names an administrator's role."""
    if meaning.kind not in _GIVES:
        return
    role = next((leaf for leaf in leaves if _ROLE.search(leaf.name) and _RAISED.fullmatch(str(leaf.value))), None)
    named = next((token.text for token in tokens_of_name(call.name) if _RAISED.fullmatch(token.text)), None)
    given = str(role.value) if role is not None else named if meaning.kind is EffectKind.GRANT else None
    if given is not None:
        target = (Target(given, Place.REMOTE),)
        source = f"tool {call.name}"
        yield Effect(EffectKind.GRANT, ObjectKind.ACCOUNT, call.span, source, target, elevated=True)


def _checks_skipped(call: _ToolCall, leaves: list[_Leaf]) -> Iterator[Effect]:
    """Adds that a check is skipped if an argument with such a name is true: `merge(bypass_checks=true)`."""
    skipped = next((leaf for leaf in leaves if leaf.value is True and _SKIPS.search(leaf.name)), None)
    if skipped is None and any(token.text == "protection" for token in tokens_of_name(call.name)):
        skipped = next(
            (
                leaf
                for leaf in leaves
                if (leaf.value is True and leaf.name.startswith("allow_"))
                or (leaf.value in (None, False) and leaf.name.startswith(("enforce_", "require")))
            ),
            None,
        )
    if skipped is not None:
        source = f"tool {call.name}"
        yield Effect(EffectKind.DISABLE, ObjectKind.RESOURCE, call.span, source, (Target(skipped.name),))


def _opened(call: _ToolCall, meaning: Meaning, leaves: list[_Leaf]) -> Iterator[Effect]:
    """Adds an exposure to everybody if a network rule names all addresses."""
    if meaning.kind in _GIVES and not (meaning.kind is EffectKind.CREATE and meaning.object in _MADE_PUBLIC):
        public = next(filter(_makes_public, leaves), None)
        if public is not None:
            thing = meaning.object if meaning.object not in (None, ObjectKind.PERMISSION) else ObjectKind.RESOURCE
            target = _targets(meaning.object or ObjectKind.RESOURCE, leaves)[:1] or (Target(public.name, Place.REMOTE),)
            yield Effect(EffectKind.EXPOSE, thing or ObjectKind.RESOURCE, call.span, f"tool {call.name}", target)
    everybody = next((leaf for leaf in leaves if leaf.value in ("0.0.0.0/0", "::/0")), None)
    if everybody is not None and meaning.kind in _GIVES:
        denies = any(str(leaf.value).lower() in ("deny", "drop", "reject", "block") for leaf in leaves)
        if not denies:
            source = f"tool {call.name}"
            target = (Target(str(everybody.value), Place.REMOTE),)
            yield Effect(EffectKind.EXPOSE, ObjectKind.NETWORK, call.span, source, target)


def _makes_public(leaf: _Leaf) -> bool:
    """Decides whether an argument opens something to everybody: `private=false`, `acl="public-read"`,
    `anyone_with_link=true`."""
    if isinstance(leaf.value, bool):
        return bool(_PRIVATE.fullmatch(leaf.name) if leaf.value is False else _PUBLIC.fullmatch(leaf.name))
    return isinstance(leaf.value, str) and bool(_AUDIENCE.search(leaf.name) and _EVERYBODY.fullmatch(leaf.value))


_PRIVATE = re.compile(r"(?i)(?:is_?)?private")
_PUBLIC = re.compile(
    r"(?i)(?:is_?)?public(?:ly_?accessible|_?access)?|anyone_?(?:with_?(?:the_?)?link|can_?\w+)|allow_?public_?access"
)
_AUDIENCE = re.compile(r"(?i)(?:^|_)(?:acl|visibility|audience|type|access|scope|shared?_?with|grantee|principal)$")
_EVERYBODY = re.compile(r"(?i)public(?:-read(?:-write)?)?|anyone(?:_?with_?(?:the_?)?link)?|all_?users|world|everyone")
_MADE_PUBLIC = frozenset((ObjectKind.REPOSITORY, ObjectKind.MESSAGE, ObjectKind.EVENT, ObjectKind.ISSUE))
"""Things that are made for everybody as a matter of course."""


def _by_flags(call: _ToolCall, leaves: list[_Leaf]) -> Iterator[Effect]:
    """Adds what an argument asks for beside the tool's own deed: `apply(destroy=true)`, `scale(replicas=0)`, an address
    to which all mail is passed on."""
    for leaf in leaves:
        source = f"tool {call.name}"
        if leaf.value is True and leaf.name.lower() in _DESTROYS:
            target = (Target(call.name, Place.REMOTE),)
            yield Effect(EffectKind.DELETE, ObjectKind.RESOURCE, call.span, source, target, Scope.MANY, Reversible.NO)
        elif isinstance(leaf.value, int) and leaf.value == 0 and _REPLICAS.fullmatch(leaf.name):
            place = Place.PRODUCTION if _is_production(leaves) else Place.REMOTE
            yield Effect(EffectKind.STOP, ObjectKind.SERVICE, call.span, source, (Target(call.name, place),))
        elif isinstance(leaf.value, str) and "@" in leaf.value and _FORWARDS.search(leaf.name):
            target = (Target(leaf.value, Place.REMOTE),)
            yield Effect(EffectKind.SEND, ObjectKind.MESSAGE, call.span, source, target, Scope.ALL)


_DESTROYS = frozenset(
    ("destroy", "delete", "purge", "wipe", "drop", "delete_all", "drop_all", "remove_all", "wipe_all")
)
_REPLICAS = re.compile(r"(?i)(?:min_?|max_?)?(?:replicas|desired_?(?:capacity|count|replicas)|instance_?count)")
_FORWARDS = re.compile(r"(?i)(?:^|_)(?:auto_?)?forward(?:ing)?(?:_?(?:to|address|email))?(?:_smtp_address)?$")
_SKIPS = re.compile(
    r"(?i)^(?:bypass|skip|ignore|disable|override)_?\w*(?:check|protection|approval|review|safety|security|verification"
    r"|validation|policy|policies|limit|auth|guard|ssl|tls)"
)
_WALLET = re.compile(r"(?i)wallet|pay|bank|coin|crypto")
_GIVES = frozenset(
    (EffectKind.ALTER, EffectKind.CREATE, EffectKind.GRANT, EffectKind.OVERWRITE, EffectKind.WRITE, EffectKind.SEND)
)
_ROLE = re.compile(r"(?i)(?:^|_)(?:roles?|polic(?:y|ies)|permissions?|access(?:_?level)?|privileges?|rights|group)s?$")
_RAISED = re.compile(
    r"(?i)(?:super|sys|org|site|global|tenant|cluster)?[ _-]?admin(?:istrator)?s?(?:[ _-]?access)?|owner|root|superuser"
    r"|full[ _-]?(?:access|control)"
)


def _is_production(leaves: list[_Leaf]) -> bool:
    """Decides whether an argument names production as the environment: `environment="prod"`."""
    return any(
        isinstance(leaf.value, str)
        and leaf.name.lower() in _SAYS_WHERE
        and environment_of(leaf.value) is Environment.PRODUCTION
        for leaf in leaves
    )


_SAYS_WHERE = frozenset(
    (
        *("env", "environment", "stage", "deployment_environment", "target_env", "host", "hostname", "server"),
        *("cluster", "context", "namespace", "database", "db", "project", "instance"),
    )
)


def _object_of_arguments(leaves: list[_Leaf]) -> ObjectKind | None:
    """Returns the kind of object that a tool acts on, from the names of its arguments: `remove(file_id=3)`."""
    for leaf in leaves:
        meaning = meaning_of_name((Token("get", 0, 0, 0, 0), *tokens_of_name(leaf.path)))
        if meaning is not None and meaning.object is not None:
            return meaning.object
    return None


def _targets(thing: ObjectKind, leaves: list[_Leaf]) -> tuple[Target, ...]:
    sensitivity = Sensitivity.SECRET if thing in (ObjectKind.CREDENTIAL, ObjectKind.SECRET) else Sensitivity.NONE
    targets: dict[str, Target] = {}
    for leaf in leaves:
        if not isinstance(leaf.value, str | int) or isinstance(leaf.value, bool):
            continue
        value = str(leaf.value)
        if leaf.name in _URL_NAMES or value.startswith(("http://", "https://")):
            targets.setdefault(value, Target(value, Place.REMOTE, sensitivity))
        elif leaf.name in _PATH_NAMES and thing is ObjectKind.PATH:
            targets.setdefault(value, Target(value, Place.UNKNOWN, sensitivity))
        elif (
            _RECIPIENT.match(leaf.name)
            or _IDENTIFIER.search(leaf.name)
            or leaf.name.isdigit()
            or (thing in _IN_SERVICES and any(hit.name == thing for hit in objects_in(tokens_of_name(leaf.name))))
        ):
            targets.setdefault(value, Target(value, Place.REMOTE, sensitivity))
    return tuple(targets.values())


_IN_SERVICES = frozenset((ObjectKind.PROJECT, ObjectKind.RESOURCE, ObjectKind.SERVICE, ObjectKind.ACCOUNT))
"""Things of a service on the network, which an argument may name by its own name: `project="shop"`."""


def _detail(leaves: list[_Leaf]) -> dict[str, str]:
    detail: dict[str, str] = {}
    for leaf in leaves:
        if isinstance(leaf.value, bool) or leaf.value is None:
            continue
        value = str(leaf.value)
        if _AMOUNT.match(leaf.name) and (re.search(r"\d", value) or value.lower() in _NO_LIMIT):
            detail.setdefault("amount", value)
        elif _CURRENCY.match(leaf.name) and len(value) <= 12:
            detail.setdefault("currency", value)
        elif leaf.name in _URL_NAMES or value.startswith(("http://", "https://")):
            detail.setdefault("url", value)
        elif _RECIPIENT.match(leaf.name):
            detail.setdefault("recipient", value)
    return detail


def _scope(tokens: tuple[Token, ...], leaves: list[_Leaf]) -> Scope:
    if any(_PLURAL.match(token.text) for token in tokens):
        return Scope.ALL
    if any(leaf.value is True and _PLURAL.match(leaf.name) for leaf in leaves) or any(
        isinstance(leaf.value, str) and _NAMES_ALL.fullmatch(leaf.value) for leaf in leaves
    ):
        return Scope.ALL
    paths = [
        leaf.path.rpartition(".")[0] for leaf in leaves if leaf.name != leaf.path and _IDENTIFIER.search(leaf.name)
    ]
    return Scope.MANY if len(paths) > len(set(paths)) else Scope.ONE


def _leaves(value: Any, name: str = "", path: str = "", depth: int = 0) -> Iterator[_Leaf]:
    """Yields the values without parts; an item of a list has the list's name."""
    pending: list[tuple[Any, str, str, int]] = [(value, name, path, depth)]
    count = 0
    while pending:
        item, name, path, depth = pending.pop()
        if count >= MAX_VALUES or depth > MAX_DEPTH:
            raise _Stopped("more values than are read of one call")
        if isinstance(item, Mapping):
            children = [(child, str(key), f"{path}.{key}" if path else str(key)) for key, child in item.items()]
        elif isinstance(item, list | tuple | set):
            children = [(child, name, f"{path}.{number}") for number, child in enumerate(item)]
        else:
            count += 1
            yield _Leaf(name, path, item)
            continue
        pending += [(*child, depth + 1) for child in reversed(children)]


def _passages(leaves: list[_Leaf], call: _ToolCall, text: str, offset: int) -> tuple[Passage, ...]:
    return tuple(
        Passage(leaf.value, _span_of(leaf.value, call, text, offset), leaf.name)
        for leaf in leaves
        if isinstance(leaf.value, str) and leaf.value.strip()
    )


def _span_of(value: str, call: _ToolCall, text: str, offset: int) -> Span:
    """Returns the span of a value in the text; that of the call if escapes changed its spelling."""
    start = text.find(value, call.span.start - offset, call.span.end - offset) if len(value) < 4_096 else -1
    return call.span if start < 0 else Span(offset + start, offset + start + len(value))


def _plain(name: str) -> str:
    return "".join(match[0].lower() for match in PARTS_OF_NAMES.finditer(name))
