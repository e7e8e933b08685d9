"""Reads PowerShell into calls, with knowledge of the language's grammar, aliases and constant expressions but of no
cmdlet's effects.

The reader goes through the text once and needs no grammar tree: the existing grammar takes seconds for hostile texts of
64 KiB, and loses arguments of native programs that it can't parse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from guardrail.model import Call, Passage, Reading, Redirection, Span, Uncovered, Word
from guardrail.reading.cmd import read as read_cmd
from guardrail.reading.code_values import (
    Value,
    constant,
    fetched,
    joined,
    listed,
    mapped,
    printed,
    reads_path,
    unknown,
    word_of,
)
from guardrail.reading.decoding import Normalised, from_base64, normalise
from guardrail.reading.powershell_names import ALIASES, METHODS, SAME_TYPES, VERBS
from guardrail.record import record
from guardrail.vocabulary import Language

__all__ = ["read", "read_cmd"]

MAX_WORK = 8_000  # statements, expressions and arguments
MAX_CALLS = 1_000
MAX_DEPTH = 25
MAX_FOLLOWED = 6  # nested functions
MAX_TURNS = 64
MAX_PASSAGES = 200
LONG_TEXT = 40

_RUN = re.compile(r"\s*[A-Za-z0-9+/]+={0,2}\s*")
_BLANK = re.compile(r"(?:[ \t\f\v]+|`\r?\n|<#.*?(?:#>|\Z))+", re.S)
_BLANKS = re.compile(r"(?:\s+|`\r?\n|<#.*?(?:#>|\Z)|#[^\n]*)+", re.S)
_WORD_PLAIN = re.compile(r"[^\s`'\"$(){};|&<>,@#]+")
_VARIABLE = re.compile(r"\$(?:\{([^}]{1,200})\}|((?:[A-Za-z]+:)?\w+|[?^$_]))")
_ASSIGNMENT = re.compile(
    r"(?:\[[\w.\[\], ]{1,80}\]\s*)?\$(?:\{([^}]{1,200})\}|((?:[A-Za-z]+:)?\w+))[ \t]*([-+*/%]|\?\?)?=(?!=)[ \t]*"
)
_MEMBER_ASSIGNMENT = re.compile(r"\$[\w:]+(?:\.\w+|\[[^\]\n]{0,80}\])+[ \t]*[-+*/%]?=(?!=)[ \t]*")
_TYPE = re.compile(r"\[([A-Za-z_][\w.+`]*(?:\[[\w., \[\]]*\])?)\]")
_NUMBER = re.compile(r"(0[xX][0-9A-Fa-f]+|\d+(?:\.\d+)?)(?:[kmgtpKMGTP][bB]|[lLdD])?(?![\w.-])")
_OPERATOR = re.compile(
    r"\s*(\+|\*|/|%|-(?:[ic]?(?:f|join|replace|split|eq|ne|like|notlike|match|notmatch|contains|notcontains|in|notin"
    r"|gt|ge|lt|le)|b?and|b?or|b?xor|is|isnot|as|shl|shr|f)\b|\.\.|-(?=[\s\d$(]))\s*",
    re.I,
)
_REDIRECTION = re.compile(r"([1-6*]?)(>>|>|<)(&[12])?[ \t]*")
_PARAMETER = re.compile(r"-([A-Za-z_?][\w]*)(:)?")
_HERE = re.compile(r"@(['\"])[ \t]*\r?\n")
_KEYWORD = re.compile(
    r"(?i)(if|elseif|else|while|until|do|foreach|for|switch|function|filter|workflow|class|enum|param|try|catch|finally|trap"
    r"|begin|process|end|dynamicparam|return|throw|exit|break|continue|data|using|configuration)(?![\w.\-/\\:])"
)
_FORMAT = re.compile(r"\{(\d{1,2})[^{}]{0,20}\}")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "f": "", "v": "", "e": ""}
_ENCODED = re.compile(r"(?i)[-/]e(?:c|nc|nco|ncod|ncode|ncoded|ncodedc\w*)?$")
_SHELLS = frozenset(("powershell", "pwsh"))
_GETS = frozenset(("get-childitem", "get-item", "resolve-path", "get-process", "get-service", "convert-path"))
_FETCHES = frozenset(("invoke-webrequest", "invoke-restmethod"))
_PASSES = frozenset(
    (
        *("where-object", "select-object", "sort-object", "tee-object", "out-string", "write-output", "get-unique"),
        *("select-string", "out-null", "convertfrom-json", "convertto-json", "get-random", "group-object"),
    )
)
_TAKES_PIPE = frozenset(
    (
        *("remove", "clear", "stop", "move", "copy", "rename", "set", "restart", "disable", "uninstall", "unregister"),
        *("suspend", "start", "enable", "revoke", "format", "reset", "grant", "update", "kill", "dismount", "add"),
    )
)
_NAMED = frozenset(
    ("-path", "-literalpath", "-name", "-id", "-identity", "-filepath", "-fullname", "-inputobject", "-taskname")
)
_CONSTANTS = {
    "true": "True",
    "false": "False",
    "null": "",
    "pwd": ".",
    "psscriptroot": ".",
    "home": "~",
    "pshome": "C:\\Windows\\System32\\WindowsPowerShell\\v1.0",
}


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a PowerShell text, in order, with the texts that people read and the parts that could not be
    read. A text that is one run of base64 is an encoded command."""
    encoded = from_base64(text.strip()) if len(text) > 11 and _RUN.fullmatch(text) else None
    reader = _Reader(normalise(encoded or text), offset)
    if encoded is not None:
        reader.carrier = Span(offset, offset + len(text))
    reader.run()
    return Reading(
        language=Language.POWERSHELL,
        calls=tuple(reader.calls),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )


@record
class _Block:
    """A part of a text between braces."""

    start: int
    end: int


@dataclass(slots=True)
class _Argument:
    """An argument of a command: a parameter's name or a value."""

    value: Value
    parameter: bool = False


