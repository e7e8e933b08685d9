"""A data directory and a recorded chain, on which the chain job runs as under `svc pipeline run`."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from ingest_helpers import ALICE, BOB, CHAIN_ID, TOKEN
from shared_state import copy_with_links

from cli.demo.log_index import Log
from cli.demo.recorded import RecordedChain, transfer_log
from contracts.settings import Settings
from pipelines.headless import PipelineReport, run_pipeline
from pipelines.instance import prepare_home
from warehouse.duck.connection import Connection, Warehouse
from warehouse.publish.generations import current_generation

ZERO = "0x" + "0" * 40
HOLDERS_ROUTES = ("/api/token/holders", "/api/token/holders-map", "/api/token/holders-map-temporal")
HISTORY: list[Log] = [
    transfer_log(TOKEN, 1, 0, ZERO, ALICE, 1000),
    transfer_log(TOKEN, 5, 0, ALICE, BOB, 10),
    transfer_log(TOKEN, 55, 0, ALICE, BOB, 5),
]
"""Up to block 48 (head 50, two blocks of finality) Bob holds 10; from block 55 on 15."""


def recorded_chain(logs: list[Log] = HISTORY, *, head: int = 50, **options: Any) -> RecordedChain:
    return RecordedChain(chain_id=CHAIN_ID, token=TOKEN, logs=logs, first_block=0, head=head, **options)


class Place:
    """One data directory and the runs on it; `rpc_url` is the node that the next run calls."""

    def __init__(self, data_dir: Path, rpc_url: str, **settings: Any) -> None:
        self.data_dir = data_dir
        self.rpc_url = rpc_url
        self._settings = {"token_address": TOKEN} | settings

    def copied(self, data_dir: Path, rpc_url: str) -> "Place":
        """Returns a copy of the state in another directory, which continues with another node."""
        copy_with_links(self.data_dir, data_dir)
        return Place(data_dir, rpc_url, **self._settings)

    def settings(self, **changes: Any) -> Settings:
        named: dict[str, Any] = {"data_dir": self.data_dir, "rpc_urls": (self.rpc_url,), "_env_file": None}
        return Settings(**(named | self._settings | changes))

    def run(self, *, snapshot: bool = False, **changes: Any) -> PipelineReport:
        return run_pipeline(self.settings(**changes), snapshot=snapshot)

    @contextmanager
    def warehouse(self) -> Iterator[Connection]:
        with Warehouse(self.data_dir).connect() as connection:
            yield connection

    def document(self, route: str = HOLDERS_ROUTES[0]) -> dict[str, Any]:
        body = (self.data_dir / "current/public" / f"{route[1:]}.json").read_bytes()
        document: dict[str, Any] = json.loads(body)
        return document

    def staleness(self) -> set[tuple[bool, str | None]]:
        """Returns (stale, reason) from every holder document and its manifest entry; one pair if they agree."""
        generation = current_generation(self.data_dir)
        assert generation is not None
        bodies = [self.document(route) for route in HOLDERS_ROUTES]
        said = {(body["stale"], body["reason"] if body["stale"] else None) for body in bodies}
        entries = {generation.manifest.documents[route].stale_reason for route in HOLDERS_ROUTES}
        return said | {(entry is not None, entry) for entry in entries}

    @contextmanager
    def dagster(self) -> Iterator[dg.DagsterInstance]:
        with dg.DagsterInstance.from_config(str(prepare_home(self.data_dir))) as instance:
            yield instance

    def dagster_runs(self) -> list[dg.DagsterRun]:
        with self.dagster() as instance:
            return list(instance.get_runs())

    def files(self) -> dict[str, tuple[int, str]]:
        """Returns every file of warehouse, holder lists and generations with its modification time and content hash."""
        roots = [self.data_dir / "warehouse.duckdb", self.data_dir / "holders", self.data_dir / "generations"]
        found = [path for root in roots for path in (root, *root.rglob("*")) if path.is_file()]
        return {
            str(path.relative_to(self.data_dir)): (
                path.stat().st_mtime_ns,
                hashlib.sha256(path.read_bytes()).hexdigest(),
            )
            for path in found
        } | {"current": (0, str((self.data_dir / "current").readlink()))}
