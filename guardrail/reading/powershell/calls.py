"""Follows calls of cmdlets, functions and .NET methods, as far as their results are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from guardrail.model import Call, Redirection, Span, Word
from guardrail.reading.cmd import read as read_cmd
from guardrail.reading.code_values import (
    Value,
    constant,
    fetched,
    joined,
    listed,
    printed,
    reads_path,
    unknown,
    word_of,
)
from guardrail.reading.decoding import from_base64
from guardrail.reading.powershell.names import ALIASES, METHODS, SAME_TYPES, VERBS
from guardrail.reading.powershell.reader import MAX_DEPTH, MAX_FOLLOWED, MAX_TURNS, Block, Reader

_FORMAT = re.compile(r"\{(\d{1,2})[^{}]{0,20}\}")
_ENCODED = re.compile(r"(?i)[-/]e(?:c|nc|nco|ncod|ncode|ncoded|ncodedc\w*)?$")
_SHELLS = frozenset(("powershell", "pwsh"))
_GETS = frozenset(("get-childitem", "get-item", "resolve-path", "get-process", "get-service", "convert-path"))
_FETCHES = frozenset(("invoke-webrequest", "invoke-restmethod"))
_PASSES = frozenset(
    (
        *("where-object", "select-object", "sort-object", "tee-object", "out-string", "write-output", "get-unique"),
        *("select-string", "out-null", "convertfrom-json", "convertto-json", "get-random", "group-object"),
    )
)
_TAKES_PIPE = frozenset(
    (
        *("remove", "clear", "stop", "move", "copy", "rename", "set", "restart", "disable", "uninstall", "unregister"),
        *("suspend", "start", "enable", "revoke", "format", "reset", "grant", "update", "kill", "dismount", "add"),
    )
)
_NAMED = frozenset(
    ("-path", "-literalpath", "-name", "-id", "-identity", "-filepath", "-fullname", "-inputobject", "-taskname")
)
_QUIET_METHODS = frozenset(
    (
        *("tostring", "add", "addrange", "gettype", "getenumerator", "containskey", "contains", "equals", "startswith"),
        *(
            "endswith",
            "indexof",
            "close",
            "dispose",
            "flush",
            "write",
            "writeline",
            "append",
            "appendline",
            "readtoend",
        ),
        *("trim", "trimend", "trimstart", "toarray", "tolower", "toupper", "split", "substring", "getbytes", "padleft"),
        *("padright", "readline", "getmethod", "getfield", "getproperty", "count", "refresh", "waitforexit", "wait"),
    )
)
_REFLECTION = frozenset(("gettype", "getfield", "getmethod"))
_OF_RESPONSES = frozenset(
    (
        *("getresponse", "getresponsestream", "getresult", "getawaiter", "readtoend", "readasstringasync", "result"),
        *("readasbytearrayasync", "content", "getresponseasync"),
    )
)
_SAME_METHODS = frozenset(("tostring", "trim", "trimend", "trimstart", "readtoend", "toarray", "tolower", "toupper"))
_SWITCHES = frozenset(
    (
        *(
            "-recurse",
            "-r",
            "-force",
            "-f",
            "-fo",
            "-file",
            "-directory",
            "-hidden",
            "-raw",
            "-usebasicparsing",
            "-useb",
        ),
        *("-passthru", "-confirm", "-whatif", "-verbose", "-wait", "-nonewwindow", "-quiet", "-system", "-s", "-rec"),
        *("-recu", "-recur", "-usebasicparsi", "-asplaintext", "-allusers", "-includeusername", "-expand"),
    )
)
_OPTION_NAMES = {
    "-com": "-comobject",
    "-comobj": "-comobject",
    "-type": "-typename",
    "-fullname": "-path",
    "-pa": "-path",
    "-lit": "-literalpath",
    "-u": "-uri",
}
_COMMON = frozenset(
    (
        *("-erroraction", "-ea", "-warningaction", "-wa", "-informationaction", "-infa", "-progressaction", "-proga"),
        *("-errorvariable", "-ev", "-warningvariable", "-wv", "-informationvariable", "-iv", "-outvariable", "-ov"),
        *("-outbuffer", "-ob", "-pipelinevariable", "-pv", "-erro", "-errora"),
    )
)
_MOST_FOUND = 64
_COMPARES_NAMES = re.compile(
    r"\s*\$(?:_|PSItem)\.(?:Base)?Name\s+-i?(?:in|eq)\s+(?:@\(\s*)?['\"][\w.-]{1,60}['\"]"
    r"(?:\s*,\s*['\"][\w.-]{1,60}['\"]){0,20}\s*\)?\s*",
    re.I,
)
_QUOTED_NAME = re.compile(r"['\"]([\w.-]+)['\"]")
_EACH = frozenset(("remove", "clear", "stop", "get", "restart", "disable", "uninstall", "unregister", "suspend"))


@dataclass(slots=True)
class Argument:
    """An argument of a command: a parameter's name or a value."""

    value: Value
    parameter: bool = False


