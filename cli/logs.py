"""Configures the logs of commands: of those that run in the foreground, and of those that the worker does first."""

import logging
import logging.config
from typing import TextIO

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


def configure_shown_logs(log_format: LogFormat, console: TextIO) -> None:
    """Configures the logs of a command that the worker does: on the process's stderr, which is a file, in the format of
    later runs, and on `console` for people."""
    config = log_config(log_format)
    for handler in config["handlers"].values():
        handler["stream"] = "ext://sys.__stderr__"
    config["formatters"]["console"] = {"()": ConsoleLines}
    shown = {"class": "logging.StreamHandler", "formatter": "console", "stream": console}
    config["handlers"] |= {"shown progress": shown, "shown warnings": shown | {"level": "WARNING"}}
    config["root"]["handlers"].append("shown warnings")
    config["loggers"]["pipelines"]["handlers"].append("shown progress")
    logging.config.dictConfig(config)
