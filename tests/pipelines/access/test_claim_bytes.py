"""S16: no byte of an issued key in anything that pipelines derive from the ledger: warehouse, event log and Dagster's
files."""

from pathlib import Path

import dagster as dg
from access_sales import redeem, sell

from contracts.settings import Settings
from pipelines.access.assets import none_waits, sync_access_tables
from pipelines.derived import refill_derived_tables
from pipelines.resources import runtime_resource
from warehouse.ledger.ledger import open_ledger


def test_no_byte_of_a_key_reaches_the_warehouse_or_dagster(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "data")
    ledger = open_ledger(settings, settings.data_dir)
    issued = [redeem(ledger, sell(ledger, number)) for number in (1, 2)]
    ledger.close()
    (tmp_path / "dagster").mkdir()
    with dg.DagsterInstance.local_temp(tempdir=str(tmp_path / "dagster")) as instance:
        assets = [sync_access_tables, refill_derived_tables, none_waits]
        done = dg.materialize(assets, resources={"runtime": runtime_resource(settings)}, instance=instance)
        assert done.success
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert any(path.suffix == ".duckdb" for path in files)
    assert any("dagster" in path.parts and path.suffix == ".db" for path in files)
    for each in issued:
        text = each.key.reveal()
        assert any(each.claim.claim_id.encode() in content for content in files.values())
        for part in (text, text[-36:-6]):
            assert [path for path, content in files.items() if part.encode() in content] == []