class _Reader:
    """One pass over a text."""

    def __init__(self, source: Normalised, offset: int) -> None:
        self.source = source
        self.text = source.text
        self.offset = offset
        self.at = 0
        self.end = len(self.text)
        self.calls: list[Call] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, _Block] = {}
        self.called: set[str] = set()
        self.following: list[str] = []
        self.blocks: dict[int, int] = {}  # the position of the closing bracket by that of the opening one
        self.work = 0
        self.depth = 0
        self.sure = True
        self.full = False
        self.directory: Word | None = None
        self.carrier: Span | None = None
        self.opened: Value | None = None  # the response to an opened request
        self.socket: Value | None = None  # the other end of a connection

    def run(self) -> None:
        self.blocks = _brackets(self.text)
        self._comments()
        self._statements()
        self.sure = False
        for name, block in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                self._body(block, {})

    # Statements

    def _statements(self) -> Value:
        """Reads statements up to the end or a closing bracket; returns the value of the last one."""
        value = unknown("result")
        while self.at < self.end and not self.full:
            self._blanks()
            if self.at >= self.end:
                break
            char = self.text[self.at]
            if char in ")}]":
                break
            if char in ";|&," and not self.text.startswith("& ", self.at) and not _invokes(self.text, self.at):
                self.at += 1
                continue
            before = self.at
            value = self._statement()
            if self.at <= before:
                self.at = before + 1
        return value

    def _busy(self) -> bool:
        self.work += 1
        if self.full:
            return False
        if self.work > MAX_WORK or len(self.calls) >= MAX_CALLS:
            self.full = True
            self.uncovered.append(
                Uncovered(self._span(self.at, self.end), "more commands than are read of one text", stopped=True)
            )
            return False
        return True

    def _statement(self) -> Value:
        if not self._busy():
            self.at = self.end
            return unknown()
        if self.depth > MAX_DEPTH:
            self.uncovered.append(Uncovered(self._span(self.at, self.end), "commands nested too deeply", stopped=True))
            self.at = self.end
            return unknown()
        keyword = _KEYWORD.match(self.text, self.at, self.end)
        if keyword is not None:
            return self._keyword(keyword[1].lower(), keyword.end())
        assignment = _ASSIGNMENT.match(self.text, self.at, self.end)
        if assignment is not None:
            self.at = assignment.end()
            value = self._statement()
            self._assign((assignment[1] or assignment[2]).lower(), assignment[3] or "", value)
            return value
        member = _MEMBER_ASSIGNMENT.match(self.text, self.at, self.end)
        if member is not None:
            self.at = member.end()
            return self._statement()
        return self._chain()

    def _assign(self, name: str, operator: str, value: Value) -> None:
        name = name.rpartition(":")[2] if not name.startswith("env:") else name
        if operator == "+":
            before = self.variables.get(name, constant(""))
            items = (*(before.items or ()), *(value.items or (value,)))
            value = listed(items) if before.items is not None else joined((before, value))
        if len(self.variables) < 2_000:
            self.variables[name] = value

    def _keyword(self, keyword: str, after: int) -> Value:
        self.at = after
        self._blanks()
        if keyword in ("function", "filter", "workflow", "configuration"):
            name = _WORD_PLAIN.match(self.text, self.at, self.end)
            if name is not None:
                self.at = name.end()
                block = self._next_block()
                if block is not None:
                    self.functions[name[0].lower().rpartition(":")[2]] = block
            return unknown()
        if keyword in ("class", "enum", "using", "break", "continue"):
            block = self._next_block() if keyword in ("class", "enum") else None
            if block is None:
                self.at = _line_end(self.text, self.at, self.end)
            else:
                self._inside(block)
            return unknown()
        if keyword == "foreach":
            return self._foreach()
        if keyword == "param":
            return self._param()
        if keyword in ("return", "throw", "exit"):
            if self.at >= self.end or self.text[self.at] in ";}\n)":
                return unknown()
            return self._chain()
        if self.at < self.end and self.text[self.at] == "-":  # switch -regex (…)
            self.at = max(self.text.find("(", self.at, self.end), self.at)
        if self.at < self.end and self.text[self.at] == "(":
            close = self.blocks.get(self.at, self.end)
            self._inside(_Block(self.at + 1, close))
            self.at = min(close + 1, self.end)
            self._blanks()
        if keyword == "switch":
            return self._switch()
        while self.at < self.end and self.text[self.at] == "[":  # catch [Exception]
            self.at = min(self.blocks.get(self.at, self.end) + 1, self.end)
            self._blanks()
        if self.at < self.end and self.text[self.at] == "{":
            close = self.blocks.get(self.at, self.end)
            self._inside(_Block(self.at + 1, close))
            self.at = min(close + 1, self.end)
        return unknown()

    def _foreach(self) -> Value:
        """Reads `foreach ($x in …) {…}`."""
        if self.at >= self.end or self.text[self.at] != "(":
            return self._chain_from("ForEach-Object")
        close = self.blocks.get(self.at, self.end)
        head = _VARIABLE.match(self.text, self.at + 1) or re.compile(r"\s*\$(\w+)()").match(self.text, self.at + 1)
        inner = re.compile(r"\s+in\s+", re.I).match(self.text, head.end(), close) if head is not None else None
        values = unknown("item")
        if inner is not None:
            values = self._value_of(_Block(inner.end(), close))
        self.at = min(close + 1, self.end)
        self._blanks()
        if self.at < self.end and self.text[self.at] == "{" and head is not None:
            block = _Block(self.at + 1, self.blocks.get(self.at, self.end))
            name = (head[1] or head[2] or "item").lower()
            for turn in _turns(values):
                self.variables[name] = turn
                self._inside(block)
            self.at = min(block.end + 1, self.end)
        return unknown()

    def _switch(self) -> Value:
        """Reads the blocks of a switch, of which one runs."""
        if self.at < self.end and self.text[self.at] == "{":
            close = self.blocks.get(self.at, self.end)
            sure, self.sure = self.sure, False
            at = self.at + 1
            while at < close:
                start = self.text.find("{", at, close)
                if start < 0:
                    break
                end = self.blocks.get(start, close)
                self._inside(_Block(start + 1, min(end, close)))
                at = end + 1
            self.sure = sure
            self.at = min(close + 1, self.end)
        return unknown()

    def _param(self) -> Value:
        if self.at < self.end and self.text[self.at] == "(":
            close = self.blocks.get(self.at, self.end)
            for found in re.finditer(r"\$(\w+)[ \t]*=[ \t]*", self.text[self.at : close]):
                name = found[1].lower()
                if name not in self.variables:
                    start = self.at + found.end()
                    self.variables[name] = self._value_of(_Block(start, close))
            self.at = min(close + 1, self.end)
        return unknown()

    def _next_block(self) -> _Block | None:
        """Returns the block that begins on the current line, skipping parameters in brackets."""
        self._blanks()
        while self.at < self.end and self.text[self.at] == "(":
            self.at = min(self.blocks.get(self.at, self.end) + 1, self.end)
            self._blanks()
        while self.at < self.end and self.text[self.at] not in "{\n;":
            self.at += 1
        self._blanks()
        if self.at >= self.end or self.text[self.at] != "{":
            return None
        close = self.blocks.get(self.at, self.end)
        block = _Block(self.at + 1, close)
        self.at = min(close + 1, self.end)
        return block

    def _inside(self, block: _Block) -> Value:
        """Reads the statements of a block and returns to the previous position."""
        at, end = self.at, self.end
        self.at, self.end = min(block.start, end), min(block.end, end)
        self.depth += 1
        value = self._statements() if self.at < self.end else unknown()
        self.depth -= 1
        self.at, self.end = at, end
        return value

    def _value_of(self, block: _Block) -> Value:
        """Returns the value of the pipeline or expression in a part of the text."""
        return self._inside(block)

    def _body(self, block: _Block, given: dict[str, Value]) -> Value:
        before = dict(self.variables)
        self.variables.update(given)
        value = self._inside(block)
        self.variables = before
        return value

    # Pipelines

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
        if char in "&." and _invokes(self.text, start):
            self.at += 1
            self._blank()
            if self.at < self.end and self.text[self.at] == "{":
                block = _Block(self.at + 1, self.blocks.get(self.at, self.end))
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

    def _at_end(self) -> bool:
        """Decides whether the arguments of a command end here."""
        if self.at >= self.end:
            return True
        char = self.text[self.at]
        return char in ";|)}\n\r" or (char == "&" and not self.text.startswith("&1", self.at))

    def _arguments_of(
        self, name: str, start: int, stdin: Call | Word | None, fed: Value | None, first: Value | None = None
    ) -> tuple[Value, Call | None]:
        """Reads the arguments of a command, and emits its call."""
        arguments: list[_Argument] = [_Argument(first)] if first is not None else []
        redirections: list[Redirection] = []
        while self.at < self.end:
            self._blank()
            if self._at_end():
                break
            if self.text[self.at] == "#" or not self._busy():
                self.at = _line_end(self.text, self.at, self.end)
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

    def _one_argument(self) -> list[_Argument]:
        """Reads an argument, or a parameter with its value."""
        parameter = _PARAMETER.match(self.text, self.at, self.end)
        if parameter is not None:
            after = parameter.end()
            following = self.text[after : after + 1]
            if parameter[2] and following and following not in " \t\n;|":
                self.at = after
                value = self._argument()
                return [_Argument(replace(value, text=f"-{parameter[1]}:{value.text}"), parameter=True)]
            if not following or following in " \t\r\n;|)}(," or following in "'\"$":
                self.at = after
                return [_Argument(constant(f"-{parameter[1]}"), parameter=True)]
        return [_Argument(self._argument())]

    def _argument(self) -> Value:
        """Reads a value as an argument: adjacent words and quoted parts are one value, commas make a list."""
        items = [self._single_argument()]
        while True:
            at = self.at
            blank = _BLANK.match(self.text, self.at, self.end)
            after = blank.end() if blank is not None else at
            if after >= self.end or self.text[after] != ",":
                break
            self.at = after + 1
            self._blanks()
            if self.at >= self.end:
                break
            items.append(self._single_argument())
        if len(items) == 1:
            return items[0]
        return replace(listed(items), text=", ".join(item.text for item in items), known=all(i.known for i in items))

    def _single_argument(self) -> Value:
        if self.at >= self.end:
            return constant("")
        char = self.text[self.at]
        if char in "(@{" or self.text.startswith("$(", self.at) or (char == "[" and _TYPE.match(self.text, self.at)):
            return self._primary()
        return self._bare_word()

    def _bare_word(self) -> Value:
        """Reads characters, quoted parts and variables up to a blank."""
        parts: list[Value] = []
        while self.at < self.end and self._busy():
            plain = _WORD_PLAIN.match(self.text, self.at, self.end)
            if plain is not None:
                parts.append(replace(constant(plain[0]), glob="*" in plain[0] or "?" in plain[0]))
                self.at = plain.end()
                continue
            char = self.text[self.at]
            if char == "`":
                if self.text[self.at + 1 : self.at + 2] in ("\n", "\r", ""):
                    break
                parts.append(constant(self.text[self.at + 1]))
                self.at += 2
            elif char in "'\"":
                parts.append(self._quoted())
            elif char == "$" and not self.text.startswith("$(", self.at):
                parts.append(self._postfix(self._variable()))
            elif self.text.startswith("$(", self.at):
                parts.append(self._primary())
            elif char in "#@" and parts:
                parts.append(constant(char))
                self.at += 1
            elif char == "{" and len(parts) == 1 and parts[0].text in ("%", "?"):
                break
            elif char == "{" and parts:
                close = min(self.blocks.get(self.at, self.end), self.end)
                parts.append(constant(self.text[self.at : close + 1]))
                self.at = min(close + 1, self.end)
            else:
                break
        if len(parts) == 1:
            return parts[0]
        return joined(parts) if parts else constant("")

    # Expressions

    def _expression(self) -> Value:
        """Reads an expression with its binary operators, from left to right."""
        self.depth += 1
        value = self._operand()
        while self.at < self.end and self._busy():
            operator = _OPERATOR.match(self.text, self.at, self.end)
            blank = _BLANK.match(self.text, self.at, self.end)
            at = blank.end() if blank is not None else self.at
            if self.text.startswith(",", at) and at < self.end:
                self.at = at + 1
                self._blanks()
                right = self._operand()
                value = listed((*(value.items or (value,)), right))
                continue
            if operator is None or "\n" in operator[0].split(operator[1])[0]:
                break
            self.at = operator.end()
            value = _operated(operator[1].lower().lstrip("-"), value, self._right())
        self.depth -= 1
        return value

    def _right(self) -> Value:
        """Reads the operand to the right of an operator: commas bind more tightly."""
        items = [self._operand()]
        while self.at < self.end and self._busy():
            blank = _BLANK.match(self.text, self.at, self.end)
            at = blank.end() if blank is not None else self.at
            if at >= self.end or self.text[at] != ",":
                break
            self.at = at + 1
            self._blanks()
            items.append(self._operand())
        return items[0] if len(items) == 1 else listed(items)

    def _operand(self) -> Value:
        unary = re.compile(r"(?:-(?:not|bnot)\b|!|\+\+|--|\+)\s*", re.I).match(self.text, self.at, self.end)
        if unary is not None:
            self.at = unary.end()
            return self._nested_operand()
        joins = re.compile(r"-(join|split)\s*", re.I).match(self.text, self.at, self.end)
        if joins is not None:
            self.at = joins.end()
            value = self._nested_operand()
            if joins[1].lower() == "join":
                return joined(value.items) if value.items is not None else value
            return listed([constant(part) for part in value.text.split()])
        return self._primary()

    def _nested_operand(self) -> Value:
        """Reads the operand of a prefix."""
        if self.depth >= MAX_DEPTH and not self.full:
            self.full = True
            self.uncovered.append(
                Uncovered(self._span(self.at, self.end), "expressions nested too deeply", stopped=True)
            )
        if not self._busy():
            return unknown()
        self.depth += 1
        value = self._operand()
        self.depth -= 1
        return value

    def _primary(self) -> Value:
        """Reads a constant, variable, type or bracket, with the members and calls that follow it."""
        if self.at >= self.end or self.depth > MAX_DEPTH:
            if self.depth > MAX_DEPTH and not self.full:
                self.full = True
                self.uncovered.append(
                    Uncovered(self._span(self.at, self.end), "expressions nested too deeply", stopped=True)
                )
            return unknown()
        char = self.text[self.at]
        if char == "@" and _HERE.match(self.text, self.at):
            return self._postfix(self._quoted())
        if char in "'\"":
            return self._postfix(self._quoted())
        if char == "$" and self.text[self.at + 1 : self.at + 2] != "(":
            return self._postfix(self._variable())
        if (char in "($@" and self.text[self.at : self.at + 2] in ("$(", "@(")) or char == "(":
            start = self.text.find("(", self.at)
            close = min(self.blocks.get(start, self.end), self.end)
            value = self._inside(_Block(start + 1, close))
            self.at = min(close + 1, self.end)
            if char == "@" and value.items is None:
                value = replace(listed((value,)), text=value.text, known=value.known)
            return self._postfix(value)
        if char == "{" or self.text.startswith("@{", self.at):
            return self._braces()
        if char == "[":
            kind = _TYPE.match(self.text, self.at, self.end)
            if kind is not None:
                self.at = kind.end()
                return self._typed(kind[1])
        number = _NUMBER.match(self.text, self.at, self.end)
        if number is not None:
            self.at = number.end()
            text = number[1]
            return constant(str(int(text, 16)) if text[:2].lower() == "0x" and len(text) < 12 else text)
        word = self._bare_word()
        if not word.text and self.at < self.end and self.text[self.at] not in ")}];|\n":
            self.at += 1
        return word

    def _braces(self) -> Value:
        """Reads a script block, or a mapping."""
        mapping = self.text[self.at] == "@"
        start = self.at + (1 if mapping else 0)
        close = min(self.blocks.get(start, self.end), self.end)
        inner = self.text[start + 1 : close]
        self.at = min(close + 1, self.end)
        if not mapping:
            return Value(inner.strip(), type="block", names=f"{start + 1}:{close}")
        entries: list[tuple[str, Value]] = []
        outer = self.at, self.end
        for found in re.finditer(r"(?:^|[;\n])\s*['\"]?([\w-]+)['\"]?\s*=\s*", inner):
            if len(entries) > 32 or not self._busy():
                break
            self.at, self.end = start + 1 + found.end(), close
            self.depth += 1
            entries.append((found[1], self._expression() if self.at < self.end else constant("")))
            self.depth -= 1
        self.at, self.end = outer
        return mapped(entries)

    def _typed(self, name: str) -> Value:
        """Reads `[type]::member`, or a value that is converted."""
        kind = _full_type(name)
        if _MEMBER.match(self.text, self.at, self.end) is not None:
            return self._postfix(Value(f"[{kind}]", known=False, names=f"[{kind}]"))
        self._blank()
        if self._at_end() or self.text[self.at] in ",=":
            return Value(f"[{kind}]", known=False, names=f"[{kind}]")
        value = self._nested_operand()
        if kind == "char" and value.text.isdecimal() and len(value.text) < 7 and int(value.text) < 0x110000:
            return constant(chr(int(value.text)))
        if kind == "char[]" and value.items is not None:
            return listed(
                [constant(chr(int(i.text))) if i.text.isdecimal() and len(i.text) < 6 else i for i in value.items]
            )
        if kind in ("string", "int", "char", "byte[]", "scriptblock", "xml", "uri", "array", "system.io.fileinfo"):
            return value
        return replace(value, type=kind) if value.known else value

    def _postfix(self, value: Value) -> Value:
        """Reads the members, calls and indexes that follow a value."""
        while self.at < self.end and self._busy():
            found = _MEMBER.match(self.text, self.at, self.end)
            if found is not None:
                start = self.at
                self.at = found.end()
                name = found[2]
                if name[:1] in "'\"$(":
                    self.at = found.start(2)
                    member = self._name_of_member()
                    name = member.text if member.known else ""
                name = name.lower()
                if self.at < self.end and self.text[self.at] == "(":
                    arguments = self._method_arguments()
                    value = self._method(value, name, arguments, self._span(start, self.at))
                elif self.opened is not None and name in ("responsetext", "responsebody", "responsestream"):
                    value = self.opened
                else:
                    value = _member(value, name)
                continue
            if self.text[self.at] == "[" and self.text[self.at - 1 : self.at] not in (" ", "\t", "\n"):
                close = min(self.blocks.get(self.at, self.end), self.end)
                index = self._inside(_Block(self.at + 1, close))
                self.at = min(close + 1, self.end)
                value = _indexed(value, index)
                continue
            break
        return value

    def _name_of_member(self) -> Value:
        """Reads a member's name that an expression computes: `.('Down' + 'loadString')`."""
        char = self.text[self.at]
        if char in "'\"":
            return self._quoted()
        if char == "$":
            return self._variable()
        close = min(self.blocks.get(self.at, self.end), self.end)
        value = self._inside(_Block(self.at + 1, close))
        self.at = min(close + 1, self.end)
        return value

    def _method_arguments(self) -> list[Value]:
        close = min(self.blocks.get(self.at, self.end), self.end)
        end = self.end
        self.at += 1
        self.end = close
        arguments: list[Value] = []
        self.depth += 1
        while self.at < self.end and self._busy():
            self._blanks()
            if self.at >= self.end:
                break
            before = self.at
            value = self._method_argument()
            arguments.append(value)
            if self.at <= before:
                self.at = before + 1
            self._blanks()
            if self.text.startswith(",", self.at):
                self.at += 1
        self.depth -= 1
        self.end = end
        self.at = min(close + 1, end)
        return arguments

    def _method_argument(self) -> Value:
        """Reads one argument of a method: an expression without commas."""
        value = self._operand()
        while self.at < self.end and self._busy():
            operator = _OPERATOR.match(self.text, self.at, self.end)
            if operator is None:
                break
            self.at = operator.end()
            value = _operated(operator[1].lower().lstrip("-"), value, self._operand())
        return value

    def _variable(self) -> Value:
        found = _VARIABLE.match(self.text, self.at, self.end)
        if found is None:
            self.at += 1
            return constant("$")
        self.at = found.end()
        return self._named(found[1] or found[2])

    def _named(self, name: str) -> Value:
        lowered = name.lower()
        if not lowered.startswith("env:"):
            lowered = lowered.rpartition(":")[2]
        value = self.variables.get(lowered)
        if value is not None:
            return value
        if lowered in _CONSTANTS:
            return constant(_CONSTANTS[lowered])
        if lowered.startswith("env:"):
            return Value(f"$env:{name.partition(':')[2]}", known=False)
        return Value(f"${name}", known=False)

    def _quoted(self) -> Value:
        """Reads a string: verbatim, expandable, or a here-string."""
        here = _HERE.match(self.text, self.at, self.end)
        if here is not None:
            close = self.text.find(f"\n{here[1]}@", here.end() - 1, self.end)
            stop = close if close >= 0 else self.end
            body = self.text[here.end() : stop]
            start, self.at = self.at, min(stop + 3, self.end) if close >= 0 else self.end
            self._long(body, start)
            return constant(body) if here[1] == "'" else self._expanded(body, here.end())
        quote = self.text[self.at]
        start = self.at
        self.at += 1
        parts: list[str] = []
        while self.at < self.end:
            stop = self.text.find(quote, self.at, self.end)
            if quote == '"':
                stop = _closing_quote(self.text, self.at, self.end, self.blocks)
            if stop < 0:
                parts.append(self.text[self.at : self.end])
                self.at = self.end
                self.uncovered.append(Uncovered(self._span(start, self.end), "a quote that isn't closed"))
                break
            parts.append(self.text[self.at : stop])
            self.at = stop + 1
            if self.text.startswith(quote, self.at) and self.at < self.end:
                parts.append(quote)
                self.at += 1
                continue
            break
        body = "".join(parts)
        self._long(body, start)
        return constant(body) if quote == "'" else self._expanded(body, start + 1 if len(parts) == 1 else -1)

    def _long(self, body: str, start: int) -> None:
        if len(body) >= LONG_TEXT and " " in body and len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(body, self._span(start, self.at)))

    def _expanded(self, body: str, start: int) -> Value:
        """Returns the text of an expandable string. `start` is its position, if it is there unchanged."""
        if "$" not in body and "`" not in body:
            return constant(body)
        parts: list[Value] = []
        at = kept = 0
        while at < len(body) and self._busy():
            char = body[at]
            if char == "`" and at + 1 < len(body):
                parts.append(constant(body[kept:at] + _ESCAPES.get(body[at + 1], body[at + 1])))
                at += 2
                kept = at
            elif char == "$" and body.startswith("$(", at) and start >= 0:
                parts.append(constant(body[kept:at]))
                close = self.blocks.get(start + at + 1, self.end)
                outer = self.at, self.end
                self.end = min(close, start + len(body))
                parts.append(self._inside(_Block(start + at + 2, self.end)))
                self.at, self.end = outer
                at = kept = min(close + 1 - start, len(body))
            elif char == "$" and (found := _VARIABLE.match(body, at)) is not None:
                parts += [constant(body[kept:at]), self._named(found[1] or found[2])]
                at = kept = found.end()
            else:
                marks = [place for mark in "$`" if (place := body.find(mark, at + 1)) >= 0]
                at = min(marks, default=len(body))
        parts.append(constant(body[kept:]))
        return joined(parts)

    # Calls

    def _command(
        self,
        name: str,
        arguments: list[_Argument],
        redirections: tuple[Redirection, ...],
        span: Span,
        stdin: Call | Word | None,
        fed: Value | None,
    ) -> tuple[Value, Call | None]:
        lowered = name.lower().replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".exe")
        lowered = ALIASES.get(lowered, lowered)
        cmdlet = _is_cmdlet(lowered)
        if lowered in self.functions and lowered not in self.following and len(self.following) < MAX_FOLLOWED:
            return self._function(lowered, arguments, fed), None
        if lowered in ("foreach-object", "where-object"):
            return self._each(lowered, arguments, stdin, fed, span)
        if lowered in _SHELLS or lowered == "cmd":
            arguments = _decoded_shell(arguments)
        if cmdlet:
            arguments = _without_common(arguments)
        words = [word_of(value, span) for argument in arguments for value in _spread(argument.value, lowered)]
        if cmdlet and fed is not None and self._is_fed(lowered, arguments, fed):
            words.append(word_of(fed, span))
        if lowered == "set-location" and words:
            self.directory = next((word for word in words if not word.text.startswith("-")), self.directory)
        program = f"ps:{lowered}" if cmdlet else lowered
        path = name if not cmdlet and ("\\" in name or "/" in name) else ""
        call = self._emit(program, tuple(words), span, redirections, stdin, path.replace("\\", "/"))
        if lowered == "start-process":
            self._started(arguments, span)
        if lowered == "invoke-expression" and self.socket is not None and not all(word.known for word in words):
            self._emit("ps:*.runwhatcomes", (word_of(self.socket, span),), span, (), None)
        if lowered == "new-alias" or lowered == "set-alias":
            self._alias(arguments)
        return self._result(lowered, arguments, fed), call

    def _alias(self, arguments: list[_Argument]) -> None:
        given = [argument.value.text.lower() for argument in arguments if not argument.parameter]
        if len(given) >= 2:
            self.functions.pop(given[0], None)
            at = self.text.lower().find(given[1])
            if at >= 0:
                self.functions[given[0]] = _Block(at, at + len(given[1]))

    def _is_fed(self, name: str, arguments: list[_Argument], fed: Value) -> bool:
        """Decides whether a cmdlet gets its input from the pipe."""
        if name.partition("-")[0] not in _TAKES_PIPE or name in ("set-content", "add-content", "set-variable"):
            return False
        return all(
            argument.parameter and argument.value.text.lower().partition(":")[0] not in _NAMED for argument in arguments
        ) and bool(fed.text)

    def _each(
        self, name: str, arguments: list[_Argument], stdin: Call | Word | None, fed: Value | None, span: Span
    ) -> tuple[Value, Call | None]:
        """Reads `| % {…}`: the block runs with `$_` set to the piped value."""
        before = self.variables.get("_")
        value = fed or unknown("item")
        result = value
        count = len(self.calls)
        turns = _turns(value) if name == "foreach-object" else [value]
        for turn in turns:
            for argument in arguments:
                if argument.value.type == "block":
                    self.variables["_"] = self.variables["psitem"] = turn
                    result = self._run_block(argument.value)
        if name == "foreach-object":
            method = next((a.value.text for a in arguments if not a.parameter and a.value.type != "block"), "")
            if method.isidentifier():
                result = self._method(value, method.lower(), [], span)
        if before is None:
            self.variables.pop("_", None)
        else:
            self.variables["_"] = before
        if name == "where-object":
            return replace(value, glob=value.glob), stdin if isinstance(stdin, Call) else None
        return result, self.calls[-1] if len(self.calls) > count else None

    def _run_block(self, block: Value) -> Value:
        start, _, end = block.names.partition(":")
        if self.depth >= MAX_DEPTH or not start.isdecimal():
            return unknown()
        outer = self.end
        self.end = max(int(end), self.end)
        value = self._inside(_Block(int(start), int(end)))
        self.end = outer
        return value

    def _function(self, name: str, arguments: list[_Argument], fed: Value | None) -> Value:
        block = self.functions[name]
        self.called.add(name)
        given: dict[str, Value] = {"args": listed([argument.value for argument in arguments])}
        names = _parameters(self.text, block)
        positional: list[Value] = []
        at = 0
        while at < len(arguments):
            argument = arguments[at]
            spelled = argument.value.text[1:].lower()
            if argument.parameter and spelled in names and at + 1 < len(arguments):
                given[spelled] = arguments[at + 1].value
                at += 2
                continue
            if not argument.parameter:
                positional.append(argument.value)
            at += 1
        free = [parameter for parameter in names if parameter not in given]
        given.update(zip(free, positional, strict=False))
        if fed is not None:
            given["_"] = given["input"] = fed
        self.following.append(name)
        value = self._body(block, given)
        self.following.pop()
        return value

    def _started(self, arguments: list[_Argument], span: Span) -> None:
        """Adds the call of the program that Start-Process starts, with its arguments."""
        file, given = "", ""
        positional: list[str] = []
        at = 0
        while at < len(arguments):
            spelled = arguments[at].value.text.lower()
            if arguments[at].parameter and ":" not in spelled and at + 1 < len(arguments):
                following = arguments[at + 1]
                if not following.parameter and spelled in ("-filepath", "-argumentlist", "-args", "-file"):
                    if spelled.startswith("-f"):
                        file = following.value.text
                    else:
                        given = _spaced(following.value)
                    at += 2
                    continue
                if spelled in ("-verb", "-windowstyle", "-workingdirectory", "-credential"):
                    at += 2
                    continue
            elif not arguments[at].parameter:
                positional.append(_spaced(arguments[at].value))
            at += 1
        file = file or (positional.pop(0) if positional else "")
        given = given or (positional[0] if positional else "")
        if file and given:
            reading = read_cmd(f'"{file}" {given}' if " " in file else f"{file} {given}", offset=span.start)
            self.calls += [replace(call, span=span, sure=call.sure and self.sure) for call in reading.calls[:20]]

    def _method(self, value: Value, name: str, arguments: list[Value], span: Span) -> Value:
        """Reads a call of a method."""
        if name in ("invoke", "invokereturnasis", "invokewithcontext"):
            if value.type == "block":
                return self._run_block(value)
            if value.names and "]::" in value.names:
                type_name, _, member = value.names.rpartition("::")
                return self._method(replace(value, names=type_name), member.removesuffix(".invoke"), arguments, span)
            if value.names.startswith("method:"):
                _, member = value.names.split(":", 1)
                return self._method(replace(value, names=""), member, arguments, span)
        static = _computed(value, name, arguments)
        if static is not None:
            return static
        words = tuple(word_of(argument, span) for argument in arguments)
        if value.names.startswith("["):
            kind = value.names.strip("[]")
            if kind == "scriptblock" and name == "create" and arguments:
                return Value(arguments[0].text, arguments[0].known, type="code")
            cmdlet = METHODS.get(f"[{kind}]::{name}")
            if cmdlet is not None:
                return self._as_cmdlet(cmdlet, words, span, arguments)
            self._emit(f"ps:[{kind}]::{name}", words, span, (), None)
            if name == "create" and kind.endswith("webrequest") and arguments:
                return fetched(arguments[0])
            if name in ("readalltext", "readallbytes", "readalllines", "openread", "readlines") and arguments:
                return reads_path(arguments[0])
            return Value(f"$({name})", known=False, type=kind)
        if value.type == "code":
            self._emit("ps:invoke-expression", (word_of(value, span),), span, (), None)
            return unknown()
        if value.type == "executioncontext" or name == "invokescript":
            self._emit("ps:invoke-expression", words[-1:], span, (), None)
            return unknown()
        if name == "createshortcut" and words:
            self._emit("ps:set-content", words[:1], span, (), None)
            return unknown("shortcut")
        if value.type in ("wscript.shell", "shell.application") and name in ("run", "exec", "shellexecute") and words:
            line = " ".join(_spaced(argument) for argument in arguments[: 2 if name == "shellexecute" else 1])
            reading = read_cmd(line, offset=span.start)
            self.calls += [replace(call, span=span, sure=call.sure and self.sure) for call in reading.calls[:20]]
            return unknown()
        if value.type in ("files", "content") or (value.glob and value.type == ""):
            cmdlet = {
                "delete": "remove-item",
                "moveto": "move-item",
                "copyto": "copy-item",
                "kill": "stop-process",
            }.get(name)
            if cmdlet is not None:
                self._emit(f"ps:{cmdlet}", (word_of(value, span), *words), span, (), None)
                return unknown()
        if name == "open" and value.type.endswith("http") and len(arguments) > 1:
            self.opened = fetched(arguments[1])
        if name == "getstream" and "sockets." in value.type:
            self.socket = value
        if value.type == "response" and name in _OF_RESPONSES:
            return value
        if name in ("kill", "stop", "terminate") and not arguments:
            self._emit("ps:stop-process", (word_of(value, span),), span, (), None)
            return unknown()
        if name in _QUIET_METHODS and not (name in _REFLECTION and arguments):
            return value if name in _SAME_METHODS else unknown(name)
        kind = value.type or "*"
        self._emit(f"ps:{kind}.{name}", (*words, word_of(value, span, "self")), span, (), None)
        if name.startswith(("downloadstring", "downloaddata", "openread", "getstringasync", "getasync")) and arguments:
            return fetched(arguments[0])
        return unknown(name)

    def _as_cmdlet(self, cmdlet: str, words: tuple[Word, ...], span: Span, arguments: list[Value]) -> Value:
        """Emits a method of .NET as the cmdlet with the same effect."""
        name, *parameters = cmdlet.split()
        if name == "remove-item" and len(words) > 1 and "true" in words[1].text.lower():
            parameters.append("-Recurse")
        if name in ("remove-item", "get-content", "get-childitem"):
            words = words[:1]
        if name == "start-process":
            self._started([_Argument(argument) for argument in arguments], span)
        extra = tuple(Word(parameter, span) for parameter in parameters)
        self._emit(f"ps:{name}", (*words, *extra), span, (), None)
        if name == "get-content" and arguments:
            return reads_path(arguments[0])
        if name == "get-childitem" and arguments:
            return Value(f"{arguments[0].text.rstrip('/')}/*", arguments[0].known, glob=True, type="files")
        return unknown()

    def _emit(
        self,
        program: str,
        words: tuple[Word, ...],
        span: Span,
        redirections: tuple[Redirection, ...],
        stdin: Call | Word | None,
        path: str = "",
    ) -> Call:
        call = Call(
            program=program,
            words=words,
            span=span,
            language=Language.POWERSHELL,
            redirections=redirections,
            stdin=stdin,
            sure=self.sure,
            directory=self.directory,
            path=path,
        )
        self.calls.append(call)
        return call

    def _result(self, name: str, arguments: list[_Argument], fed: Value | None) -> Value:
        """Returns the value that a command passes to the pipe or to a variable."""
        values = _positional(arguments)
        options = _options(arguments)
        first = values[0] if values else None
        if name in _GETS:
            given = next((options[key] for key in ("-path", "-literalpath", "-name", "-id") if key in options), first)
            if name == "get-childitem":
                base = given.text.rstrip("\\/") if given is not None else "."
                wanted = next((options[key].text for key in ("-include", "-filter") if key in options), "*")
                text = base if given is not None and given.glob else f"{base}/{wanted}"
                return Value(text, given.known if given is not None else True, glob=True, type="files")
            if given is None:
                return fed if fed is not None else Value("*", glob=True)
            return replace(given, type="files")
        if name in _FETCHES:
            url = options.get("-uri", first)
            return fetched(url) if url is not None else unknown()
        if name == "get-content":
            path = options.get("-path", options.get("-literalpath", first))
            return reads_path(path) if path is not None else unknown()
        if name == "new-object":
            kind = options.get("-comobject", options.get("-typename", first))
            if kind is None:
                return unknown()
            inner = values[1] if len(values) > 1 else None
            if inner is not None and inner.type == "response":
                return inner
            if inner is not None and inner.known:
                return Value(inner.text, inner.known, type=_full_type(kind.text.partition("(")[0]))
            return Value("object", known=False, type=_full_type(kind.text.partition("(")[0]))
        if name == "join-path":
            parts = [*(options[key] for key in ("-path",) if key in options), *values]
            parts += [options[key] for key in ("-childpath",) if key in options]
            return joined([joined((part, constant("/"))) for part in parts[:-1]] + parts[-1:]) if parts else unknown()
        if name in ("convertto-securestring", "write-output", "out-string", "get-variable", "split-path") and first:
            return first
        if name in ("select-object", "sort-object") or name in _PASSES:
            return fed or first or unknown()
        if name == "new-temporaryfile":
            return printed(("mktemp",))
        if name in ("get-credential", "read-host"):
            return unknown("input")
        if name.startswith("get-") and first is not None:
            return Value(first.text, first.known, glob=True)
        if name.startswith("get-"):
            return Value("*", glob=True, known=True)
        if name == "echo" and first is not None:
            return first
        text = " ".join((name, *(argument.value.text for argument in arguments[:12])))
        return Value(f"$({text})", known=False)

    # Positions and blanks

    def _blank(self) -> None:
        found = _BLANK.match(self.text, self.at, self.end)
        if found is not None:
            self.at = found.end()

    def _blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at, self.end)
        if found is not None:
            self.at = found.end()

    def _comments(self) -> None:
        if "#" not in self.text:
            return
        for found in re.finditer(r"(?m)<#(.*?)(?:#>|\Z)|(?:^|(?<=[\s;]))#([^\n]*)", self.text, re.S):
            text = found[1] if found[1] is not None else (found[2] or "").split("\n")[0]
            if text.strip() and len(self.passages) < MAX_PASSAGES:
                self.passages.append(Passage(text.strip(), self._span(found.start(), found.end())))

    def _span(self, start: int, end: int) -> Span:
        if self.carrier is not None:
            return self.carrier
        last = max(start, end)
        return Span(self.offset + self.source.origin(start), self.offset + self.source.origin(last))


