"""Compares facts that several documents state: names, addresses, versions, tools, statuses."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from contracts.discovery.checks.evidence import EXAMPLES, Defect, Evidence, HttpAnswer, path_below, values_in
from contracts.discovery.checks.money import money_defects
from contracts.discovery.service import CONTEXT_PATH

DOMAINS = ("FOUNDATION", "VISION", "STRATEGY", "TACTICS", "EXECUTION", "TRACK", "SYMBIOSIS")

_OPENAPI = "/openapi.json"
_CARD = "/.well-known/agent-card.json"
_SERVER_CARD = "/mcp/server-card"
_KEY_SERVER_CARD = "/api/v2/mcp/server-card"
_REGISTRY_ENTRY = "/server.json"
_REGISTRY = "/.well-known/svc-base-capabilities.json"
_CONTRACT = "/.well-known/svc-public-contract.json"
_REGISTRATION = "/.well-known/svc-agent-registration.json"
_X402 = "/.well-known/x402.json"
_ERC8004 = "/.well-known/agent-registration.json"
_AGENTS = "/.well-known/agents.txt"
_PLANS = "/api/agent-access/plans"
_DOCS = "/docs/"

_TWINS = (
    (_CARD, "/.well-known/agent.json"),
    (_SERVER_CARD, "/.well-known/mcp.json"),
    (_AGENTS, "/agents.txt"),
)
"""Documents with the same content at two paths."""

_TOOL = re.compile(r"svc_(?<!\wsvc_)(?!(?:basic|pro|free)(?:_|\b))[a-z]+(?:_[a-z]+)*\b(?!_)")
"""Begins with a literal, because that is found ten times as fast as a preceding word boundary."""

_PER_MINUTE = re.compile(r"\b(\d+)(?: requests (?:a|per) minute|/minute)\b")
_STATE_ON_PAGE = re.compile(r'data-capability="(\w+)"[^>]*>\s*<span class="state (\w+)"')
_PAGE_OF_OPERATION = re.compile(r'href="[^"]*/docs/operations/(\w+)/"')
_REVISION = re.compile(r"\b20\d\d-\d\d-\d\d\b")

Stated = tuple[str, Any]
"""A document that states a fact, and the stated value."""


def fact_defects(evidence: Evidence) -> Iterator[Defect]:
    """Yields documents that contradict each other, or the service's behaviour."""
    yield from _twins(evidence)
    yield from _identity(evidence)
    yield from _endpoints(evidence)
    yield from _tools(evidence)
    yield from _rate_limit(evidence)
    yield from _capabilities(evidence)
    yield from _routes(evidence)
    yield from _shown_states(evidence)
    yield from _parts(evidence)
    yield from _operation_pages(evidence)
    yield from money_defects(evidence)


def _twins(evidence: Evidence) -> Iterator[Defect]:
    for first, second in _TWINS:
        one, other = evidence.documents.get(first), evidence.documents.get(second)
        if one is not None and other is not None and one.body != other.body:
            yield Defect(second, f"differs from {first}", "Publish one document at both paths.")


