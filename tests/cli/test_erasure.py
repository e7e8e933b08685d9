"""A14: what is forgotten is found in no file, by no reader, and in no answer of an API that went on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import psycopg
import pytest
from intakes import HUMAN, register
from keyed_service import KeyedService, bearer, serving, with_secrets
from postgres_fixtures import TemporaryPostgres
from rounds import ROUNDS
from text_search import files_with
from typer.testing import CliRunner

from cli.main import app
from contracts.settings import Settings
from pipelines.initial_publish import publish_initial
from pipelines.runs import opened_instance
from warehouse.duck.connection import Warehouse
from warehouse.world.forget import forget_owner

WORD = "quokkaburrow"
QUERY, SIGNAL = "/api/v2/world-model/query", "/api/v2/world-model/signal"


class Installation:
    """An installation whose API runs, its ledger on either engine; commands are run beside it."""

    def __init__(self, settings: Settings, tables: Path | None, patch: pytest.MonkeyPatch) -> None:
        self.settings = settings.model_copy(update={"rate_limit_per_minute": 0})
        self.data_dir = settings.data_dir
        self.tables = tables
        for name, value in {
            "SVC_DATA_DIR": str(settings.data_dir),
            "SVC_RPC_URLS": "http://127.0.0.1:9",
            "SVC_LEDGER_URL": settings.ledger_url,
            "SVC_MASTER_SECRET": settings.master_secret and settings.master_secret.get_secret_value(),
            "SVC_SIGNING_KEY_FILE": settings.signing_key_file and str(settings.signing_key_file),
        }.items():
            if value:
                patch.setenv(name, value)

    def publish(self) -> None:
        publish_initial(self.settings)

    def svc(self, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
        """The JSON that a command prints, and what it tells meanwhile."""
        result = CliRunner().invoke(app, [*arguments, "--json"])
        assert result.exit_code == code and isinstance(result.exception, SystemExit | None), (result.output, result)
        return json.loads(result.stdout), result.stderr

    def places(self) -> set[str]:
        """Every file that holds the word, and every table and index of PostgreSQL."""
        found = files_with(self.data_dir, WORD)
        if self.tables is not None:
            address = self.settings.ledger_url.replace("postgresql+psycopg", "postgresql")  # type: ignore[union-attr]
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("checkpoint")
                ((database,),) = connection.execute(
                    "select oid from pg_database where datname = current_database()"
                ).fetchall()
                relations = dict(
                    connection.execute("select pg_relation_filenode(oid)::text, relname from pg_class").fetchall()
                )
            files = files_with(self.tables / str(database), WORD)
            found |= {f"postgresql {relations.get(file, file)}" for file in files}
        return found


@pytest.fixture
def installation(
    request: pytest.FixtureRequest, ledger_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installation]:
    tables = None
    if ledger_settings.ledger_url is not None:
        server: TemporaryPostgres = request.getfixturevalue("postgres")
        tables = server.socket_dir / "data" / "base"
    yield Installation(with_secrets(ledger_settings), tables, monkeypatch)


class Ada:
    """What Ada does over HTTP with her key."""

    def __init__(self, service: KeyedService) -> None:
        self._service = service
        self._headers = bearer(service.key(owner="local:ada"))

    def post(self, path: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
        (answer,) = self._service.ask(("POST", path, self._headers, {"json": body}))
        assert answer.status_code == status, answer.text
        return answer.json()

    def tell(self, title: str) -> None:
        body = {"type": "Goal", "title": title, "source": "me", "payload": {"description": f"About a {WORD}"}}
        self.post(SIGNAL, body, 201)

    def found(self, **asked: object) -> int:
        """How many of her nodes a search for the word finds."""
        return self.post(QUERY, {"search": WORD, **asked})["data"]["matched_nodes"]


def fail_a_run(data_dir: Path) -> None:
    """A run of Dagster's whose log, output and failure hold the word."""

    @dg.op
    def tell(context) -> None:
        context.log.info(f"reading {WORD}")
        raise ValueError(WORD)

    @dg.job
    def told() -> None:
        tell()

    with opened_instance(data_dir) as instance:
        assert not told.execute_in_process(instance=instance, raise_on_error=False).success


