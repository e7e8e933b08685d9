"""Configures Dagster's home: where runs and ticks are stored, and how many runs may go at once."""

import json
from pathlib import Path

from contracts.errors import StoreUnusable
from warehouse.file_modes import make_data_directory, make_private_directory

# DuckDB has one writer, so one run at a time; a run's own steps share it in one process.
# Monitoring ends runs that never start, which would hold up all others.
# The event log lies where Dagster's default lies.
DAGSTER_YAML = """\
telemetry:
  enabled: false
nux:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 1
  pools:
    granularity: run
    default_limit: 1
event_log_storage:
  module: pipelines.event_log
  class: OpenEventLog
  config:
    base_dir: {history}
run_monitoring:
  enabled: true
  start_timeout_seconds: 180
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


DIARY_CURE = "Dagster begins a new one, and nothing but its own records of runs is lost."


def prepare_home(data_dir: Path) -> Path:
    """Writes `<data_dir>/dagster` with its `dagster.yaml`, the `DAGSTER_HOME` of every Dagster process.

    Raises `StoreUnusable`.
    """
    home = data_dir.absolute() / "dagster"
    config = home / "dagster.yaml"
    wanted = DAGSTER_YAML.replace("{history}", json.dumps(str(home / "history" / "runs")))
    try:
        make_data_directory(data_dir.absolute())
        make_private_directory(home)
        if not config.exists() or config.read_bytes() != wanted.encode():
            config.write_text(wanted)
    except OSError as error:
        raise diary_unusable(home, f"{error.filename}: {error.strerror}") from error
    return home


def diary_unusable(home: Path, why: str) -> StoreUnusable:
    """Returns the problem with a home whose storage can't be opened or written."""
    return StoreUnusable(f"Dagster's records in {home} can't be used: {why}.", cure=f"Move {home} away: {DIARY_CURE}")
