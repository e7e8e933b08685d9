"""Reads statements that select, add, change and delete rows, or copy them from and to files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from guardrail.model import Call, Span, Uncovered, Word
from guardrail.reading.sql.conditions import reach_of
from guardrail.reading.sql.reader import Reader
from guardrail.reading.sql.tokens import (
    Statement,
    bare_name,
    name_at,
    names_at,
)
from guardrail.vocabulary import EffectKind, ObjectKind, Reversible, Scope

MAX_CONDITION = 400
_NONE = {"where": "none"}
_AUDIT = re.compile(r"audit_?(?:logs?|trails?|events?|records?|entries|history)?")
"""Tables that record what was done, and to which rows are normally only added."""


class Rows(Reader):
    """Adds statements about rows."""

    def _delete(self, statement: Statement, span: Span) -> None:
        at = statement.skip(1, "LOW_PRIORITY", "QUICK", "IGNORE", "TOP")
        source = statement.find(1, "FROM")
        joins = source > at
        if source >= 0:
            at = source + 1
        at = statement.skip(at, "ONLY", "TABLE")
        name, _ = name_at(statement, at)
        if not name:
            self.uncovered.append(Uncovered(span, "half a statement that deletes rows"))
            return
        scope = self._reach(statement, joins and statement.find(at, "JOIN") > 0)
        self._rows(EffectKind.DELETE, [name], span, scope)

    def _update(self, statement: Statement, span: Span) -> None:
        at = statement.skip(1, "LOW_PRIORITY", "IGNORE", "ONLY", "OR", "ROLLBACK", "REPLACE", "ABORT", "FAIL")
        if statement.word(at) == "STATISTICS":
            return
        name, at = name_at(statement, at)
        if statement.find(at, "SET") < 0:
            self.uncovered.append(Uncovered(span, "half a statement that changes rows"))
            return
        self._rows(EffectKind.ALTER, [name], span, self._reach(statement, statement.find(at, "JOIN") > 0))
        if _AUDIT.fullmatch(bare_name(name)):
            says = {"says": "rewrites a record of what was done"}
            self._add(EffectKind.DISABLE, ObjectKind.DATABASE, [name], span, detail=says)

    def _reach(self, statement: Statement, joined: bool) -> Scope:
        """Returns the share of the rows that the condition selects."""
        where = statement.find(1, "WHERE")
        if where < 0:
            return Scope.UNKNOWN if joined or statement.find(1, "LIMIT", "TOP") > 0 else Scope.ALL
        end = statement.find(where + 1, "RETURNING", "ORDER", "LIMIT", "OPTION")
        condition = statement.tokens[where + 1 : end if end > 0 else where + 1 + MAX_CONDITION]
        return reach_of(condition)

    def _rows(self, kind: EffectKind, names: Sequence[str], span: Span, scope: Scope) -> None:
        detail = _NONE if scope is Scope.ALL else {}
        reversible = Reversible.NO if kind is EffectKind.DELETE or scope is Scope.ALL else Reversible.WITH_BACKUP
        self._add(kind, ObjectKind.ROWS, names, span, scope=scope, reversible=reversible, detail=detail)

    def _insert(self, statement: Statement, span: Span) -> None:
        at = statement.skip(1, "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "OR", "REPLACE", "ABORT", "FAIL")
        replaces = statement.word(0) == "REPLACE" or statement.word(at) == "OVERWRITE"
        at = statement.skip(at, "INTO", "OVERWRITE", "TABLE", "ALL", "FIRST")
        if statement.word(at) in ("DIRECTORY", "LOCAL"):
            for path in statement.strings(at)[:1]:
                self._path(EffectKind.OVERWRITE, path, span)
            return
        name, _ = name_at(statement, at)
        if statement.begins(1, "OVERWRITE"):
            self._add(EffectKind.OVERWRITE, ObjectKind.TABLE, [name], span, reversible=Reversible.NO)
            return
        kind = EffectKind.ALTER if replaces else EffectKind.CREATE
        self._add(kind, ObjectKind.ROWS, [name], span, scope=Scope.UNKNOWN if replaces else Scope.ONE)

    def _merge(self, statement: Statement, span: Span) -> None:
        name, _ = name_at(statement, statement.skip(1, "INTO"))
        self._add(EffectKind.ALTER, ObjectKind.ROWS, [name], span, scope=Scope.UNKNOWN)
        words = [token.text for token in statement.tokens]
        if ("THEN", "DELETE") in pairwise(words):
            # `not matched by source` deletes all that the source lacks, which may be everything
            scope = Scope.MANY if ("BY", "SOURCE") in pairwise(words) else Scope.UNKNOWN
            self._rows(EffectKind.DELETE, [name], span, scope)

    def _truncate(self, statement: Statement, span: Span) -> None:
        names = names_at(statement, statement.skip(1, "TABLE", "ONLY", "IF", "EXISTS"))
        self._rows(EffectKind.DELETE, names or ["?"], span, Scope.ALL)

    def _select(self, statement: Statement, span: Span) -> None:
        self._nested(statement, span)
        into = statement.find(1, "INTO")
        if into > 0 and statement.word(into + 1) in ("OUTFILE", "DUMPFILE"):
            for path in statement.strings(into)[:1]:
                self._path(EffectKind.WRITE, path, span)
        source = statement.find(1, "FROM")
        if source < 0:
            return
        names = names_at(statement, source + 1)
        limited = statement.find(source, "WHERE", "LIMIT", "FETCH") > 0 or statement.word(1) == "TOP"
        if names and names != ["?"]:
            self._add(EffectKind.READ, ObjectKind.ROWS, names, span, Scope.MANY if limited else Scope.ALL)

    def _copy(self, statement: Statement, span: Span) -> None:
        name = "query" if statement.sign(1) == "(" else name_at(statement, 1)[0]
        self._nested(statement, span)
        at = statement.find(1, "FROM", "TO")
        if at < 0:
            return
        writes = statement.word(at) == "TO"
        given = statement.strings(at)[:1]
        if statement.word(at + 1) == "PROGRAM":
            first = len(self.calls)
            self._shell(given[0] if given else "", span)
            if writes and len(self.calls) > first:  # the program gets the rows as its input, as from a dump
                dump = Call("pg_dump", (Word(name, span),), span)
                self.calls[first] = replace(self.calls[first], stdin=dump)
        elif given:
            self._path(EffectKind.OVERWRITE if writes else EffectKind.READ, given[0], span)
        if not writes:
            self._add(EffectKind.CREATE, ObjectKind.ROWS, [name], span, Scope.MANY)

    def _load(self, statement: Statement, span: Span) -> None:
        for path in statement.strings(1)[:1]:
            if statement.word(1) == "DATA":
                self._path(EffectKind.READ, path, span)
            else:
                self._execute(path, span)
        into = statement.find(1, "TABLE")
        if into > 0:
            self._add(EffectKind.CREATE, ObjectKind.ROWS, [name_at(statement, into + 1)[0]], span, Scope.MANY)
