"""Dagster's definitions: assets that explain themselves, lineage from transfer to document, schedules that run."""

import re
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from pipelines.definitions import FURTHER_TOKENS, ROOMS, build_definitions
from pipelines.publish.assets import CHECKED, NUMBERS, document_key
from pipelines.schedules import CHAIN_JOB, JOBS, dagster_schedule, moved_assets
from warehouse.duck.connection import Warehouse
from warehouse.duck.inspection import columns_of
from warehouse.duck.tables import UNNAMED, tables
from warehouse.publish.lineage import tables_of

ROOT = Path(__file__).resolve().parents[2]

ROOMS_FOLDER = ROOT / "pipelines"
TABLE = ("raw_", "core_", "out_")


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


def test_every_module_that_declares_assets_is_loaded():
    declaring = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in ROOMS_FOLDER.glob("**/*.py")
        if re.search(r"^@(table_asset|dg\.(multi_)?asset(_check)?)\(", path.read_text(), re.MULTILINE)
    }
    loaded = {module.__name__ for module in [*ROOMS, *FURTHER_TOKENS]}
    workers = "pipelines.partition_workers.definitions"  # a separate code location
    assert declaring - {workers} == loaded - {"pipelines.checks"}, "whose checks are made of tables"


def test_no_asset_depends_on_one_that_nothing_declares(graph: Any):
    stubs = [name_of(node.key) for node in graph.asset_nodes if "dagster/auto_created_stub_asset" in node.metadata]
    assert stubs == []


def test_every_asset_has_an_owner_a_kind_and_says_its_grain(graph: Any):
    for node in graph.asset_nodes:
        assert node.owners, node.key
        assert node.group_name != "default", node.key
        assert node.kinds, node.key
        if node.is_materializable:
            assert re.search("Grain: (at most )?one ", node.description), node.key


def test_every_document_that_reads_tables_descends_from_them(graph: Any):
    for projection in (row for row in PROJECTIONS if not row.shows):
        parents = {name_of(key) for key in graph.get(document_key(projection)).parent_keys}
        assert parents == tables_of(projection), projection.path


def test_a_page_descends_from_the_documents_that_it_shows_and_its_markdown_from_the_page(graph: Any):
    names = ("document/trust", "document/trust/index.md", "document/docs/operations", "document/guardrail")
    nodes = {name: graph.get(dg.AssetKey(name.split("/"))) for name in names}
    parents = {name: {name_of(key) for key in node.parent_keys} for name, node in nodes.items()}
    assert parents == {
        "document/trust": {
            "document/api/v2/trust/protocol",
            "document/api/v2/trust/registry",
            "document/checks.json",
        },
        "document/trust/index.md": {"document/trust"},
        "document/docs/operations": {"document/openapi.json"},
        "document/guardrail": set(),
    }
    ages = {name: node.description.rpartition("one document, ")[2] for name, node in nodes.items()}
    assert ages == {
        "document/trust": "as fresh as what it shows.",
        "document/trust/index.md": "as fresh as what it shows.",
        "document/docs/operations": "as fresh as what it shows.",
        "document/guardrail": "does not age.",
    }


def test_with_everything_configured_every_ageing_document_has_a_freshness_policy_of_its_own_age():
    configured = Settings(
        _env_file=None,
        rpc_urls=("https://node.example",),
        token_address="0x" + "70" * 20,
        bidwall_address="0x" + "b1" * 20,
        trust_registry_address="0x" + "7a" * 20,
        dexscreener_url="https://prices.example",
        coinbase_url="https://prices.example",
        partner_url="https://partner.example",
        marketplace_url="https://market.example",
        marketplace_agent_id="84",
    )
    graph = build_definitions(configured).resolve_asset_graph()
    for projection in PROJECTIONS:
        policy = graph.get(document_key(projection)).freshness_policy
        window = policy and policy.warn_window  # type: ignore[attr-defined]
        assert (window and window.to_timedelta().total_seconds()) == projection.max_age_s, projection.path
    assert ageing(graph, "raw_", "core_", "out_") == {
        "raw_bidwall__balances", "out_market__eth_price", "out_market__token_price", "out_trust__scores",
        "out_trust__status", "core_trust__history", "core_trust__scores",
    }  # fmt: skip


def ageing(graph: Any, *beginnings: str) -> set[str]:
    return {
        name_of(node.key)
        for node in graph.asset_nodes
        if node.freshness_policy is not None and name_of(node.key).startswith(beginnings)
    }


def test_documents_that_are_off_have_no_freshness_policy(graph: Any):
    documents = ageing(graph, "document/")
    assert "document/api/site-metrics" in documents
    assert "document/api/integrations/partner/base-snapshot" not in documents
    assert ageing(graph, "raw_", "core_", "out_") == set()
    priced = build_definitions(Settings(_env_file=None, coinbase_url="https://prices.example"))
    assert ageing(priced.resolve_asset_graph(), "raw_", "core_", "out_") == {"out_market__eth_price"}