class Calls(Reader):
    """Follows calls."""

    def _command(
        self,
        name: str,
        arguments: list[Argument],
        redirections: tuple[Redirection, ...],
        span: Span,
        stdin: Call | Word | None,
        fed: Value | None,
    ) -> tuple[Value, Call | None]:
        lowered = name.lower().replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".exe")
        lowered = ALIASES.get(lowered, lowered)
        cmdlet = _is_cmdlet(lowered)
        if lowered in self.functions and lowered not in self.following and len(self.following) < MAX_FOLLOWED:
            return self._function(lowered, arguments, fed), None
        if lowered in ("foreach-object", "where-object"):
            return self._each(lowered, arguments, stdin, fed, span)
        if lowered in _SHELLS or lowered == "cmd":
            arguments = _decoded_shell(arguments)
        if cmdlet:
            arguments = _without_common(arguments)
        words = [word_of(value, span) for argument in arguments for value in _spread(argument.value, lowered)]
        if cmdlet and fed is not None and self._is_fed(lowered, arguments, fed):
            words += [word_of(value, span) for value in _spread(fed, lowered)]
            if fed.type == "files":
                stdin = None  # the words name what the pipe passes on
        if lowered == "set-location" and words:
            self.directory = next((word for word in words if not word.text.startswith("-")), self.directory)
        program = f"ps:{lowered}" if cmdlet else lowered
        path = name if not cmdlet and ("\\" in name or "/" in name) else ""
        call = self._emit(program, tuple(words), span, redirections, stdin, path.replace("\\", "/"))
        if lowered == "start-process":
            self._started(arguments, span)
        if lowered == "invoke-expression" and self.socket is not None and not all(word.known for word in words):
            self._emit("ps:*.runwhatcomes", (word_of(self.socket, span),), span, (), None)
        if lowered == "new-alias" or lowered == "set-alias":
            self._alias(arguments)
        return self._result(lowered, arguments, fed), call

    def _alias(self, arguments: list[Argument]) -> None:
        given = [argument.value.text.lower() for argument in arguments if not argument.parameter]
        if len(given) >= 2:
            self.functions.pop(given[0], None)
            at = self.text.lower().find(given[1])
            if at >= 0:
                self.functions[given[0]] = Block(at, at + len(given[1]))

    def _is_fed(self, name: str, arguments: list[Argument], fed: Value) -> bool:
        """Decides whether a cmdlet gets its input from the pipe."""
        if name.partition("-")[0] not in _TAKES_PIPE or name in ("set-content", "add-content", "set-variable"):
            return False
        return all(
            argument.parameter and argument.value.text.lower().partition(":")[0] not in _NAMED for argument in arguments
        ) and bool(fed.text)

    def _each(
        self, name: str, arguments: list[Argument], stdin: Call | Word | None, fed: Value | None, span: Span
    ) -> tuple[Value, Call | None]:
        """Reads `| % {…}`: the block runs with `$_` set to the piped value."""
        before = self.variables.get("_")
        value = fed or unknown("item")
        result = value
        count = len(self.calls)
        turns = turns_of(value) if name == "foreach-object" else [value]
        for turn in turns:
            for argument in arguments:
                if argument.value.type == "block":
                    self.variables["_"] = self.variables["psitem"] = turn
                    result = self._run_block(argument.value)
        if name == "foreach-object":
            method = next((a.value.text for a in arguments if not a.parameter and a.value.type != "block"), "")
            if method.isidentifier():
                result = self._method(value, method.lower(), [], span)
        if before is None:
            self.variables.pop("_", None)
        else:
            self.variables["_"] = before
        if name == "where-object":
            if value.type == "files" and (named := self._names_compared(arguments)):
                value = _named_children(value, named)
            return replace(value, glob=value.glob), stdin if isinstance(stdin, Call) else None
        return result, self.calls[-1] if len(self.calls) > count else None

    def _names_compared(self, arguments: list[Argument]) -> list[str]:
        """Returns the names that a filter lets pass: `{ $_.Name -in 'bin','obj' }`."""
        blocks = [argument.value.names.partition(":") for argument in arguments if argument.value.type == "block"]
        if len(blocks) != 1 or not blocks[0][0].isdecimal():
            return []
        found = _COMPARES_NAMES.fullmatch(self.text, int(blocks[0][0]), int(blocks[0][2]))
        return _QUOTED_NAME.findall(found[0]) if found is not None else []

    def _run_block(self, block: Value) -> Value:
        start, _, end = block.names.partition(":")
        if self.depth >= MAX_DEPTH or not start.isdecimal():
            return unknown()
        outer = self.end
        self.end = max(int(end), self.end)
        value = self._inside(Block(int(start), int(end)))
        self.end = outer
        return value

    def _function(self, name: str, arguments: list[Argument], fed: Value | None) -> Value:
        block = self.functions[name]
        self.called.add(name)
        given: dict[str, Value] = {"args": listed([argument.value for argument in arguments])}
        names = _parameters(self.text, block)
        positional: list[Value] = []
        at = 0
        while at < len(arguments):
            argument = arguments[at]
            spelled = argument.value.text[1:].lower()
            if argument.parameter and spelled in names and at + 1 < len(arguments):
                given[spelled] = arguments[at + 1].value
                at += 2
                continue
            if not argument.parameter:
                positional.append(argument.value)
            at += 1
        free = [parameter for parameter in names if parameter not in given]
        given.update(zip(free, positional, strict=False))
        if fed is not None:
            given["_"] = given["input"] = fed
        self.following.append(name)
        value = self._body(block, given)
        self.following.pop()
        return value

    def _started(self, arguments: list[Argument], span: Span) -> None:
        """Adds the call of the program that Start-Process starts, with its arguments."""
        file, given = "", ""
        positional: list[str] = []
        at = 0
        while at < len(arguments):
            spelled = arguments[at].value.text.lower()
            if arguments[at].parameter and ":" not in spelled and at + 1 < len(arguments):
                following = arguments[at + 1]
                if not following.parameter and spelled in ("-filepath", "-argumentlist", "-args", "-file"):
                    if spelled.startswith("-f"):
                        file = following.value.text
                    else:
                        given = _spaced(following.value)
                    at += 2
                    continue
                if spelled in ("-verb", "-windowstyle", "-workingdirectory", "-credential"):
                    at += 2
                    continue
            elif not arguments[at].parameter:
                positional.append(_spaced(arguments[at].value))
            at += 1
        file = file or (positional.pop(0) if positional else "")
        given = given or (positional[0] if positional else "")
        if file and given:
            reading = read_cmd(f'"{file}" {given}' if " " in file else f"{file} {given}", offset=span.start)
            self.calls += [replace(call, span=span, sure=call.sure and self.sure) for call in reading.calls[:20]]

    def _method(self, value: Value, name: str, arguments: list[Value], span: Span) -> Value:
        """Reads a call of a method."""
        if name in ("invoke", "invokereturnasis", "invokewithcontext"):
            if value.type == "block":
                return self._run_block(value)
            if value.names and "]::" in value.names:
                type_name, _, member = value.names.rpartition("::")
                return self._method(replace(value, names=type_name), member.removesuffix(".invoke"), arguments, span)
            if value.names.startswith("method:"):
                _, member = value.names.split(":", 1)
                return self._method(replace(value, names=""), member, arguments, span)
        static = _computed(value, name, arguments)
        if static is not None:
            return static
        words = tuple(word_of(argument, span) for argument in arguments)
        if value.names.startswith("["):
            kind = value.names.strip("[]")
            if kind == "scriptblock" and name == "create" and arguments:
                return Value(arguments[0].text, arguments[0].known, type="code")
            cmdlet = METHODS.get(f"[{kind}]::{name}")
            if cmdlet is not None:
                return self._as_cmdlet(cmdlet, words, span, arguments)
            self._emit(f"ps:[{kind}]::{name}", words, span, (), None)
            if name == "create" and kind.endswith("webrequest") and arguments:
                return fetched(arguments[0])
            if name in ("readalltext", "readallbytes", "readalllines", "openread", "readlines") and arguments:
                return reads_path(arguments[0])
            return Value(f"$({name})", known=False, type=kind)
        if value.type == "code":
            self._emit("ps:invoke-expression", (word_of(value, span),), span, (), None)
            return unknown()
        if value.type == "executioncontext" or name == "invokescript":
            self._emit("ps:invoke-expression", words[-1:], span, (), None)
            return unknown()
        if name == "createshortcut" and words:
            self._emit("ps:set-content", words[:1], span, (), None)
            return unknown("shortcut")
        if value.type in ("wscript.shell", "shell.application") and name in ("run", "exec", "shellexecute") and words:
            line = " ".join(_spaced(argument) for argument in arguments[: 2 if name == "shellexecute" else 1])
            reading = read_cmd(line, offset=span.start)
            self.calls += [replace(call, span=span, sure=call.sure and self.sure) for call in reading.calls[:20]]
            return unknown()
        if value.type in ("files", "content") or (value.glob and value.type == ""):
            cmdlet = {
                "delete": "remove-item",
                "moveto": "move-item",
                "copyto": "copy-item",
                "kill": "stop-process",
            }.get(name)
            if cmdlet is not None:
                self._emit(f"ps:{cmdlet}", (word_of(value, span), *words), span, (), None)
                return unknown()
        if name == "open" and value.type.endswith("http") and len(arguments) > 1:
            self.opened = fetched(arguments[1])
        if name == "getstream" and "sockets." in value.type:
            self.socket = value
        if value.type == "response" and name in _OF_RESPONSES:
            return value
        if name in ("kill", "stop", "terminate") and not arguments:
            self._emit("ps:stop-process", (word_of(value, span),), span, (), None)
            return unknown()
        if name in _QUIET_METHODS and not (name in _REFLECTION and arguments):
            return value if name in _SAME_METHODS else unknown(name)
        kind = value.type or "*"
        self._emit(f"ps:{kind}.{name}", (*words, word_of(value, span, "self")), span, (), None)
        if name.startswith(("downloadstring", "downloaddata", "openread", "getstringasync", "getasync")) and arguments:
            return fetched(arguments[0])
        return unknown(name)

    def _as_cmdlet(self, cmdlet: str, words: tuple[Word, ...], span: Span, arguments: list[Value]) -> Value:
        """Emits a .NET method as the cmdlet with the same effect."""
        name, *parameters = cmdlet.split()
        if name == "remove-item" and len(words) > 1 and "true" in words[1].text.lower():
            parameters.append("-Recurse")
        if name in ("remove-item", "get-content", "get-childitem"):
            words = words[:1]
        if name == "start-process":
            self._started([Argument(argument) for argument in arguments], span)
        extra = tuple(Word(parameter, span) for parameter in parameters)
        self._emit(f"ps:{name}", (*words, *extra), span, (), None)
        if name == "get-content" and arguments:
            return reads_path(arguments[0])
        if name == "get-childitem" and arguments:
            return Value(f"{arguments[0].text.rstrip('/')}/*", arguments[0].known, glob=True, type="files")
        return unknown()

    def _result(self, name: str, arguments: list[Argument], fed: Value | None) -> Value:
        """Returns the value that a command passes to the pipe or to a variable."""
        values = _positional(arguments)
        options = _options(arguments)
        first = values[0] if values else None
        if name in _GETS:
            given = next((options[key] for key in ("-path", "-literalpath", "-name", "-id") if key in options), first)
            if name == "get-childitem":
                wanted = next((options[key] for key in ("-include", "-filter") if key in options), constant("*"))
                return _children(given, wanted)
            if given is None:
                return fed if fed is not None else Value("*", glob=True)
            return replace(given, type="files")
        if name in _FETCHES:
            url = options.get("-uri", first)
            return fetched(url) if url is not None else unknown()
        if name == "get-content":
            path = options.get("-path", options.get("-literalpath", first))
            return reads_path(path) if path is not None else unknown()
        if name == "new-object":
            kind = options.get("-comobject", options.get("-typename", first))
            if kind is None:
                return unknown()
            inner = values[1] if len(values) > 1 else None
            if inner is not None and inner.type == "response":
                return inner
            if inner is not None and inner.known:
                return Value(inner.text, inner.known, type=full_type(kind.text.partition("(")[0]))
            return Value("object", known=False, type=full_type(kind.text.partition("(")[0]))
        if name == "join-path":
            parts = [*(options[key] for key in ("-path",) if key in options), *values]
            parts += [options[key] for key in ("-childpath",) if key in options]
            return joined([joined((part, constant("/"))) for part in parts[:-1]] + parts[-1:]) if parts else unknown()
        if name in ("convertto-securestring", "write-output", "out-string", "get-variable", "split-path") and first:
            return first
        if name in ("select-object", "sort-object") or name in _PASSES:
            return fed or first or unknown()
        if name == "new-temporaryfile":
            return printed(("mktemp",))
        if name in ("get-credential", "read-host"):
            return unknown("input")
        if name.startswith("get-") and first is not None:
            return Value(first.text, first.known, glob=True)
        if name.startswith("get-"):
            return Value("*", glob=True, known=True)
        if name == "echo" and first is not None:
            return first
        text = " ".join((name, *(argument.value.text for argument in arguments[:12])))
        return Value(f"$({text})", known=False)


