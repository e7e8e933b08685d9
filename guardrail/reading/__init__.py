"""Readers: from a text to calls, effects, passages and the parts that could not be read. There is one module per
language; this one decides which language a text is written in.

`decide` tries the most certain evidence first: forms that no other language has (a call of a tool, a request, a
Dockerfile), then the facts, then points for marks of each language. A text without marks is a sentence or, failing
that, shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from guardrail.catalogue.loader import default_catalogue
from guardrail.foreign import is_code
from guardrail.model import Passage, Reading, Span
from guardrail.record import record
from guardrail.vocabulary import Language

if TYPE_CHECKING:
    import ast

    from guardrail.facts import Facts

LOOKED_AT = 4_096
"""Characters of a text that the decision examines."""

_READERS: Mapping[Language, tuple[str, str]] = {
    Language.BASH: ("guardrail.reading.shell", "read"),
    Language.POWERSHELL: ("guardrail.reading.powershell", "read"),
    Language.CMD: ("guardrail.reading.powershell", "read_cmd"),
    Language.PYTHON: ("guardrail.reading.python", "read"),
    Language.JAVASCRIPT: ("guardrail.reading.javascript", "read"),
    Language.SQL: ("guardrail.reading.sql", "read"),
    Language.TOOL_CALL: ("guardrail.reading.tool_calls", "read"),
    Language.HTTP: ("guardrail.reading.http", "read"),
    Language.DOCKERFILE: ("guardrail.reading.ci", "read_dockerfile"),
    Language.CI: ("guardrail.reading.ci", "read_ci"),
    Language.MANIFEST: ("guardrail.reading.manifests", "read"),
    Language.HCL: ("guardrail.reading.terraform", "read"),
    Language.CODE: ("guardrail.reading.other_code", "read"),
    Language.PROSE: ("guardrail.reading.sentences", "read"),
}

_Read = Callable[..., Reading]


@cache
def reader_of(language: Language) -> _Read:
    """Returns the reader of a language, imported at first use: grammars and parsers take time to load."""
    module, name = _READERS[language]
    reader: _Read = getattr(import_module(module), name)
    return reader


def read(action: str, facts: Facts, programs: Container[str] | None = None) -> Reading:
    """Reads an action in the language that it is written in. Also reads code in a sentence's fences and backticks, if
    the sentence asks to run it. `programs` are the names of known programs."""
    language = decide(action, facts, programs)
    reading = reader_of(language)(action)
    if language is not Language.PROSE:
        # Text that addresses a model is read as prose, whatever language it resembles.
        if language is Language.BASH and not reading.passages and _speaks_to_a_model(action):
            reading = replace(reading, passages=(Passage(action, Span(0, len(action))),))
        return reading
    for code, start, fenced in _code_in_prose(action):
        inner_language = decide(code, facts, programs) if not fenced else _FENCES.get(fenced, Language.BASH)
        if inner_language is Language.PROSE:
            continue
        inner = reader_of(inner_language)(code, offset=start)
        reading = replace(
            reading,
            calls=(*reading.calls, *inner.calls),
            effects=(*reading.effects, *inner.effects),
            passages=(*reading.passages, *inner.passages),
            uncovered=(*reading.uncovered, *inner.uncovered),
        )
    if not reading.passages:
        whole = Passage(action, Span(0, len(action)))
        reading = replace(reading, passages=(whole,))
    return reading


def _speaks_to_a_model(text: str) -> bool:
    # Most texts have none of these letters, which is quicker to test than that none is a separate word.
    return any(map(text.__contains__, _PARTS_OF_MODELS)) and _MODELS.search(text) is not None


_MODELS = re.compile(r"\b(?:AI|[Aa]ssistants?|[Cc]opilot|[Cc]hatbot|[Ll]anguage models?|LLMs?)\b")
_PARTS_OF_MODELS = ("AI", "ssistant", "opilot", "hatbot", "anguage model", "LLM")


def decide(action: str, facts: Facts, programs: Container[str] | None = None) -> Language:
    """Decides which language a text is written in. Without `programs`, those of the installed catalogue are known."""
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
        return Language.PROSE if _is_prose(text, known, least) else said
    if tool in _ANY_SHELL:
        return Language.PROSE if _is_prose(text, known, least=4) else shell_of(text, facts)
    if is_sql(text):
        return Language.SQL
    if _calls_of_python(text) and _JAVASCRIPT.points(text) < 3:
        return Language.PYTHON
    text = _without_comments(text)
    spoken = tool in _SPOKEN or (facts.user_request is not None and not tool)
    if _is_prose(text, known, least=2) or (spoken and _could_be_said(text, known)):
        return Language.PROSE
    shell = _BASH.points(text)
    typed = begins_with_program(text, known) or _TYPED.match(text) is not None
    code = _without_quoted(text) if shell or "<<" in text or typed else text
    scores = {
        **_windows_points(text, facts),
        Language.PYTHON: _PYTHON.points(code),
        Language.JAVASCRIPT: _JAVASCRIPT.points(code),
    }
    best = max(scores, key=lambda language: scores[language])
    if scores[best] >= 3 and scores[best] > shell:
        if best is Language.PYTHON and scores[Language.JAVASCRIPT] >= 3 and not parses_as_python(action):
            return Language.JAVASCRIPT
        return best
    return Language.BASH


def _is_prose(text: str, programs: Container[str], least: int) -> bool:
    """Decides whether a text looks more like a sentence than like shell or code."""
    prose = prose_points(text, programs)
    if prose < least:
        return False
    ahead = prose - shell_points(text, programs)
    return ahead > 0 and ahead > max(_PYTHON.points(text), _JAVASCRIPT.points(text))


def is_sentence(text: str, programs: Container[str]) -> bool:
    """Decides whether a text that has no certain form and is not SQL counts as a sentence, without any facts."""
    return _is_prose(text, programs, least=2)


def looks_like_code(text: str) -> bool:
    """Decides whether a text has a mark of a language other than sentences and POSIX shell."""
    if is_sql(text) or _PYTHON.points(text) or _JAVASCRIPT.points(text):
        return True
    return bool(_POWERSHELL.points(text) or _CMD.points(text))


def _could_be_said(text: str, programs: Container[str]) -> bool:
    """Decides whether a text, where actions are stated in words, has no sign of a command: no program with operands as
    one types them, no form of shell or code."""
    line = text.partition("\n")[0]
    words = line.split()
    if len(words) < 2 or _SHELL_SHAPES.search(text) is not None or _PYTHON.points(text) or _JAVASCRIPT.points(text):
        return False
    if sum(1 for word in words if _WORD.match(word)) * 4 < len(words) * 3:
        return False
    if not begins_with_program(line, programs):
        return True
    return len(words) > 2 and any(word.lower().strip(".,:;!?'\"") in _COMMON_WORDS for word in words[1:])


def _windows_points(text: str, facts: Facts) -> dict[Language, int]:
    powershell, cmd = _POWERSHELL.points(text), _CMD.points(text)
    if facts.os == "windows":
        powershell += 2 if "$" in text or "-" in text else 0
        cmd += 2 if any(char in text for char in "/%\\") else 0
    if cmd and (";" in text or "$" in text) and _NOT_CMD.search(_QUOTED.sub(" ", text)):
        cmd = 0
    return {Language.POWERSHELL: powershell, Language.CMD: cmd}


_NOT_CMD = re.compile(r";\s*[A-Za-z]|\$[A-Za-z{(]")
"""Separators of commands and names of variables in other shells. If cmd read the text, the rest would be operands."""


def shell_of(text: str, facts: Facts) -> Language:
    """Decides which shell a line is for that some shell will run."""
    scores = _windows_points(text, facts)
    best = max(scores, key=lambda language: scores[language])
    return best if scores[best] >= 3 and scores[best] > _BASH.points(text) else Language.BASH


# --- forms that no other language has ---


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
    if ":" in text and "\n" in text and _MANIFEST_BEGINS.match(text) is not None:
        from guardrail.reading.manifests import is_manifest

        if is_manifest(text):
            return Language.MANIFEST
    if ":" in text and _CI_KEYS.search(text) and _CI_STEPS.search(text):
        return Language.CI
    if "{" in text and _HCL.match(text) is not None:
        return Language.HCL
    if first in "{[<" or _CALL_BEGINS.match(text):
        name = text.partition("(")[0]
        if first not in "{[<" and (name in _PYTHON_NAMES or name.partition(".")[0] in _PYTHON_MODULES):
            return Language.PYTHON
        if first not in "{[<" and name.partition(".")[0] in _JAVASCRIPT_MODULES:
            return Language.JAVASCRIPT
        if first not in "{[<" and "=>" in text and _JAVASCRIPT.points(_QUOTED.sub(" ", text)) >= 3:
            return Language.JAVASCRIPT
        from guardrail.reading.tool_calls import is_call

        if is_call(action):
            return Language.TOOL_CALL
    return None


_OF_CODE = re.compile(
    r"<\?php|package |use std|fn main|import java|using System|#include|#ifndef|#pragma|static void|use strict"
    r"|require ['\"]|_all\b"
)
"""Parts of the lines by which a program in a language without a reader is recognised, for a quick look."""
_INTERPRETERS = {
    "python": Language.PYTHON,
    "node": Language.JAVASCRIPT,
    "deno": Language.JAVASCRIPT,
    "bun": Language.JAVASCRIPT,
    "pwsh": Language.POWERSHELL,
    "powershell": Language.POWERSHELL,
    **dict.fromkeys(("ruby", "perl", "php", "lua", "Rscript", "julia", "tclsh"), Language.CODE),
}
_FENCES = {
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
    """Returns the language that a fence or an argument names, or None if nobody here reads it."""
    return _FENCES.get(name)


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

_SPOKEN = frozenset(("agent_action", "action", "robot", "household_robot"))
"""Names that harnesses give to tools that accept an action in plain words."""

_SHELLS = frozenset((Language.BASH, Language.POWERSHELL, Language.CMD))
_FILES = frozenset((Language.DOCKERFILE, Language.CI, Language.MANIFEST, Language.HCL, Language.CODE))
"""Languages of files, which nobody types: a shell that receives such a text runs its lines."""

_CALL_BEGINS = re.compile(r"[A-Za-z_][\w.:-]{0,120}\s?[({]")
_MANIFEST_BEGINS = re.compile(
    r"(?:---[^\n]*\n|#[^\n]*\n|[ \t]*\n)*"
    r"(?:(?:apiVersion|kind|metadata|spec|services|version|name|volumes|networks):|- (?:name|hosts):)"
)
_HCL = re.compile(
    r"(?:\s|#[^\n]*\n|//[^\n]*\n|/\*.{0,500}?\*/)*(?:(?:resource|data|module|provider|variable|output|ephemeral)"
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
    return start is not None and start[1].lower() in _SQL_VERBS and _compiled(_SQL).match(text) is not None


_NAME = r"(?:[\w$#@\"`\[{][\w$#@.\"`\[\]{}-]*)"
_SQL_BEGINS = re.compile(r"(?s)(?:\s|--[^\n]*\n|/\*.{0,500}?\*/|\()*([A-Za-z]+)\b")
_SQL_VERBS = frozenset(
    (
        *("select", "insert", "replace", "update", "delete", "drop", "truncate", "alter", "create", "grant", "revoke"),
        *("with", "merge", "copy", "exec", "execute", "call", "set", "begin", "start", "commit", "rollback", "vacuum"),
        *("reindex", "analyze", "flush", "purge", "reset", "shutdown", "load", "backup", "restore", "attach", "pragma"),
        *("use", "kill", "lock", "explain", "do"),
    )
)
_SQL = (
    r"(?is)(?:\s|--[^\n]*\n|/\*.{0,500}?\*/|\()*"
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


# --- marks of languages, with their points ---


class Mark(NamedTuple):
    """A mark of a language and its points. It starts at the beginning of the text or after one of the signs `behind`,
    or anywhere if that is None. A text with the mark contains one of `needs` in lower case, if there are any."""

    points: int
    behind: str | None
    needs: tuple[str, ...]
    expression: str


@record
class Marks:
    """Marks of a language, which are searched for if the text contains one of the hints."""

    hints: tuple[str, ...]
    rows: tuple[Mark, ...]

    def points(self, text: str) -> int:
        """Returns the points of the marks that the text has."""
        for hint in self.hints:
            if hint in text:
                break
        else:
            return 0
        lowered = text.lower() if text.isascii() else ""  # other letters may have several lower-case spellings
        found = 0
        # Loops, since each text is searched for about forty marks.
        for points, behind, needs, expression in self.rows:
            if needs and lowered:
                for needed in needs:
                    if needed in lowered:
                        break
                else:
                    continue
            compiled = _compiled(expression)
            if behind is not None:
                for sign in behind:
                    if sign in text:
                        break
                else:
                    found += points if compiled.match(text) is not None else 0
                    continue
            if compiled.search(text) is not None:
                found += points
        return found


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compiles an expression when a text first needs it."""
    return re.compile(expression)


