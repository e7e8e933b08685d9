"""Prints the results of commands: lines for people, a single JSON value for programs, and problems with their cure."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any

import typer

from cli.signals import EXIT_CODE, INTERRUPTED
from contracts.errors import OperatorProblem, StoreUnusable
from contracts.times import utc_text
from warehouse.full_disk import not_written

AsJson = Annotated[bool, typer.Option("--json", help="Print a single JSON value on stdout, and nothing else.")]


def print_json(value: Any) -> None:
    print(json.dumps(value, default=_plain, ensure_ascii=False), flush=True)


def _plain(value: object) -> str:
    return utc_text(value) if isinstance(value, datetime) else str(value)


def say(text: str) -> None:
    """Prints a milestone for people on stdout."""
    print(text, flush=True)


def progress_line(part: str, text: str) -> str:
    """Formats a line about the progress of a part of the service."""
    return f"{part:<9} {text}"


def note(text: str) -> None:
    """Prints a note for people on stderr, so that it does not mix with the result."""
    print(text, file=sys.stderr, flush=True)


def operator_problem(error: OperatorProblem | OSError) -> OperatorProblem:
    """Returns a command's error as an `OperatorProblem`. A file that the system refuses is an unusable store, unless
    the disk is full."""
    if isinstance(error, OperatorProblem):
        return error
    file = "A file" if error.filename is None else str(error.filename)
    return not_written(file, error.filename or "SVC_DATA_DIR", error) or StoreUnusable(
        f"{file} can't be used: {error.strerror or error}.",
        cure="Give this user access to it, or move it away if it is not what its name says; then run `svc doctor`.",
    )


@contextmanager
def operator_problems(as_json: bool) -> Iterator[None]:
    """Turns an `OperatorProblem` or an unusable file into a message with its cure and an exit code. With `as_json`, a
    signal that ends the command is reported too; a person knows about it."""
    try:
        yield
    except KeyboardInterrupt:
        if not as_json:
            raise
        print_json(INTERRUPTED)
        raise typer.Exit(EXIT_CODE) from None
    except (OperatorProblem, OSError) as error:
        problem = operator_problem(error)
        if as_json:
            _print_problem(problem)
        else:
            note(f"svc: {problem.what}\n     {problem.cure}")
        raise typer.Exit(problem.exit_code) from None


def _print_problem(problem: OperatorProblem) -> None:
    print_json({"ok": False, "code": problem.code, "detail": problem.what, "cure": problem.cure})
