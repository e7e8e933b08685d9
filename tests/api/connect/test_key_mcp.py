"""The official Python client uses the server with a key, in every era, with only a header; and what can go wrong."""

import asyncio
import json
import time

import httpx
import mcp_types as types
import pytest
from mcp import MCPError
from mcp_service import JSON, LONGEST_RESOURCE, McpService, message, modern
from publishing import READ

from contracts.connect.key_server import KEY_INSTRUCTIONS, KEY_SERVER_NAME, RESULT_BYTES
from contracts.connect.key_tools import KEY_PROMPTS, KEY_TOOLS
from contracts.standing import SourceClass
from warehouse.access.keys import revoke_key
from warehouse.world.audit import newest_decisions, verify
from warehouse.world.write import pending

NEGOTIATED = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
FACT = {
    "title": "The office moves to Lisbon in May",
    "properties": {"subject": "the office", "predicate": "location", "value": "Lisbon"},
    "source": "a mail of Grace",
    "source_class": "document",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with McpService(tmp_path_factory.mktemp("key_mcp"), documents=READ) as running:
        yield running


async def call(client, tool, /, **arguments):
    """Returns the fields of a tool's result, after checking that it is no error, is the same in both forms, and fits a
    context."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    assert json.loads(answer.content[0].text) == answer.structured_content
    assert len(answer.content[0].text.encode()) <= RESULT_BYTES
    return answer.structured_content


async def problem(client, tool, /, **arguments):
    """Returns the problem that a tool answers."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.structured_content is None
    return json.loads(answer.content[0].text)


def post(service, body, issued=None, **headers):
    by = {} if issued is None else {"authorization": f"Bearer {issued.key.reveal()}"}
    return httpx.post(service.key_url, content=body, headers=JSON | by | headers, timeout=60)


@pytest.mark.parametrize("mode", NEGOTIATED)
def test_every_tool_does_its_work_in_one_step_with_a_header(service, mode):
    issued = service.key(f"local:{mode}")

    async def session():
        started_s = time.process_time()
        async with service.client(issued, mode=mode) as client:
            written = await call(client, "svc_remember", **FACT)
            found = await call(client, "svc_search", query="where does the office move", scope="own")
            assert [node["id"] for node in found["nodes"]] == [written["id"]]
            assert time.process_time() - started_s < 3  # CPU of client and service together
            assert found["nodes"][0]["properties"] == FACT["properties"]

            assert client.protocol_version == NEGOTIATED[mode]
            assert client.instructions == (None if mode == "2026-07-28" else KEY_INSTRUCTIONS)
            said = client.server_info
            assert said is None or said.name == KEY_SERVER_NAME
            assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in KEY_TOOLS]

            corrected = await call(
                client,
                "svc_correct",
                id=written["id"],
                action="corrects",
                reason="The lease is in Porto",
                properties={"value": "Porto"},
            )
            read = await call(client, "svc_node", id=written["id"])
            assert (read["node"]["retracted"], read["node"]["ended_by"]) == (True, corrected["id"])
            assert [act["reason"] for act in read["acts"]] == ["The lease is in Porto"]
            held = await call(client, "svc_search", query="office", scope="own")
            assert [node["properties"]["value"] for node in held["nodes"]] == ["Porto"]

            documents = [{"id": "a", "text": "# Acme\n\n- Project: Apollo\n"}]
            preview = await call(client, "svc_build", documents=documents, graph_id="notes")
            assert (preview["verdict"], preview["node_count"] > 0) == (None, True)
            applied = await call(client, "svc_build", documents=documents, graph_id="notes", mode="apply")
            assert applied["verdict"] == "approved"
            around = await call(client, "svc_search", around={"id": applied["nodes"][0]["id"]})
            assert len(around["nodes"]) > 1 and around["links"]

            goals = [{"title": "Support customers", "kinds": ["messages"]}]
            plan = await call(client, "svc_memory_design", agent_id="a", goals=goals)
            assert {store["id"] for store in plan["stores"]} >= {"working", "episodic"}

            judged = await call(client, "svc_guardrail_check", action="rm -rf / --no-preserve-root")
            assert (judged["passed"], judged["matched_guardrails"] != []) == (False, True)

            holders = await call(client, "svc_holders")
            assert (holders["holder_count"], holders["verdict"]) == (3, "proven")
            largest = holders["largest"][0]["address"]
            one = await call(client, "svc_holders", address=largest)
            assert (one["address"]["rank"], one["address"]["history"] != []) == (1, True)
            proof = await call(client, "svc_verify")
            assert {check["name"]: check["holds"] for check in proof["checks"]}[
                "sum of balances = totalSupply()"
            ] is True
            assert (await call(client, "svc_plans"))["plans"][0]["id"] == "agent_runtime_activation"

            mine = await call(client, "svc_my_key")
            assert (mine["owner"], mine["tier"], mine["claims_up_to"]) == (f"local:{mode}", "free", "document")
            assert issued.key.reveal() not in json.dumps(mine)

    asyncio.run(session())


