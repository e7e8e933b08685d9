"""Addresses in discovery documents are absolute, and lead to an existing route below the base URL or to a named
standard."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from installations import EVERYTHING, NOON, PREFIXED, bare, bodies, documents, installed, texts_in

from contracts.discovery.capabilities import Status
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.discovery.registry import NOT_LOOKED, Finding
from contracts.publish.registry import PROJECTIONS, REDIRECTS
from pipelines.publish.site import FOLDERS

STANDARDS = {
    "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "https://modelcontextprotocol.io/specification/2026-07-28",
    "https://spec.openapis.org/oas/v3.0.3",
    "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
    "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
    "https://json-schema.org/draft/2020-12/schema",
}
ELSEWHERE = {EVERYTHING["app_url"]}
DESCRIBED = set(json.loads(OPENAPI_FILE.read_text())["paths"])
ROUTES = DESCRIBED | {path for row in PROJECTIONS for path in row.paths} | {redirect.path for redirect in REDIRECTS}
ANCHORS = {"/", "/api/v2", "/mcp"}
"""Addresses that identify an API: the start of its paths."""

_ADDRESS = re.compile(r"https?://[^\s\"'<>)]+")


def addresses(value: object) -> Iterator[str]:
    for text in texts_in(value):
        yield from (found.rstrip(".,;:") for found in _ADDRESS.findall(text))


@pytest.mark.parametrize("base_url", [PREFIXED, "https://h.example", "http://127.0.0.1:8000"])
def test_every_address_is_of_a_route_or_a_standard(base_url: str):
    seen = set()
    for name, document in documents(installed(base_url)).items():
        for address in addresses(document):
            if address in STANDARDS | ELSEWHERE:
                continue
            assert f"{address}/".startswith(f"{base_url}/"), (name, address)
            path = urlsplit(address).path.removeprefix(urlsplit(base_url).path) or "/"
            seen.add(path)
    assert {path for path in seen - ROUTES - ANCHORS if not path.startswith(tuple(FOLDERS))} == set()
    assert {"/openapi.json", "/mcp", "/.well-known/jwks.json", "/icon.svg", "/skill.md"} <= seen


def test_a_path_prefix_is_in_every_address_and_nothing_else_differs():
    rooted, prefixed = bodies(installed("https://h.example")), bodies(installed(PREFIXED))
    signed = {"agent_card"}
    for name in set(rooted) - signed:
        moved = prefixed[name].replace(b"https://h.example/prefix", b"https://h.example")
        if name != "agent_skills":  # the digest is of a text with addresses
            assert moved == rooted[name], name


def test_documents_keep_their_bytes():
    assert bodies(installed()) == bodies(installed())
    assert bodies(bare()) == bodies(bare())


def test_nothing_secret_is_in_any_document():
    found = b"".join(
        bodies(installed(partner_api_key="pk-77c21d8e0f41", master_secret="a secret long enough")).values()
    )
    for secret in (b"pk-77c21d8e0f41", b"a secret long enough", b"http://127.0.0.1:1", b"partner.example"):
        assert secret not in found


def entries(findings: dict[str, Finding], **changes: object) -> dict[str, dict]:
    document = documents(installed(**changes), findings)["capability_registry"]
    return {capability["id"]: capability for capability in document["capabilities"]}


def found(id_: str, status: Status, reason: str | None, determined_by: str = "http") -> dict[str, Finding]:
    return {id_: Finding(id_, status, reason, determined_by, "GET /health", NOON)}


def test_before_the_first_probe_nothing_is_live():
    for id_, entry in entries({}).items():
        if id_ not in ("companion_application", "trust_escrow"):
            assert (entry["status"], entry["reason"], entry["checkedAt"]) == ("unknown", NOT_LOOKED, None), id_


def test_a_finding_states_its_status_its_source_and_since_when():
    entry = entries(found("intake", Status.LIVE, None))["intake"]
    assert (entry["status"], entry["determinedBy"], entry["checkedAt"]) == ("live", "http", "2026-11-21T12:00:00Z")
    entry = entries(found("intake", Status.OFF, "not_answering"))["intake"]
    assert (entry["status"], entry["reason"]) == ("off", "not_answering")


def test_findings_under_other_settings_no_longer_count():
    off = entries(found("token_price", Status.LIVE, None, "warehouse"), pool_address=None)["token_price"]
    assert (off["status"], off["reason"], off["checkedAt"]) == ("off", "not_configured", None)
    on = entries(found("token_price", Status.OFF, "not_configured", "settings"))["token_price"]
    assert (on["status"], on["reason"], on["checkedAt"]) == ("unknown", NOT_LOOKED, None)
    app = entries(found("companion_application", Status.OFF, "not_configured", "settings"))["companion_application"]
    assert (app["status"], app["checkedAt"]) == ("live", None)
