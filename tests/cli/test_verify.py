"""`svc verify` proves again what is published, from the file and a node only, and no tampering passes."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
import typer
from holder_rows import TOKEN, Row, address, block_hash, put_transfers

from cli.demo.recorded import RecordedChain, RecordedNode, transfer_log
from cli.verify import NothingToVerify, run_checks, verify
from contracts.discovery.installation import Installation
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, render
from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.holders import ZERO_ADDRESS
from contracts.token.proof import ContractAnswers, Proof, SampledBalances, Verdict
from contracts.token.verification import (
    Check,
    ClaimedList,
    Outcome,
    PublishedList,
    chain_checks,
    explained_verdict,
    read_list,
    verdict_of,
)
from pipelines.clients.rpc import RpcPool
from pipelines.token.holder_lists import take_list
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Warehouse
from warehouse.publish.readers import read
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import lists_dir
from warehouse.token.holder_status import record_status

BLOCK = 40
NOW = datetime(2026, 2, 1, tzinfo=UTC)
ROWS: list[Row] = [
    *((number, ZERO_ADDRESS, address(0x1000 + number), 10**30 + number // 3) for number in range(1, 31)),
    (31, address(0x1001), address(0x2000), 10**29),
    (32, address(0x1002), ZERO_ADDRESS, 10**30),
    (33, address(0x1003), address(0x1003), 5),
]
HOLDERS, MAP, FILE = "/api/token/holders", "/api/token/holders-map", f"/data/holders-{BLOCK}.csv.gz"

Site = dict[str, bytes]


def recorded_chain(chain_id: int = 8453, **odd: Any) -> RecordedChain:
    logs = [transfer_log(TOKEN, block, 0, sender, recipient, value) for block, sender, recipient, value in ROWS]
    return RecordedChain(chain_id=chain_id, token=TOKEN, logs=logs, first_block=1, head=BLOCK + 2, **odd)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Returns what a service publishes: path -> bytes."""
    data_dir, chain = tmp_path_factory.mktemp("site"), recorded_chain()

    async def take(connection: Any, url: str) -> None:
        async with RpcPool([url], chain_id=8453) as pool:
            await take_list(
                connection,
                pool,
                data_dir,
                token=Token(address=TOKEN, name="Recorded token", symbol="REC", decimals=18),
                level=ConsistencyLevel.FINALIZED,
                snapshot_reason=None,
                now=NOW,
            )

    with RecordedNode(chain) as node, Warehouse(data_dir).connect() as connection:
        put_transfers(connection, ROWS, BLOCK)
        connection.execute("update raw_chain__ranges set to_block_hash = ?", [chain.block_hash(BLOCK)])
        fold_balances(connection)
        asyncio.run(take(connection, node.url))
        record_status(
            connection,
            chain_id=8453,
            token=Token(address=TOKEN, name=None, symbol=None, decimals=18),
            start_block=1,
            finalized_block=BLOCK,
            now=NOW,
        )
        context = DocumentContext(connection, lists_dir(data_dir), Installation("http://site.example"))
        documents = {
            projection.path: render(projection, read(projection, context), Origin("g1", NOW))
            for projection in PROJECTIONS
            if projection.path in (HOLDERS, MAP)
        }
    return {**documents, FILE: (lists_dir(data_dir) / f"holders-{BLOCK}.csv.gz").read_bytes()}


@pytest.fixture
def node() -> Iterator[RecordedNode]:
    with RecordedNode(recorded_chain()) as opened:
        yield opened


def checked(site: Site, *rpc_urls: str) -> dict[str, Outcome]:
    def answer(request: httpx.Request) -> httpx.Response:
        content = site.get(request.url.path)
        return httpx.Response(404) if content is None else httpx.Response(200, stream=httpx.ByteStream(content))

    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        return {each.name: each.outcome for each in run_checks(client, "http://site.example", rpc_urls)}


