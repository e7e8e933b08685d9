"""Reads Dockerfiles and CI workflows: finds the commands in them and determines where and how they run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import NamedTuple

import yaml

from guardrail.model import Call, Effect, Passage, Reading, Span, Target, Uncovered, Word
from guardrail.reading.decoding import Normalised, normalise
from guardrail.reading.pull_requests import checkouts_that_run, scripts_with_texts
from guardrail.reading.shell import read_script
from guardrail.reading.shell.text import Budget
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place

BUILD_HOST = "image:build"  # the host of RUN: the image that is being built
MAX_DEPTH = 60
MAX_NODES = 20_000
MAX_SCRIPTS = 1_500

# --- Dockerfile ------------------------------------------------------------------------------------------------------

_ESCAPE = re.compile(r"(?:[ \t]*#[ \t]*\w+[ \t]*=[^\n]*\n)*?[ \t]*#[ \t]*escape[ \t]*=[ \t]*([\\`])", re.I)
_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)(?:[ \t]+|$)")
_FLAG = re.compile(r"--[a-z][a-z-]*(?:=(?:\"[^\"]*\"|[^\s\"])*)?[ \t]*")
_HERE_DOCUMENT = re.compile(r"<<(-?)[ \t]*(?:\"([\w.-]+)\"|'([\w.-]+)'|([\w.-]+))")
_PAIR = re.compile(
    # Only at the beginning of a run of such characters: starting again inside the run would take quadratic time.
    r"(?<![\w.-])(?:(?![A-Za-z_])[\w.-])*+([A-Za-z_][\w.-]*+)=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?:[^\s\\]|\\.)*)"
)
_INSTRUCTIONS = frozenset(
    {
        "ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER",
        "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR",
    }
)  # fmt: skip


class _Instruction(NamedTuple):
    """An instruction with its text, with continued lines joined as by the builder, and its here-documents."""

    name: str
    text: Normalised
    span: Span
    documents: tuple[Normalised, ...]


@dataclass(slots=True)
class _Build:
    """The settings that the previous instructions left."""

    variables: dict[str, str] = field(default_factory=dict)
    directory: Word | None = None
    shell: Language | None = Language.BASH
    budget: Budget = field(default_factory=Budget)
    found: Found = field(default_factory=lambda: Found(Language.DOCKERFILE))


def _on_host(calls: Sequence[Call], sure: bool, host: str | None) -> Iterator[Call]:
    """Yields the calls with a host, unless they already have one. They are sure only if `sure` is true."""
    return changed(calls, lambda call: replace(call, sure=call.sure and sure, host=call.host or host))


def changed(calls: Sequence[Call], change: Callable[[Call], Call]) -> Iterator[Call]:
    """Yields the changed calls. Pipes between the original calls connect the changed ones."""
    moved: dict[int, Call] = {}
    for call in calls:
        stdin = moved.get(id(call.stdin), call.stdin) if isinstance(call.stdin, Call) else call.stdin
        moved[id(call)] = replace(change(call), stdin=stdin)
        yield moved[id(call)]


@dataclass(slots=True)
class Found:
    """The parts that have been read so far."""

    language: Language
    calls: list[Call] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    uncovered: list[Uncovered] = field(default_factory=list)

    def add(self, reading: Reading, *, sure: bool = True, host: str | None = None) -> None:
        """Adds a reading of what runs on `host`. Its calls are sure only if `sure` is true."""
        self.calls += _on_host(reading.calls, sure, host) if host or not sure else reading.calls
        self.effects += [replace(effect, sure=effect.sure and sure) for effect in reading.effects]
        self.passages += reading.passages
        self.uncovered += reading.uncovered

    def reading(self) -> Reading:
        """Returns all parts as one reading."""
        return Reading(
            self.language,
            calls=tuple(self.calls),
            effects=tuple(self.effects),
            passages=tuple(self.passages),
            uncovered=tuple(self.uncovered),
        )


def read_dockerfile(text: str, *, offset: int = 0) -> Reading:
    """Returns the commands that a Dockerfile runs when an image is built, and (not sure) when a container starts."""
    build = _Build()
    for count, instruction in enumerate(_instructions(normalise(text), offset)):
        if count >= MAX_SCRIPTS:
            rest = Span(instruction.span.start, offset + len(text))
            build.found.uncovered.append(Uncovered(rest, "more instructions than are read from one file", stopped=True))
            break
        _build_step(build, instruction, sure=True)
    return build.found.reading()


def _build_step(build: _Build, instruction: _Instruction, *, sure: bool) -> None:
    name, text = instruction.name, instruction.text.text
    if name not in _INSTRUCTIONS:
        build.found.uncovered.append(Uncovered(instruction.span, f"{name[:20]} is not a Dockerfile instruction"))
    elif name == "RUN":
        _run(build, instruction, sure=sure)
    elif name in ("CMD", "ENTRYPOINT"):
        _run(build, instruction, sure=False)
    elif name in ("HEALTHCHECK", "ONBUILD"):
        match = re.match(r"(?:--[a-z-]+=\S*[ \t]*)*([A-Za-z]+)[ \t]+", text)
        if match and match[1].upper() not in ("NONE", "ONBUILD"):
            inner = _inner(instruction, match[1].upper(), match.end())
            _build_step(build, inner, sure=False)
    elif name in ("ENV", "ARG"):
        _set_variables(build, text)
    elif name == "WORKDIR":
        _change_directory(build, instruction)
    elif name == "SHELL":
        _set_shell(build, text)
    elif name == "ADD":
        _add(build, instruction, sure=sure)
    elif name == "COPY" and instruction.documents:
        build.found.passages += [
            Passage(document.text, instruction.span) for document in instruction.documents if document.text.strip()
        ]


def _inner(instruction: _Instruction, name: str, start: int) -> _Instruction:
    """Returns the instruction inside another one, which begins at `start` of its text."""
    return instruction._replace(name=name, text=_part(instruction.text, start, len(instruction.text.text)))


def _run(build: _Build, instruction: _Instruction, *, sure: bool) -> None:
    text = instruction.text
    start = 0
    while match := _FLAG.match(text.text, start):
        start = match.end()
    rest = text.text[start:].strip()
    words = _exec_form(rest)
    if words is not None:
        given = tuple(Word(word, instruction.span) for word in words)
        if given:
            name = given[0].text
            call = Call(
                name.rpartition("/")[2].lower().removesuffix(".exe"),
                given[1:],
                instruction.span,
                sure=sure,
                host=BUILD_HOST,
                directory=build.directory,
                path=name if "/" in name else "",
            )
            build.found.calls.append(call)
        return
    if instruction.documents and (head := _HERE_DOCUMENT.match(rest)) and not rest[head.end() :].strip():
        script = instruction.documents[0]
        if script.text.startswith("#!") and not re.match(r"#![^\n]*(?:sh|env -S sh)\b", script.text):
            _read_as(build, _language_of_shebang(script.text), script, instruction.span, sure)
            return
        _read_as(build, build.shell, script, instruction.span, sure)
        return
    whole = _part(text, start, len(text.text))
    if instruction.documents:
        whole = _with_documents(whole, instruction.documents, rest)
    _read_as(build, build.shell, whole, instruction.span, sure)


def _with_documents(head: Normalised, documents: tuple[Normalised, ...], rest: str) -> Normalised:
    """Appends the here-documents to a command line, as a shell expects them."""
    delimiters = [match[2] or match[3] or match[4] for match in _HERE_DOCUMENT.finditer(rest)]
    parts = [(head.text.rstrip("\n") + "\n", head.origin(0))]
    for document, delimiter in zip(documents, delimiters, strict=False):
        body = document.text if document.text.endswith("\n") or not document.text else document.text + "\n"
        parts.append((body + delimiter + "\n", document.origin(0)))
    return _assembled(parts, documents[-1].origin(len(documents[-1].text)))


def _read_as(build: _Build, language: Language | None, script: Normalised, span: Span, sure: bool) -> None:
    if language is None:
        build.found.uncovered.append(Uncovered(span, "a language that is not read"))
    elif language is Language.BASH:
        reading = read_script(script, variables=build.variables, directory=build.directory, budget=build.budget)
        build.found.add(reading, sure=sure, host=BUILD_HOST)
    else:
        build.found.add(moved_to(span, read_other(language, script.text)), sure=sure, host=BUILD_HOST)


def _exec_form(text: str) -> list[str] | None:
    if not text.startswith("["):
        return None
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else None


def _set_variables(build: _Build, text: str) -> None:
    pairs = _PAIR.findall(text)
    if not pairs and (match := re.match(r"([A-Za-z_]\w*)[ \t]+(.+)", text)):
        pairs = [match.groups()]
    for name, value in pairs:
        if value[:1] in ("'", '"') and value[-1:] == value[:1]:
            value = value[1:-1]
        build.variables[name] = re.sub(
            r"\$\{?([A-Za-z_]\w*)\}?", lambda match: build.variables.get(match[1], match[0]), value
        )[:2000]


def _change_directory(build: _Build, instruction: _Instruction) -> None:
    path = instruction.text.text.strip().strip("'\"")
    path = re.sub(r"\$\{?([A-Za-z_]\w*)\}?", lambda match: build.variables.get(match[1], match[0]), path)[:2000]
    if build.directory is not None and not path.startswith(("/", "$")) and not re.match(r"[A-Za-z]:", path):
        path = build.directory.text.rstrip("/") + "/" + path
    build.directory = Word(path[:2000], instruction.span, known="$" not in path)


def _set_shell(build: _Build, text: str) -> None:
    words = _exec_form(text.strip())
    build.shell = _language_of_shell(words[0]) if words else Language.BASH


def _add(build: _Build, instruction: _Instruction, *, sure: bool) -> None:
    """Adds a download, as a call of curl."""
    text = instruction.text.text
    start = 0
    while match := _FLAG.match(text, start):
        start = match.end()
    words = _exec_form(text[start:].strip()) or text[start:].split()
    for word in words[:-1]:
        if re.match(r"(?:https?|ftp)://", word):
            known = "$" not in word
            options = (Word("-o", instruction.span), Word(words[-1], instruction.span))
            call = Call(
                "curl",
                (*options, Word(word, instruction.span, known=known)),
                instruction.span,
                sure=sure,
                host=BUILD_HOST,
                directory=build.directory,
            )
            build.found.calls.append(call)


def _instructions(normal: Normalised, offset: int) -> Iterator[_Instruction]:
    """Yields the instructions of a Dockerfile, without comments and with continued lines joined."""
    text = normal.text
    directive = _ESCAPE.match(text)
    escape = directive[1] if directive else "\\"
    continued = re.compile(re.escape(escape) + r"[ \t]*$")
    lines = _lines(text)
    for start, end in lines:
        line = text[start:end]
        match = _INSTRUCTION.match(line)
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        first = start
        name = match[1].upper() if match else line.split()[0]
        parts = [(start + match.end() if match else start, end)]
        while (tail := continued.search(text, *parts[-1])) is not None:
            parts[-1] = (parts[-1][0], tail.start())
            for start, end in lines:
                line = text[start:end]
                if line.strip() and not line.lstrip().startswith("#"):
                    parts.append((start, end))
                    break
            else:
                break
        documents: list[Normalised] = []
        if name in ("RUN", "COPY", "ADD"):
            for found in _HERE_DOCUMENT.finditer(text, parts[0][0], parts[-1][1]):
                delimiter = found[2] or found[3] or found[4]
                body_start = body_end = min(end + 1, len(text))
                for start, end in lines:
                    if text[start:end].strip("\t" if found[1] else "") == delimiter:
                        break
                    body_end = min(end + 1, len(text))
                documents.append(_piece(text, normal, offset, body_start, body_end))
        pieces = [(text[begin:stop], offset + normal.origin(begin)) for begin, stop in parts]
        last = offset + normal.origin(end)
        span = Span(offset + normal.origin(first), last)
        yield _Instruction(name, _assembled(pieces, offset + normal.origin(parts[-1][1])), span, tuple(documents))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each line. It is a single iterator, so that lines consumed in an inner loop are skipped
    in the outer one."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield at, end
        at = end + 1


def _piece(text: str, normal: Normalised, offset: int, start: int, end: int) -> Normalised:
    return _assembled([(text[start:end], offset + normal.origin(start))], offset + normal.origin(end))


def _assembled(parts: list[tuple[str, int]], end: int) -> Normalised:
    """Joins texts from different positions into one that records the origin of each."""
    starts: list[int] = []
    length = 0
    for part, _ in parts:
        starts.append(length)
        length += len(part)
    origins = [origin for _, origin in parts]
    return Normalised("".join(part for part, _ in parts), (*starts, length), (*origins, end))


def _part(text: Normalised, start: int, end: int) -> Normalised:
    """Returns a part of a text that was assembled from several positions."""
    inside = [index for index, at in enumerate(text.starts) if start < at < end]
    starts = (0, *(text.starts[index] - start for index in inside), end - start)
    origins = (text.origin(start), *(text.origins[index] for index in inside), text.origin(end))
    return Normalised(text.text[start:end], starts, origins)


# --- Workflows -------------------------------------------------------------------------------------------------------

# Keys under which CI systems have commands, with the language that the key implies.
_SCRIPTS: Mapping[str, Language | None] = {
    "run": None,
    "script": None,
    "before_script": None,
    "after_script": None,
    "before_install": None,
    "install": None,
    "after_success": None,
    "after_failure": None,
    "before_deploy": None,
    "commands": None,
    "command": None,
    "entrypoint": None,
    "bash": Language.BASH,
    "pwsh": Language.POWERSHELL,
    "powershell": Language.POWERSHELL,
}
_VARIABLES = ("env", "variables", "environment")
_SHELLS: Mapping[str, Language] = {
    "bash": Language.BASH,
    "sh": Language.BASH,
    "zsh": Language.BASH,
    "dash": Language.BASH,
    "ash": Language.BASH,
    "ksh": Language.BASH,
    "pwsh": Language.POWERSHELL,
    "powershell": Language.POWERSHELL,
    "cmd": Language.CMD,
    "python": Language.PYTHON,
    "python3": Language.PYTHON,
    "node": Language.JAVASCRIPT,
}


@dataclass(slots=True)
class Node:
    """A node of the YAML text: a scalar with its value, a list or a mapping."""

    start: int
    end: int = 0
    value: str = ""
    style: str | None = None
    items: list[Node] | None = None
    pairs: list[tuple[str, Node]] | None = None

    def get(self, key: str) -> Node | None:
        """Returns the node under a key of a mapping."""
        return next((node for name, node in self.pairs or () if name == key), None)

    def text(self, key: str) -> str | None:
        """Returns the scalar under a key of a mapping."""
        node = self.get(key)
        return node.value if node is not None and node.items is None and node.pairs is None else None


class _Place(NamedTuple):
    """The settings that apply to the steps of a job."""

    shell: str | None = None
    windows: bool = False
    directory: Word | None = None
    variables: Mapping[str, str] = {}


class Broken(Exception):
    """The YAML text nests too deeply or has too many nodes."""


def read_ci(text: str, *, offset: int = 0) -> Reading:
    """Returns the commands that a workflow runs (GitHub, GitLab, CircleCI, Azure, Travis, Bitbucket and similar), and
    the actions that it uses."""
    found = Found(Language.CI)
    normal = normalise(text)
    workflow = _Workflow(normal, offset, found)
    try:
        for document in documents_of(normal.text):
            workflow.walk(document, _Place(), 0)
            workflow.pull_requests(document)
    except Broken:
        reason = "more YAML than is read of one file"
        found.uncovered.append(Uncovered(workflow.span(0, len(normal.text)), reason, stopped=True))
    except (yaml.YAMLError, ValueError):
        found.uncovered.append(Uncovered(workflow.span(0, len(normal.text)), "YAML that could not be read"))
    return found.reading()


@dataclass(slots=True)
class _Workflow:
    normal: Normalised
    offset: int
    found: Found
    budget: Budget = field(default_factory=Budget)
    visited: int = 0
    scripts: int = 0

    def span(self, start: int, end: int) -> Span:
        """Returns the span in the action."""
        return Span(self.offset + self.normal.origin(start), self.offset + self.normal.origin(end))

    def walk(self, node: Node, place: _Place, depth: int) -> None:
        """Reads the steps below a node."""
        self.visited += 1
        if depth > MAX_DEPTH or self.visited > MAX_NODES:
            raise Broken
        if node.items is not None:
            for item in node.items:
                self.walk(item, place, depth + 1)
        if node.pairs is None:
            return
        place = self._placed(node, place)
        for key, value in node.pairs:
            if key in _SCRIPTS and self._scripts(key, value, place, depth):
                continue
            if key == "uses" and value.pairs is None and value.items is None:
                self._uses(node, value)
            elif key not in _VARIABLES and (value.pairs is not None or value.items is not None):
                self.walk(value, place, depth + 1)

    def pull_requests(self, document: Node) -> None:
        """Adds the code of pull requests, and the texts, that a workflow runs with the rights of the repository."""
        checkouts = (("the pull request", *found) for found in checkouts_that_run(document))
        scripts = (("a title or comment", *found) for found in scripts_with_texts(document))
        for source, step, may_write in (*checkouts, *scripts):
            self.found.effects.append(
                Effect(
                    EffectKind.EXECUTE,
                    ObjectKind.PROCESS,
                    self.span(step.start, step.end),
                    "ci",
                    (Target(source, Place.REMOTE),),
                    detail={"code": "pull_request", "rights": "write" if may_write else "read"},
                )
            )

    def _placed(self, node: Node, place: _Place) -> _Place:
        """Returns the settings for the steps below a mapping, including its own."""
        run = (node.get("defaults") or node).get("run")
        settings = run if run is not None and run.pairs is not None else node
        shell = settings.text("shell") or node.text("shell") or place.shell
        runner = node.text("runs-on") or node.text("vmImage") or ""
        windows = place.windows or "windows" in runner.lower()
        directory = place.directory
        for name in ("working-directory", "working_directory", "workingDirectory"):
            written = settings.get(name) or node.get(name)
            if written is not None and written.value:
                span = self.span(written.start, written.end)
                known = "$" not in written.value and "{{" not in written.value
                directory = Word(written.value, span, known=known)
        variables = place.variables
        for name in _VARIABLES:
            block = node.get(name)
            if block is not None and block.pairs is not None:
                values = {key: value.value for key, value in block.pairs if value.pairs is None and value.items is None}
                variables = {**variables, **values}
        return _Place(shell, windows, directory, variables)

    def _scripts(self, key: str, value: Node, place: _Place, depth: int) -> bool:
        """Reads the commands under a key; returns False if it contains something else."""
        if value.pairs is not None:
            return False
        language = _SCRIPTS[key] or self._language(place)
        for script in _flattened(value, depth):
            if script.pairs is not None:
                self.walk(script, place, depth + 1)
            elif script.value.strip():
                self._script(script, language, place)
        return True

    def _language(self, place: _Place) -> Language | None:
        if place.shell is None:
            return Language.POWERSHELL if place.windows else Language.BASH
        return _language_of_shell(place.shell.split()[0]) if place.shell.split() else Language.BASH

    def _script(self, node: Node, language: Language | None, place: _Place) -> None:
        self.scripts += 1
        span = self.span(node.start, node.end)
        if self.scripts > MAX_SCRIPTS:
            raise Broken
        if node.value.startswith("#!"):
            language = _language_of_shebang(node.value)
        if language is None:
            self.found.uncovered.append(Uncovered(span, "a language that is not read"))
        elif language is Language.BASH:
            script = self._located(node)
            self.found.add(
                read_script(script, variables=place.variables, directory=place.directory, budget=self.budget)
            )
        else:
            self.found.add(moved_to(span, read_other(language, node.value)))

    def _uses(self, step: Node, value: Node) -> None:
        """Records the action that a step uses, with its inputs."""
        words = [Word(value.value, self.span(value.start, value.end))]
        given = step.get("with")
        for key, node in (given.pairs or ()) if given is not None else ():
            if node.pairs is None and node.items is None:
                known = "${{" not in node.value
                words.append(Word(node.value, self.span(node.start, node.end), known=known, name=key))
        span = self.span(value.start, value.end)
        self.found.calls.append(Call("ci:uses", tuple(words), span, language=Language.CI))

    def _located(self, node: Node) -> Normalised:
        """Returns a script with the positions of its lines."""
        text = self.normal.text
        end = self.offset + self.normal.origin(node.end)
        if node.style != "|":
            start = node.start + (1 if node.style in ("'", '"') else 0)
            return _assembled([(node.value, self.offset + self.normal.origin(start))], end)
        parts: list[tuple[str, int]] = []
        at = text.find("\n", node.start, node.end) + 1
        for line in node.value.splitlines(keepends=True):
            stop = text.find("\n", at, node.end)
            stop = node.end if stop < 0 else stop
            indented = max(stop - at - len(line.rstrip("\n")), 0)
            parts.append((line, self.offset + self.normal.origin(min(at + indented, node.end))))
            at = min(stop + 1, node.end)
        return _assembled(parts or [("", end)], end)


def _flattened(node: Node, depth: int) -> Iterator[Node]:
    """Yields the entries of a list of scripts, and of lists inside it."""
    if node.items is None:
        yield node
    elif depth >= MAX_DEPTH:
        raise Broken
    else:
        for item in node.items:
            yield from _flattened(item, depth + 1)


def documents_of(text: str) -> Iterator[Node]:
    """Yields the documents of a YAML text. They are built from events and without recursion, so that no text can nest
    too deeply."""
    root: Node | None = None
    stack: list[Node] = []
    keys: list[str | None] = []
    anchors: dict[str, Node] = {}
    for count, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
        if count > MAX_NODES or len(stack) > MAX_DEPTH:
            raise Broken
        if isinstance(event, yaml.DocumentEndEvent) and root is not None:
            yield root
            root = None
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            keys.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        node = _node(event, anchors)
        if not stack:
            root = node
        elif stack[-1].items is not None:
            stack[-1].items.append(node)
        elif keys[-1] is None:
            keys[-1] = node.value
        elif stack[-1].pairs is not None:
            stack[-1].pairs.append((keys[-1], node))
            keys[-1] = None
        if isinstance(event, yaml.CollectionStartEvent):
            stack.append(node)
            keys.append(None)


def _node(event: yaml.NodeEvent, anchors: dict[str, Node]) -> Node:
    start, end = (mark.index if mark else 0 for mark in (event.start_mark, event.end_mark))
    if isinstance(event, yaml.AliasEvent):
        return anchors.get(event.anchor or "") or Node(start, end)
    if isinstance(event, yaml.ScalarEvent):
        node = Node(start, end, event.value, event.style)
    elif isinstance(event, yaml.SequenceStartEvent):
        node = Node(start, end, items=[])
    else:
        node = Node(start, end, pairs=[])
    if event.anchor:
        anchors[event.anchor] = node
    return node


# --- Languages -------------------------------------------------------------------------------------------------------


def _language_of_shell(shell: str) -> Language | None:
    return _SHELLS.get(re.split(r"[/\\]", shell.strip())[-1].lower().removesuffix(".exe"))


def _language_of_shebang(text: str) -> Language | None:
    words = text[2:].split("\n", 1)[0].split()
    names = [word for word in words if not word.startswith("-") and not word.endswith("/env")]
    return _language_of_shell(names[0]) if names else Language.BASH


def read_other(language: Language, text: str) -> Reading:
    """Reads a script of another language; its reader is imported when needed."""
    reading: Reading = import_module("guardrail.reading").reader_of(language)(text)
    return reading


def moved_to(span: Span, reading: Reading) -> Reading:
    """Gives all parts of a reading, whose positions are unknown, the span of the text that contains them."""
    return replace(
        reading,
        calls=tuple(changed(reading.calls, lambda call: replace(call, span=span))),
        effects=tuple(replace(effect, span=span) for effect in reading.effects),
        passages=tuple(replace(passage, span=span) for passage in reading.passages),
        uncovered=tuple(replace(uncovered, span=span) for uncovered in reading.uncovered),
    )
