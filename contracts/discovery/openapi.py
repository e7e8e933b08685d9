"""The committed OpenAPI description, as it is published for one installation. `python -m api.openapi` writes it.

Published, it has the installation's address, also in examples that were recorded elsewhere, and what the installation
publishes as examples. Two documents say it: `/openapi.json`, and `/openapi-v2.yaml` with API v2 alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from contracts.access.example_quote import example_quote_answer
from contracts.access.plans import CASE_SUPPLEMENT_PATH, PLANS_PATH, QUOTE_PATH, load_plans, plans_answer
from contracts.access.rail import usd_of
from contracts.access.signing import JWKS_PATH
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.discovery.installation import Installation
from contracts.outside_texts import without_outside_texts

OPENAPI_FILE = Path(__file__).parents[1] / "openapi" / "openapi.json"
EXAMPLES_DIR = OPENAPI_FILE.with_name("examples")
PROBLEM_EXAMPLES = EXAMPLES_DIR / "problems.json"

OPENAPI_PATH = "/openapi.json"
OPENAPI_V2_PATH = "/openapi-v2.yaml"
V2_PREFIX = "/api/v2/"

RECORDED_AT = "https://svc.example"
"""The base address of the installation whose answers are the committed examples."""

LONGEST_LIST = 3
LARGEST_WHOLE_BYTES = 4_096

EXAMPLES_KEPT_FOR = timedelta(hours=1)
"""How long examples of numbers that change all the time stay as they are, so that clients may keep the description."""

_EXAMPLES_AT = "x-examples-at"

Bodies = Mapping[str, bytes]
"""Published bodies by path; under `OPENAPI_PATH` the description as it was published last, if it was."""


def openapi_json(installation: Installation, bodies: Bodies) -> bytes:
    """The whole description."""
    return json.dumps(description_for(installation, bodies), ensure_ascii=False, separators=(",", ":")).encode()


def openapi_v2_yaml(installation: Installation, bodies: Bodies) -> bytes:
    """The description of API v2, in YAML."""
    described = restricted(description_for(installation, bodies), V2_PREFIX)
    text: str = yaml.dump(described, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return text.encode()


def description_for(installation: Installation, bodies: Bodies) -> dict[str, Any]:
    """The description with `servers`, `contact` and examples of `installation`."""
    described: dict[str, Any] = json.loads(OPENAPI_FILE.read_text())
    described["servers"] = [{"url": installation.base_url}]
    if installation.contact_email is not None:
        described["info"]["contact"]["email"] = installation.contact_email
    drop_other_prices(described, {plan.id: usd_of(plan.price) for plan in load_plans().values()})
    _show_own_addresses(described, installation.base_url)
    _show_own_quote(described, installation)
    at, examples = _live_examples(installation, described, bodies)
    if at is not None:
        described["info"][_EXAMPLES_AT] = at
    for path, example in examples.items():
        _media(described, path)["examples"] = {"published": example}
    return described


def restricted(described: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The same description with the paths under `prefix` alone, and of tags and components what these refer to."""
    paths = {path: operations for path, operations in described["paths"].items() if path.startswith(prefix)}
    operations = [operation for each in paths.values() for operation in each.values()]
    ids = {operation["operationId"] for operation in operations}
    for operation in operations:
        for response in operation["responses"].values():
            kept = {name: link for name, link in response.pop("links", {}).items() if link["operationId"] in ids}
            response |= {"links": kept} if kept else {}
    needed: set[str] = set()
    reached = set(references(paths))
    while reached - needed:
        needed |= reached
        reached = {each for ref in needed for each in references(_at(described, ref))}
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


def example_of(body: Any, address: str | None) -> dict[str, Any] | None:
    """A body as an example, its lists cut to a few items where it is large. A long text is shown by its address, and so
    is a body with references of its own, which can't stand within a description; None where it has none."""
    is_large = len(json.dumps(body)) > LARGEST_WHOLE_BYTES
    if (is_large and isinstance(body, str)) or any(references(body)):
        return None if address is None else {"externalValue": address}
    if not is_large:
        return {"value": body}
    return {"summary": "Long lists are cut", "value": _cut(body)}


def references(node: Any) -> Iterator[str]:
    """What a part of the description refers to, by `$ref`."""
    if isinstance(node, dict):
        if isinstance(ref := node.get("$ref"), str):
            yield ref
        for each in node.values():
            yield from references(each)
    elif isinstance(node, list):
        for each in node:
            yield from references(each)


def drop_other_prices(described: dict[str, Any], prices: Mapping[str, str]) -> None:
    """Leave out, in place, examples of purchases that were recorded at other prices (USD by plan) than `prices`."""
    recorded = [example["value"]["plans"] for example in _media(described, PLANS_PATH).get("examples", {}).values()]
    if all({plan["id"]: plan["price"]["amount"] for plan in plans} == prices for plans in recorded):
        return
    for path, operations in described["paths"].items():
        for operation in operations.values() if path.startswith(f"{PLANS_PATH.rpartition('/')[0]}/") else ():
            for status, response in operation["responses"].items():
                for media in response.get("content", {}).values() if status < "400" else ():
                    media.pop("examples", None)


