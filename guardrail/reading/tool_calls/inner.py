"""Reads what a tool for commands, code, SQL, clicks or a whole screen is given to run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from guardrail.facts import Facts
from guardrail.language.lexicon import Token
from guardrail.model import Reading
from guardrail.reading import reader_of
from guardrail.reading.deciding import LOOKED_AT, is_sql, language_named, shell_of
from guardrail.reading.tool_calls.arguments import first_text, has_text, span_of
from guardrail.reading.tool_calls.programs import programs_of_arguments, row_of, spoken_language
from guardrail.reading.tool_calls.screen import click_reading, screen_reading
from guardrail.reading.tool_calls.tables import CODE_NAMES, COMMAND_NAMES, QUERY_NAMES, tool_names
from guardrail.reading.tool_calls.written import ToolCall
from guardrail.vocabulary import Language

_SQL_START = re.compile(
    r"(?i)^\s*(?:--[^\n]*\n\s*)*(?:select|insert|update|delete|drop|alter|create|truncate|grant|revoke|merge|replace|with"
    r"|call|exec|use|show|describe|explain|begin|set|copy|vacuum|analyze|pragma)\s"
)


def inner_reading(names: set[str], tokens: tuple[Token, ...], call: ToolCall, text: str, offset: int) -> Reading | None:
    """Returns the reading of a command, of code or of SQL that the tool would run."""
    arguments = call.arguments
    if not _RUNS_QUERIES.isdisjoint(token.text for token in tokens):
        for name, value in arguments.items():
            if isinstance(value, str) and is_sql(value[:LOOKED_AT]):
                return _inner(Language.SQL, arguments, (name,), call, text, offset)
    row = row_of(call, "")
    if row is not None and row.reads is None and (run := programs_of_arguments(tokens, call, text, offset)):
        return run
    if any(name.rstrip("0123456789") in tool_names()["computer"] for name in names):
        return screen_reading(call, text, offset)
    if names & tool_names()["clicker"] and (clicked := click_reading(call, text, offset)) is not None:
        return clicked
    spoken = spoken_language(arguments)
    run = None
    if names & tool_names()["powershell"] or (names & tool_names()["shell"] and spoken in ("powershell", "pwsh")):
        run = _inner(Language.POWERSHELL, arguments, (*COMMAND_NAMES, "0"), call, text, offset)
    elif (
        names & tool_names()["shell"]
        or (names & tool_names()["python"] and spoken in ("bash", "sh", "shell"))
        or (not call.name and has_text(arguments, COMMAND_NAMES))
    ):
        given = (*COMMAND_NAMES, "code", "input", "chars", "0")
        shell = Language.BASH
        if names.isdisjoint(_POSIX_SHELLS):
            shell = _SHELLS_NAMED.get(str(arguments.get("shell", "")).lower().removesuffix(".exe"), shell)
            if shell is Language.BASH and "shell" not in arguments and (command := first_text(arguments, given)):
                shell = shell_of(command[:LOOKED_AT], Facts())
        run = _inner(shell, arguments, given, call, text, offset)
    elif names & tool_names()["javascript"] or (
        names & tool_names()["python"] and spoken.startswith(("javascript", "js", "node"))
    ):
        run = _inner(Language.JAVASCRIPT, arguments, (*CODE_NAMES, "0"), call, text, offset)
    elif names & tool_names()["python"] and (not spoken or language_named(spoken) is Language.PYTHON):
        run = _inner(Language.PYTHON, arguments, (*CODE_NAMES, "input", "command", "0"), call, text, offset)
    if run is not None:
        return run
    query = first_text(arguments, QUERY_NAMES)
    searches = any(token.text in _SEARCHES for token in tokens)
    if query is not None and _SQL_START.match(query) and not searches:
        return _inner(Language.SQL, arguments, QUERY_NAMES, call, text, offset)
    return programs_of_arguments(tokens, call, text, offset)


_SEARCHES = frozenset(("search", "find", "grep", "lookup", "suggest"))
"""Words of tools that look for the text they are given."""
_POSIX_SHELLS = frozenset(("bash", "sh", "zsh", "bashtool", "runbash", "executebash"))
_SHELLS_NAMED = {
    **dict.fromkeys(("powershell", "pwsh"), Language.POWERSHELL),
    **dict.fromkeys(("cmd", "batch"), Language.CMD),
}
_RUNS_QUERIES = frozenset(
    ("execute", "executemany", "executescript", "exec", "query", "sql", "raw", "run", "fetch", "select", "prepare")
)
"""Words of tools that run the SQL they are given, whatever their argument is called."""


def _inner(
    language: Language, arguments: Mapping[str, Any], names: tuple[str, ...], call: ToolCall, text: str, offset: int
) -> Reading | None:
    command = first_text(arguments, names)
    if command is None:
        return None
    return reader_of(language)(command, offset=span_of(command, call, text, offset).start)
