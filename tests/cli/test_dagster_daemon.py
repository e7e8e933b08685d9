"""Dagster's daemon at this service's pace: how often it reads the code location, and which daemons it runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._time import get_current_timestamp

from cli.dagster_daemon import RELOADED_EVERY_S, PatientController, is_readable
from contracts.settings import Settings
from pipelines.definitions import build_definitions
from pipelines.instance import prepare_home


@dataclass
class Entry:
    """A workspace's entry for a code location."""

    code_location: object | None


@dataclass
class Workspace:
    """A workspace that has these code locations after each of its readings."""

    readings: list[list[Entry]]
    read_again: int = 0

    def create_request_context(self) -> "Workspace":
        return self

    def get_code_location_entries(self) -> dict[str, Entry]:
        return dict(zip("abc", self.readings[self.read_again], strict=False))

    def refresh_workspace(self) -> None:
        self.read_again += 1


class Controller(PatientController):
    """The controller of a workspace, without its threads."""

    def __init__(self, workspace: Any) -> None:
        self._workspace_process_context = workspace
        self._grpc_server_registry = None

    def __exit__(self, *_: object) -> None:
        """Does nothing, since nothing was started."""


LOADED, BROKEN = Entry(object()), Entry(None)


@pytest.mark.parametrize(
    ("entries", "readable"), [([LOADED], True), ([LOADED, LOADED], True), ([BROKEN], False), ([LOADED, BROKEN], False)]
)
def test_a_workspace_is_readable_where_every_location_is_loaded(entries: list[Entry], readable: bool):
    workspace: Any = Workspace([entries])
    assert is_readable(workspace) is readable


@pytest.mark.parametrize(
    ("entries", "age_s", "read_again"),
    [
        (LOADED, 120, 0),
        (LOADED, RELOADED_EVERY_S - 10, 0),
        (LOADED, RELOADED_EVERY_S + 10, 1),
        (BROKEN, 30, 0),
        (BROKEN, 120, 1),
    ],
)
def test_a_location_is_read_again_every_half_hour_and_within_a_minute_where_it_could_not_be_read(
    entries: Entry, age_s: float, read_again: int
):
    workspace = Workspace([[entries], [LOADED]])
    last = get_current_timestamp() - age_s
    assert (Controller(workspace).check_workspace_freshness(last) > last) is bool(read_again)
    assert workspace.read_again == read_again


def test_the_instance_runs_daemons_that_have_work_and_there_are_no_sensors_or_partitions(tmp_path: Path):
    with dg.DagsterInstance.from_config(str(prepare_home(tmp_path))) as instance:
        kinds = {"SCHEDULER", "MONITORING", "EVENT_LOG_CONSUMER", "FRESHNESS_DAEMON"}
        assert set(instance.get_required_daemon_types()) == kinds
    definitions = build_definitions(Settings(data_dir=tmp_path, _env_file=None))
    assert not definitions.sensors
    assert not [node.key for node in definitions.resolve_asset_graph().asset_nodes if node.partitions_def is not None]
