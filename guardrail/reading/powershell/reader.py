"""The state that every part of the reader uses: bounds, positions, and the findings so far."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from guardrail.model import Call, Passage, Redirection, Span, Uncovered, Word
from guardrail.reading.code_values import Value
from guardrail.reading.decoding import Normalised
from guardrail.record import record
from guardrail.vocabulary import Language

MAX_WORK = 8_000  # statements, expressions and arguments
MAX_CALLS = 1_000
MAX_DEPTH = 25
MAX_FOLLOWED = 6  # nested functions
MAX_TURNS = 64
MAX_PASSAGES = 200
LONG_TEXT = 40
BLANK = re.compile(r"(?:[ \t\f\v]+|`\r?\n|<#.*?(?:#>|\Z))+", re.S)
_BLANKS = re.compile(r"(?:\s+|`\r?\n|<#.*?(?:#>|\Z)|#[^\n]*)+", re.S)


@record
class Block:
    """A part of a text between braces."""

    start: int
    end: int


class Reader(ABC):
    """One pass over a text. Classes of other modules add the reading of each part of the grammar."""

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
        self.functions: dict[str, Block] = {}
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

    def _busy(self) -> bool:
        self.work += 1
        if self.full:
            return False
        if self.work > MAX_WORK or len(self.calls) >= MAX_CALLS:
            self.full = True
            self.uncovered.append(
                Uncovered(self._span(self.at, self.end), "more commands than are read from one text", stopped=True)
            )
            return False
        return True

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

    def _long(self, body: str, start: int) -> None:
        if len(body) >= LONG_TEXT and " " in body and len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(body, self._span(start, self.at)))

    def _blank(self) -> None:
        found = BLANK.match(self.text, self.at, self.end)
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

    @abstractmethod
    def _inside(self, block: Block) -> Value:
        """Reads the statements of a block and returns to the previous position."""

    @abstractmethod
    def _body(self, block: Block, given: dict[str, Value]) -> Value:
        """Reads the body of a function or a script block that is called."""
