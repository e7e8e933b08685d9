"""Health reports how far our clock is from the chain's and whether nodes disagree, and is degraded in both cases
(L9)."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from api.discovery.router import discovery_router
from api.discovery.state import ServiceState, StateObserver
from api.routes import merge_routes


@dataclass
class Manifest:
    generation: str = "g"
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    disputes: int = 0
    documents: dict[str, Any] = field(default_factory=dict)


@dataclass
class Generation:
    manifest: Manifest = field(default_factory=Manifest)
    path: Path = Path("nothing is published here")


@dataclass
class FreshSite:
    """A site with nothing stale."""

    generation: Generation = field(default_factory=Generation)

    def stale_paths(self, now_s: float) -> list[str]:
        return []


@pytest.mark.parametrize(
    ("skew_s", "status"), [(None, "ok"), (0, "ok"), (30, "ok"), (-30, "ok"), (31, "degraded"), (-31, "degraded")]
)
def test_a_clock_that_is_off_by_more_than_half_a_minute_degrades_health(skew_s: int | None, status: str) -> None:
    body = health(FreshSite(), skew_s)
    assert (body["status"], body["clockSkewS"], body["disputes"]) == (status, skew_s, 0)


def test_disputes_among_nodes_degrade_health() -> None:
    body = health(FreshSite(Generation(Manifest(disputes=2))), None)
    assert (body["status"], body["disputes"]) == ("degraded", 2)


def test_a_coin_of_other_decimals_degrades_health() -> None:
    body = health(FreshSite(), 0, payments_problem="coin_decimals_differ")
    assert (body["status"], body["paymentsProblem"]) == ("degraded", "coin_decimals_differ")
    assert health(FreshSite(), 0)["paymentsProblem"] is None


def health(site: Any, skew_s: int | None, **known: Any) -> dict[str, Any]:
    app = FastAPI()
    observer = StateObserver(lambda: ServiceState(True, None, skew_s, **known))
    router = discovery_router(lambda: site, "here", observer.current, dict, dict, Path("no-records"))
    merge_routes(app.router, router)

    async def asked() -> dict[str, Any]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return (await client.get("/health")).json()

    return asyncio.run(asked())
