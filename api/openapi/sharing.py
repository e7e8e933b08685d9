"""Defines each part of the description once: whatever occurs in several places becomes a component. Pure.

Successful answers stay at their operation, which shows its own examples there.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from contracts.discovery.examples import PROBLEM_CODES, recorded

Node = dict[str, Any]

_OWN_ANSWERS = ("200", "201")
_NAMES = {
    "202": "payment_pending",
    "204": "no_content",
    "302": "redirect",
    "304": "not_modified",
    "206": "partial_content",
}
"""Names of shared answers that are not problems."""

_REFERENCE_LENGTH = len('{"$ref":"#/components/schemas/"}') + 8
"""Characters of a reference to a name of typical length."""


def share(document: Node) -> None:
    """Moves parts that occur more than once into `components`, in place. A reader who resolves references sees no
    difference."""
    operations = [operation for item in document["paths"].values() for operation in item.values()]
    components = document["components"]
    _share_answers(operations, components.setdefault("responses", {}))
    _share_parameters(operations, components.setdefault("parameters", {}))
    answers = [
        *components["responses"].values(),
        *(answer for one in operations for answer in one["responses"].values()),
    ]
    _share_headers(answers, components["headers"])
    _share_schemas(document)


def _share_answers(operations: list[Node], components: Node) -> None:
    places = [
        (operation["responses"], status)
        for operation in operations
        for status, answer in operation["responses"].items()
        if status not in _OWN_ANSWERS and "$ref" not in answer
    ]
    _replace_repeated(places, "responses", components, lambda status, answer: _answer_name(status, answer))


def _answer_name(status: str, answer: Node) -> str:
    media: Node = next(iter(answer.get("content", {}).values()), {})
    codes = media.get(PROBLEM_CODES, ())
    return str(codes[0]) if codes else _NAMES.get(status, f"answer_{status}")


def _share_parameters(operations: list[Node], components: Node) -> None:
    """Shares parameters with the same description and recorded example. The framework describes each twice."""
    groups: dict[str, list[tuple[list[Node], int]]] = {}
    for operation in operations:
        requests = [exchange["request"] for exchange in recorded(operation["operationId"])]
        for at, parameter in enumerate(operation.get("parameters", [])):
            name, where = parameter["name"], parameter["in"]
            if parameter["schema"].get("description") == parameter.get("description"):
                parameter["schema"] = {key: part for key, part in parameter["schema"].items() if key != "description"}
            example = next((request[where][name] for request in requests if name in request.get(where, {})), None)
            groups.setdefault(_text([parameter, example]), []).append((operation["parameters"], at))
    for places in groups.values():
        if len(places) > 1:
            holder, at = places[0]
            name = _free_name(holder[at]["name"], components)
            components[name] = holder[at]
            for holder, at in places:
                holder[at] = _ref("parameters", name)


def _share_headers(answers: list[Node], components: Node) -> None:
    places = [
        (answer["headers"], name)
        for answer in answers
        for name, field in answer.get("headers", {}).items()
        if "$ref" not in field
    ]
    _replace_repeated(places, "headers", components, lambda name, _: name)


def _replace_repeated(
    places: list[tuple[Node, str]], kind: str, components: Node, named: Callable[[str, Node], str]
) -> None:
    times = Counter(_text(holder[key]) for holder, key in places)
    names: dict[str, str] = {}
    for holder, key in places:
        part, text = holder[key], _text(holder[key])
        if times[text] < 2:
            continue
        if text not in names:
            names[text] = _free_name(named(key, part), components)
            components[names[text]] = part
        holder[key] = _ref(kind, names[text])


def _share_schemas(document: Node) -> None:
    """Shares schemas that occur in several places. Each is named after the first member that has it."""
    schemas: Node = document["components"]["schemas"]
    roots = list(_roots(document))
    times: Counter[str] = Counter()
    entered: set[str] = set()
    for _, holder, key in roots:
        _count_uses(holder[key], times, entered)
    names: dict[str, str] = {}
    for name, holder, key in roots:
        holder[key] = _with_references(holder[key], name, times, names, schemas, is_root=holder is schemas)
    document["components"]["schemas"] = dict(sorted(schemas.items()))


def _roots(document: Node) -> Iterator[tuple[str, Node, str]]:
    """Yields the name and the place of every schema that is not nested in another one."""
    for name in list(document["components"]["schemas"]):
        yield name, document["components"]["schemas"], name
    parts = {kind: part for kind, part in document["components"].items() if kind != "schemas"}
    pending: list[tuple[str, Any]] = [("", document["paths"]), ("", parts)]
    for name, node in pending:  # the loop itself appends to it
        if isinstance(node, dict) and isinstance(node.get("schema"), dict):
            yield str(node.get("name", name)), node, "schema"
        if isinstance(node, dict):
            pending += [(key, value) for key, value in node.items() if key != "schema"]
        elif isinstance(node, list):
            pending += [(name, value) for value in node]


def _inner(schema: Node) -> Iterator[tuple[str, Node]]:
    """Yields every schema directly within one, with the name of its member, or an empty name if it has none."""
    yield from schema.get("properties", {}).items()
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield "", schema[keyword]
    for keyword in ("anyOf", "allOf", "oneOf"):
        yield from (("", option) for option in schema.get(keyword, ()))


def _count_uses(schema: Node, times: Counter[str], entered: set[str]) -> None:
    """Counts in how many different schemas each schema occurs. Equal schemas are descended into once."""
    text = _text(schema)
    times[text] += 1
    if text not in entered:
        entered.add(text)
        for _, part in _inner(schema):
            _count_uses(part, times, entered)


def _with_references(
    schema: Node, name: str, times: Mapping[str, int], names: dict[str, str], schemas: Node, *, is_root: bool
) -> Node:
    text = _text(schema)
    if text in names:
        return _ref("schemas", names[text])
    saved = (times[text] - 1) * len(text) - (times[text] + 1) * _REFERENCE_LENGTH
    is_shared = not is_root and times[text] > 1 and saved > 0 and "$ref" not in schema
    if is_shared:
        names[text] = _free_name(re.sub(r"[^A-Za-z0-9_.-]", "_", name[:1].upper() + name[1:]), schemas)
        schemas[names[text]] = {}
    replaced = dict(schema)

    def within(part: Node, member: str) -> Node:
        return _with_references(part, member or name, times, names, schemas, is_root=False)

    if "properties" in schema:
        replaced["properties"] = {member: within(part, member) for member, part in schema["properties"].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            replaced[keyword] = within(schema[keyword], "")
    for keyword in ("anyOf", "allOf", "oneOf"):
        if keyword in schema:
            replaced[keyword] = [within(option, "") for option in schema[keyword]]
    if not is_shared:
        return replaced
    schemas[names[text]] = replaced
    return _ref("schemas", names[text])


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """Returns the name, with a number appended if it is taken."""
    return name if name not in taken else next(f"{name}_{n}" for n in count(2) if f"{name}_{n}" not in taken)


def _ref(kind: str, name: str) -> Node:
    return {"$ref": f"#/components/{kind}/{name}"}


def _text(node: Any) -> str:
    return json.dumps(node, sort_keys=True, separators=(",", ":"))