_MEMBER = re.compile(r"(::|\??\.)(?!\.)([A-Za-z_]\w*|['\"$(])")
_KNOWN_PROGRAM = re.compile(r"(?i)^\$env:\w+[^$]*[\\/][\w.-]+$")
_QUIET_METHODS = frozenset(
    (
        *("tostring", "add", "addrange", "gettype", "getenumerator", "containskey", "contains", "equals", "startswith"),
        *(
            "endswith",
            "indexof",
            "close",
            "dispose",
            "flush",
            "write",
            "writeline",
            "append",
            "appendline",
            "readtoend",
        ),
        *("trim", "trimend", "trimstart", "toarray", "tolower", "toupper", "split", "substring", "getbytes", "padleft"),
        *("padright", "readline", "getmethod", "getfield", "getproperty", "count", "refresh", "waitforexit", "wait"),
    )
)
_REFLECTION = frozenset(("gettype", "getfield", "getmethod"))
_OF_RESPONSES = frozenset(
    (
        *("getresponse", "getresponsestream", "getresult", "getawaiter", "readtoend", "readasstringasync", "result"),
        *("readasbytearrayasync", "content", "getresponseasync"),
    )
)
_SAME_METHODS = frozenset(("tostring", "trim", "trimend", "trimstart", "readtoend", "toarray", "tolower", "toupper"))


