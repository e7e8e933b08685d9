"""`/mcp` answers any input: one row per input, sent over HTTP as a client sends it."""

import asyncio
import json
import re

import pytest
from keyed_service import serving
from mcp_service import JSON, MODERN, message, modern

from api.publish.client_address import ClientAddresses
from contracts.connect.server import PROTOCOL_VERSIONS
from contracts.settings import Settings

BASE = "https://svc.example"
HERE = {"host": "svc.example"}
PING = message("ping")
NULL = message("ping", id=None)
MODERN_LIST = modern("tools/list")
MODERN_NULL = MODERN_LIST[1].replace('"id": 1', '"id": null')
MODERN_CALL = modern("tools/call", {"name": "svc_everything"})
MODERN_PING = {**JSON, "mcp-protocol-version": MODERN, "mcp-method": "ping"}
EVIL = {**JSON, "host": "evil.example", "origin": "http://evil.example"}
DEEP = message("ping", {"a": json.loads("[" * 60 + "]" * 60)})
DEEPER = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + "[" * 70 + "]" * 70 + "}}"


def call(name, **arguments):
    return message("tools/call", {"name": name, "arguments": arguments})


# method, headers, body -> status, error code or None, id of the answer
MATRIX = {
    "a request": ("POST", JSON, PING, 200, None, 1),
    "a charset": ("POST", {"content-type": "application/json; charset=utf-8"}, PING, 200, None, 1),
    "any accept": ("POST", {**JSON, "accept": "*/*"}, PING, 200, None, 1),
    "no accept": ("POST", {**JSON, "accept": ""}, PING, 200, None, 1),
    "a narrow accept": ("POST", {**JSON, "accept": "text/html"}, PING, 200, None, 1),
    "id null": ("POST", JSON, NULL, 200, None, None),
    "id a text": ("POST", JSON, message("ping", id="seven"), 200, None, "seven"),
    "id empty": ("POST", JSON, message("ping", id=""), 200, None, ""),
    "id zero": ("POST", JSON, message("ping", id=0), 200, None, 0),
    "id a fraction": ("POST", JSON, message("ping", id=1.5), 200, None, 1.5),
    "id huge": ("POST", JSON, message("ping", id=2**70), 200, None, 2**70),
    "id null, in the newest revision": ("POST", MODERN_LIST[0], MODERN_NULL, 200, None, None),
    "members that nobody knows": ("POST", JSON, message("ping", more=1), 200, None, 1),
    "params null": ("POST", JSON, message("ping", **{"params": None}), 200, None, 1),
    "deep params": ("POST", JSON, DEEP, 200, None, 1),
    "params that are too deep": ("POST", JSON, DEEPER, 400, -32700, None),
    "no JSON": ("POST", JSON, "{", 400, -32700, None),
    "nothing": ("POST", JSON, "", 400, -32700, None),
    "no UTF-8": ("POST", JSON, b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', 400, -32700, None),
    "a key twice": ("POST", JSON, '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32700, None),
    "NaN": ("POST", JSON, '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', 400, -32700, None),
    "half of a surrogate pair": ("POST", JSON, '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', 400, -32700, None),
    "a batch": ("POST", JSON, f"[{PING}]", 400, -32600, None),
    "an empty batch": ("POST", JSON, "[]", 400, -32600, None),
    "a text": ("POST", JSON, '"ping"', 400, -32600, None),
    "null": ("POST", JSON, "null", 400, -32600, None),
    "jsonrpc 1.0": ("POST", JSON, message("ping", jsonrpc="1.0"), 400, -32600, None),
    "jsonrpc a number": ("POST", JSON, message("ping", jsonrpc=2.0), 400, -32600, None),
    "no jsonrpc": ("POST", JSON, '{"id":1,"method":"ping"}', 400, -32600, None),
    "no method": ("POST", JSON, '{"jsonrpc":"2.0","id":1}', 400, -32600, None),
    "an empty method": ("POST", JSON, message(""), 400, -32600, None),
    "a method that is a number": ("POST", JSON, message(7), 400, -32600, None),
    "an answer": ("POST", JSON, '{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600, None),
    "params an array": ("POST", JSON, message("ping", []), 400, -32600, None),
    "id true": ("POST", JSON, message("ping", id=True), 400, -32600, None),
    "id an object": ("POST", JSON, message("ping", id={}), 400, -32600, None),
    "text/plain": ("POST", {"content-type": "text/plain"}, PING, 415, -32600, None),
    "no content type": ("POST", {}, PING, 415, -32600, None),
    "a form": ("POST", {"content-type": "application/x-www-form-urlencoded"}, PING, 415, -32600, None),
    "JSON in capitals": ("POST", {"content-type": "Application/JSON; charset=UTF-8"}, PING, 200, None, 1),
    "nearly JSON": ("POST", {"content-type": "application/json-seq"}, PING, 415, -32600, None),
    "64 KiB": ("POST", JSON, PING + " " * (64 * 1024 - len(PING)), 200, None, 1),
    "a byte more": ("POST", JSON, PING + " " * (64 * 1024 - len(PING) + 1), 413, -32600, None),
    "65 KiB": ("POST", JSON, "x" * 65 * 1024, 413, -32600, None),
    "GET": ("GET", {"accept": "text/event-stream"}, None, 405, -32600, None),
    "DELETE": ("DELETE", {"mcp-session-id": "x"}, None, 405, -32600, None),
    "PUT": ("PUT", JSON, PING, 405, -32600, None),
    "PATCH": ("PATCH", JSON, PING, 405, -32600, None),
    "a method of HTTP that there is not": ("BREW", JSON, PING, 405, -32600, None),
    "our own page": ("POST", {**JSON, "origin": BASE}, PING, 200, None, 1),
    "our own page, in capitals": ("POST", {**JSON, "origin": "HTTPS://SVC.EXAMPLE"}, PING, 200, None, 1),
    "a page that is let in": ("POST", {**JSON, "origin": "https://app.example"}, PING, 200, None, 1),
    "a foreign page": ("POST", {**JSON, "origin": "https://evil.example"}, PING, 403, -32600, None),
    "a page without an origin": ("POST", {**JSON, "origin": "null"}, PING, 403, -32600, None),
    "a page on another port": ("POST", {**JSON, "origin": "https://svc.example:444"}, PING, 403, -32600, None),
    "a page that begins like ours": ("POST", {**JSON, "origin": "https://svc.example.evil"}, PING, 403, -32600, None),
    "the listening address": ("POST", {**JSON, "host": "127.0.0.1:8000"}, PING, 200, None, 1),
    "this machine": ("POST", {**JSON, "host": "localhost:8000"}, PING, 200, None, 1),
    "this machine, in IPv6": ("POST", {**JSON, "host": "[::1]:8000"}, PING, 200, None, 1),
    "our host with its port": ("POST", {**JSON, "host": "svc.example:443"}, PING, 200, None, 1),
    "a foreign host": ("POST", {**JSON, "host": "evil.example"}, PING, 421, -32600, None),
    "a foreign host, its own page": ("POST", EVIL, PING, 421, -32600, None),
    "a host like ours": ("POST", {**JSON, "host": "svc.example.evil"}, PING, 421, -32600, None),
    "no host": ("POST", {**JSON, "host": ""}, PING, 421, -32600, None),
    "an unknown method": ("POST", JSON, message("tools/destroy"), 200, -32601, 1),
    "an unknown method, in the newest revision": ("POST", *modern("tools/destroy"), 404, -32601, 1),
    "an unknown tool": ("POST", JSON, call("svc_everything"), 200, -32602, 1),
    "an unknown tool, in the newest revision": ("POST", *MODERN_CALL, 400, -32602, 1),
    "a tool without a name": ("POST", JSON, message("tools/call", {}), 200, -32602, 1),
    "an unknown resource": ("POST", JSON, message("resources/read", {"uri": "svc://none"}), 200, -32602, 1),
    "the newest revision": ("POST", *MODERN_LIST, 200, None, 1),
    "white space around its header": ("POST", *modern("tools/list", **{"mcp-method": " tools/list\t"}), 200, None, 1),
    "its method header left out": ("POST", {**JSON, "mcp-protocol-version": MODERN}, MODERN_LIST[1], 400, -32020, 1),
    "its method header wrong": ("POST", *modern("tools/list", **{"mcp-method": "ping"}), 400, -32020, 1),
    "its envelope left out": ("POST", MODERN_PING, PING, 400, -32602, 1),
    "an unknown revision": ("POST", {**JSON, "mcp-protocol-version": "1900-01-01"}, PING, 400, -32022, 1),
    "an unknown revision, id null": ("POST", {**JSON, "mcp-protocol-version": "x"}, NULL, 400, -32022, None),
    **{
        f"revision {version}": ("POST", {**JSON, "mcp-protocol-version": version}, PING, 200, None, 1)
        for version in PROTOCOL_VERSIONS[1:]
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("edge"),
        base_url=BASE,
        allowed_origins=("https://app.example/",),
        rate_limit_per_minute=0,
    )
    with serving(settings) as running:
        yield running


@pytest.mark.parametrize("name", MATRIX)
def test_every_input_has_its_answer(service, name):
    method, headers, body, status, code, id_ = MATRIX[name]
    (answer,) = service.ask((method, "/mcp", HERE | headers, {} if body is None else {"content": body}))
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"
    said = answer.json()
    assert (said["jsonrpc"], said["id"]) == ("2.0", id_)
    assert said.get("error", {}).get("code") == code
    assert ("result" in said) is (code is None)
    assert "pydantic" not in answer.text
    if code is not None:
        data = said["error"]["data"]
        assert data["retryable"] is False and re.fullmatch(r"[a-z_]+", data["code"])
        assert data["requestId"] == answer.headers["x-request-id"]
        assert data["links"]["home"] == f"{BASE}/"
    if status == 405:
        assert answer.headers["allow"] == "POST, OPTIONS"
    if code == -32022:
        assert said["error"]["data"]["supported"] == [MODERN]


@pytest.mark.parametrize(
    ("sent", "stable", "more"),
    [
        (message("tools/destroy"), "method_unknown", {"named": "tools/destroy"}),
        (call("svc_everything"), "tool_unknown", {}),
        (message("tools/call", {}), "params_invalid", {}),
        (message("resources/read", {"uri": "svc://none"}), "resource_unknown", {"uri": "svc://none"}),
        (message("prompts/get", {"name": "none"}, id=1.5), "method_unknown", {"named": "prompts/get"}),
    ],
)
def test_refusals_by_the_protocol_itself_have_stable_codes(service, sent, stable, more):
    (answer,) = service.ask(("POST", "/mcp", HERE | JSON, {"content": sent}))
    data = answer.json()["error"]["data"]
    assert answer.json()["id"] == json.loads(sent)["id"]
    assert data["code"] == stable
    assert {name: data[name] for name in data if name not in ("code", "retryable", "requestId", "links")} == more


@pytest.mark.parametrize("body", [message("notifications/initialized"), message("ping"), message("nobody/knows")])
def test_a_notification_without_an_id_is_accepted_and_not_answered(service, body):
    told = json.loads(body)
    del told["id"]
    (answer,) = service.ask(("POST", "/mcp", HERE | JSON, {"json": told}))
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("origin", [{}, {"origin": "https://app.example"}, {"origin": "https://evil.example"}])
def test_a_preflight_says_what_may_be_sent(service, origin):
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "mcp-protocol-version"}
    (answer,) = service.ask(("OPTIONS", "/mcp", HERE | origin | asks, {}))
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "POST, OPTIONS"
    assert {"Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"} <= set(
        answer.headers["access-control-allow-headers"].split(", ")
    )


def test_a_proxy_that_is_trusted_may_ask_by_any_name(service, tmp_path):
    settings = service.settings.model_copy(update={"trusted_proxies": ("192.0.2.1",), "data_dir": tmp_path})
    assert ClientAddresses(settings.trusted_proxies).trusts("192.0.2.1")
    with serving(settings) as behind:
        asked = [("POST", "/mcp", {**JSON, "host": "api:8000", **more}, {"content": PING}) for more in PAGES]
        assert [answer.status_code for answer in behind.ask(*asked)] == [200, 403]


PAGES = ({}, {"origin": "https://evil.example"})


@pytest.mark.parametrize(
    ("arguments", "pointers"),
    [
        ({}, ["/pairing_code"]),
        ({"pairing_code": "abcdef", "agent": 7}, ["/agent"]),
        ({"pairing_code": "abcdef", "agent": "a\nb"}, ["/agent"]),
        ({"pairing_code": "abcdef", "more": 1, "agent": "x" * 1000}, ["/agent", "/more"]),
    ],
)
def test_arguments_that_do_not_fit_are_reported_with_pointers(service, arguments, pointers):
    (answer,) = service.ask(("POST", "/mcp", HERE | JSON, {"content": call("svc_connect_handshake", **arguments)}))
    result = answer.json()["result"]
    problem = json.loads(result["content"][0]["text"])
    assert (result["isError"], "structuredContent" in result) == (True, False)
    assert (problem["code"], problem["retryable"]) == ("arguments_invalid", False)
    assert [error["pointer"] for error in problem["errors"]] == pointers
    assert problem["fix"]


@pytest.mark.parametrize("arguments", [None, [], "x", 7])
def test_arguments_that_are_no_object_are_reported(service, arguments):
    body = message("tools/call", {"name": "svc_connect_status", "arguments": arguments})
    (answer,) = service.ask(("POST", "/mcp", HERE | JSON, {"content": body}))
    assert answer.status_code == 200
    assert answer.json()["result"]["isError"] if arguments is None else answer.json()["error"]["code"] == -32602


@pytest.mark.parametrize("token", [None, "", 7, [], {}, "svcs_", "svcs_" + "a" * 43, "x" * 300, "\0"])
@pytest.mark.parametrize("more", [{}, {"action": 7, "nonsense": 1}])
def test_an_unpaired_caller_is_told_how_to_pair_whatever_else_is_wrong(service, token, more):
    body = call("svc_guardrail_check", session_token=token, **more)
    (answer,) = service.ask(("POST", "/mcp", HERE | JSON, {"content": body}))
    problem = json.loads(answer.json()["result"]["content"][0]["text"])
    assert problem["code"] == "session_required"
    assert "pairing code" in problem["fix"]


def test_many_simultaneous_requests_each_get_their_own_answer(service):
    async def asked():
        import httpx

        transport = httpx.ASGITransport(service.front)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            sent = [client.post("/mcp", headers=JSON, content=message("ping", id=n)) for n in range(50)]
            return [answer.json()["id"] for answer in await asyncio.gather(*sent)]

    assert asyncio.run(asked()) == list(range(50))