def _marks(hints: str, *rows: tuple[int, str | None, tuple[str, ...], str]) -> Marks:
    return Marks(tuple(hints.split(" ")), tuple(Mark(*row) for row in rows))


_BASH = _marks(
    "$ [ && || > | = ; \n echo sudo",
    (
        2,
        "\n",
        ("if [", "then", "fi", "esac", "do", "for ", "while read", "case "),
        r"(?m)^\s*(?:if \[|then$|fi$|done$|esac$|do$|for \w+ in |while read|case .{1,80} in$)",
    ),
    (2, None, ("$(", "${", "]];", "[[ "), r"\$\(\(|\$\([a-z]|\$\{\w+[:#%/-]|\]\];|\[\[ "),
    (
        1,
        None,
        ("&& ", "|| ", "2>&1", ">/dev/null", "> /dev/null", " | "),
        r"&& |\|\| |2>&1|>/dev/null|> /dev/null| \| (?:grep|awk|sed|xargs|head|tail|sort|bash|sh|tee|jq|wc|cut|tr)\b",
    ),
    (
        1,
        "\n",
        (),
        r"(?m)^\s*(?:export|sudo|source|set -[eux]|echo|cd|apt-get|git|curl|rm|mkdir|chmod|docker|npm|pip)\s",
    ),
    (1, "\n", ("=",), r"(?m)^\w+=\S*$|^\w+=\S+ \w"),
)
_POWERSHELL = _marks(
    "- $ [ | :\\ iex iwr gci",
    (
        4,
        "\n|;{(=&",
        ("-",),
        r"(?im)(?:^|[|{(=&]|(?<!\\);)\s*(?:get|set|new|remove|add|clear|start|stop|restart|invoke|import|export|out|write|test|select|where|foreach"
        r"|copy|move|rename|enable|disable|register|unregister|install|uninstall|update|convertto|convertfrom|format|measure"
        r"|sort|group|send|receive|connect|disconnect|enter|exit|expand|compress|join|split|resolve|wait|suspend|resume"
        r"|grant|revoke|protect|unprotect|unblock|block|mount|dismount|initialize|reset|restore|backup|checkpoint|debug"
        r"|publish|unpublish|save|find|search|show|hide|push|pop|read|repair|tee|use|optimize|undo)-[a-z][a-z0-9]{1,40}\b"
        r"(?=\s|$|;|\||\))(?![\w/.])",
    ),
    (
        3,
        "\n|;{(=&",
        ("-",),
        r"(?im)(?:^|[|;{(=&])\s*(?:ri|rni|mi|mp|ni|ci|cpi|cpp|gi|gp|si|sp|rp|rv|clc|cli|clp|gps|spps|saps|sasv|spsv|icm|ipmo"
        r"|gwmi|iwmi|rwmi|rjb)\s(?:[^|;\n]*\s)?-[a-z]{4,20}\b",
    ),
    (2, "", ("$",), r"^\s*\$\w+(?:\.\w+)*\.\w+\("),
    (
        3,
        None,
        ("$", "["),
        r"(?i)\$env:\w|\[(?:[a-z_][\w.]{0,80}\]::|(?:system|net|io|convert|text|environment|reflection)[\w.]*\]:|ref\]\."
        r"|(?:wmiclass|adsi|scriptblock)\]['\"$(])",
    ),
    (3, None, ("&", "`"), r"&\s*\(['\"$(]|[A-Za-z]`\w+-[A-Za-z]"),
    (
        3,
        None,
        ("new-object", "iex", "iwr", "irm", "gci"),
        r"(?i)\bnew-object\s|\biex\b|\biwr\b|\birm\b|\bgci\b.{0,80}\|",
    ),
    (
        2,
        None,
        ("-",),
        r"(?i)\s-(?:erroraction|recurse|literalpath|scriptblock|computername|argumentlist|outfile|usebasicparsing)\b",
    ),
    (
        2,
        None,
        ("|", "$", "@"),
        r"\|\s*(?:%|\?|foreach|where)\s*\{|\$_\.?|\$(?:null|true|false|PSItem|PSVersionTable)\b|@\{|@\(",
    ),
    (1, "\n", ("$",), r"(?m)^\s*\$\w+\s*=\s"),
    (
        1,
        None,
        ("-",),
        r"(?i)\s-(?:eq|ne|gt|lt|like|match|contains)\s['\"$\d]",
    ),
    (1, None, (":\\",), r"(?i)\b[a-z]:\\"),
)
_CMD = _marks(
    "/ % \\ : nul rem del @ if for",
    (4, None, ("@echo off", "setlocal", "%~", "rem"), r"(?im)^\s*@echo off|^\s*setlocal\b|%~\w?\d|^\s*rem\s"),
    (
        3,
        "",
        ("/",),
        r"(?i)^\s*(?:del|erase|rd|rmdir|copy|move|xcopy|attrib|format|mklink|dir|ren|type|md)\s+(?:[^\n]{0,80}\s)?/[a-z]\b",
    ),
    (
        3,
        None,
        ("%",),
        r"(?i)%(?:userprofile|appdata|public|temp|tmp|systemroot|windir|programfiles|systemdrive|cd|localappdata|comspec)[:%]",
    ),
    (3, "", (":",), r"(?i)^\s*(?:format|diskpart|chkdsk)\s+[a-z]:"),
    (4, None, ("^",), r"\^[A-Za-z]{1,4}\^[A-Za-z]"),
    (3, None, ("%",), r"%\w{1,40}(?::~|%%\w)"),
    (3, "", ("&",), r"(?i)^\s*set\s+\"?\w{1,40}=[^\n]{0,200}&"),
    (3, None, ("\\",), r"(?i)(?:^|[\s\"=,])[a-z]:\\|\bhk(?:lm|cu|cr|u|ey_[a-z_]{5,20})\\"),
    (3, "", (".exe",), r"(?i)^\s*\"?(?:[\w.:\\/-]{1,200}\\)?[\w.-]+\.exe\b"),
    (
        3,
        "",
        (),
        r"(?i)^\s*(?:reg|schtasks|sc|net|net1|wmic|bcdedit|vssadmin|rundll32|regsvr32|certutil|bitsadmin|mshta|netsh"
        r"|taskkill|icacls|cacls|takeown|cipher|fsutil|wevtutil|powercfg|cscript|wscript|forfiles|msiexec|attrib|robocopy"
        r"|xcopy|findstr|wbadmin|dism|sfc|cmdkey|vaultcmd|esentutl|ntdsutil|msbuild|installutil|cmstp|odbcconf|regedit)\s",
    ),
    (
        3,
        None,
        ("for", "exist", "errorlevel", "set"),
        r"(?i)\bfor\s+/[frdl]\s|\bif\s+(?:not\s+)?(?:exist|errorlevel)\s|\bset\s+/[ap]\s",
    ),
    (2, "", (), r"(?i)^\s*(?:del|erase|rd|rmdir|copy|move|ren|type|md)\s+[\"']?[a-z]:\\|^\s*(?:del|erase)\s+\S"),
    (2, None, ("nul",), r"(?i)(?:>|2>)\s*nul\b"),
)
_PYTHON = _marks(
    "( import class : =",
    (4, "\n", ("import",), r"(?m)^\s*(?:from [\w.]+ import |import \w[\w.]*(?:\s*$|\s*;|,| as ))"),
    (
        4,
        "\n",
        ("def ", "class "),
        r"(?m)^\s*(?:async )?def \w+\(.{0,200}\)[^\n]{0,80}:|^\s*class \w+[^\n]{0,80}:\s*$",
    ),
    (
        3,
        "\n",
        (":", "with open(", "elif "),
        r"(?m)^\s*(?:with open\(|try:\s*$|except\b[^\n]{0,80}:|for \w+ in [^\n]{1,80}:\s*$|if [^\n]{1,80}:\s*$|elif )",
    ),
    (
        3,
        None,
        (".",),
        r"\b(?:os|shutil|subprocess|pathlib|sys|socket|requests|urllib|boto3|builtins|importlib|tempfile)\.\w+[.(]",
    ),
    (3, None, ("(",), r"(?:^|[\s=;])(?:exec|eval|open|__import__|print|Path|getattr)\("),
    (
        2,
        None,
        ("=", "none", "true", "false", "lambda", "f'", 'f"'),
        r"(?m)^\s*\w+\s=\s\w[\w.]*\(|\bNone\b|\bTrue\b|\bFalse\b|\blambda \w*:|f['\"]",
    ),
)
_JAVASCRIPT = _marks(
    "( => = ; import",
    (4, "\n", ("const", "let", "var"), r"(?m)^\s*(?:const|let|var)\s+[\w{}\[\], ]{1,80}\s*=\s"),
    (
        4,
        None,
        ("require(", "import", "module.exports"),
        r"\brequire\(['\"]|^\s*import\s+[\w{}*, ]{1,80}\s+from\s+['\"]|\bmodule\.exports\b|\bimport\(['\"]",
    ),
    (
        3,
        None,
        ("=>", "function", "await"),
        r"=>\s*[{(\w]|\bfunction\s*\w*\([^)]{0,80}\)\s*\{|\bawait\s+\w[\w.$]*[(`]",
    ),
    (3, None, (".",), r"\b(?:fs|fsPromises|child_process|process|console|document|window|axios|JSON)\.\w+\("),
    (2, None, (";",), r"(?m);\s*$"),
)

