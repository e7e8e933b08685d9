"""The state that every part of the reader uses: the syntax tree, bounds, positions, and the findings so far."""

from __future__ import annotations

import ast
import re
import warnings
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence

from guardrail.model import Call, Passage, Span, Uncovered, Word
from guardrail.reading.code_values import Value
from guardrail.reading.decoding import Normalised
from guardrail.record import record

MAX_WORK = 5_000  # nodes that are examined
MAX_PARSED = 40_000  # characters
MAX_CALLS = 1_000
MAX_DEPTH = 60
MAX_TRIES = 6  # attempts to find the part of a text that is Python
MAX_PASSAGES = 200
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MAGIC = re.compile(r"(?m)^([ \t]*)(?:!|%%?(?:bash|sh|script bash|system)\b[ \t]*|%(?=pip\b|conda\b))(.*)$")
_OTHER_MAGIC = re.compile(r"(?m)^([ \t]*)%%?\w[^\n]*$")
_OLD_PRINT = re.compile(r"(?m)^([ \t]*(?:[^\n#'\"]{0,200}[:;][ \t]*)?)(print|exec)[ \t]+(?![=(])([^\n;]+)")
_COMMENT = re.compile(r"(?m)^[ \t]*#(?!!)[^\n]*(?:\n[ \t]*#[^\n]*)*")


@record
class Bound:
    """A function of the code, with the arguments that `functools.partial` bound."""

    node: Function
    owner: str = ""


class Reader(ABC):
    """One pass over a text. Classes of other modules add the reading of expressions, calls and statements."""

    def __init__(self, source: Normalised, offset: int) -> None:
        self.source = source
        self.text = source.text
        self.offset = offset
        self.calls: list[Call] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, Bound] = {}
        self.lambdas: dict[str, ast.Lambda] = {}
        self.called: set[str] = set()
        self.classes: set[str] = set()
        self.following: list[str] = []
        self.returned: list[Value] = []
        self.directory: Word | None = None
        self.magics: dict[int, str] = {}
        self.work = 0
        self.depth = 0
        self.sure = True
        self.loops = 0  # enclosing loops over things that the text does not list
        self.full = False
        self.shift = 0  # characters that were inserted before the text to make it parse
        self.starts: list[int] = []

    def _tree(self) -> ast.Module | None:
        """Returns the syntax tree; for a text with an error, that of the part before the error."""
        text = self.text
        if len(text) > MAX_PARSED:
            cut = max(text.rfind("\n", 0, MAX_PARSED), 0) or MAX_PARSED
            self.uncovered.append(
                Uncovered(self._span_of(cut, len(text)), "more code than is read of one text", stopped=True)
            )
            text = text[:cut]
        tree, error = _parsed(text)
        if tree is not None:
            self._lines(text)
            return tree
        if "!" in text or "%" in text:
            text = self._without_magics(text)
        old = _OLD_PRINT.sub(lambda match: f"{match[1]}{match[2]}({match[3]})", text) if "print " in text else text
        if old != self.text[: len(text)] or self.magics:
            tree, error = _parsed(old)
        if tree is None and text[:1] in " \t":
            self.shift = len("if 1:\n")
            tree, error = _parsed("if 1:\n" + text)
            text = "if 1:\n" + text
        if tree is not None:
            self._lines(text if old == text or self.shift else old)
            return tree
        return self._before_error(text, error)

    def _before_error(self, text: str, error: int) -> ast.Module | None:
        """Returns the tree of the text's lines before one that can't be parsed."""
        self._lines(text)
        end = error
        for _ in range(MAX_TRIES):
            if end <= 0:
                break
            stop = self.starts[end] if end < len(self.starts) else len(text)
            tree, found = _parsed(text[:stop])
            if tree is not None:
                if tree.body:
                    span = self._span_of(stop, len(text))
                    if self.text[stop - self.shift :].strip():
                        self.uncovered.append(Uncovered(span, "Python after a syntax error"))
                    return tree
                break
            end = min(end - 1, found)
        return self._statements_of_line(text)

    def _statements_of_line(self, text: str) -> ast.Module | None:
        """Returns the statements before the error if they are on one line: `import os; os.remove('x'); x = (`."""
        line = text.lstrip().partition("\n")[0]
        end = len(line)
        for _ in range(MAX_TRIES):
            end = line.rfind(";", 0, end)
            if end <= 0:
                return None
            tree, _ = _parsed(line[:end])
            if tree is not None:
                self.uncovered.append(Uncovered(self._whole(), "Python after a syntax error"))
                return tree
        return None

    def _without_magics(self, text: str) -> str:
        """Replaces the lines of a notebook that are shell commands, and records them for later."""

        starts = [match.start() for match in re.finditer("\n", text)]

        def line_of(position: int) -> int:
            return bisect_left(starts, position)

        def aside(match: re.Match[str]) -> str:
            self.magics[line_of(match.start())] = match[2].strip()
            return f"{match[1]}pass"

        return _OTHER_MAGIC.sub(r"\1pass", _MAGIC.sub(aside, text))

    def _lines(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.parsed_text = text

    def _comments(self) -> None:
        if "#" not in self.text:
            return
        for found in _COMMENT.finditer(self.text):
            text = re.sub(r"(?m)^[ \t]*#+ ?", "", found[0])
            if text.strip():
                self._passage(text, self._span_of(found.start() + self.shift, found.end() + self.shift))

    def _passage(self, text: str, span: Span, name: str | None = None) -> None:
        if len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(text, span, name))

    def _busy(self, node: ast.AST) -> bool:
        """Decides whether there is work left to do for a node."""
        self.work += 1
        if self.full:
            return False
        if self.work > MAX_WORK or len(self.calls) >= MAX_CALLS:
            self.full = True
            self.uncovered.append(Uncovered(self._span(node), "more code than is read of one text", stopped=True))
            return False
        if self.depth >= MAX_DEPTH:
            self.full = True
            self.uncovered.append(Uncovered(self._span(node), "code nested too deeply", stopped=True))
        return not self.full

    def _whole(self) -> Span:
        return Span(self.offset, self.offset + self.source.origin(len(self.text)))

    def _span(self, node: ast.AST) -> Span:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last, end = getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
        return self._span_of(self._position(line, column), self._position(last, end))

    def _position(self, line: int, column: int) -> int:
        start = self.starts[min(line, len(self.starts)) - 1] if self.starts else 0
        if self.parsed_text.isascii():
            return start + column
        return start + len(self.parsed_text[start : start + column].encode()[:column].decode("utf-8", "ignore"))

    def _span_of(self, start: int, end: int) -> Span:
        first = min(max(start - self.shift, 0), len(self.text))
        last = min(max(end - self.shift, first), len(self.text))
        return Span(self.offset + self.source.origin(first), self.offset + self.source.origin(last))

    @abstractmethod
    def _call(self, node: ast.Call) -> Value:
        """Returns the value of a call, and records it."""

    @abstractmethod
    def _turns(self, values: Value, node: ast.expr) -> list[Value]:
        """Returns the values that a loop goes through, or a value that represents them."""

    @abstractmethod
    def _statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Reads statements in order."""


def _parsed(text: str) -> tuple[ast.Module | None, int]:
    """Returns the tree, or the number of lines before the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text), 0
    except SyntaxError as error:
        return None, max((error.lineno or 1) - 1, 0)
    except (ValueError, RecursionError, MemoryError):
        return None, 0
