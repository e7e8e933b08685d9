"""Other people's MCP clients and validators against a running service."""

import json
from typing import Any

import pytest
from keyed_proxy import keyed_proxy
from mcp_service import McpService

from contracts.access.tiers import Tier
from contracts.connect.key_tools import KEY_PROMPTS, KEY_TEMPLATES, KEY_TOOLS
from contracts.connect.tools import TOOLS

pytestmark = pytest.mark.web

ERAS = {"sdk": "2025-11-25", "legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CONFORMANCE = {
    "released": ("@modelcontextprotocol/conformance", []),
    "2026-07-28": ("conformance-next", ["--suite", "all", "--spec-version", "2026-07-28"]),
}


def asked_for(*methods: str) -> list[Any]:
    """Returns the requests of the inspector, each with an era. Eras differ in how they begin, so the first method
    covers them."""
    eras = ("auto", "legacy", "modern")
    needed = {(era, methods[0]) for era in eras} | {("auto", method) for method in methods}
    every = [(era, method) for method in methods for era in eras]
    return [one if one in needed else pytest.param(*one, marks=pytest.mark.soak) for one in every]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with McpService(tmp_path_factory.mktemp("mcp")) as running:
        yield running


@pytest.mark.parametrize("era", ERAS)
def test_the_typescript_client_completes_the_ceremony(web_tools, service, era):
    seen = web_tools.run("mcp_ceremony.mjs", service.url, service.pairing_code(), era)
    assert seen["tools"] == [tool.name for tool in TOOLS]
    assert {"svc://openapi", "svc://plans", "svc://intake-template"} <= set(seen["resources"])
    assert all(seen["read"])
    assert (seen["unpaired"], seen["again"]) == ("session_required", "pairing_code_rejected")
    assert seen["revision"] in (ERAS[era], None)
    assert seen["steps"] > 3
    assert (seen["finished"], seen["passed"], seen["intake"]) == (True, True, "intake_not_found")
    assert (seen["closed"], seen["unknown"]) == ("session_ended", -32602)


@pytest.mark.parametrize(("era", "method"), asked_for("tools/list", "resources/list"))
def test_the_inspector_finds_nothing_that_is_not_portable(web_tools, service, era, method):
    options = ["--transport", "http", "--protocol-era", era, "--method", method, "--format", "json", "-q"]
    strict = ["--strict"] if method == "tools/list" else []
    done = web_tools.command(str(web_tools.node), INSPECTOR, "--cli", service.url, *options, *strict)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert json.loads(done.stdout)


@pytest.mark.parametrize("suite", CONFORMANCE)
def test_the_conformance_suite_finds_nothing_but_what_is_rightly_not_there(web_tools, service, suite):
    package, options = CONFORMANCE[suite]
    program = f"node_modules/{package}/dist/index.js"
    baseline = f"conformance/{suite}.yml"
    done = web_tools.command(
        str(web_tools.node), program, "server", "--url", service.url, "--expected-failures", baseline, *options
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "dns-rebinding-protection: 2 passed, 0 failed" in done.stdout


@pytest.mark.parametrize("era", ERAS)
def test_the_typescript_client_uses_the_server_by_key_with_a_header(web_tools, service, era):
    issued = service.key(f"local:{era}")
    seen = web_tools.run("mcp_by_key.mjs", service.key_url, issued.key.reveal(), era)
    assert seen["tools"] == [tool.name for tool in KEY_TOOLS]
    assert seen["prompts"] == [prompt.name for prompt in KEY_PROMPTS]
    assert "svc://plans" in seen["resources"]
    assert seen["templates"] == [template.uri_template for template in KEY_TEMPLATES]
    assert seen["revision"] in (ERAS[era], None)
    assert seen["links"] == ["text", "resource_link"]
    assert (seen["found"], seen["read"], seen["passed"]) == (True, True, True)
    assert (seen["owner"], seen["wrong"]) == (f"local:{era}", "node_unknown")


@pytest.mark.parametrize(("era", "method"), asked_for("tools/list", "resources/list", "prompts/list"))
def test_the_inspector_finds_nothing_that_is_not_portable_by_key(web_tools, service, era, method):
    bearer = f"Authorization: Bearer {service.key().key.reveal()}"
    options = ["--transport", "http", "--protocol-era", era, "--method", method, "--format", "json", "-q"]
    strict = ["--strict"] if method == "tools/list" else []
    done = web_tools.command(
        str(web_tools.node), INSPECTOR, "--cli", service.key_url, *options, *strict, "--header", bearer
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert json.loads(done.stdout)


# A feature of the server by key that the pairing server lacks.
PROMPTS = ("prompts-list", "prompts-list:prompts-list", "caching:sep-2549-prompts-list-caching-hints")


@pytest.mark.parametrize("suite", CONFORMANCE)
def test_the_conformance_suite_finds_nothing_else_by_key_but_prompts(web_tools, service, suite, tmp_path):
    package, options = CONFORMANCE[suite]
    known = (web_tools.directory / "conformance" / f"{suite}.yml").read_text().splitlines()
    baseline = tmp_path / "baseline.yml"
    baseline.write_text("\n".join(line for line in known if line.strip().removeprefix("- ") not in PROMPTS))
    program = f"node_modules/{package}/dist/index.js"
    with keyed_proxy(service.key_url, service.key("local:suite", Tier.PRO).key.reveal()) as url:
        done = web_tools.command(
            str(web_tools.node), program, "server", "--url", url, "--expected-failures", str(baseline), *options
        )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "prompts-list: " in done.stdout and "✗ prompts-list" not in done.stdout
