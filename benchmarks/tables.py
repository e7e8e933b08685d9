"""Renders results as the Markdown tables of docs/measured.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from benchmarks import (
    access,
    first_use,
    guardrail,
    history,
    incremental,
    mixed_load,
    storage_proof,
    work_trees,
    world,
    world_import,
    world_writes,
)
from benchmarks.contest import NotRun
from benchmarks.hosts import HostsMeasured
from benchmarks.ingestion import Reading
from benchmarks.keys import KeyCost
from benchmarks.partitions import PartitionCost
from benchmarks.serving import Row

Measured = TypeVar("Measured")


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Renders a Markdown table whose first column is text and whose other columns are numbers."""
    lines = [heading, ["---"] + ["---:"] * (len(heading) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def contest_table(
    heading: Sequence[str], rows: Iterable[Measured | NotRun], cells: Callable[[Measured], Sequence[str]]
) -> str:
    """Renders a table in which a contender that did not run has its reason instead of numbers."""
    return table(
        heading,
        [
            (row.contender, f"did not run: {row.reason}", *[""] * (len(heading) - 2))
            if isinstance(row, NotRun)
            else cells(row)
            for row in rows
        ],
    )


def ingestion_text(readings: Sequence[Reading | NotRun], _: Mapping[str, Any]) -> str:
    return contest_table(
        ("reading the same history", "events/s", "wall s", "CPU s", "peak MB", "x floor"),
        readings,
        lambda reading: (
            reading.name,
            f"{reading.events / reading.wall_s:,.0f}",
            f"{reading.wall_s:.2f}",
            f"{reading.cpu_s:.2f}",
            f"{reading.peak_mb:.0f}",
            f"{reading.times_floor:.2f}",
        ),
    )


def partitions_text(cost: PartitionCost, _: Mapping[str, Any]) -> str:
    rows = [*cost.by_workers, cost.by_tokens[-1]]
    one = rows[0]
    return table(
        (
            f"backfill of {one.events:,} transfers in partitions",
            "reading, CPU us an event",
            "taking over",
            "x one",
            "runs",
            "around them, CPU s a run",
            "same balances",
        ),
        [
            (
                run.name,
                f"{run.read_us:.2f}",
                f"{run.adopt_us:.2f}",
                f"{(run.read_us + run.adopt_us) / (one.read_us + one.adopt_us):.2f}",
                f"{run.runs}",
                f"{run.around_s / run.runs:.1f}",
                "yes" if run.balances_sha256 == one.balances_sha256 else "other tokens" if run is rows[-1] else "NO",
            )
            for run in rows
        ],
    )


def history_text(cost: history.HistoryCost, _: Mapping[str, Any]) -> str:
    return table(
        (f"any address at any block, {cost.transfers:,} transfers", ""),
        [
            ("building the history, CPU s", f"{cost.build_cpu_s:.1f}"),
            (f"{history.NEW_TRANSFERS} new transfers, CPU s", f"{cost.extend_cpu_s:.3f}"),
            ("size, MB", f"{cost.megabytes:.0f}"),
            ("a look-up over HTTP, CPU ms", f"{cost.lookup_cpu_ms:.2f}"),
            (f"p50 and p99 with {history.CONNECTIONS} connections, ms", f"{cost.p50_ms:.1f} and {cost.p99_ms:.1f}"),
            ("random pairs equal to a replay", f"{cost.pairs_equal:,} of {cost.pairs:,}"),
        ],
    )


def incremental_text(runs: Sequence[incremental.RunCost], _: Mapping[str, Any]) -> str:
    return table(
        (f"{incremental.NEW_BLOCKS} new blocks on a warehouse of", "run s", "CPU s", "publish s"),
        [
            (
                f"{run.transfers:,} transfers",
                f"{run.run_wall_s:.2f}",
                f"{run.run_cpu_s:.2f}",
                f"{run.publish_wall_s:.2f}",
            )
            for run in runs
        ],
    )


def storage_proof_text(costs: Sequence[storage_proof.StorageProofCost], _: Mapping[str, Any]) -> str:
    return table(
        (
            "storage with",
            "holders",
            "siblings",
            "requests",
            "reading CPU s",
            "proof CPU s",
            "bytes a holder",
            "check us a holder",
        ),
        [
            (
                cost.token,
                f"{cost.holders:,}",
                f"{cost.siblings:,}",
                f"{cost.requests:,}",
                f"{cost.read_cpu_s:.2f}",
                f"{cost.make_cpu_s:.2f}",
                f"{cost.bytes_per_holder:.2f}",
                f"{cost.check_us_per_holder:.0f}",
            )
            for cost in costs
        ],
    )


def serving_text(answers: Sequence[Row | NotRun], _: Mapping[str, Any]) -> str:
    measured = sorted((row for row in answers if isinstance(row, Row)), key=lambda row: (row.case, row.cpu_us))
    rows: list[Row | NotRun] = [*measured, *(row for row in answers if isinstance(row, NotRun))]
    return contest_table(
        ("answer", "server", "CPU us", "x nginx"),
        rows,
        lambda row: (
            row.case,
            row.server,
            f"{row.cpu_us:.1f}",
            "" if row.times_nginx is None else f"{row.times_nginx:.2f}",
        ),
    )


def keys_text(key: KeyCost, _: Mapping[str, Any]) -> str:
    return table(
        ("a route that does nothing", "CPU us", "x empty"),
        [
            ("empty FastAPI route", f"{key.empty_cpu_us:.1f}", "1.00"),
            ("with key check and quota", f"{key.keyed_cpu_us:.1f}", f"{key.times_empty:.2f}"),
        ],
    )


def access_text(sales: access.AccessCost, earlier: Mapping[str, Any]) -> str:
    """Renders the results with the empty route of the keys bench as the unit, if that was measured."""
    key: KeyCost | None = earlier.get("keys")
    costs = table(
        ("paid access, without RPC", "CPU ms", "x empty route"),
        [
            (name, f"{cpu_ms:.2f}", "" if key is None else f"{cpu_ms * 1000 / key.empty_cpu_us:.0f}")
            for name, cpu_ms in (("quote", sales.quote_cpu_ms), ("claim", sales.claim_cpu_ms))
        ],
    )
    requests = access.WORKERS * access.ASKED_BY_EACH
    return (
        f"{costs}\n{access.WORKERS} processes accepted {sales.accepted} of {requests} requests of a key "
        f"with {sales.quota} a day\n"
    )


def first_use_text(uses: Sequence[first_use.FirstUse | NotRun], _: Mapping[str, Any]) -> str:
    return contest_table(
        ("a newcomer on the demo", "requests", "s", "s with the start of its process"),
        uses,
        lambda use: (use.what, str(use.requests), f"{use.took_s:.2f}", f"{use.process_s:.2f}"),
    )


def guardrail_text(judged: Mapping[str, Any], _: Mapping[str, Any]) -> str:
    cold = judged["cold"]
    started = f"a new interpreter has loaded it in {cold.loaded_s:.2f} s of CPU and has judged in {cold.judged_s:.2f} s"
    hook = judged["hook"]
    hooked = (
        f"a hook takes {hook.hook_p50_ms:.1f} ms ({hook.hook_cpu_p50_ms:.1f} of CPU), the bare start of its "
        f"interpreter {hook.bare_p50_ms:.1f} ({hook.bare_cpu_p50_ms:.1f}), p50; a question over the socket "
        f"{hook.question_p50_ms:.1f}, p99 {hook.question_p99_ms:.1f}"
    )
    return f"{_quality_text(judged['quality'])}\n{_latency_text(judged['latency'])}\n{started}\n{hooked}\n"


def work_trees_text(score: work_trees.Score, _: Mapping[str, Any]) -> str:
    """Renders the hook's score in generated work trees, with the commands that it misjudged."""
    cells = [
        (
            f"{score.trees:,}",
            f"{score.losses_passed}/{score.losing}",
            _share(score.harmless_blocked, score.harmless, score.harmless_blocked / max(1, score.harmless)),
        )
    ]
    wrong = [f"{'lost' if trial.lost else 'blocked'}: {trial.command!r} (tree {trial.seed})" for trial in score.wrong]
    return "\n".join([table(("work trees", "losses passed", "harmless blocked"), cells), *wrong]) + "\n"


def _quality_text(quality: guardrail.Quality | None) -> str:
    if quality is None:
        return f"no labelled actions at {guardrail.LABELLED[0].parent}: the guardrail's quality is not measured\n"
    rows = [("all", quality.overall), *quality.groups.items(), *quality.sources.items()]
    heading = ("labelled actions", "unsafe blocked", "harmless blocked")
    cells = [
        (
            name,
            _share(figures.unsafe_blocked, figures.unsafe, figures.recall),
            _share(figures.safe_blocked, figures.safe, figures.false_blocks),
        )
        for name, figures in rows
    ]
    return "\n".join([table(heading, cells), *quality.misjudged_pairs]) + "\n"


def _share(hits: int, total: int, share: float | None) -> str:
    return "" if share is None else f"{hits}/{total} = {share:.3f}"


def _latency_text(checks: Sequence[guardrail.Latency | NotRun]) -> str:
    return contest_table(
        ("one check", "actions", "p50 us", "p99 us", "p50 CPU us", "p99 CPU us", "worst CPU ms"),
        checks,
        lambda check: (
            check.engine,
            f"{check.checks:,}",
            f"{check.p50_us:,.0f}",
            f"{check.p99_us:,.0f}",
            f"{check.cpu_p50_us:,.0f}",
            f"{check.cpu_p99_us:,.0f}",
            f"{check.worst_ms:,.1f}",
        ),
    )


def world_text(graph: world.WorldReads, _: Mapping[str, Any]) -> str:
    rows: list[world.Case | NotRun] = [*sorted(graph.cases, key=lambda case: case.question), *graph.not_run]
    cases = contest_table(
        (f"{graph.nodes:,} nodes, {graph.edges:,} edges", "engine", "p50 ms", "p99 ms"),
        rows,
        lambda case: (case.question, case.engine, f"{case.p50_ms:.2f}", f"{case.p99_ms:.2f}"),
    )
    written = graph.written
    loads = [f"{engine} loads it in {load_s:.0f} s" for engine, load_s in graph.load_s.items()]
    sentences = [
        f"importing and folding takes {graph.imported_cpu_s:.0f} s CPU",
        f"the snapshot is written in {written.wall_s:.1f} s ({written.cpu_s:.1f} s CPU, {written.peak_mb:,.0f} MB), "
        f"takes {written.disk_mb:,.0f} MB and is opened in {graph.open_ms:.1f} ms",
        f"the next query sees a write {graph.visible_ms[0]:.2f} ms after its commit, "
        f"{graph.visible_ms[1]:.2f} ms at worst",
        *loads,
    ]
    return f"{cases}\n{'; '.join(sentences)}\n"


def world_writes_text(writes: world_writes.WorldWrites, _: Mapping[str, Any]) -> str:
    rates = table(
        ("through the seven stages, to the disk", "a second"),
        [
            ("proposals of a node and an edge, one by one", f"{writes.proposals_per_s:,.0f}"),
            ("nodes of one proposal of 500", f"{writes.nodes_at_once_per_s:,.0f}"),
            ("proposals judged, not written", f"{writes.judged_per_s:,.0f}"),
        ],
    )
    return f"{rates}\none proposal: p50 {writes.p50_ms:.1f} ms, p99 {writes.p99_ms:.1f} ms\n"


def world_import_text(done: world_import.WorldImport, _: Mapping[str, Any]) -> str:
    states = done.nodes + done.edges
    steps = [
        ("import, all seven stages, and concurrent folding", done.imported),
        ("folding the rest", done.folded),
        ("snapshot with the search index", done.snapshot),
        ("until the search has it all", done.search_ready),
        ("reading the file once", done.read),
        ("bare inserts of its lines", done.inserts),
    ]
    return table(
        (f"{done.nodes:,} nodes, {done.edges:,} edges", "s", "CPU s", "CPU us a node or edge", "of bare inserts"),
        [
            (
                step,
                f"{cost.wall_s:.1f}",
                f"{cost.cpu_s:.1f}",
                f"{cost.cpu_s / states * 1e6:.0f}",
                f"{cost.cpu_s / done.inserts.cpu_s:.1f}",
            )
            for step, cost in steps
        ],
    )


def mixed_load_text(mixed: mixed_load.MixedLoad, _: Mapping[str, Any]) -> str:
    latencies = table(
        ("light work under heavy work", "p99 ms at rest", "p99 ms loaded", "bound"),
        [
            (path, f"{idle_ms:.1f}", f"{mixed.loaded_p99_ms[path]:.1f}", f"{mixed.bound_ms(path):.0f}")
            for path, idle_ms in mixed.idle_p99_ms.items()
        ],
    )
    answers = "".join(
        f"{path}: {', '.join(f'{count:,} answers {status}' for status, count in counts.items())}\n"
        for path, counts in mixed.statuses.items()
    )
    return (
        f"{latencies}\n{answers}{mixed.acknowledged:,} writes were acknowledged, {mixed.lost} of them lost; "
        f"the API took {mixed.memory_before_mb:.0f} MB before and {mixed.memory_after_mb:.0f} MB a minute after\n"
    )


def hosts_text(measured: HostsMeasured, _: Mapping[str, Any]) -> str:
    rows = [
        ("a published document, CPU us", *map(str, measured.document_cpu_us), f"{measured.document_ratio:.2f}"),
        ("a request with a key, CPU us", *map(str, measured.keyed_cpu_us), f"{measured.keyed_ratio:.2f}"),
    ]
    return (
        table(("an answer of", "one host", "two hosts", "times"), rows)
        + f"\nA generation is on both hosts {measured.roll_out_median_s:.2f} s after it was published "
        f"(worst {measured.roll_out_worst_s:.2f}); from a dump of the ledger and an empty disk to the first proven "
        f"document: {measured.restore_s:.1f} s"
    )


def start_up_text(started_s: float, _: Mapping[str, Any]) -> str:
    return f"from start to first document: {started_s:.2f} s"
