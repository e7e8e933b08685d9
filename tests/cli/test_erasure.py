"""A14: what is forgotten is in no file, is found by no reader, and is in no answer of an API that kept running."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from erased_installation import QUERY, WORD, Ada, Installation, installed
from intakes import HUMAN, register
from keyed_service import bearer, serving
from rounds import ROUNDS

from contracts.settings import Settings
from pipelines.runs import opened_instance
from warehouse.duck.connection import Warehouse
from warehouse.world.forget import forget_owner


@pytest.fixture
def installation(
    request: pytest.FixtureRequest, ledger_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Installation:
    return installed(request, ledger_settings, monkeypatch)


def fail_a_run(data_dir: Path) -> None:
    """Runs a Dagster run whose log, output and failure contain the word."""

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
    """Writes the files that killed processes leave, and a log."""
    for name in ("spill/duckdb_temp_storage-0.tmp", "world/.building-1/nodes.bin", "generations/.building-1/a"):
        (data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (data_dir / name).write_text(WORD)
    for name in ("logs/api.log", "logs/api.log.1"):
        (data_dir / name).parent.mkdir(exist_ok=True)
        (data_dir / name).write_text(f"a line about {WORD}\n")


def test_an_owner_and_then_an_intake_that_are_forgotten_are_in_no_file_and_no_answer(installation: Installation):
    data_dir = installation.data_dir
    installation.begin()
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
    installation.begin()
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
    again, _ = installation.svc("world", "forget", "local:ada")
    assert again == {"ok": True, "forgotten": 0, "deleted": {"generations": 0, "runs": 0, "logs": 0}}
