"""Every refusal that a client can do something about names the next step, by links that exist."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator

import pytest

from contracts.access.recovery import RecoveryRefused
from contracts.discovery.examples import DEFINING_PROBLEMS
from contracts.errors import (
    BodyInvalid,
    IdempotencyMismatch,
    NodeUnknown,
    PaymentRequired,
    QuotaExceeded,
    RateLimited,
    RequestProblem,
    RevisionConflict,
    RouteUnknown,
    StandingTooLow,
    Unauthorized,
)
from contracts.problem_links import (
    RELATIONS,
    ProblemLinks,
    link_field,
    operation_at,
    operation_docs_path,
    paths_by_operation,
)
from contracts.problems import Problem, problem_body

BASE = "https://svc.example"
LEADING = (401, 402, 403, 404, 409, 429)
SELLING, NOT_SELLING = ProblemLinks(BASE, sells=True), ProblemLinks(BASE, sells=False)
CHECK = "/api/v2/guardrail/check"
PLANS, QUOTE, ME = f"{BASE}/api/agent-access/plans", f"{BASE}/api/agent-access/quote", f"{BASE}/api/v2/me"
DOCS = f"{BASE}/docs/operations/guardrail_check/"
HOME, QUERY = f"{BASE}/", f"{BASE}/api/v2/world-model/query"


def every_problem(root: type[RequestProblem] = RequestProblem) -> Iterator[type[RequestProblem]]:
    yield root
    for problem in root.__subclasses__():
        yield from every_problem(problem)


def test_the_modules_that_define_problems_are_loaded() -> None:
    assert len(DEFINING_PROBLEMS) > 3
    assert importlib.import_module("contracts.access.refusals") in DEFINING_PROBLEMS


@pytest.mark.parametrize("sells", [True, False])
@pytest.mark.parametrize("problem", [each for each in every_problem() if each.status in LEADING], ids=lambda p: p.code)
def test_every_refusal_leads_on_wherever_it_is_met(problem: type[RequestProblem], sells: bool) -> None:
    links = ProblemLinks(BASE, sells=sells).of(problem("No."), "POST", CHECK)
    assert list(links)[-1] == "home" or "home" in problem.leads
    assert len(links) > 1, problem.code
    assert all(url.startswith(f"{BASE}/") and "{" not in url for url in links.values())
    for lead in problem.leads:
        assert lead in ("docs", "home", "challenge") or RELATIONS[lead].operation in paths_by_operation()


LINKS: list[tuple[RequestProblem, str, str, dict[str, str]]] = [
    (Unauthorized("x"), "POST", CHECK, {"plans": PLANS, "quote": QUOTE, "docs": DOCS, "home": HOME}),
    (PaymentRequired("x"), "POST", CHECK, {"plans": PLANS, "quote": QUOTE, "docs": DOCS, "home": HOME}),
    (QuotaExceeded("x"), "POST", CHECK, {"account": ME, "plans": PLANS, "quote": QUOTE, "docs": DOCS, "home": HOME}),
    (RateLimited("x"), "GET", "/token/", {"plans": PLANS, "quote": QUOTE, "home": HOME}),
    (StandingTooLow("x"), "POST", CHECK, {"account": ME, "docs": DOCS, "home": HOME}),
    (NodeUnknown("x"), "GET", "/nowhere", {"query": QUERY, "home": HOME}),
    (RevisionConflict("x"), "POST", CHECK, {"query": QUERY, "docs": DOCS, "home": HOME}),
    (BodyInvalid("x"), "POST", CHECK, {"docs": DOCS, "home": HOME}),
    (
        RecoveryRefused("x"),
        "POST",
        "/api/agent-access/claims/claim_1/recovery",
        {
            "challenge": f"{BASE}/api/agent-access/claims/claim_1/recovery",
            "docs": f"{BASE}/docs/operations/agent_access_recovery/",
            "home": HOME,
        },
    ),
    (
        RouteUnknown("x"),
        "GET",
        "/api/v1/query",
        {"home": HOME, "description": f"{BASE}/openapi.json", "plans": PLANS, "quote": QUOTE},
    ),
    (
        IdempotencyMismatch("x", extensions={"links": {"receipt": "r", "docs": "own", "payment": None}}),
        "POST",
        CHECK,
        {"receipt": "r", "docs": "own", "home": HOME},
    ),
]


@pytest.mark.parametrize(("problem", "method", "path", "links"), LINKS, ids=lambda each: getattr(each, "code", ""))
def test_links_of_a_problem_come_in_the_order_of_the_next_steps(
    problem: RequestProblem, method: str, path: str, links: dict[str, str]
) -> None:
    assert list(SELLING.of(problem, method, path).items()) == list(links.items())


def test_nothing_leads_to_a_purchase_where_nothing_is_sold() -> None:
    assert NOT_SELLING.of(Unauthorized("x"), "POST", CHECK) == {"docs": DOCS, "home": HOME}


def test_a_trial_is_reached_by_its_page_because_its_path_has_the_wallets_address_in_it() -> None:
    links = ProblemLinks(BASE, sells=True, issues_trials=True).of(Unauthorized("x"), "POST", CHECK)
    assert links["trial"] == f"{BASE}/docs/operations/agent_access_trial_challenge/"
    assert list(links) == ["plans", "quote", "trial", "docs", "home"]


OPERATIONS: list[tuple[str, str, str | None]] = [
    ("GET", "/api/v2/me", "my_key"),
    ("HEAD", "/api/v2/schema", "schema"),
    ("PUT", "/api/v2/schema", "schema"),
    ("POST", "/api/agent-access/claims/c1/recovery", "agent_access_recovery"),
    ("GET", "/api/agent-access/claims/c1", "agent_access_receipt"),
    ("DELETE", "/api/v2/world-model/nodes/a/b/c", "world_model_node_erase"),
    ("PUT", "/api/v2/world-model/imports/i1/chunks/7", "world_model_import_chunk"),
    ("GET", "/mcp", "mcp"),
    ("HEAD", "/api/v2/mcp", "mcp_by_key"),
    ("OPTIONS", "/mcp", "mcp_preflight"),
    ("GET", "/api/v2/schema/", None),
    ("GET", "/token/", None),
    ("GET", "/api/v2/world-model/nodes/", None),
]


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_the_operation_of_a_request_is_found_by_its_path(method: str, path: str, operation: str | None) -> None:
    assert operation_at(method, path) == operation


def test_every_described_operation_is_found_at_its_own_path() -> None:
    for operation, path in paths_by_operation().items():
        assert operation in (operation_at(method, path) for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"))
        assert operation_docs_path(operation) == f"/docs/operations/{operation}/"


def test_the_link_field_has_registered_relations_only() -> None:
    links = {"plans": PLANS, "quote": QUOTE, "docs": DOCS, "case": "c"}
    assert link_field(links) == {"Link": f'<{PLANS}>; rel="payment", <{DOCS}>; rel="help"'}
    assert link_field({"case": "c"}) == {}


def test_a_body_says_when_to_try_again_as_its_field_does() -> None:
    problem = RateLimited("x", headers={"Retry-After": "17"})
    body = problem_body(problem, "/x", "id", SELLING.of(problem, "GET", "/x"))
    assert json.loads(body)["retryAfter"] == 17
    assert Problem.model_validate_json(body).links == {"plans": PLANS, "quote": QUOTE, "home": HOME}
    assert "retryAfter" not in json.loads(problem_body(BodyInvalid("x"), "/x", "id", {}))
