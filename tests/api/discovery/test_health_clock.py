"""Health says how far our clock is from the chain's, and is degraded where it is too far (L9)."""

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
    documents: dict[str, Any] = field(default_factory=dict)


@dataclass
class Generation:
    manifest: Manifest = field(default_factory=Manifest)
    path: Path = Path("nothing is published here")


@dataclass
class FreshSite:
    """A site of which nothing is stale."""

    generation: Generation = field(default_factory=Generation)

    def stale_paths(self, now_s: float) -> list[str]:
        return []


@pytest.mark.parametrize(
    ("skew_s", "status"), [(None, "ok"), (0, "ok"), (30, "ok"), (-30, "ok"), (31, "degraded"), (-31, "degraded")]
)
def test_a_clock_that_is_off_by_more_than_half_a_minute_degrades_health(skew_s: int | None, status: str) -> None:
    site: Any = FreshSite()
    app = FastAPI()
    observer = StateObserver(lambda: ServiceState(True, None, skew_s))
    merge_routes(app.router, discovery_router(lambda: site, observer.current, dict, dict))

    async def asked() -> dict[str, Any]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return (await client.get("/health")).json()

    body = asyncio.run(asked())
    assert (body["status"], body["clockSkewS"]) == (status, skew_s)