LANGUAGE_MARKS = (_BASH, _POWERSHELL, _CMD, _PYTHON, _JAVASCRIPT)


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


# --- sentence or shell ---

_COMMON_WORDS = frozenset(
    (
        *(
            "the",
            "a",
            "an",
            "all",
            "any",
            "every",
            "each",
            "and",
            "or",
            "but",
            "to",
            "of",
            "in",
            "on",
            "at",
            "by",
            "from",
        ),
        *("for", "with", "without", "into", "onto", "about", "that", "this", "these", "those", "which", "who", "whose"),
        *("my", "our", "your", "their", "his", "her", "its", "me", "us", "them", "it", "i", "we", "you", "they", "is"),
        *("are", "was", "were", "be", "been", "has", "have", "had", "will", "would", "should", "could", "can", "may"),
        *("must", "please", "then", "than", "so", "if", "when", "after", "before", "until", "while", "because", "as"),
        *("not", "no", "only", "also", "more", "less", "new", "old", "everyone", "everything", "what", "how", "why"),
        # the same in other languages in which people write to agents
        *("der", "die", "das", "den", "dem", "und", "alle", "bitte", "mit", "auf", "von", "zu", "für", "ein", "eine"),
        *("le", "la", "les", "des", "du", "et", "tous", "toutes", "avec", "pour", "dans", "sur", "une", "que", "qui"),
        *("el", "los", "las", "y", "todos", "todas", "con", "para", "por", "en", "un", "una", "del", "il", "gli", "di"),
        *(
            "tutti",
            "tutte",
            "per",
            "che",
            "os",
            "dos",
            "das",
            "todos",
            "com",
            "uma",
            "não",
            "het",
            "een",
            "alle",
            "van",
        ),
    )
)
_SHELL_SHAPES = re.compile(
    r"(?:^|\s)--?[A-Za-z][\w-]*(?:=|\s|$)|\s\|\s|&&|\|\||;\s*\w|(?:^|\s)\d?>>?\s?[\w/&.$~]|<<|\$\w|\$\(|\$\{|=`"
)
_PATH_SHAPES = re.compile(r"(?:^|\s)(?:\.{0,2}/|~/?|[A-Za-z]:\\)\S*|\*\.\w+|\S+/\S+")
_SENTENCE_END = re.compile(r"[a-z0-9)'\"’]{2}[.!?](?:\s+[A-Z]|\s*$)|\w, \w|\w[’']s? ")
_TICKED = re.compile(r"`[^`]{1,500}`")
_WORD = re.compile(r"^[\"'(]?[A-Za-zÀ-ÿ]+(?:['’-][A-Za-zÀ-ÿ]+)?[.,:;!?)\"']*$")


