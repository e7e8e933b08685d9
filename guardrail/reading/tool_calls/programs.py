"""Reads the commands and the code among the arguments of a tool that runs them, in any language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any

from guardrail.catalogue.loader import default_catalogue
from guardrail.facts import Facts
from guardrail.language.actions import TABLE, meaning_of_name, tokens_of_name
from guardrail.language.data import data_of
from guardrail.language.lexicon import Token
from guardrail.model import Call, Reading, Span, Uncovered, Word
from guardrail.reading import reader_of
from guardrail.reading.deciding import decide, language_named, parses_as_python
from guardrail.reading.prose_or_shell import begins_with_program
from guardrail.reading.tool_calls.arguments import first_text, span_of
from guardrail.reading.tool_calls.tables import SQL_NAMES
from guardrail.reading.tool_calls.written import ToolCall
from guardrail.record import record
from guardrail.vocabulary import EffectKind, Language


@record
class Runs:
    """The programs that a tool runs if its name contains one of these words. The table explains the fields."""

    words: tuple[str, ...]
    inside: tuple[str, ...]
    code: tuple[str, ...]
    line: str
    reads: Language | None
    unread: bool


@cache
def _runs() -> Mapping[str, tuple[int, Runs]]:
    """Returns each word's row with its place in the table, of which the first row with a word counts."""
    rows: dict[str, tuple[int, Runs]] = {}
    for place, row in enumerate(data_of(TABLE)["runs"]):
        runs = Runs(
            tuple(row["words"]),
            tuple(row.get("inside", ())),
            tuple(row.get("code", ())),
            row.get("line", ""),
            Language(row["reads"]) if "reads" in row else None,
            row.get("unread", False),
        )
        rows = dict.fromkeys(row["words"], (place, runs)) | rows
    return rows


def row_of(call: ToolCall, spoken: str) -> Runs | None:
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
"""A word without blanks and signs, which may also name a program that is stored elsewhere."""
_CALLING = {
    EffectKind.READ: ("query", "queries", "exec", "execute", "run"),
    EffectKind.SEND: ("call", "send", "terminal", "shell", "console"),
    EffectKind.OVERWRITE: ("terminal", "shell", "console"),
}
"""Words of tool names that make the tool run its argument, although its verb has this kind."""


def programs_of_arguments(tokens: tuple[Token, ...], call: ToolCall, text: str, offset: int) -> Reading | None:
    """Returns the reading of the commands and code that the tool runs, in any language. Parts that no reader knows are
    uncovered. None if the tool runs nothing that it is given."""
    spoken = spoken_language(call.arguments)
    row = row_of(call, spoken)
    if row is not None and "mongosh" in row.code and (statement := _operation_on_documents(call)) is not None:
        return _called(row.code, statement, call, call.span)
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
        _program_of_argument(row, spoken, name, code, call, span_of(code, call, text, offset)) for name, code in given
    ]
    return joined(readings)


def joined(readings: Sequence[Reading]) -> Reading:
    """Returns the readings of the parts of a call as one."""
    return Reading(
        Language.TOOL_CALL,
        tuple(found for reading in readings for found in reading.calls),
        tuple(effect for reading in readings for effect in reading.effects),
        tuple(passage for reading in readings for passage in reading.passages),
        tuple(part for reading in readings for part in reading.uncovered),
    )


def typed_into(tool: str, text: str, offset: int = 0) -> Reading | None:
    """Returns the reading of what a tool for one program is given in place of its arguments: `push --force` for the
    tool `git`, `FLUSHALL` for `redis_cli`. None for other tools, and for a line that begins with another program."""
    words = _words_of_name(tool) - _OF_RUNNING
    _, row = _runs().get("".join(words), (0, None)) if len(words) == 1 else (0, None)
    if row is None or not row.line:
        return None
    catalogue = default_catalogue()
    program = catalogue.program(row.line)
    first = text.split(maxsplit=1)[0]
    own = program is not None and first in (program.level.subcommands or ())
    if first == row.line or (begins_with_program(text, catalogue) and not own):
        return None
    span = Span(offset, offset + len(text))
    lines = text.splitlines() if row.line == "redis-cli" else [text]
    return joined([_line(f"{row.line} {line.strip()}", span) for line in lines if line.strip()])


_OF_RUNNING = frozenset(("cli", "command", "commands", "exec", "execute", "run", "shell", "tool", "client"))
"""Words of a tool's name that only state that it runs something."""


def _operation_on_documents(call: ToolCall) -> str | None:
    """Returns the statement of the shell that a tool for one operation on documents carries out, or None for other
    tools: `delete_many {"collection": "orders", "filter": {}}`."""
    named = str(call.arguments.get("operation") or call.name.rpartition("__")[2])
    operation = _OPERATIONS.get(re.sub(r"[\W_]|mongo(?:db)?", "", named.lower()))
    if operation is None:
        return None
    if operation == "dropDatabase":
        return "db.dropDatabase()"
    collection = f"db.{call.arguments.get('collection', 'collection')}"
    if operation == "drop":
        return f"{collection}.drop()"
    told = [_document(call, "filter", "query", "selector")]
    if not operation.startswith("delete"):
        told.append(_document(call, "update", "replacement"))
    return f"{collection}.{operation}({', '.join(told)})"


