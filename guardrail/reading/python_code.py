"""Reads Python into calls, with knowledge of Python's syntax, names and text functions but of no function's effects.

Statements are followed in order with the values of their variables. A function of the code is followed where it is
called; functions that nothing calls are read at the end as code that may never run.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

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
    printed,
    printed_by,
    reads_path,
    unknown,
    word_of,
)
from guardrail.reading.decoding import Normalised, normalise
from guardrail.reading.python_text import changed_bytes, changed_text, decoded, formatted, percent_formatted
from guardrail.record import record
from guardrail.vocabulary import Language

MAX_WORK = 5_000  # nodes that are examined
MAX_PARSED = 40_000  # characters
MAX_CALLS = 1_000
MAX_DEPTH = 60
MAX_FOLLOWED = 6  # nested calls of functions
MAX_TURNS = 64  # turns of a loop over known values
MAX_TRIES = 6  # attempts to find the part of a text that is Python
MAX_PASSAGES = 200
LONG_TEXT = 40  # characters from which a text is examined as prose

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

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
_PATH = "pathlib.Path"
# Methods of Python's own types, files and responses: they change nothing outside of the program.
_QUIET = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, bytearray)
    for name in dir(kind)
    if not name.startswith("_")
) | frozenset(
    (
        *("read", "readline", "readlines", "write", "writelines", "close", "flush", "seek", "tell", "fileno", "json"),
        *("raise_for_status", "group", "groups", "communicate", "wait", "poll", "getvalue", "getvalues", "isoformat"),
        *("strftime", "timestamp", "total_seconds", "add_argument", "parse_args", "hexdigest", "digest", "most_common"),
        *("fetchall", "fetchone", "fetchmany", "cursor", "commit", "rollback", "info", "debug", "warning", "error"),
        *("writerow", "writerows", "writeheader", "result", "head", "tail", "describe", "iter_content", "iter_lines"),
    )
)
_FOUND = frozenset(("os.listdir", "os.scandir"))  # the entries of a directory
_TEXT_OF = frozenset(("str", "repr", "ascii", "bytes", "bytearray", "os.fspath", "os.fsencode", "os.fsdecode", "int"))
_OPENERS = ("python:open", "python:io.open", "python:pathlib.Path.open")
_SAME_PATH = frozenset(
    (
        *("os.path.expanduser", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expandvars"),
        *(
            "textwrap.dedent",
            "shlex.quote",
            "sqlalchemy.text",
            "text",
            "str",
            "list",
            "tuple",
            "set",
            "sorted",
            "reversed",
        ),
        *("iter", "next", "compile", "enumerate", "tqdm", "tqdm.tqdm"),
    )
)
_TEMPORARY = frozenset(("tempfile.mkdtemp", "tempfile.TemporaryDirectory"))
_TEMPORARY_FILES = frozenset(("tempfile.mkstemp", "tempfile.NamedTemporaryFile", "tempfile.mktemp"))
_FETCHES = frozenset(("requests.get", "urllib.request.urlopen", "urllib2.urlopen", "urllib.urlopen", "httpx.get"))
_PRINTS = frozenset(
    (
        *("subprocess.check_output", "subprocess.run", "subprocess.Popen", "subprocess.getoutput", "os.popen"),
        *("subprocess.getstatusoutput", "commands.getoutput"),
    )
)
_SPREAD = frozenset(("os.execl", "os.execlp", "os.execle", "os.execlpe", "os.spawnl", "os.spawnlp", "os.spawnle"))
_CALLERS = frozenset(("map", "filter", "submit", "Thread", "Process", "partial", "Timer", "register", "apply", "run"))

_MAGIC = re.compile(r"(?m)^([ \t]*)(?:!|%%?(?:bash|sh|script bash|system)\b[ \t]*|%(?=pip\b|conda\b))(.*)$")
_OTHER_MAGIC = re.compile(r"(?m)^([ \t]*)%%?\w[^\n]*$")
_CELL = re.compile(r"^\s*%%(?:bash|sh|script bash)[^\n]*\n")
_OLD_PRINT = re.compile(r"(?m)^([ \t]*(?:[^\n#'\"]{0,200}[:;][ \t]*)?)(print|exec)[ \t]+(?![=(])([^\n;]+)")
_COMMENT = re.compile(r"(?m)^[ \t]*#(?!!)[^\n]*(?:\n[ \t]*#[^\n]*)*")
_BLANKS = re.compile(r"\s+")


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a Python text, in order, with the texts that people read and the parts that could not be
    read."""
    reader = _Reader(normalise(text), offset)
    reader.run()
    return Reading(
        language=Language.PYTHON,
        calls=tuple(reader.calls),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )


