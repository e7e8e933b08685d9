"""Reads calls: their names and arguments, what they return, and the functions of the code that they run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from guardrail import environment
from guardrail.model import Call, Span, Word
from guardrail.reading.code_values import (
    Value,
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
from guardrail.reading.python.reader import Bound, Function
from guardrail.reading.python.text import changed_bytes, changed_text, decoded, formatted
from guardrail.reading.python.values import PATH, Values, canonical_name, dotted_name, name_of, part_of_path, path_of
from guardrail.vocabulary import Language

MAX_FOLLOWED = 6  # nested calls of functions
MAX_TURNS = 64  # turns of a loop over known values
# Methods of Python's own types, files and responses: they change nothing outside the program.
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


class Calls(Values):
    """Adds calls: of functions that the catalogue may know, of methods of texts and paths, of functions of the code."""

    def _call(self, node: ast.Call) -> Value:
        function = node.func
        owner: Value | None = None
        if isinstance(function, ast.Attribute) and dotted_name(function) not in self.variables:
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
            spelled = name_of(function)
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
        name = canonical_name(name)
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
        if owner.type == PATH:
            return self._path_method(owner, method, arguments, named, node)
        if owner.items is not None and method in ("append", "extend", "insert"):
            function = node.func
            added = arguments[-1:]
            if method == "extend" and added:
                added = list(added[0].items or added)
            value = listed((*owner.items, *added))
            if isinstance(function, ast.Attribute) and (target := dotted_name(function.value)):
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
            self._emit(canonical_name(full), words, self._span(node))
            self._handed_over(method, arguments, named)
        return replace(unknown(method), type=owner.type)

    def _path_method(
        self, owner: Value, method: str, arguments: list[Value], named: list[tuple[str, Value]], node: ast.Call
    ) -> Value:
        if method in ("glob", "rglob", "iterdir"):
            pattern = arguments[0].text if arguments else "*"
            return Value(f"{owner.text.rstrip('/') or ''}/{pattern}", owner.known, glob=True, type=PATH)
        if method in ("joinpath", "with_name", "with_suffix"):
            return path_of((owner, *arguments)) if method == "joinpath" else owner
        if method in ("resolve", "expanduser", "absolute", "as_posix", "relative_to", "samefile", "with_stem"):
            return owner
        if method == "walk":
            return replace(owner, type="walk")
        words = (*self._words(arguments, named, node), word_of(owner, self._span(node), "self"))
        self._emit(f"{PATH}.{method}", words, self._span(node))
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
        """Follows a function that is passed to another one, which calls it: `map(os.remove, files)`,
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
                    self._emit(canonical_name(function.names), tuple(word_of(value, span) for value in turn), span)
            return

    def _result(self, name: str, arguments: Sequence[Value], named: dict[str, Value]) -> Value:
        """Returns the result of a function, as far as words of later calls depend on it."""
        first = arguments[0] if arguments else next(iter(named.values()), None)
        member = name.rpartition(".")[2]
        if name == PATH:
            return path_of(arguments) if arguments else Value(".", type=PATH)
        if name in ("pathlib.Path.home", "pathlib.Path.cwd"):
            return Value("~" if member == "home" else ".", type=PATH)
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
            return replace(path_of(arguments), type="")
        if name == "os.path.dirname":
            return replace(part_of_path(first, "parent"), type="")
        if name == "os.path.basename":
            return replace(part_of_path(first, "name"), type="")
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

    def _local(self, name: str, arguments: Sequence[Value], named: Sequence[tuple[str, Value]]) -> Value:
        function = self.functions.get(name)
        if function is None or name in self.following or len(self.following) >= MAX_FOLLOWED:
            return unknown(name)
        self.called.add(name)
        return self._body(function, self._arguments(function, arguments, named), name)

    def _arguments(
        self, function: Bound, arguments: Sequence[Value], named: Sequence[tuple[str, Value]]
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

    def _body(self, function: Bound, given: dict[str, Value], name: str) -> Value:
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


def _method_name(function: ast.expr) -> str:
    """Returns a method's name with its receiver; if the receiver is the result of a call, with only the name of the
    called function."""
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
        made = function.value.func
        return f"*.{made.attr}.{function.attr}" if isinstance(made, ast.Attribute) else f"*.{function.attr}"
    return name_of(function)


def _globals_of(node: Function) -> Iterator[ast.Global]:
    if not isinstance(node, ast.Lambda):
        yield from (statement for statement in node.body if isinstance(statement, ast.Global))


def _joined_by(separator: str, values: Value) -> Value:
    if values.items is None:
        return values
    parts: list[Value] = []
    for at, item in enumerate(values.items):
        parts += [constant(separator), item] if at else [item]
    return joined(parts)
