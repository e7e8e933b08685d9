"""Configures the logs of Dagster's own processes. In JSON, their lines have the same keys as ours.

Dagster's lines come from logging and from structlog, so its formatter is kept and only the rendered keys are renamed.
"""

import json
from collections.abc import MutableMapping
from typing import Any

import structlog
from dagster._utils import log

from contracts.access.api_keys import redact_keys

RENAMED = {"timestamp": "time", "level": "level", "logger": "logger", "event": "message"}
"""The structlog keys at the start of each line, and their names in `contracts.logs.JsonLines`."""


def _line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    named = {name: event.pop(key) for key, name in RENAMED.items() if key in event}
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


def rename_json_keys() -> None:
    """Makes Dagster's `configure_loggers`, which its code server's command also calls, use our formatter."""
    log.get_structlog_json_formatter = json_formatter


def configure_dagster_logs(log_format: str) -> None:
    """Configures the logs of a Dagster process: `colored` or `json`."""
    rename_json_keys()
    log.configure_loggers(formatter=log_format, log_level="INFO")