def test_the_holder_documents_descend_from_the_transfers(graph: Any):
    for projection in (row for row in PROJECTIONS if row.group == "holders"):
        ancestors = {name_of(key) for key in graph.get_ancestor_asset_keys(document_key(projection))}
        assert {"raw_chain__transfers", "core_holders__balances", "evm_chain"} <= ancestors, projection.path


def test_documents_name_their_route_and_model(graph: Any):
    for projection in PROJECTIONS:
        metadata = graph.get(document_key(projection)).metadata
        assert metadata["route"] == projection.path or projection.collection
        assert metadata.get("model") == (projection.model and projection.model.__name__)


def test_every_table_shows_its_columns_with_what_they_mean(graph: Any, tmp_path: Path):
    nodes = [node for node in graph.asset_nodes if name_of(node.key).startswith(TABLE)]
    assert nodes
    with Warehouse(tmp_path).connect() as connection:
        for node in nodes:
            columns, table = node.metadata["dagster/column_schema"].columns, connection.table(name_of(node.key))
            assert [column.name for column in columns] == table.columns
            assert [column.type for column in columns] == list(map(str, table.types))
            assert all(column.description for column in columns), node.key


def test_columns_show_what_they_follow_from_among_the_columns_of_their_ancestors(graph: Any):
    shown = {}
    for node in graph.asset_nodes:
        lineage = node.metadata.get("dagster/column_lineage")
        if lineage is None:
            continue
        named = shown[name_of(node.key)] = lineage.deps_by_column
        columns = {column.name for column in node.metadata["dagster/column_schema"].columns}
        ancestors = {name_of(key) for key in graph.get_ancestor_asset_keys(node.key)}
        assert named.keys() <= columns, node.key
        for dep in (dep for deps in named.values() for dep in deps):
            table = name_of(dep.asset_key)
            assert dep.column_name in {column.name for column in columns_of(table)}, (node.key, dep)
            assert table in ancestors, (node.key, dep)
    assert {"out_access__funnel", "out_bidwall__events", "out_holders__daily", "out_holders__hourly"} <= set(shown)
    (dep,) = shown["out_access__funnel"]["plan_id"]
    assert (name_of(dep.asset_key), dep.column_name) == ("raw_ledger__quotes", "plan_id")


def test_every_document_shows_its_fields_with_what_they_mean(graph: Any):
    columns = graph.get(dg.AssetKey(["document", "api", "token", "holders"])).metadata["dagster/column_schema"].columns
    shown = {column.name: (column.type, column.description) for column in columns}
    assert shown["holderCount"] == (
        "integer or null",
        "Addresses with a balance above zero; null at a block where the zero address's is unknown",
    )
    assert shown["concentration.gini"][0] == "number"
    assert shown["consistency.proof.nodes.nodes[].host"][0] == "string"
    assert len(shown) == len(columns)
    # A field without a description of its own has that of its type.
    assert shown["ok"] == ("boolean", "Always true")
    assert shown["quality"][1] == "The degree to which a reader can trust a number."
    assert shown["consistency"][1] == "The block of all numbers in the body, and its proof."


def test_checks_belong_to_the_tables_and_failing_rows_block(graph: Any):
    checks = {f"{name_of(key.asset_key)}:{key.name}": graph.get(key).blocking for key in graph.asset_check_keys}
    declared = {f"{table.name}:{table.checks.name}" for table in tables().values() if table.checks is not None}
    of_documents = {f"{name_of(key)}:{NUMBERS}" for key in CHECKED}
    others = {
        "document/api/token/holders:proof",
        "raw_ledger__unmatched_payments:none_waits",
    }
    assert set(checks) == declared | of_documents | others
    assert {name.partition(":")[0] for name, blocking in checks.items() if blocking} == {
        "raw_chain__transfers",
        "core_holders__balances",
        "out_holders__lists",
        "out_market__eth_price",
        "out_market__token_price",
        "out_partner__snapshot",
        "out_marketplace__revenue",
        "core_feed__events",
        "core_world__nodes",
        "raw_chain__contract_transfers",
        "raw_chain__attestations",
        "core_trust__scores",
        "out_bidwall__status",
    }


def test_every_job_has_a_schedule_that_runs_from_the_start_where_the_job_can_be_due(definitions: dg.Definitions):
    running, stopped = dg.DefaultScheduleStatus.RUNNING, dg.DefaultScheduleStatus.STOPPED
    schedules = {schedule.name: schedule.default_status for schedule in definitions.schedules}
    unset = {"prices", "partner", "claims"}
    assert schedules == {f"{job.name}_schedule": stopped if job.name in unset else running for job in JOBS}
    configured = Settings(
        rpc_urls=("http://127.0.0.1:9",),
        token_address="0x" + "22" * 20,
        treasury_address="0x" + "33" * 20,
        usdc_address="0x" + "44" * 20,
        chainlink_feed_address="0x" + "55" * 20,
        partner_url="https://partner.test",
        _env_file=None,
    )
    assert {dagster_schedule(job, configured).default_status for job in JOBS} == {running}


