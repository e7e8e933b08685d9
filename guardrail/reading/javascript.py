"""Reads JavaScript and most TypeScript into calls, with knowledge of syntax, modules and text functions but of no
function's effects.

The grammar is tree-sitter-javascript. It is slow for texts that are not JavaScript, so long texts are parsed in parts,
and parsing stops when too much of them was broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote

import tree_sitter_javascript
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from guardrail import environment
from guardrail.model import Call, Passage, Reading, Span, Uncovered, Word
from guardrail.reading.code_values import (
    Value,
    bare_name,
    constant,
    fetched,
    joined,
    listed,
    mapped,
    printed_by,
    reads_path,
    unknown,
    word_of,
)
from guardrail.reading.decoding import Normalised, from_base64, normalise
from guardrail.vocabulary import Language

MAX_PART = 6 * 1024  # characters that are parsed at once
MAX_BROKEN = 6 * 1024  # characters with syntax errors that are parsed: each costs twenty times as much as others
MAX_WORK = 6_000
MAX_CALLS = 1_000
MAX_DEPTH = 40
MAX_FOLLOWED = 5
MAX_TURNS = 64
MAX_PASSAGES = 200
LONG_TEXT = 40

_GRAMMAR = Grammar(tree_sitter_javascript.language())
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_ESCAPE = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|\r?\n|.)", re.S)
_FUNCTIONS = frozenset(
    (
        *("arrow_function", "function_expression", "function_declaration", "generator_function", "method_definition"),
        *("generator_function_declaration", "function"),
    )
)
_SPAWNS = frozenset(("spawn", "spawnSync", "execFile", "execFileSync", "execa", "execaSync", "Command", "cross-spawn"))
_SAME_MODULES = {
    "fs/promises": "fs.promises",
    "graceful-fs": "fs",
    "fs-promise": "fs",
    "mz/fs": "fs.promises",
    "fs.promises": "fs.promises",
    "mz/child_process": "child_process",
    "cross-spawn": "child_process.spawn",
    "isomorphic-fetch": "fetch",
    "cross-fetch": "fetch",
    "child-process-promise": "child_process",
}
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
# Methods of the language's own types and of responses: they change nothing outside of the program.
_QUIET = frozenset(
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
_FOR_EACH = frozenset(("map", "forEach", "flatMap"))
_CALLBACKS = frozenset(("map", "filter", "forEach", "flatMap", "some", "every", "find", "then", "reduce", "catch"))
_SAME_TEXT = frozenset(
    ("String", "path.resolve", "path.normalize", "util.promisify", "Promise.resolve", "JSON.stringify", "Array.from")
)


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a JavaScript text, in order, with the texts that people read and the parts that could not be
    read."""
    reader = _Reader(normalise(text), offset)
    reader.run()
    return Reading(
        language=Language.JAVASCRIPT,
        calls=tuple(reader.calls),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )


