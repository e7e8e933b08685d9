"""`svc bench`: every measurement in one run, as the Markdown tables of the README or as one JSON value."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from cli.bench import access, guardrail, incremental, ingestion, keys, serving, startup, world, world_writes
from cli.output import AsJson, note, print_json, say
from contracts.guardrail.loader import load_ruleset


def bench(
    transfers: Annotated[int, typer.Option(min=10_000, help="Transfers of the ingestion bench.")] = ingestion.TRANSFERS,
    graph_nodes: Annotated[int, typer.Option(min=10_000, help="Nodes of the graph bench; 5 edges each.")] = world.NODES,
    as_json: AsJson = False,
) -> None:
    """Measure ingestion, a run on a large warehouse, serving and start-up, against what a user would pick instead."""
    warnings.simplefilter("ignore")
    note(f"writing {transfers:,} transfers on a local chain, then reading them")
    readings = ingestion.measure(transfers)
    note("running 100 new blocks on a small and on a large warehouse")
    small, large = incremental.measure()
    note("serving a document of 50 kB")
    answers = serving.run()
    note("asking with an API key")
    key = keys.measure()
    note("selling keys")
    sales = access.measure()
    note("checking actions against guardrail rules")
    ruleset = load_ruleset()
    judged, checks = guardrail.quality(ruleset), guardrail.latency(ruleset)
    note(f"asking a graph of {graph_nodes:,} nodes")
    graph = world.measure(graph_nodes)
    note("writing a graph through the validator")
    writes = world_writes.measure()
    note("starting the API")
    started_s = startup.measure()
    if as_json:
        print_json(
            {
                "ok": True,
                "ingestion": [asdict(each) for each in readings],
                "incremental": [asdict(small), asdict(large)],
                "serving": [asdict(each) for each in answers],
                "keys": asdict(key),
                "access": asdict(sales),
                "guardrail": guardrail.as_json(judged, checks),
                "world": world.as_json(graph),
                "worldWrites": asdict(writes),
                "startupS": started_s,
            }
        )
        return
    say(
        _table(
            ("reading the same history", "events/s", "wall s", "CPU s", "peak MB", "x floor"),
            [
                (
                    each.name,
                    f"{each.events / each.wall_s:,.0f}",
                    f"{each.wall_s:.2f}",
                    f"{each.cpu_s:.2f}",
                    f"{each.peak_mb:.0f}",
                    f"{each.times_floor:.2f}",
                )
                for each in readings
            ],
        )
    )
    say(
        _table(
            (f"{incremental.NEW_BLOCKS} new blocks on a warehouse of", "run s", "CPU s", "publish s"),
            [
                (
                    f"{each.transfers:,} transfers",
                    f"{each.run_wall_s:.2f}",
                    f"{each.run_cpu_s:.2f}",
                    f"{each.publish_wall_s:.2f}",
                )
                for each in (small, large)
            ],
        )
    )
    say(
        _table(
            ("answer", "server", "CPU us", "x nginx"),
            [
                (each.case, each.server, f"{each.cpu_us:.1f}", f"{each.times_nginx or 0:.2f}")
                for each in sorted(answers, key=lambda each: (each.case, each.cpu_us))
            ],
        )
    )
    say(
        _table(
            ("a route that does nothing", "CPU us", "x empty"),
            [
                ("empty FastAPI route", f"{key.empty_cpu_us:.1f}", "1.00"),
                ("with key check and quota", f"{key.keyed_cpu_us:.1f}", f"{key.times_empty:.2f}"),
            ],
        )
    )
    say(
        _table(
            ("paid access, without RPC", "CPU ms", "x empty route"),
            [
                (name, f"{cpu_ms:.2f}", f"{cpu_ms * 1000 / key.empty_cpu_us:.0f}")
                for name, cpu_ms in (("quote", sales.quote_cpu_ms), ("claim", sales.claim_cpu_ms))
            ],
        )
    )
    asked = access.WORKERS * access.ASKED_BY_EACH
    say(f"{access.WORKERS} processes accepted {sales.accepted} of {asked} requests of a key with {sales.quota} a day\n")
    _say_guardrail(judged, checks)
    _say_world(graph)
    say(
        _table(
            ("through the seven stages, to the disk", "a second"),
            [
                ("proposals of a node and an edge, one by one", f"{writes.proposals_per_s:,.0f}"),
                ("nodes of one proposal of 500", f"{writes.nodes_at_once_per_s:,.0f}"),
                ("proposals judged, not written", f"{writes.judged_per_s:,.0f}"),
            ],
        )
    )
    say(f"one proposal: p50 {writes.p50_ms:.1f} ms, p99 {writes.p99_ms:.1f} ms\n")
    say(f"from start to first document: {started_s:.2f} s")


def _say_guardrail(judged: guardrail.Quality | None, checks: Sequence[guardrail.Latency]) -> None:
    if judged is None:
        say(f"no labelled actions at {guardrail.LABELLED}: the guardrail's quality is not measured\n")
    else:
        rows = [
            ("all", judged.overall),
            ("context pairs", judged.pairs),
            *((each.source, each) for each in judged.sources),
        ]
        heading = ("labelled actions (95 % interval)", "recall", "false positives")
        say(_table(heading, [(name, str(each.recall), str(each.false_positives)) for name, each in rows]))
        for miss in judged.misses:
            note(miss)
    say(
        _table(
            ("one check", "rules", "p50 us", "p99 us", "p99 CPU us", "load s"),
            [
                (
                    each.engine,
                    f"{each.rules:,}",
                    f"{each.p50_us:,.0f}",
                    f"{each.p99_us:,.0f}",
                    f"{each.cpu_p99_us:,.0f}",
                    "" if each.load_s is None else f"{each.load_s:.2f}",
                )
                for each in checks
            ],
        )
    )


def _say_world(graph: world.WorldReads) -> None:
    heading = (f"{graph.nodes:,} nodes, {graph.edges:,} edges", "engine", "p50 ms", "p99 ms")
    ordered = sorted(graph.cases, key=lambda each: each.question)
    say(_table(heading, [(each.question, each.engine, f"{each.p50_ms:.2f}", f"{each.p99_ms:.2f}") for each in ordered]))
    written = graph.written
    loads = "; ".join(f"{engine} loads it in {load_s:.0f} s" for engine, load_s in graph.load_s.items())
    say(
        f"the snapshot is written in {written.wall_s:.1f} s ({written.cpu_s:.1f} s CPU, {written.peak_mb:,.0f} MB), "
        f"takes {written.disk_mb:,.0f} MB and is opened in {graph.open_ms:.1f} ms; the next query sees a write "
        f"{graph.visible_ms[0]:.2f} ms after its commit, {graph.visible_ms[1]:.2f} ms at worst; {loads}\n"
    )


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heading, ["---"] + ["---:"] * (len(heading) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
