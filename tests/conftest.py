"""The fixtures of every room, one plugin module each, and what Hypothesis and publishing do everywhere."""

import os
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, settings

from pipelines.publish.documents import ENCODERS

# Deadlines and this check count wall time, which on a machine that others use says nothing about the code. In CI every
# run draws the same examples.
settings.register_profile(
    "house",
    parent=settings.default,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

pytest_plugins = [
    "anvil_fixtures",
    "postgres_fixtures",
    "recorded_material",
    "web_fixtures",
]


def pytest_xdist_auto_num_workers() -> int:
    """Half again as many as processors, since tests wait for servers and clocks too."""
    return (os.cpu_count() or 2) * 3 // 2


@pytest.fixture(scope="session", autouse=True)
def _each_body_is_compressed_once() -> None:
    """Encoders are pure and take a third of a first generation, most of whose bodies are alike in every test."""
    ENCODERS.update({coding: lru_cache(maxsize=500)(encode) for coding, encode in ENCODERS.items()})
