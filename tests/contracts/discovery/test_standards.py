"""Each document passes the validator of its standard, and the validator is seen to fail on faulty documents."""

import asyncio
import json
from hashlib import sha256
from typing import Any

import httpx
import jwt
import pytest
from google.protobuf.json_format import ParseDict, ParseError
from installations import KEYS, NOON, PREFIXED, bare, documents, installed
from jsonschema import Draft202012Validator
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from recorded_material import RecordedMaterial
from x402.schemas import PaymentRequired, PaymentRequirements, SupportedResponse

from contracts.access.plans import load_calls, load_plans
from contracts.canonical import canonical_json
from contracts.connect.server import PROTOCOL_VERSIONS, SERVER_DESCRIPTION, SERVER_NAME, SERVER_VERSION
from contracts.discovery.agent_card import agent_card, signed_card
from contracts.discovery.capabilities import Status
from contracts.discovery.encoding import reverse_dns
from contracts.discovery.registry import Finding
from contracts.discovery.texts import skill_md
from contracts.intake.artifact_documents import TemplateArtifact
from contracts.intake.artifacts import Facts, artifact

EVERYWHERE = [installed(), bare(), bare("http://127.0.0.1:8000")]


@pytest.fixture(scope="module")
def card_validator(recorded_material: RecordedMaterial) -> Draft202012Validator:
    schema = recorded_material.json("standards/server-card.schema.json")
    return Draft202012Validator({**schema, "$ref": "#/$defs/ServerCard"})


@pytest.mark.parametrize("installation", EVERYWHERE, ids=lambda each: each.base_url)
def test_the_server_card_fits_its_schema_at_both_paths(installation, card_validator: Draft202012Validator):
    found = documents(installation)
    card_validator.validate(found["mcp_server_card"])
    assert found["mcp_discovery"] == found["mcp_server_card"]


@pytest.mark.parametrize(
    "broken",
    [
        {"description": "x" * 101},
        {"name": "no-slash"},
        {"$schema": "https://static.modelcontextprotocol.io/schemas/v9/server-card.schema.json"},
        {"remotes": [{"type": "websocket", "url": "https://h.example"}]},
    ],
)
def test_a_wrong_server_card_does_not_fit_its_schema(broken: dict[str, Any], card_validator: Draft202012Validator):
    assert not card_validator.is_valid(documents(installed())["mcp_server_card"] | broken)


def test_the_server_card_says_what_the_server_says():
    card = documents(installed())["mcp_server_card"]
    assert card["name"].partition("/")[2] == SERVER_NAME
    assert (card["version"], card["description"]) == (SERVER_VERSION, SERVER_DESCRIPTION)
    (remote,) = card["remotes"]
    assert remote["url"] == f"{PREFIXED}/mcp"
    assert remote["supportedProtocolVersions"] == list(PROTOCOL_VERSIONS)
    assert sorted(PROTOCOL_VERSIONS) == sorted(KNOWN_PROTOCOL_VERSIONS)


NAMES_OF_HOSTS = {
    "https://svc.h.example:8443/prefix": "example.h.svc",
    "http://127.0.0.1:8000": "localhost",
    "http://[::1]:8000": "localhost",
    "http://localhost:8000": "localhost",
}


@pytest.mark.parametrize(("base_url", "name"), NAMES_OF_HOSTS.items())
def test_names_come_from_the_host(base_url: str, name: str):
    assert reverse_dns(base_url) == name


@pytest.mark.parametrize("base_url", NAMES_OF_HOSTS)
def test_the_server_card_of_each_host_fits_its_schema(base_url: str, card_validator: Draft202012Validator):
    card_validator.validate(documents(bare(base_url))["mcp_server_card"])


