"""What Dagster is given: assets that explain themselves, lineage from transfer to document, schedules that run."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from pipelines.definitions import build_definitions
from pipelines.publish.assets import document_key
from warehouse.duck.connection import Warehouse
from warehouse.publish.lineage import tables_of

ROOT = Path(__file__).resolve().parents[2]

GOLDEN = {
    "evm_chain": "chain",
    "raw_chain__transfers": "chain",
    "raw_chain__ranges": "chain",
    "raw_chain__tip_transfers": "chain",
    "raw_chain__contract_transfers": "chain",
    "raw_chain__contract_ranges": "chain",
    "raw_chain__contract_tip_transfers": "chain",
    "raw_chain__attestations": "chain",
    "raw_chain__attestation_ranges": "chain",
    "raw_bidwall__balances": "contract_balance",
    "out_bidwall__events": "contract_balance",
    "out_bidwall__status": "contract_balance",
    "core_trust__scores": "trust",
    "core_trust__history": "trust",
    "core_trust__checks": "trust",
    "out_trust__scores": "trust",
    "out_trust__status": "trust",
    "core_holders__balances": "holders",
    "raw_blockscout__holder_counts": "holders",
    "out_holders__sources": "holders",
    "out_holders__status": "holders",
    "out_holders__lists": "holders",
    "world_constitution": "world",
    "world_signals": "world",
    "core_world__nodes": "world",
    "core_world__edges": "world",
    "out_world__nodes": "world",
    "out_world__edges": "world",
    "out_world__counts": "world",
    "dexscreener": "market",
    "geckoterminal": "market",
    "coinbase": "market",
    "raw_market__eth_prices": "market",
    "out_market__eth_price": "market",
    "raw_market__token_prices": "market",
    "out_market__token_price": "market",
    "partner": "partner",
    "raw_partner__snapshots": "partner",
    "out_partner__snapshot": "partner",
    "marketplace": "partner",
    "raw_marketplace__figures": "partner",
    "out_marketplace__revenue": "partner",
    "core_feed__events": "feed",
    "out_world__positions": "world",
    "ledger": "ledger",
    "raw_ledger__quotes": "ledger",
    "raw_ledger__claims": "ledger",
    "raw_ledger__keys": "ledger",
    "raw_ledger__unmatched_payments": "ledger",
    "out_access__revenue_daily": "ledger",
    "out_access__funnel": "ledger",
    "intake_events": "ledger",
    "raw_ledger__intakes": "ledger",
    "out_intake__stats": "ledger",
    "out_intake__funnel": "ledger",
    "out_intake__settings": "ledger",
    "connect_events": "ledger",
    "raw_ledger__connect_sessions": "ledger",
    "raw_ledger__connect_steps": "ledger",
    "out_connect__daily": "ledger",
    "out_connect__steps": "ledger",
    "guardrail_log": "guardrail",
    "raw_guardrail__checks": "guardrail",
    "out_guardrail__daily": "guardrail",
    "own_endpoints": "discovery",
    "out_discovery__probes": "discovery",
}
"""Asset -> group, of every asset that is not a document."""


@pytest.fixture(scope="module")
def definitions() -> dg.Definitions:
    return build_definitions(Settings(_env_file=None))


@pytest.fixture(scope="module")
def graph(definitions: dg.Definitions) -> Any:
    return definitions.resolve_asset_graph()


def name_of(key: dg.AssetKey) -> str:
    return "/".join(key.path)


def test_the_definitions_load(definitions: dg.Definitions):
    dg.Definitions.validate_loadable(definitions)


def test_assets_and_their_groups_are_those_of_the_golden_list_and_the_registry(graph: Any):
    assert {name_of(node.key): node.group_name for node in graph.asset_nodes} == GOLDEN | {
        name_of(document_key(row)): "publish" for row in PROJECTIONS
    }


def test_every_asset_has_an_owner_a_kind_and_says_its_grain(graph: Any):
    for node in graph.asset_nodes:
        assert node.owners, node.key
        assert node.kinds, node.key
        if node.is_materializable:
            assert "Grain: one " in node.description, node.key


def test_every_document_descends_from_the_tables_that_it_reads(graph: Any):
    for projection in PROJECTIONS:
        parents = {name_of(key) for key in graph.get(document_key(projection)).parent_keys}
        assert parents == tables_of(projection), projection.path


def test_every_document_that_ages_has_a_freshness_policy_of_its_own_age(graph: Any):
    for projection in PROJECTIONS:
        policy = graph.get(document_key(projection)).freshness_policy
        assert (policy and policy.warn_window.to_timedelta().total_seconds()) == projection.max_age_s, projection.path


def test_the_holder_documents_descend_from_the_transfers(graph: Any):
    for projection in (row for row in PROJECTIONS if row.group == "holders"):
        ancestors = {name_of(key) for key in graph.get_ancestor_asset_keys(document_key(projection))}
        assert {"raw_chain__transfers", "core_holders__balances", "evm_chain"} <= ancestors, projection.path


def test_documents_name_their_route_and_model(graph: Any):
    for projection in PROJECTIONS:
        metadata = graph.get(document_key(projection)).metadata
        assert metadata["route"] == projection.path
        assert metadata.get("model") == (projection.model and projection.model.__name__)


@pytest.mark.parametrize("name", [name for name in GOLDEN if name.startswith(("raw_", "core_", "out_"))])
def test_every_table_shows_its_columns_with_what_they_mean(graph: Any, tmp_path: Path, name: str):
    schema = graph.get(dg.AssetKey(name)).metadata["dagster/column_schema"]
    with Warehouse(tmp_path).connect() as connection:
        table = connection.table(name)
        assert [column.name for column in schema.columns] == table.columns
        assert [column.type for column in schema.columns] == list(map(str, table.types))
    assert all(column.description for column in schema.columns)


def test_every_document_shows_its_fields_with_what_they_mean(graph: Any):
    columns = graph.get(dg.AssetKey(["document", "api", "token", "holders"])).metadata["dagster/column_schema"].columns
    holders = {column.name: column for column in columns}["holderCount"]
    assert (holders.type, holders.description) == ("integer or null", "Addresses with a balance above zero")


def test_checks_stand_on_the_tables_and_the_failing_of_rows_blocks(graph: Any):
    checks = {f"{name_of(key.asset_key)}:{key.name}": graph.get(key).blocking for key in graph.asset_check_keys}
    assert checks == {
        "raw_chain__transfers:expectations": True,
        "core_holders__balances:expectations": True,
        "out_holders__lists:expectations": True,
        "out_guardrail__daily:expectations": False,
        "out_market__eth_price:expectations": True,
        "out_market__token_price:expectations": True,
        "out_partner__snapshot:expectations": True,
        "out_marketplace__revenue:expectations": True,
        "core_feed__events:expectations": True,
        "out_holders__lists:proof": False,
        "core_world__nodes:expectations": True,
        "raw_chain__contract_transfers:expectations": True,
        "raw_chain__attestations:expectations": True,
        "core_trust__scores:expectations": True,
        "out_bidwall__status:expectations": True,
        "core_trust__checks:contract_agrees": False,
        "out_access__revenue_daily:expectations": False,
        "out_access__funnel:expectations": False,
        "out_intake__stats:expectations": False,
        "out_connect__daily:expectations": False,
        "out_connect__steps:expectations": False,
        "out_discovery__probes:expectations": False,
        "raw_ledger__unmatched_payments:none_waits": False,
    }


def test_schedules_run_from_the_start(definitions: dg.Definitions):
    schedules = {each.name: each.default_status for each in definitions.schedules}
    assert schedules == dict.fromkeys(
        (
            "chain_schedule",
            "prices_schedule",
            "partner_schedule",
            "discovery_schedule",
            "claims_schedule",
            "upkeep_schedule",
        ),
        dg.DefaultScheduleStatus.RUNNING,
    )


def test_every_job_runs_in_one_process(definitions: dg.Definitions):
    for job in map(definitions.resolve_job_def, ("chain", "prices", "partner", "discovery", "claims", "upkeep")):
        assert job.executor_def.name == "in_process"
    assert definitions.executor.name == "in_process"


def test_a_run_of_prices_makes_prices_and_what_reads_them_and_checks_nothing(definitions: dg.Definitions, graph: Any):
    job = definitions.resolve_job_def("prices")
    made = {name_of(key) for key in job.asset_layer.selected_asset_keys}
    prices = {name for name in GOLDEN if "_market__" in name}
    assert prices <= made
    for name in made - prices:
        assert graph.get(dg.AssetKey(name.split("/"))).parent_keys & {
            dg.AssetKey("out_market__token_price"),
            dg.AssetKey("out_market__eth_price"),
        }, name
    assert {node.name for node in job.nodes} == {*prices, "publish_generation"}


def test_a_run_of_the_chain_includes_prices(definitions: dg.Definitions):
    made = {name_of(key) for key in definitions.resolve_job_def("chain").asset_layer.selected_asset_keys}
    assert {name for name in GOLDEN if "_market__" in name} <= made


def test_the_workspace_names_a_module_whose_definitions_load():
    import pipelines.definitions

    (location,) = yaml.safe_load((ROOT / "workspace.yaml").read_text())["load_from"]
    assert location["python_module"] == pipelines.definitions.__name__
    assert pipelines.definitions.definitions().schedules
