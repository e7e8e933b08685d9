"""The resources of assets: the settings and objects derived from them. One per run, created under the run lock."""

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import dagster as dg

from contracts.settings import Settings
from pipelines.clients.rpc import RpcPool
from pipelines.runs import PROCESS_TAG, is_taken, this_process
from warehouse.duck.connection import Warehouse, run_lock

RUN_LOCK_WAIT_S = 600.0
"""The longest time that a run waits for the previous one; a slice of ingestion takes a minute."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Runtime:
    """Everything that an asset needs besides data."""

    settings: Settings
    shared_warehouse: Warehouse | None = field(default=None, kw_only=True)
    """The warehouse that the runs of this process share, if they do."""

    @property
    def data_dir(self) -> Path:
        """Returns the folder of the warehouse, ledger, holder lists and generations."""
        return self.settings.data_dir

    @cached_property
    def warehouse(self) -> Warehouse:
        """Returns the DuckDB warehouse. Connect only for as long as a step needs it."""
        return self.shared_warehouse or Warehouse(self.data_dir)

    def rpc_pool(self) -> RpcPool:
        """Returns the chain's nodes, to be entered with `async with`."""
        return RpcPool(self.settings.rpc_urls, chain_id=self.settings.chain_id, late_until=self._late_until)

    @cached_property
    def _late_until(self) -> dict[str, float]:
        return {}


class _SharedHold:
    """The run lock and the open warehouse, held from the first to the last of this process's overlapping runs."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._entering = threading.Lock()
        self._runs = 0
        self._held = ExitStack()
        self._warehouse = Warehouse(settings.data_dir)

    @contextmanager
    def __call__(self) -> Iterator[Warehouse]:
        with self._entering:
            if not self._runs:
                lock = run_lock(self._settings.data_dir, wait_s=RUN_LOCK_WAIT_S, waiting=self._waiting)
                with ExitStack() as held:
                    held.enter_context(lock)
                    held.enter_context(self._warehouse.kept_open())
                    self._held = held.pop_all()
            self._runs += 1
        try:
            yield self._warehouse
        finally:
            with self._entering:
                self._runs -= 1
                if not self._runs:
                    self._held.close()

    @staticmethod
    def _waiting() -> None:
        logger.info("waiting for the run that is using the warehouse")


def runtime_resource(settings: Settings) -> dg.ResourceDefinition:
    """Returns the resource that creates the run's `Runtime`.

    Dagster enters it once per run, so the lock is held from the first step to the last. Parallel runs of one process,
    which the worker's lanes separate by what they write, share lock and warehouse.
    """
    shared = _SharedHold(settings)

    @contextmanager
    def hold(context: dg.InitResourceContext) -> Iterator[Runtime]:
        if context.run and context.instance and not is_taken(context.run):
            context.instance.add_run_tags(context.run.run_id, {PROCESS_TAG: this_process()})
        with shared() as warehouse:
            yield Runtime(settings, shared_warehouse=warehouse)

    return dg.resource(description="Settings, warehouse and chain of this run")(hold)