def _invokes(text: str, at: int) -> bool:
    """Decides whether `&` or `.` at the position is the call operator."""
    following = text[at + 1 : at + 2]
    if text[at] == "&":
        return following != "&" and following != "" and (following in " \t\"'$({" or following.isalpha())
    return text[at] == "." and following in (" ", "\t", '"', "'", "$", "(", "{")


def _brackets(text: str) -> dict[int, int]:
    """Returns the position at which each bracket is closed; skips strings and comments."""
    closes: dict[int, int] = {}
    waiting: list[tuple[str, int]] = []
    pairs = {")": "(", "}": "{", "]": "["}
    for found in _LEXEME.finditer(text):
        char = found[0]
        if char in "({[":
            waiting.append((char, found.start()))
        elif char == "$(":
            waiting.append(("(", found.start() + 1))
        elif char in pairs:
            wanted = pairs[char]
            for back in range(len(waiting) - 1, max(len(waiting) - 6, -1), -1):
                if waiting[back][0] == wanted:
                    closes[waiting[back][1]] = found.start()
                    del waiting[back:]
                    break
        elif char[0] == '"' and "$(" in char:
            for inner, close in _brackets(char[1:-1]).items():
                closes[found.start() + 1 + inner] = found.start() + 1 + close
    return closes


