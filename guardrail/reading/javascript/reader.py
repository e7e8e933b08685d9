"""The state that every part of the reader uses: bounds, positions, and the findings so far."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tree_sitter import Node

from guardrail.model import Call, Passage, Span, Uncovered, Word
from guardrail.reading.code_values import (
    Value,
    constant,
)
from guardrail.reading.decoding import Normalised

MAX_WORK = 6_000
MAX_CALLS = 1_000
MAX_DEPTH = 40
MAX_PASSAGES = 200
LONG_TEXT = 40
ESCAPE = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|\r?\n|.)", re.S)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v"}


class Reader(ABC):
    """One pass over a text. Classes of other modules add the reading of expressions, calls and statements."""

    def __init__(self, source: Normalised, offset: int) -> None:
        self.source = source
        self.text = source.text
        self.offset = offset
        self.base = 0
        self.calls: list[Call] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, tuple[Node, int]] = {}
        self.called: set[str] = set()
        self.following: list[str] = []
        self.directory: Word | None = None
        self.returned: list[Value] = []
        self.work = 0
        self.depth = 0
        self.sure = True
        self.loops = 0  # enclosing loops over things that the text does not list
        self.full = False

    def _errors(self, root: Node) -> None:
        waiting = [root]
        for _ in range(400):
            if not waiting:
                return
            node = waiting.pop()
            if node.type == "ERROR" or node.is_missing:
                self.uncovered.append(Uncovered(self._span(node), "JavaScript with a syntax error"))
                return
            waiting += [child for child in node.children if child.has_error or child.is_missing]

    def _busy(self, node: Node) -> bool:
        self.work += 1
        if self.full:
            return False
        if self.work > MAX_WORK or len(self.calls) >= MAX_CALLS:
            self.full = True
            self.uncovered.append(Uncovered(self._span(node), "more code than is read of one text", stopped=True))
            return False
        if self.depth >= MAX_DEPTH:
            if not self.uncovered:
                self.uncovered.append(Uncovered(self._span(node), "code nested too deeply", stopped=True))
            return False
        return True

    def _long(self, body: str, node: Node) -> None:
        if len(body) >= LONG_TEXT and " " in body and len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(body, self._span(node)))

    def _raw(self, start: int, end: int) -> Value:
        text = self.text[start + self.base : max(end, start) + self.base]
        return constant(ESCAPE.sub(unescaped, text) if "\\" in text else text)

    def _text(self, node: Node) -> str:
        return self.text[node.start_byte + self.base : node.end_byte + self.base]

    def _chain(self, node: Node) -> str:
        """Returns the names in an expression, without calls: `db.collection('x').drop` is `db.collection.drop`."""
        parts: list[str] = []
        at: Node | None = node
        for _ in range(16):
            if at is None:
                break
            if at.type == "member_expression":
                name = at.child_by_field_name("property")
                parts.append(self._text(name) if name is not None else "")
                at = at.child_by_field_name("object")
            elif at.type in ("call_expression", "new_expression"):
                at = at.child_by_field_name("function") or at.child_by_field_name("constructor")
            elif at.type in ("await_expression", "parenthesized_expression") and at.named_children:
                at = at.named_children[0]
            elif at.type == "subscript_expression":
                at = at.child_by_field_name("object")
            else:
                break
        parts.append(self._text(at) if at is not None and at.type in ("identifier", "this") else "*")
        return ".".join(reversed(parts))

    def _span(self, node: Node) -> Span:
        start, end = node.start_byte + self.base, node.end_byte + self.base
        return Span(self.offset + self.source.origin(start), self.offset + self.source.origin(end))

    @abstractmethod
    def _call(self, node: Node) -> Value:
        """Returns the value of a call, and records it."""

    @abstractmethod
    def _new(self, node: Node) -> Value:
        """Returns the value of a new object."""

    @abstractmethod
    def _statements(self, node: Node) -> None:
        """Reads statements in order."""

    @abstractmethod
    def _local(self, name: str, arguments: Sequence[Value]) -> Value:
        """Returns the value of a call of a function that the text defines."""

    @abstractmethod
    def _statement(self, node: Node) -> None:
        """Reads one statement."""


def unescaped(match: re.Match[str]) -> str:
    """Returns the character that an escape stands for."""
    code = match[1]
    if code[0] in "ux" and len(code) > 1:
        number = int(code.strip("ux{}"), 16)
        return chr(number) if number < 0x110000 else ""
    return _ESCAPES.get(code, code.strip("\r\n"))
