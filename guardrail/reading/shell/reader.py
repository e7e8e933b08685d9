"""The state that every part of the reader uses: bounds, positions, and the findings so far."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tree_sitter import Node

from guardrail.model import Call, Effect, Passage, Redirection, Span, Target, Uncovered, Word
from guardrail.reading.decoding import constant_output
from guardrail.reading.shell.nodes import BLANKS, EXPANSIONS
from guardrail.reading.shell.text import Budget, Chunk, Source
from guardrail.reading.shell.words import MAX_TEXT, Value
from guardrail.vocabulary import EffectKind, ObjectKind, Place

MAX_WORK = 14_100  # commands, words and expansions that are read in one text
MAX_CALLS = 1_000
MAX_DEPTH = 50
MAX_ALTERNATIVES = 64  # values of a variable that are followed
LONG_TEXT = 40  # characters from which a quoted text is examined as prose
_COMMENT = re.compile(r"(?:(?<=[\s;&|(])|^)(#[^\n]*)")


class Function(NamedTuple):
    """A function that the text defines."""

    source: Source
    node: Node


class Outcome(NamedTuple):
    """The output of a function's call, and the variables and directory that it changed."""

    printed: list[Call]
    changed: Mapping[str, tuple[Value, ...] | None]
    directory: Word | None


@dataclass(slots=True)
class State:
    """The state that an `if`, a subshell or a function may change and that is restored or merged afterwards."""

    variables: dict[str, tuple[Value, ...]]
    directory: Word | None