def test_the_catalog_names_cards_by_their_type():
    catalog = documents(installed())["ai_catalog"]
    assert catalog["specVersion"] == "1.0"
    for entry in catalog["entries"]:
        assert entry["identifier"].startswith("urn:air:h.example:")
        assert entry["type"] == entry["mediaType"] and entry["displayName"]
    cards = [entry["url"] for entry in catalog["entries"] if entry["type"] == "application/mcp-server-card+json"]
    assert cards == [f"{PREFIXED}/mcp/server-card", f"{PREFIXED}/api/v2/mcp/server-card"]  # the open one first


def parsed(card: dict[str, Any]) -> Any:
    """Parses the card with A2A's own package. The import is here since it takes as long as all tests of this file."""
    from a2a.types import AgentCard
    from a2a.utils.proto_utils import validate_proto_required_fields

    message = ParseDict(card, AgentCard())
    validate_proto_required_fields(message)
    return message


def verifier(keys: Any = KEYS):
    from a2a.utils.signing import create_signature_verifier

    published = {key["kid"]: key for key in keys.jwks()["keys"]}
    return create_signature_verifier(lambda kid, _: jwt.PyJWK(published[kid]), ["EdDSA"])


@pytest.mark.parametrize("installation", EVERYWHERE, ids=lambda each: each.base_url)
def test_the_agent_card_parses_strictly_and_its_signature_holds(installation):
    card = documents(installation)["agent_card"]
    verifier()(parsed(card))
    (signature,) = card["signatures"]
    header = jwt.get_unverified_header(f"{signature['protected']}..{signature['signature']}")
    assert header == {
        "alg": "EdDSA",
        "typ": "JOSE",
        "kid": KEYS.keys[0].kid,
        "jku": f"{installation.base_url}/.well-known/jwks.json",
    }


def test_the_card_itself_is_its_canonical_form():
    from a2a.utils.signing import _canonicalize_agent_card

    card = agent_card(installed())
    assert _canonicalize_agent_card(parsed(card)).encode() == canonical_json(card)


@pytest.mark.parametrize("field", ["name", "version", "description", "skills", "supportedInterfaces"])
def test_a_changed_card_breaks_its_signature(field: str):
    from a2a.utils.signing import InvalidSignaturesError

    card = documents(installed())["agent_card"]
    changed = card[field][1:] if isinstance(card[field], list) else card[field] + "!"
    with pytest.raises(InvalidSignaturesError):
        verifier()(parsed(card | {field: changed}))


def test_a_card_of_the_old_shape_or_without_a_required_field_is_refused():
    from a2a.utils.errors import InvalidParamsError

    card = documents(installed())["agent_card"]
    for extra in ({"url": PREFIXED}, {"preferredTransport": "JSONRPC"}, {"_own": 1}):
        with pytest.raises(ParseError):
            parsed(card | extra)
    for missing in ("name", "skills", "defaultInputModes"):
        with pytest.raises(InvalidParamsError):
            parsed({name: value for name, value in card.items() if name != missing})


def test_the_same_card_under_the_same_key_has_the_same_bytes():
    signer = KEYS.signer(NOON)
    assert signed_card(installed(), signer) == signed_card(installed(), signer)


def test_the_resolver_fetches_and_verifies_the_card_over_http():
    from a2a.client import A2ACardResolver

    body = json.dumps(documents(installed("https://h.example"))["agent_card"])

    async def fetched() -> Any:
        transport = httpx.MockTransport(lambda _: httpx.Response(200, text=body))
        async with httpx.AsyncClient(transport=transport) as client:
            return await A2ACardResolver(client, "https://h.example").get_agent_card(signature_verifier=verifier())

    assert asyncio.run(fetched()).name == "Agent runtime service"


def test_an_a2a_client_correctly_finds_no_transport():
    from a2a.client.client import ClientConfig
    from a2a.client.client_factory import ClientFactory

    card = parsed(documents(installed())["agent_card"])
    with pytest.raises(ValueError, match="no compatible transports"):
        ClientFactory(ClientConfig()).create(card)


