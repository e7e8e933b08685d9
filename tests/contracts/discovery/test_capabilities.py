"""Capabilities by settings: every document reports at once what is off, and offers nothing that does not exist."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from installations import EVERYTHING, bare, documents, installed
from jsonschema import Draft202012Validator

from contracts.access.rail import rail_of
from contracts.connect.tools import TOOLS
from contracts.discovery.capabilities import Capability, Status, capability_states, load_capabilities
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.discovery.texts import agents_txt, llms_txt
from contracts.publish.registry import PROJECTIONS, REDIRECTS
from contracts.settings import PREFIX, Settings, settings_that_give

STATES = {id_: state.status for id_, state in capability_states(installed()).items()}
OPERATIONS = {
    f"{method.upper()} {path}"
    for path, operations in json.loads(OPENAPI_FILE.read_text())["paths"].items()
    for method in operations
}


def test_with_everything_configured_everything_is_live():
    assert {id_ for id_, status in STATES.items() if status is not Status.LIVE} == set()


def test_without_settings_what_needs_one_is_off_and_names_it():
    for id_, state in capability_states(bare()).items():
        if state.capability.needs and id_ != "trial_key":
            assert (state.status, state.reason) == (Status.OFF, "not_configured")
            assert len(state.missing) == len(state.capability.needs)


def test_a_setting_with_a_default_is_off_if_it_is_zero():
    assert capability_states(bare())["trial_key"].live
    off = capability_states(installed(trial_keys_per_day=0))["trial_key"]
    assert (off.status, off.missing) == (Status.OFF, ("SVC_TRIAL_KEYS_PER_DAY",))


def test_every_needed_setting_exists():
    names = {PREFIX + name.upper() for name in Settings.model_fields}
    assert {name for each in load_capabilities().values() for need in each.needs for name in need} <= names


def test_one_of_several_sources_is_enough():
    assert capability_states(installed(pool_address=None, dexscreener_url="https://d.example"))["token_price"].live
    off = capability_states(installed(pool_address=None))["token_price"]
    assert off.missing == (" or ".join(settings_that_give("token_price")),)
    assert "SVC_DEXSCREENER_URL or SVC_GECKOTERMINAL_URL" in off.missing[0]


@pytest.mark.parametrize("unset", ["usdc_address", "treasury_address", "rpc_urls"])
def test_paid_access_misses_what_the_payment_rail_misses(unset: str):
    installation = installed(**{unset: None})
    assert installation.rail.missing == capability_states(installation)["paid_access"].missing
    assert installation.rail == rail_of(
        Settings(_env_file=None, **{name: value for name, value in EVERYTHING.items() if name != unset})
    )


def test_the_tools_are_those_of_the_server():
    named = [tool for each in load_capabilities().values() for tool in each.tools]
    assert sorted(named) == sorted(tool.name for tool in TOOLS)


def test_every_route_of_a_capability_is_in_the_description():
    routes = {route for each in load_capabilities().values() for route in each.routes}
    assert routes - OPERATIONS == set()


def test_every_operation_under_api_belongs_to_a_capability_or_is_another_way_to_one():
    routes = {route for each in load_capabilities().values() for route in each.routes}
    others = {f"GET {path}" for row in PROJECTIONS for path in row.paths[1:]}
    others |= {f"GET {redirect.path}" for redirect in REDIRECTS}
    under = {operation for operation in OPERATIONS if operation.split(" ")[1].startswith(("/api/", "/blink/", "/mcp"))}
    assert {each for each in under - routes - others if not each.startswith("OPTIONS ")} <= {"GET /mcp/server-card"}


def skills(found: dict[str, Any]) -> set[str]:
    return {skill["id"] for skill in found["agent_card"]["skills"]}


SAYS_OFF: dict[str, Callable[[dict[str, Any], str], bool]] = {
    "agent_card": lambda found, id_: id_ not in skills(found),
    "capability_registry": lambda found, id_: any(
        capability["id"] == id_
        and (capability["status"], capability["reason"]) == ("off", "not_configured")
        and capability["missingSettings"]
        for capability in found["capability_registry"]["capabilities"]
    ),
    "public_contract": lambda found, id_: (
        id_ in found["public_contract"]["capabilities"]["off"]
        and id_ not in found["public_contract"]["capabilities"]["live"]
    ),
    "ai_plugin": lambda found, id_: (
        load_capabilities()[id_].description not in found["ai_plugin"]["description_for_model"]
    ),
    "registration_contract": lambda found, id_: (
        all(endpoint["capability"] != id_ for endpoint in found["registration_contract"]["endpoints"])
        and all(
            (mode["status"], mode["steps"]) == ("off", [])
            for mode in found["registration_contract"]["modes"]
            if mode["capability"] == id_
        )
    ),
}


PARTIAL = {"agent_card", "registration_contract"}
"""Documents that have no place for some capabilities."""

TEXTS: dict[str, Callable[[Installation], bytes]] = {
    "llms.txt": llms_txt,
    "agents.txt": agents_txt,
}
TEXT_SAYS_OFF: dict[str, Callable[[str, Capability], bool]] = {
    "llms.txt": lambda text, each: f"(`{each.id}`), because " in text,
    "agents.txt": lambda text, each: f"Capability: {each.id.replace('_', '-')}\n" not in text,
}


@pytest.mark.parametrize(
    ("unset", "off"),
    [
        ("token_address", {"token_holders", "holder_comparison", "token_price"}),
        ("usdc_address", {"paid_access", "payment_signature"}),
        ("treasury_address", {"paid_access", "payment_signature"}),
        ("relayer_key_file", {"payment_signature"}),
        ("bidwall_address", {"contract_balance"}),
        ("trust_registry_address", {"trust_scores"}),
        ("escrow_address", {"trust_escrow"}),
        ("pool_address", {"token_price"}),
        ("chainlink_feed_address", {"eth_price"}),
        ("partner_url", {"partner_snapshot"}),
        ("marketplace_url", {"marketplace_revenue"}),
        ("marketplace_agent_id", {"marketplace_revenue"}),
        ("app_url", {"companion_application"}),
        (
            "rpc_urls",
            {
                "paid_access",
                "payment_signature",
                "event_feed",
                "token_holders",
                "holder_comparison",
                "contract_balance",
                "trust_scores",
            },
        ),
    ],
)
def test_a_capability_that_is_switched_off_is_reported_so_in_every_document_at_once(unset: str, off: set[str]):
    on, without = documents(installed()), documents(installed(**{unset: None}))
    texts = {name: make(installed(**{unset: None})).decode() for name, make in TEXTS.items()}
    for id_ in off:
        for name, says in SAYS_OFF.items():
            assert says(without, id_) and (name in PARTIAL or not says(on, id_)), (name, id_)
        for name, text in texts.items():
            assert TEXT_SAYS_OFF[name](text, load_capabilities()[id_]), (name, id_)
            if load_capabilities()[id_].routes or name != "agents.txt":
                assert not TEXT_SAYS_OFF[name](TEXTS[name](installed()).decode(), load_capabilities()[id_]), name
    assert skills(on) - skills(without) == {id_ for id_ in off if load_capabilities()[id_].skill}
    assert set(without["public_contract"]["capabilities"]["off"]) == off
    entries = {capability["id"]: capability for capability in without["capability_registry"]["capabilities"]}
    assert {id_ for id_, each in entries.items() if each["reason"] == "not_configured"} == off


def test_without_payments_no_document_offers_one():
    found = documents(installed(usdc_address=None))
    manifest = found["x402_manifest"]
    assert (manifest["items"], manifest["planned"], set(manifest["live"])) == ([], [], {"plans"})
    assert manifest["status"]["receiptVerification"] == "off"
    assert manifest["status"]["missingSettings"] == ["SVC_USDC_ADDRESS"]
    assert found["x402_metadata"]["assets"] == []
    assert found["x402_metadata"]["receiptVerification"] == "off"
    for name, document in found.items():
        if not name.startswith("schema_") and name != "capability_registry":
            assert "/api/agent-access/claim" not in json.dumps(document), name


def test_without_a_companion_application_codes_are_the_operators():
    on, without = documents(installed()), documents(installed(app_url=None))
    assert on["registration_contract"]["mcp"]["codes"] == ["companion_application"]
    assert without["registration_contract"]["mcp"]["codes"] == ["operator"]
    assert without["registration_contract"]["mcp"]["appUrl"] is None
    for name, says in (("mcp_server_card", True), ("mcp_discovery", True)):
        (meta,) = without[name]["_meta"].values()
        assert meta["companionApplication"] is not says
    assert "app.example" in json.dumps(on) and "app.example" not in json.dumps(without)


def test_own_documents_fit_their_published_schemas():
    pairs = {
        "capability_registry": "schema_svc_base_capabilities",
        "public_contract": "schema_svc_public_contract",
        "registration_contract": "schema_svc_agent_registration",
    }
    for found in (documents(installed()), documents(bare())):
        for name, schema in pairs.items():
            Draft202012Validator.check_schema(found[schema])
            Draft202012Validator(found[schema]).validate(found[name])
            assert found[name]["schemaUrl"] == found[schema]["$id"]
            broken = {key: value for key, value in found[name].items() if key != "schema"}
            assert not Draft202012Validator(found[schema]).is_valid(broken)


def test_names_of_documents_are_their_own():
    names = [row.name for row in PROJECTIONS]
    assert len(set(names)) == len(names)
