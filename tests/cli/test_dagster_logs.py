"""The log lines of Dagster's own processes look like ours, in JSON and in text."""

import json
import logging
import sys
import warnings
from collections.abc import Iterator

import pytest
import structlog
from dagster._utils import log

from cli.dagster_logs import configure_dagster_logs, json_formatter
from contracts.logs import JsonLines, LogFormat, TextLines


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
    assert len(theirs["time"]) == len(ours["time"]) == len("2026-01-01T00:00:00.000+00:00")


def test_a_line_of_structlog_has_them_too_and_its_own_figures_and_shows_no_key() -> None:
    event = {"event": "seen svc_free_" + "ab" * 18, "level": "info", "timestamp": "2026-01-01T00:00:00Z", "assets": 3}
    (wrapped,), extra = structlog.stdlib.ProcessorFormatter.wrap_for_formatter(logging.getLogger(), "info", event)
    structured = record(wrapped)
    structured.__dict__.update(extra["extra"])
    line = json.loads(json_formatter().format(structured))
    assert line.keys() == {"time", "level", "message", "assets"}
    assert (line["time"], line["assets"]) == ("2026-01-01T00:00:00.000+00:00", 3)
    assert "ab" * 18 not in line["message"]


@pytest.fixture
def dagster_logging(monkeypatch: pytest.MonkeyPatch) -> Iterator[logging.Logger]:
    """Yields the logger that Dagster configures, and restores everything afterwards."""
    logger = logging.getLogger("dagster")
    monkeypatch.setattr(log, "get_structlog_json_formatter", None)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(logger, "handlers", [])
    level = logger.level
    yield logger
    logger.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_logging_that_dagster_configures_itself_uses_our_lines(
    dagster_logging: logging.Logger, log_format: LogFormat
) -> None:
    configure_dagster_logs(log_format)
    (handler,) = dagster_logging.handlers
    line = handler.format(record("late"))
    if log_format == "text":
        assert line == TextLines().format(record("late"))
    else:
        assert json.loads(line)["message"] == "late"


def test_a_line_of_structlog_in_text_has_its_figures_and_no_colours_and_shows_no_key(
    dagster_logging: logging.Logger,
) -> None:
    configure_dagster_logs("text")
    event = {"event": "seen svc_free_" + "ab" * 18, "level": "info", "timestamp": "2026-01-01T00:00:00Z", "assets": 3}
    (wrapped,), extra = structlog.stdlib.ProcessorFormatter.wrap_for_formatter(logging.getLogger(), "info", event)
    structured = record(wrapped)
    structured.__dict__.update(extra["extra"])
    line = dagster_logging.handlers[0].format(structured)
    assert line.endswith(" assets=3") and " WARNING seen svc_free_" in line
    assert "ab" * 18 not in line and "\x1b" not in line
