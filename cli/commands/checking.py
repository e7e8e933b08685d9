"""Declares the commands that check an installation and what it publishes, and measure it."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.commands.declaring import group, runs
from cli.output import AsJson, note

CHECKING: Final = "Check and measure"

CHECKOUT: Final = Path(__file__).resolve().parents[2]

app = typer.Typer()
docs = group("Check the documents with which agents find and understand a service.")


@app.command(rich_help_panel=CHECKING)
@runs("cli.doctor:doctor")
def doctor(as_json: AsJson = False) -> None:
    """Check the machine, settings, chain and stores, and print a cure for each failing line.

    Exits with 1 if a check fails, and with 2 if the settings can't be read.

    Example: `svc doctor`
    """


@app.command(rich_help_panel=CHECKING)
@runs("cli.verify:verify")
def verify(
    url: Annotated[
        str | None,
        typer.Argument(
            help="Address of the service, such as http://127.0.0.1:8000; with --offline, also a folder.",
            show_default=False,
        ),
    ] = None,
    rpc: Annotated[
        str | None, typer.Option(help="JSON-RPC address to query; default: SVC_RPC_URLS, or the demo's.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Prove every balance from the files and --block-hash, without RPC.")
    ] = False,
    block_hash: Annotated[
        str | None, typer.Option(help="Hash of the list's block, from a source that you trust; for --offline.")
    ] = None,
    as_json: AsJson = False,
    mirror: Annotated[
        str | None,
        typer.Option(help="Address of a mirror: check all of its files against the service's signed manifest."),
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="Saved key set of the service; default: its jwks.json.")] = None,
    seen: Annotated[
        Path | None, typer.Option(help="File that remembers the newest version seen, to detect older ones.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(help="Address of the only token to check. Default: every token; with --offline, the first."),
    ] = None,
) -> None:
    """Prove published holder lists from scratch: file, sums, supply and balances. Exits with 0 only if all are proven.

    With --offline, the service or folder must have the list and its storage proof in /data/.

    With --mirror, URL is the service whose copy is checked; the default is this installation.

    Example: `svc verify https://agents.example --rpc https://node.example`
    """


app.add_typer(docs, name="docs", rich_help_panel=CHECKING)


@docs.callback()
def docs_group() -> None:
    """Makes `check` a subcommand although it is the only one."""


@docs.command("check")
@runs("cli.docs:check")
def docs_check(
    base_url: Annotated[str, typer.Argument(help="Address of the service, such as http://127.0.0.1:8000")],
    as_json: AsJson = False,
) -> None:
    """Read every document, follow every link and compare their statements. Exits with 0 only if nothing is wrong.

    Example: `svc docs check http://127.0.0.1:8000`
    """


@app.command(
    rich_help_panel=CHECKING,
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def bench(context: typer.Context) -> None:
    """Benchmark ingestion, serving, selling, the guardrail and the graph against their alternatives.

    Example: `svc bench serving keys`
    """
    if not (CHECKOUT / "benchmarks" / "__main__.py").exists():
        note(f"svc: the benchmarks are in the repository, not in the package: {CHECKOUT / 'benchmarks'} does not exist")
        raise typer.Exit(2)
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *context.args])
