"""Evaluates expressions, as far as the text determines their values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from guardrail import environment
from guardrail.reading.code_values import (
    Value,
    bare_name,
    constant,
    joined,
    listed,
    mapped,
    unknown,
)
from guardrail.reading.python.reader import Bound, Reader
from guardrail.reading.python.text import percent_formatted

LONG_TEXT = 40  # characters from which a text is examined as prose
_MODULES = frozenset(
    (
        *("os", "sys", "shutil", "subprocess", "pathlib", "socket", "requests", "urllib", "httpx", "smtplib", "boto3"),
        *("json", "pickle", "tempfile", "glob", "ctypes", "builtins", "importlib", "asyncio", "time", "signal", "pty"),
        *("base64", "binascii", "codecs", "zlib", "stripe", "psutil", "pandas", "ftplib", "paramiko", "platform"),
        *("runpy", "io", "posix", "nt", "threading", "multiprocessing", "re", "random", "math", "datetime", "logging"),
    )
)
# Other names of a function or type, with the one that the catalogue uses.
_SAME = {
    "posix.": "os.",
    "nt.": "os.",
    "builtins.": "",
    "__builtins__.": "",
    "os.path.os.": "os.",
    "shutil.os.": "os.",
    "Path": "pathlib.Path",
    "pathlib.PosixPath": "pathlib.Path",
    "pathlib.WindowsPath": "pathlib.Path",
    "pathlib.PurePath": "pathlib.Path",
    "requests.Session.": "requests.",
    "requests.session.": "requests.",
    "requests.sessions.Session.": "requests.",
    "requests.api.": "requests.",
    "httpx.Client.": "httpx.",
    "httpx.AsyncClient.": "httpx.",
    "aiohttp.ClientSession.": "requests.",
    "subprocess.subprocess.": "subprocess.",
    "redis.StrictRedis.": "redis.Redis.",
    "smtplib.SMTP_SSL.": "smtplib.SMTP.",
    "ftplib.FTP_TLS.": "ftplib.FTP.",
    "pd.": "pandas.",
    "np.": "numpy.",
}
PATH = "pathlib.Path"
_BUILTINS = frozenset(
    (
        *("open", "exec", "eval", "compile", "__import__", "getattr", "setattr", "hasattr", "input", "print", "map"),
        *("filter", "list", "tuple", "set", "dict", "str", "bytes", "int", "sorted", "reversed", "iter", "next", "len"),
        *("globals", "locals", "vars", "chr", "ord", "repr", "enumerate", "zip", "range", "bytearray", "execfile"),
        *("__builtins__", "get_ipython", "quit", "exit", "type", "super", "isinstance", "sum", "min", "max", "any"),
        *("all", "abs", "round", "format", "raw_input", "ascii", "hex", "float", "bool", "id", "hash", "slice"),
    )
)
_CONSTANTS = {
    "os.sep": constant("/"),
    "os.path.sep": constant("/"),
    "os.pathsep": constant(":"),
    "os.linesep": constant("\n"),
    "os.devnull": constant("/dev/null"),
    "sys.executable": constant("python3"),
    "os.curdir": constant("."),
    "signal.SIGKILL": constant("9"),
    "signal.SIGTERM": constant("15"),
}


class Values(Reader):
    """Adds the values of names and expressions."""

    def _bind(self, target: ast.expr, value: Value, node: ast.expr | None = None) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for at, element in enumerate(target.elts):
                inner = element.value if isinstance(element, ast.Starred) else element
                if value.type == "walk":
                    found = Value(f"{value.text.rstrip('/')}/*", value.known, glob=True, type="names")
                    self._bind(inner, found if at else replace(value, type=""))
                elif value.items is not None and at < len(value.items):
                    self._bind(inner, value.items[at])
                elif value.glob:
                    self._bind(inner, value)
                else:
                    self._bind(inner, unknown(name_of(inner)))
            return
        name = dotted_name(target)
        if name:
            if isinstance(node, ast.Lambda):
                self.lambdas[name] = node
            if len(self.variables) < 5_000:
                self.variables[name] = value
        elif isinstance(target, ast.Subscript):
            self._value(target.value)

    def _named(self, name: str) -> Value:
        value = self.variables.get(name)
        if value is not None:
            return value
        if name in self.functions:
            return Value(name, known=False, names=f"local:{name}")
        if name == "__file__":
            return constant("./script.py")
        if name in _MODULES or name in _BUILTINS:
            return Value(name, known=False, names=name)
        return unknown(name)

    def _value(self, node: ast.expr | None) -> Value:
        if node is None or not self._busy(node):
            return unknown()
        self.depth += 1
        value = self._one_value(node)
        self.depth -= 1
        return value

    def _one_value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.JoinedStr):
            return joined([self._value(part) for part in node.values])
        if isinstance(node, ast.FormattedValue):
            return self._value(node.value)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return listed(self._elements(node.elts))
        if isinstance(node, ast.Dict):
            return mapped(
                [
                    (self._value(key).text if key is not None else "...", self._value(value))
                    for key, value in zip(node.keys, node.values, strict=True)
                ]
            )
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, (ast.Await, ast.YieldFrom, ast.Starred)):
            return self._value(node.value)
        if isinstance(node, ast.NamedExpr):
            value = self._value(node.value)
            self._bind(node.target, value)
            return value
        if isinstance(node, ast.IfExp):
            self._value(node.test)
            values = [self._value(node.body), self._value(node.orelse)]
            return next((value for value in values if value.known), values[0])
        if isinstance(node, ast.BoolOp):
            values = [self._value(part) for part in node.values]
            return next((value for value in values if value.known), values[0])
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self._comprehension(node.generators, node.elt)
        if isinstance(node, ast.DictComp):
            self._comprehension(node.generators, node.value)
            if any(name_of(generator.iter).startswith(f"{environment.WHOLE}.") for generator in node.generators):
                return Value(environment.WHOLE, known=False)
            return unknown("mapping")
        if isinstance(node, ast.Lambda):
            name = f"lambda {node.lineno}:{node.col_offset}"
            self.functions.setdefault(name, Bound(node))
            return Value("lambda", known=False, names=f"local:{name}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._value(node.operand)
            return constant(f"-{value.text}") if value.known else value
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._value(child)
        return unknown(name_of(node) or "value")

    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if isinstance(value, str):
            if len(value) >= LONG_TEXT and " " in value:
                self._passage(value, self._span(node))
            return constant(value)
        if isinstance(value, bytes):
            return Value(value.decode("utf-8", "replace"), data=value)
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
            return unknown("number")
        return constant(str(value))

    def _elements(self, nodes: Sequence[ast.expr]) -> list[Value]:
        values: list[Value] = []
        for node in nodes:
            value = self._value(node)
            if isinstance(node, ast.Starred) and value.items is not None:
                values += value.items
            else:
                values.append(value)
        return values

    def _attribute(self, node: ast.Attribute) -> Value:
        dotted = dotted_name(node)
        if dotted in self.variables:
            return self.variables[dotted]
        return self._member(self._value(node.value), node.attr, node)

    def _member(self, owner: Value, name: str, node: ast.expr) -> Value:
        if owner.names.startswith("local:"):
            return Value(name, known=False, names=f"local:{name}") if name in self.functions else unknown(name)
        if owner.names:
            full = canonical_name(f"{owner.names}.{name}")
            return _CONSTANTS.get(full) or Value(full, known=False, names=full)
        if owner.type == PATH:
            return part_of_path(owner, name)
        if owner.type in ("response", "content", "printed"):
            return owner
        if owner.type == "file" and name == "name":
            return replace(owner, type="")
        if name in self.functions:
            return Value(name, known=False, names=f"local:{name}")
        return unknown(name)

    def _operation(self, node: ast.BinOp) -> Value:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(node.op, ast.Add):
            if left.items is not None and right.items is not None:
                return listed((*left.items, *right.items))
            if left.data is not None and right.data is not None:
                return _from_bytes(left.data + right.data)
            if isinstance(node.left, ast.Constant) and isinstance(node.left.value, int):
                return _number(left, right, 1)
            return joined((left, right))
        if isinstance(node.op, ast.Div):
            if left.type == PATH or right.type == PATH or left.names == PATH:
                return path_of((left, right))
            return unknown("number")
        if isinstance(node.op, ast.Mod):
            if left.known and isinstance(node.left, (ast.Constant, ast.Name, ast.JoinedStr)):
                return percent_formatted(left.text, right)
            return unknown("text")
        if isinstance(node.op, ast.Mult):
            text, count = (left, right) if right.text.isdecimal() else (right, left)
            if text.known and count.known and count.text.isdecimal() and len(count.text) < 4:
                if text.text.isdecimal():
                    return constant(str(int(text.text[:9]) * int(count.text)))
                return constant(text.text * int(count.text))
            return unknown("value")
        if isinstance(node.op, ast.BitOr) and left.known and right.known:
            return joined((left, constant("|"), right))
        if isinstance(node.op, ast.BitOr) and left.names and right.names:
            return constant(f"{left.names}|{right.names}")
        if isinstance(node.op, ast.Sub):
            return _number(left, right, -1)
        if isinstance(node.op, ast.BitXor) and left.text.isdecimal() and right.text.isdecimal():
            return constant(str(int(left.text[:18]) ^ int(right.text[:18])))
        return unknown("value")

    def _subscript(self, node: ast.Subscript) -> Value:
        value = self._value(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(value, node.slice)
        key = self._value(node.slice)
        if value.names == "os.environ" and key.known:
            return Value(f"${key.text}", known=False)
        if value.names == "sys.modules" and key.known:
            return Value(key.text, known=False, names=key.text)
        if value.names in ("globals", "__builtins__", "locals") and key.known:
            return self._named(key.text)
        if value.names.endswith(".__dict__") and key.known:
            full = canonical_name(f"{value.names.removesuffix('.__dict__')}.{key.text}")
            return Value(full, known=False, names=full)
        if value.entries is not None:
            return next((entry for name, entry in value.entries if name == key.text), unknown(key.text))
        number = _index(key)
        if number is not None:
            if value.items is not None and -len(value.items) <= number < len(value.items):
                return value.items[number]
            if value.data is not None and -len(value.data) <= number < len(value.data):
                return constant(str(value.data[number]))
            if value.known and value.items is None and -len(value.text) <= number < len(value.text):
                return constant(value.text[number])
        if value.type in ("response", "content", "printed") or value.glob:
            return value
        if value.names == "sys.argv":
            return unknown(f"argv{key.text}")
        return unknown(key.text if key.known and key.text.isidentifier() else name_of(node.value))

    def _slice(self, value: Value, bounds: ast.Slice) -> Value:
        ends: list[int | None] = []
        for bound in (bounds.lower, bounds.upper, bounds.step):
            ends.append(None if bound is None else _index(self._value(bound)))
            if bound is not None and ends[-1] is None:
                return unknown("part") if value.known else value
        if ends[2] == 0:
            return unknown("part")
        cut = slice(*ends)
        if value.items is not None:
            return listed(value.items[cut])
        if value.data is not None:
            return _from_bytes(value.data[cut])
        return constant(value.text[cut]) if value.known else value

    def _comprehension(self, generators: Sequence[ast.comprehension], element: ast.expr) -> Value:
        """Returns the elements of a comprehension over known values; only the first generator is followed."""
        first = generators[0]
        values = self._value(first.iter)
        turns = values.items[:64] if values.items else tuple(self._turns(values, first.iter))
        if values.data is not None:
            turns = tuple(constant(str(byte)) for byte in values.data[:256])
        elif values.is_text and len(values.text) <= 256:
            turns = tuple(constant(char) for char in values.text)
        before = dict(self.variables)
        made: list[Value] = []
        open_ended = values.items is None and not values.is_text
        self.loops += open_ended
        for turn in turns or (unknown(),):
            self._bind(first.target, turn)
            for condition in first.ifs:
                self._value(condition)
            for generator in generators[1:]:
                self._bind(generator.target, self._turns(self._value(generator.iter), generator.iter)[0])
            made.append(self._value(element))
            if self.full:
                break
        self.loops -= open_ended
        self.variables = before
        glob = values.glob or (values.items is None and not values.known)
        if glob and len(made) == 1:
            return replace(made[0], glob=made[0].glob or values.glob)
        return replace(listed(made), items=tuple(made))


def canonical_name(name: str) -> str:
    """Returns the name by which the catalogue knows a function or type."""
    for other, usual in _SAME.items():
        if name.startswith(other) and (other.endswith(".") or len(name) == len(other) or name[len(other)] == "."):
            return usual + name[len(other) :]
    return name


def dotted_name(node: ast.expr) -> str:
    """Returns `a.b.c` as spelled, or "" for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 12:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join((node.id, *reversed(parts)))


