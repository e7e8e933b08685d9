"""The views of an action that patterns are searched in. Each is computed once per check, and only when a rule needs it.

What a view holds is described in `VIEW_DESCRIPTIONS`, which the JSON Schema and `svc guardrail explain` show.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import yaml

from contracts.guardrail import calls, text, values
from contracts.guardrail.commands import SHELLS, Dialect, only_text
from contracts.guardrail.credentials import Secret, secrets
from contracts.guardrail.limits import encodable
from contracts.guardrail.prose import is_prose
from contracts.guardrail.provenance import Provenance, compare
from contracts.guardrail.shell import Script, parse

VIEW_DESCRIPTIONS: Mapping[str, str] = {
    "raw": "The action as it was sent",
    "text": "The action without escapes and invisible characters, NFKC, look-alike letters folded to Latin",
    "words": "One simple command a line: quotes, escapes and brace lists resolved, paths without //, . and what .. "
    "takes back (relative ones stay relative), wrappers (sudo, xargs, bash -c, saved scripts, ...) opened on "
    "lines of their own, system directories and .exe taken off the program; white space inside a word is ␣",
    "commands": "The text of a script in which a pipeline that only shows or notes text (echo, grep, git commit, ...) "
    "stands as in `words`, then every line of `words`: for rules on commands, when `words` is too narrow",
    "pipelines": "One pipeline a line, its commands as in `words`, joined by ` | `",
    "scripts": "Code handed to an interpreter, as in `text`: -e and -c texts, here-documents, code arguments",
    "paths": "One absolute path a line: ~, $HOME, %VARIABLES% and .. resolved; Windows paths with / in lower case; "
    "after a pattern for names (/e??/sh*) the private files that it fits",
    "urls": "One URL a line: scheme://host[:port]/path, without credentials",
    "hosts": "One host a line, lower case: of URLs, scp and git addresses, /dev/tcp, UNC paths; IPv4 addresses",
    "tool": "The tool's name: of the call, or of the context",
    "call": "`name=<tool>`, then one argument a line as path=value (`flights.0.date=2024-05-24`)",
    "decoded": "One decoded run a line: base64, hex, percent, \\x and HTML escapes, twice where encoded twice",
    "amounts": "One amount a line: number, space, unit in lower case (`12.5 usd`, `inf unlimited`)",
    "secrets": "One a line: kind, certain | likely | possible, entropy in bits per character, the value; one that the "
    "person wrote into the request is possible at most",
    "anomalies": "What hides text from a reader, one a line: zero-width, bidi-control, ansi-escape, hidden-text: ..., "
    "look-alike: ..., mixed-script: ...",
    "manifest": "The manifest of the context or the action, one path=value a line (`spec.containers.0.image=...`)",
    "plan": "One planned step a line",
    "request": "What the person asked for (context.user_request), as in `text`",
    "untrusted": "What untrusted content says (context.untrusted_content), as in `text`",
    "untrusted_values": "Arguments, path=value, that stand in untrusted content and not in the request",
    "unrequested_values": "Arguments, path=value, that name a recipient, address, id or number not in the request",
}

VIEWS_OF_CONTEXT = frozenset(("manifest", "plan", "request", "untrusted"))

_SHELL_TOOLS = re.compile(
    r"(?i)^(?:shell|bash|sh|zsh|cmd|cli|console|terminal|powershell|pwsh|exec|run|subprocess|ssh|command|system"
    r"|.*[._-](?:shell|bash|terminal|command|exec)|(?:run|execute|exec|subprocess|terminal|child_process)[._-].*"
    r"|os\.(?:system|popen|exec\w*|spawn\w*)|kubectl|docker|git|aws|gcloud|az|terraform)$"
)
_PROGRAM_TOOLS = frozenset(("kubectl", "docker", "git", "aws", "gcloud", "az", "terraform"))
_SHELL_ONLY = re.compile(r"(?i)^(?:shell|bash|sh|zsh|cmd|terminal|powershell|pwsh)$")
_TEXT_TOOLS = re.compile(r"(?i)^(?:code_interpreter|python|robot|agent_action|assistant|browser|computer|llm|chat)$")
_SCRIPT_ARGUMENTS = re.compile(
    r"(?i)(?:^|[._])(?:command|commands|cmd|script|shell|bash|exec|command_line|cmdline)(?:\.\d+)?$"
)
_CODE_ARGUMENTS = re.compile(r"(?i)(?:^|[._])(?:code|source|script|program|expression)$")
_SQL = re.compile(
    r"(?is)^\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*)*(?:select\s.{1,2000}?\sfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|drop\s+\w+"
    r"|truncate(?:\s+table)?\s+\w+\s*;?\s*$|alter\s+(?:table|user|role|database|system)|create\s+(?:table|user|role|database|function|extension)"
    r"|grant\s.+\sto\s|revoke\s.+\sfrom\s|merge\s+into|with\s+\w+\s+as\s*\(|copy\s+\S+\s+(?:from|to)\s|call\s+\w+\(|flushall|flushdb)"
)
_SQL_ARGUMENTS = re.compile(r"(?i)(?:^|[._])(?:sql|query|statement)(?:\.\d+)?$")
_WINDOWS_SIGNS = re.compile(
    r"(?i)[a-z]:\\|\\\\[\w.]+\\|%\w+%|\$env:|\.(?:exe|bat|cmd|ps1|dll|vbs)\b|\bHK(?:LM|CU|EY_)|\b(?:get|set|new|invoke|start|stop|remove|add)-[a-z]+\b|\b(?:iwr|irm)\s|\s/[a-z]{1,2}(?:\s|$)"
)
_CODE_OPTIONS = re.compile(
    r"^(?:-e|-c|-r|-E|-pe|-ne|-n?e|--eval|--exec|--execute|-x|-ex|--command|-Command|-[A-Za-z]{1,3}c|-[Qq]|--query)$"
)
_ATTACHED_CODE = re.compile(r"^(?:--(?:eval|exec|execute|command|query)=|-n?[ceEr])(?=.*[\s(;\"'])(.+)$", re.DOTALL)
_CODE_LANGUAGES = re.compile(
    r"^(?:python[\d.]*|perl|ruby|node|nodejs|php[\d.]*|lua\w*|osascript|awk|gawk|mawk|nawk|Rscript|julia|deno|bun|irb|tclsh|jrunscript|groovy|scala|elixir|erl|gdb|vim?|nvim|emacs|ed|sed|psql|mysql|mariadb|sqlite3|duckdb|bq|cqlsh|sqlcmd|sqlplus|clickhouse(?:-client)?|mongo|mongosh|redis-cli|jjs|jshell)$"
)
_MANIFEST_SIGNS = re.compile(r"(?m)^\s*[\"']?apiVersion[\"']?\s*:")

SHELL, CALL, TEXT, MANIFEST, SQL = "shell", "call", "text", "manifest", "sql"


class Action:
    """An action in its context, with its views. `context` is a plain copy (`limits.plain_context`)."""

    def __init__(self, action: str, context: Mapping[str, Any]) -> None:
        self.raw = action
        self.context = context
        self._views: dict[str, str] = {}

    def view(self, name: str) -> str:
        """A view's text; a line each where the view holds several things. Empty where there is nothing."""
        found = self._views.get(name)
        if found is None:
            found = self._views[name] = _VIEWS[name](self)
        return found

    @cached_property
    def text(self) -> str:
        """The normalised action."""
        return text.normalised(self.raw)

    @cached_property
    def call(self) -> calls.Call | None:
        """The tool call that the action is as a whole."""
        if _SHELL_ONLY.match(self.tool_of_context):
            return None
        return calls.parse_call(self.text)

    @cached_property
    def tool_of_context(self) -> str:
        """The tool that the context names."""
        return _text_of(self.context.get("tool"))

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """Names that a rule's globs are held against: of the call and of the context."""
        named = (self.call.name if self.call is not None else "", self.tool_of_context)
        return tuple(dict.fromkeys(each for each in named if each))

    @cached_property
    def os(self) -> str | None:
        """linux, windows or macos as the context says; None where it doesn't."""
        named = _text_of(self.context.get("os")).lower()
        for name, signs in (
            ("macos", ("mac", "darwin", "osx")),
            ("windows", ("win",)),
            ("linux", ("linux", "ubuntu", "debian")),
        ):
            if any(sign in named for sign in signs):
                return name
        return None

    @cached_property
    def dialect(self) -> Dialect:
        """How the action's commands are read: by the context's os, else by signs of Windows in the text."""
        if self.os is not None:
            return "windows" if self.os == "windows" else "posix"
        return "windows" if _WINDOWS_SIGNS.search(self.text) else "posix"

    @cached_property
    def kinds(self) -> frozenset[str]:
        """What the action is taken for. In doubt it is both a command and text: rules for either are looked at."""
        kinds = set()
        if self.manifest_tree is not None:
            kinds.add(MANIFEST)
        if self.call is not None:
            kinds.add(CALL)
            if self.script_texts or any(self.code_arguments):
                kinds.add(SHELL)
            if any(
                _SQL_ARGUMENTS.search(path) and _SQL.match(str(leaf))
                for path, leaf in calls.flattened(self.call.arguments)
            ):
                kinds.add(SQL)
            return frozenset(kinds)
        if _SHELL_TOOLS.match(self.tool_of_context):
            kinds.add(SHELL)
        elif _TEXT_TOOLS.match(self.tool_of_context) or is_prose(self.text):
            kinds.add(TEXT)
        elif _SQL.match(self.text):
            kinds.add(SQL)
        else:
            kinds |= {SHELL, TEXT}
        if _SQL.match(self.text):
            kinds.add(SQL)
        return frozenset(kinds)

    @cached_property
    def script_texts(self) -> tuple[str, ...]:
        """The texts that a shell would run: the action itself, or the arguments of a call that hold a command."""
        if self.call is None:
            return (self.text,) if SHELL in self.kinds else ()
        runs_commands = bool(_SHELL_TOOLS.match(self.call.name))
        program = f"{self.call.name} " if self.call.name in _PROGRAM_TOOLS else ""
        return tuple(
            program + leaf
            for path, leaf in calls.texts(self.call.arguments)
            if runs_commands or _SCRIPT_ARGUMENTS.search(path)
        )

    @property
    def code_arguments(self) -> Iterator[str]:
        """The arguments of a call that hold code."""
        if self.call is not None:
            for path, leaf in calls.flattened(self.call.arguments):
                if isinstance(leaf, str) and _CODE_ARGUMENTS.search(path):
                    yield leaf

    @cached_property
    def script(self) -> Script:
        """The commands of all `script_texts`."""
        return parse(self.script_source, self.dialect) if self.script_source else Script()

    @cached_property
    def script_source(self) -> str:
        """All `script_texts` as one text."""
        return "\n".join(self.script_texts)

    @cached_property
    def secrets(self) -> list[Secret]:
        """Secrets in the action, and in what it encodes."""
        written = self.text if self.call is None else "\n".join(calls.path_lines(self.call.arguments))
        return secrets("\n".join((written, *self.decoded)))

    @cached_property
    def decoded(self) -> list[str]:
        """Decoded runs of the action."""
        return text.decoded_runs(self.text)

    @cached_property
    def amounts(self) -> list[tuple[float, str]]:
        """Amounts of the arguments of a call, else of the text."""
        if self.call is not None:
            held = list(values.argument_amounts(calls.flattened(self.call.arguments)))
            if held:
                return held
        return list(values.amounts(self.text))

    @cached_property
    def provenance(self) -> Provenance:
        """How the arguments relate to the request and to untrusted content."""
        arguments = self.text if self.call is None else self.call.arguments
        return compare(arguments, self.view("request"), self.view("untrusted"))

    @cached_property
    def manifest_tree(self) -> Any:
        """The manifest of the context, or the one that the action is."""
        held = self.context.get("manifest")
        if isinstance(held, Mapping | list):
            return held
        for candidate in (held, self.raw):
            if isinstance(candidate, str) and _MANIFEST_SIGNS.search(candidate):
                return _yaml_tree(candidate)
        return None

    def derived(self, path: str) -> list[Any]:
        """What the engine adds to the context: `args.<name>`, `amount`, `amount_<unit>`, `provenance.<name>`."""
        head, _, rest = path.partition(".")
        if head == "args":
            return calls.values_at(self.call.arguments, rest) if self.call is not None and rest else []
        if head == "provenance":
            return calls.values_at(self.provenance.fields(), rest)
        if head == "amount":
            return [amount for amount, _ in self.amounts]
        if head.startswith("amount_"):
            unit = head.removeprefix("amount_")
            return [amount for amount, each in self.amounts if each in (unit, "unlimited")]
        return []


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_text_of(each) for each in value)
    if isinstance(value, Mapping):
        return "\n".join(_text_of(each) for each in value.values())
    return "" if value is None else str(value)