WORKS = {"payment_signature": Finding("payment_signature", Status.LIVE, None, "http", "HEAD /", NOON)}
FAILS = {"payment_signature": Finding("payment_signature", Status.OFF, "http_401", "http", "HEAD /", NOON)}
SOLD = {call.id: call.price for call in load_calls().values()} | {plan.id: plan.price for plan in load_plans().values()}


@pytest.mark.parametrize(
    ("changes", "findings", "standing"),
    [
        ({"relayer_key_file": None}, WORKS, ("off", "not_configured", ["SVC_RELAYER_KEY_FILE"])),
        ({}, {}, ("unknown", "not_looked_yet", [])),
        ({}, FAILS, ("off", "http_401", [])),
    ],
)
def test_nothing_is_payable_by_signature_before_a_probe_has_found_that_it_works(changes, findings, standing):
    manifest = documents(installed(**changes), findings)["x402_manifest"]
    said = manifest["status"]
    names = ("paymentSignatureSettlement", "paymentSignatureReason", "paymentSignatureMissingSettings")
    assert tuple(said[name] for name in names) == standing
    assert (manifest["items"], manifest["headers"]["accepted"]) == ([], False)
    assert documents(installed(**changes), findings)["x402_metadata"]["kinds"] == []


@pytest.mark.parametrize(
    ("findings", "standing"),
    [
        ({}, ("unknown", "not_looked_yet")),
        ({"paid_access": Finding("paid_access", Status.LIVE, None, "http", "GET /health", NOON)}, ("live", None)),
        (
            {"paid_access": Finding("paid_access", Status.OFF, "degraded", "http", "GET /health", NOON)},
            ("off", "degraded"),
        ),
    ],
)
def test_the_manifest_states_receipts_as_the_registry_does(findings, standing):
    found = documents(installed(), findings)
    said = found["x402_manifest"]["status"]
    assert (said["receiptVerification"], said["receiptVerificationReason"]) == standing
    assert found["x402_metadata"]["receiptVerification"] == standing[0]
    entries = {entry["id"]: entry for entry in found["capability_registry"]["capabilities"]}
    assert (entries["paid_access"]["status"], entries["paid_access"]["reason"]) == standing


def test_payable_items_are_requirements_that_x402_parses_at_the_prices_of_the_plans():
    manifest = documents(installed(), WORKS)["x402_manifest"]
    assert (manifest["planned"], manifest["headers"]["accepted"]) == ([], True)
    assert manifest["status"]["paymentSignatureSettlement"] == "live"
    offers = {each["extra"]["offer"]: each for item in manifest["items"] for each in item["accepts"]}
    assert {id_: int(each["amount"]) for id_, each in offers.items()} == SOLD
    for each in manifest["items"]:
        assert each["lastUpdated"] == int(NOON.timestamp())
        accepted = each["accepts"][0]
        PaymentRequired.model_validate(
            {"x402Version": 2, "accepts": each["accepts"], "resource": {"url": each["resource"]}}
        )
        for missing in ("amount", "payTo", "network", "asset", "maxTimeoutSeconds", "scheme"):
            with pytest.raises(ValueError, match=r"[Ff]ield required"):
                PaymentRequirements.model_validate({name: v for name, v in accepted.items() if name != missing})


def test_the_kinds_of_payment_are_those_of_a_facilitator_while_they_work():
    metadata = documents(installed(), WORKS)["x402_metadata"]
    assert [kind.scheme for kind in SupportedResponse.model_validate(metadata).kinds] == ["exact"]
    assert SupportedResponse.model_validate(documents(installed())["x402_metadata"]).kinds == []


