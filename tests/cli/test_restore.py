"""The runbook's way back from a backup: ledger, store and secrets, to the first proven document and every key."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx
from keyed_service import with_secrets
from patience import HANG_S
from postgres_fixtures import TemporaryPostgres, postgres_binaries
from publishing import House, mint
from two_hosts import ApiHost, Process, until

from cli.environment import as_environment
from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.access.keys import create_key
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

DOCUMENT = "/api/token/holders"


def test_a_host_restored_from_a_backup_serves_proven_documents_and_knows_every_key_and_node(
    postgres: TemporaryPostgres, tmp_path: Path
) -> None:
    binaries = postgres_binaries()
    assert binaries is not None
    database, restored = postgres.new_database(), postgres.new_database()
    (tmp_path / "secrets").mkdir()
    (tmp_path / "publisher").mkdir()
    settings = with_secrets(
        Settings(_env_file=None, data_dir=tmp_path / "secrets", ledger_url=postgres.url(database))
    ).model_copy(
        update={
            "data_dir": tmp_path / "publisher",
            "base_url": "http://svc.example",
            "rpc_urls": ("http://127.0.0.1:9",),
            "publish_url": f"file://{tmp_path}/store",
        }
    )
    house = House(tmp_path / "publisher")
    house.settings = settings
    house.read_chain(mint(3), 20)
    generation = house.publish(DOCUMENT).generation
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.transaction() as tx:
        pepper = load_secrets(settings).pepper
        issued = create_key(tx, pepper, tier=Tier.PRO, owner="local:me", now=datetime.now(UTC))
    key = {"X-Api-Key": issued.key.reveal()}
    pusher = Process(tmp_path / "pusher", as_environment(settings), "generations", "push", "--once")
    pusher.start()
    assert pusher.process is not None and pusher.process.wait(HANG_S) == 0, pusher.said()

    before = ApiHost("before", tmp_path, as_environment(settings))
    goal = {"type": "Goal", "title": "Come back", "source": "me"}
    try:
        before.start()
        until(lambda: before.serves(str(generation)), before.said)
        written = httpx.post(f"{before.url}/api/v2/world-model/signal", json=goal, headers=key, timeout=HANG_S).json()
    finally:
        before.kill()
    node = written["data"]["nodes"][0]["id"]

    backup = tmp_path / "backup"
    backup.mkdir()
    connection = ["--host", str(postgres.socket_dir), "--username", "svc"]
    dump = [binaries / "pg_dump", *connection, "--format=custom", f"--file={backup}/ledger.dump", database]
    subprocess.run(dump, check=True, timeout=HANG_S)
    shutil.copytree(tmp_path / "store", backup / "store")
    postgres.drop(database)
    for lost in ("store", "publisher", "before"):
        shutil.rmtree(tmp_path / lost)

    restore = [binaries / "pg_restore", *connection, "--exit-on-error", f"--dbname={restored}", backup / "ledger.dump"]
    subprocess.run(restore, check=True, timeout=HANG_S)
    shutil.copytree(backup / "store", tmp_path / "store")
    after = ApiHost(
        "after", tmp_path, as_environment(settings.model_copy(update={"ledger_url": postgres.url(restored)}))
    )
    try:
        after.start()
        until(lambda: after.serves(str(generation)), after.said)
        with httpx.Client(base_url=after.url, timeout=HANG_S, trust_env=False) as client:
            assert client.get(DOCUMENT).json()["consistency"]["proof"]["verdict"] == "proven"
            found = client.get(f"/api/v2/world-model/nodes/{node}", headers=key)
            assert (found.status_code, goal["title"] in found.text) == (200, True), found.text
    finally:
        after.kill()
        postgres.drop(restored)
