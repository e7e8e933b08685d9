"""How commands speak: a line for people, one JSON value for programs, and an operator's problem with its cure."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from contracts.errors import OperatorProblem

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout and nothing else.")]


def print_json(value: Any) -> None:
    """One JSON value on stdout."""
    print(json.dumps(value, default=str, ensure_ascii=False), flush=True)


def say(text: str) -> None:
    """A milestone for people, on stdout."""
    print(text, flush=True)


def note(text: str) -> None:
    """Something for people beside the result, on stderr."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def operator_problems(as_json: bool) -> Iterator[None]:
    """Turn an `OperatorProblem` into what happened, its cure, and its exit code."""
    try:
        yield
    except OperatorProblem as problem:
        if as_json:
            print_json({"ok": False, "code": problem.code, "detail": problem.what, "cure": problem.cure})
        else:
            note(f"svc: {problem.what}\n     {problem.cure}")
        raise typer.Exit(problem.exit_code) from None
