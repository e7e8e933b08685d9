"""Publishes the committed OpenAPI description for one installation.

`python -m api.openapi` writes the committed file from routes and models; it has no examples. Publishing adds the
installation's address, the ids of its plans and all examples. Two documents publish it: `/openapi.json`, and
`/openapi-v2.yaml` with API v2 only.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from contracts.access.example_quote import example_quote_answer
from contracts.access.plans import PLANS_PATH, QUOTE_PATH, load_plans, plans_answer
from contracts.access.signing import JWKS_PATH
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.discovery.examples import add_pending, add_problems, add_recorded, example_of, references
from contracts.discovery.installation import Installation
from contracts.outside_texts import without_outside_texts

OPENAPI_FILE = Path(__file__).parents[1] / "openapi" / "openapi.json"

OPENAPI_PATH = "/openapi.json"
OPENAPI_V2_PATH = "/openapi-v2.yaml"
V2_PREFIX = "/api/v2/"

EXAMPLES_KEPT_FOR = timedelta(hours=1)
"""Period in which examples of changing numbers stay unchanged, so that clients may keep the description."""

_EXAMPLES_AT = "x-examples-at"

Bodies = Mapping[str, bytes]
"""Published bodies by path; under `OPENAPI_PATH` the description as it was published last, if it was."""


def openapi_json(installation: Installation, bodies: Bodies) -> bytes:
    """Makes the whole description."""
    return msgspec.json.encode(description_for(installation, bodies))


def openapi_v2_yaml(installation: Installation, bodies: Bodies) -> bytes:
    """Makes the description of API v2 in YAML, of the whole one, which is published just before."""
    return _v2_in_yaml(bodies.get(OPENAPI_PATH) or openapi_json(installation, bodies))


@lru_cache(maxsize=4)
def _v2_in_yaml(whole: bytes) -> bytes:
    """Makes the YAML of a description that may not have changed since it was published last."""
    described = restricted(msgspec.json.decode(whole), V2_PREFIX)
    text: str = yaml.dump(described, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return text.encode()


def description_for(installation: Installation, bodies: Bodies) -> dict[str, Any]:
    """Makes the description with `servers`, `contact` and examples of `installation`."""
    described: dict[str, Any] = msgspec.json.decode(_described_before_bodies(installation))
    at, examples = _live_examples(installation, described, bodies)
    if at is not None:
        described["info"][_EXAMPLES_AT] = at
    for path, example in examples.items():
        _media(described, path)["examples"] = {"published": example}
    return described


@lru_cache(maxsize=8)
def _described_before_bodies(installation: Installation) -> bytes:
    """Makes the part of the description that stays the same while an installation publishes."""
    described: dict[str, Any] = msgspec.json.decode(_described_at(installation.base_url))
    if installation.contact_email is not None:
        described["info"]["contact"]["email"] = installation.contact_email
    described["components"]["schemas"]["QuoteRequest"]["properties"]["planId"]["enum"] = list(load_plans())
    _show_own_quote(described, installation)
    return msgspec.json.encode(described)


@lru_cache(maxsize=8)
def _described_at(base_url: str) -> bytes:
    """Makes the part that is the same for all installations at an address."""
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
        reached = {item for ref in needed for item in references(_at(described, ref))}
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


def freshness_of(body: Any) -> dict[str, Any]:
    """Returns the freshness block of a body, at the top or in `data`; empty if it has none."""
    for block in (body, body.get("data")) if isinstance(body, dict) else ():
        if isinstance(block, dict) and "generatedAt" in block:
            return block
    return {}


def _show_own_quote(described: dict[str, Any], installation: Installation) -> None:
    """Replaces a recorded quote by one of this installation, so that no reader pays to another's address."""
    if installation.rail.missing or installation.keys is None:
        return
    own = example_quote_answer(installation.rail, installation.base_url, installation.keys)
    for media in described["paths"][QUOTE_PATH]["post"]["responses"]["201"]["content"].values():
        media["examples"] = {"published": {"summary": "A quote of this installation, long over", "value": own}}


def _live_examples(
    installation: Installation, described: dict[str, Any], bodies: Bodies
) -> tuple[str | None, dict[str, Any]]:
    """Returns examples by path, and the time of the newest example among those that change all the time."""
    catalog = plans_answer(installation.rail, installation.base_url, REQUESTS_A_DAY)
    steady: dict[str, Any] = {PLANS_PATH: catalog.model_dump(mode="json", by_alias=True)}
    if installation.keys is not None:
        steady[JWKS_PATH] = installation.keys.jwks()
    moving: dict[str, Any] = {}
    for path, content in bodies.items():
        if path in (OPENAPI_PATH, OPENAPI_V2_PATH) or not (media := _media(described, path)):
            continue
        is_text = media["schema"].get("type") == "string"
        body = content.decode() if is_text else without_outside_texts(msgspec.json.decode(content))
        moves = freshness_of(body) or (isinstance(body, dict) and "revision" in body)
        (moving if moves else steady)[path] = body
    at, unchanged = _unchanged_examples(described, bodies.get(OPENAPI_PATH), moving)
    sound = {path: body for path, body in moving.items() if freshness_of(body).get("quality") != "unavailable"}
    shown = {path: example_of(body, installation.url(path)) for path, body in (steady | sound).items()}
    return at, {path: example for path, example in shown.items() if example is not None} | unchanged


def _unchanged_examples(
    described: dict[str, Any], last: bytes | None, moving: dict[str, Any]
) -> tuple[str | None, dict[str, Any]]:
    """Returns the last published examples of changing bodies, and the time that applies to them from now on."""
    at = max((time for body in moving.values() if (time := freshness_of(body).get("generatedAt"))), default=None)
    before = {} if last is None else msgspec.json.decode(last)
    since = before.get("info", {}).get(_EXAMPLES_AT)
    if since is None or at is None or before["components"]["schemas"] != described["components"]["schemas"]:
        return at, {}
    if datetime.fromisoformat(at) - datetime.fromisoformat(since) >= EXAMPLES_KEPT_FOR:
        return at, {}
    shown = {path: _media(before, path).get("examples", {}).get("published") for path in moving}
    return since, {path: example for path, example in shown.items() if example is not None}


def _media(described: dict[str, Any], path: str) -> dict[str, Any]:
    """Returns the description of the body that a GET of `path` returns; empty without such a body."""
    operation = described["paths"].get(path, {}).get("get", {})
    content: dict[str, Any] = operation.get("responses", {}).get("200", {}).get("content", {})
    return next(iter(content.values()), {})


def _at(described: dict[str, Any], ref: str) -> Any:
    _, _, kind, name = ref.split("/")
    return described["components"][kind][name]
