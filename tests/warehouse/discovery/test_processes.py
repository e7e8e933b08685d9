"""The figures of processes come from the supervisor's record, and only for those that still run."""

import json
import os
from pathlib import Path

import psutil
import pytest

from warehouse.discovery.processes import CHILDREN_FILE, process_figures

THIS = {"name": "worker", "pid": os.getpid(), "created_at": psutil.Process().create_time()}


def test_a_running_part_has_figures_and_one_whose_process_id_was_reused_has_none(tmp_path: Path):
    reassigned = {"name": "api", "pid": os.getpid(), "created_at": 1.0}
    (tmp_path / CHILDREN_FILE).write_text(json.dumps([THIS, reassigned]))
    (figures,) = process_figures(tmp_path)
    assert (figures.name, figures.pid, figures.started_at) == ("worker", os.getpid(), THIS["created_at"])
    assert figures.cpu_s > 0
    assert figures.resident_bytes > 1_000_000


@pytest.mark.parametrize("record", [None, "[", "[1]", "{}", '[{"pid": "x"}]'])
def test_without_a_readable_record_only_this_process_is_reported(tmp_path: Path, record: str | None):
    if record is not None:
        (tmp_path / CHILDREN_FILE).write_text(record)
    assert [(part.name, part.pid) for part in process_figures(tmp_path)] == [("api", os.getpid())]