def _children(given: Value | None, wanted: Value) -> Value:
    """Returns the files that Get-ChildItem finds: `-Include bin,obj` finds two names in each directory."""
    directories = (given.items or (given,)) if given is not None else (constant("."),)
    names = wanted.items or (wanted,)
    if len(directories) * len(names) > _MOST_FOUND:
        names = (constant("*"),)
    children = [_child(directory, name) for directory in directories for name in names]
    return replace(listed(children), glob=True, type="files") if len(children) > 1 else children[0]


def _named_children(found: Value, names: Sequence[str]) -> Value:
    """Returns the files that keep a name, of those that Get-ChildItem finds in a directory."""
    if not found.text.endswith("/*"):
        return found
    return _children(
        replace(found, text=found.text[: -len("*")], glob=False), listed([constant(name) for name in names])
    )


def _child(directory: Value, name: Value) -> Value:
    text = directory.text if directory.glob else directory.text.rstrip("\\/") + "/" + name.text
    return Value(text, directory.known, glob=True, type="files")


def _is_cmdlet(name: str) -> bool:
    verb, dash, noun = name.partition("-")
    return bool(dash) and verb in VERBS and noun.isalnum()


def full_type(name: str) -> str:
    """Returns a type's name in lower case with its namespace."""
    lowered = name.lower().strip("'\"")
    if lowered in SAME_TYPES:
        return SAME_TYPES[lowered]
    if lowered.startswith(("io.", "net.", "text.", "diagnostics.", "reflection.", "security.", "management.", "web.")):
        return f"system.{lowered}"
    return lowered


