"""Configures the logs of the service's processes: lines for people or JSON objects for machines, on stderr."""

import json
import logging
import logging.config
from datetime import UTC, datetime
from typing import Any, Literal

from contracts.access.api_keys import redact_keys

LogFormat = Literal["text", "json"]


class TextLines(logging.Formatter):
    """Formats a line for people. Redacts an API key in it, from a request's path for example."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_keys(super().format(record))


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


def log_config(log_format: LogFormat) -> dict[str, Any]:
    """Returns the argument of `logging.config.dictConfig`: all warnings, and the progress of the pipelines."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": "cli.logs.TextLines", "format": "%(asctime)s %(levelname)s %(message)s"},
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
    logging.config.dictConfig(log_config(log_format))
