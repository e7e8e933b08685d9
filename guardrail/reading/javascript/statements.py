"""Reads statements in order."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter_javascript
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from guardrail.model import Passage, Span, Uncovered
from guardrail.reading.code_values import unknown
from guardrail.reading.javascript.calls import Calls, module_of, reference_to, turns_of
from guardrail.reading.javascript.reader import MAX_PASSAGES
from guardrail.reading.javascript.values import STATEMENTS

MAX_PART = 6 * 1024  # characters that are parsed at once
MAX_BROKEN = 6 * 1024  # characters with syntax errors that are parsed: each costs twenty times as much as others
_GRAMMAR = Grammar(tree_sitter_javascript.language())
_NON_ASCII = re.compile(r"[^\x00-\x7f]")


class Statements(Calls):
    """Adds statements, and reads a whole text."""

    def run(self) -> None:
        parser = Parser(_GRAMMAR)
        plain = self.text if self.text.isascii() else _NON_ASCII.sub("_", self.text)
        roots = []
        broken = 0
        for start, end in _parts(plain):
            if broken >= MAX_BROKEN:
                span = Span(self.offset + self.source.origin(start), self.offset + self.source.origin(len(plain)))
                self.uncovered.append(
                    Uncovered(span, "a text too unlike JavaScript to be read in bounded time", stopped=True)
                )
                break
            root = parser.parse(plain[start:end].encode()).root_node
            broken += (end - start) if root.has_error else 0
            roots.append((root, start))
        for root, start in roots:
            self.base = start
            self._declare(root)
        for root, start in roots:
            self.base = start
            self._statements(root)
            if root.has_error and not self.full:
                self._errors(root)
        self.sure = False
        for name, (node, start) in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                self.base = start
                self._body(node, [])

    def _declare(self, root: Node) -> None:
        """Records functions in advance, since code may call them before their declaration."""
        for node in root.named_children:
            if node.type == "export_statement" and node.named_children:
                node = node.named_children[0]
            if node.type in ("function_declaration", "generator_function_declaration"):
                name = node.child_by_field_name("name")
                if name is not None:
                    self.functions[self._text(name)] = (node, self.base)

    def _statements(self, node: Node) -> None:
        for child in node.named_children:
            if self.full:
                return
            self._statement(child)

    def _statement(self, node: Node) -> None:
        if not self._busy(node):
            return
        self.depth += 1
        kind = node.type
        if kind == "comment":
            text = re.sub(r"(?m)^\s*(?:/\*+|\*+/?|//+)|\*+/$", "", self._text(node)).strip()
            if text and len(self.passages) < MAX_PASSAGES:
                self.passages.append(Passage(text, self._span(node)))
        elif kind in ("lexical_declaration", "variable_declaration"):
            for declarator in node.named_children:
                self._declarator(declarator)
        elif kind in ("function_declaration", "generator_function_declaration"):
            name = node.child_by_field_name("name")
            if name is not None:
                self.functions[self._text(name)] = (node, self.base)
        elif kind == "import_statement":
            self._import(node)
        elif kind == "class_declaration":
            self._class(node)
        elif kind == "return_statement":
            for child in node.named_children[:1]:
                self.returned.append(self._value(child))
        elif kind == "for_in_statement":
            self._for(node)
        elif kind == "switch_statement":
            sure, self.sure = self.sure, False
            self._statements(node)
            self.sure = sure
        elif kind in STATEMENTS or kind == "ERROR":
            self._statements(node)
        else:
            self._value(node)
        self.depth -= 1

    def _declarator(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            self._bind(name, self._value(value))

    def _class(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        for member in body.named_children if body is not None else ():
            name = member.child_by_field_name("name")
            if member.type == "method_definition" and name is not None:
                self.functions[self._text(name)] = (member, self.base)
            else:
                for child in member.named_children[1:]:
                    self._value(child)

    def _import(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        if source is None:
            return
        module = module_of(self._string(source).text)
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for part in clause.named_children:
                if part.type == "identifier":
                    self.variables[self._text(part)] = reference_to(module)
                elif part.type == "namespace_import":
                    for name in part.named_children:
                        self.variables[self._text(name)] = reference_to(module)
                elif part.type == "named_imports":
                    for specifier in part.named_children:
                        names = [self._text(name) for name in specifier.named_children]
                        if names:
                            full = module if names[0] == "default" else f"{module}.{names[0]}"
                            self.variables[names[-1]] = reference_to(full)

    def _for(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        body = node.child_by_field_name("body")
        values = self._value(right) if right is not None else unknown("item")
        self.loops += values.items is None
        for turn in turns_of(values):
            if left is not None:
                self._bind(left, turn)
            if body is not None:
                self._statement(body)
        self.loops -= values.items is None


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yields parts of a text that are short enough to parse, cut before an unindented line if possible."""
    start, size = 0, len(text)
    while start < size:
        end = min(start + MAX_PART, size)
        if end < size:
            cut = max(text.rfind("\n}", start + MAX_PART // 2, end), text.rfind(";\n", start + MAX_PART // 2, end))
            cut = cut + 2 if cut > 0 else text.rfind("\n", start + 1, end)
            end = cut if cut > start else end
        yield start, end
        start = end
