"""The command line of the benchmarks, to which `svc bench` passes its arguments."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Final

import typer

from cli.output import AsJson
from cli.usage import OneCommand

NAMES: Final = (
    "ingestion",
    "partitions",
    "incremental",
    "storageProof",
    "history",
    "serving",
    "keys",
    "access",
    "firstUse",
    "guardrail",
    "workTrees",
    "world",
    "worldWrites",
    "worldImport",
    "mixedLoad",
    "hosts",
    "startupS",
)
"""The names of the benches, in the order in which they run."""


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Benches to run: {', '.join(NAMES)}. Default: all.")
    ] = None,
    transfers: Annotated[int, typer.Option(min=10_000, help="Transfers in the ingestion bench.")] = 300_000,
    graph_nodes: Annotated[
        int, typer.Option(min=10_000, help="Nodes in the graph bench, with 5 edges each.")
    ] = 100_000,
    imported_nodes: Annotated[
        int, typer.Option(min=1_000, help="Nodes in the imported graph, with 5 edges each.")
    ] = 2_000,
    as_json: AsJson = False,
) -> None:
    """Benchmark ingestion, serving, selling, the guardrail and the graph against their alternatives.

    Prints Markdown tables, or a single value with --json. If a bench fails, it is named at the end and the exit code
    is 1.

    Example: `svc bench serving keys`
    """
    for name in names or ():
        if name not in NAMES:
            raise typer.BadParameter(f"{name!r} is not a bench. The benches are {', '.join(NAMES)}.")
    from benchmarks.command import bench  # the benches take seconds to import

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that chains and servers end too
    bench(names or [], transfers, graph_nodes, imported_nodes, as_json)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name="bench", cls=OneCommand)(main)
    app(prog_name="svc bench")
