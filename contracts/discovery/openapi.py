"""Publishes the committed OpenAPI description for one installation.

`python -m api.openapi` writes the committed file from routes and models, without examples. Publishing adds the
installation's address, the ids of its plans and all examples. Two documents publish it: `/openapi.json`, and
`/openapi-v2.yaml` with only API v2.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from contracts.access.example_quote import example_quote_answer
from contracts.access.plans import PLANS_PATH, QUOTE_PATH, load_plans, plans_answer
from contracts.access.signing import JWKS_PATH
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.discovery.examples import add_pending, add_problems, add_recorded, references, resolved
from contracts.discovery.installation import Installation

OPENAPI_FILE = Path(__file__).parents[1] / "openapi" / "openapi.json"

OPENAPI_PATH = "/openapi.json"
OPENAPI_V2_PATH = "/openapi-v2.yaml"
V2_PREFIX = "/api/v2/"

Bodies = Mapping[str, bytes]
"""Published bodies by path."""


def openapi_json(installation: Installation, published: Iterable[str]) -> bytes:
    """Builds the whole description of an installation that publishes documents at these paths."""
    return msgspec.json.encode(description_for(installation, published))


@lru_cache(maxsize=4)
def openapi_v2_yaml(whole: bytes) -> bytes:
    """Builds the description of API v2 in YAML from the whole one. Caches it, because that rarely changes."""
    described = restricted(msgspec.json.decode(whole), V2_PREFIX)
    text: str = yaml.dump(described, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return text.encode()


def description_for(installation: Installation, published: Iterable[str]) -> dict[str, Any]:
    """Builds the description with `servers`, `contact` and examples of `installation`.

    The example of a published document is the document itself, by its address, so the description does not change when
    a number does.
    """
    described: dict[str, Any] = msgspec.json.decode(_described_before_documents(installation))
    for path in sorted(published):
        if media := _media(described, path):
            media.setdefault("examples", {})["published"] = {"externalValue": installation.url(path)}
    return described


@lru_cache(maxsize=8)
def _described_before_documents(installation: Installation) -> bytes:
    """Builds the part of the description that does not depend on the published documents."""
    described: dict[str, Any] = msgspec.json.decode(_described_at(installation.base_url))
    if installation.contact_email is not None:
        described["info"]["contact"]["email"] = installation.contact_email
    described["components"]["schemas"]["QuoteRequest"]["properties"]["planId"]["enum"] = list(load_plans())
    _show_plans(described, installation)
    _show_own_quote(described, installation)
    return msgspec.json.encode(described)


@lru_cache(maxsize=8)
def _described_at(base_url: str) -> bytes:
    """Builds the part that is the same for all installations at an address."""
    described: dict[str, Any] = msgspec.json.decode(OPENAPI_FILE.read_bytes())
    described["servers"] = [{"url": base_url}]
    add_recorded(described, base_url)
    add_problems(described, base_url)
    add_pending(described, base_url)
    return msgspec.json.encode(described)


def restricted(described: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Returns the description with only the paths under `prefix`, and the tags and components that they refer to."""
    paths = {path: operations for path, operations in described["paths"].items() if path.startswith(prefix)}
    operations = [operation for item in paths.values() for operation in item.values()]
    ids = {operation["operationId"] for operation in operations}
    for operation in operations:
        for response in operation["responses"].values():
            links = {name: link for name, link in response.pop("links", {}).items() if link["operationId"] in ids}
            response |= {"links": links} if links else {}
    needed: set[str] = set()
    reached = set(references(paths))
    while reached - needed:
        needed |= reached
        reached = {item for ref in needed for item in references(resolved(described, {"$ref": ref}))}
    components = {
        kind: {name: part for name, part in parts.items() if f"#/components/{kind}/{name}" in needed}
        for kind, parts in described["components"].items()
        if kind != "securitySchemes"
    }
    tags = {tag for operation in operations for tag in operation["tags"]}
    return described | {
        "paths": paths,
        "tags": [tag for tag in described["tags"] if tag["name"] in tags],
        "components": components | {"securitySchemes": described["components"]["securitySchemes"]},
    }


def _show_plans(described: dict[str, Any], installation: Installation) -> None:
    """Adds all plans and the key set, in which a reader can look up what other examples buy and who signed receipts."""
    catalog = plans_answer(installation.rail, installation.base_url, REQUESTS_A_DAY, trials=installation.issues_trials)
    bodies: dict[str, Any] = {PLANS_PATH: catalog.model_dump(mode="json", by_alias=True)}
    if installation.keys is not None:
        bodies[JWKS_PATH] = installation.keys.jwks()
    for path, body in bodies.items():
        _media(described, path)["examples"] = {"published": {"value": body}}


def _show_own_quote(described: dict[str, Any], installation: Installation) -> None:
    """Replaces a recorded quote by one of this installation, so that no reader pays to another's address."""
    if installation.rail.missing or installation.keys is None:
        return
    own = example_quote_answer(installation.rail, installation.base_url, installation.keys)
    for media in described["paths"][QUOTE_PATH]["post"]["responses"]["201"]["content"].values():
        media["examples"] = {"published": {"summary": "An expired quote of this installation", "value": own}}


def _media(described: dict[str, Any], path: str) -> dict[str, Any]:
    """Returns the description of the body that a GET of `path` returns; empty without such a body."""
    operation = described["paths"].get(path, {}).get("get", {})
    content: dict[str, Any] = operation.get("responses", {}).get("200", {}).get("content", {})
    return next(iter(content.values()), {})
