"""Configures the logs of commands that a person waits for."""

import logging
import logging.config

from cli.output import progress_line
from contracts.access.api_keys import redact_keys
from contracts.logs import LogFormat, log_config

PROGRESS = "pipeline"
"""The part that a command's lines of progress are of: no other package logs any."""


class ConsoleLines(logging.Formatter):
    """Formats a line of a command that a person waits for: progress, or a warning. Its time is of no use to him."""

    def format(self, record: logging.LogRecord) -> str:
        part = PROGRESS if record.levelno < logging.WARNING else record.levelname.lower()
        return redact_keys(progress_line(part, super().format(record)))


def configure_logs(log_format: LogFormat) -> None:
    """Configures the logs of a command."""
    logging.config.dictConfig(log_config(log_format, text="cli.logs.ConsoleLines"))
