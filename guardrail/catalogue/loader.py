"""Loads the catalogue: checks YAML and turns it into plain data, and plain data into an object when a program is first
needed.

Mistakes raise `CatalogueInvalid`, which lists each one with file and line. Nothing is changed in place, so that a
catalogue that was loaded before stays usable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from guardrail.compiled import Plain, digest_of_all, load_compiled
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity

PROGRAMS = Path(__file__).parent / "programs"
COMPILED = Path(__file__).parent / "catalogue.json"
_MAKERS = (Path(__file__), Path(__file__).parent.parent / "vocabulary.py")

STYLES = ("posix", "single_dash", "windows", "powershell", "pairs")
INNER_LANGUAGES = (
    "argv",
    "auto",
    "bash",
    "cmd",
    "http",
    "javascript",
    "manifest",
    "powershell",
    "python",
    "self",
    "sql",
    "unknown",
)


class Fault(NamedTuple):
    """One mistake in a catalogue file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class CatalogueInvalid(ValueError):
    """The catalogue has mistakes; `faults` lists each with file and line."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class Condition(NamedTuple):
    """A condition that holds if all its parts do. `operand` pairs a position (`any`, `1`, `last`) with a regular
    expression."""

    any_option: tuple[str, ...] = ()
    all_options: tuple[str, ...] = ()
    no_option: tuple[str, ...] = ()
    option_value: tuple[tuple[str, str], ...] = ()
    operand: tuple[tuple[str, str], ...] = ()
    argument: tuple[tuple[str, str], ...] = ()
    no_operand: str | None = None
    operands: tuple[int, int | None] | None = None
    stdin: bool | None = None
    inverse: Condition | None = None
    any_of: tuple[Condition, ...] = ()


class Broader(NamedTuple):
    """Options that widen the scope."""

    options: tuple[str, ...]
    scope: Scope


class DetailValue(NamedTuple):
    """The source of a detail's value: `text`, or a part of the call named as in `targets`."""

    text: str | None = None
    part: str | None = None


class EffectRow(NamedTuple):
    """One effect of a program, with its condition and the parts of the call that it applies to."""

    kind: EffectKind
    object: ObjectKind
    when: Condition | None = None
    targets: tuple[str, ...] = ()
    default_target: str | None = None
    scope: Scope | None = None
    broader: tuple[Broader, ...] = ()
    place: Place | None = None
    reversible: Reversible = Reversible.YES
    sensitivity: Sensitivity | None = None
    elevated: bool = False
    detail: tuple[tuple[str, DetailValue], ...] = ()
    says: str | None = None


class Inner(NamedTuple):
    """The position of another action in a call's words or in its input."""

    language: str
    part: str | None = None
    after: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    repeated: bool = False
    skip: int = 0
    skip_assignments: bool = False
    append_stdin: bool = False
    append_found: bool = False
    typed: bool = False
    elevated: bool = False
    host: str | None = None
    program: str | None = None
    when: Condition | None = None


class Request(NamedTuple):
    """The HTTP request that a call makes, by parts of the call."""

    method: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    when: Condition | None = None


class Subcommand(NamedTuple):
    """A level of a program: the program itself has the same keys.

    If `flags` is None, options take no value unless `values` lists them; otherwise (a client with groups) every option
    that is not in `flags` takes one. `switches` take no value although an outer level's options of the same name do.
    """

    name: str
    values: frozenset[str] = frozenset()
    flags: frozenset[str] | None = None
    switches: frozenset[str] = frozenset()
    known_options: frozenset[str] = frozenset()
    without_effect: tuple[str, ...] = ()
    effects: tuple[EffectRow, ...] = ()
    inner: tuple[Inner, ...] = ()
    subcommands: Mapping[str, Subcommand] | None = None
    patterns: tuple[tuple[str, Subcommand], ...] = ()
    groups: bool = False
    stop_at_operand: bool = False
    request: Request | None = None
    other_subcommands_harmless: bool = False


class Program(NamedTuple):
    """A catalogue entry: the style of its options and its outermost level."""

    name: str
    source: str
    style: str
    prefixes: bool
    bundled: bool
    ignore_case: bool
    level: Subcommand