def test_every_job_runs_in_one_process(definitions: dg.Definitions):
    for job in JOBS:
        assert definitions.resolve_job_def(job.name).executor_def.name == "in_process"
    assert isinstance(definitions.executor, dg.ExecutorDefinition)
    assert definitions.executor.name == "in_process"


def test_a_job_waits_only_for_jobs_of_the_table():
    names = [job.name for job in JOBS]
    assert len(set(names)) == len(names)
    assert {name for job in JOBS for name in job.not_beside} <= set(names)


def test_every_job_that_publishes_runs_without_the_daemon_too():
    publishing = {job.name for job in JOBS if isinstance(job.makes, dg.AssetSelection)}
    assert publishing == {job.name for job in JOBS if job.headless_due} | {CHAIN_JOB}


def test_a_failure_of_the_chain_marks_documents_and_no_failure_of_another_job_does(definitions: dg.Definitions):
    marking = {job.name for job in JOBS if definitions.resolve_job_def(job.name).hook_defs}
    assert marking == {CHAIN_JOB}


def test_a_run_of_prices_builds_and_checks_prices_and_builds_the_documents_that_read_them(
    definitions: dg.Definitions, graph: Any
):
    job = definitions.resolve_job_def("prices")
    made = {name_of(key) for key in job.asset_layer.selected_asset_keys}
    prices = {name_of(node.key) for node in graph.asset_nodes if "_market__" in name_of(node.key)}
    assert prices <= made
    for name in made - prices:
        assert graph.get(dg.AssetKey(name.split("/"))).parent_keys & {
            dg.AssetKey("out_market__token_price"),
            dg.AssetKey("out_market__eth_price"),
            dg.AssetKey("raw_market__token_prices"),
        }, name
    checks = {f"{name}_served_price_is_sound" for name in prices if name.startswith("out_")}
    assert {node.name for node in job.nodes} == {*prices, *checks, "publish_generation"}


def test_every_job_judges_what_it_makes_by_all_of_its_checks(definitions: dg.Definitions, graph: Any):
    for job in JOBS:
        made = definitions.resolve_job_def(job.name).asset_layer
        checks = {key for key in graph.asset_check_keys if key.asset_key in made.selected_asset_keys}
        assert made.asset_graph.asset_check_keys >= checks, job.name


def test_the_chain_and_prices_make_every_asset_and_write_no_table_both(definitions: dg.Definitions, graph: Any):
    chain = definitions.resolve_job_def(CHAIN_JOB).asset_layer.selected_asset_keys
    prices = definitions.resolve_job_def("prices").asset_layer.selected_asset_keys
    assert chain | prices == graph.materializable_asset_keys
    assert {key for key in chain & prices if key.path[0] != "document"} == set()


def test_only_what_moved_and_what_follows_from_it_is_built(graph: Any):
    made = {name_of(key) for key in moved_assets(graph, frozenset({"raw_ledger__quotes"}))}
    assert {"raw_ledger__quotes", "raw_ledger__claims", "out_access__funnel"} <= made, "with the whole of its step"
    assert not {name for name in made if name.startswith(("raw_chain", "out_holders", "out_market"))}

    chain = {name_of(key) for key in moved_assets(graph, frozenset({"evm_chain"}))}
    assert {"raw_chain__transfers", "out_holders__lists", "document/api/token/holders"} <= chain
    assert not {name for name in chain if "_market__" in name or name.startswith("raw_ledger__")}


def test_assets_that_follow_from_another_table_of_the_moved_step_are_built_too(graph: Any):
    made = {name_of(key) for key in moved_assets(graph, frozenset({"core_world__nodes"}))}
    assert {"out_world__nodes", "out_world__positions", "document/api/worldmodel/live", "document/graph"} <= made


def test_documents_that_show_nothing_that_moved_are_not_built(graph: Any):
    chain = {name_of(key) for key in moved_assets(graph, frozenset({"evm_chain"}))}
    assert {"document/index.html", "document/holders", "document/data/index.html"} <= chain
    assert not {"document/guardrail", "document/docs/errors", "document/openapi.json"} & chain


def test_the_results_of_checks_are_published_whatever_moved(graph: Any):
    for moved in ({"evm_chain"}, {"raw_ledger__quotes"}, {"core_world__nodes"}):
        assert dg.AssetKey(["document", "checks.json"]) in moved_assets(graph, frozenset(moved)), moved


def test_a_check_is_named_after_what_it_ensures():
    names = [table.checks.name for table in tables().values() if table.checks is not None]
    assert UNNAMED not in names
    assert "expectations" not in names


def test_the_workspace_names_a_module_whose_definitions_load():
    import pipelines.definitions

    (location,) = yaml.safe_load((ROOT / "workspace.yaml").read_text())["load_from"]
    assert location["python_module"] == pipelines.definitions.__name__
    assert pipelines.definitions.definitions().schedules
