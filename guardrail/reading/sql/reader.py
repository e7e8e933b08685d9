"""The state that every part of the reader uses: bounds, positions, and the effects found so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from guardrail.model import Call, Effect, Passage, Span, Target, Uncovered
from guardrail.reading.decoding import Normalised
from guardrail.reading.sql.tokens import (
    MAX_TARGETS,
    Statement,
    bare_name,
)
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope

MAX_DEPTH = 6
MAX_PASSAGES = 100


class Reader(ABC):
    """One pass over a text. Classes of other modules add the reading of its statements."""

    def __init__(self, source: Normalised, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.calls: list[Call] = []
        self.effects: list[Effect] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.made: set[str] = set()  # tables that the text itself creates
        self.began: int | None = None  # the number of effects when a transaction began
        self.count = 0
        self.sure = True
        self.depth = 0
        self.carrier: Span | None = None

    def _passage(self, text: str, start: int, end: int) -> None:
        if text and len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(text, self._span(start, end)))

    def _shell(self, command: str, span: Span, windows: bool = False) -> None:
        """Adds a command that the database passes to a shell."""
        detail = {"code": "inline", "starter": "database"} if windows else {"code": "inline"}
        self._add(EffectKind.EXECUTE, ObjectKind.PROCESS, [], span, detail=detail)
        if not command:
            self.uncovered.append(Uncovered(span, "a command that the database runs"))
            return
        if windows:
            from guardrail.reading.powershell import read_cmd as read_command
        else:
            from guardrail.reading.shell import read as read_command
        reading = read_command(command, offset=span.start)
        self.calls += reading.calls if self.sure else [replace(call, sure=False) for call in reading.calls]
        self.uncovered += [replace(part, span=span) for part in reading.uncovered]

    def _execute(self, path: str, span: Span) -> None:
        target = (Target(path),)
        self._effect(EffectKind.EXECUTE, ObjectKind.PATH, target, span, detail={"code": "named_file"})

    def _command_in(self, path: str, span: Span, kind: EffectKind) -> None:
        self._path(kind, path, span)

    def _path(self, kind: EffectKind, path: str, span: Span) -> None:
        reversible = Reversible.NO if kind in (EffectKind.OVERWRITE, EffectKind.DELETE) else Reversible.YES
        self._effect(kind, ObjectKind.PATH, (Target(path),), span, reversible=reversible)

    def _add(
        self,
        kind: EffectKind,
        thing: ObjectKind,
        names: Sequence[str],
        span: Span,
        scope: Scope = Scope.ONE,
        reversible: Reversible = Reversible.YES,
        place: Place = Place.UNKNOWN,
        detail: dict[str, str] | None = None,
    ) -> None:
        changes = thing in (ObjectKind.ROWS, ObjectKind.TABLE) and kind is not EffectKind.CREATE
        if place is Place.UNKNOWN and changes and names and all(bare_name(name) in self.made for name in names):
            place = Place.TEMPORARY
        targets = tuple(Target(name, place=place) for name in names[:MAX_TARGETS] if name)
        self._effect(kind, thing, targets, span, scope, reversible, detail)

    def _effect(
        self,
        kind: EffectKind,
        thing: ObjectKind,
        targets: tuple[Target, ...],
        span: Span,
        scope: Scope = Scope.ONE,
        reversible: Reversible = Reversible.YES,
        detail: dict[str, str] | None = None,
    ) -> None:
        self.effects.append(
            Effect(
                kind=kind,
                object=thing,
                span=self.carrier or span,
                source=f"sql {kind.value}",
                targets=targets,
                scope=scope,
                reversible=reversible,
                sure=self.sure,
                detail=detail or {},
            )
        )

    def _span(self, start: int, end: int) -> Span:
        if self.carrier is not None:
            return self.carrier
        return Span(self.offset + self.source.origin(start), self.offset + self.source.origin(end))

    def _inner(self, text: str, span: Span) -> None:
        """Reads statements in a string."""
        if self.depth >= MAX_DEPTH:
            self.uncovered.append(Uncovered(span, "nested statements, too deep to follow", stopped=True))
            return
        before, carrier, outer = len(self.passages), self.carrier, getattr(self, "text", "")
        self.depth += 1
        self.carrier = carrier or span
        self.text_of(text)
        self.depth -= 1
        self.carrier, self.text = carrier, outer
        del self.passages[before:]

    @abstractmethod
    def _nested(self, statement: Statement, span: Span) -> None:
        """Reads statements in brackets that change data: `WITH gone AS (DELETE FROM t RETURNING *) SELECT …`."""

    @abstractmethod
    def _statement(self, statement: Statement, span: Span) -> None:
        """Reads a statement by its first word."""

    @abstractmethod
    def _is_statement(self, word: str) -> bool:
        """Decides whether a statement may begin with this word."""

    @abstractmethod
    def text_of(self, text: str) -> None:
        """Reads a text of statements."""