class Catalogue:
    """All programs by name. A program's object is built when it is first needed."""

    __slots__ = ("_built", "_entries", "_names", "digest")

    def __init__(self, plain: Plain) -> None:
        self.digest: str = plain["digest"]
        self._entries: list[str] = plain["entries"]
        self._names: dict[str, tuple[int, str]] = plain["names"]
        self._built: dict[str, Program] = {}

    def program(self, name: str) -> Program | None:
        """Returns the program's entry, or None if the catalogue lacks it."""
        built = self._built.get(name)
        if built is not None:
            return built
        found = self._names.get(name)
        if found is None:
            return None
        at, main = found
        built = build_program(json.loads(self._entries[at]), main)
        self._built[name] = built
        return built

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len({main for _, main in self._names.values()})


def load(programs: Path = PROGRAMS, compiled: Path = COMPILED) -> Catalogue:
    """Loads the catalogue of these sources, or of an installed wheel."""
    sources = source_files(programs)
    return Catalogue(load_compiled(compiled, sources, _MAKERS, lambda: plain_catalogue(sources)))


@cache
def default_catalogue() -> Catalogue:
    """Returns the catalogue of this installation, loaded once."""
    return load()


def source_files(programs: Path) -> dict[str, bytes]:
    """Returns the YAML files of a directory by name."""
    if not programs.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in sorted(programs.glob("*.yaml"))}


def plain_catalogue(sources: Mapping[str, bytes]) -> Plain:
    """Returns all sources as one plain JSON structure. Mistakes of all files are raised together."""
    plain, faults = collect(sources)
    if faults:
        raise CatalogueInvalid(faults)
    return plain


def collect(sources: Mapping[str, bytes]) -> tuple[Plain, list[Fault]]:
    """Returns the valid entries of all sources as one plain structure, and the mistakes. A name that occurs twice
    belongs to the first entry. Each entry is a separate text, which is parsed when its program is needed."""
    entries: list[str] = []
    names: dict[str, tuple[int, str]] = {}
    homes: dict[str, str] = {}
    faults: list[Fault] = []
    for file, content in sources.items():
        checked, file_faults = check_source(file, content)
        faults.extend(file_faults)
        for entry in checked:
            line = entry["line"]
            for main, spellings in _spellings(entry):
                for spelling in spellings:
                    if homes.get(spelling) == f"{file}:{line}":
                        continue  # two spellings of one name, such as `ps:x` and `ps:X`
                    if spelling in homes:
                        message = f"the name {spelling!r} is taken already ({homes[spelling]})"
                        faults.append(Fault(file, line, message))
                        continue
                    homes[spelling] = f"{file}:{line}"
                    names[spelling] = (len(entries), main)
            kept = {key: value for key, value in entry.items() if key not in ("line", "examples")}
            entries.append(json.dumps(kept, ensure_ascii=False, separators=(",", ":")))
    return {"digest": digest_of_all(sources), "entries": entries, "names": names}, faults


def _spellings(entry: Plain) -> Iterator[tuple[str, tuple[str, ...]]]:
    if "program" in entry:
        yield entry["program"], (entry["program"], *entry.get("aliases", ()))
    for name in entry.get("programs", ()):
        yield name, (name,)


