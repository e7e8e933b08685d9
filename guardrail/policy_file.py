"""Reads policy files: checks the YAML key by key, names each mistake with file and line, and turns valid content into
plain data that JSON can represent."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from guardrail.circumstances import CIRCUMSTANCES
from guardrail.compiled import Plain
from guardrail.policy import LISTS, Stage
from guardrail.vocabulary import Severity

_FAMILY_CONDITIONS = ("kind", "object")
_CONDITIONS = (*LISTS, "elevated", "detail", "facts", "facts_not")
_FAMILY = ("family", "title", "stage", "when", "remediation", "references", "rows")
_ROW = ("id", "stage", "when", "severity", "reason", "remediation", "references", "lowered_by", "asks")
_SEVERITIES = ("none", *(severity.value for severity in Severity))


class PolicyInvalid(ValueError):
    """A policy file has a mistake, at `line` of `file`."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")
        self.file = file
        self.line = line
        self.message = message


def plain_policy(source: str, file: str) -> Plain:
    """Returns the checked content of a YAML text. Raises `PolicyInvalid` at the first mistake."""
    reader = Reader(file)
    nodes = reader.items(reader.document(source))
    families = [_family(node, reader) for node in nodes]
    seen: set[str] = set()
    for node, family in zip(nodes, families, strict=True):
        for row in family["rows"]:
            if row["id"] in seen:
                raise reader.invalid(node, f"the row {row['id']} occurs twice")
            seen.add(row["id"])
    return {"digest": hashlib.sha256(source.encode()).hexdigest(), "families": families}


def _family(node: Any, reader: Reader) -> Plain:
    parts = reader.keys(node, _FAMILY, required=("family", "title", "stage", "rows"))
    name = reader.text(parts["family"])
    of_family = {
        "stage": reader.one_of(parts["stage"], Stage),
        "remediation": reader.text(parts["remediation"]) if "remediation" in parts else None,
        "references": reader.texts(parts["references"]) if "references" in parts else (),
    }
    return {
        "family": name,
        "title": reader.text(parts["title"]),
        "when": _conditions(parts["when"], reader, _FAMILY_CONDITIONS) if "when" in parts else {},
        "rows": [_row(row, name, of_family, reader) for row in reader.items(parts["rows"])],
    }


def _row(node: Any, family: str, of_family: Plain, reader: Reader) -> Plain:
    parts = reader.keys(node, _ROW, required=("id", "severity", "reason"))
    remediation = reader.text(parts["remediation"]) if "remediation" in parts else of_family["remediation"]
    if remediation is None:
        raise reader.invalid(node, "neither the row nor its family has a remediation")
    return {
        "id": f"{family}.{reader.text(parts['id'])}",
        "stage": reader.one_of(parts["stage"], Stage) if "stage" in parts else of_family["stage"],
        "when": _conditions(parts["when"], reader) if "when" in parts else {},
        "severity": reader.one_of(parts["severity"], _SEVERITIES),
        "reason": reader.text(parts["reason"]),
        "remediation": remediation,
        "references": list(reader.texts(parts["references"]) if "references" in parts else of_family["references"]),
        "lowered_by": _lowered_by(parts["lowered_by"], reader) if "lowered_by" in parts else {},
        "asks": "asks" in parts and reader.flag(parts["asks"]),
    }


def _lowered_by(node: Any, reader: Reader) -> Plain:
    parts = reader.keys(node, tuple(CIRCUMSTANCES))
    return {name: reader.one_of(value, _SEVERITIES) for name, value in parts.items()}


def _conditions(node: Any, reader: Reader, allowed: Sequence[str] = _CONDITIONS) -> Plain:
    known: Plain = {}
    for name, value in reader.keys(node, allowed).items():
        if name in LISTS:
            known[name] = sorted({reader.one_of(item, LISTS[name]) for item in reader.one_or_more(value)})
        elif name == "elevated":
            known[name] = reader.flag(value)
        elif name == "detail":
            # `*` accepts any value, which plain data represents as an empty list.
            texts = {detail: reader.texts(item) for detail, item in reader.pairs(value)}
            known[name] = {detail: [] if words == ("*",) else sorted(words) for detail, words in texts.items()}
        else:
            known[name] = [reader.one_of(item, tuple(CIRCUMSTANCES)) for item in reader.one_or_more(value)]
    return known


class Reader:
    """Reads a YAML file node by node, so that a mistake is named with its line. Scalars are text as spelled."""

    def __init__(self, file: str) -> None:
        self.file = file

    def invalid(self, node: Any, message: str) -> PolicyInvalid:
        """Returns the error for this node."""
        return self.invalid_at(node.start_mark.line + 1, message)

    def invalid_at(self, line: int, message: str) -> PolicyInvalid:
        """Returns the error for this line."""
        return PolicyInvalid(self.file, line, message)

    def document(self, source: str) -> Any:
        """Returns the root node of the text's only document."""
        try:
            node = yaml.compose(source, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as problem:
            mark = getattr(problem, "problem_mark", None)
            line = min(mark.line, source.count("\n")) + 1 if mark is not None else 1
            raise PolicyInvalid(
                self.file, line, f"this is not valid YAML: {getattr(problem, 'problem', problem)}"
            ) from None
        if node is None:
            raise PolicyInvalid(self.file, 1, "the file is empty")
        return node

    def pairs(self, node: Any) -> list[tuple[str, Any]]:
        """Returns the keys of a mapping with their nodes."""
        if not isinstance(node, yaml.MappingNode):
            raise self.invalid(node, "expected a mapping, `key: value`")
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = self.text(key)
            if name in found:
                raise self.invalid(key, f"the key {name} occurs twice")
            found[name] = value
        return list(found.items())

    def keys(self, node: Any, allowed: Sequence[str], required: Iterable[str] = ()) -> dict[str, Any]:
        """Returns the keys of a mapping with their nodes, and refuses unknown and missing keys."""
        found = dict(self.pairs(node))
        for key, _ in node.value:
            if key.value not in allowed:
                raise self.invalid(key, f"there is no key {key.value!r}{_nearest(key.value, allowed)}")
        for name in required:
            if name not in found:
                raise self.invalid(node, f"the key {name} is missing")
        return found

    def items(self, node: Any) -> list[Any]:
        """Returns the nodes of a list."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.invalid(node, "expected a list")
        return list(node.value)

    def one_or_more(self, node: Any) -> list[Any]:
        """Returns the nodes of a list, or a single node as a list."""
        return self.items(node) if isinstance(node, yaml.SequenceNode) else [node]

    def text(self, node: Any) -> str:
        """Returns a scalar as spelled, white space folded."""
        if not isinstance(node, yaml.ScalarNode):
            raise self.invalid(node, "expected a text")
        return " ".join(str(node.value).split())

    def texts(self, node: Any) -> tuple[str, ...]:
        """Returns one text or a list of texts."""
        return tuple(self.text(item) for item in self.one_or_more(node))

    def flag(self, node: Any) -> bool:
        """Returns the value of `true` or `false`."""
        return self.one_of(node, ("true", "false")) == "true"

    def one_of(self, node: Any, allowed: Iterable[str]) -> str:
        """Returns a word of a closed list."""
        words = [str(word) for word in allowed]
        text = self.text(node)
        if text not in words:
            raise self.invalid(node, f"{text!r} is not one of the values{_nearest(text, words)}")
        return text


def _nearest(word: str, allowed: Sequence[str]) -> str:
    close = difflib.get_close_matches(str(word)[:64], list(allowed), n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(allowed)}"
