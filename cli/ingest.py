"""Implements `svc ingest`: runs ingestion workers on this host, and shows what they still have to read."""

import asyncio
import signal
import tempfile
import threading
import time
from pathlib import Path

from cli.dagster_processes import LISTENING_WITHIN_S, code_server, daemon, is_listening
from cli.environment import as_environment, effective_settings, make_data_dir
from cli.output import operator_problems, print_json, say
from cli.supervise import Children, end_leftovers, only_one
from contracts.errors import ObjectStoreAway, OperatorProblem
from contracts.settings import Settings
from contracts.token.further_tokens import TokenState
from pipelines.due import poll_chain
from pipelines.instance import prepare_workspace
from pipelines.partition_workers.instance import prepare_workers_home, require_workers
from pipelines.token.partitions import further_tokens, missing_partitions, read_tokens
from warehouse.file_modes import make_private_directory
from warehouse.token.further_token_files import read_published
from warehouse.token.partition_store import partition_store

LOOK_EVERY_S = 1.0


class WorkersEnded(OperatorProblem):
    """A Dagster process that the workers need has stopped by itself."""

    code = "workers_ended"


def workers(*, count: int, once: bool, as_json: bool) -> None:
    """Reads missing partitions with `count` parallel runs until stopped; with `once`, until none is missing."""
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    with operator_problems(as_json):
        settings = effective_settings()
        require_workers(settings)
        read_tokens(settings)
        partition_store(settings).names()
        final_block = asyncio.run(poll_chain(settings)).finalized.number
        make_data_dir(settings.data_dir)
        with only_one(settings.data_dir / "workers.lock"), tempfile.TemporaryDirectory(prefix="svc-") as sockets:
            record = settings.data_dir / "workers.json"
            end_leftovers(record)
            children = Children(record)
            try:
                _start(settings, children, Path(sockets), count, stopping)
                _wait(settings, children, stopping, final_block if once else None)
            finally:
                children.stop()
    if as_json:
        print_json({"ok": True, "finalBlock": final_block, "stopped": stopping.is_set()})


def status(as_json: bool) -> None:
    """Shows which partitions are stored and which are missing, and the state of each further token."""
    with operator_problems(as_json):
        settings = effective_settings()
        store, tokens = partition_store(settings), read_tokens(settings)
        final_block = asyncio.run(poll_chain(settings)).finalized.number
        missing = sorted(missing_partitions(settings, final_block))
        stored = len(store.names())
        further = {
            token.address: read_published(settings.data_dir, token.address) for token in further_tokens(settings)
        }
    states = {address: token.state if token else TokenState.WAITING for address, token in further.items()}
    if as_json:
        print_json(
            {
                "ok": True,
                "finalBlock": final_block,
                "tokens": len(tokens),
                "stored": stored,
                "missing": [partition.key for partition in missing],
                "furtherTokens": {
                    address: {"state": state.value, "reason": token and token.reason}
                    for (address, token), state in zip(further.items(), states.values(), strict=True)
                },
            }
        )
        return
    say(f"{stored} partitions are stored, {len(missing)} are missing up to block {final_block}")
    if missing:
        say(f"first missing one: blocks {missing[0].first} to {missing[0].last}")
    for address, token in further.items():
        say(f"{address}  {states[address].value}{f': {token.reason}' if token and token.reason else ''}")


def _start(settings: Settings, children: Children, sockets: Path, count: int, stopping: threading.Event) -> None:
    home = prepare_workers_home(settings, count)
    environment = as_environment(settings) | {"DAGSTER_HOME": str(home)}
    logs = settings.data_dir / "logs"
    make_private_directory(logs)
    socket_path = sockets / "code"
    code = code_server(socket_path, "pipelines.partition_workers.definitions", lazy=False)
    children.start("dagster code server", code, environment, logs / "workers-code.log", restarted=True)
    deadline_s = time.monotonic() + LISTENING_WITHIN_S
    while not is_listening(socket_path):
        _fail_where_ended(children)
        if time.monotonic() > deadline_s:
            raise WorkersEnded("Dagster's code server does not start.", cure=f"See {logs / 'workers-code.log'}.")
        if stopping.wait(0.1):
            return
    workspace = prepare_workspace(home, socket_path)
    children.start("dagster daemon", daemon(workspace), environment, logs / "workers-daemon.log", restarted=True)
    say(f"{count} workers read partitions of {settings.partition_blocks} blocks into {settings.publish_url}")


def _wait(settings: Settings, children: Children, stopping: threading.Event, until_block: int | None) -> None:
    """Waits for a signal, or until nothing is missing up to a block. Keeps waiting while the store is unreachable."""
    missing = -1
    while not stopping.wait(LOOK_EVERY_S):
        children.restart_ended()
        _fail_where_ended(children)
        if until_block is None:
            continue
        try:
            now = len(missing_partitions(settings, until_block))
        except ObjectStoreAway as problem:
            say(str(problem))
            continue
        if now != missing:
            say(f"{now} partitions are missing up to block {until_block}")
            missing = now
        if not missing:
            return


def _fail_where_ended(children: Children) -> None:
    ended = children.ended()
    if ended:
        names = ", ".join(f"the {name} (exit code {code})" for name, code in ended.items())
        raise WorkersEnded(f"Stopped by itself: {names}.", cure="See its log in the logs folder of SVC_DATA_DIR.")
