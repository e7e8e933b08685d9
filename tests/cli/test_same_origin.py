"""The check in front of a local web application: its own pages and local programs pass, other pages don't."""

from __future__ import annotations

import asyncio

import pytest

from cli.same_origin import SameOrigin, check_request
from contracts.errors import HostUnknown, MediaTypeUnsupported, MethodNotAllowed, OriginForbidden

HOST = "127.0.0.1:3000"
JSON = {"content-type": "application/json"}
FETCH_OF_OWN_PAGE = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def scope(method: str = "GET", path: str = "/", query: str = "", host: str | None = HOST, **headers: str) -> dict:
    fields = {**({} if host is None else {"host": host}), **headers}
    return {
        "type": "websocket" if method == "WEBSOCKET" else "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in fields.items()],
    }


@pytest.mark.parametrize(
    "request_scope",
    [
        scope(),
        scope(host="localhost:3000"),
        scope(host="LOCALHOST:4000"),
        scope(host="[::1]:3000"),
        scope("HEAD", "/server_info"),
        scope("GET", "/assets", "view=lineage", **{"sec-fetch-site": "none"}, **NAVIGATION),
        scope("GET", "/assets", **{"sec-fetch-site": "cross-site"}, **NAVIGATION),
        scope("GET", "/static/main.js", **{"sec-fetch-site": "same-origin", "sec-fetch-dest": "script"}),
        scope("POST", "/graphql", **JSON),
        scope("POST", "/graphql", **{"content-type": "Application/JSON; charset=utf-8"}, **FETCH_OF_OWN_PAGE),
        scope("WEBSOCKET", "/graphql"),
        scope("WEBSOCKET", "/graphql", origin=f"http://{HOST}"),
    ],
)
def test_own_pages_and_local_programs_pass(request_scope):
    check_request(request_scope)


@pytest.mark.parametrize(
    ("request_scope", "problem"),
    [
        (scope(host="rebound.example:3000"), HostUnknown),
        (scope(host="127.0.0.1.rebound.example"), HostUnknown),
        (scope(host="localhost@rebound.example"), HostUnknown),
        (scope(host="["), HostUnknown),
        (scope(host="127.0.0.1:port"), HostUnknown),
        (scope(host=""), HostUnknown),
        (scope(host=None), HostUnknown),
        (scope("WEBSOCKET", host="rebound.example"), HostUnknown),
        (scope("POST", "/graphql", origin="https://evil.example", **JSON), OriginForbidden),
        (scope("POST", "/graphql", origin="null", **JSON), OriginForbidden),
        (scope("POST", "/graphql", origin="", **JSON), OriginForbidden),
        (scope("POST", "/graphql", origin="http://127.0.0.1:8000", **JSON), OriginForbidden),
        (scope("POST", "/graphql", origin="http://localhost:3000", **JSON), OriginForbidden),
        (scope("WEBSOCKET", "/graphql", origin="https://evil.example"), OriginForbidden),
        (scope("WEBSOCKET", "/graphql", origin="http://127.0.0.1:8000"), OriginForbidden),
        (scope("GET", "/graphql", "query=x", **{"sec-fetch-site": "cross-site"}), OriginForbidden),
        (scope("GET", "/logs/1", **{"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}), OriginForbidden),
        (scope("POST", "/graphql", **{"sec-fetch-site": "cross-site"}, **NAVIGATION, **JSON), OriginForbidden),
        (scope("GET", "/", **{"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}), OriginForbidden),
        (scope("GET", "/graphql", "query=mutation{x}"), MethodNotAllowed),
        (scope("GET", "/graphql", "a=1&%71uery=mutation{x}", **{"sec-fetch-site": "none"}), MethodNotAllowed),
        (scope("HEAD", "/graphql", "query="), MethodNotAllowed),
        (scope("POST", "/graphql", "query=mutation{x}"), MediaTypeUnsupported),
        (scope("POST", "/graphql", **{"content-type": "text/plain"}), MediaTypeUnsupported),
        (scope("POST", "/graphql", **{"content-type": "text/plain; application/json"}), MediaTypeUnsupported),
        (scope("POST", "/report_asset_check/a", **{"content-type": "multipart/form-data"}), MediaTypeUnsupported),
        (scope("DELETE", "/anything"), MediaTypeUnsupported),
    ],
)
def test_requests_that_another_page_can_send_are_refused(request_scope, problem):
    with pytest.raises(problem):
        check_request(request_scope)


def test_a_field_that_comes_twice_counts_as_foreign():
    twice = scope()
    twice["headers"].append((b"host", b"rebound.example"))
    with pytest.raises(HostUnknown):
        check_request(twice)


class Application:
    """Counts the scopes that reach it."""

    def __init__(self) -> None:
        self.reached: list[str] = []

    async def __call__(self, scope, receive, send) -> None:
        self.reached.append(scope["type"])


def sent(request_scope: dict) -> tuple[list[str], list[dict]]:
    """Returns what reached the application, and what was answered instead."""
    application, messages = Application(), []

    async def send(message: dict) -> None:
        messages.append(message)

    async def receive() -> dict:
        return {"type": "http.request"}

    asyncio.run(SameOrigin(application)(request_scope, receive, send))
    return application.reached, messages


def test_a_refusal_reaches_nothing_and_says_what_to_do():
    reached, [start, body] = sent(scope(host="rebound.example"))
    assert (reached, start["status"]) == ([], 421)
    assert b"http://localhost:PORT" in body["body"]
    assert sent(scope("WEBSOCKET", host="rebound.example")) == (
        [],
        [{"type": "websocket.close", "code": 1008, "reason": "host_unknown"}],
    )


def test_start_and_end_of_the_server_reach_the_application():
    assert sent({"type": "lifespan"}) == (["lifespan"], [])