def _lines(found: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(found))


def _words(action: Action) -> str:
    return _lines(command.line for command in action.script.commands)


def _pipelines(action: Action) -> str:
    return _lines(pipeline.line for pipeline in action.script.pipelines)


def _commands(action: Action) -> str:
    source = action.script_source
    pieces, position = [], 0
    for pipeline in action.script.pipelines:
        if pipeline.source is not None and only_text(pipeline.commands):
            ends_a_line = source[pipeline.source.stop - 1 : pipeline.source.stop] == "\n"
            pieces += [source[position : pipeline.source.start], pipeline.line, "\n" if ends_a_line else ""]
            position = pipeline.source.stop
    pieces.append(source[position:])
    return _lines(("".join(pieces), action.view("words")))


def _scripts(action: Action) -> str:
    found = []
    for command in action.script.commands:
        words = command.words
        if words and _CODE_LANGUAGES.match(words[0]):
            found += [words[at + 1] for at, word in enumerate(words[:-1]) if _CODE_OPTIONS.match(word)]
            found += [attached[1] for word in words[1:] if (attached := _ATTACHED_CODE.match(word))]
            if words[0] in ("awk", "gawk", "mawk", "nawk", "sed", "ed", "sqlite3", "duckdb", "bq"):
                found += [word for word in words[1:] if not word.startswith("-")]
        if command.heredoc and words and (words[0] in SHELLS or _CODE_LANGUAGES.match(words[0])):
            found.append(command.heredoc)
        if words and _CODE_LANGUAGES.match(words[0]):
            found += [words[at + 1] for at, word in enumerate(words[:-1]) if word == "<<<"]
    return _lines((*found, *action.code_arguments))


