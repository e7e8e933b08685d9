"""Configures Dagster's home: where runs and ticks are stored, and how runs are launched."""

import json
from functools import reduce
from pathlib import Path

from contracts.errors import OperatorProblem, StoreUnusable
from warehouse.file_modes import make_data_directory, make_private_directory
from warehouse.full_disk import not_written

# Runs go to the warm worker at once, which queues them: Dagster's own queue is polled only every few seconds.
# Monitoring ends runs that no worker takes, that outlive their worker or that hang. A slice of a chain takes a minute.
# The worker runs jobs in threads, whose output can't be captured separately.
# No asset has an automation condition, so nothing evaluates them.
# Records, ticks and the event log are in Dagster's default locations.
DAGSTER_YAML = """\
telemetry:
  enabled: false
nux:
  enabled: false
run_coordinator:
  module: dagster._core.run_coordinator
  class: DefaultRunCoordinator
run_launcher:
  module: pipelines.launcher
  class: WorkerLauncher
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
auto_materialize:
  enabled: false
  use_sensors: false
concurrency:
  pools:
    granularity: run
instance_class:
  module: pipelines.dagster_instance
  class: ThreadedInstance
run_storage:
  module: pipelines.records
  class: OneEngineRuns
  config:
    base_dir: {runs}
event_log_storage:
  module: pipelines.event_log
  class: OneFileEventLog
  config:
    base_dir: {events}
schedule_storage:
  module: pipelines.records
  class: OneEngineTicks
  config:
    base_dir: {ticks}
run_monitoring:
  enabled: true
  start_timeout_seconds: 600
  max_runtime_seconds: 900
  poll_interval_seconds: 60
run_retries:
  enabled: true
  max_retries: 1
retention:
  schedule:
    purge_after_days:
      skipped: 1
      success: 7
      failure: 30
  sensor:
    purge_after_days:
      skipped: 1
      success: 7
      failure: 30
"""


LOCATION_NAME = "pipelines.definitions"
"""The name of the code location in Dagster, whichever module it is loaded from: schedules and runs are recorded under
it."""

WORKSPACE_YAML = """\
load_from:
  - grpc_server:
      socket: {socket}
      location_name: {location_name}
"""
"""One code server for daemon and web server: otherwise each would start its own, and the daemon a new one every minute.
"""


FIRST_RUN_MARK = "first-run"
"""A file in Dagster's home that exists from before the first run of `svc run` until that run has ended. A starting
worker that finds it knows that the process of the first run is gone. Dagster can't know that if the process had not
begun a run yet."""

DIARY_CURE = "Dagster creates a new one; only its own records of runs are lost."


def prepare_home(data_dir: Path) -> Path:
    """Writes `<data_dir>/dagster` with its `dagster.yaml`, the `DAGSTER_HOME` of every Dagster process.

    Raises `DiskFull`, `StoreUnusable`.
    """
    home = data_dir.absolute() / "dagster"
    config = home / "dagster.yaml"
    places = {"{runs}": home / "history", "{events}": home / "history" / "runs", "{ticks}": home / "schedules"}
    wanted = reduce(lambda text, name: text.replace(name, json.dumps(str(places[name]))), places, DAGSTER_YAML)
    try:
        make_data_directory(data_dir.absolute())
        make_private_directory(home)
        if not config.exists() or config.read_bytes() != wanted.encode():
            config.write_text(wanted)
    except OSError as error:
        raise diary_unusable(home, f"{error.filename}: {error.strerror}", error) from error
    return home


def prepare_workspace(home: Path, socket: Path) -> Path:
    """Writes the workspace of the code server that listens on `socket`, and returns its file."""
    workspace = home / "workspace.yaml"
    workspace.write_text(WORKSPACE_YAML.format(socket=json.dumps(str(socket)), location_name=LOCATION_NAME))
    return workspace


def diary_unusable(home: Path, why: str, error: BaseException) -> OperatorProblem:
    """Returns the problem with a Dagster home whose storage can't be opened or written because of `error`."""
    records = f"Dagster's records in {home}"
    return not_written(records, home, error) or StoreUnusable(
        f"{records} can't be used: {why}.", cure=f"Move {home} away: {DIARY_CURE}"
    )
