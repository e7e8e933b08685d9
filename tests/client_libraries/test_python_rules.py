"""The Python client's rules, without a service: which requests are retried and when, the text of errors, and what a
list proves."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import inspect
import json
import shutil
import subprocess
import sys
import typing
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from clients.generate import DESCRIPTION, JAVASCRIPT, PYTHON_TYPES, python_types
from svc_client import (
    AddressInvalid,
    Altered,
    AsyncClient,
    BadRequest,
    Client,
    ClientError,
    Conflict,
    Forbidden,
    KeyInvalid,
    NotFound,
    NotProven,
    PaymentNeeded,
    Pending,
    Refused,
    ServerFault,
    TooManyRequests,
    Unauthorized,
    Unreachable,
    api_types,
    flows,
)
from svc_client.exchange import Lost, Request, Response, pause_before_again, seconds_of
from svc_client.holders import VerifiedHolders, verified

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
REQUESTS = json.loads(Path(__file__).with_name("request_rules.json").read_text())
"""Addresses and keys, and the requests that result from them; both clients follow this table."""


def answer(status: int, body: Any, retry_after_s: float | None) -> Response:
    if isinstance(body, str):
        return Response(status, body.encode(), "text/html", retry_after_s)
    return Response(status, json.dumps(body).encode(), "application/problem+json", retry_after_s)


@pytest.mark.parametrize("row", json.loads(Path(__file__).with_name("retry_rules.json").read_text()), ids=str)
def test_a_request_is_retried_if_that_can_help_and_can_do_nothing_twice(row: dict[str, Any]) -> None:
    """The JavaScript client follows the same table: `tests/web/js_client_rules.mjs`."""
    request, said = Request("POST", "/x", row["repeatable"]), row["reply"]
    reply = Lost("reset") if said is None else answer(said["status"], said["body"], said["retryAfterS"])
    assert pause_before_again(request, reply, row["attempt"], most_wait_s=65.0) == row["pauseS"]


@pytest.mark.parametrize(
    "field, seconds",
    [
        (None, None),
        ("5", 5.0),
        ("-3", 0.0),
        ("Fri, 02 Jan 2026 12:00:30 GMT", 30.0),
        ("Fri, 02 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(field: str | None, seconds: float | None) -> None:
    assert seconds_of(field, NOW) == seconds


def served(*replies: Any) -> tuple[httpx.MockTransport, list[httpx.Request]]:
    """Returns a transport that gives these replies in turn, and the list of requests that it received."""
    seen: list[httpx.Request] = []
    left = list(replies)

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        given = left.pop(0)
        if isinstance(given, Exception):
            raise given
        status, body, headers = given
        return httpx.Response(status, json=body, headers=headers)

    return httpx.MockTransport(reply), seen


def client_of(transport: httpx.MockTransport, pauses: list[float] | None = None, **options: Any) -> Client:
    slept: list[float] = [] if pauses is None else pauses
    http = httpx.Client(transport=transport)
    return Client("https://svc.example/under/", http=http, sleep=slept.append, **options)


def test_a_statement_whose_answer_was_lost_is_sent_again_under_the_same_key() -> None:
    written = {"ok": True, "data": {"verdict": "approved"}}
    transport, seen = served(
        httpx.ReadError("gone"), (503, {"retryable": True}, {"Retry-After": "2"}), (201, written, {})
    )
    pauses: list[float] = []
    client = client_of(transport, pauses, key="svc_free_x")
    assert client.signal(type="Goal", title="A garden", source="me") == written
    bodies = [json.loads(request.content) for request in seen]
    assert bodies[0] == bodies[1] == bodies[2]
    assert len(bodies[0]["idempotencyKey"]) == 32
    assert {request.headers["authorization"] for request in seen} == {"Bearer svc_free_x"}
    assert str(seen[0].url) == "https://svc.example/under/api/v2/world-model/signal"
    assert pauses == [0.25, 2.0]


def test_a_path_names_a_node_whole_whatever_characters_its_id_has() -> None:
    transport, asked = served((200, {}, {}), (200, {}, {}), (200, {}, {}))
    client = client_of(transport)
    client.node("task#1")
    client.erase("team/a:b@c?")
    client.holder("0x1?a#b")
    assert [str(request.url) for request in asked] == [
        "https://svc.example/under/api/v2/world-model/nodes/task%231",
        "https://svc.example/under/api/v2/world-model/nodes/team%2Fa%3Ab%40c%3F",
        "https://svc.example/under/api/token/holders/0x1%3Fa%23b",
    ]


def test_a_request_that_must_not_be_repeated_is_not_sent_again() -> None:
    transport, seen = served(httpx.ReadError("gone"))
    with pytest.raises(Unreachable, match="memory/design"):
        client_of(transport).design_memory(agent={"id": "a"}, goals=["x"], mode="apply")
    assert len(seen) == 1


@pytest.mark.parametrize("row", REQUESTS["addresses"], ids=str)
def test_an_impossible_address_is_refused_before_anything_is_sent(row: dict[str, Any]) -> None:
    """The JavaScript client follows the same tables."""
    transport, seen = served((200, {}, {}))
    client = Client(row["base"], http=httpx.Client(transport=transport))
    if row["url"] is None:
        with pytest.raises(AddressInvalid, match=r"a service's address is|a path begins with|is not an address"):
            client.document(row["path"], **row["query"])
    else:
        client.document(row["path"], **row["query"])
    assert [str(request.url) for request in seen] == [row["url"]] * (row["url"] is not None)


@pytest.mark.parametrize("base_url", ["https://svc.example\n", "https://a..b", "https://" + "a" * 64])
def test_an_address_that_httpx_would_fail_at_with_an_error_of_its_own_is_refused(base_url: str) -> None:
    with pytest.raises(AddressInvalid):
        Client(base_url, http=httpx.Client(transport=served()[0])).plans()


def test_an_address_without_a_host_is_below_that_of_the_given_http_client() -> None:
    transport, seen = served((200, {}, {}))
    Client("", http=httpx.Client(transport=transport, base_url="https://svc.example/under")).plans()
    assert str(seen[0].url) == "https://svc.example/under/api/agent-access/plans"


@pytest.mark.parametrize("row", REQUESTS["keys"], ids=str)
def test_a_key_that_no_header_can_hold_is_refused_before_anything_is_sent(row: dict[str, Any]) -> None:
    transport, seen = served((200, {}, {}))
    client = client_of(transport, key=row["key"])
    if "refused" in row:
        with pytest.raises(KeyInvalid, match="printable ASCII") as refused:
            client.plans()
        assert isinstance(refused.value, ClientError) and row["key"].strip() not in str(refused.value).split()
        assert seen == []
    else:
        client.plans()
        assert seen[0].headers.get("authorization") == row["authorization"]


def test_a_graph_is_built_from_a_whole_request_or_from_keywords() -> None:
    transport, seen = served(*[(200, {}, {})] * 4)
    client = client_of(transport)
    whole: api_types.BuildRequest = {"mode": "preview", "documents": [{"id": "n", "text": "Owner: Ada"}]}
    client.build(whole)
    client.build(request=whole)
    client.build(mode="preview", documents=[{"id": "n", "text": "Owner: Ada"}])
    client.build(whole, mode="apply")
    bodies = [json.loads(request.content) for request in seen]
    assert bodies == [whole, whole, whole, whole | {"mode": "apply"}]
    for variant in typing.get_args(api_types.BuildRequest):
        assert typing.get_type_hints(variant) == typing.get_type_hints(flows.BuildMembers)


def test_a_build_from_keywords_is_retried_only_if_it_can_do_nothing_twice() -> None:
    transport, seen = served(httpx.ReadError("gone"), (200, {}, {}), httpx.ReadError("gone"))
    client = client_of(transport)
    client.build(mode="apply", graphId="g", nodes=[])
    with pytest.raises(Unreachable, match="knowledge-graph/build"):
        client.build(mode="apply", nodes=[])
    assert len(seen) == 3


KINDS = [
    (400, BadRequest),
    (413, BadRequest),
    (401, Unauthorized),
    (402, PaymentNeeded),
    (403, Forbidden),
    (404, NotFound),
    (409, Conflict),
    (429, TooManyRequests),
    (500, ServerFault),
]


@pytest.mark.parametrize("status, kind", KINDS)
def test_a_refusal_is_an_exception_with_code_links_and_time(status: int, kind: type[Refused]) -> None:
    problem = {
        "ok": False,
        "title": "No",
        "detail": "Not so.",
        "code": "some_code",
        "retryable": False,
        "requestId": "r1",
        "errors": [{"pointer": "/a", "detail": "b"}],
        "links": {"plans": "https://svc.example/plans"},
    }
    transport, _ = served((status, problem, {"Retry-After": "90"}))
    with pytest.raises(kind) as refused:
        client_of(transport).holders()
    assert type(refused.value) is kind
    error = refused.value
    assert (error.status, error.code, error.detail, error.retry_after_s) == (status, "some_code", "Not so.", 90.0)
    assert (error.links, error.request_id) == (problem["links"], "r1")
    assert error.errors == problem["errors"]
    assert "some_code" in str(error)


def test_an_error_that_is_no_problem_document_still_raises_a_refusal() -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(400, text="<html>bad</html>"))
    with pytest.raises(BadRequest) as refused:
        client_of(transport).plans()
    assert (refused.value.code, refused.value.body) == ("unknown", "<html>bad</html>")


def offered(**changed: Any) -> dict[str, Any]:
    """Returns a quote whose hashes hold, except for what is changed."""
    quote, requirement = {"a": 1}, {"amount": "5"}
    hashes = [
        hashlib.sha256(json.dumps(each, separators=(",", ":")).encode()).hexdigest() for each in (quote, requirement)
    ]
    whole = {
        "data": {"quote": quote, "paymentRequirement": requirement, "next": {"claim": {"proofRequired": False}}},
        "quoteId": "q1",
        "quoteHash": hashes[0],
        "paymentRequirementHash": hashes[1],
    }
    return whole | changed


def test_a_quote_that_is_not_what_its_hashes_say_is_not_given_to_be_paid() -> None:
    transport, _ = served((201, offered(quoteHash="0" * 64), {}))
    with pytest.raises(Altered):
        client_of(transport).quote("a_plan", "0xab")


def test_a_claim_waits_as_long_as_the_service_says_and_as_its_caller_will() -> None:
    pending = {"ok": True, "code": "confirmations", "quoteId": "q1", "retryAfter": 5}
    issued = {"ok": True, "data": {"activationPacket": {"apiKey": "svc_basic_new"}}}
    transport, seen = served(
        (202, pending, {"Retry-After": "5"}), (202, pending, {"Retry-After": "7"}), (201, issued, {})
    )
    pauses: list[float] = []
    client = client_of(transport, pauses)
    quote: Any = offered()
    assert client.claim(quote, "0xaa") == issued
    assert (client.key, pauses) == ("svc_basic_new", [5.0, 7.0])
    assert {request.headers["idempotency-key"] for request in seen} == {"claim-q1"}

    transport, seen = served((202, pending, {"Retry-After": "5"}))
    with pytest.raises(Pending) as waiting:
        client_of(transport).claim(quote, "0xaa", wait_s=4)
    assert (waiting.value.answer, len(seen)) == (pending, 1)


def listed(*rows: str, sha256: str | None = None, count: int = 2, total: str = "7") -> tuple[Any, bytes]:
    packed = gzip.compress("\n".join(["address,balance_raw", *rows]).encode(), mtime=0)
    proof = {
        "verdict": "proven",
        "sumOfBalances": total,
        "holderList": {"path": "/x", "sha256": sha256 or hashlib.sha256(packed).hexdigest()},
    }
    consistency = {"proof": proof, "block": 9, "blockHash": "0xbb"}
    return {"consistency": consistency, "holderCount": count, "totalSupplyRaw": total}, packed


def test_a_list_of_holders_is_added_up() -> None:
    assert verified(*listed("0xa,3", "0xb,4")) == VerifiedHolders(2, 7, 9, "0xbb")


@pytest.mark.parametrize(
    "rows, stated, why",
    [
        (("0xa,3", "0xb,4"), {"sha256": "0" * 64}, "not the file"),
        (("0xa,3", "0xb,5"), {}, "sum up to 8"),
        (("0xa,3", "0xb,4"), {"count": 3}, "2 holders"),
        (("0xa,3", "0xa,4"), {}, "twice"),
        (("0xa,7", "0xb,0"), {}, "holds nothing"),
    ],
)
def test_a_list_that_does_not_add_up_proves_nothing(rows: tuple[str, ...], stated: dict[str, Any], why: str) -> None:
    with pytest.raises(NotProven, match=why):
        verified(*listed(*rows, **stated))


def test_without_a_proof_nothing_is_verified() -> None:
    document, packed = listed("0xa,3", "0xb,4")
    document["consistency"]["proof"]["verdict"] = "disputed"
    with pytest.raises(NotProven, match="disputed"):
        verified(document, packed)
    with pytest.raises(NotProven, match="no proof"):
        verified(document | {"consistency": None}, packed)


def test_both_forms_have_every_operation() -> None:
    operations = {
        name for name, flow in vars(flows).items() if inspect.isgeneratorfunction(flow) and not name.startswith("_")
    }
    for form in (Client, AsyncClient):
        assert operations <= set(vars(form))
        assert all(vars(form)[name].__doc__ for name in operations)


def test_the_async_form_sends_again_and_raises_alike() -> None:
    transport, seen = served((503, {"retryable": True}, {"Retry-After": "1"}), (404, {"code": "node_unknown"}, {}))
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def asks() -> None:
        async with AsyncClient(
            "https://svc.example", "svc_free_x", http=httpx.AsyncClient(transport=transport), sleep=sleep
        ) as client:
            await client.node("nothing")

    with pytest.raises(NotFound, match="node_unknown"):
        asyncio.run(asks())
    assert (len(seen), pauses) == (2, [1.0])


def test_the_types_are_those_of_the_description() -> None:
    assert PYTHON_TYPES.read_text() == python_types(json.loads(DESCRIPTION.read_text())), "run `make contracts`"


def test_the_wheel_has_every_module_and_says_that_it_is_typed(tmp_path: Path) -> None:
    package = PYTHON_TYPES.parent
    source = tmp_path / "source"
    shutil.copytree(package.parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=source, check=True)
    (wheel,) = (source / "dist").glob("*.whl")
    modules = {f"svc_client/{file.name}" for file in package.glob("*.py")} | {"svc_client/py.typed"}
    assert {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info" not in name} == modules


def test_the_javascript_package_has_every_file_that_it_lists_and_needs_no_other() -> None:
    package = json.loads((JAVASCRIPT / "package.json").read_text())
    there = {file.name for file in JAVASCRIPT.iterdir()} - {"package.json", "tsconfig.json", "README.md"}
    assert set(package["files"]) == there
    assert "dependencies" not in package