def _paths(action: Action) -> str:
    windows = action.dialect == "windows"
    cwd = _text_of(action.context.get("cwd")) or ("c:/work" if windows else "/work")
    run_as = _text_of(action.context.get("run_as")) or "agent"
    home = f"c:/users/{run_as.lower()}" if windows else "/root" if run_as == "root" else f"/home/{run_as}"
    if action.call is not None and not action.script_texts:
        named = [str(leaf) for _, leaf in calls.flattened(action.call.arguments) if isinstance(leaf, str)]
    else:
        named = [word for command in action.script.commands for word in command.words]
        if not named:
            named = action.text.split()
        named += values.PATHS_IN_CODE.findall(action.view("scripts"))
    return _lines(values.paths(named, cwd, home, windows))


def _urls(action: Action) -> str:
    return _lines(url for each in (action.text, *action.decoded) for url in values.urls(each))


def _hosts(action: Action) -> str:
    return _lines(values.hosts("\n".join((action.text, *action.decoded)), action.view("urls").splitlines()))


def _tool(action: Action) -> str:
    return action.call.name if action.call is not None and action.call.name else action.tool_of_context


def _call(action: Action) -> str:
    if action.call is None:
        return ""
    return "\n".join((f"name={action.call.name}", *calls.path_lines(action.call.arguments)))


