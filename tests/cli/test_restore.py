"""The runbook's ways to recover from a backup, step by step: to proven documents, every key and every write."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from forked import ForkedCommand
from keyed_service import with_secrets
from patience import HANG_S
from postgres_fixtures import TemporaryPostgres, postgres_binaries
from publishing import House, mint
from two_hosts import ApiHost, until

from cli.environment import as_environment
from contracts.access.tiers import Tier
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from contracts.world.audit import AuditReport
from pipelines.publish.generation import publish
from warehouse.access.keys import create_key
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets
from warehouse.publish.readers import context_for
from warehouse.world.audit import verify
from warehouse.world.audit_heads import known_heads
from warehouse.world.fold import fold_events

DOCUMENT = "/api/token/holders"
WORLD = tuple(row for row in PROJECTIONS if row.group == "world")


def test_a_host_restored_from_a_backup_serves_proven_documents_and_knows_every_key_and_node(
    postgres: TemporaryPostgres, tmp_path: Path
) -> None:
    binaries = postgres_binaries()
    assert binaries is not None
    database, restored = postgres.new_database(), "restored"
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
    log = tmp_path / "pusher.log"
    pusher = ForkedCommand(as_environment(settings), log, "generations", "push", "--once")
    assert pusher.wait(HANG_S) == 0, log.read_text()

    before = ApiHost("before", tmp_path, as_environment(settings))
    goal = {"type": "Goal", "title": "Come back", "source": "me"}
    try:
        before.start()
        until(lambda: before.serves(str(generation)), before.said)
        written = httpx.post(f"{before.url}/api/v2/world-model/signal", json=goal, headers=key, timeout=HANG_S).json()
    finally:
        before.kill()
    node = written["data"]["nodes"][0]["id"]

    with_command(tmp_path)
    server = {"PGHOST": str(postgres.socket_dir), "PGUSER": "svc", "PATH": f"{binaries}:{os.environ['PATH']}"}
    do(with_files(steps("Backup, PostgreSQL"), database), tmp_path, **as_environment(settings) | server)
    postgres.drop(database)
    for lost in ("store", "publisher", "before"):
        shutil.rmtree(tmp_path / lost)
    settings = settings.model_copy(update={"ledger_url": postgres.url(restored)})
    do(with_files(steps("The way back, PostgreSQL"), restored), tmp_path, **as_environment(settings) | server)
    after = ApiHost("after", tmp_path, as_environment(settings.model_copy(update={"rpc_urls": ()})))
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


RUNBOOK = (Path(__file__).parents[2] / "docs/operations.md").read_text()


def steps(title: str) -> str:
    """Returns the commands of the runbook's block after the line that begins with `title`."""
    block = re.search(rf"^\*\*{re.escape(title)}.*?```sh\n(.*?)```", RUNBOOK, re.MULTILINE | re.DOTALL)
    assert block is not None, title
    return block[1]


def with_files(commands: str, database: str) -> str:
    """Adapts commands to this database, and to a store that is a directory."""
    copied = re.sub(r"aws s3 sync (\S+) (\S+)", r"cp -a \1 \2", commands)
    return copied.replace("s3://BUCKET/PREFIX", "store").replace("DATABASE", database)


def with_command(directory: Path) -> None:
    """Puts the command `svc` where the runbook, in a checkout, expects it."""
    (directory / ".venv").symlink_to(sys.prefix)


def do(commands: str, directory: Path, **variables: str) -> None:
    subprocess.run(["sh", "-e", "-c", commands], cwd=directory, env=os.environ | variables, check=True, timeout=HANG_S)


class ForkedHost(ApiHost):
    """`svc serve` without the imports at its start."""

    def start(self) -> None:
        self.process = ForkedCommand(self.environment, self.log, "serve")