_LEXEME = re.compile(
    r"@'[ \t]*\r?\n.*?(?:\n'@|\Z)|@\"[ \t]*\r?\n.*?(?:\n\"@|\Z)|<#.*?(?:#>|\Z)|(?:(?<=[\s;({|])|^)#[^\n]*|`."
    r"|'(?:[^']|'')*'"
    r"|\"(?:[^\"`$]|`.|\"\"|\$(?!\()|\$\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\))*\"|\$\(|[(){}\[\]]",
    re.S,
)


def _closing_quote(text: str, at: int, end: int, blocks: dict[int, int]) -> int:
    """Returns the end of an expandable string, which is neither in an escape nor in a subexpression."""
    while at < end:
        char = text[at]
        if char == '"':
            return at
        if char == "`":
            at += 2
        elif char == "$" and text.startswith("$(", at) and at + 1 in blocks:
            at = blocks[at + 1] + 1
        else:
            found = _STRING_MARK.search(text, at + 1, end)
            if found is None:
                return -1
            at = found.start()
    return -1


_STRING_MARK = re.compile(r"[\"`$]")


def _line_end(text: str, at: int, end: int) -> int:
    found = re.compile(r"[;\n}]").search(text, at, end)
    return found.start() if found is not None else end


def _is_cmdlet(name: str) -> bool:
    verb, dash, noun = name.partition("-")
    return bool(dash) and verb in VERBS and noun.isalnum()