def _document(call: ToolCall, *names: str) -> str:
    """Returns the first of these arguments as JSON; an operation without a filter reaches every document."""
    value: Any = next((call.arguments[name] for name in names if name in call.arguments), {})
    return value if isinstance(value, str) else json.dumps(value, default=str)


_OPERATIONS = {
    **{name.lower(): name for name in ("deleteMany", "deleteOne", "updateMany", "updateOne", "replaceOne")},
    **dict.fromkeys(("drop", "dropcollection"), "drop"),
    "dropdatabase": "dropDatabase",
}
"""Methods of a collection by the tools that are named after them."""


def _program_of_argument(row: Runs | None, spoken: str, name: str, code: str, call: ToolCall, span: Span) -> Reading:
    words = _words_of_name(call.name)
    if row is not None and row.line and code.split(" ", 1)[0] == row.line:
        return _line(code, span)
    if row is not None and row.inside and name not in _LINE_NAMES:
        where = first_text(call.arguments, _WHERE_NAMES)
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


def _subcommand_of(name: str, row: Runs) -> Iterator[str]:
    """Yields the words after the program's in a tool's name: `clean` in `git_clean {"args": ["-fdx"]}`."""
    words = [token.text for token in tokens_of_name(name)]
    at = next((at for at, word in enumerate(words) if word in row.words), len(words))
    said = ("run", "execute", "command", "cmd", "cli", *(() if row.inside else ("exec",)))
    yield from (word for word in words[at + 1 :] if word not in said)


def run_later(tokens: tuple[Token, ...], call: ToolCall, text: str, offset: int) -> Iterator[Call]:
    """Yields the calls of a command that the tool only records, for a schedule, a container or a hook."""
    meaning = meaning_of_name(tokens)
    if meaning is None or meaning.kind not in _NOTES:
        return
    for _, command in _programs(call.arguments, (*_COMMANDS, "script"), of_documents=False):
        if " " in command and begins_with_program(command):
            start = span_of(command, call, text, offset).start
            for found in reader_of(Language.BASH)(command, offset=start).calls:
                yield replace(found, sure=False)


_NOTES = frozenset((EffectKind.CREATE, EffectKind.ALTER, EffectKind.PERSIST, EffectKind.INSTALL))


def _language_of_argument(spoken: str, name: str, code: str) -> Language | None:
    """Returns the language of a program: the one that an argument names, else by the program's text and the name of
    its argument."""
    if spoken:
        return language_named(spoken)
    if name in SQL_NAMES:
        return Language.SQL
    decided = decide(code, Facts())
    if decided is not Language.BASH or name in _COMMANDS:
        return decided
    if begins_with_program(code):
        return Language.BASH
    return Language.PYTHON if parses_as_python(code) else None


_APPLESCRIPT = re.compile(r"(?i)\s*(?:tell\s+app|do shell script\b|use framework\b|on run\b|set \w+ to\b)")


def spoken_language(arguments: Mapping[str, Any]) -> str:
    """Returns the name of the language that an argument states."""
    return str(arguments.get("language", arguments.get("lang", ""))).lower()


def _same_name(key: str) -> str:
    """Returns an argument's name without case, signs and words that add nothing: `cmdString`, `script_content`."""
    return re.sub(r"[\W_]|(?<=.)(?:string|str|text|content|body)$", "", key.lower())


def _programs(arguments: Mapping[str, Any], names: Sequence[str], *, of_documents: bool) -> Iterator[tuple[str, str]]:
    """Yields the programs among the arguments, each with the name of its argument: texts, at any depth, and commands
    that a document database receives as data."""
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
            if _same_name(str(key)) in names and (program := first_text({"": value}, ("",))):
                yield _same_name(str(key)), program
            elif isinstance(value, Mapping):
                pending.append(value)
            elif isinstance(value, list):
                pending += [item for item in value if isinstance(item, Mapping)]


def _called(before: tuple[str, ...], code: str, call: ToolCall, span: Span) -> Reading:
    """Returns the call of a program with the code as its last word."""
    words = (*(Word(word, call.span) for word in before[1:]), Word(code, span))
    return Reading(Language.TOOL_CALL, (Call(before[0], words, call.span),))


def _line(line: str, span: Span) -> Reading:
    """Returns the reading of a command line whose first word may not occur in the text."""
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
"""Names of arguments that contain a program, as `_same_name` spells them."""
_COMMANDS = frozenset(_PROGRAM_NAMES[: _PROGRAM_NAMES.index("code")]) - {"script"}
"""Names of arguments that contain a command line, unless something else is stated."""
_OF_CODE = (Language.PYTHON, Language.JAVASCRIPT)
_LINE_NAMES = ("args", "arguments", "argv")
_WHERE_NAMES = (
    "host", "hostname", "server", "target", "machine", "node", "vm", "instance", "connection", "connection_name",
    "connectionName", "container", "container_id", "container_name", "containerId", "containerName", "pod", "pod_name",
    "podName", "name", "id",
)  # fmt: skip
