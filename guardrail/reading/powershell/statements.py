"""Reads statements: assignments, branches, loops and blocks."""

from __future__ import annotations

import re

from guardrail.model import Uncovered
from guardrail.reading.code_values import Value, constant, joined, listed, unknown
from guardrail.reading.powershell.calls import turns_of
from guardrail.reading.powershell.expressions import VARIABLE, WORD_PLAIN
from guardrail.reading.powershell.pipelines import Pipelines, invokes, line_end
from guardrail.reading.powershell.reader import MAX_DEPTH, Block

_ASSIGNMENT = re.compile(
    r"(?:\[[\w.\[\], ]{1,80}\]\s*)?\$(?:\{([^}]{1,200})\}|((?:[A-Za-z]+:)?\w+))[ \t]*([-+*/%]|\?\?)?=(?!=)[ \t]*"
)
_MEMBER_ASSIGNMENT = re.compile(r"\$[\w:]+(?:\.\w+|\[[^\]\n]{0,80}\])+[ \t]*[-+*/%]?=(?!=)[ \t]*")
_KEYWORD = re.compile(
    r"(?i)(if|elseif|else|while|until|do|foreach|for|switch|function|filter|workflow|class|enum|param|try|catch|finally|trap"
    r"|begin|process|end|dynamicparam|return|throw|exit|break|continue|data|using|configuration)(?![\w.\-/\\:])"
)
_LEXEME = re.compile(
    r"@'[ \t]*\r?\n.*?(?:\n'@|\Z)|@\"[ \t]*\r?\n.*?(?:\n\"@|\Z)|<#.*?(?:#>|\Z)|(?:(?<=[\s;({|])|^)#[^\n]*|`."
    r"|'(?:[^']|'')*'"
    r"|\"(?:[^\"`$]|`.|\"\"|\$(?!\()|\$\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\))*\"|\$\(|[(){}\[\]]",
    re.S,
)


class Statements(Pipelines):
    """One pass over a text: follows variables and functions, and collects calls."""

    def run(self) -> None:
        self.blocks = _brackets(self.text)
        self._comments()
        self._statements()
        self.sure = False
        for name, block in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                self._body(block, {})

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
            if char in ";|&," and not self.text.startswith("& ", self.at) and not invokes(self.text, self.at):
                self.at += 1
                continue
            before = self.at
            value = self._statement()
            if self.at <= before:
                self.at = before + 1
        return value

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
            name = WORD_PLAIN.match(self.text, self.at, self.end)
            if name is not None:
                self.at = name.end()
                block = self._next_block()
                if block is not None:
                    self.functions[name[0].lower().rpartition(":")[2]] = block
            return unknown()
        if keyword in ("class", "enum", "using", "break", "continue"):
            block = self._next_block() if keyword in ("class", "enum") else None
            if block is None:
                self.at = line_end(self.text, self.at, self.end)
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
            self._inside(Block(self.at + 1, close))
            self.at = min(close + 1, self.end)
            self._blanks()
        if keyword == "switch":
            return self._switch()
        while self.at < self.end and self.text[self.at] == "[":  # catch [Exception]
            self.at = min(self.blocks.get(self.at, self.end) + 1, self.end)
            self._blanks()
        if self.at < self.end and self.text[self.at] == "{":
            close = self.blocks.get(self.at, self.end)
            self._inside(Block(self.at + 1, close))
            self.at = min(close + 1, self.end)
        return unknown()

    def _foreach(self) -> Value:
        """Reads `foreach ($x in …) {…}`."""
        if self.at >= self.end or self.text[self.at] != "(":
            return self._chain_from("ForEach-Object")
        close = self.blocks.get(self.at, self.end)
        head = VARIABLE.match(self.text, self.at + 1) or re.compile(r"\s*\$(\w+)()").match(self.text, self.at + 1)
        inner = re.compile(r"\s+in\s+", re.I).match(self.text, head.end(), close) if head is not None else None
        values = unknown("item")
        if inner is not None:
            values = self._value_of(Block(inner.end(), close))
        self.at = min(close + 1, self.end)
        self._blanks()
        if self.at < self.end and self.text[self.at] == "{" and head is not None:
            block = Block(self.at + 1, self.blocks.get(self.at, self.end))
            name = (head[1] or head[2] or "item").lower()
            for turn in turns_of(values):
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
                self._inside(Block(start + 1, min(end, close)))
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
                    self.variables[name] = self._value_of(Block(start, close))
            self.at = min(close + 1, self.end)
        return unknown()

    def _next_block(self) -> Block | None:
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
        block = Block(self.at + 1, close)
        self.at = min(close + 1, self.end)
        return block

    def _inside(self, block: Block) -> Value:
        """Reads the statements of a block and returns to the previous position."""
        at, end = self.at, self.end
        self.at, self.end = min(block.start, end), min(block.end, end)
        self.depth += 1
        value = self._statements() if self.at < self.end else unknown()
        self.depth -= 1
        self.at, self.end = at, end
        return value

    def _value_of(self, block: Block) -> Value:
        """Returns the value of the pipeline or expression in a part of the text."""
        return self._inside(block)

    def _body(self, block: Block, given: dict[str, Value]) -> Value:
        before = dict(self.variables)
        self.variables.update(given)
        value = self._inside(block)
        self.variables = before
        return value


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
