"""Workers read partitions from nodes, and the host that publishes follows them: for its token and for further ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import dagster as dg
import pytest
from faulty_store import FORBIDDEN, UNAVAILABLE, faulty_store
from ingest_helpers import TOKEN, ingest_once
from many_tokens import BAD, LOGS, SECOND, SILENT, ManyTokensChain, follow_all, make_all, settings_of_tokens
from object_stores import BUCKET, local_s3

from cli.demo.recorded import RecordedNode
from contracts.errors import ObjectStoreAway, PartitionBroken, PartitionNotSigned
from contracts.settings import Settings
from contracts.token.further_tokens import TokenState
from pipelines.definitions import build_definitions
from pipelines.headless import _facts
from pipelines.token.partition_following import Followed, follow_partitions
from warehouse.duck.connection import Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.further_token_files import published_files
from warehouse.token.partition_store import partition_store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_of_tokens(tmp_path)


def test_every_token_of_a_partition_is_read_with_one_request_and_a_broken_one_stops_no_other(settings):
    chain = ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)
    with RecordedNode(chain) as node:
        reports = make_all(settings, node.url, newest_first=True)
        assert {tuple(asked) for asked in chain.asked} == {(SECOND, TOKEN, BAD)}
        with Warehouse(settings.data_dir).connect() as connection:
            followed = follow_partitions(connection, settings, 198)
            rows = connection.execute("select count(*) from raw_chain__transfers").fetchall()
        tokens = follow_all(settings, node.url)
    assert [(report.partition.first, sorted(report.broken)) for report in reports] == [(100, []), (50, [BAD]), (0, [])]
    assert (followed.partitions, followed.transfers, followed.waiting, rows) == (3, 6, None, [(6,)])
    second, bad = tokens[SECOND], tokens[BAD]
    assert (second.state, second.block, second.holders, second.transfers) == (TokenState.PROVEN, 149, 2, 6)
    assert second.proof is not None and second.proof.total_supply == "30"
    assert (bad.state, bad.block) == (TokenState.BROKEN, 49)
    assert bad.reason == "blocks 50 to 99: a log row in an unknown form: Expected `str` of length >= 66 - at `$.data`"
    published = dict(published_files(settings.data_dir))
    assert {path.rpartition("/")[2] for path in published if SECOND in path} >= {
        "token.json",
        "holders.parquet",
        "holders-149.csv.gz",
    }
    assert second.proof.holder_list.path in published
    assert json.loads(published["/data/tokens/index.json"].read_bytes())["tokens"][0]["document"] in published


class Refusing(BaseHTTPRequestHandler):
    """A store that answers every request with one status."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@contextmanager
def refusing_store(status: HTTPStatus, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yields the address of a store that is overloaded, or that this process may not read."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Refusing,), {"status": status}))
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_address[1]}")
        for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("REGION", "us-east-1")):
            monkeypatch.setenv(f"AWS_{name}", value)
        yield "s3://bucket/svc"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("status", [HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.FORBIDDEN])
def test_an_unreachable_store_is_waited_for_and_the_last_list_of_a_further_token_stays(settings, monkeypatch, status):
    chain = ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)
    with RecordedNode(chain) as node:
        make_all(settings, node.url)
        before = follow_all(settings, node.url)
        with refusing_store(status, monkeypatch) as url:
            away = settings.model_copy(update={"publish_url": url})
            assert follow_all(away, node.url) == before
            with Warehouse(settings.data_dir).connect() as connection:
                waiting = follow_partitions(connection, away, 198).waiting
    assert waiting is not None and waiting.startswith("The object store s3://bucket/svc/partitions/8453 can't be used")


def test_workers_and_the_publishing_host_bear_every_fault_of_an_s3_and_lose_nothing(settings, monkeypatch):
    chain = ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)
    with RecordedNode(chain) as node, local_s3() as variables, faulty_store(variables["AWS_ENDPOINT_URL"]) as store:
        for name, value in (variables | {"AWS_ENDPOINT_URL": store.url}).items():
            monkeypatch.setenv(name, value)
        url = f"s3://{BUCKET}/faults"
        settings = settings.model_copy(update={"publish_url": url})

        def follow() -> Followed:
            with Warehouse(settings.data_dir).connect() as connection:
                return follow_partitions(connection, settings, 198)

        for store.refuses, word in ((UNAVAILABLE, "503"), (FORBIDDEN, "403")):
            with pytest.raises(
                ObjectStoreAway, match=rf"^The object store {url}/partitions/8453 can't be used: .*{word}"
            ):
                make_all(settings, node.url)
        store.heal()
        assert partition_store(settings).names() == {}
        store.delay_s = 0.1
        assert len(make_all(settings, node.url)) == 3
        store.heal()
        store.alters = True
        with pytest.raises(PartitionBroken, match=r"does not hold .* as it was written"):
            follow()
        store.refuses = UNAVAILABLE
        assert "can't be used" in str(follow().waiting)
        store.heal()
        assert (follow().partitions, follow()) == (3, Followed())


