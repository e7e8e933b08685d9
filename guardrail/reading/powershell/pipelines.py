"""Reads pipelines: commands with their arguments and redirections."""

from __future__ import annotations

import re
from dataclasses import replace

from guardrail.model import Call, Redirection, Word
from guardrail.reading.code_values import Value, constant, unknown, word_of
from guardrail.reading.powershell.calls import Argument
from guardrail.reading.powershell.expressions import Expressions
from guardrail.reading.powershell.reader import Block

_REDIRECTION = re.compile(r"([1-6*]?)(>>|>|<)(&[12])?[ \t]*")
_PARAMETER = re.compile(r"-([A-Za-z_?][\w]*)(:)?")
_KNOWN_PROGRAM = re.compile(r"(?i)^\$env:\w+[^$]*[\\/][\w.-]+$")


class Pipelines(Expressions):
    """Reads pipelines."""

    def _chain(self) -> Value:
        """Reads a pipeline; the commands after `&&` and `||` are read as separate statements."""
        return self._pipeline(None)

    def _chain_from(self, name: str) -> Value:
        value, call = self._arguments_of(name, self.at, None, None)
        return self._pipeline_rest(value, call)

    def _pipeline(self, fed: Value | None) -> Value:
        value, call = self._element(None, fed)
        return self._pipeline_rest(value, call)

    def _pipeline_rest(self, value: Value, call: Call | None) -> Value:
        while self.at < self.end:
            self._blank()
            if self.text.startswith("||", self.at) or not self.text.startswith("|", self.at):
                break
            self.at += 1
            self._blanks()
            stdin: Call | Word | None = call
            if call is None:
                stdin = word_of(value, self._span(self.at, self.at))
            value, call = self._element(stdin, value)
        return value

    def _element(self, stdin: Call | Word | None, fed: Value | None) -> tuple[Value, Call | None]:
        """Reads one command or expression of a pipeline."""
        if self.at >= self.end or not self._busy():
            return unknown(), None
        start = self.at
        char = self.text[start]
        if char in "&." and invokes(self.text, start):
            self.at += 1
            self._blank()
            if self.at < self.end and self.text[self.at] == "{":
                block = Block(self.at + 1, self.blocks.get(self.at, self.end))
                self.at = min(block.end + 1, self.end)
                before = len(self.calls)
                value = self._inside(block)
                self._skip_arguments()
                return value, self.calls[-1] if len(self.calls) > before else None
            name = self._argument()
            if name.type == "block":
                return self._run_block(name), None
            if name.type == "code" or name.text.startswith("$(curl "):
                call = self._emit(
                    "ps:invoke-expression",
                    (word_of(name, self._span(start, self.at)),),
                    self._span(start, self.at),
                    (),
                    stdin,
                )
                self._skip_arguments()
                return unknown(), call
            return self._arguments_of_named(name, start, stdin, fed)
        if char in "$(@\"'[{+!" or char.isdigit() or re.compile(r"-(?:not|join|split)\b", re.I).match(self.text, start):
            before = len(self.calls)
            value = self._expression()
            self._redirections_of_expression(start)
            return value, self.calls[-1] if len(self.calls) > before and not value.known else None
        word = self._bare_word()
        if not word.text:
            self.at += 1
            return unknown(), None
        return self._arguments_of_named(word, start, stdin, fed)

    def _arguments_of_named(
        self, name: Value, start: int, stdin: Call | Word | None, fed: Value | None
    ) -> tuple[Value, Call | None]:
        """Reads the arguments of a command whose directory may begin with a variable: `$env:windir\\x.exe`."""
        if name.known or _KNOWN_PROGRAM.search(name.text) is not None:
            return self._arguments_of(name.text, start, stdin, fed)
        return self._arguments_of("", start, stdin, fed, first=name)

    def _skip_arguments(self) -> None:
        while self.at < self.end and not self._at_end():
            self._argument()
            self._blank()

    def _redirections_of_expression(self, start: int) -> None:
        self._blank()
        found = _REDIRECTION.match(self.text, self.at, self.end)
        if found is not None and found[2] != "<":
            redirection = self._redirection()
            if redirection is not None:
                self._emit(":", (), self._span(start, self.at), (redirection,), None)

    def _arguments_of(
        self, name: str, start: int, stdin: Call | Word | None, fed: Value | None, first: Value | None = None
    ) -> tuple[Value, Call | None]:
        """Reads the arguments of a command, and emits its call."""
        arguments: list[Argument] = [Argument(first)] if first is not None else []
        redirections: list[Redirection] = []
        while self.at < self.end:
            self._blank()
            if self._at_end():
                break
            if self.text[self.at] == "#" or not self._busy():
                self.at = line_end(self.text, self.at, self.end)
                break
            before = self.at
            if _REDIRECTION.match(self.text, self.at, self.end):
                redirection = self._redirection()
                if redirection is not None:
                    redirections.append(redirection)
            else:
                arguments += self._one_argument()
            if self.at <= before:
                self.at = before + 1
        return self._command(name, arguments, tuple(redirections), self._span(start, self.at), stdin, fed)

    def _redirection(self) -> Redirection | None:
        found = _REDIRECTION.match(self.text, self.at, self.end)
        if found is None:
            return None
        self.at = found.end()
        if found[3]:
            return None
        start = self.at
        target = word_of(self._argument(), self._span(start, self.at))
        return Redirection(found[2], target) if target.text else None

    def _one_argument(self) -> list[Argument]:
        """Reads an argument, or a parameter with its value."""
        parameter = _PARAMETER.match(self.text, self.at, self.end)
        if parameter is not None:
            after = parameter.end()
            following = self.text[after : after + 1]
            if parameter[2] and following and following not in " \t\n;|":
                self.at = after
                value = self._argument()
                return [Argument(replace(value, text=f"-{parameter[1]}:{value.text}"), parameter=True)]
            if not following or following in " \t\r\n;|)}(," or following in "'\"$":
                self.at = after
                return [Argument(constant(f"-{parameter[1]}"), parameter=True)]
        return [Argument(self._argument())]


def invokes(text: str, at: int) -> bool:
    """Decides whether `&` or `.` at the position is the call operator."""
    following = text[at + 1 : at + 2]
    if text[at] == "&":
        return following != "&" and following != "" and (following in " \t\"'$({" or following.isalpha())
    return text[at] == "." and following in (" ", "\t", '"', "'", "$", "(", "{")


def line_end(text: str, at: int, end: int) -> int:
    found = re.compile(r"[;\n}]").search(text, at, end)
    return found.start() if found is not None else end
