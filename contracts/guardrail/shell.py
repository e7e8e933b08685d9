"""Commands as a shell would run them: quotes and escapes resolved, pipelines split, wrappers opened. Nothing is run.

Two dialects: `posix`, and `windows` for cmd and PowerShell, where a backslash is part of a path. What
can't be parsed is taken as it stands; what has too many commands, or too many in one another, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from contracts.guardrail.commands import Command, Dialect, fed_script, inner_commands, unescaped
from contracts.guardrail.values import without_detours

MAX_DEPTH = 12
MAX_COMMANDS = 4_000
MAX_CHARS = 256 * 1024
"""Of a text with all that it runs in turn, where an inner one counts at each of its levels."""

_POSIX_TOKEN = re.compile(
    r"""(?P<continued>\\\n|(?<=\w)\$[@*](?=\w))
      | (?P<space>[ \t]+|\$(?:IFS(?!\w)|\{IFS[^}\n]{0,20}\})(?:\$\d)?)
      | (?P<comment>(?<![^\s;|&(){}])\#[^\n]*)
      | (?P<ansi>\$'(?:[^'\\]|\\.)*'?)
      | (?P<single>'[^']*'?)
      | (?P<double>\$?"(?:[^"\\]|\\.)*"?)
      | (?P<redirect>(?:\d+|&)?(?:<<<|<<-?|<>|>>|>\||>&|<&|>|<(?!\()))
      | (?P<process>[<>]\()
      | (?P<arith>\$\(\()
      | (?P<substitute>\$\()
      | (?P<backtick>`(?:[^`\\]|\\.)*`?)
      | (?P<operator>&&|\|\||\|&|;;|[|;&\n])
      | (?P<group>[()]|(?<![^\s;|&()])(?:\{(?=\s)|\}(?=[\s;|&)]|$)))
      | (?P<escape>\\.)
      | (?P<variable>\$\{[^}\n]{0,200}\}|\$[A-Za-z_][A-Za-z0-9_]*|\$[0-9@*\#?!$-])
      | (?P<plain>[^\s'"`$\\|;&<>()#]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_WINDOWS_TOKEN = re.compile(
    r"""(?P<continued>[`^]\n)
      | (?P<space>[ \t]+)
      | (?P<comment>(?<![^\s;|&(){}])\#[^\n]*|(?im:^[ \t]*(?:rem[ ]|::)[^\n]*))
      | (?P<single>'(?:[^']|'')*'?)
      | (?P<double>"(?:[^"`]|`.|"")*"?)
      | (?P<redirect>(?:\d+|\*)?(?:>>|>&|>|<))
      | (?P<substitute>\$\()
      | (?P<operator>&&|\|\||[|;&\n])
      | (?P<group>[(){}])
      | (?P<escape>[`^].)
      | (?P<variable>\$\{[^}\n]{0,200}\}|\$[A-Za-z_][A-Za-z0-9_:]*)
      | (?P<plain>[^\s'"`^$|;&<>(){}#]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_DOUBLE_ESCAPE = re.compile(r'\\([\\"$`])|\\\n')
_BRACES = re.compile(r"\{((?:[^{},]|\{[^{}]*\})*(?:,(?:[^{},]|\{[^{}]*\})*)+)\}")
_BRACE_COMMA = re.compile(r",(?![^{]*\})")
MAX_BRACE_WORDS = 64
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_INSIDE_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_HEREDOC_WORD = re.compile(r"[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s;|&<>()]+))")
_SUBSTITUTION_IN_QUOTES = re.compile(r"\$\(|`")
_PRINTS = re.compile(
    r"""\s*(printf|echo)((?:\s+-[neE]+)*)\s+(?:'([^']*)'|"([^"$`]*)"|([^\s'"$`\\|;&<>(){}*?]+))\s*""", re.DOTALL
)
_WHITE = re.compile(r"\s")


@dataclass
class _HereDocument:
    """One whose body is still to come. What is not `plain` (its delimiter is not quoted) runs its substitutions."""

    command: Command
    delimiter: str
    plain: bool


@dataclass
class Pipeline:
    """Commands that feed one another. `source` is where an outermost one stands in the text, with here-documents."""

    commands: list[Command]
    source: slice | None = None

    @property
    def line(self) -> str:
        """The commands' lines joined by ` | `."""
        return " | ".join(command.line for command in self.commands)


@dataclass
class Script:
    """What a text runs: every simple command, inner ones included, and the pipelines they form."""

    commands: list[Command] = field(default_factory=list)
    pipelines: list[Pipeline] = field(default_factory=list)


def parse(text: str, dialect: Dialect) -> Script:
    """All commands in a text, outer before inner. Raises ValueError above one of the bounds of this module."""
    script = Script()
    _Parser(script, dialect, {}).read(text, 0)
    return script


class _Parser:
    def __init__(self, script: Script, dialect: Dialect, variables: dict[str, str]) -> None:
        self._script = script
        self._dialect = dialect
        self._variables = variables
        self._chars = 0
        self._token = _POSIX_TOKEN if dialect == "posix" else _WINDOWS_TOKEN

    def read(self, text: str, depth: int) -> None:
        """Add the commands of a text; inner scripts go one level deeper."""
        if depth > MAX_DEPTH:
            raise ValueError(f"commands within commands, deeper than {MAX_DEPTH} levels")
        self._chars += len(text)
        if self._chars > MAX_CHARS:
            raise ValueError("commands within commands that are too long together")
        windows = self._dialect == "windows"
        position, end, inner_read_to = 0, len(text), 0
        word: list[str] = []
        command, pipeline, starts = Command(depth=depth), list[Command](), 0
        inner: list[str] = []
        heredocs: list[_HereDocument] = []
        waiting: list[Pipeline] = []
        while position < end:
            token = self._token.match(text, position)
            assert token is not None
            kind, value, position = token.lastgroup, token[0], token.end()
            if kind == "plain":
                if "{" in value and not word and not windows:
                    *before, value = _brace_expanded(value)
                    for each in before:
                        word.append(each)
                        _close_word(word, command)
                word.append(value)
            elif kind == "space" or kind == "redirect":
                _close_word(word, command)
                if kind == "redirect":
                    command.words.append(value)
                    if value.lstrip("0123456789") in ("<<", "<<-") and (named := _HEREDOC_WORD.match(text, position)):
                        position = named.end()
                        delimiter = named[1] or named[2] or named[3] or ""
                        command.words.append(delimiter)
                        heredocs.append(_HereDocument(command, delimiter, plain=not named[3] or "\\" in named[0]))
            elif kind in ("continued", "comment"):
                continue
            elif kind == "single":
                body = value[1:].removesuffix("'") if len(value) > 1 else ""
                word.append(body.replace("''", "'") if windows else body)
            elif kind == "ansi":
                word.append(unescaped(value[2:].removesuffix("'")))
            elif kind == "double":
                body = value.removeprefix("$")[1:].removesuffix('"')
                inner += self._substituted(body)
                word.append(self._in_double_quotes(body))
            elif kind == "escape":
                word.append(value[1])
            elif kind == "variable":
                inner += self._substituted(value)
                self._expand(value, word, command)
            elif kind in ("substitute", "process", "arith"):
                body, position = _balanced(text, position)
                inner += self._substituted(body) if kind == "arith" else [body]
                _substitute(f"{value}{body})", _printed(body) if kind == "substitute" else None, word, command)
            elif kind == "backtick":
                body = value[1:].removesuffix("`")
                inner.append(body)
                _substitute(value, _printed(body), word, command)
            elif kind == "group" and windows and word and (value == "(" or (value == ")" and "(" in word)):
                # A method call or an expression: part of the word, and a script of its own.
                word.append(value)
                if value == "(" and position > inner_read_to:
                    body, inner_read_to = _balanced(text, position)
                    inner.append(body)
            else:
                if value == "\n" and heredocs:
                    position = _read_heredocs(text, position, heredocs)
                    for document in heredocs:
                        if not document.plain and not windows:
                            inner += self._substituted(document.command.heredoc or "")
                    heredocs.clear()
                    self._finish_all(waiting)
                _close_word(word, command)
                if command.words:
                    pipeline.append(command)
                command = Command(depth=depth)
                if value not in ("|", "|&"):
                    if pipeline:
                        ends = token.start() if position == token.end() else position
                        waiting.append(Pipeline(pipeline, None if depth else slice(starts, ends)))
                        pipeline = []
                        # the text that a here-document gives stands below its line
                        if not heredocs:
                            self._finish_all(waiting)
                    starts = position
        _close_word(word, command)
        if command.words:
            pipeline.append(command)
        if pipeline:
            waiting.append(Pipeline(pipeline, None if depth else slice(starts, end)))
        self._finish_all(waiting)
        for each in inner:
            self.read(each, depth + 1)

    def _finish_all(self, waiting: list[Pipeline]) -> None:
        for each in waiting:
            self._finish(each)
        waiting.clear()

    def _finish(self, pipeline: Pipeline) -> None:
        self._script.pipelines.append(pipeline)
        for command in pipeline.commands:
            self._remember(command)
            self._script.commands.append(command)
            if len(self._script.commands) > MAX_COMMANDS:
                raise ValueError(f"more than {MAX_COMMANDS:,} commands")
            for each in inner_commands(command, self._dialect):
                self._read_inner(each, command.depth + 1)
        for script in fed_script(pipeline.commands, self._dialect):
            self.read(script, pipeline.commands[0].depth + 1)

    def _read_inner(self, inner: str | list[str], depth: int) -> None:
        if isinstance(inner, str):
            self.read(inner, depth)
        elif depth > MAX_DEPTH:
            raise ValueError(f"commands within commands, deeper than {MAX_DEPTH} levels")
        else:
            self._finish(Pipeline([Command(words=inner, depth=depth)]))

    def _expand(self, variable: str, word: list[str], command: Command) -> None:
        _substitute(variable, self._value_of(variable), word, command)

    def _remember(self, command: Command) -> None:
        if command.words[:1] == ["for"] and command.words[2:3] == ["in"]:
            # one value after the other: all of them together are seen once
            values = [word for word in command.words[3:] if not _WHITE.search(word)]
            self._variables[command.words[1]] = " ".join(values)[:1_000]
        for word in command.words:
            if not _ASSIGNMENT.match(word):
                return
            name, _, value = word.partition("=")
            if len(value) < 1_000:
                self._variables[name.rstrip("+")] = value

    def _value_of(self, variable: str) -> str | None:
        name, _, default = variable[1:].strip("{}").partition(":-")
        if name in ("HOME", "PWD", "USER"):
            return None
        return self._variables.get(name, default if default.isalnum() else None)

    def _in_double_quotes(self, body: str) -> str:
        if self._dialect == "windows":
            return body.replace('""', '"').replace('`"', '"')
        body = _DOUBLE_ESCAPE.sub(lambda found: found[1] or "", body)
        if "$" in body and self._variables:
            body = _INSIDE_VARIABLE.sub(lambda found: self._variables.get(found[1], found[0]), body)
        return body

    def _substituted(self, body: str) -> Iterator[str]:
        position = 0
        while found := _SUBSTITUTION_IN_QUOTES.search(body, position):
            if found[0] == "`":
                stop = body.find("`", found.end())
                if stop < 0 or self._dialect == "windows":
                    return
                yield body[found.end() : stop]
                position = stop + 1
            else:
                inside, position = _balanced(body, found.end())
                yield inside


def _close_word(word: list[str], command: Command) -> None:
    if word:
        command.words.append(without_detours("".join(word)))
        word.clear()


def _substitute(written: str, stands_for: str | None, word: list[str], command: Command) -> None:
    """Go on with a word by what a part of it stands for, or by the part as it is written where nobody knows."""
    if stands_for is None:
        word.append(written)
    else:
        _split_into(word, command, stands_for)


def _brace_expanded(word: str) -> list[str]:
    """The words that `{a,b}` in a word stands for, in order, at most `MAX_BRACE_WORDS`."""
    words = [word]
    for at in range(MAX_BRACE_WORDS):
        while at < len(words) < MAX_BRACE_WORDS and (found := _BRACES.search(words[at])):
            before, after = words[at][: found.start()], words[at][found.end() :]
            words[at : at + 1] = [f"{before}{each}{after}" for each in _BRACE_COMMA.split(found[1], MAX_BRACE_WORDS)]
    return words[:MAX_BRACE_WORDS]


def _split_into(word: list[str], command: Command, text: str) -> None:
    """Go on with a word by what the shell put in its place, whose white space ends words."""
    for number, part in enumerate(_WHITE.split(text)):
        if number:
            _close_word(word, command)
        if part:
            word.append(part)


def _printed(body: str) -> str | None:
    """What a substitution puts in its place, where that stands in it as in `$(printf '\\x72\\x6d')`; else None."""
    found = _PRINTS.fullmatch(body)
    if found is None:
        return None
    program, options, single, double, bare = found.groups()
    text = single if single is not None else double if double is not None else bare
    if program == "printf" and "%" in text:
        return None
    return unescaped(text) if program == "printf" or "e" in options else text


_PARENTHESES = re.compile(r"[()]|'[^']*'|\\.", re.DOTALL)


def _balanced(text: str, start: int) -> tuple[str, int]:
    """The text up to the parenthesis that closes one opened before `start`, and the position after it."""
    open_ones, position = 1, start
    while found := _PARENTHESES.search(text, position):
        position = found.end()
        if found[0] == "(":
            open_ones += 1
        elif found[0] == ")":
            open_ones -= 1
            if not open_ones:
                return text[start : found.start()], position
    return text[start:], len(text)


def _read_heredocs(text: str, position: int, heredocs: list[_HereDocument]) -> int:
    """Take the bodies of the here-documents that start at `position`; returns where the script goes on."""
    for each in heredocs:
        lines = []
        while position < len(text):
            stop = text.find("\n", position)
            stop = len(text) if stop < 0 else stop
            line, position = text[position:stop], stop + 1
            if line.strip() == each.delimiter:
                break
            lines.append(line)
        each.command.heredoc = "\n".join(lines)
    return min(position, len(text))
