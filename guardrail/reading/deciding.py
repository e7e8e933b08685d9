"""Decides which language a text is written in.

`decide` tries the most certain evidence first: forms that no other language has (a call of a tool, a request, a
Dockerfile), then the facts, then points for marks of each language. A text without marks is a sentence or, failing
that, shell.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING

from guardrail.catalogue.loader import default_catalogue
from guardrail.foreign import is_code
from guardrail.reading.crontab import is_crontab
from guardrail.reading.marks import BASH, CMD, JAVASCRIPT, POWERSHELL, PYTHON, compiled_once
from guardrail.reading.prose_or_shell import (
    QUOTED,
    begins_with_program,
    could_be_said,
    is_prose,
    without_comments,
    without_quoted,
)
from guardrail.reading.units import is_unit
from guardrail.vocabulary import Language

if TYPE_CHECKING:
    import ast

    from guardrail.facts import Facts

LOOKED_AT = 4_096
"""Number of characters of a text that the decision examines."""


def decide(action: str, facts: Facts, programs: Container[str] | None = None) -> Language:
    """Decides which language a text is written in. `programs` defaults to those of the installed catalogue."""
    text = action[:LOOKED_AT].strip()
    if not text:
        return Language.BASH
    tool = (facts.tool or "").lower()
    said = _SAID.get(tool)
    certain = _certain(action, text)
    if certain is not None and not (certain in _FILES and (said in _SHELLS or tool in _ANY_SHELL)):
        return certain
    known = default_catalogue() if programs is None else programs
    if said is not None:
        least = 5 if said in _SHELLS else 3
        if is_prose(text, known, least) and not (said is Language.SQL and is_sql(text)):
            return Language.PROSE
        if tool in _ANY_CODE and JAVASCRIPT.points(text) >= 3:
            python = PYTHON.points(text) > 0 and parses_as_python(action)
            return said if python else Language.JAVASCRIPT
        return said
    if tool in _ANY_SHELL:
        return Language.PROSE if is_prose(text, known, least=4) else shell_of(text, facts)
    if is_sql(text):
        return Language.SQL
    if _calls_of_python(text) and JAVASCRIPT.points(text) < 3:
        return Language.PYTHON
    text = without_comments(text)
    spoken = tool in _SPOKEN or (facts.user_request is not None and not tool)
    if is_prose(text, known, least=2) or (spoken and could_be_said(text, known)):
        return Language.PROSE
    shell = BASH.points(text)
    typed = begins_with_program(text, known) or _TYPED.match(text) is not None
    code = without_quoted(text) if shell or "<<" in text or typed else text
    scores = {
        **_windows_points(code if "<<" in text else text, facts),
        Language.PYTHON: PYTHON.points(code),
        Language.JAVASCRIPT: JAVASCRIPT.points(code),
    }
    best = max(scores, key=lambda language: scores[language])
    if scores[best] >= 3 and scores[best] > shell:
        if best is Language.PYTHON and scores[Language.JAVASCRIPT] >= 3 and not parses_as_python(action):
            return Language.JAVASCRIPT
        return best
    return Language.BASH


def looks_like_code(text: str) -> bool:
    """Decides whether a text has a mark of a language other than sentences and POSIX shell."""
    return is_sql(text) or any(marks.points(text) for marks in _OTHER_MARKS)


def can_mark_code(word: str) -> bool:
    """Decides whether a text of plain words can look like code if it contains this one, or begins with it."""
    if word.rstrip(".,").lower() in _SQL_VERBS:
        return True
    return any(hint in word for marks in _OTHER_MARKS for hint in marks.hints)


_OTHER_MARKS = (PYTHON, JAVASCRIPT, POWERSHELL, CMD)


def _windows_points(text: str, facts: Facts) -> dict[Language, int]:
    powershell, cmd = POWERSHELL.points(text), CMD.points(text)
    if facts.os == "windows":
        powershell += 2 if "$" in text or "-" in text else 0
        cmd += 2 if any(char in text for char in "/%\\") else 0
    if cmd and (";" in text or "$" in text) and _NOT_CMD.search(QUOTED.sub(" ", text)):
        cmd = 0
    return {Language.POWERSHELL: powershell, Language.CMD: cmd}


_NOT_CMD = re.compile(r";\s*[A-Za-z]|\$[A-Za-z{(]")
"""Command separators and variable names of other shells. If cmd read the text, the rest would be operands."""


def shell_of(text: str, facts: Facts) -> Language:
    """Decides which shell a line is written for, if some shell will run it."""
    scores = _windows_points(text, facts)
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] >= 3 and scores[best] > BASH.points(text) else Language.BASH


def _certain(action: str, text: str) -> Language | None:
    if text.startswith("#!"):
        line = text.partition("\n")[0]
        return next((language for name, language in _INTERPRETERS.items() if name in line), Language.BASH)
    if _OF_CODE.search(text) is not None and is_code(text):
        return Language.CODE
    first = text[0]
    if text[:3].isupper():
        from guardrail.reading.http import is_request

        if is_request(action):
            return Language.HTTP
    if first.isupper() and _is_dockerfile(text):
        return Language.DOCKERFILE
    if first in "@*0123456789#ABCDEFGHIJKLMNOPQRSTUVWXYZ" and is_crontab(text):
        return Language.BASH
    if first == "[" and is_unit(text):
        return Language.BASH
    if ":" in text and "\n" in text and _MANIFEST_BEGINS.match(text) is not None:
        from guardrail.reading.manifests import is_manifest

        if is_manifest(text):
            return Language.MANIFEST
    if "Statement" in text or "bindings" in text:
        from guardrail.reading.manifests import is_access_policy

        if is_access_policy(text):
            return Language.MANIFEST
    if first == "{" and '"scripts"' in text:
        from guardrail.reading.manifests import is_package

        if is_package(text):
            return Language.MANIFEST
    if ":" in text and _CI_KEYS.search(text) and _CI_STEPS.search(text):
        return Language.CI
    if "{" in text and _HCL.match(text) is not None:
        return Language.HCL
    if first in "{[<" or _CALL_BEGINS.match(text):
        if _NAME_AND_JSON.match(text):
            from guardrail.reading.tool_calls import is_call

            if is_call(action):
                return Language.TOOL_CALL
        name = text.partition("(")[0]
        if first not in "{[<" and (name in _PYTHON_NAMES or name.partition(".")[0] in _PYTHON_MODULES):
            return Language.PYTHON
        if first not in "{[<" and name.partition(".")[0] in _JAVASCRIPT_MODULES:
            return Language.JAVASCRIPT
        # Without the quotes of the whole action, since the part that is examined may end inside of one.
        if first not in "{[<" and "=>" in text and JAVASCRIPT.points(QUOTED.sub(" ", action)[:LOOKED_AT]) >= 3:
            return Language.JAVASCRIPT
        from guardrail.reading.tool_calls import is_call

        if is_call(action):
            return Language.TOOL_CALL
    return None


_OF_CODE = re.compile(
    r"<\?php|package |use std|fn main|import java|using System|#include|#ifndef|#pragma|static void|use strict"
    r"|require ['\"]|_all\b"
)
"""Parts of the lines that identify a program in a language without a reader, for a quick test."""
_INTERPRETERS = {
    "python": Language.PYTHON,
    "node": Language.JAVASCRIPT,
    "deno": Language.JAVASCRIPT,
    "bun": Language.JAVASCRIPT,
    "pwsh": Language.POWERSHELL,
    "powershell": Language.POWERSHELL,
    **dict.fromkeys(("ruby", "perl", "php", "lua", "Rscript", "julia", "tclsh"), Language.CODE),
}
FENCES = {
    **dict.fromkeys(("bash", "sh", "shell", "zsh", "console", "shell-session", "terminal", "fish"), Language.BASH),
    **dict.fromkeys(("powershell", "ps1", "pwsh", "ps"), Language.POWERSHELL),
    **dict.fromkeys(("cmd", "bat", "batch", "dos"), Language.CMD),
    **dict.fromkeys(("python", "py", "python3"), Language.PYTHON),
    **dict.fromkeys(("javascript", "js", "typescript", "ts", "node"), Language.JAVASCRIPT),
    **dict.fromkeys(("sql", "mysql", "postgresql", "psql", "sqlite", "tsql"), Language.SQL),
    **dict.fromkeys(("dockerfile", "docker"), Language.DOCKERFILE),
    **dict.fromkeys(("hcl", "terraform", "tf"), Language.HCL),
    "http": Language.HTTP,
    "json": Language.TOOL_CALL,
}


def language_named(name: str) -> Language | None:
    """Returns the language that a fence or an argument names, or None if it has no reader."""
    return FENCES.get(name)


_SAID = {
    # names that harnesses give to tools for a single language
    **dict.fromkeys(("bash", "sh", "zsh", "fish"), Language.BASH),
    **dict.fromkeys(("powershell", "pwsh"), Language.POWERSHELL),
    **dict.fromkeys(("cmd", "cmd.exe", "batch"), Language.CMD),
    **dict.fromkeys(("python", "python3", "ipython", "jupyter", "code_interpreter", "run_python"), Language.PYTHON),
    **dict.fromkeys(("javascript", "node", "js", "run_javascript"), Language.JAVASCRIPT),
    **dict.fromkeys(("sql", "execute_sql", "run_sql", "query_database", "psql", "mysql", "sqlite"), Language.SQL),
    **dict.fromkeys(("dockerfile",), Language.DOCKERFILE),
    **dict.fromkeys(("ci", "github_actions", "gitlab_ci"), Language.CI),
}
_ANY_SHELL = frozenset(
    (
        *(
            "shell",
            "terminal",
            "run_terminal_cmd",
            "run_shell_command",
            "execute_command",
            "run_command",
            "exec_command",
        ),
        *("local_shell", "exec", "command", "console"),
    )
)
_ANY_CODE = frozenset(("code_interpreter",))
"""Names that harnesses give to tools that run code, mostly Python."""

_SPOKEN = frozenset(("agent_action", "action", "robot", "household_robot"))
"""Names that harnesses give to tools that accept an action in plain words."""
_SHELLS = frozenset((Language.BASH, Language.POWERSHELL, Language.CMD))
_FILES = frozenset((Language.DOCKERFILE, Language.CI, Language.MANIFEST, Language.HCL, Language.CODE))
"""Languages of files, which nobody types: a shell that receives such a text runs its lines."""
_NAME_AND_JSON = re.compile(r"[A-Za-z_][\w.:/-]{0,120}\s?\{\s*\"")
_CALL_BEGINS = re.compile(r"[A-Za-z_][\w.:-]{0,120}\s?[({]")
_MANIFEST_BEGINS = re.compile(
    r"(?:---[^\n]*\n|#[^\n]*\n|[ \t]*\n)*"
    r"(?:(?:apiVersion|kind|metadata|spec|services|version|name|volumes|networks):|- (?:name|hosts):)"
)
_COMMENT = r"/\*(?:[^*]|\*(?!/)){0,500}\*/"
"""A comment up to its first end mark. If it could extend to a later one, a series of comments could be divided in more
ways than can be tried."""
_HCL = re.compile(
    r"(?:\s|#[^\n]*\n|//[^\n]*\n|" + _COMMENT + r")*(?:(?:resource|data|module|provider|variable|output|ephemeral)"
    r"\s+\"[\w.-]+\"(?:\s+\"[\w.-]+\")?|locals|terraform|moved|removed)\s*\{\s*(?:\n|[\w-]+\s*=|\})",
    re.DOTALL,
)
_CI_KEYS = re.compile(r"(?m)^(?:- )?(?:on|jobs|stages|steps|pipelines|image|name|\"on\"|[\w.-]{1,60}):(?:\s|$)")
_CI_STEPS = re.compile(r"(?m)^\s*(?:- )?(?:run|script|before_script|after_script|commands|uses|steps|bash):(?:\s|$)")
_DOCKER_LINE = re.compile(
    r"(?m)^(FROM|RUN|COPY|ADD|CMD|ENTRYPOINT|ENV|ARG|WORKDIR|USER|EXPOSE|VOLUME|LABEL|SHELL|HEALTHCHECK)[ \t]+\S"
)


def _is_dockerfile(text: str) -> bool:
    first = _DOCKER_LINE.match(text)
    if first is None:
        return False
    if first[1] in ("RUN", "ENTRYPOINT", "HEALTHCHECK", "WORKDIR"):
        return True
    lines = _DOCKER_LINE.findall(text)
    return len(lines) > 1 or (first[1] == "FROM" and len(text.split()) in (2, 4))


_PYTHON_NAMES = frozenset(("print", "exec", "eval", "open", "__import__", "compile", "getattr", "Path", "setattr"))
_PYTHON_MODULES = frozenset(
    (
        *("os", "sys", "shutil", "subprocess", "pathlib", "socket", "requests", "urllib", "httpx", "smtplib", "boto3"),
        *("json", "pickle", "tempfile", "glob", "ctypes", "builtins", "importlib", "asyncio", "time", "signal", "pty"),
        *("np", "pd", "plt", "torch", "psycopg2", "sqlite3", "pymongo", "redis", "paramiko", "winreg", "base64"),
    )
)
_JAVASCRIPT_MODULES = frozenset(
    ("fs", "fsPromises", "child_process", "process", "console", "require", "fetch", "axios", "localStorage", "document")
)


def is_sql(text: str) -> bool:
    """Decides whether a text is an SQL statement by its words and their order, which differ in sentences with the same
    beginning."""
    start = _SQL_BEGINS.match(text)
    return start is not None and start[1].lower() in _SQL_VERBS and compiled_once(_SQL).match(text) is not None


_NAME = r"(?:[\w$#@\"`\[{][\w$#@.\"`\[\]{}-]*)"
_SQL_BEGINS = re.compile(r"(?:\s|--[^\n]*\n|" + _COMMENT + r"|\()*([A-Za-z]+)\b")
_SQL_VERBS = frozenset(
    (
        *("select", "insert", "replace", "update", "delete", "drop", "truncate", "alter", "create", "grant", "revoke"),
        *("with", "merge", "copy", "exec", "execute", "call", "set", "begin", "start", "commit", "rollback", "vacuum"),
        *("reindex", "analyze", "flush", "purge", "reset", "shutdown", "load", "backup", "restore", "attach", "pragma"),
        *("use", "kill", "lock", "explain", "do"),
    )
)
_SQL = (
    r"(?is)(?:\s|--[^\n]*\n|" + _COMMENT + r"|\()*"
    r"(?:"
    r"select\s.{1,2000}?\s(?:from|into)\s+\(?\s*"
    + _NAME
    + r"\s*(?:$|;|,|\)|\w+\s*$|\w+\s*[;,)]|(?:as\s+\w+\s+)?(?:\w+\s+)?"
    r"(?:where|order|group|limit|join|inner|left|right|full|cross|union|having|for|on)\b)"
    r"|select\s.{1,2000}?\sinto\s+(?:outfile|dumpfile)\s+['\"]"
    r"|do\s+(?:language\s+\w+\s+)?(?:\$\w*\$|'\s*(?:begin|declare)\b)"
    r"|select\s+[\w.*']+\s*(?:\(.{0,500}\))?\s*;?\s*$"
    r"|insert\s+(?:ignore\s+)?into\s+" + _NAME + r"\s*(?:\(|values|select|default|set)"
    r"|replace\s+into\s+" + _NAME + r"\s*(?:\(|values|select)"
    r"|update\s+(?:only\s+)?" + _NAME + r"\s+(?:as\s+\w+\s+|\w+\s+)?set\s+" + _NAME + r"\s*="
    r"|delete\s+from\s+(?:only\s+)?"
    + _NAME
    + r"\s*(?:$|;|(?:as\s+)?\w{1,30}\s+where\b|where\b|using\b|returning\b|limit\b|order\b)"
    r"|drop\s+(?:materialized\s+)?(?:table|database|schema|index|view|user|role|function|procedure|trigger|type|sequence"
    r"|keyspace|tablespace|extension|policy|column|login|warehouse|stage)\s+(?:if\s+exists\s+|concurrently\s+)*"
    + _NAME
    + r"\s*(?:,.{0,500})?(?:cascade|restrict|force|purge|on\s.{1,80}|with\s.{1,80})?\s*(?:;|$|\n)"
    r"|copy\s+(?:\(.{1,1000}?\)|"
    + _NAME
    + r"(?:\s*\([\w\s,]{1,400}\))?)\s+(?:to|from)\s+(?:program\s+)?(?:'|stdin|stdout)"
    r"|truncate\s+(?:table\s+)?(?:only\s+)?"
    + _NAME
    + r"\s*(?:,.{0,200})?(?:restart\s+identity|continue\s+identity|cascade|\s)*(?:;|$)"
    r"|alter\s+(?:table|database|schema|user|role|index|view|system|function|type|sequence|login|session|default)\s+"
    r".{0,120}?\b(?:add|drop|rename|alter|modify|change|set|reset|owner|with|enable|disable|identified|password|superuser"
    r"|convert|validate|attach|detach|truncate|engine|nosuperuser|createdb)\b"
    r"|create\s+(?:or\s+replace\s+)?(?:temp\s+|temporary\s+|unique\s+|materialized\s+|global\s+|unlogged\s+)*"
    r"(?:table|database|schema|index|view|user|role|function|procedure|trigger|type|sequence|extension|login|policy)\s+"
    r"(?:if\s+not\s+exists\s+)?"
    + _NAME
    + r"\s*(?:\(|as\b|on\b|identified|with\b|returns|;|$|password|before|after|using)"
    r"|grant\s+(?!.{0,200}?\s(?:the|an?|my|our|his|her|their|this|that)\s).{1,200}?\s(?:on|to)\s+.{1,200}?(?:;|$)"
    r"|revoke\s+.{1,200}?\sfrom\s+" + _NAME + r"\s*(?:;|$|cascade)"
    r"|with\s+(?:recursive\s+)?\w+\s*(?:\([^)]{0,200}\)\s*)?as\s*\("
    r"|merge\s+into\s|copy\s+" + _NAME + r"\s*(?:\([^)]{0,400}\)\s*)?(?:from|to)\s+(?:program\s|stdin|stdout|'|s3)"
    r"|(?:exec|execute|call)\s+" + _NAME + r"\s*(?:\(|@|'|;)"
    r"|set\s+(?:global|session|local|password|role)\s+.{1,200}?(?:=|\bto\b|;|$)"
    r"|(?:begin|start\s+transaction|commit|rollback)\s*;"
    r"|(?:vacuum|reindex|analyze)\s+(?:full\s+|table\s+|database\s+)*" + _NAME + r"\s*(?:;|$)"
    r"|(?:flush\s+(?:tables|privileges|logs)|purge\s+(?:binary|master)\s+logs|reset\s+master|shutdown\s+immediate)\b"
    r"|load\s+data\s|backup\s+database\s|restore\s+database\s|attach\s+database\s|pragma\s+\w+|use\s+" + _NAME + r"\s*;"
    r"|kill\s+(?:connection|query)\s|lock\s+tables?\s|explain\s+(?:analyze\s+)?(?:select|update|delete|insert)\b"
    r")"
)


def parses_as_python(text: str) -> bool:
    return _python_tree(text) is not None


def _calls_of_python(text: str) -> bool:
    """Decides whether each statement of a text calls a function or method by its name:
    `Name.objects.all().delete()`, `session.execute(text("..."))`."""
    if _FUNCTION_CALLED.match(text) is None:
        return False
    import ast

    tree = _python_tree(text)
    return tree is not None and all(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name | ast.Attribute)
        for statement in tree.body
    )


_FUNCTION_CALLED = re.compile(r"[A-Za-z_][\w.]{0,120}\(")


def _python_tree(text: str) -> ast.Module | None:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_TYPED = re.compile(r"[\w.+-]+(?: -[\w-]+)* -[\w-]+[ =]['\"]")
