"""Measures the time from the start of the API to its first published document."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from cli.demo.anvil import free_port
from cli.environment import as_environment
from contracts.settings import load_settings
from pipelines.publish.generation import publish
from warehouse.duck.connection import Warehouse
from warehouse.publish.readers import context_for

STARTS = 5
LONGEST_S = 30.0


def measure() -> float:
    """Returns median seconds from starting `svc serve` to a 200 for /api/token/holders."""
    with tempfile.TemporaryDirectory() as directory:
        settings = load_settings(
            data_dir=Path(directory), port=free_port(), rpc_urls=("http://127.0.0.1:9",), rate_limit_per_minute=0
        )
        with Warehouse(settings.data_dir).connect() as connection:
            publish(context_for(connection, settings), settings)
        return statistics.median(
            _one_start(f"{settings.public_base_url}/api/token/holders", as_environment(settings)) for _ in range(STARTS)
        )


def _one_start(url: str, environment: dict[str, str]) -> float:
    started = time.perf_counter()
    api = subprocess.Popen([str(Path(sys.executable).with_name("svc")), "serve"], env=os.environ | environment)
    try:
        while time.perf_counter() - started < LONGEST_S:
            try:
                if httpx.get(url, trust_env=False).status_code == 200:
                    return time.perf_counter() - started
            except httpx.TransportError:
                time.sleep(0.01)
        raise TimeoutError(f"{url} gave no answer in {LONGEST_S:.0f} s")
    finally:
        api.terminate()
        api.wait()