def prose_points(text: str, programs: Container[str]) -> int:
    """Returns points for how much a text looks like a sentence that people would say."""
    line = text.partition("\n")[0] if "```" not in text else text
    typed = begins_with_program(line, programs)
    if typed and ("'" in line or '"' in line):
        line = _QUOTED.sub(" ", line)
    words = line.split()
    foreign = not line.isascii() and any(ord(char) > 0x2FF and char.isalpha() for char in line[:200])
    if len(words) < 2:
        return 4 if foreign and not typed else 0
    looked = words[:60]
    plain = common = 0
    for word in looked:
        if _WORD.match(word) is not None:
            plain += 1
        if word.lower().strip(".,:;!?'\"") in _COMMON_WORDS:
            common += 1
    points = min(common, 5)
    if words[0][:1].isupper() and words[0][1:].islower():
        points += 2
    if "`" in line and words[0][:1].isupper():
        points += 2
    if words[0].endswith((",", ":")) and words[0][:-1].isalpha():
        points += 1
    if plain == len(looked) and plain > 2:
        points += 1
    if plain * 2 < len(looked):
        points -= 1
    if _SENTENCE_END.search(line) is not None:
        points += 2
    if typed and not (common > 2 and plain >= len(looked) - 1):
        return points - 3
    return points + 4 if foreign else points