def _amounts(action: Action) -> str:
    return _lines(
        f"{amount:g} {unit}".rstrip() if amount % 1 else f"{amount:.0f} {unit}".rstrip()
        for amount, unit in action.amounts
    )


def _manifest(action: Action) -> str:
    tree = action.manifest_tree
    return "" if tree is None else "\n".join(calls.path_lines(tree))


def _secrets(action: Action) -> str:
    # The person who writes a card number or token into a request wants it used.
    request = action.view("request")
    return "\n".join(
        replace(secret, confidence="possible").line if secret.value in request else secret.line
        for secret in action.secrets
    )


def _pairs(found: Iterable[tuple[str, str]]) -> str:
    return _lines(f"{path}={value}" for path, value in found)


_VIEWS: dict[str, Callable[[Action], str]] = {
    "raw": lambda action: encodable(action.raw),
    "text": lambda action: action.text,
    "words": _words,
    "commands": _commands,
    "pipelines": _pipelines,
    "scripts": _scripts,
    "paths": _paths,
    "urls": _urls,
    "hosts": _hosts,
    "tool": _tool,
    "call": _call,
    "decoded": lambda action: "\n".join(action.decoded),
    "amounts": _amounts,
    "secrets": _secrets,
    "anomalies": lambda action: _lines(text.anomalies(action.raw)),
    "manifest": _manifest,
    "plan": lambda action: text.normalised(_text_of(action.context.get("planned_steps"))),
    "request": lambda action: text.normalised(_text_of(action.context.get("user_request"))),
    "untrusted": lambda action: text.normalised(_text_of(action.context.get("untrusted_content"))),
    "untrusted_values": lambda action: _pairs(action.provenance.untrusted),
    "unrequested_values": lambda action: _pairs(action.provenance.unrequested),
}


_DEEP_YAML = re.compile(r"(?:[-?:][ \t]+){33}")


def _yaml_tree(manifest: str) -> Any:
    if calls.nesting(manifest) > calls.MAX_JSON_DEPTH or _DEEP_YAML.search(manifest):
        raise ValueError("the manifest is nested too deep")
    try:
        return list(yaml.load_all(manifest, yaml.CSafeLoader))
    except yaml.YAMLError:
        return None
