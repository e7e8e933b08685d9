"""Lines of logs on stderr, for people or as JSON for machines, and what each belongs to: a request, or a run."""

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
"""The logger of answers. For people it is silent: they have the log of their proxy."""

_fields: ContextVar[Mapping[str, str]] = ContextVar("log_fields", default=MappingProxyType({}))


@contextmanager
def log_fields(**fields: str) -> Iterator[None]:
    """Adds `fields`, such as `request_id`, to every line that is logged within.

    What is awaited within has them too, and so has the thread of `asyncio.to_thread`; no other thread does.
    """
    token = _fields.set({**_fields.get(), **fields})
    try:
        yield
    finally:
        _fields.reset(token)


class TextLines(logging.Formatter):
    """Formats a line for people. Redacts an API key in it, from a request's path for example."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        belongs_to = "".join(f" {name}={value}" for name, value in _fields.get().items())
        # An exception follows its line; what the line belongs to stands before it.
        first, newline, rest = line.partition("\n")
        return redact_keys(f"{first}{belongs_to}{newline}{rest}")


class JsonLines(logging.Formatter):
    """One JSON object a record: `time` (UTC), `level`, `logger`, `message`, what it belongs to (`request_id`, `run_id`,
    `job`, `trace_id`), the figures in `extra={"fields": …}`, and `exception` where there is one."""

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
    """Returns the argument of `logging.config.dictConfig`: all warnings, the progress of the pipelines, and answers
    where machines read. `text` names the formatter of lines for people."""
    requests = "INFO" if log_format == "json" else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"()": text},
            "json": {"()": "contracts.logs.JsonLines"},
        },
        "handlers": {
            # Great Expectations sets its loggers to a level of its own, so the handler decides.
            "warnings": {"class": "logging.StreamHandler", "formatter": log_format, "level": "WARNING"},
            "progress": {"class": "logging.StreamHandler", "formatter": log_format},
        },
        "root": {"level": "WARNING", "handlers": ["warnings"]},
        "loggers": {
            "pipelines": {"level": "INFO", "handlers": ["progress"], "propagate": False},
            REQUESTS: {"level": requests, "handlers": ["progress"], "propagate": False},
        },
    }
