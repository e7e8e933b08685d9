"""Configures the logs of commands that run in the foreground."""

import logging
import logging.config

from cli.output import progress_line
from contracts.access.api_keys import redact_keys
from contracts.logs import LogFormat, log_config

PROGRESS = "pipeline"
"""The part named in a command's progress lines: no other package logs any."""


class ConsoleLines(logging.Formatter):
    """Formats a log line of a foreground command: progress or a warning, without the time, which nobody needs there."""

    def format(self, record: logging.LogRecord) -> str:
        part = PROGRESS if record.levelno < logging.WARNING else record.levelname.lower()
        return redact_keys(progress_line(part, super().format(record)))


def configure_logs(log_format: LogFormat) -> None:
    """Configures the logs of a command."""
    logging.config.dictConfig(log_config(log_format, text="cli.logs.ConsoleLines"))