def _full_type(name: str) -> str:
    """Returns a type's name in lower case with its namespace."""
    lowered = name.lower().strip("'\"")
    if lowered in SAME_TYPES:
        return SAME_TYPES[lowered]
    if lowered.startswith(("io.", "net.", "text.", "diagnostics.", "reflection.", "security.", "management.", "web.")):
        return f"system.{lowered}"
    return lowered


def _turns(value: Value) -> list[Value]:
    if value.items:
        return list(value.items[:MAX_TURNS])
    return [value]


def _positional(arguments: Sequence[_Argument]) -> list[Value]:
    """Returns the values that belong to no parameter. A parameter is assumed to have a value, except for common
    switches."""
    values: list[Value] = []
    for at, argument in enumerate(arguments):
        before = arguments[at - 1] if at else None
        if argument.parameter:
            continue
        if before is not None and before.parameter and before.value.text.lower() not in _SWITCHES:
            continue
        values.append(argument.value)
    return values


def _options(arguments: Sequence[_Argument]) -> dict[str, Value]:
    options: dict[str, Value] = {}
    for at, argument in enumerate(arguments):
        if not argument.parameter:
            continue
        name, colon, value = argument.value.text.partition(":")
        if colon:
            options[name.lower()] = replace(argument.value, text=value)
        elif at + 1 < len(arguments) and not arguments[at + 1].parameter:
            options[_OPTION_NAMES.get(name.lower(), name.lower())] = arguments[at + 1].value
    return options