@pytest.mark.parametrize("mode", NEGOTIATED)
def test_resources_have_what_results_leave_out(service, mode):
    issued = service.key("local:reader")

    async def session():
        async with service.client(issued, mode=mode) as client:
            long = "Grace, " * 2_000
            written = await client.call_tool("svc_remember", {"title": "Long", "details": long, "source": mode})
            assert not written.is_error, written.content[0].text
            (link,) = [block for block in written.content if block.type == "resource_link"]
            shown = await call(client, "svc_node", id=written.structured_content["id"])
            assert shown["node"]["cut"] and link.uri == shown["resource"]
            (contents,) = (await client.read_resource(link.uri)).contents
            assert json.loads(contents.text)["node"]["properties"]["description"] == long

            for resource in (await client.list_resources()).resources:
                (contents,) = (await client.read_resource(resource.uri)).contents
                assert 0 < len(contents.text) < LONGEST_RESOURCE
            templates = (await client.list_resource_templates()).resource_templates
            assert [template.uri_template for template in templates] == ["svc://nodes/{id}", "svc://holders/{address}"]
            (contents,) = (await client.read_resource("svc://holders/0x" + "0" * 39 + "1")).contents
            assert json.loads(contents.text)["rank"] == 3
            for uri in ("svc://nodes/nobody", "svc://holders/x", "svc://nothing"):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(uri)
                data = refused.value.error.data
                assert (refused.value.error.code, data["code"], data["uri"]) == (-32602, "resource_unknown", uri)

    asyncio.run(session())


def test_prompts_are_texts_to_begin_with(service):
    async def session():
        async with service.client(service.key()) as client:
            assert [prompt.name for prompt in (await client.list_prompts()).prompts] == [p.name for p in KEY_PROMPTS]
            filled = await client.get_prompt("before_acting", {"action": "ls {text}"})
            assert filled.messages[0].content.text.endswith("\n\nls {text}")
            for name, given in (("nothing", {}), ("remember_this", {})):
                with pytest.raises(MCPError) as refused:
                    await client.get_prompt(name, given)
                assert refused.value.error.code == -32602

    asyncio.run(session())


MOMENTS = {
    "a block before the newest list": ({"block": 15}, 15),
    "its block": ({"block": 20}, 20),
    "a day": ({"date": "2026-01-01"}, 20),
    "a block that is not read": ({"block": 99_999_999}, "block_not_proven"),
    "a day to come": ({"date": "2131-01-01"}, "date_in_future"),
    "a day before the token": ({"date": "2015-01-01"}, "before_token"),
    "both": ({"block": 20, "date": "2026-01-01"}, "arguments_invalid"),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_the_holders_at_another_time_are_those_of_that_time(service, name):
    moment, expected = MOMENTS[name]
    called = post(service, message("tools/call", {"name": "svc_holders", "arguments": moment}), service.key())
    then = json.loads(called.json()["result"]["content"][0]["text"])
    if isinstance(expected, str):
        assert then["code"] == expected
    else:
        assert (then["block"], then["holder_count"], then["total_supply"]) == (expected, 3, "30.06")
        assert (then["verdict"], [row["rank"] for row in then["largest"]]) == ("proven", [1, 2, 3])
        assert then["resource"].endswith(f"/api/token/holders-map?block={expected}")


def test_a_block_that_is_not_read_yet_is_worth_a_retry_after_the_same_time_as_over_http(service):
    block = {"block": 99_999_999}
    called = post(service, message("tools/call", {"name": "svc_holders", "arguments": block}), service.key())
    problem = json.loads(called.json()["result"]["content"][0]["text"])
    over_http = httpx.get(service.key_url.replace("/api/v2/mcp", "/api/token/holders"), params=block)
    assert (over_http.status_code, over_http.headers["retry-after"]) == (409, "120")
    assert (problem["retryable"], problem["retry_after"]) == (True, 120)
    assert problem["fix"] == "Try again after 120 seconds."


def test_only_calls_and_reads_of_resources_count_for_the_day(service):
    issued = service.key("local:counted")

    async def session():
        async with service.client(issued, mode="legacy") as client:
            await client.list_tools()
            await client.list_prompts()
            await client.get_prompt("first_steps")
            await client.list_resources()
            await client.list_resource_templates()
            assert (await call(client, "svc_my_key"))["left_today"] == 99
            await client.read_resource("svc://plans")
            await problem(client, "svc_node", id="nothing")
            assert (await call(client, "svc_my_key"))["left_today"] == 96

    asyncio.run(session())
    broken = post(service, "{", issued)
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, -32700)
    assert post(service, message("notifications/initialized", id=None)[:-1] + "}", issued).status_code in (200, 202)
    asked = post(service, message("tools/call", {"name": "svc_my_key", "arguments": {}}), issued)
    assert asked.json()["result"]["structuredContent"]["left_today"] == 95