class _Reader:
    """One pass over a text."""

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
        self.loops = 0  # loops around the statement whose things are not listed in the text
        self.full = False

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

    def _errors(self, root: Node) -> None:
        waiting = [root]
        for _ in range(400):
            if not waiting:
                return
            node = waiting.pop()
            if node.type == "ERROR" or node.is_missing:
                self.uncovered.append(Uncovered(self._span(node), "JavaScript with an error of syntax"))
                return
            waiting += [child for child in node.children if child.has_error or child.is_missing]

    def _declare(self, root: Node) -> None:
        """Records functions in advance, since code may call them before their declaration."""
        for node in root.named_children:
            if node.type == "export_statement" and node.named_children:
                node = node.named_children[0]
            if node.type in ("function_declaration", "generator_function_declaration"):
                name = node.child_by_field_name("name")
                if name is not None:
                    self.functions[self._text(name)] = (node, self.base)

    # Statements

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
        elif kind in _STATEMENTS or kind == "ERROR":
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
        module = _module(self._string(source).text)
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for part in clause.named_children:
                if part.type == "identifier":
                    self.variables[self._text(part)] = _reference(module)
                elif part.type == "namespace_import":
                    for name in part.named_children:
                        self.variables[self._text(name)] = _reference(module)
                elif part.type == "named_imports":
                    for specifier in part.named_children:
                        names = [self._text(name) for name in specifier.named_children]
                        if names:
                            full = module if names[0] == "default" else f"{module}.{names[0]}"
                            self.variables[names[-1]] = _reference(full)

    def _for(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        body = node.child_by_field_name("body")
        values = self._value(right) if right is not None else unknown("item")
        self.loops += values.items is None
        for turn in _turns(values):
            if left is not None:
                self._bind(left, turn)
            if body is not None:
                self._statement(body)
        self.loops -= values.items is None

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

    # Values

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
        if kind in ("statement_block", "expression_statement") or kind in _STATEMENTS:
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
            body = _ESCAPE.sub(_unescaped, body)
        self._long(body, node)
        return constant(body)

    def _long(self, body: str, node: Node) -> None:
        if len(body) >= LONG_TEXT and " " in body and len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(body, self._span(node)))

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

    def _raw(self, start: int, end: int) -> Value:
        text = self.text[start + self.base : max(end, start) + self.base]
        return constant(_ESCAPE.sub(_unescaped, text) if "\\" in text else text)

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
            full = _canonical(f"{owner.names}.{name}")
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

    # Calls

    def _call(self, node: Node) -> Value:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return unknown()
        if function.type == "import":
            arguments = self._elements(given) if given is not None else []
            return _reference(_module(arguments[0].text)) if arguments and arguments[0].known else unknown("module")
        if given is not None and given.type == "template_string":
            return self._tagged(function, given, node)
        owner, name, method = self._callee(function)
        arguments = self._elements(given) if given is not None else []
        if name.startswith("local:"):
            return self._local(name.removeprefix("local:"), arguments)
        if name == "require" and arguments and arguments[0].known:
            return _reference(_module(arguments[0].text))
        if name.endswith(".require") and arguments:
            return _reference(_module(arguments[0].text))
        if owner is not None and not owner.names:
            value = self._text_method(owner, method, arguments)
            if value is not None:
                self._callbacks(owner, method, arguments)
                return value
        if owner is not None and method in ("call", "apply", "bind") and owner.names:
            rest = arguments[1:]
            if method == "apply" and rest and rest[0].items is not None:
                rest = list(rest[0].items)
            if owner.names.startswith("local:"):
                return self._local(owner.names.removeprefix("local:"), rest)
            return _reference(owner.names) if method == "bind" else self._function(owner.names, rest, node)
        if method in _QUIET and owner is not None and not _is_module(owner.names):
            self._callbacks(owner, method, arguments)
            same = owner.type in ("response", "content") or method in ("then", "finally", "map", "filter")
            return owner if same else unknown(method)
        return self._function(name or (method and f"*.{method}") or "", arguments, node, owner)

    def _callee(self, function: Node) -> tuple[Value | None, str, str]:
        """Returns the receiver of a call, the function's dotted name, and the method's name."""
        if function.type in ("member_expression", "subscript_expression"):
            chain = self._chain(function)
            bound = self.variables.get(chain)
            if bound is not None and bound.names:
                return None, bound.names, ""
            owner = self._value(function.child_by_field_name("object"))
            if function.type == "member_expression":
                prop = function.child_by_field_name("property")
                method = self._text(prop) if prop is not None else ""
            else:
                index = self._value(function.child_by_field_name("index"))
                method = index.text if index.known else ""
            if not method:
                return owner, "", ""
            if method in self.functions and (not owner.names or owner.names in ("this", "module.exports", "exports")):
                return owner, f"local:{method}", method
            if owner.names.startswith("local:"):
                inner = f"local:{method}" if method in self.functions else ""
                return owner, inner, method
            if owner.names:
                return owner, _canonical(f"{owner.names}.{method}"), method
            return owner, _canonical(chain or f"*.{method}"), method
        value = self._value(function)
        return None, value.names, ""

    def _tagged(self, function: Node, given: Node, node: Node) -> Value:
        """Reads a tagged template: `` $`rm -rf ${x}` `` runs a command; most other tags only make text."""
        text = self._value(given)
        tag = self._chain(function)
        if tag in ("$", "execa", "sh", "Bun.$", "zx.$", "$.sync", "execaSync", "shell") or tag.endswith(".$"):
            self._emit("child_process.exec", (word_of(text, self._span(node)),), node)
            return printed_by(text)
        if tag.endswith(("sql", "$executeRaw", "$queryRaw", "query")):
            self._emit("prisma.$executeRaw", (word_of(text, self._span(node)),), node)
        return text

    def _new(self, node: Node) -> Value:
        function, given = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
        name = self._value(function).names if function is not None else ""
        arguments = self._elements(given) if given is not None else []
        if name.startswith("local:"):
            for method in ("constructor",):
                if method in self.functions:
                    self._local(method, arguments)
            return unknown("object")
        value = self._function(name or "Object", arguments, node)
        if name in ("Date", "Map", "Set", "Error"):
            return value
        return replace(value, names="" if name != "Function" else "Function.result", type=name)

    def _function(self, name: str, arguments: list[Value], node: Node, owner: Value | None = None) -> Value:
        """Reads a call of a function by its dotted name."""
        name = _canonical(name)
        computed = _computed(name, arguments)
        if computed is not None:
            return computed
        if not name or name == "Function.result":
            self._callbacks(unknown(), "", arguments)
            return unknown()
        self._emit(name, self._words(name, arguments, owner, node), node)
        if name == "process.chdir" and arguments:
            self.directory = word_of(arguments[0], self._span(node))
        result = _result(name, arguments)
        self._callbacks(result, name.rpartition(".")[2], arguments)
        return result

    def _words(self, name: str, arguments: Sequence[Value], owner: Value | None, node: Node) -> tuple[Word, ...]:
        span = self._span(node)
        member = name.rpartition(".")[2]
        if member in _SPAWNS or name in ("Bun.spawn", "Bun.spawnSync"):
            return self._spawned(arguments, span)
        words: list[Word] = []
        named: list[Word] = []
        for value in arguments[:32]:
            if value.names.startswith("local:"):
                words.append(Word("function", span, known=False))
                continue
            if value.entries is not None:
                keys = {key for key, _ in value.entries}
                if not (not words and keys & {"url", "method", "hostname", "host", "to", "model"}):
                    words.append(word_of(value, span))
                named += [word_of(entry, span, key) for key, entry in value.entries if key]
            else:
                words.append(word_of(value, span))
        if owner is not None and not _is_module(owner.names) and name.startswith("*."):
            named.append(word_of(owner, span, "self"))
        return (*words, *named)

    def _spawned(self, arguments: Sequence[Value], span: Span) -> tuple[Word, ...]:
        """Returns the program and its arguments, one word each."""
        words: list[Word] = []
        for value in arguments:
            if value.entries is not None:
                args = next((entry for key, entry in value.entries if key in ("args", "cmd")), None)
                words += [word_of(item, span) for item in (args.items or ())] if args is not None else []
            elif value.items is not None:
                words += [word_of(item, span) for item in value.items]
            elif not value.names.startswith("local:") and not words:
                words.append(word_of(value, span))
        return tuple(words)

    def _emit(self, name: str, words: tuple[Word, ...], node: Node) -> None:
        self.calls.append(
            Call(
                program=f"js:{name}",
                words=words,
                span=self._span(node),
                language=Language.JAVASCRIPT,
                sure=self.sure,
                directory=self.directory,
                repeated=self.loops > 0,
            )
        )

    def _callbacks(self, value: Value, method: str, arguments: Sequence[Value]) -> None:
        """Calls the functions that are passed to a call, which is assumed to call them."""
        turns = _turns(value) if method in _CALLBACKS else [value]
        for argument in arguments:
            if not argument.names or self.full:
                continue
            if argument.names.startswith("local:"):
                open_ended = value.items is None and method in _FOR_EACH
                self.loops += open_ended
                for turn in turns:
                    given = [turn] if method in _CALLBACKS else [unknown("error"), turn]
                    self._local(argument.names.removeprefix("local:"), given)
                self.loops -= open_ended
            elif method in _CALLBACKS and (_is_module(argument.names) or argument.names in ("eval", "Function")):
                span = self.calls[-1].span if self.calls else Span(self.offset, self.offset + len(self.text))
                for turn in turns:
                    words = (word_of(turn, span),)
                    program = f"js:{_canonical(argument.names)}"
                    self.calls.append(Call(program, words, span, Language.JAVASCRIPT, sure=self.sure))

    def _text_method(self, owner: Value, method: str, arguments: Sequence[Value]) -> Value | None:
        """Returns the result of a method of a text, list or response, or None for other methods."""
        if owner.type in ("response", "content"):
            return owner if method in _QUIET else None
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
        return unknown(method) if method in _QUIET else None

    # Functions of the code

    def _local(self, name: str, arguments: Sequence[Value]) -> Value:
        function = self.functions.get(name)
        if function is None or name in self.following or len(self.following) >= MAX_FOLLOWED:
            return unknown(name)
        self.called.add(name)
        self.following.append(name)
        node, start = function
        base, self.base = self.base, start
        value = self._body(node, arguments)
        self.base = base
        self.following.pop()
        return value

    def _body(self, node: Node, arguments: Sequence[Value]) -> Value:
        single, several = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
        parameters = [single] if single is not None else list(several.named_children) if several is not None else []
        shadowed: dict[str, Value | None] = {}
        for at, parameter in enumerate(parameters):
            target, value = parameter, arguments[at] if at < len(arguments) else None
            if parameter.type == "assignment_pattern":
                if value is None:
                    value = self._value(parameter.child_by_field_name("right"))
                target = parameter.named_children[0] if parameter.named_children else parameter
            name = self._text(target)
            if value is None:
                value = replace(unknown(name), names=name if name.isidentifier() else "")
            shadowed.setdefault(name, self.variables.get(name))
            if parameter.type == "rest_pattern" and target.named_children:
                self._bind(target.named_children[0], listed(arguments[at:]))
            else:
                self._bind(target, value)
        returned, self.returned = self.returned, []
        body = node.child_by_field_name("body")
        result = unknown("result")
        if body is not None:
            if body.type == "statement_block":
                self._statement(body)
                result = self.returned[0] if self.returned else result
            else:
                result = self._value(body)
        self.returned = returned
        for name, before in shadowed.items():
            if before is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = before
        return result

    # Texts and positions

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