def shell_points(text: str, programs: Container[str]) -> int:
    """Returns points for how much a text looks like a line of shell."""
    line = text[:1_000]
    if line[:1].isupper():
        line = _TICKED.sub(" ", line)  # a sentence that quotes code
    words = line.split()
    if len(words) < 2:
        return 1
    points = min(len(_SHELL_SHAPES.findall(line)), 4) * 2 + min(len(_PATH_SHAPES.findall(line)), 2)
    first = words[0]
    if begins_with_program(line, programs):
        points += 2
        if words[1].startswith("-") or not words[1].isalpha():
            points += 1
    if "=" in first and first.partition("=")[0].isidentifier():
        points += 3
    if first in ("sudo", "for", "if", "while", "cd", "export", "set", "{", "(", "[", "[["):
        points += 1
    return points


_KEYWORDS = frozenset(
    (
        *(
            "import",
            "from",
            "for",
            "if",
            "while",
            "with",
            "let",
            "const",
            "var",
            "function",
            "async",
            "await",
            "export",
        ),
        *(
            "return",
            "class",
            "def",
            "try",
            "print",
            "del",
            "type",
            "switch",
            "new",
            "case",
            "global",
            "assert",
            "raise",
        ),
    )
)
_TYPED = re.compile(r"[\w.+-]+(?: -[\w-]+)* -[\w-]+[ =]['\"]")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"\\]?(\w+)['\"]?[^\n]*\n")


