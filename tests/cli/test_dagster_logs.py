"""The log lines of Dagster's own processes are JSON with the keys of our log lines."""

import json
import logging
import sys

import pytest
import structlog
from dagster._utils import log

from cli.dagster_logs import json_formatter, rename_json_keys
from contracts.logs import JsonLines


def record(message: object, *, broken: bool = False) -> logging.LogRecord:
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        failure = sys.exc_info() if broken else None
    return logging.LogRecord("dagster.daemon", logging.WARNING, "", 0, message, (), failure)


@pytest.mark.parametrize("broken", [False, True])
def test_a_line_of_dagster_has_the_keys_of_ours(broken: bool) -> None:
    ours = json.loads(JsonLines().format(record("late", broken=broken)))
    theirs = json.loads(json_formatter().format(record("late", broken=broken)))
    assert list(theirs) == list(ours)
    assert theirs.keys() == {"time", "level", "logger", "message"} | ({"exception"} if broken else set())
    assert theirs | {"time": ""} == ours | {"time": ""}


def test_a_line_of_structlog_has_them_too_and_its_own_figures_and_shows_no_key() -> None:
    event = {"event": "seen svc_free_" + "ab" * 18, "level": "info", "timestamp": "2026-01-01T00:00:00Z", "assets": 3}
    (wrapped,), extra = structlog.stdlib.ProcessorFormatter.wrap_for_formatter(logging.getLogger(), "info", event)
    structured = record(wrapped)
    structured.__dict__.update(extra["extra"])
    line = json.loads(json_formatter().format(structured))
    assert line.keys() == {"time", "level", "message", "assets"}
    assert (line["time"], line["assets"]) == ("2026-01-01T00:00:00Z", 3)
    assert "ab" * 18 not in line["message"]


def test_logging_that_dagster_configures_itself_uses_our_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "get_structlog_json_formatter", None)
    rename_json_keys()
    assert log.get_structlog_json_formatter is json_formatter
