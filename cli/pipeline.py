"""Implements `svc pipeline` and `svc publish`: runs the pipeline and publishes without any Dagster process."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import typer

from cli.environment import effective_settings, make_data_dir
from cli.logs import configure_logs
from cli.output import note, operator_problems, print_json, say
from cli.signals import while_signals_end
from contracts.discovery.checks_document import CHECKS_PATH
from contracts.errors import RunBusy, SettingsInvalid
from contracts.logs import LogFormat
from contracts.publish.routes import file_of
from contracts.secrets import require_secrets
from contracts.settings import Settings
from contracts.token.holder_documents import TokenHolders
from warehouse.cycles import while_importing
from warehouse.discovery.checks import failed_tables
from warehouse.discovery.run_status import job_facts
from warehouse.duck.connection import Connection, Warehouse, run_lock
from warehouse.file_modes import make_private_directory
from warehouse.publish.generations import Generation, current_generation
from warehouse.publish.served_address import refuse_other_address
from warehouse.token.chain_head import read_head
from warehouse.token.holder_lists import recorded_list
from warehouse.token.holders import read_state

DATA_DOCS = "datadocs"
DATA_DOCS_WAIT_S = 120.0


Configure = Callable[[LogFormat], None]
"""Configures the logs of a command."""


def run(*, snapshot: bool, as_json: bool) -> None:
    """Runs what is due. The exit code is 1 if a check found a fault, in this run or, if nothing is new, in an earlier
    one. The table's numbers are published and marked."""
    run_with(configure_logs, snapshot=snapshot, as_json=as_json)


def run_with(configure: Configure, *, snapshot: bool, as_json: bool) -> None:
    """Does the same with other logs."""
    with operator_problems(as_json):
        settings = effective_settings()
        refuse_without_chain(settings)
        refuse_other_address(settings)
        require_secrets(settings)
        make_data_dir(settings.data_dir)
        configure(settings.log_format)
        with while_signals_end(), while_importing():
            from pipelines.headless import run_pipeline  # Dagster takes seconds to import

        report = run_pipeline(settings, snapshot=snapshot)
    generation = current_generation(settings.data_dir)
    failed = failed_tables(generation)
    passed = all(report.checks.values()) and not failed
    if as_json:
        print_json({"ok": passed} | asdict(report) | {"failedChecks": failed})
    elif not report.runs:
        say(f"nothing is new; {report.generation} is still current")
        if failed:
            say(f"its checks fail for {', '.join(failed)}: see {CHECKS_PATH}")
    else:
        for line in _summary(report.assets, report.checks):
            say(line)
        say(f"published {report.generation}")
    if not passed:
        raise typer.Exit(1)


def datadocs(as_json: bool) -> None:
    with operator_problems(as_json):
        settings = effective_settings()
        make_data_dir(settings.data_dir)
        with while_signals_end():
            from pipelines.checks import write_data_docs  # Dagster and Great Expectations take seconds to import

        directory = settings.data_dir / DATA_DOCS
        make_private_directory(directory)
        note(f"waiting up to {DATA_DOCS_WAIT_S:.0f} s for the warehouse, which a run may have locked")
        with (
            run_lock(settings.data_dir, wait_s=DATA_DOCS_WAIT_S),
            Warehouse(settings.data_dir).connect() as connection,
        ):
            page = write_data_docs(connection, directory, note)
    if as_json:
        print_json({"ok": True, "page": str(page)})
    else:
        say(str(page))


def status(as_json: bool) -> None:
    with operator_problems(as_json):
        facts = _status(effective_settings())
    if as_json:
        print_json({"ok": True} | facts)
    else:
        for name, value in facts.items():
            say(f"{name:<16} {_shown(value)}")


def publish(as_json: bool) -> None:
    publish_with(configure_logs, as_json=as_json)