def begins_with_program(text: str, programs: Container[str] | None = None) -> bool:
    """Decides whether the first word is a known program, as it would be typed, and not a keyword of a language."""
    programs = default_catalogue() if programs is None else programs
    first, _, rest = text.lstrip().partition(" ")
    first = first.partition("\n")[0]
    return (
        first == first.lower()
        and first not in _KEYWORDS
        and not rest.lstrip().startswith("=")
        and first.rpartition("/")[2] in programs
    )


def _without_comments(text: str) -> str:
    """Returns the text from its first line that is not a shell comment."""
    while text.startswith("#"):
        _, newline, rest = text.partition("\n")
        if not newline:
            return text
        text = rest.lstrip()
    return text


def _without_quoted(text: str) -> str:
    """Removes quoted text and here-documents from a script, since they may be in another language."""
    kept = []
    at = 0
    for found in _HERE_DOCUMENT.finditer(text):
        if found.start() < at:
            continue
        kept.append(text[at : found.end()])
        end = text.find(f"\n{found[1]}", found.end() - 1)
        at = end if end >= 0 else len(text)
    return _QUOTED.sub(" ", "".join((*kept, text[at:])))


# --- code that a sentence asks to run ---

_FENCE = re.compile(r"```[ \t]*([\w-]*)[^\n]*\n(.*?)(?:```|\Z)", re.S)
_TICKS = re.compile(
    r"(?i)\b(?:run|execute|exec|type|enter|use|using|call|invoke|with|do|launch|paste|try)\b[^`\n]{0,40}`([^`\n]{2,500})`"
)


def _code_in_prose(text: str) -> Iterator[tuple[str, int, str]]:
    """Yields code in a text's fences, with its start and the fence's language, and in backticks after a verb that asks
    to run it."""
    for found in _FENCE.finditer(text):
        yield found[2], found.start(2), found[1].lower() or "bash"
    for found in _TICKS.finditer(text):
        yield found[1], found.start(1), ""
