"""Runs commands of `svc` in this process, which has already imported most of what they need."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from typer.testing import CliRunner, Result

from cli.app import app
from contracts.settings import PREFIX


def called(environment: Mapping[str, str], *arguments: str) -> Result:
    """Runs a command whose settings are only those of `environment`; restores umask and logging afterwards."""
    unset: dict[str, str | None] = {name: None for name in os.environ if name.startswith(PREFIX)}
    own = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    with _undone():
        result = CliRunner().invoke(app, arguments, env=unset | own)
    assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, result.output)
    return result


@contextmanager
def _undone() -> Iterator[None]:
    pipelines = logging.getLogger("pipelines")
    before = logging.root.handlers[:], pipelines.handlers[:]
    umask = os.umask(0)
    os.umask(umask)
    try:
        yield
    finally:
        os.umask(umask)
        logging.root.handlers[:], pipelines.handlers[:] = before
        pipelines.propagate = True