def _identity(evidence: Evidence) -> Iterator[Defect]:
    def field(path: str, *names: str | int) -> Stated:
        return path, _dig(evidence.value(path), *names)

    agents = evidence.text(_AGENTS)
    llms = evidence.text("/llms.txt")
    skill = evidence.text("/skill.md")
    yield from _agree(
        "the name",
        [
            field(_CARD, "name"),
            field(_REGISTRY, "service"),
            field(_CONTRACT, "service"),
            field(_ERC8004, "name"),
            (_AGENTS, _first_match(r"^Site-Name: (.+)$", agents)),
            ("/llms.txt", _first_match(r"^# (.+)$", llms)),
        ],
    )
    yield from _agree(
        "the version",
        [
            field(_OPENAPI, "info", "version"),
            field("/openapi-v2.yaml", "info", "version"),
            field(_CARD, "version"),
            field(_REGISTRY, "version"),
            ("/skill.md", _first_match(r"^  version: \"?([^\"\n]+)\"?$", skill)),
        ],
    )
    for path, value in (
        field(CONTEXT_PATH, "baseUrl"),
        field(_REGISTRY, "baseUrl"),
        field(_CONTRACT, "baseUrl"),
        field(_REGISTRATION, "baseUrl"),
        field(_OPENAPI, "servers", 0, "url"),
        field("/openapi-v2.yaml", "servers", 0, "url"),
        ("/llms.txt", _first_match(r"Base URL: (\S+?)\.?(?:\s|$)", llms)),
        ("/skill.md", _first_match(r"^  base-url: \"?([^\"\n]+?)\"?$", skill)),
        (_AGENTS, (_first_match(r"^Site-URL: (\S+)$", agents) or "").rstrip("/") or None),
    ):
        if value is not None and value != evidence.base_url:
            yield Defect(path, f"names the base address {value}", f"Set SVC_BASE_URL to {evidence.base_url}.")
    for path, stated in (
        (CONTEXT_PATH, _dig(evidence.value(CONTEXT_PATH), "domains")),
        (_CONTRACT, [domain.get("name") for domain in _rows(evidence.value(_CONTRACT), "domains")] or None),
    ):
        if stated is not None and tuple(stated) != DOMAINS:
            yield Defect(path, f"names the domains {stated}", f"They are {', '.join(DOMAINS)}.")


def _endpoints(evidence: Evidence) -> Iterator[Defect]:
    card, registration = evidence.value(_SERVER_CARD), evidence.value(_REGISTRATION)
    blocks = re.split(r"^Capability: ", evidence.text(_AGENTS), flags=re.MULTILINE)[1:]
    by_key = _dig(evidence.value(_KEY_SERVER_CARD), "remotes", 0, "url")
    over_mcp = [_first_match(r"^\s*Endpoint: (\S+)$", block) for block in blocks if "Protocol: MCP" in block]
    yield from _agree(
        "the MCP endpoint",
        [
            (_SERVER_CARD, _dig(card, "remotes", 0, "url")),
            (_REGISTRATION, _dig(registration, "mcp", "url")),
            *((_AGENTS, endpoint) for endpoint in over_mcp if endpoint != by_key),
            *((_ERC8004, row.get("endpoint")) for row in _rows_named(evidence.value(_ERC8004), "services", "MCP")),
        ],
    )
    yield from _agree(
        "the MCP endpoint by key",
        [
            (_KEY_SERVER_CARD, by_key),
            (_REGISTRY_ENTRY, _dig(evidence.value(_REGISTRY_ENTRY), "remotes", 0, "url")),
        ],
    )
    versions = _dig(card, "remotes", 0, "supportedProtocolVersions")
    line = _first_match(r"^- MCP: (.+)$", evidence.text("/llms.txt"))
    yield from _agree(
        "the revisions of MCP",
        [
            (_SERVER_CARD, versions),
            (_REGISTRATION, _dig(registration, "mcp", "protocolVersions")),
            ("/llms.txt", _REVISION.findall(line) if line and _REVISION.search(line) else None),
        ],
    )


def _tools(evidence: Evidence) -> Iterator[Defect]:
    if evidence.tools is None:
        return
    by_key = _dig(evidence.value(_KEY_SERVER_CARD), "_meta") or {}
    of_pairing = set(evidence.tools)
    known = {*of_pairing, *(name for facts in by_key.values() for name in facts.get("toolNames", ()))}
    for path, answer in evidence.documents.items():
        for name in sorted(set(_TOOL.findall(answer.text)) - known):
            yield Defect(path, f"names the tool {name}, which no MCP server lists", "Name a tool of tools/list.")
    listed = _dig(evidence.value(_REGISTRATION), "mcp", "tools")
    if isinstance(listed, list) and set(listed) != of_pairing:
        odd = ", ".join(sorted(of_pairing.symmetric_difference(listed)))
        yield Defect(_REGISTRATION, f"lists other tools than /mcp ({odd})", "List the tools of tools/list.")