_PATTERNS = frozenset(("assignment_pattern", "lexical_declaration", "variable_declaration", "variable_declarator"))
_STATEMENTS = frozenset(
    (
        *("program", "expression_statement", "statement_block", "if_statement", "else_clause", "try_statement"),
        *("catch_clause", "finally_clause", "while_statement", "do_statement", "for_statement", "labeled_statement"),
        *("export_statement", "switch_body", "switch_case", "switch_default", "throw_statement"),
    )
)
_MODULES = frozenset(
    (
        *("fs", "child_process", "path", "os", "http", "https", "net", "tls", "vm", "util", "crypto", "dgram", "zlib"),
        *(
            "worker_threads",
            "process",
            "console",
            "JSON",
            "Object",
            "Array",
            "Math",
            "Promise",
            "Deno",
            "Bun",
            "Buffer",
        ),
        *("fs-extra", "shelljs", "axios", "got", "ky", "execa", "rimraf", "del", "undici", "node-fetch", "superagent"),
        *(
            "globalThis",
            "window",
            "document",
            "localStorage",
            "navigator",
            "Reflect",
            "module",
            "stripe",
            "fse",
            "shell",
        ),
    )
)


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


def _reference(name: str) -> Value:
    short = name.rpartition(".")[2]
    return Value(f"${{{short if short.isidentifier() else 'module'}:?}}", known=False, names=name)


