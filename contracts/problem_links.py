"""Resolves the relations that a problem declares (`RequestProblem.leads`) to the URLs of one installation. Pure.

A relation leads to an operation of the description, so every path is written only once. `docs` leads to the page of the
requested operation. A GET can follow every link: an operation whose path has parameters is represented by its page,
which shows them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from contracts.access.rail import rail_of
from contracts.errors import Lead, RequestProblem
from contracts.settings import Settings

DESCRIPTION_FILE = Path(__file__).parent / "openapi" / "openapi.json"


class Relation(NamedTuple):
    """The target of a relation."""

    operation: str
    registered: str | None = None
    """The relation type registered at IANA, for the Link header field."""
    sells: bool = False
    """True if the link is useful only where something can be bought."""


RELATIONS: dict[Lead, Relation] = {
    "plans": Relation("agent_access_plans", "payment", sells=True),
    "quote": Relation("agent_access_quote", sells=True),
    "trial": Relation("agent_access_trial_challenge"),
    "account": Relation("my_key"),
    "query": Relation("world_model_query"),
    "register": Relation("intake_register"),
    "description": Relation("openapi", "service-desc"),
}
"""Every relation except `home`, the front door; `docs`, the page of the requested operation; and `challenge`, which a
GET of the same path answers."""

_REGISTERED = {"docs": "help"} | {lead: each.registered for lead, each in RELATIONS.items() if each.registered}


class Operation(msgspec.Struct, rename="camel"):
    """The name and texts of an operation of the description."""

    operation_id: str
    summary: str
    description: str = ""


class _Description(msgspec.Struct):
    paths: dict[str, dict[str, Operation]]


@cache
def operations() -> dict[str, dict[str, Operation]]:
    """Returns every operation of the committed description, by path and method."""
    return msgspec.json.decode(DESCRIPTION_FILE.read_bytes(), type=_Description).paths


@cache
def _described() -> dict[str, dict[str, str]]:
    """Returns the id of every operation of the committed description, by path and method."""
    return {
        path: {method: operation.operation_id for method, operation in methods.items()}
        for path, methods in operations().items()
    }


@cache
def paths_by_operation() -> dict[str, str]:
    """Returns the path of every operation, with its parameters in braces, by operation id."""
    return {operation: path for path, methods in _described().items() for operation in methods.values()}


@cache
def _templates() -> list[tuple[re.Pattern[str], str]]:
    """Returns a pattern for each path with parameters, the longest first. Only a final parameter may contain
    slashes."""
    templates = sorted((path for path in _described() if "{" in path), key=lambda path: (-path.count("/"), path))
    return [(re.compile(_pattern(path)), path) for path in templates]


def _pattern(template: str) -> str:
    parts = [re.escape(part) for part in re.split(r"\{\w+\}", template)]
    return "[^/]+".join(parts[:-1]) + ".+" if parts[-1] == "" else "[^/]+".join(parts)


def operation_at(method: str, path: str) -> str | None:
    """Returns the id of the described operation that a request is for, or None.

    If the path does not have the method, returns another operation of the path, and its preflight only as a last
    resort.
    """
    described = _described()
    methods = described.get(path)
    if methods is None:
        methods = next((described[known] for pattern, known in _templates() if pattern.fullmatch(path)), None)
    if methods is None:
        return None
    others = [operation for known, operation in methods.items() if known != "options"]
    return methods.get(method.lower()) or next(iter(others or methods.values()))


def operation_docs_path(operation_id: str) -> str:
    """Returns the path of the page that documents one operation."""
    return f"/docs/operations/{operation_id}/"


class ProblemLinks:
    """The links of problems in one installation.

    `sells` is true if anything can be bought there, `issues_trials` if a key is available without a payment.
    """

    def __init__(self, base_url: str, *, sells: bool, issues_trials: bool = False) -> None:
        self._base_url = base_url
        self._closed = {lead for lead, relation in RELATIONS.items() if relation.sells and not sells}
        if not issues_trials:
            self._closed.add("trial")

    def of(self, problem: RequestProblem, method: str, path: str) -> dict[str, str]:
        """Returns the links of a problem with a request: its own, those declared by its class, and the front door."""
        own = links_of(problem)
        leads: tuple[Lead, ...] = (*problem.leads, "home")
        targets = {lead: self._path(lead, method, path) for lead in leads if lead not in own}
        return own | {lead: self._base_url + target for lead, target in targets.items() if target is not None}

    def _path(self, lead: Lead, method: str, path: str) -> str | None:
        if lead == "home":
            return "/"
        if lead == "docs":
            operation = operation_at(method, path)
            return None if operation is None else operation_docs_path(operation)
        if lead == "challenge":
            return quote(path)
        if lead in self._closed:
            return None
        operation = RELATIONS[lead].operation
        target = paths_by_operation()[operation]
        return operation_docs_path(operation) if "{" in target else target


def links_of(problem: RequestProblem) -> dict[str, str]:
    """Returns the links that the problem itself carries, such as that of a case."""
    links = problem.extensions.get("links", {})
    assert isinstance(links, dict)
    return {str(relation): str(url) for relation, url in links.items() if url is not None}


def problem_links(settings: Settings) -> ProblemLinks:
    """Returns the links of this installation."""
    return ProblemLinks(
        settings.public_base_url,
        sells=not rail_of(settings).missing,
        issues_trials=settings.trial_keys_per_day > 0,
    )


def link_field(links: Mapping[str, str]) -> dict[str, str]:
    """Returns the Link header field (RFC 8288) of links with registered relations, or an empty mapping."""
    targets = [f'<{url}>; rel="{_REGISTERED[relation]}"' for relation, url in links.items() if relation in _REGISTERED]
    return {"Link": ", ".join(targets)} if targets else {}
