"""Parses the published OpenAPI description for pages: operations with their fields, answers and errors. Pure."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict

from contracts.idempotency import IDEMPOTENCY_HEADER
from contracts.problems import PROBLEM_MEDIA_TYPE

Node = Mapping[str, Any]

LARGEST_EXAMPLE_CHARACTERS = 6_000
"""Length at which a page cuts an example, in characters."""

_LONGEST_BODY_IN_COMMAND = 600
_LONGEST_LINE = 90
_RANDOM_KEY = "IDEMPOTENCY_KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')  # once: a retry sends the same"
_DEEPEST = 4
"""Levels of members in a table of fields."""


class ApiDescription(BaseModel):
    """The members of the published description that pages use."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    paths: dict[str, dict[str, Any]]
    components: dict[str, dict[str, Any]]
    tags: list[dict[str, str]]

    @cached_property
    def operations(self) -> "dict[str, Operation]":
        """Returns the operations by id, in the order of their paths."""
        found = [
            Operation(self, method.upper(), path, node)
            for path, item in self.paths.items()
            for method, node in item.items()
        ]
        return {operation.id: operation for operation in found}

    def resolved(self, node: Node) -> Node:
        """Returns a part, or the component to which it refers."""
        while isinstance(ref := node.get("$ref"), str):
            _, _, kind, name = ref.split("/")
            node = self.components[kind][name]
        return node

    @cached_property
    def groups(self) -> "list[tuple[dict[str, str], list[Operation]]]":
        """Returns each tag with its operations."""
        operations = list(self.operations.values())
        return [(tag, [one for one in operations if one.tag == tag["name"]]) for tag in self.tags]

    @cached_property
    def problems(self) -> "list[tuple[Problem, list[Operation]]]":
        """Returns every error code with its operations, by status and code."""
        found: dict[str, tuple[Problem, list[Operation]]] = {}
        for operation in self.operations.values():
            for problem in operation.problems:
                found.setdefault(problem.code, (replace(problem, media_types=()), []))[1].append(operation)
        return sorted(found.values(), key=lambda row: (row[0].status, row[0].code))


@dataclass(frozen=True)
class Field:
    """One member of a body, or one parameter: `name` is its path, `kind` its type in words."""

    name: str
    kind: str
    is_required: bool
    description: str
    where: str = "body"
    example: str | None = None


@dataclass(frozen=True)
class Example:
    """An example of a body: its text, or the address of a published document."""

    title: str
    text: str | None = None
    address: str | None = None


@dataclass(frozen=True)
class Link:
    """An operation that can follow an answer."""

    operation_id: str
    description: str


