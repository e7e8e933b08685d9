"""The resources of assets: the settings and what follows from them. One object per run, made under the run lock."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import dagster as dg

from contracts.settings import Settings
from pipelines.clients.rpc import RpcPool
from pipelines.runs import PROCESS_TAG, this_process
from warehouse.duck.connection import Warehouse, run_lock

RUN_LOCK_WAIT_S = 600.0
"""Limit on how long a run waits for the one before it; a slice of ingestion takes a minute."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Runtime:
    """Everything that an asset needs besides data."""

    settings: Settings

    @property
    def data_dir(self) -> Path:
        """Returns the folder of the warehouse, ledger, holder lists and generations."""
        return self.settings.data_dir

    @cached_property
    def warehouse(self) -> Warehouse:
        """Returns the DuckDB warehouse; connect only for as long as a step needs it."""
        return Warehouse(self.data_dir)

    def rpc_pool(self) -> RpcPool:
        """Returns the chain's nodes, to be entered with `async with`."""
        return RpcPool(self.settings.rpc_urls, chain_id=self.settings.chain_id, late_until=self._late_until)

    @cached_property
    def _late_until(self) -> dict[str, float]:
        return {}


def runtime_resource(settings: Settings) -> dg.ResourceDefinition:
    """Makes the run's `Runtime`.

    Dagster enters it once per run, so the lock is held from the first step to the last.
    """

    @contextmanager
    def hold(context: dg.InitResourceContext) -> Iterator[Runtime]:
        def waiting() -> None:
            logger.info("waiting for the run that holds the warehouse")

        if context.run and context.instance:
            context.instance.add_run_tags(context.run.run_id, {PROCESS_TAG: this_process()})
        with run_lock(settings.data_dir, wait_s=RUN_LOCK_WAIT_S, waiting=waiting):
            runtime = Runtime(settings)
            with runtime.warehouse.kept_open():
                yield runtime

    return dg.resource(description="Settings, warehouse and chain of this run")(hold)