ERC8004 = {
    "type": "object",
    "required": [
        "type", "name", "description", "image", "services", "x402Support", "active", "registrations", "supportedTrust",
    ],
    "properties": {
        "type": {"const": "https://eips.ethereum.org/EIPS/eip-8004#registration-v1"},
        "services": {
            "items": {
                "required": ["name", "endpoint"],
                "properties": {"name": {"enum": ["MCP", "A2A", "ENS", "DID", "wallet", "OASF"]}},
            }
        },
        "registrations": {"items": {"required": ["agentId", "agentRegistry"]}},
        "supportedTrust": {"items": {"enum": ["reputation", "crypto-economic", "tee-attestation"]}},
    },
}  # fmt: skip


def test_the_registration_file_claims_neither_payment_nor_trust_nor_a_registry():
    file = documents(installed())["erc8004_registration"]
    check = Draft202012Validator(ERC8004)
    check.validate(file)
    assert (file["x402Support"], file["registrations"], file["supportedTrust"]) == (True, [], [])
    assert not check.is_valid(file | {"services": [{"name": "web", "endpoint": PREFIXED}]})


PLUGIN = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "schema_version", "name_for_human", "name_for_model", "description_for_human", "description_for_model", "auth",
        "api", "logo_url", "contact_email", "legal_info_url",
    ],
    "properties": {
        "schema_version": {"const": "v1"},
        "name_for_human": {"type": "string", "minLength": 1, "maxLength": 20},
        "name_for_model": {"pattern": "^[a-zA-Z0-9_]{1,50}$"},
        "description_for_human": {"type": "string", "maxLength": 100},
        "description_for_model": {"type": "string", "maxLength": 8000},
        "auth": {"properties": {"type": {"enum": ["none", "service_http", "user_http", "oauth"]}}},
        "api": {"properties": {"type": {"const": "openapi"}, "url": {"pattern": "/openapi.json$"}}},
        "logo_url": {"pattern": "^https?://"},
        "contact_email": {"type": "string"},
        "legal_info_url": {"pattern": "^https?://"},
    },
}  # fmt: skip


@pytest.mark.parametrize("installation", EVERYWHERE, ids=lambda each: each.base_url)
def test_the_plugin_manifest_is_within_its_lengths(installation):
    check = Draft202012Validator(PLUGIN)
    manifest = documents(installation)["ai_plugin"]
    check.validate(manifest)
    assert manifest["contact_email"] == (installation.contact_email or "")
    assert not check.is_valid(manifest | {"name_for_human": "x" * 21})


def test_the_catalog_of_apis_is_a_linkset():
    linkset = documents(installed())["api_catalog"]["linkset"]
    anchors = {context["anchor"]: context for context in linkset}
    assert set(anchors) == {f"{PREFIXED}/", f"{PREFIXED}/api/v2", f"{PREFIXED}/mcp"}
    for context in linkset:
        for relation, targets in context.items():
            if relation != "anchor":
                assert targets and all(set(target) == {"href", "type"} for target in targets), relation
    assert anchors[f"{PREFIXED}/"]["service-desc"][0]["href"] == f"{PREFIXED}/openapi.json"


def test_the_digest_is_that_of_the_skill():
    installation = installed()
    (skill,) = documents(installation)["agent_skills"]["skills"]
    assert skill["digest"] == f"sha256:{sha256(skill_md(installation)).hexdigest()}"
    assert skill["url"] == f"{PREFIXED}/skill.md"


def test_the_schema_of_a_registration_takes_what_the_templates_send_and_no_request_without_consent():
    schema = documents(installed())["schema_svc_intake_request"]
    assert documents(installed())["registration_contract"]["request"]["jsonSchema"] == schema
    check = Draft202012Validator(schema)
    made = artifact("intake-template", Facts(PREFIXED, None, (), ()))
    assert isinstance(made, TemplateArtifact)
    for template in made.templates:
        body = template.body
        check.validate(body)
        assert not check.is_valid({name: value for name, value in body.items() if name != "consent"})
        assert not check.is_valid(body | {"consent": False})
        assert not check.is_valid(body | {"lane": "robot"})
