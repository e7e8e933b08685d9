"""Lists the names of tools, of their arguments, and of values in memory that are not tools."""

from __future__ import annotations

from functools import cache

from guardrail.language.actions import TABLE
from guardrail.language.data import data_of


@cache
def tool_names() -> dict[str, frozenset[str]]:
    """Returns the names of tools by their kind: `shell`, `python`, `file_writer` and others."""
    return {kind: frozenset(names) for kind, names in data_of(TABLE)["tools"].items()}


COMMAND_NAMES = (
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
CODE_NAMES = ("code", "script", "source", "source_code", "python", "function", "expression", "javascript", "js")
SQL_NAMES = ("sql", "sql_query", "statement", "statements")
QUERY_NAMES = (*SQL_NAMES, "query", "q", "command")
URL_NAMES = ("url", "uri", "endpoint", "href", "link", "website", "webpage", "page_url", "address_url")
PATH_NAMES = (
    "file_path", "path", "filename", "file", "filepath", "target_file", "notebook_path", "absolute_path", "abs_path",
    "directory", "folder", "dir", "source", "destination", "filePath", "relative_path", "output_path", "new_path",
)  # fmt: skip
PATH_WORDS = dict.fromkeys(PATH_NAMES, "path") | {"destination": "destination", "source": "path"}


@cache
def device_words() -> dict[str, frozenset[str]]:
    """Returns words of devices, by whether they are `kept_on` or `ordinary`."""
    return {kind: frozenset(words) for kind, words in data_of(TABLE)["devices"].items()}


@cache
def memory_words() -> dict[str, frozenset[str]]:
    """Returns words, by their kind, that distinguish values in memory and their methods from tools."""
    return {kind: frozenset(words) for kind, words in data_of(TABLE)["memory"].items()}