def turns_of(value: Value) -> list[Value]:
    if value.items:
        return list(value.items[:MAX_TURNS])
    return [value]


def _positional(arguments: Sequence[Argument]) -> list[Value]:
    """Returns the values that belong to no parameter. A parameter is assumed to have a value, except for common
    switches."""
    values: list[Value] = []
    for at, argument in enumerate(arguments):
        before = arguments[at - 1] if at else None
        if argument.parameter:
            continue
        if before is not None and before.parameter and before.value.text.lower() not in _SWITCHES:
            continue
        values.append(argument.value)
    return values


def _options(arguments: Sequence[Argument]) -> dict[str, Value]:
    options: dict[str, Value] = {}
    for at, argument in enumerate(arguments):
        if not argument.parameter:
            continue
        name, colon, value = argument.value.text.partition(":")
        if colon:
            options[name.lower()] = replace(argument.value, text=value)
        elif at + 1 < len(arguments) and not arguments[at + 1].parameter:
            options[_OPTION_NAMES.get(name.lower(), name.lower())] = arguments[at + 1].value
    return options


def _without_common(arguments: list[Argument]) -> list[Argument]:
    """Removes the parameters that every cmdlet has, which control how it reports errors."""
    kept: list[Argument] = []
    skipped = False
    for argument in arguments:
        name = argument.value.text.lower()
        if argument.parameter:
            skipped = False
            if name.partition(":")[0] in _COMMON:
                skipped = ":" not in name
                continue
        elif skipped:
            skipped = False
            continue
        kept.append(argument)
    return kept


