"""Dagster's instance, made fit for runs in threads side by side."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
from dagster._core.instance.ref import InstanceRef

EVENTS_AT_ONCE = 1000
"""More than a run plans: its plan is one transaction."""

UNUSED_DAEMONS = frozenset({"SENSOR", "BACKFILL"})
"""There are no sensors, and no partitions that a backfill would fill."""


class ThreadedInstance(dg.DagsterInstance):
    """An instance for one worker, few daemons and events in batches. It does not configure logging with each run.

    That closes the handlers of the run beside it, and waits for one of them while it holds the lock of all logging,
    which that run may be waiting for: both stand still for ever.
    """

    @classmethod
    def config_schema(cls) -> Mapping[str, Any]:
        """Returns the options beside Dagster's own: none."""
        return {}

    @classmethod
    def config_defaults(cls, base_dir: str) -> Any:
        """Returns Dagster's own defaults."""
        return InstanceRef.config_defaults(base_dir)

    def dispose(self) -> None:
        """Closes the storages, also that of ticks, which Dagster forgets."""
        super().dispose()
        if self.schedule_storage is not None:
            self.schedule_storage.dispose()

    def get_yaml_python_handlers(self) -> Sequence[logging.Handler]:
        """Returns the handlers that `dagster.yaml` names: none."""
        return []

    def _get_event_batch_size(self) -> int:
        """Returns how many of the events that Dagster makes at once are stored at once."""
        return EVENTS_AT_ONCE

    def get_required_daemon_types(self) -> Sequence[str]:
        """Returns the daemons that there is work for."""
        return [kind for kind in super().get_required_daemon_types() if kind not in UNUSED_DAEMONS]
