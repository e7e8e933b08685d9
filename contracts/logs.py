"""Formats log lines on stderr, as text for people or JSON for machines, and adds the request or run they belong to."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

from contracts.access.api_keys import redact_keys

LogFormat = Literal["text", "json"]

REQUESTS = "api.requests"
"""The logger of answers. It is silent in text form, because people have their proxy's log."""

_fields: ContextVar[Mapping[str, str]] = ContextVar("log_fields", default=MappingProxyType({}))


@contextmanager
def log_fields(**fields: str) -> Iterator[None]:
    """Adds `fields`, such as `request_id`, to every line logged within the block.

    Awaited code inherits them, and so do threads of `asyncio.to_thread`; other threads don't.
    """
    token = _fields.set({**_fields.get(), **fields})
    try:
        yield
    finally:
        _fields.reset(token)


class TextLines(logging.Formatter):
    """Formats a line for people. Redacts API keys in it, for example from a request's path."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        belongs_to = "".join(f" {name}={value}" for name, value in _fields.get().items())
        # Inserts the fields at the end of the first line, before the traceback.
        first, newline, rest = line.partition("\n")
        return redact_keys(f"{first}{belongs_to}{newline}{rest}")


class JsonLines(logging.Formatter):
    """Formats each record as one JSON object: `time` (UTC), `level`, `logger`, `message`, the fields of `log_fields`
    (`request_id`, `run_id`, `job`, `trace_id`), the figures in `extra={"fields": …}`, and `exception` if there is
    one."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields.get(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return redact_keys(json.dumps(fields, ensure_ascii=False))


def log_config(log_format: LogFormat, *, text: str = "contracts.logs.TextLines") -> dict[str, Any]:
    """Returns the argument of `logging.config.dictConfig`: all warnings, the progress of the pipelines, and, in JSON,
    the answers. `text` names the formatter of lines for people."""
    requests = "INFO" if log_format == "json" else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": text},
            "json": {"()": "contracts.logs.JsonLines"},
        },
        "handlers": {
            # Great Expectations sets the levels of its loggers itself, so the handler filters by level.
            "warnings": {"class": "logging.StreamHandler", "formatter": log_format, "level": "WARNING"},
            "progress": {"class": "logging.StreamHandler", "formatter": log_format},
        },
        "root": {"level": "WARNING", "handlers": ["warnings"]},
        "loggers": {
            "pipelines": {"level": "INFO", "handlers": ["progress"], "propagate": False},
            REQUESTS: {"level": requests, "handlers": ["progress"], "propagate": False},
        },
    }
