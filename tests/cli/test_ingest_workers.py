"""Workers on Dagster's own records in PostgreSQL: any of them takes any partition, and a killed one loses nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from ingest_helpers import TOKEN, logs_at, small_chain
from patience import HANG_S
from postgres_fixtures import TemporaryPostgres

from cli.demo.recorded import RecordedNode
from contracts.access.signing import key_text, new_private_key
from contracts.settings import Settings
from contracts.token.partitions import ReadToken
from warehouse.duck.connection import Warehouse
from warehouse.token.partition_adoption import adopt, look_ahead
from warehouse.token.partition_store import partition_store

SVC = Path(sys.executable).with_name("svc")
HEAD, BLOCKS = 1000, 10


def kill_a_run(workers: subprocess.Popen[str]) -> None:
    """Kills the process of a run: a child of the code server that is not one of its helpers."""
    for process in psutil.Process(workers.pid).children(recursive=True):
        if "spawn_main" in " ".join(process.cmdline()):
            process.kill()
            return
    raise AssertionError("no run has a process")


@pytest.mark.soak
def test_workers_read_everything_although_one_is_killed(tmp_path: Path, postgres: TemporaryPostgres) -> None:
    database = postgres.new_database()
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path,
        token_address=TOKEN,
        partition_blocks=BLOCKS,
        publish_url=f"file://{tmp_path}/store",
        signing_key_file=tmp_path / "key.pem",
    )
    (tmp_path / "key.pem").write_text(key_text(new_private_key()))
    logs = logs_at(*range(0, HEAD, 3))
    with RecordedNode(small_chain(logs, head=HEAD)) as node:
        environment = {
            **os.environ,
            "SVC_DATA_DIR": str(tmp_path),
            "SVC_RPC_URLS": node.url,
            "SVC_TOKEN_ADDRESS": TOKEN,
            "SVC_PARTITION_BLOCKS": str(BLOCKS),
            "SVC_PUBLISH_URL": str(settings.publish_url),
            "SVC_SIGNING_KEY_FILE": str(settings.signing_key_file),
            "SVC_WORKERS_URL": postgres.url(database).replace("+psycopg", "+psycopg2"),
        }
        command = [SVC, "ingest", "workers", "--count", "2", "--once"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as workers:
            assert workers.stdout is not None
            killed = False
            for line in workers.stdout:
                if not killed and _missing(line) < HEAD // BLOCKS - 1:
                    kill_a_run(workers)
                    killed = True
            assert workers.wait(HANG_S) == 0
        assert killed
        said = subprocess.run(
            [SVC, "ingest", "status", "--json"], env=environment, capture_output=True, text=True, check=True
        )
    assert (json.loads(said.stdout)["stored"], json.loads(said.stdout)["missing"]) == (HEAD // BLOCKS - 1, [])
    with Warehouse(tmp_path).connect() as connection:
        store, token = partition_store(settings), ReadToken(TOKEN)
        ahead = look_ahead(connection, store, token, final_block=HEAD - 2, blocks=BLOCKS)
        final = [log for log in logs if int(log["blockNumber"], 16) < HEAD - BLOCKS]
        assert adopt(connection, store, token, ahead.ready, tmp_path) == len(final)
    postgres.drop(database)


def _missing(line: str) -> int:
    """Parses the number of missing partitions from a line of the command; a line without one counts as many."""
    return int(line.split()[0]) if "are missing" in line else HEAD
