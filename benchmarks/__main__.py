"""The command line of the benches, which `svc bench` passes its arguments to."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from cli.output import AsJson
from cli.usage import OneCommand


def main(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benches to run; all by default. They are ingestion, incremental, storageProof, history, serving, "
            "keys, access, firstUse, guardrail, workTrees, world, worldWrites, worldImport, mixedLoad, hosts and "
            "startupS."
        ),
    ] = None,
    transfers: Annotated[int, typer.Option(min=10_000, help="Transfers of the ingestion bench.")] = 300_000,
    graph_nodes: Annotated[
        int, typer.Option(min=10_000, help="Nodes of the graph bench, with 5 edges each.")
    ] = 100_000,
    imported_nodes: Annotated[
        int, typer.Option(min=1_000, help="Nodes of the imported graph, with 5 edges each.")
    ] = 2_000,
    as_json: AsJson = False,
) -> None:
    """Measure ingestion, serving, selling, the guardrail and the graph against their alternatives.

    Prints Markdown tables, or with --json one value. A bench that fails is named at the end, and the exit code is 1.

    Example: `svc bench serving keys`
    """
    from benchmarks.command import bench

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that chains and servers end with it
    bench(names or [], transfers, graph_nodes, imported_nodes, as_json)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name="bench", cls=OneCommand)(main)
    app(prog_name="svc bench")
