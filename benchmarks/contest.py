"""Runs the contenders of a bench: a failing one is replaced by its reason and does not stop the others."""

from __future__ import annotations

import subprocess
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from contracts.errors import OperatorProblem

Measured = TypeVar("Measured")
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True)
class NotRun:
    """A contender that could not run, and why."""

    contender: str
    reason: str


def attempt(
    contender: str, measure: Callable[Arguments, Measured], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Measured | NotRun:
    """Returns the result of `measure` for these arguments, or the reason why it failed."""
    try:
        return measure(*args, **kwargs)
    except Exception as error:
        return NotRun(contender, reason_of(error))


def reason_of(error: Exception) -> str:
    """Describes an error in one line: an operator problem with its cure, a process's last line, or the error name."""
    if isinstance(error, OperatorProblem):
        return str(error)
    if isinstance(error, subprocess.CalledProcessError):
        words = error.stderr or b""
        lines = (words if isinstance(words, str) else words.decode(errors="replace")).strip().splitlines()
        return f"exit code {error.returncode}: {lines[-1] if lines else 'it printed nothing'}"
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def place_of(error: Exception) -> str:
    """Returns the file and line that raised the error."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"