def put_aside(data_dir: Path) -> None:
    """Files that killed processes leave, and a log."""
    for name in ("spill/duckdb_temp_storage-0.tmp", "world/.building-1/nodes.bin", "generations/.building-1/a"):
        (data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (data_dir / name).write_text(WORD)
    for name in ("logs/api.log", "logs/api.log.1"):
        (data_dir / name).parent.mkdir(exist_ok=True)
        (data_dir / name).write_text(f"a line about {WORD}\n")


def test_an_owner_and_then_an_intake_that_are_forgotten_are_in_no_file_and_no_answer(installation: Installation):
    data_dir = installation.data_dir
    installation.publish()
    with serving(installation.settings) as service:
        ada = Ada(service)
        ada.tell(f"The {WORD} plan")
        service.check(bearer(service.key(owner="local:ada")), json={"action": f"echo {WORD}"})
        service.stores.guardrail_log.write()
        installation.publish()
        ada.tell(f"A second {WORD}")
        revision = ada.post(QUERY, {})["data"]["revision"]
        installation.publish()
        fail_a_run(data_dir)
        put_aside(data_dir)
        assert ada.found() == ada.found(at_revision=revision) == 2

        before = {name.removesuffix("-wal") for name in installation.places()}
        ledger = (
            {"ledger.db", "guardrail.db"}
            if installation.tables is None
            else {"postgresql world_events", "postgresql world_nodes", "postgresql guardrail_checks"}
        )
        assert ledger | {"warehouse.duckdb", "logs/api.log", "spill/duckdb_temp_storage-0.tmp"} <= before
        assert len({name.split("/")[1] for name in before if name.endswith(("/nodes.bin", "/serving.duckdb"))}) >= 2
        assert any(name.startswith("dagster/history/runs/") for name in before)

        said, told = installation.svc("world", "forget", "local:ada")
        assert said["forgotten"] == 2
        assert said["deleted"]["generations"] >= 2
        assert (said["deleted"]["runs"], said["deleted"]["logs"]) == (1, 2)
        assert "erasing in the warehouse" in told

        assert ada.found() == ada.found(at_revision=revision) == 0
        assert installation.places() == set()
        assert service.ask(("GET", "/llms.txt", {}, {}))[0].status_code == 200
        assert installation.svc("world", "audit")[0]["ok"] is True
        again, _ = installation.svc("world", "forget", "local:ada")
        assert again == {"ok": True, "forgotten": 0, "deleted": {"generations": 0, "runs": 0, "logs": 0}}

        answer = register(service, HUMAN | {"useCase": f"Keep my {WORD}", "name": f"Ada {WORD}"})
        intake_id = answer.json()["intakeId"]
        installation.publish()
        assert len(installation.places()) >= 2
        installation.svc("intake", "forget", intake_id)
        assert installation.places() == set()
        assert installation.svc("intake", "forget", intake_id)[0]["erasedInGraph"] == 0


def test_free_pages_of_the_warehouse_are_gone_and_its_rows_comments_and_schema_stay(tmp_path: Path):
    warehouse = Warehouse(tmp_path)
    with warehouse.connect() as connection:
        connection.execute("set force_compression = 'uncompressed'")
        connection.execute("create table words as select 'wombat' || range as word from range(50000)")
        connection.execute("comment on column words.word is 'A word'")
        connection.execute("checkpoint")
        connection.execute("delete from words where word <> 'wombat7'")
    assert b"wombat49999" in warehouse.path.read_bytes()
    schema = "select sql from duckdb_tables() order by sql"
    with warehouse.read_only() as connection:
        tables = connection.execute(schema).fetchall()
    warehouse.rewrite()
    assert b"wombat49999" not in warehouse.path.read_bytes()
    with warehouse.read_only() as connection:
        assert connection.execute(schema).fetchall() == tables
        assert connection.execute("from words").fetchall() == [("wombat7",)]
        assert connection.execute("select comment from duckdb_columns() where column_name = 'word'").fetchall() == [
            ("A word",)
        ]
    assert [path.name for path in tmp_path.iterdir()] == ["warehouse.duckdb"]
    with warehouse.connect() as connection:
        connection.execute("insert into words values ('numbat')")


@pytest.mark.parametrize("ledger_settings", ["sqlite", "postgresql"][:ROUNDS], indirect=True)
def test_answers_lack_what_is_forgotten_before_files_are_rewritten_which_is_finished_by_the_next_erasure_if_stopped(
    installation: Installation,
):
    installation.publish()
    with serving(installation.settings) as service:
        ada = Ada(service)
        ada.tell(f"The {WORD} plan")
        installation.publish()
        revision = ada.post(QUERY, {})["data"]["revision"]
        assert ada.found() == ada.found(at_revision=revision) == 1
        assert forget_owner(service.ledger, "local:ada", "eve") == 1
        assert ada.found() == ada.found(at_revision=revision) == 0
    assert installation.places() != set()
    locked = installation.data_dir / "dagster"
    locked.write_text("no directory either")
    problem, _ = installation.svc("world", "forget", "local:ada", code=1)
    assert (problem["code"], problem["ok"]) == ("erasure_unfinished", False)
    assert "Left: Dagster's records of runs: " in problem["detail"]
    assert f"Move {locked} away" in problem["cure"]
    assert problem["cure"].endswith("run the same command again.")
    assert installation.places() == set(), "every other step was taken"
    locked.unlink()
    assert installation.svc("world", "forget", "local:ada")[0]["forgotten"] == 0
