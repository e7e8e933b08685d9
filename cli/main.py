"""The `svc` command: each subcommand is imported only when it is called, since Dagster and web3 take seconds."""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from warehouse.file_modes import keep_files_private

COMMANDS = {
    "run": "cli.run:run",
    "serve": "cli.serve:serve",
    "demo": "cli.demo.command:demo",
    "pipeline": "cli.pipeline:app",
    "publish": "cli.pipeline:publish",
    "verify": "cli.verify:verify",
    "docs": "cli.docs:app",
    "doctor": "cli.doctor:doctor",
    "pair": "cli.pair:pair",
    "keys": "cli.keys:app",
    "quote": "cli.purchase:quote",
    "pay": "cli.purchase:pay",
    "claim": "cli.claim:app",
    "guardrail": "cli.guardrail:app",
    "world": "cli.world:app",
    "intake": "cli.intake:app",
    "bench": "cli.bench.command:bench",
}


class LazyGroup(TyperGroup):
    """Commands by name; a command's module is imported when that command is asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        target = getattr(importlib.import_module(module), attribute)
        if not isinstance(target, typer.Typer):
            alone = typer.Typer(add_completion=False)
            alone.command(name=cmd_name)(target)
            target = alone
        command = get_command(target)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    # The coloured traceback of a failed Dagster step takes minutes to make.
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="An infrastructure runtime for personal AI agents: pipeline, files and API.",
)


@app.callback()
def main() -> None:
    """See `svc COMMAND --help`."""
    keep_files_private()
