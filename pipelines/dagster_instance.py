"""Dagster's instance, adapted to runs in parallel threads."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from dagster._core.instance.ref import InstanceRef

EVENTS_AT_ONCE = 1000
"""Batch size for events: more than a run plans, so that its plan is stored in one transaction."""

UNUSED_DAEMONS = frozenset({"SENSOR", "BACKFILL"})
"""Daemons without work: there are no sensors, and no partitions to backfill."""


class ThreadedInstance(dg.DagsterInstance):
    """An instance for one worker, few daemons and events in batches. It does not configure logging for each run.

    Configuring closes the handlers of the parallel run, and waits for one of them while it holds the global logging
    lock, for which that run may be waiting: a deadlock.
    """

    @classmethod
    def config_schema(cls) -> Mapping[str, Any]:
        """Returns the additional options: none."""
        return {}

    @classmethod
    def config_defaults(cls, base_dir: str) -> Any:
        """Returns Dagster's defaults."""
        return InstanceRef.config_defaults(base_dir)

    def dispose(self) -> None:
        """Closes the storages, including that of ticks, which Dagster leaves open."""
        super().dispose()
        if self.schedule_storage is not None:
            self.schedule_storage.dispose()

    def get_yaml_python_handlers(self) -> Sequence[logging.Handler]:
        """Returns the handlers that `dagster.yaml` names: none."""
        return []

    def _get_event_batch_size(self) -> int:
        """Returns the number of simultaneously created events that are stored in one batch."""
        return EVENTS_AT_ONCE

    def get_required_daemon_types(self) -> Sequence[str]:
        """Returns the daemons that have work to do."""
        return [kind for kind in super().get_required_daemon_types() if kind not in UNUSED_DAEMONS]
