"""Combines our commands with those of the guardrail library, which also runs without this service."""

from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from cli.signals import while_signals_end


def run_library(arguments: Sequence[str]) -> int:
    """Runs a command of the library and returns its exit code."""
    with while_signals_end():
        from guardrail.cli import main

    code: int = main(arguments, program="svc guardrail")
    return code


class LibraryCommands(TyperGroup):
    """A group whose own commands come first; every other name is a command of the library."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or _Passed(name=cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        try:
            run_library(["--help"])
        except SystemExit:
            # The library exits after printing its help.
            return


class _Passed(TyperCommand):
    """A command of the library, which gets its arguments unparsed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.args = list(args)
        return args

    def invoke(self, ctx: Any) -> Any:
        raise typer.Exit(run_library([ctx.info_name, *ctx.args]))