def check_source(file: str, content: bytes) -> tuple[list[Plain], list[Fault]]:
    """Returns the entries of one file, and its mistakes. An entry with a mistake is left out."""
    import yaml

    try:
        root = yaml.compose(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        return [], [Fault(file, line, f"this is no YAML: {getattr(error, 'problem', error)}")]
    checker = _Checker(file)
    if root is None:
        return [], []
    entries = []
    for node in checker.items(root, "a list of programs"):
        before = len(checker.faults)
        entry = checker.program(node)
        if len(checker.faults) == before:
            entries.append(entry)
    return entries, checker.faults


@cache
def pattern(text: str) -> Any:
    """Compiles the RE2 expression of a condition, once per process."""
    import re2

    options = re2.Options()
    options.log_errors = False
    return re2.compile(text, options)


@cache
def beginnings(text: str) -> tuple[str, ...]:
    """Returns the lower-case prefixes of which an ASCII text must have one for the expression to match at its
    beginning.

    Returns none if they can't be derived from the expression.
    """
    anchored = _ANCHORED.match(text)
    if anchored is None or "[]" in text or "[^]" in text:
        return ()
    rest = _ESCAPED_OR_CLASS.sub("", text)
    while (inner := _GROUP.sub("", rest)) != rest:
        rest = inner
    if "|" in rest:
        return ()  # another alternative may begin differently
    return tuple((anchored[1] or anchored[2]).replace("\\", "").lower().split("|"))


_ANCHORED = re.compile(
    r"(?:\(\?i\))?\^(?:((?:[A-Za-z0-9_:/ -]|\\[.+-])+)|\(((?:[A-Za-z0-9_:/ -]|\\[.+-]|\|)+)\))(?![?*+{])"
)
_ESCAPED_OR_CLASS = re.compile(r"\\.|\[[^\]]*\]")
_GROUP = re.compile(r"\([^()]*\)")


LEVEL_KEYS = (
    "aliases",
    "values",
    "flags",
    "without_effect",
    "effects",
    "subcommands",
    "subcommand_patterns",
    "groups",
    "other_subcommands",
    "stop_at_operand",
    "ignore_case",
    "request",
    "inner",
)
PROGRAM_KEYS = ("program", "programs", "source", "style", "prefixes", "bundled", "examples", *LEVEL_KEYS)
CONDITION_KEYS = (
    "any_option",
    "all_options",
    "no_option",
    "option_value",
    "operand",
    "argument",
    "no_operand",
    "operands",
    "stdin",
    "not",
    "any",
)
ROW_KEYS = (
    "when",
    "kind",
    "object",
    "targets",
    "default_target",
    "scope",
    "broader",
    "place",
    "reversible",
    "sensitivity",
    "elevated",
    "detail",
    "says",
)
INNER_KEYS = (
    "language",
    "from",
    "after",
    "until",
    "each",
    "skip",
    "skip_assignments",
    "append_stdin",
    "append_found",
    "typed",
    "elevated",
    "host",
    "program",
    "when",
)
EXAMPLE_KEYS = ("action", "context", "effects", "language")
PART_FORMS = (
    "operands, operand:1, operand:last, operands:2-, operands:-last, option:-o, options:REGEX, pair:of, stdin, found, "
    "at_file:option:-d, value_of:option:-c, argument:path, argument:1|path, argument:self, text:/etc/hosts"
)


def part_is_spelled_right(part: str) -> bool:
    """Decides whether the source of a target is one of `PART_FORMS`."""
    name, colon, rest = part.partition(":")
    if not colon:
        return name in ("operands", "stdin", "found")
    if not rest:
        return False
    if name == "operand":
        return rest == "last" or (rest.isdecimal() and rest != "0")
    if name == "operands":
        start, dash, end = rest.partition("-")
        return (
            bool(dash)
            and (start.isdecimal() or (not start and bool(end)))
            and (not end or end == "last" or end.isdecimal())
        )
    if name in ("at_file", "value_of"):
        return part_is_spelled_right(rest) and not rest.startswith(("at_file", "value_of"))
    if name == "options":
        return expression_fault(rest) is None
    return name in ("option", "pair", "argument", "text")


def expression_fault(text: str) -> str | None:
    """Returns the reason why RE2 can't compile the text, or None if it can."""
    try:
        pattern(text)
    except Exception as error:  # in some releases, re2.error has no narrower base class
        return str(error)
    return None


class _Checker:
    """Walks the nodes of one file. Scalars are read as spelled, so that `reversible: no` is a word."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []

    def fault(self, node: Any, message: str) -> None:
        self.faults.append(Fault(self.file, node.start_mark.line + 1, message))

    # Shapes

    def items(self, node: Any, what: str) -> list[Any]:
        if node.id == "sequence":
            return list(node.value)
        self.fault(node, f"here belongs {what}")
        return []

    def pairs(self, node: Any, what: str) -> list[tuple[str, Any, Any]]:
        if node.id != "mapping":
            self.fault(node, f"here belongs {what} as `key: value`")
            return []
        pairs = []
        seen: set[str] = set()
        for key, value in node.value:
            name = self.string(key)
            if name in seen:
                self.fault(key, f"{name!r} stands here twice")
            seen.add(name)
            pairs.append((name, key, value))
        return pairs

    def keys(self, node: Any, allowed: tuple[str, ...], what: str) -> dict[str, Any]:
        found = {}
        for name, key, value in self.pairs(node, what):
            if name in allowed:
                found[name] = value
            else:
                self.fault(key, f"{what} has no key {name!r}{_nearest(name, allowed)}")
        return found

    def string(self, node: Any) -> str:
        if node.id == "scalar":
            return str(node.value)
        self.fault(node, "here belongs one word or text")
        return ""

    def strings(self, node: Any) -> list[str]:
        if node.id == "scalar":
            return [str(node.value)]
        return [self.string(item) for item in self.items(node, "a list of words")]

    def boolean(self, node: Any) -> bool:
        text = self.string(node)
        if text not in ("true", "false"):
            self.fault(node, f"{text!r} is neither true nor false")
        return text == "true"

    def number(self, node: Any) -> int:
        text = self.string(node)
        if not text.isdecimal():
            self.fault(node, f"{text!r} is no number")
            return 0
        return int(text)

    def choice(self, node: Any, choices: type[StrEnum] | tuple[str, ...], what: str) -> str:
        text = self.string(node)
        allowed = tuple(str(choice) for choice in choices)
        if text not in allowed:
            self.fault(node, f"{text!r} is no {what}{_nearest(text, allowed)}")
        return text

    def expression(self, node: Any) -> str:
        text = self.string(node)
        fault = expression_fault(text)
        if fault is not None:
            self.fault(node, f"{text!r} is no regular expression of RE2: {fault}")
        return text

    def part(self, node: Any) -> str:
        text = self.string(node)
        if not part_is_spelled_right(text):
            self.fault(node, f"{text!r} names no part of a call; right are {PART_FORMS}")
        return text

    # The catalogue's parts

    def program(self, node: Any) -> Plain:
        found = self.keys(node, PROGRAM_KEYS, "a program")
        entry: Plain = {"line": node.start_mark.line + 1}
        if ("program" in found) == ("programs" in found):
            self.fault(node, "an entry has either `program` or `programs`")
        if "source" not in found:
            self.fault(node, "an entry needs `source`, where its behaviour is documented")
        if "program" in found:
            entry["program"] = self.name(found["program"])
        if "programs" in found:
            entry["programs"] = [self.name(name) for name in self.items(found["programs"], "a list of names")]
            if "aliases" in found:
                self.fault(found["aliases"], "a family has no aliases: list them in `programs`")
        if "aliases" in found:
            entry["aliases"] = [self.name(name) for name in self.items(found["aliases"], "a list of names")]
        if "source" in found:
            entry["source"] = " ".join(self.strings(found["source"]))
        if "style" in found:
            entry["style"] = self.choice(found["style"], STYLES, "style")
        for key in ("prefixes", "bundled"):
            if key in found:
                entry[key] = self.boolean(found[key])
        entry |= self.level(found, node)
        if "examples" in found:
            entry["examples"] = [self.example(item) for item in self.items(found["examples"], "a list of examples")]
        names = entry.get("programs") or [entry.get("program", "")]
        if acts(entry) and not all(":" in name for name in names):  # programs that accept code have the examples
            examples = entry.get("examples", [])
            if not any(example["effects"] for example in examples):
                self.fault(node, "an entry with effects needs an example that has one")
            if not any(not example["effects"] for example in examples):
                self.fault(node, "an entry with effects needs an example that looks alike and has none (`effects: []`)")
        return entry

    def name(self, node: Any) -> str:
        text = self.string(node)
        function = ":" in text
        if text != text.lower() and not function:
            self.fault(node, f"{text!r} has capital letters: programs are named in lower case")
        if text.endswith(".exe") or ("/" in text and not function) or " " in text or not text:
            self.fault(node, f"{text!r} is no base name of a program")
        return text.lower() if text.startswith(("ps:", "cmd:")) else text

    def level(self, found: dict[str, Any], node: Any) -> Plain:
        level: Plain = {}
        for key in ("values", "flags", "without_effect"):
            if key in found:
                level[key] = self.strings(found[key])
        for key in ("groups", "stop_at_operand", "ignore_case"):
            if key in found:
                level[key] = self.boolean(found[key])
        if "request" in found:
            level["request"] = self.request(found["request"])
        if "subcommand_patterns" in found:
            rows = self.items(found["subcommand_patterns"], "a list of patterns")
            level["subcommand_patterns"] = [self.subcommand_pattern(row) for row in rows]
        if "effects" in found:
            level["effects"] = [self.row(item) for item in self.items(found["effects"], "a list of effects")]
        if "inner" in found:
            level["inner"] = [self.inner(item) for item in self.items(found["inner"], "a list of inner actions")]
        if "subcommands" in found:
            level["subcommands"] = self.subcommands(found["subcommands"])
        if "other_subcommands" in found:
            self.choice(found["other_subcommands"], ("harmless",), "word for other subcommands")
            level["other_subcommands"] = "harmless"
        return level

    def subcommands(self, node: Any) -> Plain:
        subcommands: Plain = {}
        homes: dict[str, str] = {}
        for name, key, value in self.pairs(node, "subcommands"):
            found = self.keys(value, LEVEL_KEYS, "a subcommand")
            level = self.level(found, value)
            if "aliases" in found:
                level["aliases"] = self.strings(found["aliases"])
            for spelling in (name, *level.get("aliases", ())):
                if spelling in homes:
                    self.fault(key, f"the subcommand {spelling!r} belongs to {homes[spelling]!r} already")
                homes[spelling] = name
            subcommands[name] = level
        return subcommands

    def subcommand_pattern(self, node: Any) -> Plain:
        found = self.keys(node, ("match", *LEVEL_KEYS), "a pattern of subcommands")
        level = self.level(found, node)
        if "match" in found:
            level["match"] = self.expression(found["match"])
        else:
            self.fault(node, "a pattern of subcommands needs `match`")
        return level

    def request(self, node: Any) -> Plain:
        found = self.keys(node, ("when", "method", "url", "body"), "a request")
        request: Plain = {key: self.parts(found[key]) for key in ("method", "url", "body") if key in found}
        if "url" not in found:
            self.fault(node, "a request needs `url`")
        if "when" in found:
            request["when"] = self.condition(found["when"])
        return request

    def parts(self, node: Any) -> list[str]:
        nodes = [node] if node.id == "scalar" else self.items(node, "a list of parts of a call")
        return [self.part(item) for item in nodes]

    def row(self, node: Any) -> Plain:
        found = self.keys(node, ROW_KEYS, "an effect")
        row: Plain = {}
        for key, choices in _ROW_CHOICES.items():
            if key in found:
                row[key] = self.choice(found[key], choices, key)
        for key in ("kind", "object"):
            if key not in found:
                self.fault(node, f"an effect needs `{key}`")
        if "when" in found:
            row["when"] = self.condition(found["when"])
        if "targets" in found:
            row["targets"] = self.parts(found["targets"])
        for key in ("default_target", "says"):
            if key in found:
                row[key] = self.string(found[key])
        if "broader" in found:
            nodes = [found["broader"]] if found["broader"].id == "mapping" else self.items(found["broader"], "a list")
            row["broader"] = [self.broader(item) for item in nodes]
        if "elevated" in found:
            row["elevated"] = self.boolean(found["elevated"])
        if "detail" in found:
            row["detail"] = {
                name: self.detail(value) for name, _, value in self.pairs(found["detail"], "a detail's name and value")
            }
        return row

    def broader(self, node: Any) -> Plain:
        found = self.keys(node, ("options", "scope"), "`broader`")
        if set(found) != {"options", "scope"}:
            self.fault(node, "`broader` needs `options` and `scope`")
            return {}
        return {
            "options": self.strings(found["options"]),
            "scope": self.choice(found["scope"], Scope, "scope"),
        }

    def detail(self, node: Any) -> Plain:
        if node.id == "scalar":
            return {"text": str(node.value)}
        found = self.keys(node, ("option", "operand", "pair", "argument"), "a detail's value")
        if len(found) != 1:
            self.fault(node, "a detail's value is a text, or one of option, operand, pair, argument")
            return {}
        ((kind, value),) = found.items()
        part = f"{kind}:{self.string(value)}"
        if not part_is_spelled_right(part):
            self.fault(value, f"{part!r} names no part of a call")
        return {"part": part}

    def condition(self, node: Any) -> Plain:
        found = self.keys(node, CONDITION_KEYS, "a condition")
        condition: Plain = {}
        for key in ("any_option", "all_options", "no_option"):
            if key in found:
                condition[key] = self.strings(found[key])
        if "option_value" in found:
            condition["option_value"] = {
                name: self.expression(value)
                for name, _, value in self.pairs(found["option_value"], "an option and an expression")
            }
        if "operand" in found:
            condition["operand"] = self.operand(found["operand"])
        if "argument" in found:
            condition["argument"] = {
                name: self.expression(value)
                for name, _, value in self.pairs(found["argument"], "an argument and an expression")
            }
        if "no_operand" in found:
            condition["no_operand"] = self.expression(found["no_operand"])
        if "operands" in found:
            condition["operands"] = self.count(found["operands"])
        if "stdin" in found:
            condition["stdin"] = self.boolean(found["stdin"])
        if "not" in found:
            condition["not"] = self.condition(found["not"])
        if "any" in found:
            condition["any"] = [self.condition(item) for item in self.items(found["any"], "a list of conditions")]
        if not condition:
            self.fault(node, "a condition is empty")
        return condition

    def operand(self, node: Any) -> Plain:
        if node.id == "scalar":
            return {"any": self.expression(node)}
        operand = {}
        for position, key, value in self.pairs(node, "a position and an expression"):
            if position != "last" and not position.isdecimal():
                self.fault(key, f"{position!r} is no position: it is a number from 1, or `last`")
            operand[position] = self.expression(value)
        return operand

    def count(self, node: Any) -> list[int | None]:
        if node.id == "scalar":
            exact = self.number(node)
            return [exact, exact]
        found = self.keys(node, ("min", "max"), "the number of operands")
        least = self.number(found["min"]) if "min" in found else 0
        most = self.number(found["max"]) if "max" in found else None
        return [least, most]

    def inner(self, node: Any) -> Plain:
        found = self.keys(node, INNER_KEYS, "an inner action")
        inner: Plain = {}
        if "language" in found:
            inner["language"] = self.choice(found["language"], INNER_LANGUAGES, "language of an inner action")
        else:
            self.fault(node, "an inner action needs `language`")
        if ("from" in found) == ("after" in found):
            self.fault(node, "an inner action has either `from` or `after`")
        if "from" in found:
            source = self.string(found["from"])
            if source != "rest" and not part_is_spelled_right(source):
                self.fault(found["from"], f"{source!r} names no part of a call; right are rest, {PART_FORMS}")
            inner["from"] = source
            if inner.get("language") == "self" and source != "stdin":
                self.fault(found["from"], "lines for the same program (`language: self`) come from stdin alone")
        elif inner.get("language") == "self":
            self.fault(node, "lines for the same program (`language: self`) come from stdin alone")
        for key in ("after", "until"):
            if key in found:
                inner[key] = self.strings(found[key])
        for key in ("each", "skip_assignments", "append_stdin", "append_found", "typed", "elevated"):
            if key in found:
                inner[key] = self.boolean(found[key])
        if "skip" in found:
            inner["skip"] = self.number(found["skip"])
        if "host" in found:
            inner["host"] = self.string(found["host"])
        if "program" in found:
            inner["program"] = self.string(found["program"])
            if not part_is_spelled_right(inner["program"]):
                self.fault(found["program"], f"{inner['program']!r} names no part of a call; right are {PART_FORMS}")
        if "when" in found:
            inner["when"] = self.condition(found["when"])
        return inner

    def example(self, node: Any) -> Plain:
        import yaml

        found = self.keys(node, EXAMPLE_KEYS, "an example")
        example: Plain = {"line": node.start_mark.line + 1, "action": "", "effects": []}
        if "action" in found:
            example["action"] = self.string(found["action"])
        else:
            self.fault(node, "an example needs `action`")
        if "effects" in found:
            example["effects"] = [self.expected(item) for item in self.items(found["effects"], "a list of effects")]
        else:
            self.fault(node, "an example needs `effects`, `[]` if it has none")
        if "language" in found:
            example["language"] = self.string(found["language"])
        if "context" in found:
            example["context"] = yaml.SafeLoader("").construct_document(found["context"])
        return example

    def expected(self, node: Any) -> str:
        text = self.string(node)
        words = text.split()
        kind, thing, *rest = words if len(words) >= 2 else ("", "")
        allowed: list[tuple[tuple[str, ...], str, str]] = [
            (tuple(EffectKind), kind, "kind"),
            (tuple(ObjectKind), thing, "object"),
        ]
        allowed += [((*Scope, *Place), word, "scope or place") for word in rest]
        for choices, word, what in allowed:
            if word not in choices:
                self.fault(node, f"{text!r} is no effect: {word!r} is no {what}{_nearest(word, choices)}")
        return text


_ROW_CHOICES: dict[str, type[StrEnum]] = {
    "kind": EffectKind,
    "object": ObjectKind,
    "scope": Scope,
    "place": Place,
    "reversible": Reversible,
    "sensitivity": Sensitivity,
}


def acts(level: Plain) -> bool:
    """Decides whether a level or one below it has effects or inner actions."""
    return bool(level.get("effects") or level.get("inner") or level.get("request")) or any(
        acts(inner) for inner in (*level.get("subcommands", {}).values(), *level.get("subcommand_patterns", ()))
    )


def _nearest(name: str, allowed: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, [str(choice) for choice in allowed], 1, 0.5)
    return f"; do you mean {close[0]!r}?" if close else f"; right are {', '.join(str(choice) for choice in allowed)}"


# Plain data becomes objects. It has been checked before.


def build_program(entry: Plain, name: str) -> Program:
    """Builds the object of one checked entry."""
    style = entry.get("style", "posix")
    ignore_case = style in ("windows", "powershell") or _ignores_case(entry)

    def normalise(options: Iterable[str]) -> tuple[str, ...]:
        return tuple(option_name(option, style, ignore_case) for option in options)

    return Program(
        name=name,
        source=entry["source"],
        style=style,
        prefixes=entry.get("prefixes", False) or style == "powershell",
        bundled=entry.get("bundled", False),
        ignore_case=ignore_case,
        level=_build_level(entry, name, normalise),
    )


def _ignores_case(level: Plain) -> bool:
    """Decides whether any level of the program ignores case; then its whole parser does."""
    return level.get("ignore_case", False) or any(
        _ignores_case(inner) for inner in level.get("subcommands", {}).values()
    )


def option_name(option: str, style: str, ignore_case: bool) -> str:
    """Normalises the spelling of an option, so that two spellings with the same meaning become one."""
    if ignore_case:
        option = option.lower()
    if style == "windows" and option[:1] in ("/", "-"):
        return "/" + option.lstrip("/-")
    if style == "single_dash" and option.startswith("--") and len(option) > 2:
        return option[1:]
    return option


_Normalise = Callable[[Iterable[str]], tuple[str, ...]]


def _build_level(level: Plain, name: str, normalise: _Normalise) -> Subcommand:
    patterns = tuple(
        (row["match"], _build_level(row, f"{name} {row['match']}", normalise))
        for row in level.get("subcommand_patterns", ())
    )
    subcommands: dict[str, Subcommand] | None = None
    if "subcommands" in level or patterns:
        subcommands = {}
        for inner_name, plain in level.get("subcommands", {}).items():
            built = _build_level(plain, f"{name} {inner_name}", normalise)
            for spelling in (inner_name, *plain.get("aliases", ())):
                subcommands[normalise((spelling,))[0]] = built
    values = normalise(level.get("values", ()))
    flags = normalise(level.get("flags", ()))
    every_other_takes_one = "flags" in level and level.get("groups", False)
    without_effect = normalise(level.get("without_effect", ()))
    request = level.get("request")
    return Subcommand(
        name=name,
        values=frozenset(values),
        flags=frozenset(flags) if every_other_takes_one else None,
        switches=frozenset(flags),
        known_options=frozenset((*values, *flags, *without_effect, *normalise(_options_of(level)))),
        without_effect=without_effect,
        effects=tuple(_build_row(row, normalise) for row in level.get("effects", ())),
        inner=tuple(_build_inner(inner, normalise) for inner in level.get("inner", ())),
        subcommands=subcommands,
        patterns=patterns,
        groups=level.get("groups", False),
        stop_at_operand=level.get("stop_at_operand", False),
        request=_build_request(request, normalise) if request is not None else None,
        other_subcommands_harmless="other_subcommands" in level,
    )


def _build_request(request: Plain, normalise: _Normalise) -> Request:
    return Request(
        method=_build_parts(request.get("method", ()), normalise),
        url=_build_parts(request["url"], normalise),
        body=_build_parts(request.get("body", ()), normalise),
        when=_build_condition(request["when"], normalise) if "when" in request else None,
    )


def _build_parts(parts: Iterable[str], normalise: _Normalise) -> tuple[str, ...]:
    return tuple(_build_part(part, normalise) for part in parts)


def _options_of(level: Plain) -> Iterator[str]:
    """Yields the options that a level's rows name, which a unique prefix is compared with."""
    rows = (*level.get("effects", ()), *level.get("inner", ()), *([level["request"]] if "request" in level else ()))
    for row in rows:
        for broader in row.get("broader", ()):
            yield from broader["options"]
        if "when" in row:
            yield from _options_of_condition(row["when"])


def _options_of_condition(condition: Plain) -> Iterator[str]:
    for key in ("any_option", "all_options", "no_option", "option_value"):
        yield from condition.get(key, ())
    for inner in (*condition.get("any", ()), *([condition["not"]] if "not" in condition else ())):
        yield from _options_of_condition(inner)


def _build_row(row: Plain, normalise: _Normalise) -> EffectRow:
    return EffectRow(
        kind=EffectKind(row["kind"]),
        object=ObjectKind(row["object"]),
        when=_build_condition(row["when"], normalise) if "when" in row else None,
        targets=_build_parts(row.get("targets", ()), normalise),
        default_target=row.get("default_target"),
        scope=Scope(row["scope"]) if "scope" in row else None,
        broader=tuple(
            Broader(normalise(broader["options"]), Scope(broader["scope"])) for broader in row.get("broader", ())
        ),
        place=Place(row["place"]) if "place" in row else None,
        reversible=Reversible(row.get("reversible", "yes")),
        sensitivity=Sensitivity(row["sensitivity"]) if "sensitivity" in row else None,
        elevated=row.get("elevated", False),
        detail=tuple(
            (name, DetailValue(value.get("text"), _build_part(value["part"], normalise) if "part" in value else None))
            for name, value in row.get("detail", {}).items()
        ),
        says=row.get("says"),
    )


def _build_part(part: str, normalise: _Normalise) -> str:
    head, separator, option = part.rpartition("option:")
    if separator and head in ("", "at_file:", "value_of:"):
        return f"{head}option:{normalise((option,))[0]}"
    return part


def _build_condition(condition: Plain, normalise: _Normalise) -> Condition:
    count = condition.get("operands")
    return Condition(
        any_option=normalise(condition.get("any_option", ())),
        all_options=normalise(condition.get("all_options", ())),
        no_option=normalise(condition.get("no_option", ())),
        option_value=tuple((normalise((name,))[0], text) for name, text in condition.get("option_value", {}).items()),
        operand=tuple(condition.get("operand", {}).items()),
        argument=tuple(condition.get("argument", {}).items()),
        no_operand=condition.get("no_operand"),
        operands=(count[0], count[1]) if count is not None else None,
        stdin=condition.get("stdin"),
        inverse=_build_condition(condition["not"], normalise) if "not" in condition else None,
        any_of=tuple(_build_condition(inner, normalise) for inner in condition.get("any", ())),
    )


def _build_inner(inner: Plain, normalise: _Normalise) -> Inner:
    return Inner(
        language=inner["language"],
        part=_build_part(inner["from"], normalise) if "from" in inner else None,
        after=normalise(inner.get("after", ())),
        until=tuple(inner.get("until", ())),
        repeated=inner.get("each", False),
        skip=inner.get("skip", 0),
        skip_assignments=inner.get("skip_assignments", False),
        append_stdin=inner.get("append_stdin", False),
        append_found=inner.get("append_found", False),
        typed=inner.get("typed", False),
        elevated=inner.get("elevated", False),
        host=inner.get("host"),
        program=_build_part(inner["program"], normalise) if "program" in inner else None,
        when=_build_condition(inner["when"], normalise) if "when" in inner else None,
    )
