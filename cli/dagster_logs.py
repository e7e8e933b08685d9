"""Configures the logs of Dagster's own processes, whose lines look like ours: text, or JSON with the same keys.

Dagster's lines come from logging and from structlog. For JSON its formatter is kept and only the rendered keys are
renamed. Its text is coloured even in a file, so ours replaces it.
"""

import json
import logging
from collections.abc import MutableMapping
from datetime import datetime
from typing import Any, Final

import structlog
from dagster._utils import log

from contracts.access.api_keys import redact_keys
from contracts.logs import LogFormat, TextLines

DAGSTER_FORMAT: Final = "json"
"""The name in Dagster of the format that `use_our_lines` replaces, also by text."""

RENAMED = {"timestamp": "time", "level": "level", "logger": "logger", "event": "message"}
"""The structlog keys at the start of each line, and their names in `contracts.logs.JsonLines`."""


def _line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    named = {name: event.pop(key) for key, name in RENAMED.items() if key in event}
    named["time"] = datetime.fromisoformat(named["time"]).isoformat(timespec="milliseconds")
    return redact_keys(json.dumps({**named, **event}, ensure_ascii=False, default=repr))


def json_formatter() -> structlog.stdlib.ProcessorFormatter:
    """Creates the formatter of JSON lines."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=log.get_structlog_shared_processors(),  # type: ignore[no-untyped-call]
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _line,
        ],
    )


class DagsterTextLines(TextLines):
    """Formats a line for people. A line of structlog is its message, followed by its figures."""

    foreign_pre_chain: Final = None
    processors: Final = None
    """Attributes of Dagster's own formatter, which Dagster passes to this one."""

    def __init__(self, **_: object) -> None:
        super().__init__()

    def format(self, record: logging.LogRecord) -> str:
        if isinstance(record.msg, dict):
            figures = {name: value for name, value in record.msg.items() if name not in RENAMED}
            message = " ".join([str(record.msg["event"]), *(f"{name}={value}" for name, value in figures.items())])
            record = logging.makeLogRecord({**vars(record), "msg": message, "args": ()})
        return super().format(record)


def use_our_lines(log_format: LogFormat) -> None:
    """Makes Dagster's `configure_loggers`, which its code server's command also calls, use our lines for
    `DAGSTER_FORMAT`."""
    formatter: Any = json_formatter if log_format == "json" else DagsterTextLines
    log.get_structlog_json_formatter = formatter


def configure_dagster_logs(log_format: LogFormat) -> None:
    """Configures the logs of a Dagster process."""
    use_our_lines(log_format)
    log.configure_loggers(formatter=DAGSTER_FORMAT, log_level="INFO")