@record
class _Bound:
    """A function of the code, with the arguments that `functools.partial` bound."""

    node: _Function
    owner: str = ""


class _Reader:
    """One pass over a text."""

    def __init__(self, source: Normalised, offset: int) -> None:
        self.source = source
        self.text = source.text
        self.offset = offset
        self.calls: list[Call] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.variables: dict[str, Value] = {}
        self.functions: dict[str, _Bound] = {}
        self.lambdas: dict[str, ast.Lambda] = {}
        self.called: set[str] = set()
        self.classes: set[str] = set()
        self.following: list[str] = []
        self.returned: list[Value] = []
        self.directory: Word | None = None
        self.magics: dict[int, str] = {}
        self.work = 0
        self.depth = 0
        self.sure = True
        self.loops = 0  # loops around the statement whose things are not listed in the text
        self.full = False
        self.shift = 0  # characters that were inserted before the text to make it parse
        self.starts: list[int] = []

    # Texts

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

    def _tree(self) -> ast.Module | None:
        """Returns the syntax tree; for a text with an error, that of the part before the error."""
        text = self.text
        if len(text) > MAX_PARSED:
            cut = max(text.rfind("\n", 0, MAX_PARSED), 0) or MAX_PARSED
            self.uncovered.append(
                Uncovered(self._span_of(cut, len(text)), "more code than is read of one text", stopped=True)
            )
            text = text[:cut]
        tree, error = _parsed(text)
        if tree is not None:
            self._lines(text)
            return tree
        if "!" in text or "%" in text:
            text = self._without_magics(text)
        old = _OLD_PRINT.sub(lambda match: f"{match[1]}{match[2]}({match[3]})", text) if "print " in text else text
        if old != self.text[: len(text)] or self.magics:
            tree, error = _parsed(old)
        if tree is None and text[:1] in " \t":
            self.shift = len("if 1:\n")
            tree, error = _parsed("if 1:\n" + text)
            text = "if 1:\n" + text
        if tree is not None:
            self._lines(text if old == text or self.shift else old)
            return tree
        return self._before_error(text, error)

    def _before_error(self, text: str, error: int) -> ast.Module | None:
        """Returns the tree of the text's lines before one that can't be parsed."""
        self._lines(text)
        end = error
        for _ in range(MAX_TRIES):
            if end <= 0:
                break
            stop = self.starts[end] if end < len(self.starts) else len(text)
            tree, found = _parsed(text[:stop])
            if tree is not None:
                if tree.body:
                    span = self._span_of(stop, len(text))
                    if self.text[stop - self.shift :].strip():
                        self.uncovered.append(Uncovered(span, "Python behind an error of syntax"))
                    return tree
                break
            end = min(end - 1, found)
        return self._statements_of_line(text)

    def _statements_of_line(self, text: str) -> ast.Module | None:
        """Returns the statements before the error if they are on one line: `import os; os.remove('x'); x = (`."""
        line = text.lstrip().partition("\n")[0]
        end = len(line)
        for _ in range(MAX_TRIES):
            end = line.rfind(";", 0, end)
            if end <= 0:
                return None
            tree, _ = _parsed(line[:end])
            if tree is not None:
                self.uncovered.append(Uncovered(self._whole(), "Python behind an error of syntax"))
                return tree
        return None

    def _without_magics(self, text: str) -> str:
        """Replaces the lines of a notebook that are shell commands, and records them for later."""

        starts = [match.start() for match in re.finditer("\n", text)]

        def line_of(position: int) -> int:
            return bisect_left(starts, position)

        def aside(match: re.Match[str]) -> str:
            self.magics[line_of(match.start())] = match[2].strip()
            return f"{match[1]}pass"

        return _OTHER_MAGIC.sub(r"\1pass", _MAGIC.sub(aside, text))

    def _lines(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.parsed_text = text

    def _comments(self) -> None:
        if "#" not in self.text:
            return
        for found in _COMMENT.finditer(self.text):
            text = re.sub(r"(?m)^[ \t]*#+ ?", "", found[0])
            if text.strip():
                self._passage(text, self._span_of(found.start() + self.shift, found.end() + self.shift))

    def _passage(self, text: str, span: Span, name: str | None = None) -> None:
        if len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(text, span, name))

    # Statements

    def _statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            if self.full:
                return
            self._statement(node)

    def _busy(self, node: ast.AST) -> bool:
        """Decides whether there is work left to do for a node."""
        self.work += 1
        if self.full:
            return False
        if self.work > MAX_WORK or len(self.calls) >= MAX_CALLS:
            self.full = True
            self.uncovered.append(Uncovered(self._span(node), "more code than is read of one text", stopped=True))
            return False
        if self.depth >= MAX_DEPTH:
            self.full = True
            self.uncovered.append(Uncovered(self._span(node), "code nested too deeply", stopped=True))
        return not self.full

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
                self.variables.pop(_dotted(target), None)
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
        self.functions[name] = _Bound(node, owner)
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
        return [unknown(_name_of(node) or "item")]

    # Names

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
                    self._bind(inner, unknown(_name_of(inner)))
            return
        name = _dotted(target)
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

    # Values

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
            if any(_name_of(generator.iter).startswith(f"{environment.WHOLE}.") for generator in node.generators):
                return Value(environment.WHOLE, known=False)
            return unknown("mapping")
        if isinstance(node, ast.Lambda):
            name = f"lambda {node.lineno}:{node.col_offset}"
            self.functions.setdefault(name, _Bound(node))
            return Value("lambda", known=False, names=f"local:{name}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self._value(node.operand)
            return constant(f"-{value.text}") if value.known else value
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._value(child)
        return unknown(_name_of(node) or "value")

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
        dotted = _dotted(node)
        if dotted in self.variables:
            return self.variables[dotted]
        return self._member(self._value(node.value), node.attr, node)

    def _member(self, owner: Value, name: str, node: ast.expr) -> Value:
        if owner.names.startswith("local:"):
            return Value(name, known=False, names=f"local:{name}") if name in self.functions else unknown(name)
        if owner.names:
            full = _canonical(f"{owner.names}.{name}")
            return _CONSTANTS.get(full) or Value(full, known=False, names=full)
        if owner.type == _PATH:
            return _part_of_path(owner, name)
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
            if left.type == _PATH or right.type == _PATH or left.names == _PATH:
                return _path((left, right))
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
            full = _canonical(f"{value.names.removesuffix('.__dict__')}.{key.text}")
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
        return unknown(key.text if key.known and key.text.isidentifier() else _name_of(node.value))

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
        """Returns the elements that a comprehension over known values makes; only the first generator is followed."""
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

    # Calls

    def _call(self, node: ast.Call) -> Value:
        function = node.func
        owner: Value | None = None
        if isinstance(function, ast.Attribute) and _dotted(function) not in self.variables:
            owner = self._value(function.value)
            callee = self._member(owner, function.attr, function)
        else:
            callee = self._value(function)
        arguments = self._elements(node.args)
        named = [
            (keyword.arg or "", self._value(keyword.value))
            for keyword in node.keywords
            if keyword.arg is not None or self._value(keyword.value).entries is None
        ]
        for keyword in node.keywords:
            if keyword.arg is None:
                named += self._value(keyword.value).entries or ()
        name = callee.names
        method = function.attr if isinstance(function, ast.Attribute) else ""
        if name.startswith("local:"):
            return self._local(name.removeprefix("local:"), arguments, named)
        if not name and owner is not None:
            return self._method(owner, method, arguments, named, node)
        if not name:
            spelled = _name_of(function)
            if isinstance(function, ast.Name) and spelled and not spelled.startswith("_"):
                name = spelled
                if name in self.classes:
                    self._local("__init__", arguments, named)
                    return unknown(name)
            else:
                return unknown()
        return self._function(name, arguments, named, node)

    def _function(self, name: str, arguments: list[Value], named: list[tuple[str, Value]], node: ast.Call) -> Value:
        """Reads a call of a function by its dotted name."""
        name = _canonical(name)
        if name in ("getattr", "operator.attrgetter") and len(arguments) > 1 and arguments[1].known:
            return self._member(arguments[0], arguments[1].text, node)
        if (
            name in ("__import__", "importlib.import_module", "importlib.__import__")
            and arguments
            and arguments[0].known
        ):
            module = arguments[0].text
            return Value(module, known=False, names=module)
        if name in ("globals", "locals", "vars") and not arguments:
            return Value(name, known=False, names="globals")
        value = decoded(name, arguments, dict(named))
        if value is not None:
            return value
        words = self._words(arguments, named, node)
        if name in _SPREAD and len(arguments) > 1:
            first = 2 if name.startswith("os.spawn") else 1
            words = (*words[:first], word_of(listed(arguments[first:]), self._span(node)))
            name = name.replace("execl", "execv").replace("spawnl", "spawnv")
        elif name == "os.chdir" and arguments:
            self.directory = word_of(arguments[0], self._span(node))
        self._emit(name, words, self._span(node))
        self._handed_over(name, arguments, named)
        return self._result(name, arguments, dict(named))

    def _method(
        self, owner: Value, method: str, arguments: list[Value], named: list[tuple[str, Value]], node: ast.Call
    ) -> Value:
        """Reads a call of a method of a value."""
        if owner.type == _PATH:
            return self._path_method(owner, method, arguments, named, node)
        if owner.items is not None and method in ("append", "extend", "insert"):
            function = node.func
            added = arguments[-1:]
            if method == "extend" and added:
                added = list(added[0].items or added)
            value = listed((*owner.items, *added))
            if isinstance(function, ast.Attribute) and (target := _dotted(function.value)):
                self.variables[target] = value
            return value
        if owner.entries is not None and method in ("get", "pop") and arguments:
            default = arguments[1] if len(arguments) > 1 else unknown(arguments[0].text)
            return next((entry for name, entry in owner.entries if name == arguments[0].text), default)
        if owner.entries is not None and method in ("items", "values", "keys"):
            pairs = [listed((constant(name), entry)) for name, entry in owner.entries]
            chosen = {"items": pairs, "values": [entry for _, entry in owner.entries]}.get(method)
            return listed(chosen if chosen is not None else [constant(name) for name, _ in owner.entries])
        if owner.data is not None:
            changed = changed_bytes(owner.data, method, arguments)
            if changed is not None:
                return changed
        if owner.type == "file":
            return reads_path(owner) if method.startswith("read") else unknown("file")
        if owner.type in ("response", "content", "printed"):
            return owner
        if method == "format" and owner.known:
            return formatted(owner.text, arguments, dict(named))
        if method == "join" and owner.known and arguments:
            return _joined_by(owner.text, arguments[0])
        if owner.known and not owner.type:
            changed = changed_text(owner.text, method, arguments)
            if changed is not None:
                return changed
        if method in self.functions and not owner.type:
            return self._local(method, arguments, named)
        if method in ("strip", "rstrip", "encode", "decode", "lower", "rstrip", "splitlines", "split", "lstrip"):
            return owner
        if method not in _QUIET:
            full = f"{owner.type}.{method}" if owner.type else _method_name(node.func)
            words = (*self._words(arguments, named, node), word_of(owner, self._span(node), "self"))
            self._emit(_canonical(full), words, self._span(node))
            self._handed_over(method, arguments, named)
        return replace(unknown(method), type=owner.type)

    def _path_method(
        self, owner: Value, method: str, arguments: list[Value], named: list[tuple[str, Value]], node: ast.Call
    ) -> Value:
        if method in ("glob", "rglob", "iterdir"):
            pattern = arguments[0].text if arguments else "*"
            return Value(f"{owner.text.rstrip('/') or ''}/{pattern}", owner.known, glob=True, type=_PATH)
        if method in ("joinpath", "with_name", "with_suffix"):
            return _path((owner, *arguments)) if method == "joinpath" else owner
        if method in ("resolve", "expanduser", "absolute", "as_posix", "relative_to", "samefile", "with_stem"):
            return owner
        if method == "walk":
            return replace(owner, type="walk")
        words = (*self._words(arguments, named, node), word_of(owner, self._span(node), "self"))
        self._emit(f"{_PATH}.{method}", words, self._span(node))
        if method in ("read_text", "read_bytes"):
            return reads_path(owner)
        if method == "open":
            return replace(owner, type="file")
        return replace(owner, known=False) if method in ("rename", "replace") else unknown(method)

    def _words(
        self, arguments: Sequence[Value], named: Sequence[tuple[str, Value]], node: ast.Call
    ) -> tuple[Word, ...]:
        span = self._span(node)
        return (
            *(word_of(value, span) for value in arguments[:64]),
            *(word_of(value, span, name) for name, value in named[:64] if name),
        )

    def _emit(self, name: str, words: tuple[Word, ...], span: Span) -> None:
        self.calls.append(
            Call(
                program=f"python:{name}",
                words=words,
                span=span,
                language=Language.PYTHON,
                sure=self.sure,
                directory=self.directory,
                repeated=self.loops > 0,
            )
        )

    def _unused(self, node: ast.expr) -> None:
        """Adds a call for a file that is opened and closed at once, `open(path, "w").close()`: nothing is written, so
        it ends up empty."""
        if isinstance(node, (ast.ListComp, ast.SetComp)):
            node = node.elt
        function = node.func if isinstance(node, ast.Call) else None
        opened = function.value if isinstance(function, ast.Attribute) and function.attr == "close" else node
        last = self.calls[-1] if self.calls else None
        if last is not None and last.program in _OPENERS and last.span == self._span(opened):
            self._emit(f"{last.program.removeprefix('python:')}.unused", last.words, last.span)

    def _handed_over(self, name: str, arguments: Sequence[Value], named: Sequence[tuple[str, Value]]) -> None:
        """Calls a function that is passed to another one, which calls it: `map(os.remove, files)`,
        `Thread(target=f)`."""
        member = name.rpartition(".")[2]
        if member not in _CALLERS:
            return
        given = [*arguments, *(value for key, value in named if key in ("target", "func", "function"))]
        for at, function in enumerate(given):
            if not function.names:
                continue
            rest = list(given[at + 1 :]) or [value for key, value in named if key == "args"]
            turns = [rest]
            if member in ("map", "filter", "Thread", "Process", "Timer", "apply") and rest:
                turns = [[item] for item in (rest[0].items or (rest[0],))[:MAX_TURNS]]
                if member in ("Thread", "Process", "Timer", "apply"):
                    turns = [list(rest[0].items or ())]
            for turn in turns:
                if function.names.startswith("local:"):
                    self._local(function.names.removeprefix("local:"), turn, [])
                else:
                    span = self.calls[-1].span if self.calls else self._whole()
                    self._emit(_canonical(function.names), tuple(word_of(value, span) for value in turn), span)
            return

    def _result(self, name: str, arguments: Sequence[Value], named: dict[str, Value]) -> Value:
        """Returns the result of a function, as far as words of later calls depend on it."""
        first = arguments[0] if arguments else next(iter(named.values()), None)
        member = name.rpartition(".")[2]
        if name == _PATH:
            return _path(arguments) if arguments else Value(".", type=_PATH)
        if name in ("pathlib.Path.home", "pathlib.Path.cwd"):
            return Value("~" if member == "home" else ".", type=_PATH)
        if name in ("os.getcwd", "os.path.curdir"):
            return constant(".")
        if name in _TEMPORARY:
            return printed(("mktemp", "-d"))
        if name in _TEMPORARY_FILES:
            return replace(printed(("mktemp",)), type="file")
        if name in ("input", "raw_input"):
            return unknown("input")
        if first is None and name in ("os.environ.items", "os.environ.copy", "os.environ.values"):
            return Value(environment.WHOLE, known=False, names=environment.WHOLE)
        if first is None:
            return Value(member, known=False, type=name) if "." in name else unknown(member)
        if name == "os.path.join":
            return replace(_path(arguments), type="")
        if name == "os.path.dirname":
            return replace(_part_of_path(first, "parent"), type="")
        if name == "os.path.basename":
            return replace(_part_of_path(first, "name"), type="")
        if name in _SAME_PATH:
            return first
        if name in _FOUND:
            return Value(f"{first.text.rstrip('/')}/*", first.known, glob=True, type="names")
        if name == "os.walk":
            return replace(first, type="walk", items=None)
        if name in ("glob.glob", "glob.iglob", "fnmatch.filter"):
            return replace(first, glob=True)
        if member == "open" and name not in ("webbrowser.open", "os.open", "shelve.open"):
            return replace(first, type="file", items=None)
        if name in ("os.getenv", "os.environ.get"):
            return Value(f"${first.text}", known=False) if first.known else unknown("variable")
        if name in _FETCHES:
            return fetched(first)
        if name == "urllib.request.Request":
            return replace(first, type=name)
        if name in _PRINTS:
            return replace(printed_by(first), type="printed")
        if name in ("json.load", "json.loads", "json.dumps", "yaml.safe_load", "io.BytesIO", "io.StringIO"):
            return reads_path(first) if first.type == "file" else first
        if name in ("shlex.split",):
            return first
        if name in ("dict",):
            if first.names == environment.WHOLE:
                return first
            return mapped(list(named.items()))
        if name in _TEXT_OF:
            return first
        if "." in name:
            return Value(first.text, known=False, type=name)
        return unknown(member)

    # Functions of the code

    def _local(self, name: str, arguments: Sequence[Value], named: Sequence[tuple[str, Value]]) -> Value:
        function = self.functions.get(name)
        if function is None or name in self.following or len(self.following) >= MAX_FOLLOWED:
            return unknown(name)
        self.called.add(name)
        return self._body(function, self._arguments(function, arguments, named), name)

    def _arguments(
        self, function: _Bound, arguments: Sequence[Value], named: Sequence[tuple[str, Value]]
    ) -> dict[str, Value]:
        spec = function.node.args
        names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
        if function.owner and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        given = dict(zip(names, arguments, strict=False))
        given.update((key, value) for key, value in named if key)
        defaults = [*spec.defaults]
        for name, default in zip(reversed(names), reversed(defaults), strict=False):
            if name not in given:
                given[name] = self._value(default)
        for argument, inner in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if inner is not None and argument.arg not in given:
                given[argument.arg] = self._value(inner)
        if spec.vararg is not None:
            given[spec.vararg.arg] = listed(list(arguments[len(names) :]))
        return given

    def _body(self, function: _Bound, given: dict[str, Value], name: str) -> Value:
        node = function.node
        spec = node.args
        parameters = [argument.arg for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        before, returned = self.variables, self.returned
        self.variables = {**before, **{parameter: unknown(parameter) for parameter in parameters}, **given}
        self.returned = []
        self.following.append(name)
        if isinstance(node, ast.Lambda):
            self.returned.append(self._value(node.body))
        else:
            self._statements(node.body)
        self.following.pop()
        result = self.returned[0] if self.returned else constant("None")
        kept = {key: value for key, value in self.variables.items() if key.startswith("self.")}
        outside = {key for statement in _globals_of(node) for key in statement.names}
        kept.update((key, self.variables[key]) for key in outside if key in self.variables)
        self.variables, self.returned = {**before, **kept}, returned
        return result

    # Positions

    def _whole(self) -> Span:
        return Span(self.offset, self.offset + self.source.origin(len(self.text)))

    def _span(self, node: ast.AST) -> Span:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last, end = getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
        return self._span_of(self._position(line, column), self._position(last, end))

    def _position(self, line: int, column: int) -> int:
        start = self.starts[min(line, len(self.starts)) - 1] if self.starts else 0
        if self.parsed_text.isascii():
            return start + column
        return start + len(self.parsed_text[start : start + column].encode()[:column].decode("utf-8", "ignore"))

    def _span_of(self, start: int, end: int) -> Span:
        first = min(max(start - self.shift, 0), len(self.text))
        last = min(max(end - self.shift, first), len(self.text))
        return Span(self.offset + self.source.origin(first), self.offset + self.source.origin(last))


def _parsed(text: str) -> tuple[ast.Module | None, int]:
    """Returns the tree, or the number of lines before the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text), 0
    except SyntaxError as error:
        return None, max((error.lineno or 1) - 1, 0)
    except (ValueError, RecursionError, MemoryError):
        return None, 0


def _canonical(name: str) -> str:
    for other, usual in _SAME.items():
        if name.startswith(other) and (other.endswith(".") or len(name) == len(other) or name[len(other)] == "."):
            return usual + name[len(other) :]
    return name


def _loaded(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    return target


def _dotted(node: ast.expr) -> str:
    """Returns `a.b.c` as spelled, or "" for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 12:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join((node.id, *reversed(parts)))


def _name_of(node: ast.expr) -> str:
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


def _method_name(function: ast.expr) -> str:
    """Returns a method's name with its receiver; if that is the result of a call, with the name of the called function
    only."""
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
        made = function.value.func
        return f"*.{made.attr}.{function.attr}" if isinstance(made, ast.Attribute) else f"*.{function.attr}"
    return _name_of(function)


def _globals_of(node: _Function) -> Iterator[ast.Global]:
    if not isinstance(node, ast.Lambda):
        yield from (statement for statement in node.body if isinstance(statement, ast.Global))


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


def _joined_by(separator: str, values: Value) -> Value:
    if values.items is None:
        return values
    parts: list[Value] = []
    for at, item in enumerate(values.items):
        parts += [constant(separator), item] if at else [item]
    return joined(parts)


def _path(parts: Sequence[Value]) -> Value:
    """Joins parts of a path; a part that begins with a slash starts again from the root."""
    text, known, glob = "", True, False
    for part in parts:
        if not text or (part.text.startswith("/") and part.type != "names"):
            text, known = part.text, part.known
        else:
            text = f"{text.rstrip('/')}/{bare_name(part)}"
            known = known and part.known
        glob = glob or part.glob
    return Value(text, known, glob, type=_PATH)


def _part_of_path(path: Value, name: str) -> Value:
    text = path.text
    if name == "parent":
        head, slash, _ = text.rstrip("/").rpartition("/")
        return replace(path, text=head if head else ("/" if slash else "."))
    if name in ("name", "stem", "suffix"):
        return Value(text.rstrip("/").rpartition("/")[2], path.known, path.glob)
    if name in ("parents", "parts"):
        return unknown(name)
    return Value(f"{_PATH}.{name}", known=False) if name not in ("anchor", "drive") else constant("/")


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