_SWITCHES = frozenset(
    (
        *(
            "-recurse",
            "-r",
            "-force",
            "-f",
            "-fo",
            "-file",
            "-directory",
            "-hidden",
            "-raw",
            "-usebasicparsing",
            "-useb",
        ),
        *("-passthru", "-confirm", "-whatif", "-verbose", "-wait", "-nonewwindow", "-quiet", "-system", "-s", "-rec"),
        *("-recu", "-recur", "-usebasicparsi", "-asplaintext", "-allusers", "-includeusername", "-expand"),
    )
)
_OPTION_NAMES = {
    "-com": "-comobject",
    "-comobj": "-comobject",
    "-type": "-typename",
    "-fullname": "-path",
    "-pa": "-path",
    "-lit": "-literalpath",
    "-u": "-uri",
}


def _without_common(arguments: list[_Argument]) -> list[_Argument]:
    """Removes the parameters that every cmdlet has, which control how it reports errors."""
    kept: list[_Argument] = []
    skipped = False
    for argument in arguments:
        name = argument.value.text.lower()
        if argument.parameter:
            skipped = False
            if name.partition(":")[0] in _COMMON:
                skipped = ":" not in name
                continue
        elif skipped:
            skipped = False
            continue
        kept.append(argument)
    return kept


def _spread(value: Value, name: str) -> Sequence[Value]:
    """Returns the elements of a list, for cmdlets that treat each like a single value."""
    if value.items and name.partition("-")[0] in _EACH:
        return value.items
    return (value,)


_COMMON = frozenset(
    (
        *("-erroraction", "-ea", "-warningaction", "-wa", "-informationaction", "-infa", "-progressaction", "-proga"),
        *("-errorvariable", "-ev", "-warningvariable", "-wv", "-informationvariable", "-iv", "-outvariable", "-ov"),
        *("-outbuffer", "-ob", "-pipelinevariable", "-pv", "-erro", "-errora"),
    )
)
_EACH = frozenset(("remove", "clear", "stop", "get", "restart", "disable", "uninstall", "unregister", "suspend"))


def _spaced(value: Value) -> str:
    if value.items is not None:
        return " ".join(item.text for item in value.items)
    return value.text


