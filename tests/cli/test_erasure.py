"""A14: what is forgotten is found in no file, by no reader, and in no answer of an API that went on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from installation import Installation
from intakes import HUMAN, INTAKE
from postgres_fixtures import TemporaryPostgres
from text_search import files_with

from contracts.settings import Settings
from pipelines.instance import prepare_home
from warehouse.duck import Warehouse

WORD = "quokkaburrow"
SIGNAL = {"type": "Goal", "title": f"The {WORD} plan", "source": "me", "payload": {"description": f"About a {WORD}"}}
pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def postgresql_files(request: pytest.FixtureRequest, ledger_settings: Settings) -> Iterator[Path | None]:
    """Where PostgreSQL keeps its tables; None on SQLite."""
    if ledger_settings.ledger_url is None:
        yield None
        return
    server: TemporaryPostgres = request.getfixturevalue("postgres")
    yield server.socket_dir / "data" / "base"


class Owner:
    """What Ada does over HTTP with her key."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        key = installation.keys("create", "--tier", "free", "--owner", "ada")["apiKey"]
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path: str, body: dict, status: int = 200) -> dict:
        answered, content = self._installation.answer("POST", f"/api/v2/{path}", self._headers, json.dumps(body))
        assert answered == status, content
        return json.loads(content)

    def found(self, **asked: object) -> int:
        """How many of her nodes a search for the word finds."""
        return self.post("world-model/query", {"search": WORD, **asked})["data"]["matched_nodes"]


def fail_a_run(data_dir: Path) -> None:
    """A run of Dagster's whose log, output and failure hold the word."""

    @dg.op
    def tell(context) -> None:
        context.log.info(f"reading {WORD}")
        raise ValueError(WORD)

    @dg.job
    def told() -> None:
        tell()

    with dg.DagsterInstance.from_config(str(prepare_home(data_dir))) as instance:
        assert not told.execute_in_process(instance=instance, raise_on_error=False).success