def _show_own_addresses(described: dict[str, Any], base_url: str) -> None:
    """Put the installation's address, in place, where recorded examples have another's."""
    content = [
        media
        for operations in described["paths"].values()
        for operation in operations.values()
        for response in operation["responses"].values()
        for media in response.get("content", {}).values()
    ]
    for holder in (*content, described["components"]):
        for example in holder.get("examples", {}).values():
            if "value" in example:
                example["value"] = _readdressed(example["value"], base_url)


def _readdressed(value: Any, base_url: str) -> Any:
    """What is signed stays as it was recorded: its hash is taken over its addresses too."""
    if isinstance(value, str):
        return value.replace(RECORDED_AT, base_url)
    if isinstance(value, list):
        return [_readdressed(each, base_url) for each in value]
    if isinstance(value, dict) and "signature" not in value:
        return {name: _readdressed(each, base_url) for name, each in value.items()}
    return value


def _show_own_quote(described: dict[str, Any], installation: Installation) -> None:
    """Put a quote of this installation where the recorded one stands, so that nobody pays to another's address.

    A supplementary quote follows from a payment, so there is none to put in its place.
    """
    for path in (QUOTE_PATH, CASE_SUPPLEMENT_PATH):
        for media in _answered(described, path):
            media.pop("examples", None)
    for media in _answered(described, QUOTE_PATH):
        if not installation.rail.missing and installation.keys is not None:
            own = example_quote_answer(installation.rail, installation.base_url, installation.keys)
            media["examples"] = {"published": {"summary": "A quote of this installation, long over", "value": own}}


def _answered(described: dict[str, Any], path: str) -> Iterable[dict[str, Any]]:
    """What the description says of the bodies that a POST to `path` answers with 201."""
    answers = described["paths"].get(path, {}).get("post", {}).get("responses", {})
    content: dict[str, dict[str, Any]] = answers.get("201", {}).get("content", {})
    return content.values()


def _live_examples(
    installation: Installation, described: dict[str, Any], bodies: Bodies
) -> tuple[str | None, dict[str, Any]]:
    """Examples by path, and from when the newest of those is that change all the time."""
    catalog = plans_answer(installation.rail, installation.base_url, REQUESTS_A_DAY)
    steady: dict[str, Any] = {PLANS_PATH: catalog.model_dump(mode="json", by_alias=True)}
    if installation.keys is not None:
        steady[JWKS_PATH] = installation.keys.jwks()
    moving: dict[str, Any] = {}
    for path, content in bodies.items():
        if path in (OPENAPI_PATH, OPENAPI_V2_PATH) or not (media := _media(described, path)):
            continue
        is_text = media["schema"].get("type") == "string"
        body = content.decode() if is_text else without_outside_texts(json.loads(content))
        moves = _block(body) or (isinstance(body, dict) and "revision" in body)
        (moving if moves else steady)[path] = body
    at, kept = _kept(described, bodies.get(OPENAPI_PATH), moving)
    sound = {path: body for path, body in moving.items() if _block(body).get("quality") != "unavailable"}
    shown = {path: example_of(body, installation.url(path)) for path, body in (steady | sound).items()}
    return at, {path: example for path, example in shown.items() if example is not None} | kept


def _kept(described: dict[str, Any], last: bytes | None, moving: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The examples of moving bodies that stay as they were published last, and the time that holds from now on."""
    at = max((time for body in moving.values() if (time := _block(body).get("generatedAt"))), default=None)
    before = {} if last is None else json.loads(last)
    since = before.get("info", {}).get(_EXAMPLES_AT)
    if since is None or at is None or before["components"]["schemas"] != described["components"]["schemas"]:
        return at, {}
    if datetime.fromisoformat(at) - datetime.fromisoformat(since) >= EXAMPLES_KEPT_FOR:
        return at, {}
    shown = {path: _media(before, path).get("examples", {}).get("published") for path in moving}
    return since, {path: example for path, example in shown.items() if example is not None}


def _block(body: Any) -> dict[str, Any]:
    """The freshness block of a body, at the top or in `data`; empty where it has none."""
    for block in (body, body.get("data")) if isinstance(body, dict) else ():
        if isinstance(block, dict) and "generatedAt" in block:
            return block
    return {}


def _media(described: dict[str, Any], path: str) -> dict[str, Any]:
    """What the description says of the body that a GET of `path` gives; empty where it says nothing."""
    operation = described["paths"].get(path, {}).get("get", {})
    content: dict[str, Any] = operation.get("responses", {}).get("200", {}).get("content", {})
    return next(iter(content.values()), {})


def _at(described: dict[str, Any], ref: str) -> Any:
    _, _, kind, name = ref.split("/")
    return described["components"][kind][name]


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_cut(each) for each in value[:LONGEST_LIST]]
    return value
