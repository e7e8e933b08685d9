"""The header fields of limits and deprecation on every limited and every deprecated answer, read by a structured-field
parser."""

import asyncio
import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import http_sf
import httpx
import pytest
from whole_service import WholeService, whole_service

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.publish.deprecations import DEPRECATED
from contracts.publish.registry import PROJECTIONS, REDIRECTS
from contracts.publish.routes import is_account, is_limited, is_metered

MANY = 1_000
PATHS = json.loads(OPENAPI_FILE.read_text())["paths"]
LIMITED = sorted(
    {path for row in PROJECTIONS for path in row.paths if is_limited(path)}
    | {row.path for row in REDIRECTS if is_limited(row.path)}
    | {"/api/v2/health", "/api/v2/schema", "/api/agent-access/plans", "/api/intake/stats", "/api/nothing", "/mcp"}
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with whole_service(tmp_path_factory.mktemp("service"), LIMITED, rate_limit_per_minute=MANY) as running:
        yield running


def asked(service: WholeService, *paths: str, method: str = "GET", **headers: str) -> list[httpx.Response]:
    async def answers() -> list[httpx.Response]:
        async with service.house.client(application=service.app) as client:
            return [await client.request(method, path, headers=headers) for path in paths]

    return asyncio.run(answers())


def policies(answer: httpx.Response) -> dict[str, dict]:
    """Returns the policies by name, with their parameters."""
    return dict(http_sf.parse(answer.headers["RateLimit-Policy"].encode(), tltype="list"))


def remaining(answer: httpx.Response) -> dict[str, dict]:
    return dict(http_sf.parse(answer.headers["RateLimit"].encode(), tltype="list"))


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_every_limited_answer_states_the_policy_and_only_uncacheable_ones_the_counter(
    service: WholeService, method: str
):
    for path, answer in zip(LIMITED, asked(service, *LIMITED, method=method), strict=True):
        assert policies(answer) == {"permin": {"q": MANY, "w": 60}}, path
        if "public" in answer.headers.get("cache-control", ""):
            assert "RateLimit" not in answer.headers, path
        else:
            left = remaining(answer)["permin"]
            assert set(left) == {"r", "t"}, path
            assert 0 <= left["r"] < MANY and 0 < left["t"] <= 60, path


def test_a_key_is_limited_by_the_day(service: WholeService):
    (answer,) = asked(service, "/api/v2/world-model/live", Authorization=f"Bearer {service.key(Tier.FREE)}")
    assert answer.status_code == 200
    assert policies(answer) == {"daily": {"q": 100, "w": 86400}}
    assert remaining(answer)["daily"]["r"] == 99


def test_published_documents_cost_a_keys_day_only_once_the_address_has_no_requests_left(tmp_path: Path):
    with whole_service(tmp_path, ["/api/context"], rate_limit_per_minute=2) as running:
        key = {"Authorization": f"Bearer {running.key(Tier.FREE)}"}
        published = asked(running, *["/api/context"] * 3, **key)
        assert [(answer.status_code, list(policies(answer))) for answer in published] == [(200, ["permin"])] * 3
        (counted,) = asked(running, "/api/v2/world-model/live", **key)
        assert remaining(counted)["daily"]["r"] == 100 - 1 - 1
        unknown = asked(running, "/api/context", Authorization="Bearer svc_free_unknown")
        assert [(answer.status_code, list(policies(answer))) for answer in unknown] == [(429, ["permin"])]


def test_a_key_whose_day_is_used_up_still_reaches_routes_that_need_no_key(service: WholeService):
    key = {"Authorization": f"Bearer {service.key(Tier.FREE)}"}
    used_up = asked(service, *["/api/v2/world-model/live"] * 101, **key)
    assert [answer.status_code for answer in used_up] == [200] * 100 + [429]
    free = asked(service, "/api/agent-access/plans", "/api/v2/schema", "/api/v2/me", "/api/context", **key)
    assert [(answer.status_code, list(policies(answer))) for answer in free] == [(200, ["permin"])] * 4


def test_a_request_with_a_key_that_costs_its_address_names_the_address_s_budget(service: WholeService):
    key = {"Authorization": f"Bearer {service.key(Tier.FREE)}"}
    (wrong,) = asked(service, "/api/v2/world-model/query", method="DELETE", **key)
    assert (wrong.status_code, list(policies(wrong)), list(remaining(wrong))) == (405, ["permin"], ["permin"])
    (counted,) = asked(service, "/api/v2/world-model/live", **key)
    assert (list(remaining(counted)), remaining(counted)["daily"]["r"]) == (["daily"], 99)


def test_preflight_requests_count_for_nobody(tmp_path: Path):
    with whole_service(tmp_path, ["/api/context"], rate_limit_per_minute=1) as running:
        asked(running, "/api/context")
        answers = asked(running, "/mcp", "/api/v2/mcp", "/blink/guardrail", method="OPTIONS")
        assert [answer.status_code for answer in answers] == [204] * 3
        assert asked(running, "/api/context")[0].status_code == 429


def test_exactly_the_operations_that_need_a_key_count_for_its_day():
    account = {path for path in PATHS if is_account(path)}
    keyed = {path for path, methods in PATHS.items() if any(method.get("security") for method in methods.values())}
    assert {path for path in PATHS if is_metered(path)} == keyed - account


def test_the_refusal_says_how_long_to_wait(tmp_path: Path):
    with whole_service(tmp_path, ["/api/context"], rate_limit_per_minute=1) as running:
        _, refused = asked(running, "/api/context", "/api/context")
    assert refused.status_code == 429
    assert refused.json()["violated-policies"] == ["permin"]
    assert remaining(refused)["permin"] == {"r": 0, "t": int(refused.headers["Retry-After"])}


@pytest.mark.parametrize("deprecation", DEPRECATED, ids=lambda each: each.path)
def test_deprecated_operations_state_since_when_until_when_and_their_successor(service: WholeService, deprecation):
    fresh, successor = asked(service, deprecation.path, deprecation.successor)
    (unchanged,) = asked(service, deprecation.path, **{"If-None-Match": fresh.headers["etag"]})
    assert unchanged.status_code == 304
    for answer in (fresh, unchanged):
        parsed = http_sf.parse(answer.headers["Deprecation"].encode(), tltype="item")
        assert isinstance(parsed, tuple)
        since, _ = parsed
        until = parsedate_to_datetime(answer.headers["Sunset"])
        assert isinstance(since, datetime)
        assert since.astimezone(UTC).date() == deprecation.since
        assert (until - since.astimezone(UTC)).days >= 365
        links = {name: httpx.URL(link["url"]).path for name, link in answer.links.items()}
        assert links["successor-version"] == deprecation.successor
        assert {"deprecation", "sunset"} <= set(links)
    assert "Deprecation" not in successor.headers
    assert successor.content == fresh.content