def _spread(value: Value, name: str) -> Sequence[Value]:
    """Returns the elements of a list, for cmdlets that treat each like a single value."""
    if value.items and name.partition("-")[0] in _EACH:
        return value.items
    return (value,)


def _spaced(value: Value) -> str:
    if value.items is not None:
        return " ".join(item.text for item in value.items)
    return value.text


def _decoded_shell(arguments: list[Argument]) -> list[Argument]:
    """Decodes an encoded command in the arguments of a started PowerShell."""
    for at, argument in enumerate(arguments[:-1]):
        if _ENCODED.match(argument.value.text):
            decoded = from_base64(arguments[at + 1].value.text)
            if decoded is not None:
                return [*arguments[:at], Argument(constant("-Command"), True), Argument(constant(decoded))]
    return arguments


def _parameters(text: str, block: Block) -> list[str]:
    """Returns the names of a function's parameters, in order."""
    head = text[max(block.start - 400, 0) : block.start - 1].rstrip()
    spelled = ""
    if head.endswith(")"):
        opened = head.rfind("(")
        spelled = head[opened:]
    body = text[block.start : block.end]
    found = re.compile(r"\s*(?:\[CmdletBinding\([^)]*\)\]\s*)?param\s*\(", re.I).match(body)
    if found is not None:
        depth, at = 1, found.end()
        while at < len(body) and depth and at < found.end() + 2_000:
            depth += (body[at] == "(") - (body[at] == ")")
            at += 1
        spelled = body[found.end() : at]
    names = [name.lower() for name in re.findall(r"\$(\w+)", spelled)]
    return [name for name in dict.fromkeys(names) if name not in ("true", "false", "null")]