@dataclass(frozen=True)
class Answer:
    """One answer that is not a problem."""

    status: int
    description: str
    media_types: tuple[str, ...]
    fields: tuple[Field, ...]
    examples: tuple[Example, ...]
    headers: tuple[tuple[str, str], ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Problem:
    """One error of an operation."""

    status: int
    code: str
    title: str
    is_retryable: bool
    example: str
    media_types: tuple[str, ...] = ()
    """The media types that the operation accepts; empty if the error is described for all operations together."""

    @property
    def advice(self) -> str:
        """Returns advice on what to do next."""
        if self.status == 415 and self.media_types and self.code not in _ADVICE_BY_CODE:
            return f"Send the body with {' or '.join(f'`Content-Type: {name}`' for name in self.media_types)}."
        by_status = _ADVICE.get(self.status, "Read `detail`, which names the reason.")
        if self.is_retryable and self.status not in _WAITS:
            return "Wait `Retry-After` seconds, then send the same request again."
        return _ADVICE_BY_CODE.get(self.code, by_status)


_WAITS = (429, 500)
_ADVICE = {
    400: "Correct what `errors` names, then send the request again.",
    401: "Send a valid key as `Authorization: Bearer`, or buy one.",
    402: "With `caseId` the money is in a case: don't pay again, `links.case` tells what happens next. Without it, the "
    "transaction contained no money for this quote.",
    403: "Use the key, role or signature that `detail` names.",
    404: "Check the id in the address.",
    405: "Use a method that `Allow` names.",
    406: "Accept br, zstd, gzip or identity.",
    409: "Read the current state, at `links` where there are any, then decide.",
    413: "Send a smaller body.",
    414: "Shorten the path and the query.",
    415: "Send the body with a `Content-Type` that the page of the operation names.",
    416: "Ask for bytes within the size that `Content-Range` names.",
    421: "Send the request to the address of this service.",
    429: "Wait `Retry-After` seconds.",
    431: "Send fewer or smaller header fields.",
    500: "Report it to the operator with `X-Request-Id`.",
    503: "Don't repeat the request: this installation does not offer it. `detail` names the reason.",
}
_REPEAT_OR_RENAME = "Repeat the first request unchanged to get its answer again, or send this one with a fresh key."
_ADVICE_BY_CODE = {
    "idempotency_mismatch": f"{_REPEAT_OR_RENAME} For a claim, `links` lead to the issued one, and to the case of a "
    "second payment.",
    "idempotency_key_reused": _REPEAT_OR_RENAME,
    "quote_mismatch": "Send the quote's id and both hashes unchanged. No transaction was checked.",
    "payer_proof_invalid": "Have the payer sign the quote, then claim again. No transaction was checked.",
    "content_encoding_unsupported": "Send the body uncompressed, without `Content-Encoding`.",
    "origin_forbidden": "Send the request from a page of an allowed origin, or from a program other than a browser.",
    "payment_required": "Send a key, or pay one of the offers in `PAYMENT-REQUIRED`.",
    "payment_refused": "Sign one of the offers in `PAYMENT-REQUIRED` unchanged.",
    "payment_failed": "Nothing was taken. Check the balance, then sign again with a new nonce.",
    "quota_exceeded": "Wait for 00:00 UTC, or use a key of a higher plan.",
}


@dataclass(frozen=True)
class Operation:
    """One operation of the description."""

    described: ApiDescription
    method: str
    path: str
    node: Node

    @property
    def id(self) -> str:
        return str(self.node["operationId"])

    @property
    def summary(self) -> str:
        return str(self.node["summary"])

    @property
    def description(self) -> str:
        return str(self.node.get("description", ""))

    @property
    def tag(self) -> str:
        return str(self.node["tags"][0])

    @property
    def needs_key(self) -> bool:
        return bool(self.node["security"])

    @property
    def is_deprecated(self) -> bool:
        return bool(self.node.get("deprecated", False))

    @cached_property
    def responses(self) -> dict[int, Node]:
        return {int(status): self.described.resolved(node) for status, node in self.node["responses"].items()}

    @property
    def is_limited(self) -> bool:
        """Returns whether a request counts against the budget of its address or key."""
        return any("RateLimit-Policy" in answer.get("headers", {}) for answer in self.responses.values())

    @cached_property
    def parameters(self) -> tuple[Field, ...]:
        return tuple(
            Field(
                name=parameter["name"],
                kind=kind_of(self.described, parameter["schema"]),
                is_required=bool(parameter.get("required", False)),
                description=parameter.get("description", ""),
                where=parameter["in"],
                example=None if parameter.get("example") is None else str(parameter["example"]),
            )
            for parameter in map(self.described.resolved, self.node.get("parameters", ()))
        )

    @cached_property
    def body_fields(self) -> tuple[Field, ...]:
        return tuple(self._fields(next(iter(self._body.values()), {})))

    @property
    def body_examples(self) -> tuple[Example, ...]:
        return tuple(self._examples(next(iter(self._body.values()), {})))

    @property
    def body_media_types(self) -> tuple[str, ...]:
        return tuple(self._body)

    @property
    def _body(self) -> Node:
        content: Node = self.node.get("requestBody", {}).get("content", {})
        return content

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(
            self._answer(status, node)
            for status, node in sorted(self.responses.items())
            if PROBLEM_MEDIA_TYPE not in node.get("content", {})
        )

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        found: list[Problem] = []
        for status, node in sorted(self.responses.items()):
            media = node.get("content", {}).get(PROBLEM_MEDIA_TYPE, {})
            for code, reference in media.get("examples", {}).items():
                example = self.described.resolved(reference)
                found.append(
                    Problem(
                        status=status,
                        code=code,
                        title=str(example.get("summary", code)),
                        is_retryable=bool(example["value"].get("retryable", False)),
                        example=_pretty(example["value"]),
                        media_types=self.body_media_types,
                    )
                )
        return tuple(found)

    def command(self, url: str) -> str:
        """Returns a curl command for `url`, the address of the path with its templates.

        It sends an Idempotency-Key wherever one is accepted, because only with the key can a lost answer be obtained
        again. The key is a variable, never the example: callers without an API key share one scope, so everybody who
        sent the example would get the answer of the first who did. Of several bodies, it sends the first that does not
        name the request itself.
        """
        for parameter in self.parameters:
            if parameter.where == "path":
                url = url.replace(f"{{{parameter.name}}}", parameter.example or f"${parameter.name.upper()}")
        query = {
            field.name: field.example
            for field in self.parameters
            if field.where == "query" and field.is_required and field.example is not None
        }
        address = f"{url}?{urlencode(query)}" if query else url
        bodies = [example.text for example in self.body_examples if example.text is not None]
        body = next((text for text in bodies if not _names_request(text)), bodies[0] if bodies else None)
        parts = [f"curl {shlex.quote(address)}" if "$" not in address else f'curl "{address}"']
        if self.method != ("POST" if body is not None else "GET"):
            parts[0] = parts[0].replace("curl", f"curl -X {self.method}", 1)
        if self.needs_key:
            parts.append('-H "Authorization: Bearer $KEY"')
        headers = [field for field in self.parameters if field.where == "header"]
        repeats = any(field.name == IDEMPOTENCY_HEADER for field in headers) and not _names_request(body)
        if repeats:
            parts.append(f'-H "{IDEMPOTENCY_HEADER}: $IDEMPOTENCY_KEY"')
        for field in headers:
            if field.is_required and field.name != IDEMPOTENCY_HEADER:
                value = field.example or f"${field.name.upper().replace('-', '_')}"
                parts.append(f'-H "{field.name}: {value}"')
        if body is not None:
            compact = _compact(body)
            short = len(compact) <= _LONGEST_BODY_IN_COMMAND
            parts += [
                f"-H 'Content-Type: {self.body_media_types[0]}'",
                f"-d {shlex.quote(compact)}" if short else "-d @body.json",
            ]
        sent = " \\\n  ".join(parts) if len(" ".join(parts)) > _LONGEST_LINE else " ".join(parts)
        return f"{_RANDOM_KEY}\n{sent}" if repeats else sent

    def _answer(self, status: int, node: Node) -> Answer:
        media: Node = next(iter(node.get("content", {}).values()), {})
        return Answer(
            status=status,
            description=str(node.get("description", "")),
            media_types=tuple(node.get("content", {})),
            fields=tuple(self._fields(media)),
            examples=tuple(self._examples(media)),
            headers=tuple(
                (name, str(self.described.resolved(field).get("description", "")))
                for name, field in node.get("headers", {}).items()
            ),
            links=tuple(Link(link["operationId"], link["description"]) for link in node.get("links", {}).values()),
        )

    def _examples(self, media: Node) -> Iterator[Example]:
        for name, reference in media.get("examples", {}).items():
            example = self.described.resolved(reference)
            title = _words(name) if name not in ("answer", "published") else ""
            if "externalValue" in example:
                yield Example("The published document", address=example["externalValue"])
            else:
                value = example["value"]
                yield Example(
                    ": ".join(filter(None, [title, str(example.get("summary", ""))])) or "As recorded",
                    text=value if isinstance(value, str) else _pretty(value),
                )

    def _fields(self, media: Node) -> list[Field]:
        """Returns every member once. If alternatives share a member, the first with a description counts."""
        found: dict[str, Field] = {}
        for one in fields_of(self.described, media.get("schema", {})):
            known = found.get(one.name)
            if known is None:
                found[one.name] = one
            else:
                described = known if known.description or not one.description else one
                found[one.name] = replace(described, is_required=known.is_required and one.is_required)
        return list(found.values())


def fields_of(
    described: ApiDescription, schema: Node, prefix: str = "", entered: Sequence[str] = ()
) -> Iterator[Field]:
    """Yields every member of a body in depth-first order, with its path. A recursive schema is entered only once."""
    if len(entered) > _DEEPEST:
        return
    name = str(schema.get("$ref", ""))
    if name and name in entered:
        return
    whole, within = described.resolved(schema), (*entered, name)
    for option in (*whole.get("allOf", ()), *whole.get("anyOf", ()), *whole.get("oneOf", ())):
        yield from fields_of(described, _completed(described, option, whole), prefix, within)
    if whole.get("type") == "array":
        yield from fields_of(described, whole["items"], f"{prefix}[]", within)
    required = whole.get("required", ())
    for member, part in whole.get("properties", {}).items():
        path = f"{prefix}.{member}".lstrip(".")
        yield Field(path, kind_of(described, part), member in required, description_of(described, part))
        yield from fields_of(described, part, path, within)
    if isinstance(whole.get("additionalProperties"), dict):
        yield from fields_of(described, whole["additionalProperties"], f"{prefix}.*".lstrip("."), within)


def _completed(described: ApiDescription, option: Node, whole: Node) -> Node:
    """Returns an alternative of `whole` in which members that only narrow those of `whole` are completed from them.

    `{"anyOf": [{"properties": {"nodes": {"minItems": 1}}}], "properties": {"nodes": {"type": "array", ...}}}` means a
    list with at least one item.
    """
    members, common = option.get("properties", {}), whole.get("properties", {})
    narrowed = {name: {**described.resolved(common[name]), **part} for name, part in members.items() if name in common}
    return {**option, "properties": {**members, **narrowed}} if narrowed else option


def description_of(described: ApiDescription, schema: Node) -> str:
    """Returns the description of a schema, or of the schema to which it refers."""
    whole = described.resolved(schema)
    options = [*whole.get("allOf", ()), *whole.get("anyOf", ())]
    found = whole.get("description") or next(
        (text for option in options if (text := described.resolved(option).get("description"))), ""
    )
    return str(found)


def kind_of(described: ApiDescription, schema: Node) -> str:
    """Returns the type of a schema in words, such as `string (date-time) or null`."""
    whole = described.resolved(schema)
    null = " or null" if whole.get("nullable") else ""
    for keyword in ("anyOf", "oneOf", "allOf"):
        if "type" not in whole and (options := whole.get(keyword)):
            kinds = list(dict.fromkeys(kind_of(described, option) for option in options))
            kinds = [kind for kind in kinds if kind != "null"] + ["null"] * ("null" in kinds)
            return " or ".join(kinds) + null
    if whole.get("enum") == [None]:
        return "null"
    if "enum" in whole:
        return " or ".join(f"`{json.dumps(value)}`" for value in whole["enum"] if value is not None) + null
    kind = str(whole.get("type", "any"))
    details = ", ".join(filter(None, [str(whole.get("format", "")), *_bounds(whole)]))
    limited = f"{kind} ({details})" if details else kind
    return f"{limited} of {kind_of(described, whole['items'])}{null}" if kind == "array" else f"{limited}{null}"


def _bounds(schema: Node) -> Iterator[str]:
    """Yields the bounds of a number, a text, a list or an object in words."""
    for least, most, unit in _BOUNDS:
        low, high = schema.get(least), schema.get(most)
        if low is not None and low == high:
            yield f"exactly {_counted(low, unit)}"
        elif low is not None and high is not None:
            yield f"{low:,g} to {_counted(high, unit)}" if high < _WRITTEN_OUT else f"from {_counted(low, unit)}"
        elif low is not None:
            yield f"at least {_counted(low, unit)}"
        elif high is not None:
            yield f"at most {_counted(high, unit)}"


def _counted(number: float, unit: str) -> str:
    return f"{number:,g} {unit.removesuffix('s') if number == 1 else unit}".rstrip()


_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "items"),
    ("minProperties", "maxProperties", "members"),
)
_WRITTEN_OUT = 1_000_000
"""Bounds from here on only keep numbers exact and are not written out."""


def _words(name: str) -> str:
    """Returns the name of an example as words: `secondPage` becomes `Second page`."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name.replace("_", " "))
    return spaced.strip().capitalize()


def _pretty(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if len(text) <= LARGEST_EXAMPLE_CHARACTERS:
        return text
    cut = text[:LARGEST_EXAMPLE_CHARACTERS]
    return f"{cut[: cut.rfind(chr(10))]}\n… (cut off after {LARGEST_EXAMPLE_CHARACTERS:,} characters)"


def _names_request(body: str | None) -> bool:
    """Decides whether a body has the member that is equivalent to the header field Idempotency-Key."""
    try:
        value = json.loads(body or "null")
    except ValueError:
        return False
    return isinstance(value, dict) and "idempotencyKey" in value


def _compact(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text
