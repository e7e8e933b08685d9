"""The `svc` command line: assembles the commands that `cli/commands/` declares."""

from typing import Annotated, Final

import typer

from cli.commands import buying, checking, deciding, running
from cli.output import say
from cli.usage import Commands
from warehouse.file_modes import keep_files_private

EXIT_CODES: Final = (
    "Exit codes: 0 the work is done; 1 something failed or a check found a fault, which is printed with its cure; "
    "2 the arguments or the configuration are wrong, so trying again does not help. `svc guardrail` has its own codes "
    "for verdicts; see its help. With --json, stdout is a single JSON value, even if the command fails, and progress "
    "goes to stderr."
)

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    # Rendering the coloured traceback of a failed Dagster step takes minutes.
    pretty_exceptions_enable=False,
    help="An infrastructure runtime for personal AI agents: pipeline, files and API.",
    epilog=EXIT_CODES,
)
for panel in (running, checking, buying, deciding):
    app.add_typer(panel.app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"svc {version('svc')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Keeps every file that a command creates private to this user."""
    keep_files_private()