def _rate_limit(evidence: Evidence) -> Iterator[Defect]:
    if _PLANS not in evidence.documents:
        return
    policy = evidence.documents[_PLANS].headers.get("ratelimit-policy", "")
    limit = _first_match(r'"permin";q=(\d+)', policy)
    for path, answer in evidence.documents.items():
        for line in _lines(answer):
            for stated in _PER_MINUTE.findall(line) if "minute" in line else ():  # a search costs ten times as much
                if stated != limit and "session" not in line:
                    actual = "no limit" if limit is None else f"{limit} a minute"
                    yield Defect(path, f"states {stated} requests a minute", f"The service itself states {actual}.")


def _capabilities(evidence: Evidence) -> Iterator[Defect]:
    rows = {str(row.get("id")): row for row in _rows(evidence.value(_REGISTRY), "capabilities")}
    if not rows:
        return
    status = {id_: row.get("status") for id_, row in rows.items()}
    x402, plans = evidence.value(_X402), evidence.value(_PLANS)
    listed = _dig(evidence.value(_CONTRACT), "capabilities") or {}
    stated: list[tuple[str, str, Any]] = [
        (_X402, "paid_access", _dig(x402, "status", "receiptVerification")),
        (_X402, "payment_signature", _dig(x402, "status", "paymentSignatureSettlement")),
        *((_CONTRACT, id_, document) for document, ids in listed.items() for id_ in ids),
        *(
            (_REGISTRATION, str(mode.get("capability")), mode.get("status"))
            for mode in _rows(evidence.value(_REGISTRATION), "modes")
        ),
    ]
    for path, id_, value in stated:
        if value is None:
            continue
        if id_ not in status:
            yield Defect(path, f"names the capability {id_}, which the registry does not know", "Name one of it.")
        elif value != status[id_] and not (value == "live" and _is_off_by_probe(rows[id_])):
            yield Defect(path, f"calls {id_} {value}, the registry {status[id_]}", "Make both from the same state.")
    for path, id_, live in (
        (_PLANS, "paid_access", _dig(plans, "payment", "live")),
        (_PLANS, "payment_signature", _dig(plans, "payment", "paymentSignatureLive")),
        (_ERC8004, "payment_signature", _dig(evidence.value(_ERC8004), "x402Support")),
    ):
        if live is not None and id_ in status and live != (status[id_] == "live") and not _is_off_by_probe(rows[id_]):
            yield Defect(path, f"says that {id_} is {'live' if live else 'not live'}", f"The registry: {status[id_]}.")
    for skill in _rows(evidence.value(_CARD), "skills"):
        id_ = str(skill.get("id"))
        if id_ in status and status[id_] != "live" and not _is_off_by_probe(rows[id_]):
            yield Defect(_CARD, f"offers {id_}, which is {status[id_]}", "Offer what is live.")


def _is_off_by_probe(row: dict[str, Any]) -> bool:
    """Returns whether a probe found the capability off, or has yet to look, which documents that follow the settings
    can't state."""
    return row.get("status") == "unknown" or (row.get("status") == "off" and row.get("determinedBy") != "settings")


def _routes(evidence: Evidence) -> Iterator[Defect]:
    described = _operations(evidence.value(_OPENAPI))
    if not described:
        return
    for row in _rows(evidence.value(_REGISTRY), "capabilities"):
        for route in _rows(row, "routes"):
            path = path_below(evidence.base_url, str(route.get("url")))
            operation = (str(route.get("method")).lower(), path or "")
            if operation not in described:
                what = f"{route.get('method')} {path}"
                yield Defect(_REGISTRY, f"names {what}, which is not described", "Name an operation of OpenAPI.")
    server = _dig(evidence.value("/openapi-v2.yaml"), "servers", 0, "url") or evidence.base_url
    prefix = urlsplit(str(server)).path.removeprefix(urlsplit(evidence.base_url).path)
    for method, path in sorted(_operations(evidence.value("/openapi-v2.yaml"))):
        if (method, prefix + path) not in described:
            yield Defect(
                "/openapi-v2.yaml", f"is the only one that describes {method} {path}", "Make it from /openapi.json."
            )


