"""Evaluates expressions, as far as the text determines their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from guardrail import environment
from guardrail.reading.code_values import (
    Value,
    constant,
    joined,
    listed,
    mapped,
    unknown,
)
from guardrail.reading.javascript.reader import ESCAPE, Reader, unescaped

_FUNCTIONS = frozenset(
    (
        *("arrow_function", "function_expression", "function_declaration", "generator_function", "method_definition"),
        *("generator_function_declaration", "function"),
    )
)
_FS_EXTRA_OWN = frozenset(
    (
        *(
            "remove",
            "removeSync",
            "emptyDir",
            "emptyDirSync",
            "outputFile",
            "outputFileSync",
            "writeJson",
            "writeJsonSync",
        ),
        *("readJson", "readFile", "move", "moveSync", "copy", "copySync", "ensureDir", "ensureDirSync"),
    )
)
# Methods of the language's own types and of responses: they change nothing outside the program.
QUIET = frozenset(
    (
        *("push", "pop", "shift", "unshift", "map", "filter", "forEach", "reduce", "join", "split", "slice", "splice"),
        *("concat", "includes", "indexOf", "find", "findIndex", "some", "every", "sort", "reverse", "keys", "values"),
        *("entries", "has", "toString", "trim", "replace", "replaceAll", "toLowerCase", "toUpperCase", "startsWith"),
        *("endsWith", "match", "matchAll", "test", "charAt", "charCodeAt", "padStart", "padEnd", "repeat", "substring"),
        *("substr", "then", "catch", "finally", "json", "text", "arrayBuffer", "blob", "on", "once", "pipe", "flat"),
        *("flatMap", "bind", "call", "apply", "toFixed", "getTime", "toISOString", "localeCompare", "fill", "at"),
        *("status", "listen", "use", "end", "write", "log", "setEncoding", "unref", "setTimeout", "exports"),
    )
)
_PATTERNS = frozenset(("assignment_pattern", "lexical_declaration", "variable_declaration", "variable_declarator"))
STATEMENTS = frozenset(
    (
        *("program", "expression_statement", "statement_block", "if_statement", "else_clause", "try_statement"),
        *("catch_clause", "finally_clause", "while_statement", "do_statement", "for_statement", "labeled_statement"),
        *("export_statement", "switch_body", "switch_case", "switch_default", "throw_statement"),
    )
)


class Values(Reader):
    """Adds the values of names and expressions."""

    def _bind(self, target: Node, value: Value) -> None:
        kind = target.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            if len(self.variables) < 3_000:
                name = self._text(target)
                self.variables[name] = value
                if not value.names.startswith("local:"):
                    self.functions.pop(name, None)
        elif kind == "member_expression":
            self.variables[self._chain(target)] = value
        elif kind == "object_pattern":
            for part in target.named_children:
                if part.type == "pair_pattern":
                    key, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
                    if key is not None and inner is not None:
                        self._bind(inner, self._member(value, self._text(key)))
                elif part.type == "shorthand_property_identifier_pattern":
                    self._bind(part, self._member(value, self._text(part)))
                elif part.named_children:
                    name = self._text(part.named_children[0])
                    self._bind(part.named_children[0], self._member(value, name))
        elif kind == "array_pattern":
            for at, part in enumerate(target.named_children):
                items = value.items or ()
                self._bind(part, items[at] if at < len(items) else unknown(self._text(part)))
        elif kind in _PATTERNS and target.named_children:
            self._bind(target.named_children[0], value)

    def _value(self, node: Node | None) -> Value:
        if node is None or not self._busy(node):
            return unknown()
        self.depth += 1
        value = self._one_value(node)
        self.depth -= 1
        return value

    def _one_value(self, node: Node) -> Value:
        kind = node.type
        if kind in ("identifier", "shorthand_property_identifier", "this"):
            return self._named(self._text(node))
        if kind in ("string", "string_fragment"):
            return self._string(node)
        if kind == "template_string":
            return self._template(node)
        if kind == "number":
            return constant(_number(self._text(node)))
        if kind in ("true", "false", "null", "undefined"):
            return constant(kind)
        if kind == "regex":
            return replace(constant(self._text(node)), type="regex")
        if kind == "call_expression":
            return self._call(node)
        if kind == "new_expression":
            return self._new(node)
        if kind == "member_expression":
            return self._member_expression(node)
        if kind == "subscript_expression":
            return self._subscript(node)
        if kind == "array":
            return listed(self._elements(node))
        if kind == "object":
            return self._object(node)
        if kind in _FUNCTIONS:
            name = f"function {node.start_byte + self.base}"
            self.functions.setdefault(name, (node, self.base))
            return Value("function", known=False, names=f"local:{name}")
        if kind == "binary_expression":
            return self._binary(node)
        if kind == "ternary_expression":
            self._value(node.child_by_field_name("condition"))
            values = [self._value(node.child_by_field_name(field)) for field in ("consequence", "alternative")]
            return next((value for value in values if value.known), values[0])
        if kind in ("assignment_expression", "augmented_assignment_expression"):
            left, value = node.child_by_field_name("left"), self._value(node.child_by_field_name("right"))
            if left is not None:
                if kind.startswith("augmented"):
                    value = joined((self._value(left), value))
                self._bind(left, value)
            return value
        if kind == "sequence_expression":
            values = [self._value(child) for child in node.named_children]
            return values[-1] if values else unknown()
        if kind in ("statement_block", "expression_statement") or kind in STATEMENTS:
            self._statements(node)
            return unknown()
        if kind == "comment":
            return unknown()
        values = [self._value(child) for child in node.named_children]
        if kind in ("await_expression", "parenthesized_expression", "spread_element", "as_expression") and values:
            return values[0]
        return unknown("value")

    def _named(self, name: str) -> Value:
        value = self.variables.get(name)
        if value is not None:
            return value
        if name in self.functions:
            return Value(name, known=False, names=f"local:{name}")
        if name in ("__dirname", "__filename"):
            return constant("." if name == "__dirname" else "./script.js")
        return replace(unknown(name), names=name)

    def _string(self, node: Node) -> Value:
        text = self._text(node)
        body = text[1:-1] if text[:1] in "'\"" and len(text) > 1 else text
        if "\\" in body:
            body = ESCAPE.sub(unescaped, body)
        self._long(body, node)
        return constant(body)

    def _template(self, node: Node) -> Value:
        parts: list[Value] = []
        at = node.start_byte + 1
        for child in node.named_children:
            if child.type != "template_substitution":
                continue
            parts.append(self._raw(at, child.start_byte))
            inner = [self._value(part) for part in child.named_children]
            parts.append(inner[0] if inner else constant(""))
            at = child.end_byte
        parts.append(self._raw(at, node.end_byte - 1))
        value = joined(parts)
        self._long(value.text, node)
        return value

    def _elements(self, node: Node) -> list[Value]:
        values: list[Value] = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            value = self._value(child)
            if child.type == "spread_element" and value.items is not None:
                values += value.items
            else:
                values.append(value)
        return values

    def _object(self, node: Node) -> Value:
        entries: list[tuple[str, Value]] = []
        for child in node.named_children:
            if child.type == "pair":
                key = child.child_by_field_name("key")
                name = self._text(key).strip("'\"[]`") if key is not None else ""
                entries.append((name, self._value(child.child_by_field_name("value"))))
            elif child.type == "shorthand_property_identifier":
                entries.append((self._text(child), self._value(child)))
            elif child.type == "spread_element":
                spread = self._value(child)
                entries += spread.entries or ([("...", spread)] if spread.names == "process.env" else [])
            elif child.type == "method_definition":
                method = child.child_by_field_name("name")
                if method is not None:
                    self.functions.setdefault(self._text(method), (child, self.base))
        return mapped(entries)

    def _member_expression(self, node: Node) -> Value:
        chain = self._chain(node)
        if chain in self.variables:
            return self.variables[chain]
        name = node.child_by_field_name("property")
        owner = self._value(node.child_by_field_name("object"))
        return self._member(owner, self._text(name) if name is not None else "")

    def _member(self, owner: Value, name: str) -> Value:
        if owner.entries is not None:
            found = next((entry for key, entry in owner.entries if key == name), None)
            if found is not None:
                return found
        if owner.names.startswith("local:"):
            return Value(name, known=False, names=f"local:{name}") if name in self.functions else unknown(name)
        if owner.names == "process.env":
            return Value(f"${name}", known=False)
        if owner.names:
            full = canonical_name(f"{owner.names}.{name}")
            if full == "process.env":
                return Value(environment.WHOLE, known=False, names=full)
            if full == "document.cookie":
                return Value(environment.COOKIES, known=False, names=full)
            if full == "path.sep":
                return constant("/")
            return Value(f"${{{name if name.isidentifier() else 'value'}:?}}", known=False, names=full)
        if owner.type in ("response", "content"):
            return owner
        if name == "length" and owner.known:
            return constant(str(len(owner.items if owner.items is not None else owner.text)))
        return unknown(name)

    def _subscript(self, node: Node) -> Value:
        owner, index = self._value(node.child_by_field_name("object")), self._value(node.child_by_field_name("index"))
        if index.known and owner.items is None and not owner.known and (owner.names or owner.entries is not None):
            return self._member(owner, index.text)
        if owner.entries is not None:
            return self._member(owner, index.text)
        if index.known and index.text.isdecimal() and len(index.text) < 6:
            at = int(index.text)
            if owner.items is not None and at < len(owner.items):
                return owner.items[at]
            if owner.known and owner.items is None and at < len(owner.text):
                return constant(owner.text[at])
        return owner if owner.type in ("response", "content") or owner.glob else unknown("item")

    def _binary(self, node: Node) -> Value:
        left, right = self._value(node.child_by_field_name("left")), self._value(node.child_by_field_name("right"))
        operator = node.child_by_field_name("operator")
        spelled = self._text(operator) if operator is not None else ""
        if spelled == "+":
            return joined((left, right))
        if spelled in ("||", "??", "&&"):
            return left if left.known else right if right.known else left
        return unknown("value")

    def _text_method(self, owner: Value, method: str, arguments: Sequence[Value]) -> Value | None:
        """Returns the result of a method of a text, list or response, or None for other methods."""
        if owner.type in ("response", "content"):
            return owner if method in QUIET else None
        if owner.items is not None:
            if method == "join":
                separator = arguments[0] if arguments else constant(",")
                parts: list[Value] = []
                for at, item in enumerate(owner.items):
                    parts += [separator, item] if at else [item]
                return joined(parts)
            if method == "reverse":
                return listed(owner.items[::-1])
            if method in ("map", "flatMap") and arguments and arguments[0].names.startswith("local:"):
                name = arguments[0].names.removeprefix("local:")
                return listed([self._local(name, [item]) for item in owner.items[:64]])
            if method == "concat":
                return listed(
                    [*owner.items, *(item for argument in arguments for item in argument.items or (argument,))]
                )
            return owner if method in ("filter", "slice", "sort", "forEach") else None
        if not owner.known or owner.type:
            return None
        known = all(argument.known for argument in arguments)
        text, first = owner.text, arguments[0].text if arguments else ""
        if method == "split" and known:
            parts_of = list(text[:256]) if not first and arguments else text.split(first) if first else [text]
            return listed([constant(part) for part in parts_of[:256]])
        if method in ("replace", "replaceAll") and len(arguments) > 1 and known:
            old = first.strip("/").rstrip("gimsuy").rstrip("/") if arguments[0].type == "regex" else first
            if old and len(text) * (len(arguments[1].text) + 1) < 500_000:
                return constant(text.replace(old, arguments[1].text))
            return owner
        if method in ("toLowerCase", "toUpperCase"):
            return constant(text.lower() if method == "toLowerCase" else text.upper())
        if method == "repeat" and first.isdecimal() and len(first) < 4:
            return constant(text * int(first))
        if method == "concat":
            return joined((owner, *arguments))
        if method in ("trim", "toString", "normalize", "trimEnd", "trimStart", "valueOf"):
            return owner
        if method in ("slice", "substring", "substr") and all(
            a.text.isdecimal() and len(a.text) < 6 for a in arguments
        ):
            numbers = [int(argument.text) for argument in arguments]
            end = (numbers[1] + numbers[0] if method == "substr" else numbers[1]) if len(numbers) > 1 else None
            return constant(text[numbers[0] if numbers else 0 : end])
        return unknown(method) if method in QUIET else None


def canonical_name(name: str) -> str:
    """Returns the name by which the catalogue knows a function or a module."""
    for begin in ("globalThis.", "window.", "global."):
        name = name.removeprefix(begin)
    if name.startswith("process.mainModule.require"):
        return name
    name = name.replace(".default.", ".")
    if name.startswith("fs-extra.") and name.removeprefix("fs-extra.") not in _FS_EXTRA_OWN:
        return f"fs.{name.removeprefix('fs-extra.')}"
    if name.startswith("fs.promises.") and name.removeprefix("fs.promises.") in ("rmSync",):
        return f"fs.{name.removeprefix('fs.promises.')}"
    return name


def _number(text: str) -> str:
    if re.fullmatch(r"0[xX][0-9A-Fa-f]{1,8}", text):
        return str(int(text, 16))
    return text
