"""`svc doctor`: every failing line says what to do."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import lying_nodes
import pytest
from collector import collector as running_collector
from commands import called
from fault_node import Fault, FaultNode, Reply, always, rpc_error
from ingest_helpers import TOKEN
from lying_nodes import TokenChain
from nginx import free_port
from pipeline_runs import recorded_chain
from publishing import House, mint
from signing_wallets import RELAYER

from api.access.rpc import Providers
from cli.demo.anvil import Anvil
from cli.demo.recorded import RecordedNode
from cli.doctor import (
    CHECKS,
    FEW_SETTLEMENTS,
    Finding,
    _check_findings,
    chain,
    collector,
    companion,
    contracts_on_chain,
    data_directory,
    file_modes,
    generation_is_whole,
    jobs,
    ledger_opens,
    nodes_agree,
    other_stores,
    ports,
    relayer,
    secrets,
    sources,
    warehouse_opens,
)
from contracts.access.rail import rail_of
from contracts.access.settling import GAS_LIMIT, head_calls, read_head
from contracts.base import Quality
from contracts.settings import Settings
from warehouse.access.signing_keys import SigningKeys
from warehouse.discovery.run_status import EndedRun, Outcome, update_run_status, with_run
from warehouse.duck.connection import ChainIdentity, Warehouse, stamp
from warehouse.duck.fetch_log import Attempt, record_attempt
from warehouse.ledger.ledger import LedgerIdentity, open_ledger

OTHER = "0x" + "71" * 20
DOCUMENT = "/api/token/holders"


@pytest.fixture
def node() -> Iterator[RecordedNode]:
    with RecordedNode(recorded_chain()) as running:
        yield running


def settings(data_dir: Path, **changes: object) -> Settings:
    return Settings(**({"data_dir": data_dir, "token_address": TOKEN, "_env_file": None} | changes))


def the_one(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def assert_mends(finding: Finding, status: str, cure: str) -> None:
    assert finding.status == status
    assert cure in finding.cure


def test_a_node_that_answers_is_fine(tmp_path: Path, node: RecordedNode):
    assert the_one(chain(settings(tmp_path, rpc_urls=(node.url,)))).status == "ok"


def test_a_dead_node_is_named_without_its_key(tmp_path: Path):
    finding = the_one(chain(settings(tmp_path, rpc_urls=("http://127.0.0.1:1/secret",))))
    assert_mends(finding, "fail", "SVC_RPC_URLS")
    assert "secret" not in str(finding)


def answering(status: int, content: bytes, media_type: str) -> Fault:
    return Fault("eth_chainId", always(Reply(content, status, {"Content-Type": media_type})))


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        (answering(200, b"<html>", "text/html; charset=utf-8"), "no chain id, but HTTP 200 with text/html"),
        (answering(404, b'{"ok":false}', "application/json"), "no chain id, but HTTP 404 with application/json"),
        (answering(200, b"[]", "application/json"), "no chain id, but HTTP 200 with application/json"),
        (Fault("eth_chainId", rpc_error(-32000, "no key k3y")), "no chain id, but the JSON-RPC error -32000"),
    ],
)
def test_an_address_that_is_no_node_is_recognised_by_its_answer(tmp_path: Path, fault: Fault, detail: str):
    with FaultNode(recorded_chain(), fault) as web_server:
        finding = the_one(chain(settings(tmp_path, rpc_urls=(web_server.url,))))
    assert_mends(finding, "fail", "Set the address of a node in SVC_RPC_URLS")
    assert finding.detail == detail


@pytest.mark.parametrize("host", ["256.1.1.1", "192.0.2.1"])
def test_a_host_of_another_machine_fails(tmp_path: Path, host: str):
    api, _ = ports(settings(tmp_path, host=host, port=free_port(), dagster_port=free_port()))
    assert_mends(api, "fail", "Set SVC_HOST to one")


def test_a_node_of_another_chain_fails(tmp_path: Path, node: RecordedNode):
    finding = the_one(chain(settings(tmp_path, rpc_urls=(node.url,), chain_id=1)))
    assert_mends(finding, "fail", "SVC_CHAIN_ID")
    assert "8453" in finding.detail


def test_a_missing_token_is_a_warning(tmp_path: Path, node: RecordedNode):
    first, *_ = chain(settings(tmp_path, rpc_urls=(node.url,), token_address=None))
    assert_mends(first, "warn", "SVC_TOKEN_ADDRESS")


def test_a_coin_of_18_decimals_fails_since_every_price_would_be_wrong(tmp_path: Path, node: RecordedNode):
    """The recorded token has 18 decimals."""
    token, coin = contracts_on_chain(settings(tmp_path, rpc_urls=(node.url,), usdc_address=TOKEN))
    assert token == Finding("contract token", "ok", TOKEN)
    assert coin == Finding(
        "contract usdc",
        "fail",
        f"{TOKEN} has 18 decimals, and USDC has 6: every price would be wrong, so nothing is sold",
        "Set SVC_USDC_ADDRESS to USDC's contract on chain 8453.",
    )


def test_a_contract_that_has_no_decimals_is_no_coin(tmp_path: Path, node: RecordedNode):
    reverts = Fault("eth_call", rpc_error(3, "execution reverted"))
    with FaultNode(recorded_chain(), reverts) as no_coin:
        _, coin = contracts_on_chain(settings(tmp_path, rpc_urls=(no_coin.url,), usdc_address=TOKEN))
    assert_mends(coin, "fail", "Set SVC_USDC_ADDRESS to USDC's contract on chain 8453.")
    assert coin.detail == f"{TOKEN} has no decimals(), and USDC has 6: every price would be wrong, so nothing is sold"


@pytest.mark.parametrize("name", ["token", "usdc", "pool", "bidwall", "trust_registry", "escrow", "chainlink_feed"])
def test_an_address_without_a_contract_on_the_chain_fails(tmp_path: Path, node: RecordedNode, name: str):
    given = settings(tmp_path, **{"token_address": None, "rpc_urls": (node.url,), f"{name}_address": "0x" + "71" * 20})
    assert the_one(contracts_on_chain(given)) == Finding(
        f"contract {name}",
        "fail",
        "no contract is at 0x7171717171717171717171717171717171717171 on chain 8453",
        f"Correct SVC_{name.upper()}_ADDRESS, or SVC_CHAIN_ID if the chain is another one.",
    )


def test_a_coin_of_6_decimals_is_fine_and_a_treasury_without_code_too(tmp_path: Path, anvil: Anvil):
    coin = TokenChain(anvil).token
    given = settings(
        tmp_path, rpc_urls=(anvil.url,), token_address=coin, usdc_address=coin, treasury_address="0x" + "7e" * 20
    )
    assert list(contracts_on_chain(given)) == [
        Finding("contract token", "ok", coin),
        Finding("contract usdc", "ok", f"{coin}, 6 decimals"),
    ]


def test_contracts_about_which_no_node_reports_anything_are_unknown(tmp_path: Path, node: RecordedNode):
    silent = settings(tmp_path, rpc_urls=("http://127.0.0.1:1/secret",), usdc_address=TOKEN)
    elsewhere = settings(tmp_path, rpc_urls=(node.url,), usdc_address=TOKEN, chain_id=1)
    one_of_two = settings(tmp_path, rpc_urls=(node.url, "http://127.0.0.1:1/secret"), usdc_address=TOKEN)
    for given in (silent, elsewhere, one_of_two):
        finding = the_one(contracts_on_chain(given))
        assert_mends(finding, "warn", "Check SVC_RPC_URLS.")
        assert finding.detail == (
            "unknown whether they exist (SVC_TOKEN_ADDRESS, SVC_USDC_ADDRESS): too few nodes answer, or they disagree"
        )


def test_a_warehouse_of_another_token_fails(tmp_path: Path):
    with Warehouse(tmp_path).connect() as connection:
        stamp(connection, ChainIdentity(8453, "0xab", OTHER, 0))
    assert_mends(the_one(warehouse_opens(settings(tmp_path))), "fail", "SVC_DATA_DIR")
    assert the_one(warehouse_opens(settings(tmp_path, token_address=OTHER))).status == "ok"


def test_a_ledger_of_another_chain_fails(tmp_path: Path):
    held = settings(tmp_path)
    with closing(open_ledger(held, tmp_path)) as ledger:
        ledger.stamp(LedgerIdentity(1, "0xab", TOKEN))
    assert_mends(the_one(ledger_opens(held)), "fail", "SVC_DATA_DIR")


def test_a_damaged_generation_is_found_and_the_cure_mends_it(tmp_path: Path):
    house = House(tmp_path)
    house.read_chain(mint(3), upto=48)
    house.publish(DOCUMENT)
    assert the_one(generation_is_whole(house.settings)).status == "ok"
    damaged = house.current / "public/api/token/holders.json"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    finding = the_one(generation_is_whole(house.settings))
    assert_mends(finding, "fail", f"Delete {tmp_path}/current and run `svc publish`")
    assert "public/api/token/holders.json" in finding.detail

    (tmp_path / "current").unlink()
    house.publish(DOCUMENT)
    assert the_one(generation_is_whole(house.settings)).status == "ok"


def test_a_generation_of_another_address_fails(tmp_path: Path):
    house = House(tmp_path)
    house.read_chain(mint(3), upto=48)
    house.publish(DOCUMENT)
    other = house.settings.model_copy(update={"base_url": "https://other.example"})
    assert_mends(the_one(generation_is_whole(other)), "fail", "SVC_BASE_URL")


def test_before_the_first_generation_the_next_step_is_named(tmp_path: Path):
    assert_mends(the_one(generation_is_whole(settings(tmp_path))), "warn", "svc run")


def test_a_data_directory_that_can_not_be_written_fails(tmp_path: Path):
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    assert_mends(the_one(data_directory(settings(in_the_way / "var"))), "fail", "SVC_DATA_DIR")


def test_modes_that_let_others_read_are_corrected_a_line_for_each_part(tmp_path: Path):
    for name in ("warehouse.duckdb", "holders/1.parquet", "generations/g1/public/llms.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o666)
    tmp_path.chmod(0o711)
    found = list(file_modes(settings(tmp_path, rpc_urls=("http://127.0.0.1:1",))))
    assert {finding.status for finding in found} == {"ok"}
    assert "warehouse.duckdb: 1 with modes such as 0666, now 0600" in {finding.detail for finding in found}
    assert {finding.detail.partition(":")[0] for finding in found} == {"warehouse.duckdb", "holders", "generations"}
    (again,) = file_modes(settings(tmp_path, rpc_urls=("http://127.0.0.1:1",)))
    assert again.detail == "other users can read only what is published"


def test_a_data_directory_that_users_share_is_refused(tmp_path: Path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    held = settings(shared, rpc_urls=("http://127.0.0.1:1",))
    assert_mends(the_one(file_modes(held)), "fail", "SVC_DATA_DIR")


def test_other_stores_are_checked(tmp_path: Path):
    held = settings(tmp_path)
    assert {finding.status for finding in other_stores(held)} == {"ok"}
    (tmp_path / "guardrail.db").write_bytes(b"garbage " * 1000)
    (tmp_path / "dagster").mkdir()
    (tmp_path / "dagster/runs.db").write_bytes(b"garbage " * 1000)
    counters, guardrail, records = other_stores(held)
    assert counters.status == "ok"
    assert_mends(guardrail, "fail", "Move it aside")
    assert_mends(records, "fail", "Dagster creates a new one")


def test_a_taken_port_names_its_setting(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        api, dagster = ports(settings(tmp_path, port=taken.getsockname()[1], dagster_port=free_port()))
    assert_mends(api, "warn", "SVC_PORT")
    assert dagster.status == "ok"


@pytest.mark.parametrize(
    ("host", "fails"),
    [("127.0.0.1", True), ("0.0.0.0", True), ("localhost", True), ("127.0.0.2", False), ("::1", False), ("::", False)],
)
def test_one_port_for_two_fails_where_both_would_listen_on_one_address(tmp_path: Path, host: str, fails: bool):
    port = free_port()
    failed = [
        found for found in ports(settings(tmp_path, host=host, port=port, dagster_port=port)) if found.status == "fail"
    ]
    assert [found.detail for found in failed] == [f"SVC_PORT and SVC_DAGSTER_PORT are both {port}."] * fails
    other = ports(settings(tmp_path, host=host, port=port, dagster_port=free_port()))
    assert [finding.status for finding in other] == ["ok", "ok"]


@pytest.mark.parametrize(
    "wrong", [{"SVC_PROT": "1"}, {"SVC_PORT": "abc"}, {"SVC_TOKEN_ADDRESS": "0x12"}, {"SVC_BASE_URL": "svc.example"}]
)
def test_settings_that_can_not_be_read_end_the_doctor_as_every_command(tmp_path: Path, wrong: dict[str, str]):
    for command in ("doctor", "keys list"):
        ended = called(wrong | {"SVC_DATA_DIR": str(tmp_path)}, *command.split(), "--json")
        assert (ended.exit_code, json.loads(ended.stdout)["ok"]) == (2, False)


@pytest.mark.parametrize(
    ("changes", "detail", "cure"),
    [
        ({"master_secret": "x"}, "SVC_MASTER_SECRET has fewer than 32 characters.", "openssl rand -hex 32"),
        ({"signing_key_file": "junk.pem"}, "holds no private key", "openssl genpkey"),
        ({"signing_key_file": "nowhere.pem"}, "nowhere.pem", "SVC_SIGNING_KEY_FILE"),
    ],
)
def test_an_unusable_secret_or_key_is_reported_before_a_start(
    tmp_path: Path, changes: dict[str, str], detail: str, cure: str
):
    (tmp_path / "junk.pem").write_text("junk")
    named = {name: tmp_path / value if name.endswith("file") else value for name, value in changes.items()}
    found = the_one(_check_findings(secrets, settings(tmp_path / "data", **named)))
    assert (found.check, detail in found.detail) == ("secrets", True)
    assert_mends(found, "fail", cure)


def test_secrets_that_the_first_start_makes_are_fine_before_and_after_it(tmp_path: Path):
    held = settings(tmp_path)
    assert the_one(secrets(held)) == Finding("secrets", "ok", "the first start creates those that are not set")
    assert not list(tmp_path.iterdir())
    SigningKeys(held).current()
    assert the_one(secrets(held)) == Finding("secrets", "ok", "1 signing key")


def test_a_failing_job_is_reported_until_it_recovers(tmp_path: Path):
    def ended(outcome: Outcome, reason: str | None = None) -> None:
        run = EndedRun("chain", outcome, MOMENT, 1.0, reason=reason)
        update_run_status(tmp_path, lambda status: with_run(status, run))

    assert list(jobs(settings(tmp_path))) == []
    ended("failure", "finalized_mismatch")
    ended("failure", "finalized_mismatch")
    found = the_one(jobs(settings(tmp_path)))
    assert found.check == "job chain"
    assert found.detail.startswith("has failed since 2026-11-20 12:00:00 UTC, 2 runs in a row: ")
    assert_mends(found, "fail", "svc pipeline run")
    ended("success")
    assert list(jobs(settings(tmp_path))) == []


def test_a_sound_machine_has_no_failing_line(tmp_path: Path, node: RecordedNode):
    held = settings(tmp_path, rpc_urls=(node.url,), port=free_port(), dagster_port=free_port())
    findings = [finding for check in CHECKS for finding in check(held)]
    assert [finding for finding in findings if finding.status == "fail"] == []
    assert all(finding.cure for finding in findings if finding.status != "ok")


SOURCES = {"partner_url": "https://user:secret@partner.example/key", "coinbase_url": "https://coinbase.example"}
MOMENT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def asked(data_dir: Path, *attempts: Attempt) -> None:
    with Warehouse(data_dir).connect() as connection:
        for attempt in attempts:
            record_attempt(connection, attempt)


def test_each_source_that_is_configured_says_how_it_answered(tmp_path: Path):
    assert list(sources(settings(tmp_path, **SOURCES))) == []
    asked(
        tmp_path,
        Attempt("coinbase", MOMENT, 84, None, Quality.EXACT),
        Attempt("partner", MOMENT - timedelta(hours=1), 210, None, Quality.ESTIMATED),
        Attempt("partner", MOMENT, 3000, "timeout", Quality.UNAVAILABLE),
        Attempt("dexscreener", MOMENT, 5, None, Quality.EXACT),
    )
    coinbase, partner = sources(settings(tmp_path, **SOURCES))
    assert (coinbase.check, coinbase.status) == ("source coinbase", "ok")
    assert coinbase.detail == ("last success 2026-11-20 12:00:00 UTC, 84 ms, 0 of 1 failed in a week, quality exact")
    assert (partner.check, partner.status) == ("source partner", "warn")
    assert partner.detail == "last success 2026-11-20 11:00:00 UTC, 3000 ms, 1 of 2 failed in a week; now timeout"
    assert partner.cure
    assert "secret" not in f"{coinbase}{partner}"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("unknown_pool", "now unknown_pool: the contract is not a known kind of pool"),
        ("other_pair", "now other_pair: the pool trades another token"),
        ("other_curve", "now other_curve: the pool's price can't be computed from its reserves"),
        ("no_pair", "now no_pair: the pool is not a pair of two tokens"),
    ],
)
def test_a_setting_that_names_no_pool_of_the_token_is_reported_with_its_meaning(tmp_path: Path, reason: str, told: str):
    asked(tmp_path, Attempt("pool", MOMENT, 8, reason, Quality.UNAVAILABLE))
    named = {"pool_address": "0x" + "71" * 20, "token_address": "0x" + "70" * 20, "rpc_urls": ("https://n.example",)}
    (finding,) = sources(settings(tmp_path, **named))
    assert (finding.status, finding.cure) == ("warn", "Check SVC_POOL_ADDRESS.")
    assert finding.detail.endswith(told)


def test_a_source_that_never_answered_or_was_never_asked_names_what_to_do(tmp_path: Path):
    asked(tmp_path, Attempt("partner", MOMENT, 8, "http_401", Quality.UNAVAILABLE))
    coinbase, partner = sorted(sources(settings(tmp_path, **SOURCES)), key=lambda finding: finding.check)
    assert_mends(coinbase, "warn", "svc pipeline run")
    assert_mends(partner, "warn", "SVC_PARTNER_URL")
    assert "never" in partner.detail


@pytest.mark.parametrize(
    ("app_url", "secret", "status"),
    [
        (None, None, "ok"),
        ("http://127.0.0.1:3100", None, "ok"),
        ("https://app.example", "the secret of both", "ok"),
        ("https://app.example", None, "fail"),
    ],
)
def test_a_companion_elsewhere_needs_a_shared_secret(app_url: str | None, secret: str | None, status: str):
    [finding] = companion(Settings(_env_file=None, app_url=app_url, handoff_secret=secret))
    assert finding.status == status
    assert ("SVC_HANDOFF_SECRET" in finding.cure) == (status == "fail")


def test_the_nodes_agreement_and_every_dispute_are_shown_with_both_answers(tmp_path: Path, anvil: Anvil):
    token = TokenChain(anvil)
    holder, recipient = "0x" + "a1" * 20, "0x" + "b0" * 20
    token.mint(holder, 100)
    moved = token.move(holder, recipient, 5)
    token.bury()
    with lying_nodes.node(anvil) as one, lying_nodes.node(anvil) as other:
        urls = (one.url, other.url)
        given = settings(tmp_path, rpc_urls=urls)
        assert list(nodes_agree(given)) == []
        with Warehouse(tmp_path).connect() as connection:
            lying_nodes.run(connection, tmp_path, token, one, other)
        agreeing = the_one(nodes_agree(given))
        assert (agreeing.status, "2 of 2 agree" in agreeing.detail) == ("ok", True)
        token.bury()
        one.faults.append(Fault("eth_call", rpc_error(-32000, "missing trie node")))
        with Warehouse(tmp_path).connect() as connection:
            lying_nodes.run(connection, tmp_path, token, one, other)
        assert_mends(the_one(nodes_agree(given)), "warn", "SVC_RPC_URLS")
        one.faults.clear()
        assert isinstance(one.chain, lying_nodes.Through)
        one.chain.lie = lying_nodes.short_by_one(token, moved, holder, recipient)
        token.bury()
        with Warehouse(tmp_path).connect() as connection:
            lying_nodes.run(connection, tmp_path, token, one, other)
        findings = list(nodes_agree(given))
        assert list(nodes_agree(settings(tmp_path, rpc_urls=urls[:1]))) == findings
    assert len(findings) == 2
    for finding in findings:
        assert_mends(finding, "fail", "remove the wrong one")
    assert any(": 4" in finding.detail and ": 5" in finding.detail for finding in findings)
    assert "secret" not in str(findings)


def relaying(data_dir: Path, anvil: Anvil, **changes: object) -> Settings:
    key_file = data_dir / "relayer.key"
    key_file.write_text(RELAYER.key.hex())
    given = {"rpc_urls": (anvil.url,), "usdc_address": OTHER, "treasury_address": OTHER, "relayer_key_file": key_file}
    return settings(data_dir, **given | changes)


def test_without_a_relayer_the_reason_is_named(tmp_path: Path):
    finding = the_one(relayer(settings(tmp_path)))
    assert finding.status == "ok"
    assert finding.detail == "off: SVC_RELAYER_KEY_FILE is unset, so signed payments are not accepted"


def test_the_relayer_s_gas_is_counted_in_settlements(tmp_path: Path, anvil: Anvil):
    given = relaying(tmp_path, anvil)
    rail = rail_of(given)
    seen = {}
    for name, settlements in (("empty", 0), ("few", FEW_SETTLEMENTS - 1), ("enough", FEW_SETTLEMENTS)):
        anvil.rpc.call("anvil_setBalance", RELAYER.address, hex(0))
        head = read_head(rail, asyncio.run(Providers(given.rpc_urls).ask(head_calls(RELAYER.address))))
        assert head is not None
        anvil.rpc.call("anvil_setBalance", RELAYER.address, hex(settlements * GAS_LIMIT * head.fees.fee))
        finding = the_one(relayer(given))
        assert f"gas for {settlements} settlements" in finding.detail
        seen[name] = (finding.status, RELAYER.address.lower() in finding.cure)
    assert seen == {"empty": ("fail", True), "few": ("warn", True), "enough": ("ok", False)}


def test_a_relayer_that_can_not_be_used_says_why(tmp_path: Path, anvil: Anvil):
    given = relaying(tmp_path, anvil, treasury_address=None)
    assert_mends(the_one(relayer(given)), "warn", "SVC_TREASURY_ADDRESS")
    silent = relaying(tmp_path, anvil, rpc_urls=("http://127.0.0.1:1/secret",))
    assert_mends(the_one(relayer(silent)), "warn", "SVC_RPC_URLS")
    given.relayer_key_file.write_text("no key")
    (finding,) = _check_findings(relayer, given)
    assert_mends(finding, "fail", "openssl rand -hex 32")
    assert "no key" not in finding.detail


def test_a_collector_that_takes_traces_is_fine_and_one_that_is_away_is_named(tmp_path: Path):
    with running_collector() as running:
        (fine,) = collector(settings(tmp_path, otlp_url=running.url))
    (away,) = collector(settings(tmp_path, otlp_url=running.url))
    assert (fine.status, fine.detail) == ("ok", "127.0.0.1 accepts traces")
    assert (away.status, away.detail) == ("warn", "127.0.0.1 accepts no traces (ConnectError)")
