"""The costliest request of every route, in CPU seconds of the serving process: 0.25 without a key, 1 with one."""

import gc
import time

import httpx
import pytest
from costliest_requests import ACTION_NAMES, Costly, bare, costliest
from fastapi.routing import APIRoute
from intakes import HUMAN
from lasting_loop import LastingLoop
from rounds import ROUNDS, SOAK_ROUNDS, chosen
from whole_service import PAYER, whole_service

from api.app import build_rooms
from api.publish.router import fixed_routes
from api.routes import WorkRoute
from api.stores import Stores
from contracts.settings import Settings
from contracts.site.pages import OPERATION_PAGES
from warehouse.connect.sessions import issue_code
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

WITHOUT_KEY_CPU_S = 0.25
WITH_KEY_CPU_S = 1.0
WITH_KEY = (
    "/api/v2/guardrail/",
    "/api/v2/world-model/",
    "/api/v2/knowledge-graph/",
    "/api/v2/memory/",
    "/api/v2/me?",
    "/api/v2/mcp",
)
"""Paths of requests with a key."""
KEYED = (*WITH_KEY, "/mcp")
"""The same paths and that of paired sessions, where a request costs one of the session's minute."""


class Measured:
    """The whole service in this process, warmed up: the process's CPU is the CPU of each request."""

    def __init__(self, service) -> None:
        self.service = service
        self.loop = LastingLoop()
        self.key = service.key()
        self.app = service.app
        pairing = {"pairing_code": self._pairing_code()}
        call = {"name": "svc_connect_handshake", "arguments": pairing}
        self.ask(Costly("quote", "/api/agent-access/quote"), "POST", json={"payerAddress": PAYER})
        intake = self.ask(Costly("intake", "/api/intake"), "POST", json=HUMAN).json()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        session = self.ask(Costly("pair", "/mcp"), "POST", json=message).json()["result"]["structuredContent"]
        action = {"action": "ls"}
        self.ask(Costly("rules", "/api/v2/guardrail/check"), "POST", json=action)
        self.rows = costliest(session["session_token"], intake["id"], "clm_" + "a" * 32)
        gc.collect()
        gc.freeze()  # as the service does after loading

    def ask(self, row: Costly, method: str, **options) -> httpx.Response:
        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, client=("127.0.0.1", 50000))
            base_url = self.service.settings.public_base_url
            headers = {"host": "127.0.0.1", **(row.headers or {})}
            if row.path.startswith(WITH_KEY):
                headers["x-api-key"] = self.key
            async with httpx.AsyncClient(transport=transport, base_url=base_url) as client:
                return await client.request(method, row.path, headers=headers, content=row.content, **options)

        return self.loop.run(answer())

    def cost(self, row: Costly, method: str) -> tuple[httpx.Response, float]:
        """Returns an answer, and the CPU seconds that it took."""
        began = time.process_time()
        answer = self.ask(row, method)
        return answer, time.process_time() - began

    def _pairing_code(self) -> str:
        settings = self.service.settings
        ledger = open_ledger(settings, settings.data_dir)
        try:
            with ledger.transaction() as tx:
                return issue_code(tx, load_secrets(settings).pepper).code
        finally:
            ledger.close()


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    with whole_service(tmp_path_factory.mktemp("costs")) as service:
        measured = Measured(service)
        yield measured
        measured.loop.close()


ROOMS = build_rooms(Stores(Settings(_env_file=None)), lambda: None)
ROUTES = [route for route in (*ROOMS.routes, *fixed_routes()) if isinstance(route, APIRoute)]
ALIKE = {page.path for page in OPERATION_PAGES} | {page.markdown for page in OPERATION_PAGES}
"""Pages of operations, which the front answers alike: some of them represent all."""
EVERY_METHOD = sorted((method, route.path) for route in ROUTES for method in route.methods)
METHODS = [row for row in EVERY_METHOD if row[1] not in ALIKE]
METHODS += chosen([row for row in EVERY_METHOD if row[1] in ALIKE], 50)


BUILD = "/api/v2/knowledge-graph/build"
ALSO_BUILDS = "/api/v2/mcp"
LONG_ANSWER = "rows"
"""A text whose graph gives an answer of five megabytes, nearly the largest, for a third of the worker's CPU."""
ALSO_JUDGE_ACTIONS = ("/mcp", "/blink/guardrail")


def measured_rows(path: str, rows: list[Costly]) -> list[Costly]:
    """Returns all rows in a soak. Otherwise a fifth of the actions where a route other than the guardrail's own accepts
    them too, and one of the texts for a graph: these cost the serving process in proportion to the length of their
    answers, and a worker seconds each."""
    actions = [row for row in rows if path in ALSO_JUDGE_ACTIONS and row.name.removeprefix("check ") in ACTION_NAMES]
    texts = [
        row
        for row in rows
        if (path == BUILD and b'{"documents":[' in row.content[:20])
        or (path == ALSO_BUILDS and row.name.startswith("build "))
    ]
    others = [row for row in rows if row not in actions and row not in texts]
    few = [next(row for row in texts if row.name == LONG_ANSWER)] if path == BUILD else []
    return others + chosen(actions) + (texts if ROUNDS >= SOAK_ROUNDS else few)


def takes_more_than_a_head(route: APIRoute) -> bool:
    is_described = "requestBody" in (route.openapi_extra or {})
    return bool(route.body_field or is_described or route.dependant.path_params or route.dependant.query_params)


def test_every_route_marks_the_moment_at_which_its_work_begins():
    # the edge of MCP answers instead of the framework, and sets the mark itself
    assert {route.path for route in ROUTES if not isinstance(route, WorkRoute)} == {"/mcp", "/api/v2/mcp"}


def test_every_route_that_takes_more_than_a_head_has_a_row(measured):
    taking = {(method, route.path) for route in ROUTES if takes_more_than_a_head(route) for method in route.methods}
    assert taking == set(measured.rows)


@pytest.mark.parametrize(("method", "path"), METHODS)
def test_no_request_is_too_costly(measured, method, path):
    rows = measured_rows(path, measured.rows.get((method, path)) or bare(path))
    limit_s = WITH_KEY_CPU_S if path.startswith(KEYED) else WITHOUT_KEY_CPU_S
    for row in rows:
        answer, cost_s = measured.cost(row, method)
        if cost_s >= limit_s:  # the first request may have loaded modules, or a busy machine may have lost its caches
            answer, cost_s = min((measured.cost(row, method) for _ in range(2)), key=lambda measure: measure[1])
        assert cost_s < limit_s, f"{row.name}: {cost_s:.3f} CPU s for a {answer.status_code}"
        assert answer.status_code < 500, f"{row.name}: {answer.text}"
        if answer.status_code == 400:
            assert len(answer.content) < 16_384, f"{row.name}: {len(answer.content)} bytes of refusal"