def name_of(node: ast.expr) -> str:
    """Returns the names in an expression, without calls and indexes: `conn.cursor().execute` is
    `conn.cursor.execute`."""
    parts: list[str] = []
    for _ in range(24):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Subscript, ast.Await, ast.Starred)):
            node = node.value
        else:
            break
    parts.append(node.id if isinstance(node, ast.Name) else "*")
    return ".".join(reversed(parts))


def _index(value: Value) -> int | None:
    text = value.text
    if value.known and 0 < len(text) < 6 and text.removeprefix("-").isdecimal() and text.isascii():
        return int(text)
    return None


def _number(left: Value, right: Value, sign: int) -> Value:
    first, second = _index(left), _index(right)
    return constant(str(first + sign * second)) if first is not None and second is not None else unknown("number")


def _from_bytes(data: bytes) -> Value:
    return Value(data.decode("utf-8", "replace"), data=data)


def path_of(parts: Sequence[Value]) -> Value:
    """Joins parts of a path; a part that begins with a slash starts again from the root."""
    text, known, glob = "", True, False
    for part in parts:
        if not text or (part.text.startswith("/") and part.type != "names"):
            text, known = part.text, part.known
        else:
            text = f"{text.rstrip('/')}/{bare_name(part)}"
            known = known and part.known
        glob = glob or part.glob
    return Value(text, known, glob, type=PATH)


def part_of_path(path: Value, name: str) -> Value:
    """Returns an attribute of a `pathlib` path, such as its parent."""
    text = path.text
    if name == "parent":
        head, slash, _ = text.rstrip("/").rpartition("/")
        return replace(path, text=head if head else ("/" if slash else "."))
    if name in ("name", "stem", "suffix"):
        return Value(text.rstrip("/").rpartition("/")[2], path.known, path.glob)
    if name in ("parents", "parts"):
        return unknown(name)
    return Value(f"{PATH}.{name}", known=False) if name not in ("anchor", "drive") else constant("/")
