"""Runs benches one after the other; prints the Markdown tables of docs/measured.md, or a single JSON value."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import typer

from benchmarks import (
    access,
    first_use,
    guardrail,
    history,
    hosts,
    incremental,
    ingestion,
    keys,
    mixed_load,
    partitions,
    serving,
    startup,
    storage_proof,
    tables,
    work_trees,
    world,
    world_import,
    world_writes,
)
from benchmarks.contest import place_of, reason_of
from cli.output import note, print_json, say


@dataclass(frozen=True)
class Bench:
    """One measurement. `name` is its key in JSON; `text` also gets the results of earlier benches."""

    name: str
    doing: str
    measure: Callable[[], Any]
    text: Callable[[Any, Mapping[str, Any]], str]


def bench(names: Sequence[str], transfers: int, graph_nodes: int, imported_nodes: int, as_json: bool) -> None:
    """Runs the benches with these names, or all of them."""
    warnings.simplefilter("ignore")
    benches = benches_of(transfers, graph_nodes, imported_nodes)
    if shutil.which("wrk") is None:
        note("wrk is not installed: a slower client of the bench loads the servers, whose own CPU time is measured")
    run_benches([bench for bench in benches if not names or bench.name in names], as_json=as_json)


def benches_of(transfers: int, graph_nodes: int, imported_nodes: int) -> list[Bench]:
    writing = f"writing {transfers:,} transfers on a local chain, then reading them"
    blocks = "running 100 new blocks on a small and on a large warehouse"
    return [
        Bench("ingestion", writing, lambda: ingestion.measure(transfers), tables.ingestion_text),
        Bench("partitions", "reading a history with several workers", partitions.measure, tables.partitions_text),
        Bench("incremental", blocks, incremental.measure, tables.incremental_text),
        Bench(
            "storageProof",
            "proving every balance of two lists against a block hash",
            storage_proof.measure,
            tables.storage_proof_text,
        ),
        Bench("history", "looking up addresses at blocks", history.measure, tables.history_text),
        Bench("serving", "serving a document of 50 kB", serving.run, tables.serving_text),
        Bench("keys", "sending requests with an API key", keys.measure, tables.keys_text),
        Bench("access", "selling keys", access.measure, tables.access_text),
        Bench("firstUse", "buying, querying and remembering on the demo", first_use.measure, tables.first_use_text),
        Bench("guardrail", "judging actions by their effects", guardrail.measure, tables.guardrail_text),
        Bench("workTrees", "running commands in generated work trees", work_trees.measure, tables.work_trees_text),
        Bench(
            "world", f"querying a graph of {graph_nodes:,} nodes", lambda: world.measure(graph_nodes), tables.world_text
        ),
        Bench("worldWrites", "writing a graph through the validator", world_writes.measure, tables.world_writes_text),
        Bench(
            "worldImport",
            f"importing a graph of {imported_nodes:,} nodes",
            lambda: world_import.measure(imported_nodes),
            tables.world_import_text,
        ),
        Bench("mixedLoad", "answering light requests alongside large ones", mixed_load.measure, tables.mixed_load_text),
        Bench("hosts", "serving from two hosts without a shared disk", hosts.measure, tables.hosts_text),
        Bench("startupS", "starting the API", startup.measure, tables.start_up_text),
    ]


def run_benches(benches: Sequence[Bench], *, as_json: bool) -> None:
    """Runs all benches and prints each result when it is ready. Names those that fail, and then exits with 1."""
    results: dict[str, Any] = {}
    failed: dict[str, str] = {}
    for measurement in benches:
        note(measurement.doing)
        try:
            results[measurement.name] = measurement.measure()
        except Exception as error:
            failed[measurement.name] = f"{reason_of(error)} ({place_of(error)})"
            note(f"{measurement.name} failed: {failed[measurement.name]}")
            continue
        if not as_json:
            say(measurement.text(results[measurement.name], results))
    if as_json:
        measured = {measurement.name: _plain(results.get(measurement.name)) for measurement in benches}
        print_json({"ok": not failed, "failed": failed, **measured})
    if failed:
        note(f"{len(failed)} of {len(benches)} benches failed: {', '.join(failed)}")
        raise typer.Exit(1)


def _plain(value: Any) -> Any:
    """Converts measurements to JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
