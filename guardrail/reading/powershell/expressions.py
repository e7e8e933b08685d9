"""Reads expressions, strings and arguments, and evaluates those that are constant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from guardrail.model import Uncovered
from guardrail.reading.code_values import Value, constant, joined, listed, mapped, unknown
from guardrail.reading.powershell.calls import Calls, full_type, operated
from guardrail.reading.powershell.reader import BLANK, MAX_DEPTH, Block

WORD_PLAIN = re.compile(r"[^\s`'\"$(){};|&<>,@#]+")
VARIABLE = re.compile(r"\$(?:\{([^}]{1,200})\}|((?:[A-Za-z]+:)?\w+|[?^$_]))")
_TYPE = re.compile(r"\[([A-Za-z_][\w.+`]*(?:\[[\w., \[\]]*\])?)\]")
_NUMBER = re.compile(r"(0[xX][0-9A-Fa-f]+|\d+(?:\.\d+)?)(?:[kmgtpKMGTP][bB]|[lLdD])?(?![\w.-])")
_OPERATOR = re.compile(
    r"\s*(\+|\*|/|%|-(?:[ic]?(?:f|join|replace|split|eq|ne|like|notlike|match|notmatch|contains|notcontains|in|notin"
    r"|gt|ge|lt|le)|b?and|b?or|b?xor|is|isnot|as|shl|shr|f)\b|\.\.|-(?=[\s\d$(]))\s*",
    re.I,
)
_HERE = re.compile(r"@(['\"])[ \t]*\r?\n")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "f": "", "v": "", "e": ""}
_CONSTANTS = {
    "true": "True",
    "false": "False",
    "null": "",
    "pwd": ".",
    "psscriptroot": ".",
    "home": "~",
    "pshome": "C:\\Windows\\System32\\WindowsPowerShell\\v1.0",
}
_MEMBER = re.compile(r"(::|\??\.)(?!\.)([A-Za-z_]\w*|['\"$(])")
_STRING_MARK = re.compile(r"[\"`$]")
_METHOD_NAMES = frozenset(("downloadstring", "downloadfile", "downloaddata", "invokescript", "run"))


class Expressions(Calls):
    """Reads expressions."""

    def _at_end(self) -> bool:
        """Decides whether the arguments of a command end here."""
        if self.at >= self.end:
            return True
        char = self.text[self.at]
        return char in ";|)}\n\r" or (char == "&" and not self.text.startswith("&1", self.at))

    def _argument(self) -> Value:
        """Reads a value as an argument: adjacent words and quoted parts are one value, commas separate a list."""
        items = [self._single_argument()]
        while True:
            at = self.at
            blank = BLANK.match(self.text, self.at, self.end)
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
            plain = WORD_PLAIN.match(self.text, self.at, self.end)
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

    def _expression(self) -> Value:
        """Reads an expression with its binary operators, from left to right."""
        self.depth += 1
        value = self._operand()
        while self.at < self.end and self._busy():
            operator = _OPERATOR.match(self.text, self.at, self.end)
            blank = BLANK.match(self.text, self.at, self.end)
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
            value = operated(operator[1].lower().lstrip("-"), value, self._right())
        self.depth -= 1
        return value

    def _right(self) -> Value:
        """Reads the operand to the right of an operator: commas bind more tightly."""
        items = [self._operand()]
        while self.at < self.end and self._busy():
            blank = BLANK.match(self.text, self.at, self.end)
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
            value = self._inside(Block(start + 1, close))
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
        kind = full_type(name)
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
                index = self._inside(Block(self.at + 1, close))
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
        value = self._inside(Block(self.at + 1, close))
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
            value = operated(operator[1].lower().lstrip("-"), value, self._operand())
        return value

    def _variable(self) -> Value:
        found = VARIABLE.match(self.text, self.at, self.end)
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

    def _expanded(self, body: str, start: int) -> Value:
        """Returns the text of an expandable string. `start` is its position, if the text there is unchanged."""
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
                parts.append(self._inside(Block(start + at + 2, self.end)))
                self.at, self.end = outer
                at = kept = min(close + 1 - start, len(body))
            elif char == "$" and (found := VARIABLE.match(body, at)) is not None:
                parts += [constant(body[kept:at]), self._named(found[1] or found[2])]
                at = kept = found.end()
            else:
                marks = [place for mark in "$`" if (place := body.find(mark, at + 1)) >= 0]
                at = min(marks, default=len(body))
        parts.append(constant(body[kept:]))
        return joined(parts)


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