def _shown_states(evidence: Evidence) -> Iterator[Defect]:
    """Yields capabilities whose state on a page differs from the registry's."""
    status = {row.get("id"): row.get("status") for row in _rows(evidence.value(_REGISTRY), "capabilities")}
    for path, answer in evidence.documents.items():
        for id_, shown in _STATE_ON_PAGE.findall(answer.text) if answer.media_type == "text/html" else ():
            if id_ in status and shown != status[id_]:
                yield Defect(path, f"calls {id_} {shown}, the registry {status[id_]}", "Make the page of the registry.")


def _parts(evidence: Evidence) -> Iterator[Defect]:
    """Yields documents that are stale although none of their parts is, or fresh although a part is stale."""
    for path, answer in {**evidence.linked_documents, **evidence.documents}.items():
        block = answer.value
        if isinstance(block, dict) and "stale" not in block and isinstance(block.get("data"), dict):
            block = block["data"]
        if not isinstance(block, dict) or not isinstance(block.get("stale"), bool):
            continue
        parts = [
            part for part in values_in(block)[1:] if isinstance(part, dict) and {"stale", "staleAfter"} <= set(part)
        ]
        if any(part["staleAfter"] for part in parts) and block["stale"] != any(part["stale"] for part in parts):
            says = "is stale, though none of its parts is" if block["stale"] else "is not stale, though a part of it is"
            yield Defect(path, says, "Derive its state from those of its parts.")


def _operation_pages(evidence: Evidence) -> Iterator[Defect]:
    """Yields operations that are missing from the documentation's index."""
    if _DOCS not in evidence.documents:
        return
    paths = _dig(evidence.value(_OPENAPI), "paths")
    items = [item for item in paths.values() if isinstance(item, dict)] if isinstance(paths, dict) else []
    ids = {str(_dig(operation, "operationId")) for item in items for operation in item.values()}
    listed = set(_PAGE_OF_OPERATION.findall(evidence.text(_DOCS)))
    for id_ in sorted(ids - listed):
        yield Defect(_DOCS, f"does not list the operation {id_}", "Make it of the description.")


def _operations(description: Any) -> set[tuple[str, str]]:
    paths = _dig(description, "paths")
    if not isinstance(paths, dict):
        return set()
    return {(method, path) for path, item in paths.items() if isinstance(item, dict) for method in item}


def _agree(what: str, stated: Iterable[Stated]) -> Iterator[Defect]:
    """Yields one defect for each document that differs from the first."""
    present = [(path, value) for path, value in stated if value is not None]
    for path, value in present[1:]:
        if value != present[0][1]:
            yield Defect(
                path, f"states {what} {value!r}", f"{present[0][0]} states {present[0][1]!r}: take both from one."
            )


def _lines(answer: HttpAnswer) -> Iterator[str]:
    """Splits a body into units: lines of texts, or strings of JSON without its examples."""
    value = answer.value
    if value is None:
        yield from answer.text.splitlines()
        return
    yield from (text for text in values_in(value, without=EXAMPLES) if isinstance(text, str))


def _dig(value: Any, *names: str | int) -> Any:
    for name in names:
        if isinstance(name, int):
            value = value[name] if isinstance(value, list) and len(value) > name else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


def _rows(value: Any, name: str) -> list[dict[str, Any]]:
    rows = _dig(value, name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _rows_named(value: Any, name: str, wanted: str) -> list[dict[str, Any]]:
    return [row for row in _rows(value, name) if row.get("name") == wanted]


def _first_match(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else None
