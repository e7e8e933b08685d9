"""Other people's MCP clients and validators against a running service."""

import json

import pytest
from mcp_service import McpService

from contracts.connect.tools import TOOLS

pytestmark = pytest.mark.web

ERAS = {"sdk": "2025-11-25", "legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CONFORMANCE = {
    "released": ("@modelcontextprotocol/conformance", []),
    "2026-07-28": ("conformance-next", ["--suite", "all", "--spec-version", "2026-07-28"]),
}


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


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
@pytest.mark.parametrize("method", ["tools/list", "resources/list"])
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
