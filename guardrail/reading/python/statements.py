"""Reads statements in order, with loops over known values and both branches of a condition."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from guardrail.model import Uncovered, Word
from guardrail.reading.code_values import (
    Value,
    constant,
    joined,
    listed,
    unknown,
)
from guardrail.reading.python.calls import MAX_TURNS, Calls
from guardrail.reading.python.reader import Bound
from guardrail.reading.python.values import dotted_name, name_of

_CELL = re.compile(r"^\s*%%(?:bash|sh|script bash)[^\n]*\n")


class Statements(Calls):
    """Adds statements, and reads a whole text."""

    def run(self) -> None:
        self._comments()
        if _CELL.match(self.text):
            start = _CELL.match(self.text)
            code = self.text[start.end() if start else 0 :]
            self._emit("get_ipython.system", (Word(code, self._whole()),), self._whole())
            return
        tree = self._tree()
        if tree is None:
            self.uncovered.append(Uncovered(self._whole(), "Python that can't be parsed"))
            return
        self._statements(tree.body)
        self.sure = False
        for name, function in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                self._body(function, {}, name)

    def _statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            if self.full:
                return
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        if not self._busy(node):
            return
        self.depth += 1
        magic = self.magics.get(node.lineno - 1) if self.magics else None
        if magic:
            self._emit("get_ipython.system", (Word(magic, self._span(node)),), self._span(node))
        self._one_statement(node)
        self.depth -= 1

    def _one_statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            value = self._value(node.value)
            self._unused(node.value)
            if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                self._passage(value.text, self._span(node))
        elif isinstance(node, ast.Assign):
            value = self._value(node.value)
            for target in node.targets:
                self._bind(target, value, node.value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._bind(node.target, self._value(node.value), node.value)
        elif isinstance(node, ast.AugAssign):
            before, added = self._value(_loaded(node.target)), self._value(node.value)
            value = joined((before, added)) if isinstance(node.op, ast.Add) else unknown()
            if before.items is not None and added.items is not None:
                value = listed((*before.items, *added.items))
            self._bind(node.target, value)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                self.variables[alias.asname or name] = Value(name, known=False, names=name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}" if node.module else alias.name
                self.variables[alias.asname or alias.name] = Value(full, known=False, names=full)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._define(node, "")
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, ast.Return):
            value = self._value(node.value) if node.value is not None else constant("None")
            self.returned.append(value)
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._for(node)
        elif isinstance(node, ast.While):
            self._value(node.test)
            self._statements(node.body)
            self._statements(node.orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                value = self._value(item.context_expr)
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, value)
                if all(isinstance(inner, ast.Pass) for inner in node.body):
                    self._unused(item.context_expr)
            self._statements(node.body)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            self._statements(node.body)
            for handler in node.handlers:
                self._statements(handler.body)
            self._statements(node.orelse)
            self._statements(node.finalbody)
        elif isinstance(node, ast.Match):
            self._value(node.subject)
            for case in node.cases:
                sure, self.sure = self.sure, False
                self._statements(case.body)
                self.sure = sure
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self.variables.pop(dotted_name(target), None)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._value(child)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> None:
        for decorator in node.decorator_list:
            self._value(decorator)
        for default in node.args.defaults:
            self._value(default)
        name = node.name
        self.functions[name] = Bound(node, owner)
        self.called.discard(name)
        self.variables.pop(name, None)

    def _class(self, node: ast.ClassDef) -> None:
        for base in node.bases:
            self._value(base)
        self.classes.add(node.name)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._define(statement, node.name)
            else:
                self._statement(statement)

    def _if(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Constant) and not node.test.value:
            self._statements(node.orelse)
            return
        self._value(node.test)
        before = dict(self.variables)
        self._statements(node.body)
        if node.orelse:
            after = self.variables
            self.variables = before
            self._statements(node.orelse)
            for name, value in after.items():
                self.variables.setdefault(name, value)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        values = self._value(node.iter)
        open_ended = values.items is None and not values.entries
        self.loops += open_ended
        for value in self._turns(values, node.iter):
            self._bind(node.target, value)
            self._statements(node.body)
        self.loops -= open_ended
        self._statements(node.orelse)

    def _turns(self, values: Value, node: ast.expr) -> list[Value]:
        """Returns the values that a loop goes through, or a value that represents them."""
        if values.items is not None and values.items:
            return list(values.items[:MAX_TURNS])
        if values.entries:
            return [constant(name) for name, _ in values.entries[:MAX_TURNS]]
        if values.glob or values.type == "walk":
            return [values]
        if values.is_text and 0 < len(values.text) <= MAX_TURNS:
            return [constant(char) for char in values.text]
        return [unknown(name_of(node) or "item")]


def _loaded(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    return target