def test_a_used_up_day_is_429_with_its_end_and_leaves_what_does_not_count(service):
    issued = service.key("local:used_up")
    asked = message("tools/call", {"name": "svc_plans", "arguments": {}})
    with httpx.Client(headers=JSON | {"authorization": f"Bearer {issued.key.reveal()}"}) as client:
        answers = [client.post(service.key_url, content=asked) for _ in range(101)]
    assert {answer.status_code for answer in answers[:100]} == {200}
    last = answers[-1]
    assert (last.status_code, last.json()["error"]["data"]["code"]) == (429, "quota_exceeded")
    assert int(last.headers["retry-after"]) > 0

    async def session(mode):
        async with service.client(issued, mode=mode) as client:
            assert len((await client.list_tools()).tools) == len(KEY_TOOLS)
            for refused in (client.call_tool("svc_my_key", {}), client.read_resource("svc://plans")):
                with pytest.raises(MCPError) as error:
                    await refused
                assert error.value.error.data["code"] == "quota_exceeded"

    for mode in NEGOTIATED:
        asyncio.run(session(mode))


UNREADABLE = ("{", "[]", '{"jsonrpc":"2.0","id":7}', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', "", "x" * 1_048_577)


def test_a_refusal_has_the_id_of_its_message(service):
    used_up = service.key("local:used_up_again")
    calls = message("tools/call", {"name": "svc_plans", "arguments": {}}, id="a")
    with httpx.Client(headers=JSON | {"authorization": f"Bearer {used_up.key.reveal()}"}) as client:
        while (answer := client.post(service.key_url, content=calls)).status_code == 200:
            pass
    assert (answer.status_code, answer.json()["id"]) == (429, "a")
    by_stream = {"accept": "application/json, text/event-stream"}
    for headers in ({}, {"authorization": "Bearer svc_free_wrong"}, {"x-api-key": "x"}):
        for id in (7, "seven", 0, -1.5, ""):
            assert post(service, message("tools/list", id=id), **by_stream, **headers).json()["id"] == id
        for body in UNREADABLE:
            assert post(service, body, **by_stream, **headers).json()["id"] is None
    chunks = (b" " * 65_536 for _ in range(17))
    assert post(service, chunks, used_up).status_code == 413


def test_without_a_valid_key_every_message_is_401_with_what_to_send(service):
    listed = message("tools/list")
    for headers in ({}, {"authorization": "Bearer svc_free_wrong"}, {"x-api-key": "x"}, {"authorization": "Basic x"}):
        for body, sent in ((listed, {}), (modern("server/discover")[1], modern("server/discover")[0])):
            problem = post(service, body, **headers, **sent)
            assert (problem.status_code, problem.json()["code"]) == (401, "unauthorized")
            answer = post(service, body, accept="application/json, text/event-stream", **headers, **sent)
            error = answer.json()["error"]
            assert (answer.status_code, error["data"]["code"]) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == 'Bearer realm="svc"'
            assert "API key" in error["message"]


def test_a_key_that_is_revoked_ends_a_session_that_is_under_way(service):
    issued = service.key("local:revoked")

    async def session(mode):
        again = service.key("local:revoked")
        async with service.client(again, mode=mode) as client:
            await call(client, "svc_my_key")
            with service.ledger() as ledger, ledger.transaction() as tx:
                revoke_key(tx, again.record.key_id, now=tx.now())
            with pytest.raises(MCPError) as refused:
                await client.call_tool("svc_my_key", {})
            assert refused.value.error.data["code"] == "unauthorized"
            assert "API key" in refused.value.error.message

    for mode in ("legacy", "2026-07-28"):
        asyncio.run(session(mode))
    assert post(service, message("tools/list"), issued).status_code == 200


def test_other_methods_and_a_preflight_need_no_key(service):
    for method in ("GET", "DELETE", "PUT"):
        answer = httpx.request(method, service.key_url)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS")
        assert answer.json()["error"]["data"]["code"] == "method_not_allowed"
    answer = httpx.options(service.key_url, headers={"access-control-request-method": "POST", "origin": "https://a.b"})
    assert (answer.status_code, "Authorization" in answer.headers["access-control-allow-headers"]) == (204, True)
    evil = {"origin": "https://evil.example"}
    assert post(service, message("tools/list"), service.key(), **evil).status_code == 403
    assert post(service, message("tools/list"), service.key(), host="evil.example").status_code == 421


def test_another_owners_graph_seems_not_to_exist(service):
    async def session():
        async with service.client(service.key("local:eve")) as eve, service.client(service.key("local:bob")) as bob:
            secret = await call(eve, "svc_remember", title="Eve plans a zeppelin")
            assert (await call(bob, "svc_search", query="zeppelin"))["nodes"] == []
            assert (await problem(bob, "svc_node", id=secret["id"]))["code"] == "node_unknown"
            refused = await problem(bob, "svc_correct", id=secret["id"], action="retracts", reason="No")
            assert refused["code"] == "node_unknown"
            with pytest.raises(MCPError):
                await bob.read_resource(secret["resource"])

    asyncio.run(session())


def test_the_fault_of_a_call_is_named(service):
    rows = [
        ("svc_remember", {}, "arguments_invalid", "/title"),
        ("svc_remember", {"title": "x", "type": "Nope"}, "arguments_invalid", "/type"),
        ("svc_remember", {"title": "a\0b"}, "arguments_invalid", "/title"),
        ("svc_guardrail_check", {"action": ""}, "arguments_invalid", "/action"),
        ("svc_guardrail_check", {"action": " "}, "arguments_invalid", None),
        ("svc_search", {"types": ["Nope"]}, "arguments_invalid", None),
        ("svc_node", {"id": "x", "at_revision": 10**9}, "arguments_invalid", None),
        ("svc_holders", {"date": "2026-13-01"}, "arguments_invalid", "/date"),
        ("svc_remember", {"title": "x", "more": 1}, "arguments_invalid", "/more"),
        ("svc_search", {"domain": "NOWHERE"}, "arguments_invalid", "/domain"),
        ("svc_search", {"cursor": "x"}, "cursor_invalid", None),
        ("svc_build", {}, "arguments_invalid", ""),
        (
            "svc_memory_design",
            {"agent_id": "a", "goals": [{"title": "g"}], "retention": "x"},
            "arguments_invalid",
            None,
        ),
        ("svc_holders", {"address": "0x1"}, "arguments_invalid", "/address"),
        ("svc_correct", {"id": "nobody", "action": "retracts", "reason": "r"}, "node_unknown", None),
    ]

    async def session():
        async with service.client(service.key("local:wrong")) as client:
            for tool, arguments, code, pointer in rows:
                said = await problem(client, tool, **arguments)
                assert said["code"] == code, (tool, said)
                if pointer is not None:
                    assert pointer in [error["pointer"] for error in said["errors"]], said
            issued = service.key("local:careless")
            said = await problem(client, "svc_remember", title=f"The key is {issued.key.reveal()}")
            assert (said["code"], issued.key.reveal() in json.dumps(said)) == ("secret_in_text", False)
            with pytest.raises(MCPError) as refused:
                await client.call_tool("svc_everything", {})
            assert refused.value.error.code == -32602

    asyncio.run(session())


def test_a_megabyte_is_read_and_a_byte_more_is_413(service):
    issued = service.key("local:large")
    line = "- Project: Apollo of Acme\n"
    arguments = {"documents": [{"text": line * (600_000 // len(line)), "media_type": "text/markdown"}]}
    body = message("tools/call", {"name": "svc_build", "arguments": arguments})
    answer = post(service, body.ljust(1024 * 1024), issued)
    assert answer.status_code == 200
    result = answer.json()["result"]
    assert len(result["content"][0]["text"].encode()) <= RESULT_BYTES
    assert result["isError"] or result["structuredContent"]["node_count"] >= 1
    refused = post(service, body.ljust(1024 * 1024 + 1), issued)
    assert (refused.status_code, refused.json()["error"]["data"]["code"]) == (413, "body_too_large")


# Writes that wait for their owner's approval.

RECORD = {"type": "Concept", "source": "a call", "confidence": 0.9}


def governed(service, owner, **options):
    """Returns a key, and the store of its owner's memory plan whose records wait for the owner."""
    issued = service.key(owner, **options)

    async def design():
        async with service.client(issued) as client:
            plan = await call(
                client,
                "svc_memory_design",
                agent_id="a",
                goals=[{"title": "Know customers", "kinds": ["contacts"]}],
                privacy="regulated",
                confirmation="owner",
                mode="apply",
            )
            (store,) = [each for each in plan["stores"] if "owner_confirmation" in each["needs"]]
            return store["node_id"]

    return issued, asyncio.run(design())


def record(store, title):
    return RECORD | {"title": title, "links": [{"type": "PART_OF", "target": store}]}


class Owner:
    """Answers questions and records them."""

    def __init__(self, *actions):
        self.asked = []
        self._actions = list(actions)

    async def __call__(self, _, params):
        self.asked.append(params.message)
        action = self._actions.pop(0)
        confirmed = action == "accept"
        return types.ElicitResult(
            action="accept" if action == "refuse" else action,
            content={"confirm": confirmed} if action != "cancel" else None,
        )


def test_an_owner_is_asked_and_the_audit_names_the_client_as_a_claim(service):
    issued, store = governed(service, "local:asked")
    owner = Owner("accept", "refuse", "decline", "cancel")

    async def session():
        async with service.client(issued, elicitation_callback=owner) as client:
            written = await call(client, "svc_remember", **record(store, "Grace likes tea"))
            assert (written["verdict"], written["waiting"]) == ("approved", None)
            for title in ("Grace likes milk", "Grace likes water", "Grace likes rum"):
                said = await problem(client, "svc_remember", **record(store, title))
                assert (said["code"], said["retryable"]) == ("not_confirmed", False)
            free = await call(client, "svc_remember", **RECORD, title="Not of the store")
            assert free["verdict"] == "approved"
            found = await call(client, "svc_search", query="Grace likes", scope="own")
            assert [node["title"] for node in found["nodes"]] == ["Grace likes tea"]

    asyncio.run(session())
    assert len(owner.asked) == 4
    assert "Grace likes tea" in owner.asked[0] and "a call" in owner.asked[0]
    with service.ledger() as ledger, ledger.read() as reader:
        claimed = [entry["payload"].get("claimedConfirmation") for entry in newest_decisions(reader, 2)]
        assert claimed == [None, {"client": "mcp 0.1.0", "via": "mcp"}]
        assert verify(reader).faults == []


def test_the_rule_itself_and_the_records_under_it_change_only_with_the_owners_approval(service):
    issued, store = governed(service, "local:ruled")
    owner = Owner("accept", "refuse", "refuse")

    async def session():
        async with service.client(issued, elicitation_callback=owner) as client:
            written = await call(client, "svc_remember", **record(store, "Ada likes tea"))
            retract = {"action": "retracts", "reason": "No"}
            assert (await problem(client, "svc_correct", id=written["id"], **retract))["code"] == "not_confirmed"
            around = await call(client, "svc_search", around={"id": store, "direction": "outbound"})
            (rule,) = [link["target"] for link in around["links"] if link["type"] == "GOVERNED_BY"]
            assert (await problem(client, "svc_correct", id=rule, **retract))["code"] == "not_confirmed"

    asyncio.run(session())
    assert len(owner.asked) == 3


def test_a_client_that_never_answers_leaves_nothing_behind(service):
    issued, store = governed(service, "local:silent")

    def state():
        with service.ledger() as ledger:
            with ledger.read() as reader:
                newest = newest_decisions(reader, 1)[0]["number"]
            return newest, len(pending(ledger))

    async def session():
        async with service.client(issued, elicitation_callback=Owner()) as client:
            asked = [
                await client.session.call_tool("svc_remember", record(store, f"Silent {n}"), allow_input_required=True)
                for n in range(3)
            ]
            assert {each.result_type for each in asked} == {"input_required"}
            return asked[0]

    before = state()
    asked = asyncio.run(session())
    assert state() == before

    answered = {"confirm": {"action": "accept", "content": {"confirm": True}}}

    def reply(arguments, state_sent, by=issued):
        params = {
            "name": "svc_remember",
            "arguments": arguments,
            "inputResponses": answered,
            "requestState": state_sent,
        }
        headers, body = modern("tools/call", params)
        return post(service, body, by, **headers).json()

    other = service.key("local:silent")
    for arguments, sent, by in (
        (record(store, "Silent 1"), asked.request_state, issued),
        (record(store, "Silent 0"), asked.request_state[:-2] + "AA", issued),
        (record(store, "Silent 0"), "asked", issued),
        (record(store, "Silent 0"), asked.request_state, other),
    ):
        assert reply(arguments, sent, by)["error"]["code"] == -32602
    assert state() == before
    written = reply(record(store, "Silent 0"), asked.request_state)
    assert written["result"]["structuredContent"]["verdict"] == "approved"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_client_that_can_not_ask_its_user_gets_a_pending_id_and_a_link(service, mode):
    issued, store = governed(service, f"local:unasked-{mode}")

    async def session():
        options = {"elicitation_callback": Owner()} if mode == "legacy" else {}
        async with service.client(issued, mode=mode, **options) as client:
            return [await call(client, "svc_remember", **record(store, title)) for title in ("Tea", "Rum")]

    tea, rum = asyncio.run(session())
    assert (tea["verdict"], tea["waiting"]["by"], tea["resource"]) == ("escalated", "owner", None)
    assert tea["waiting"]["link"].endswith(f"/api/v2/world-model/pending/{tea['waiting']['pending_id']}")
    with httpx.Client(headers={"authorization": f"Bearer {issued.key.reveal()}"}) as client:
        shown = client.get(tea["waiting"]["link"]).json()["data"]
        assert (shown["state"], shown["by"], shown["statements"][0]["title"]) == ("waiting", "owner", "Tea")
        stranger = httpx.get(tea["waiting"]["link"], headers={"x-api-key": service.key().key.reveal()})
        assert (stranger.status_code, stranger.json()["code"]) == (404, "pending_unknown")
        confirmed = client.post(tea["waiting"]["link"], json={"confirm": True, "client": "a browser"}).json()["data"]
        assert confirmed["verdict"] == "approved"
        declined = client.post(rum["waiting"]["link"], json={"confirm": False}).json()["data"]
        assert declined["verdict"] == "rejected"
        again = client.post(rum["waiting"]["link"], json={"confirm": True})
        assert (again.status_code, again.json()["code"]) == (409, "pending_settled")
        assert client.get(rum["waiting"]["link"]).json()["data"]["settledBy"] == declined["decision"]
    with service.ledger() as ledger, ledger.read() as reader:
        rejected, approved = newest_decisions(reader, 2)
        assert approved["payload"]["claimedConfirmation"] == {"client": "a browser", "via": "http"}
        assert (approved["payload"]["settles"], rejected["payload"]["settles"]) == (
            tea["waiting"]["pending_id"],
            rum["waiting"]["pending_id"],
        )
        assert verify(reader).faults == []


def test_public_nodes_still_need_the_operators_approval(service):
    issued = service.key("local:public", max_class=SourceClass.OWNER)
    owner = Owner()

    async def session():
        async with service.client(issued, elicitation_callback=owner) as client:
            return await call(client, "svc_remember", title="Everybody may know", visibility="public")

    written = asyncio.run(session())
    assert (written["verdict"], written["waiting"]["by"], owner.asked) == ("escalated", "operator", [])
    with httpx.Client(headers={"authorization": f"Bearer {issued.key.reveal()}"}) as client:
        answer = client.post(written["waiting"]["link"], json={"confirm": True}).json()["data"]
        assert answer["verdict"] == "escalated"
        assert client.get(written["waiting"]["link"]).json()["data"]["by"] == "operator"
