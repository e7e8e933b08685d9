"""Helpers for declaring commands. The function that does a command's work is named, and imported when the command runs.

Importing Dagster, the stores or web3 with the declarations would cost every `--help` seconds.
"""

from collections.abc import Callable
from functools import wraps
from pkgutil import resolve_name
from typing import Annotated

import typer

from cli.signals import while_signals_end

OnTrail = Annotated[str | None, typer.Option("--as", help="Your name on the audit trail; default: your user name.")]


def runs(work: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a declared command call `<module>:<function>`, whose parameters are named like the command's options."""

    def declare(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**options: object) -> None:
            perform(work, **options)

        return call

    return declare


def perform(work: str, **options: object) -> None:
    """Imports the function `<module>:<function>` and calls it."""
    with while_signals_end():
        function = resolve_name(work)
    function(**options)


def group(summary: str) -> typer.Typer:
    """Creates a command that only has subcommands."""
    return typer.Typer(no_args_is_help=True, help=summary)
