"""Configures logs on stderr: lines for people or JSON objects for machines, of commands and of the API."""

import json
import logging
import logging.config
from datetime import UTC, datetime
from typing import Any, Literal

from cli.output import progress_line
from contracts.access.api_keys import redact_keys

LogFormat = Literal["text", "json"]

TEXT = "%(asctime)s %(levelname)s %(message)s"

PROGRESS = "pipeline"
"""The part that a command's lines of progress are of: no other package logs any."""


class TextLines(logging.Formatter):
    """Formats a line for people. Redacts an API key in it, from a request's path for example."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_keys(super().format(record))


class ConsoleLines(logging.Formatter):
    """Formats a line of a command that a person waits for: progress, or a warning."""

    def format(self, record: logging.LogRecord) -> str:
        part = PROGRESS if record.levelno < logging.WARNING else record.levelname.lower()
        return redact_keys(progress_line(part, super().format(record)))


class JsonLines(logging.Formatter):
    """One JSON object a record: `time` (UTC), `level`, `logger`, `message`, and `exception` where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return redact_keys(json.dumps(fields, ensure_ascii=False))


def log_config(log_format: LogFormat, *, console: bool = False) -> dict[str, Any]:
    """Returns the argument of `logging.config.dictConfig`: all warnings, and the progress of the pipelines.

    `console`: a person waits for what the process does, and times of lines are of no use.
    """
    text = {"()": "cli.logs.ConsoleLines"} if console else {"()": "cli.logs.TextLines", "format": TEXT}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": text,
            "json": {"()": "cli.logs.JsonLines"},
        },
        "handlers": {
            # Great Expectations sets its loggers to a level of its own, so the handler decides.
            "warnings": {"class": "logging.StreamHandler", "formatter": log_format, "level": "WARNING"},
            "progress": {"class": "logging.StreamHandler", "formatter": log_format},
        },
        "root": {"level": "WARNING", "handlers": ["warnings"]},
        "loggers": {"pipelines": {"level": "INFO", "handlers": ["progress"], "propagate": False}},
    }


def configure_logs(log_format: LogFormat) -> None:
    """Configures the logs of a command."""
    logging.config.dictConfig(log_config(log_format, console=True))
