"""The official Python client runs the pairing ceremony, in every era, against a running service; in a soak on each
ledger."""

import asyncio
import json

import pytest
from mcp import Client, MCPError
from mcp_service import LONGEST_RESOURCE, McpService
from mcp_types import TextResourceContents
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from postgres_fixtures import ENGINES
from rounds import ROUNDS

from api.connect.resources import RESOURCES
from contracts.connect.server import INSTRUCTIONS, PROTOCOL_VERSIONS, SERVER_NAME, SERVER_VERSION
from contracts.connect.tools import TOOLS
from contracts.problem_links import paths_by_operation

NEGOTIATED = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


@pytest.fixture(scope="module", params=ENGINES if ROUNDS > 1 else ENGINES[:1])
def service(request, tmp_path_factory):
    more = {}
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        more["ledger_url"] = server.url(server.new_database())
    with McpService(tmp_path_factory.mktemp("mcp"), **more) as running:
        yield running


async def call(client, tool, /, **arguments):
    """Returns the fields of a tool's result, after checking that it is no error and is the same in both forms."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


async def problem(client, tool, /, **arguments):
    """Returns the problem that a tool answers."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.structured_content is None
    return json.loads(answer.content[0].text)


@pytest.mark.parametrize("mode", NEGOTIATED)
def test_the_whole_pairing_ceremony_succeeds(service, mode):
    async def ceremony():
        async with Client(service.url, mode=mode) as client:
            assert client.protocol_version == NEGOTIATED[mode]
            said = client.server_info
            assert said is None or (said.name, said.version) == (SERVER_NAME, SERVER_VERSION)
            before = await client.list_tools()
            assert [tool.name for tool in before.tools] == [tool.name for tool in TOOLS]

            for tool in TOOLS[1:]:
                refused = await problem(client, tool.name)
                assert (refused["code"], refused["retryable"]) == ("session_required", False)
                assert "svc pair" in refused["fix"]

            paired = await call(client, "svc_connect_handshake", pairing_code=service.pairing_code(), agent="Ada")
            token = {"session_token": paired["session_token"]}
            assert (await client.list_tools()).tools == before.tools

            planned = await call(client, "svc_connect_plan", **token, assistant="codex", os="linux")
            coming = planned["progress"]["next"]
            while coming is not None:
                step = coming["step"]["id"]
                reported = await call(client, "svc_connect_report_step", **token, step_id=step, outcome="done")
                coming = reported["progress"]["next"]
            status = await call(client, "svc_connect_status", **token)
            assert (status["progress"]["finished"], status["next_tool"]) == (True, "svc_connect_close")
            assert status["session"]["agent"] == "Ada"

            talked = await call(client, "svc_connect_talk", **token, question="What is left to do?")
            assert talked["can_answer"]
            checked = await call(client, "svc_guardrail_check", **token, action="rm -rf / --no-preserve-root")
            assert checked["passed"] is False
            asked = await call(client, "svc_world_query", **token, domain="FOUNDATION", limit=1)
            assert asked["nodes"] is not None
            assert (await call(client, "svc_plans", **token))["plans"][0]["id"] == "agent_runtime_activation"
            assert (await problem(client, "svc_intake_status", **token))["code"] == "intake_not_found"

            await call(client, "svc_connect_close", **token)
            assert (await problem(client, "svc_connect_status", **token))["code"] == "session_ended"

    asyncio.run(ceremony())


@pytest.mark.parametrize("mode", NEGOTIATED)
def test_resources_are_what_is_published(service, mode):
    async def read():
        async with Client(service.url, mode=mode) as client:
            listed = (await client.list_resources()).resources
            assert [each.uri for each in listed] == [resource.uri for resource in RESOURCES]
            for each in listed:
                (contents,) = (await client.read_resource(each.uri)).contents
                assert isinstance(contents, TextResourceContents)
                assert (contents.uri, contents.mime_type) == (each.uri, each.mime_type)
                assert 0 < len(contents.text) < LONGEST_RESOURCE
            with pytest.raises(MCPError) as refused:
                await client.read_resource("svc://nothing")
            data = refused.value.error.data
            assert (refused.value.error.code, data["code"], data["uri"]) == (
                -32602,
                "resource_unknown",
                "svc://nothing",
            )

    asyncio.run(read())


def test_the_index_of_operations_leads_to_the_page_of_each_and_to_the_whole_description(service):
    async def read():
        async with Client(service.url) as client:
            (contents,) = (await client.read_resource("svc://openapi")).contents
            assert isinstance(contents, TextResourceContents)
            return contents.text

    index = asyncio.run(read())
    base_url = service.settings.public_base_url
    assert f"({base_url}/openapi.json)" in index
    assert [one for one in paths_by_operation() if f"({base_url}/docs/operations/{one}/)" not in index] == []


@pytest.mark.parametrize("mode", NEGOTIATED)
def test_a_tool_that_does_not_exist_is_a_protocol_error(service, mode):
    async def asked():
        async with Client(service.url, mode=mode) as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("svc_connect_everything", {})
            assert refused.value.error.code == -32602

    asyncio.run(asked())


def test_a_ceremony_continues_after_a_restart_in_its_middle(service):
    async def first():
        async with Client(service.url) as client:
            paired = await call(client, "svc_connect_handshake", pairing_code=service.pairing_code())
            token = {"session_token": paired["session_token"]}
            planned = await call(client, "svc_connect_plan", **token, assistant="claude-code", os="macos")
            step = planned["progress"]["next"]["step"]["id"]
            reported = await call(client, "svc_connect_report_step", **token, step_id=step, outcome="done")
            return token, reported["progress"]

    async def second(token, progress):
        async with Client(service.url) as client:
            status = await call(client, "svc_connect_status", **token)
            assert (status["progress"], status["next_tool"]) == (progress, "svc_connect_report_step")
            step = progress["next"]["step"]["id"]
            await call(client, "svc_connect_report_step", **token, step_id=step, outcome="done")

    token, progress = asyncio.run(first())
    service.restart()
    asyncio.run(second(token, progress))


def test_the_facts_are_those_of_the_sdk(service):
    assert sorted(PROTOCOL_VERSIONS) == sorted(KNOWN_PROTOCOL_VERSIONS)

    async def discovered():
        async with Client(service.url, mode="auto") as client:
            assert client.instructions == INSTRUCTIONS

    asyncio.run(discovered())