def put_aside(data_dir: Path) -> None:
    """Files that killed processes leave, and a log."""
    for name in ("spill/duckdb_temp_storage-0.tmp", "world/.building-1/nodes.bin", "generations/.building-1/a"):
        (data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (data_dir / name).write_text(WORD)
    for name in ("logs/api.log", "logs/api.log.1"):
        (data_dir / name).parent.mkdir(exist_ok=True)
        (data_dir / name).write_text(f"a line about {WORD}\n")


def wait_until_logged(data_dir: Path, installation: Installation) -> None:
    deadline = time.monotonic() + 120
    while WORD not in installation.ledger_text() and not any(
        name.startswith("guardrail.db") for name in files_with(data_dir, WORD)
    ):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_who_is_forgotten_is_in_no_file_and_no_answer(
    ledger_settings: Settings, postgresql_files: Path | None, tmp_path: Path
):
    data_dir, installation = ledger_settings.data_dir, Installation(ledger_settings)
    installation.svc("publish")
    ada, log = Owner(installation), tmp_path.with_name(f"{tmp_path.name}.log")
    with installation.served(log):
        ada.post("world-model/signal", SIGNAL, 201)
        ada.post("guardrail/check", {"action": f"echo {WORD}", "severity": "low"})
        installation.svc("publish")
        written = ada.post("world-model/signal", SIGNAL | {"title": f"A second {WORD}"}, 201)
        revision = ada.post("world-model/query", {})["data"]["revision"]
        installation.svc("publish")
        fail_a_run(data_dir)
        put_aside(data_dir)
        wait_until_logged(data_dir, installation)
        assert ada.found() == ada.found(at_revision=revision) == 2, written

        before = files_with(data_dir, WORD)
        kinds = {"warehouse.duckdb", "logs/api.log", "spill/duckdb_temp_storage-0.tmp"}
        assert kinds | ({"ledger.db", "guardrail.db"} if postgresql_files is None else set()) <= {
            name.removesuffix("-wal") for name in before
        }
        assert len({name.split("/")[1] for name in before if name.endswith(("/nodes.bin", "/serving.duckdb"))}) >= 2
        assert any(name.startswith("dagster/history/runs/") for name in before)

        said = installation.svc("world", "forget", "local:ada", "--json")
        assert json.loads(said.stdout)["forgotten"] == 2
        assert json.loads(said.stdout)["deleted"]["generations"] >= 2
        assert "erasing in the warehouse" in said.stderr

        assert ada.found() == ada.found(at_revision=revision) == 0
        assert files_with(data_dir, WORD) == set()
        assert WORD not in installation.ledger_text()
        if postgresql_files is not None:
            assert files_with(postgresql_files, WORD) == set()
        assert installation.ask("GET", "/llms.txt", {}) == 200
    assert json.loads(installation.svc("world", "audit", "--json").stdout)["ok"] is True
    again = json.loads(installation.svc("world", "forget", "local:ada", "--json").stdout)
    assert again == {"ok": True, "forgotten": 0, "deleted": {"generations": 0, "runs": 0, "logs": 0}}


def test_an_intake_that_is_forgotten_is_in_no_file(
    ledger_settings: Settings, postgresql_files: Path | None, tmp_path: Path
):
    data_dir, installation = ledger_settings.data_dir, Installation(ledger_settings)
    installation.svc("publish")
    body = json.dumps(HUMAN | {"useCase": f"Keep my {WORD}", "name": f"Ada {WORD}"})
    with installation.served(tmp_path.with_name(f"{tmp_path.name}.log")):
        headers = {"Content-Type": "application/json", "Idempotency-Key": "k" * 32}
        status, content = installation.answer("POST", INTAKE, headers, body)
        assert status in (200, 201), content
        intake_id = json.loads(content)["intakeId"]
        installation.svc("publish")
        fail_a_run(data_dir)
        assert files_with(data_dir, WORD) != set()
        installation.svc("intake", "forget", intake_id)
        assert files_with(data_dir, WORD) == set()
        assert WORD not in installation.ledger_text()
        if postgresql_files is not None:
            assert files_with(postgresql_files, WORD) == set()
    assert json.loads(installation.svc("intake", "forget", intake_id, "--json").stdout)["erasedInGraph"] == 0


def test_free_pages_of_the_warehouse_are_gone_and_its_rows_comments_and_schema_stay(tmp_path: Path):
    warehouse = Warehouse(tmp_path)
    with warehouse.connect() as connection:
        connection.execute("set force_compression = 'uncompressed'")
        connection.execute("create table words as select 'wombat' || range as word from range(50000)")
        connection.execute("comment on column words.word is 'A word'")
        connection.execute("checkpoint")
        connection.execute("delete from words where word <> 'wombat7'")
    assert b"wombat49999" in warehouse.path.read_bytes()
    with warehouse.read_only() as connection:
        tables = connection.execute("select table_name, estimated_size from duckdb_tables() order by all").fetchall()
    warehouse.rewrite()
    assert b"wombat49999" not in warehouse.path.read_bytes()
    with warehouse.read_only() as connection:
        assert (
            tables
            == connection.execute("select table_name, estimated_size from duckdb_tables() order by all").fetchall()
        )
        assert connection.execute("from words").fetchall() == [("wombat7",)]
        assert connection.execute("select comment from duckdb_columns() where column_name = 'word'").fetchall() == [
            ("A word",)
        ]
    assert [path.name for path in tmp_path.iterdir()] == ["warehouse.duckdb"]
    with warehouse.connect() as connection:
        connection.execute("insert into words values ('numbat')")


def test_a_warehouse_that_somebody_has_open_is_left_and_named(tmp_path: Path):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    installation = Installation(settings)
    installation.svc("publish")
    with Warehouse(tmp_path).connect() as connection:
        said = installation.svc("world", "forget", "local:ada", "--json", code=1)
        connection.execute("select 1")
    problem = json.loads(said.stdout)
    assert (problem["code"], problem["ok"]) == ("erasure_unfinished", False)
    assert "Left: the warehouse and what is published" in problem["detail"]
    assert "run the same command again" in problem["cure"]
    installation.svc("world", "forget", "local:ada")