def operated(operator: str, left: Value, right: Value) -> Value:
    """Returns the result of a binary operator on two values."""
    if operator == "+":
        if left.items is not None:
            return listed((*left.items, *(right.items or (right,))))
        return joined((left, right))
    if operator == "f" and left.known:
        given = right.items if right.items is not None else (right,)
        parts: list[Value] = []
        end = 0
        for found in _FORMAT.finditer(left.text):
            number = int(found[1])
            parts += [constant(left.text[end : found.start()]), given[number] if number < len(given) else unknown()]
            end = found.end()
        return joined((*parts, constant(left.text[end:])))
    if operator == "join":
        items = left.items or (left,)
        pieces: list[Value] = []
        for at, item in enumerate(items):
            pieces += [right, item] if at else [item]
        return joined(pieces)
    if operator in ("replace", "ireplace", "creplace") and left.known:
        given = right.items if right.items is not None else (right,)
        old, new = given[0].text, given[1].text if len(given) > 1 else ""
        plain = re.sub(r"\\(.)", r"\1", old)
        if plain and len(left.text) * (len(new) + 1) < 1_000_000:
            return constant(re.sub(re.escape(plain), new.replace("\\", "\\\\"), left.text, flags=re.I))
        return left
    if operator in ("split", "isplit", "csplit") and left.known and right.known and right.text:
        return listed([constant(part) for part in left.text.split(right.text.replace("\\", ""))[:64]])
    if operator == "*" and left.known and right.text.isdecimal() and len(right.text) < 4:
        return constant(left.text * int(right.text))
    if operator == ".." and left.text.lstrip("-").isdecimal() and right.text.lstrip("-").isdecimal():
        first, last = int(left.text[:6]), int(right.text[:6])
        step = 1 if last >= first else -1
        return listed([constant(str(number)) for number in range(first, last + step, step)[:64]])
    if operator == "as":
        return left
    return unknown("result")