class GraphService:
    """`svc serve` on a SQLite ledger in `var`, a key for it, and the runs that publish its graph."""

    def __init__(self, directory: Path) -> None:
        self.house = House(directory / "var", rpc_urls=("http://127.0.0.1:9",))
        settings = self.house.settings
        settings.data_dir.mkdir()
        with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.transaction() as tx:
            pepper = load_secrets(settings).pepper
            issued = create_key(tx, pepper, tier=Tier.PRO, owner="local:me", now=datetime.now(UTC))
        self.key = {"X-Api-Key": issued.key.reveal()}
        self.process = ForkedHost("var", directory, as_environment(settings))
        self.publish()

    def publish(self) -> str:
        """Publishes, as a run does that finds the graph changed."""
        self.house.now = datetime.now(UTC)
        with Warehouse(self.house.data_dir).connect() as connection:
            with closing(open_ledger(self.house.settings, self.house.data_dir)) as ledger:
                fold_events(connection, ledger)
            context = context_for(connection, self.house.settings)
            report = publish(context, self.house.settings, projections=WORLD, now=self.house.now)
        assert report.generation is not None
        return report.generation

    def audit(self) -> AuditReport:
        with closing(open_ledger(self.house.settings, self.house.data_dir)) as ledger, ledger.read() as reader:
            return verify(reader, known_heads(self.house.settings))

    def start(self) -> None:
        self.process.start()
        until(lambda: self.process.health() is not None, self.process.said)

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = httpx.post(f"{self.process.url}{path}", json=body, headers=self.key, timeout=HANG_S, trust_env=False)
        assert answer.status_code in (200, 201), answer.text
        return dict(answer.json()["data"])

    def write(self, title: str) -> None:
        self.ask("/api/v2/world-model/signal", {"type": "Goal", "title": f"{title} harvest", "source": "me"})

    def goals(self) -> list[str]:
        """Returns the titles of all goals of the key's owner, as a query finds them now."""
        found = self.ask("/api/v2/world-model/query", {"search": "harvest", "scope": "own"})
        return sorted(node["title"].removesuffix(" harvest") for node in found["nodes"])


@pytest.mark.skipif(shutil.which("sqlite3") is None and not os.environ.get("CI"), reason="sqlite3 is not installed")
def test_a_restored_ledger_that_is_older_than_what_was_published_of_it_shows_every_write(tmp_path: Path) -> None:
    service = GraphService(tmp_path)
    try:
        service.start()
        service.write("before")
        with_command(tmp_path)
        environment = as_environment(service.house.settings) | {"HOME": str(tmp_path / "home")}
        do(steps("Backup, SQLite"), tmp_path, **environment)
        kept = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "home/svc-backup").iterdir()}
        assert kept == {"audit.json": 0o600, "ledger.db": 0o600, "master.secret": 0o600, "signing.pem": 0o600}
        service.write("lost")
        service.publish()
        assert service.goals() == ["before", "lost"]
        service.process.kill()
        assert service.audit().verdict == "intact"
        (tmp_path / "var/ledger.db").write_bytes(b"broken")
        do(steps("The way back, SQLite"), tmp_path, **environment)
        assert (service.audit().verdict, service.audit().superseded) == ("intact", 1)

        service.start()
        assert service.goals() == ["before"]
        for title in ("first", "second", "third"):
            service.write(title)
        assert service.goals() == ["before", "first", "second", "third"]
        service.process.kill()
        service.start()
        assert service.goals() == ["before", "first", "second", "third"], "also of a process that saw no restore"
        published = service.publish()
        until(lambda: service.process.serves(published), service.process.said)
        service.write("fourth")
        assert service.goals() == ["before", "first", "fourth", "second", "third"]
        with Warehouse(tmp_path / "var").read_only() as connection:
            assert connection is not None
            rows = connection.execute("select title from core_world__nodes where type = 'Goal' order by 1").fetchall()
        assert (service.audit().verdict, service.audit().superseded) == ("intact", 1)
        assert rows == [("before harvest",), ("first harvest",), ("second harvest",), ("third harvest",)]
    finally:
        service.process.kill()