def publish_with(configure: Configure, *, as_json: bool) -> None:
    """Publishes what is known, with other logs."""
    with operator_problems(as_json):
        settings = effective_settings()
        refuse_other_address(settings)
        require_secrets(settings)
        make_data_dir(settings.data_dir)
        configure(settings.log_format)
        with while_signals_end(), while_importing():
            from pipelines.initial_publish import publish_initial

        report = publish_initial(settings)
    if as_json:
        print_json({"ok": True} | asdict(report))
    else:
        changed = f"{len(report.changed_documents)} documents changed" if report.published else "nothing had changed"
        say(f"generation {report.generation}: {changed}")


def refuse_without_chain(settings: Settings) -> None:
    """Raises `SettingsInvalid` if there is no chain to read, because documents would turn to "not configured" merely
    since no demo is running."""
    if not settings.rpc_urls:
        raise SettingsInvalid(
            "There is no chain to read: SVC_RPC_URLS is not set, and no demo is running here.",
            cure="Set SVC_RPC_URLS, or start the demo with `svc run`.",
        )


def _summary(assets: dict[str, dict[str, Any]], checks: dict[str, bool]) -> Iterator[str]:
    """Describes a run: transfers read, the list and its verdict, and the checks that did not pass."""
    read, holder_list = assets.get("raw_chain__transfers", {}), assets.get("out_holders__lists", {})
    if "to_block" in read and read["from_block"] > read["finalized_block"] + 1:
        yield f"reading begins at block {read['from_block']:,}, which is not final yet"
    elif "to_block" in read:
        yield f"read {read['new_transfers']:,} new transfers, up to block {read['to_block']:,}"
    if "verdict" in holder_list:
        reason = f" ({holder_list['reason']})" if "reason" in holder_list else ""
        suffix = f"{reason}, kept as a snapshot" if holder_list["snapshot"] else reason
        yield (
            f"{holder_list['holders']:,} holders at block {holder_list['block']:,}: {holder_list['verdict']}{suffix}"
        )
    for name, passed in checks.items():
        if not passed:
            yield f"check not passed: {name}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name} ({text})" for name, text in value.items()]
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _status(settings: Settings) -> dict[str, Any]:
    generation = current_generation(settings.data_dir)
    documents = generation.manifest.documents if generation else {}
    facts: dict[str, Any] = {
        "dataDir": str(settings.data_dir),
        "generation": generation and generation.id,
        "createdAt": generation and generation.manifest.created_at,
        "staleDocuments": [route for route, entry in documents.items() if entry.stale_reason],
        "failedChecks": failed_tables(generation),
        "failingJobs": {job.name: job.reason for job in job_facts(settings.data_dir) if job.failing_since is not None},
        "running": False,
        "readToBlock": None,
        "finalizedBlock": None,
        "transfers": None,
        "newestList": None,
        "verdict": None,
    }
    try:
        with Warehouse(settings.data_dir).read_only() as connection:
            if connection is not None:
                facts |= _in_warehouse(connection)
    except RunBusy:
        # A run has the warehouse locked, so the published list shows the state before it.
        facts["running"] = True
        if generation is not None:
            facts |= _published(generation)
    return facts


def _published(generation: Generation) -> dict[str, Any]:
    body = (generation.path / "public" / file_of("/api/token/holders")).read_bytes()
    holders = TokenHolders.model_validate_json(body)
    backfill, consistency = holders.backfill, holders.consistency
    return {
        "readToBlock": backfill and backfill.block,
        "finalizedBlock": backfill and backfill.finalized_block,
        "newestList": consistency and consistency.block,
        "verdict": consistency and consistency.proof.verdict.value,
    }


def _in_warehouse(connection: Connection) -> dict[str, Any]:
    state, head = read_state(connection), read_head(connection)
    newest = recorded_list(connection, state.block) if state else None
    return {
        "readToBlock": state and state.block,
        "finalizedBlock": head and head.finalized_block,
        "transfers": state and state.transfers,
        "newestList": newest and newest.block,
        "verdict": newest and newest.proof.verdict.value,
    }