def _computed(value: Value, name: str, arguments: list[Value]) -> Value | None:
    """Returns the result of a method on constant text, or None for methods that do more."""
    known = all(argument.known for argument in arguments)
    if value.names.startswith("["):
        if name == "frombase64string" and arguments and known:
            decoded = from_base64(arguments[0].text)
            return constant(decoded) if decoded is not None else unknown("bytes")
        if name in ("getstring", "getbytes", "tochararray", "tostring", "todouble", "toint32", "tochar") and arguments:
            return arguments[0]
        if name in ("unescape", "unescapedatastring", "expandenvironmentvariables", "getfullpath") and arguments:
            return arguments[0]
        if value.names in ("[string]", "[system.string]") and arguments:
            if name == "join" and len(arguments) > 1:
                items = arguments[1].items or tuple(arguments[1:])
                return operated("join", listed(items), arguments[0])
            if name == "concat":
                return joined(arguments)
            if name == "format" and known:
                return operated("f", arguments[0], listed(arguments[1:]))
        if name == "combine" and arguments:
            return joined([joined((part, constant("/"))) for part in arguments[:-1]] + arguments[-1:])
        if name in ("gettempfilename", "gettemppath"):
            return Value("$env:TEMP/", known=False)
        if name == "getenvironmentvariable" and arguments:
            return Value(f"$env:{arguments[0].text}", known=False)
        if name == "getfolderpath" and arguments:
            return Value("~", known=True)
        if name == "new":
            return (
                Value("object", known=False, type=value.names.strip("[]"))
                if not arguments
                else replace(arguments[0], type=value.names.strip("[]"), items=None)
            )
        return None
    if value.type == "":
        if name == "replace" and value.known and known and len(arguments) > 1 and arguments[0].text:
            return constant(value.text[:16_384].replace(arguments[0].text, arguments[1].text[:256]))
        if name in ("tolower", "toupper") and value.known:
            return constant(value.text.lower() if name == "tolower" else value.text.upper())
        if name in ("trim", "trimstart", "trimend") and value.known:
            return constant(value.text.strip(arguments[0].text if arguments and arguments[0].text else None))
        if (
            name == "substring"
            and value.known
            and all(re.fullmatch(r"\d{1,5}", a.text) for a in arguments)
            and arguments
        ):
            start = int(arguments[0].text)
            return constant(
                value.text[start : start + int(arguments[1].text)] if len(arguments) > 1 else value.text[start:]
            )
        if name == "split" and value.known and arguments and arguments[0].text:
            return listed([constant(part) for part in value.text.split(arguments[0].text)[:64]])
        if name in ("tostring", "tochararray", "normalize", "clone"):
            return value
        if name == "insert" and value.known and len(arguments) == 2 and arguments[0].text.isdecimal():
            at = int(arguments[0].text[:5])
            return constant(value.text[:at] + arguments[1].text + value.text[at:])
    return None