@contextmanager
def served(site: Site) -> Iterator[str]:
    """Serves the site on a port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = site.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: Any) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def failing(site: Site, rpc_url: str) -> set[str]:
    return {name for name, outcome in checked(site, rpc_url).items() if outcome is Outcome.FAIL}


def with_document(site: Site, path: str, change: Callable[[Any], None]) -> Site:
    document = json.loads(site[path])
    change(document)
    return {**site, path: json.dumps(document).encode()}


def with_list(site: Site, lines: list[str], *, hash_too: bool = True) -> Site:
    """Returns the site with another list file; with `hash_too`, the proof contains that file's hash."""
    packed = gzip.compress("".join(line + "\n" for line in lines).encode())

    def rename(document: Any) -> None:
        named = document["consistency"]["proof"]["holderList"]
        named |= {"sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed)}

    changed = {**site, FILE: packed}
    return with_document(changed, HOLDERS, rename) if hash_too else changed


def lines_of(site: Site) -> list[str]:
    return gzip.decompress(site[FILE]).decode().splitlines()


def test_an_honest_site_is_proven_by_every_check(site: Site, node: RecordedNode) -> None:
    outcomes = checked(site, node.url)
    assert set(outcomes.values()) == {Outcome.OK}
    assert list(outcomes) == [
        "claimed verdict", "one block", "minted - burned", "supply of the document", "list file", "list rows",
        "list length", "list sum", "holder map", "chain", "block hash", "totalSupply", "balanceOf",
    ]  # fmt: skip


def test_agreement_is_shown_where_the_publisher_or_the_verifier_asks_several_nodes(
    site: Site, node: RecordedNode
) -> None:
    def disputed(document: Any) -> None:
        nodes = document["consistency"]["proof"]["nodes"]
        nodes["asked"] = 2
        nodes["disputes"] = [
            {
                "fact": "balance",
                "subject": address(1),
                "block": BLOCK,
                "answers": [{"host": "a", "answer": "1"}, {"host": "b", "answer": "2"}],
                "firstSeenAt": "2026-02-01T00:00:00Z",
                "lastSeenAt": "2026-02-01T00:00:00Z",
                "settledAt": None,
                "settledBy": None,
            }
        ]

    assert failing(with_document(site, HOLDERS, disputed), node.url) == {"nodes"}
    with RecordedNode(recorded_chain()) as other:
        outcomes = checked(site, node.url, other.url)
    assert (outcomes["own nodes"], set(outcomes.values())) == (Outcome.OK, {Outcome.OK})


def test_nodes_of_the_verifier_that_differ_are_a_failure(site: Site, node: RecordedNode) -> None:
    logs = [transfer_log(TOKEN, block, 0, sender, recipient, value + 1) for block, sender, recipient, value in ROWS]
    other = RecordedChain(chain_id=8453, token=TOKEN, logs=logs, first_block=1, head=BLOCK + 2)
    with RecordedNode(other) as odd:
        assert checked(site, node.url, odd.url)["own nodes"] is Outcome.FAIL


def test_a_changed_file_is_caught_by_its_hash(site: Site, node: RecordedNode) -> None:
    lines = lines_of(site)
    assert "list file" in failing(with_list(site, [*lines[:-1]], hash_too=False), node.url)
    assert "list file" in failing({**site, FILE: site[FILE][:-1] + b"\1"}, node.url)
    assert {"list file", "list rows"} <= failing({**site, FILE: b"no gzip"}, node.url)
    assert "list file" in failing({path: body for path, body in site.items() if path != FILE}, node.url)


def test_a_changed_balance_is_caught_even_where_hash_and_sum_were_made_to_fit(site: Site, node: RecordedNode) -> None:
    lines = lines_of(site)
    (first, big), (last, small) = (line.split(",") for line in (lines[1], lines[-1]))
    moved = [lines[0], f"{first},{int(big) + 1}", *lines[2:-1], f"{last},{int(small) - 1}"]
    assert failing(with_list(site, moved), node.url) == {"balanceOf", "holder map"}


def test_a_changed_sum_is_caught(site: Site, node: RecordedNode) -> None:
    def more(document: Any) -> None:
        proof = document["consistency"]["proof"]
        for name in ("sumOfBalances", "totalSupply", "minted"):
            proof[name] = str(int(proof[name]) + 1)
        document["totalSupplyRaw"] = proof["totalSupply"]

    assert failing(with_document(site, HOLDERS, more), node.url) == {"list sum", "totalSupply"}
    lines = lines_of(site)
    dropped = [*lines[:-1]]
    assert {"list length", "list sum", "totalSupply"} <= failing(with_list(site, dropped), node.url)


def test_a_supply_other_than_the_sum_of_the_rows_is_named_next_to_the_published_one() -> None:
    proof = Proof(
        block=48, block_hash=block_hash(48), sum_of_balances="95", total_supply="100", minted="95", burned="0",
        negative_balances=0, sampled_balance_of=SampledBalances(checked=0, equal=0), ranges_reasked=0,
        verdict=Verdict.FAILED, reason="supply_mismatch", holder_list=None,
    )  # fmt: skip
    claim = ClaimedList(TOKEN, 8453, 48, block_hash(48), "/data/holders-48.csv.gz", 1, proof)
    answers = ContractAnswers(total_supply=100, balance_of_zero=0, balances=(), block_hash=block_hash(48))
    found = {line.name: line for line in chain_checks(claim, PublishedList([(address(1), 95)], None), answers)}
    supply = found["totalSupply"]
    assert (supply.outcome, supply.detail) == (Outcome.FAIL, "100, published 100, sum of the list 95")


@pytest.mark.parametrize(
    ("name", "value", "caught"),
    [
        ("minted", "1", "minted - burned"),
        ("negativeBalances", 2, "minted - burned"),
        ("totalSupply", "5", "supply of the document"),
        ("blockHash", "0x" + "00" * 32, "one block"),
        ("verdict", "failed", "claimed verdict"),
    ],
)
def test_a_proof_that_contradicts_itself_is_caught(
    site: Site, node: RecordedNode, name: str, value: Any, caught: str
) -> None:
    def change(document: Any) -> None:
        document["consistency"]["proof"][name] = value

    assert caught in failing(with_document(site, HOLDERS, change), node.url)


def test_a_map_that_differs_from_the_list_is_caught(site: Site, node: RecordedNode) -> None:
    def swap(document: Any) -> None:
        rows = document["holders"]
        rows[0]["address"], rows[1]["address"] = rows[1]["address"], rows[0]["address"]

    assert failing(with_document(site, MAP, swap), node.url) == {"holder map"}


def test_another_block_hash_or_another_chain_is_caught(site: Site, node: RecordedNode) -> None:
    def other_hash(document: Any) -> None:
        document["consistency"]["blockHash"] = document["consistency"]["proof"]["blockHash"] = "0x" + "11" * 32

    assert failing(with_document(site, HOLDERS, other_hash), node.url) == {"block hash"}
    with RecordedNode(recorded_chain(chain_id=1)) as elsewhere:
        assert failing(site, elsewhere.url) == {"chain"}


def test_a_node_that_lost_the_state_is_asked_at_its_newest_block(site: Site) -> None:
    with RecordedNode(recorded_chain(state_depth=1)) as pruned:
        assert set(checked(site, pruned.url).values()) == {Outcome.OK}


def test_a_node_without_answers_leaves_it_unproven_and_not_failed(site: Site) -> None:
    with RecordedNode(recorded_chain(has_state=False)) as silent:
        outcomes = checked(site, silent.url)
    unknown = {name for name, outcome in outcomes.items() if outcome is Outcome.UNKNOWN}
    assert unknown == {"totalSupply", "balanceOf"} and Outcome.FAIL not in outcomes.values()


def test_a_site_without_a_list_or_without_documents_is_an_operators_problem(site: Site, node: RecordedNode) -> None:
    with pytest.raises(NothingToVerify):
        checked({}, node.url)
    with pytest.raises(NothingToVerify):
        checked({**site, HOLDERS: b'{"ok": true}'}, node.url)

    def not_yet(document: Any) -> None:
        document |= {"consistency": None, "quality": "unavailable", "reason": "backfilling"}

    with pytest.raises(NothingToVerify):
        checked(with_document(site, HOLDERS, not_yet), node.url)


def test_a_site_that_is_asked_too_often_says_when_to_try_again() -> None:
    limited = httpx.MockTransport(lambda _: httpx.Response(429, headers={"Retry-After": "51"}))
    with httpx.Client(transport=limited) as client, pytest.raises(NothingToVerify) as caught:
        next(run_checks(client, "http://svc.example", []))
    assert caught.value.cure == "Try again in 51 s."


def test_the_command_prints_a_line_per_check_and_fails_unless_proven(
    site: Site, node: RecordedNode, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(site) as url:
        verify(url + "/", node.url, as_json=False)
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "verdict: proven" and len(printed) == 14
    lines = lines_of(site)
    with served(with_list(site, lines[:-1])) as url, pytest.raises(typer.Exit) as left:
        verify(url, node.url, as_json=True)
    assert left.value.exit_code == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["verdict"]) == (False, "failed")
    with pytest.raises(typer.Exit):
        verify("http://127.0.0.1:9", node.url, as_json=True)
    assert json.loads(capsys.readouterr().out)["code"] == "nothing_to_verify"


@pytest.mark.parametrize(
    ("url", "rpc"),
    [
        ("http://[::1", "http://127.0.0.1:9"),
        ("127.0.0.1:9", "http://127.0.0.1:9"),
        ("http://xn--a", "http://127.0.0.1:9"),
        ("http://a", "http://a:x"),
    ],
)
def test_an_invalid_address_is_an_operators_problem(url: str, rpc: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        verify(url, rpc, as_json=True)
    assert json.loads(capsys.readouterr().out)["code"] == "settings_invalid"


A, B = address(0xA).encode(), address(0xB).encode()


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([], None),
        ([b"address;balance\n"], "line 1 is not the header address,balance_raw"),
        ([b"address,balance_raw\n", A + b",5\n", B + b",5\n"], None),
        ([b"address,balance_raw\n", B + b",5\n", A + b",5\n"], "line 3 is out of order"),
        ([b"address,balance_raw\n", A + b",5\n", B + b",6\n"], "line 3 is out of order"),
        ([b"address,balance_raw\n", A + b",5\n", A + b",4\n"], f"line 3 repeats {A.decode()}"),
        ([b"address,balance_raw\n", A + b",0\n"], "line 2 is not an address and a balance above zero"),
        ([b"address,balance_raw\n", A + b",-5\n"], "line 2 is not an address and a balance above zero"),
        ([b"address,balance_raw\n", A.upper() + b",5\n"], "line 2 is not an address and a balance above zero"),
        ([b"address,balance_raw\n", A + b",5"], "line 2 is not an address and a balance above zero"),
        (
            [b"address,balance_raw\n", A + b",3\n", B + b",2\n", address(0xC).encode() + b",1\n"],
            "there are more than 2 rows",
        ),
    ],
)
def test_lines_of_a_list_are_read_strictly(lines: list[bytes], fault: str | None) -> None:
    assert read_list(lines, max_rows=2).fault == fault


@pytest.mark.parametrize(
    ("outcomes", "verdict", "words"),
    [
        ([], Verdict.UNPROVEN, "unproven"),
        (["ok", "ok"], Verdict.PROVEN, "proven"),
        (["ok", "unknown"], Verdict.UNPROVEN, "unproven, since 1 of 2 checks could not be decided: check 1"),
        (["fail", "unknown"], Verdict.FAILED, "failed, since 1 of 2 checks did not pass: check 0"),
        (
            ["fail"] * 7,
            Verdict.FAILED,
            "failed, since 7 of 7 checks did not pass: check 0; check 1; check 2; check 3; check 4 and 2 more",
        ),
    ],
)
def test_the_verdict_names_the_checks_that_it_follows_from(outcomes: list[str], verdict: Verdict, words: str) -> None:
    checks = [Check(f"check {number}", Outcome(outcome), "") for number, outcome in enumerate(outcomes)]
    assert (verdict_of(checks), explained_verdict(checks)) == (verdict, words)