def _decoded_shell(arguments: list[_Argument]) -> list[_Argument]:
    """Decodes an encoded command in the arguments of a started PowerShell."""
    for at, argument in enumerate(arguments[:-1]):
        if _ENCODED.match(argument.value.text):
            decoded = from_base64(arguments[at + 1].value.text)
            if decoded is not None:
                return [*arguments[:at], _Argument(constant("-Command"), True), _Argument(constant(decoded))]
    return arguments


def _parameters(text: str, block: _Block) -> list[str]:
    """Returns the names of a function's parameters, in order."""
    head = text[max(block.start - 400, 0) : block.start - 1].rstrip()
    spelled = ""
    if head.endswith(")"):
        opened = head.rfind("(")
        spelled = head[opened:]
    body = text[block.start : block.end]
    found = re.compile(r"\s*(?:\[CmdletBinding\([^)]*\)\]\s*)?param\s*\(", re.I).match(body)
    if found is not None:
        depth, at = 1, found.end()
        while at < len(body) and depth and at < found.end() + 2_000:
            depth += (body[at] == "(") - (body[at] == ")")
            at += 1
        spelled = body[found.end() : at]
    names = [name.lower() for name in re.findall(r"\$(\w+)", spelled)]
    return [name for name in dict.fromkeys(names) if name not in ("true", "false", "null")]


def _member(value: Value, name: str) -> Value:
    """Returns a property of a value."""
    if value.names.startswith("["):
        full = f"{value.names}::{name}" if "::" not in value.names else f"{value.names}.{name}"
        if full in ("[environment]::newline", "[system.environment]::newline"):
            return constant("\n")
        return Value(full, known=False, names=full)
    if value.entries is not None:
        return next((entry for key, entry in value.entries if key.lower() == name), unknown(name))
    if name in ("length", "count") and value.known and value.items is None:
        return constant(str(len(value.text)))
    if name in _METHOD_NAMES:
        return replace(value, names=f"method:{name}")
    if name in ("invokecommand",):
        return Value("executioncontext", known=False, type="executioncontext")
    return value


_METHOD_NAMES = frozenset(("downloadstring", "downloadfile", "downloaddata", "invokescript", "run"))


def _indexed(value: Value, index: Value) -> Value:
    if value.entries is not None:
        return next((entry for key, entry in value.entries if key == index.text), unknown("entry"))
    numbers = [item.text for item in index.items or (index,)]
    if not all(re.fullmatch(r"-?\d{1,4}", number) for number in numbers):
        return value
    parts: Sequence[Value] | None = value.items
    if parts is None and value.known:
        parts = [constant(char) for char in value.text]
    if parts is None:
        return value
    found = [parts[int(number)] for number in numbers if -len(parts) <= int(number) < len(parts)]
    return found[0] if len(found) == 1 else listed(found)


def _operated(operator: str, left: Value, right: Value) -> Value:
    """Returns the result of a binary operator on two values."""
    if operator == "+":
        if left.items is not None:
            return listed((*left.items, *(right.items or (right,))))
        return joined((left, right))
    if operator == "f" and left.known:
        given = right.items if right.items is not None else (right,)
        parts: list[Value] = []
        end = 0
        for found in _FORMAT.finditer(left.text):
            number = int(found[1])
            parts += [constant(left.text[end : found.start()]), given[number] if number < len(given) else unknown()]
            end = found.end()
        return joined((*parts, constant(left.text[end:])))
    if operator == "join":
        items = left.items or (left,)
        pieces: list[Value] = []
        for at, item in enumerate(items):
            pieces += [right, item] if at else [item]
        return joined(pieces)
    if operator in ("replace", "ireplace", "creplace") and left.known:
        given = right.items if right.items is not None else (right,)
        old, new = given[0].text, given[1].text if len(given) > 1 else ""
        plain = re.sub(r"\\(.)", r"\1", old)
        if plain and len(left.text) * (len(new) + 1) < 1_000_000:
            return constant(re.sub(re.escape(plain), new.replace("\\", "\\\\"), left.text, flags=re.I))
        return left
    if operator in ("split", "isplit", "csplit") and left.known and right.known and right.text:
        return listed([constant(part) for part in left.text.split(right.text.replace("\\", ""))[:64]])
    if operator == "*" and left.known and right.text.isdecimal() and len(right.text) < 4:
        return constant(left.text * int(right.text))
    if operator == ".." and left.text.lstrip("-").isdecimal() and right.text.lstrip("-").isdecimal():
        first, last = int(left.text[:6]), int(right.text[:6])
        step = 1 if last >= first else -1
        return listed([constant(str(number)) for number in range(first, last + step, step)[:64]])
    if operator == "as":
        return left
    return unknown("result")


def _computed(value: Value, name: str, arguments: list[Value]) -> Value | None:
    """Returns the result of a method on constant text, or None for methods that do more."""
    known = all(argument.known for argument in arguments)
    if value.names.startswith("["):
        if name == "frombase64string" and arguments and known:
            decoded = from_base64(arguments[0].text)
            return constant(decoded) if decoded is not None else unknown("bytes")
        if name in ("getstring", "getbytes", "tochararray", "tostring", "todouble", "toint32", "tochar") and arguments:
            return arguments[0]
        if name in ("unescape", "unescapedatastring", "expandenvironmentvariables", "getfullpath") and arguments:
            return arguments[0]
        if value.names in ("[string]", "[system.string]") and arguments:
            if name == "join" and len(arguments) > 1:
                items = arguments[1].items or tuple(arguments[1:])
                return _operated("join", listed(items), arguments[0])
            if name == "concat":
                return joined(arguments)
            if name == "format" and known:
                return _operated("f", arguments[0], listed(arguments[1:]))
        if name == "combine" and arguments:
            return joined([joined((part, constant("/"))) for part in arguments[:-1]] + arguments[-1:])
        if name in ("gettempfilename", "gettemppath"):
            return Value("$env:TEMP/", known=False)
        if name == "getenvironmentvariable" and arguments:
            return Value(f"$env:{arguments[0].text}", known=False)
        if name == "getfolderpath" and arguments:
            return Value("~", known=True)
        if name == "new":
            return (
                Value("object", known=False, type=value.names.strip("[]"))
                if not arguments
                else replace(arguments[0], type=value.names.strip("[]"), items=None)
            )
        return None
    if value.type == "":
        if name == "replace" and value.known and known and len(arguments) > 1 and arguments[0].text:
            return constant(value.text[:16_384].replace(arguments[0].text, arguments[1].text[:256]))
        if name in ("tolower", "toupper") and value.known:
            return constant(value.text.lower() if name == "tolower" else value.text.upper())
        if name in ("trim", "trimstart", "trimend") and value.known:
            return constant(value.text.strip(arguments[0].text if arguments and arguments[0].text else None))
        if (
            name == "substring"
            and value.known
            and all(re.fullmatch(r"\d{1,5}", a.text) for a in arguments)
            and arguments
        ):
            start = int(arguments[0].text)
            return constant(
                value.text[start : start + int(arguments[1].text)] if len(arguments) > 1 else value.text[start:]
            )
        if name == "split" and value.known and arguments and arguments[0].text:
            return listed([constant(part) for part in value.text.split(arguments[0].text)[:64]])
        if name in ("tostring", "tochararray", "normalize", "clone"):
            return value
        if name == "insert" and value.known and len(arguments) == 2 and arguments[0].text.isdecimal():
            at = int(arguments[0].text[:5])
            return constant(value.text[:at] + arguments[1].text + value.text[at:])
    return None