class Reader(ABC):
    """One pass over a text. Classes of other modules add the reading of each part of the grammar."""

    def __init__(self, directory: Word | None, given: Mapping[str, str], budget: Budget) -> None:
        self.given = given
        self.budget = budget
        self.calls: list[Call] = []
        self.effects: list[Effect] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.state = State({}, directory)
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}
        self.doubling: dict[str, int] = {}  # the number of times that a function calls itself without arguments
        self.exported: set[str] = set()
        self.files: dict[str, str] = {}  # files to which the action writes constant text
        self.called: set[str] = set()
        self.printing: set[str] = set()  # functions that only print
        self.read_calls: set[tuple[str, ...]] = set()
        self.outcomes: dict[tuple[object, ...], Outcome] = {}
        self.emitted: dict[tuple[object, ...], Call] = {}
        self.definitions = 0  # the number of changes of functions, aliases and files
        self.mentioned: dict[str, tuple[int, tuple[str, ...]]] = {}
        self.active: list[str] = []
        self.traps: list[tuple[str, bool, Span]] = []
        self.directories: list[Word | None] = []
        self.checked: set[str] = set()
        self.nounset = False
        self.sure = True
        self.loops = 0  # enclosing loops over things that the text does not list
        self.depth = 0
        self.texts = 0
        self.scripts = 0  # the number of enclosing scripts that the action itself wrote and runs
        self.full = False
        self.choice = 0  # the index of the variable's value that is being followed
        self.width = 1  # the largest number of values of a variable in the command
        self.substituted: Call | Word | None = None  # the output of the last $(…)
        self.input: Call | Word | None = None  # the input from <(…) for the current command
        self.receivers: list[Node] = []  # >(…) of the current command, read when their input is known
        self.source = Source("")

    def _fed(self, printed: Sequence[Call], node: Node) -> Call | Word | None:
        """Returns the input of a pipe from these calls: constant text, or the first call whose output isn't
        constant."""
        texts: list[str] = []
        known = True
        for call in printed:
            text = constant_output(call)
            if text is None and call.program == "echo" and not call.redirections:
                text, known = " ".join(word.text for word in call.words) + "\n", False
            elif text is None and call.program == "cat" and not call.words and isinstance(call.stdin, Word):
                text, known = call.stdin.text, False
            if text is None:
                return call
            texts.append(text)
        return Word("".join(texts), self._span(node), known=known) if texts else None

    def _copied(self) -> State:
        self.budget.work += len(self.state.variables) // 50
        return State(dict(self.state.variables), self.state.directory)

    def _emit(self, call: Call) -> None:
        if call.sure != self.sure or call.directory != self.state.directory:
            call = replace(call, sure=self.sure, directory=self.state.directory)
        self.calls.append(call)
        if len(self.calls) >= MAX_CALLS:
            self._exhausted(call.span)

    def _add_effect(self, kind: EffectKind, thing: ObjectKind, target: str, span: Span) -> None:
        targets = (Target(target, place=Place.SYSTEM),)
        self.effects.append(Effect(kind, thing, span, "shell", targets, sure=self.sure))

    def _start(self, node: Node) -> int:
        return node.start_byte + self.source.base

    def _start_of_expansion(self, node: Node) -> int:
        """Returns the position at which an expansion is written; between two expansions in quotes, the grammar counts
        blanks as part of the second one."""
        return self._end(node) - len(self._text(node))

    def _end(self, node: Node) -> int:
        return node.end_byte + self.source.base

    def _text(self, node: Node) -> str:
        base = self.source.base
        text = self.source.text[node.start_byte + base : node.end_byte + base]
        return text.lstrip() if text[:1] in BLANKS and node.type in EXPANSIONS else text

    def _span(self, node: Node) -> Span:
        return self.source.span(node.start_byte + self.source.base, node.end_byte + self.source.base)

    def _exhausted(self, span: Span) -> None:
        if not self.full:
            self.full = True
            self._stop(span, "more commands than are read from one text")

    def _stop(self, span: Span, reason: str) -> None:
        """Records that a bound was reached, so that some part was not examined."""
        if not any(part.stopped for part in self.uncovered[-1:]):
            self.uncovered.append(Uncovered(span, reason, stopped=True))

    def _not_read(self, span: Span, reason: str) -> None:
        if not self.uncovered or self.uncovered[-1].reason != reason or len(self.uncovered) < 50:
            self.uncovered.append(Uncovered(span, reason))

    def _comments(self, chunk: Chunk) -> None:
        """Adds comments as passages; comments on consecutive lines are one."""
        text = self.source.text
        if chunk.root is None or "#" not in text:
            return
        start = end = -1
        for match in _COMMENT.finditer(text, chunk.start, chunk.end):
            begin = match.start(1)
            if start >= 0 and not text[end:begin].strip():
                end = match.end()
                continue
            node = chunk.root.descendant_for_byte_range(begin - chunk.start, begin - chunk.start)
            if node is None or node.type != "comment":
                continue
            if start >= 0:
                self._add_comment(start, end)
            start, end = begin, match.end()
        if start >= 0:
            self._add_comment(start, end)

    def _add_comment(self, start: int, end: int) -> None:
        text = re.sub(r"(?m)^[ \t]*#+!? ?", "", self.source.text[start:end])
        if text.strip():
            self.passages.append(Passage(text, self.source.span(start, end)))

    def _whole(self, word: Word) -> Word:
        """Returns the word, cut if it is too long."""
        if len(word.text) <= MAX_TEXT:
            return word
        self._stop(word.span, "a word that is too long")
        return replace(word, text=word.text[:MAX_TEXT], known=False)

    @abstractmethod
    def read_inner(self, text: str, carrier: Span, stdin: Call | Word | None = None) -> list[Call]:
        """Reads the text of `eval`, `trap` or an alias, in this shell."""

    @abstractmethod
    def _statement(self, node: Node, stdin: Call | Word | None = None) -> list[Call]:
        """Reads a statement; returns the calls that print."""

    @abstractmethod
    def _subshell(self, nodes: Sequence[Node], stdin: Call | Word | None) -> list[Call]:
        """Reads statements whose changes of variables and the directory end with them."""

    @abstractmethod
    def _broken(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        """Reads the commands that the grammar found inside text that it could not parse, then tries the rest line by
        line."""

    @abstractmethod
    def _redirections(self, nodes: Sequence[Node]) -> tuple[list[Redirection], Call | Word | None, list[Word]]:
        """Returns redirections to and from files, the text of a here-document or here-string, and operands after a
        redirection."""
