"""Reads calls: their names and arguments, what they return, and the functions of the code that they run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote

from tree_sitter import Node

from guardrail.model import Call, Span, Word
from guardrail.reading.code_values import (
    Value,
    bare_name,
    constant,
    fetched,
    joined,
    listed,
    printed_by,
    reads_path,
    unknown,
    word_of,
)
from guardrail.reading.decoding import from_base64
from guardrail.reading.javascript.values import QUIET, Values, canonical_name
from guardrail.vocabulary import Language

MAX_FOLLOWED = 5
MAX_TURNS = 64
_MOST_PUSHED = 16
_LONGEST_PUSHED = 200
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
_FOR_EACH = frozenset(("map", "forEach", "flatMap"))
_CALLBACKS = frozenset(("map", "filter", "forEach", "flatMap", "some", "every", "find", "then", "reduce", "catch"))
_KEEPS_VALUE = frozenset(("then", "finally", "map", "filter", "toString", "trim"))
_SAME_TEXT = frozenset(
    ("String", "path.resolve", "path.normalize", "util.promisify", "Promise.resolve", "JSON.stringify", "Array.from")
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


class Calls(Values):
    """Adds calls: of functions that the catalogue may know, of methods, and of functions of the code."""

    def _call(self, node: Node) -> Value:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return unknown()
        if function.type == "import":
            arguments = self._elements(given) if given is not None else []
            return reference_to(module_of(arguments[0].text)) if arguments and arguments[0].known else unknown("module")
        if given is not None and given.type == "template_string":
            return self._tagged(function, given, node)
        owner, name, method = self._callee(function)
        arguments = self._elements(given) if given is not None else []
        if name.startswith("local:"):
            return self._local(name.removeprefix("local:"), arguments)
        if name == "await" and arguments:
            return arguments[0]  # the grammar takes `await (…)` outside a function for a call
        if name == "require" and arguments and arguments[0].known:
            return reference_to(module_of(arguments[0].text))
        if name.endswith(".require") and arguments:
            return reference_to(module_of(arguments[0].text))
        if owner is not None and method == "push":
            self._push(function, owner, arguments)
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
            return reference_to(owner.names) if method == "bind" else self._function(owner.names, rest, node)
        if method in QUIET and owner is not None and not _is_module(owner.names):
            self._callbacks(owner, method, arguments)
            same = owner.type in ("response", "content") or method in _KEEPS_VALUE
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
                return owner, canonical_name(f"{owner.names}.{method}"), method
            return owner, canonical_name(chain or f"*.{method}"), method
        value = self._value(function)
        return None, value.names, ""

    def _push(self, function: Node, owner: Value, arguments: Sequence[Value]) -> None:
        """Adds elements to a list that a variable holds, as far as it stays short."""
        target = function.child_by_field_name("object")
        if (
            target is not None
            and target.type == "identifier"
            and owner.items is not None
            and len(owner.items) < _MOST_PUSHED
            and all(len(value.text) <= _LONGEST_PUSHED for value in arguments)
        ):
            self._bind(target, listed((*owner.items, *arguments[:_MOST_PUSHED])))

    def _tagged(self, function: Node, given: Node, node: Node) -> Value:
        """Reads a tagged template: `` $`rm -rf ${x}` `` runs a command; most other tags only produce text."""
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
        name = canonical_name(name)
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
        """Follows the functions that are passed to a call, which is assumed to call them."""
        turns = turns_of(value) if method in _CALLBACKS else [value]
        for argument in arguments:
            if not argument.names or self.full:
                continue
            if argument.names.startswith("local:"):
                open_ended = value.items is None and method in _FOR_EACH
                self.loops += open_ended
                for turn in turns:
                    # A response is passed on first, and so are its parts: `r.on('data', part => …)`.
                    first = method in _CALLBACKS or turn.type == "response"
                    given = [turn] if first else [unknown("error"), turn]
                    self._local(argument.names.removeprefix("local:"), given)
                self.loops -= open_ended
            elif method in _CALLBACKS and (_is_module(argument.names) or argument.names in ("eval", "Function")):
                span = self.calls[-1].span if self.calls else Span(self.offset, self.offset + len(self.text))
                for turn in turns:
                    words = (word_of(turn, span),)
                    program = f"js:{canonical_name(argument.names)}"
                    self.calls.append(Call(program, words, span, Language.JAVASCRIPT, sure=self.sure))

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


def reference_to(name: str) -> Value:
    """Returns a module, or a member of one, by its full name."""
    short = name.rpartition(".")[2]
    return Value(f"${{{short if short.isidentifier() else 'module'}:?}}", known=False, names=name)


def module_of(name: str) -> str:
    """Returns the catalogue's name for a module that is imported under this name."""
    name = name.removeprefix("node:").removesuffix("/index.js")
    return _SAME_MODULES.get(name, name)


def _is_module(name: str) -> bool:
    return name.partition(".")[0] in _MODULES


def turns_of(value: Value) -> list[Value]:
    """Returns the values that a loop over this one goes through, as far as they are known."""
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
    if name == "Buffer.concat" and first.items:
        return joined(first.items)
    if name in ("decodeURIComponent", "unescape", "decodeURI") and first.known:
        return constant(unquote(first.text))
    if name in _SAME_TEXT:
        return first
    if name == "Reflect.get" and len(arguments) > 1 and first.names:
        return reference_to(canonical_name(f"{first.names}.{arguments[1].text}"))
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