def test_the_host_waits_for_partitions_and_only_reads_the_head_itself(settings):
    chain = ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)
    settings = settings.model_copy(update={"tokens_file": None})

    def follow(final_block: int = 198) -> Followed:
        with Warehouse(settings.data_dir).connect() as connection:
            return follow_partitions(connection, settings, final_block)

    with RecordedNode(chain) as node:
        assert follow().waiting == "blocks 0 to 49, which no worker has stored yet"
        make_all(settings, node.url)
        assert follow() == Followed(transfers=6, partitions=3)
        with Warehouse(settings.data_dir).connect() as connection:
            report = ingest_once(connection, node.url)
            assert (report.from_block, report.to_block, report.complete) == (150, 198, True)
            fold_balances(connection)
            chain.advance_to(320)
            assert follow_partitions(connection, settings, 318) == Followed(read_to=199)
            report = ingest_once(connection, node.url, up_to=199)
            assert (report.to_block, report.complete) == (199, False)
            waiting = follow_partitions(connection, settings, 318).waiting
            assert waiting == "blocks 200 to 249, which no worker has stored yet"
            assert connection.execute("select sum(log_count) from raw_chain__ranges").fetchall() == [(8,)]


def test_a_further_token_without_anything_new_costs_no_request(settings):
    settings = settings.model_copy(update={"tokens_file": settings.tokens_file.with_name("one.json")})
    settings.tokens_file.write_text(json.dumps([{"address": SECOND, "first_block": 4}]))
    chain = ManyTokensChain(TOKEN, SECOND, logs=LOGS[:14], head=200)
    with RecordedNode(chain) as node:
        make_all(settings, node.url)
        before = follow_all(settings, node.url)
        asked = chain.calls
        assert follow_all(settings, node.url) == before
    assert before[SECOND].state is TokenState.PROVEN
    assert chain.calls - asked == 4  # chain id, first, newest and final block


def test_an_address_without_a_contract_is_broken_until_there_is_one(settings):
    settings.tokens_file.write_text(json.dumps([{"address": SILENT, "first_block": 4}]))
    with RecordedNode(ManyTokensChain(TOKEN, logs=LOGS, head=200)) as node:
        make_all(settings, node.url)
        mistyped = follow_all(settings, node.url)[SILENT]
    with RecordedNode(ManyTokensChain(TOKEN, SILENT, logs=LOGS, head=200)) as node:
        deployed = follow_all(settings, node.url)[SILENT]
    assert (mistyped.state, mistyped.reason, mistyped.block) == (TokenState.BROKEN, "no_contract", None)
    assert (deployed.state, deployed.reason, deployed.block) == (TokenState.PROVEN, None, 149)


def test_partitions_that_somebody_else_stored_are_refused_and_only_the_log_names_the_store(settings, caplog):
    with RecordedNode(ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)) as node:
        make_all(settings, node.url)
        for manifest in (settings.data_dir.parent / "store").rglob("*.json"):
            manifest.write_bytes(manifest.read_bytes().replace(b'"kid":"', b'"kid":"x'))
        token = follow_all(settings, node.url)[SECOND]
        with Warehouse(settings.data_dir).connect() as connection, pytest.raises(PartitionNotSigned):
            follow_partitions(connection, settings, 198)
    assert (token.state, token.reason, token.block) == (TokenState.BROKEN, "partition_not_signed", None)
    assert "is not signed by a key of this service. Give the workers the SVC_SIGNING_KEY_FILE" in caplog.text


def test_the_steps_of_the_chain_job_take_over_what_workers_stored_and_say_so(settings):
    chain = ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)
    steps = [dg.AssetKey(name) for name in ("raw_chain__transfers", "raw_chain__ranges", "raw_chain__tip_transfers")]
    with RecordedNode(chain) as node, dg.DagsterInstance.ephemeral() as instance:
        settings = settings.model_copy(update={"rpc_urls": (node.url,)})
        job = build_definitions(settings).resolve_job_def("chain")

        def run(*keys: dg.AssetKey) -> dict[str, Any]:
            result = job.execute_in_process(instance=instance, asset_selection=list(keys))
            return _facts(result)[0]

        before = run(*steps)
        assert before["raw_chain__ranges"]["waiting_for"] == "blocks 0 to 49, which no worker has stored yet"
        make_all(settings, node.url)
        after = run(*steps, dg.AssetKey("further_tokens"))
    assert (after["raw_chain__transfers"]["new_partitions"], after["raw_chain__transfers"]["new_transfers"]) == (3, 2)
    assert (after["raw_chain__transfers"]["row_count"], after["raw_chain__transfers"]["complete"]) == (8, True)
    assert (after["further_tokens"]["proven"], after["further_tokens"]["broken"]) == (1, 1)