def _module(name: str) -> str:
    name = name.removeprefix("node:").removesuffix("/index.js")
    return _SAME_MODULES.get(name, name)


def _is_module(name: str) -> bool:
    return name.partition(".")[0] in _MODULES


def _canonical(name: str) -> str:
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


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "ux" and len(code) > 1:
        number = int(code.strip("ux{}"), 16)
        return chr(number) if number < 0x110000 else ""
    return _ESCAPES.get(code, code.strip("\r\n"))


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v"}


def _number(text: str) -> str:
    if re.fullmatch(r"0[xX][0-9A-Fa-f]{1,8}", text):
        return str(int(text, 16))
    return text


def _turns(value: Value) -> list[Value]:
    if value.items:
        return list(value.items[:MAX_TURNS])
    return [value]


def _path(parts: Sequence[Value]) -> Value:
    text, known, glob = "", True, False
    for part in parts:
        whole = not text or (part.text.startswith("/") and part.type != "names")
        text = part.text if whole else f"{text.rstrip('/')}/{bare_name(part)}"
        known = part.known if whole else known and part.known
        glob = glob or part.glob
    return Value(text, known, glob)


def _computed(name: str, arguments: Sequence[Value]) -> Value | None:
    """Returns the result of a function on constant text, or None for functions that do more."""
    first = arguments[0] if arguments else None
    if name in ("os.homedir", "os.tmpdir", "process.cwd"):
        return constant({"os.homedir": "~", "os.tmpdir": "/tmp", "process.cwd": "."}[name])  # noqa: S108 (a place)
    if first is None:
        return None
    if name in ("path.join", "path.resolve"):
        return _path(arguments)
    if name in ("path.dirname",):
        head = first.text.rstrip("/").rpartition("/")[0]
        return replace(first, text=head or "/")
    if name == "Buffer.from" and first.known:
        coding = arguments[1].text if len(arguments) > 1 else "utf8"
        if first.items is not None:
            return constant(_from_codes(first.items))
        if coding == "base64":
            return constant(from_base64(first.text) or "")
        if coding == "hex" and re.fullmatch(r"(?:[0-9A-Fa-f]{2}){1,8192}", first.text):
            return constant(bytes.fromhex(first.text).decode("utf-8", "replace"))
        return first
    if name == "atob" and first.known:
        return constant(from_base64(first.text) or "")
    if name in ("String.fromCharCode", "String.fromCodePoint"):
        return constant(_from_codes(arguments[0].items or arguments))
    if name in ("decodeURIComponent", "unescape", "decodeURI") and first.known:
        return constant(unquote(first.text))
    if name in _SAME_TEXT:
        return first
    if name == "Reflect.get" and len(arguments) > 1 and first.names:
        return _reference(_canonical(f"{first.names}.{arguments[1].text}"))
    return None


def _from_codes(values: Sequence[Value]) -> str:
    return "".join(chr(int(value.text)) for value in values if value.text.isdecimal() and len(value.text) < 6)


def _result(name: str, arguments: Sequence[Value]) -> Value:
    """Returns the result of a function, as far as words of later calls depend on it."""
    member = name.rpartition(".")[2]
    first = arguments[0] if arguments else None
    if first is None:
        return unknown(member)
    if member in ("readFileSync", "readFile", "readTextFile", "createReadStream", "readTextFileSync"):
        return reads_path(first)
    if member in ("readdirSync", "readdir", "readDir", "sync", "glob", "globSync"):
        text = first.text if first.glob or "*" in first.text else f"{first.text.rstrip('/')}/*"
        return Value(text, first.known, glob=True, type="names" if member.startswith("read") else "")
    if name in ("fetch", "node-fetch", "axios", "axios.get", "got", "got.get", "https.get", "http.get", "undici.fetch"):
        url = next((entry for key, entry in first.entries or () if key == "url"), first)
        return fetched(url)
    if member in ("execSync", "exec"):
        return printed_by(first)
    return unknown(member)
