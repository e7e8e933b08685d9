"""Checks the YAML of one file and turns it into plain data. Reports each mistake with its line and a correction."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from guardrail.catalogue.entries import pattern
from guardrail.compiled import Plain
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity

STYLES = ("posix", "single_dash", "windows", "powershell", "pairs")
INNER_LANGUAGES = (
    "argv",
    "auto",
    "bash",
    "cmd",
    "crontab",
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


def check_source(file: str, content: bytes) -> tuple[list[Plain], list[Fault]]:
    """Returns the entries of one file, and its mistakes. An entry with a mistake is left out."""
    import yaml

    try:
        root = yaml.compose(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        return [], [Fault(file, line, f"this is not valid YAML: {getattr(error, 'problem', error)}")]
    checker = Checker(file)
    if root is None:
        return [], []
    entries = []
    for node in checker.items(root, "a list of programs"):
        before = len(checker.faults)
        entry = checker.program(node)
        if len(checker.faults) == before:
            entries.append(entry)
    return entries, checker.faults


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


class Checker:
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
        self.fault(node, f"expected {what}")
        return []

    def pairs(self, node: Any, what: str) -> list[tuple[str, Any, Any]]:
        if node.id != "mapping":
            self.fault(node, f"expected {what} as `key: value`")
            return []
        pairs = []
        seen: set[str] = set()
        for key, value in node.value:
            name = self.string(key)
            if name in seen:
                self.fault(key, f"{name!r} occurs twice")
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
        self.fault(node, "expected one word or text")
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
            self.fault(node, f"{text!r} is not a number")
            return 0
        return int(text)

    def choice(self, node: Any, choices: type[StrEnum] | tuple[str, ...], what: str) -> str:
        text = self.string(node)
        allowed = tuple(str(choice) for choice in choices)
        if text not in allowed:
            self.fault(node, f"{text!r} is not a valid {what}{_nearest(text, allowed)}")
        return text

    def expression(self, node: Any) -> str:
        text = self.string(node)
        fault = expression_fault(text)
        if fault is not None:
            self.fault(node, f"{text!r} is not an RE2 expression: {fault}")
        return text

    def part(self, node: Any) -> str:
        text = self.string(node)
        if not part_is_spelled_right(text):
            self.fault(node, f"{text!r} names no part of a call; valid are {PART_FORMS}")
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
            self.fault(node, f"{text!r} is not the base name of a program")
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
                    self.fault(key, f"the subcommand {spelling!r} already belongs to {homes[spelling]!r}")
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
        found = self.keys(node, ("when", "method", "url", "body", "in_query"), "a request")
        request: Plain = {key: self.parts(found[key]) for key in ("method", "url", "body") if key in found}
        if "url" not in found:
            self.fault(node, "a request needs `url`")
        for key in ("when", "in_query"):
            if key in found:
                request[key] = self.condition(found[key])
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
                self.fault(key, f"{position!r} is not a position: it must be a number from 1, or `last`")
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
                self.fault(found["from"], f"{source!r} names no part of a call; valid are rest, {PART_FORMS}")
            inner["from"] = source
            if inner.get("language") == "self" and source != "stdin":
                self.fault(found["from"], "lines for the same program (`language: self`) come only from stdin")
        elif inner.get("language") == "self":
            self.fault(node, "lines for the same program (`language: self`) come only from stdin")
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
                self.fault(found["program"], f"{inner['program']!r} names no part of a call; valid are {PART_FORMS}")
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
                self.fault(node, f"{text!r} is not an effect: {word!r} is not a valid {what}{_nearest(word, choices)}")
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
    return f"; do you mean {close[0]!r}?" if close else f"; valid are {', '.join(str(choice) for choice in allowed)}"
