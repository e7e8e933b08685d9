"""`svc verify` proves further tokens as it proves the service token: from their files and a node."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from ingest_helpers import CHAIN_ID, TOKEN, pool_of
from many_tokens import BAD, LOGS, SECOND, ManyTokensChain, follow_all, make_all, settings_of_tokens

from cli.demo.recorded import RecordedNode
from cli.verify import NothingToVerify, run_checks
from contracts.discovery.installation import Installation
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, render
from contracts.settings import Settings
from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.verification import Check, Outcome, explained_verdict
from pipelines.token.holder_lists import take_list
from pipelines.token.partition_following import follow_partitions
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Warehouse
from warehouse.publish.readers import read
from warehouse.token.further_token_files import published_files
from warehouse.token.holder_lists import lists_dir
from warehouse.token.holder_status import record_status

NOW = datetime(2026, 2, 1, tzinfo=UTC)
HOLDERS, MAP = "/api/token/holders", "/api/token/holders-map"
SECOND_TOKEN = f"/data/tokens/{SECOND}/token.json"
SECOND_LIST = f"/data/tokens/{SECOND}/holders-149.csv.gz"

Site = dict[str, bytes]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Returns the files of a service with further tokens: path -> bytes."""
    settings = settings_of_tokens(tmp_path_factory.mktemp("site"))
    with RecordedNode(ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)) as node:
        make_all(settings, node.url)
        follow_all(settings, node.url)
        documents = of_service_token(settings, node.url)
    return documents | {path: file.read_bytes() for path, file in published_files(settings.data_dir)}


def of_service_token(settings: Settings, url: str) -> Site:
    token = Token(address=TOKEN, name="Recorded token", symbol="REC", decimals=18)
    with Warehouse(settings.data_dir).connect() as connection:
        follow_partitions(connection, settings, 198)

        async def take() -> None:
            async with pool_of(url) as pool:
                level = ConsistencyLevel.FINALIZED
                await take_list(
                    connection, pool, settings.data_dir, token=token, level=level, snapshot_reason=None, now=NOW
                )

        asyncio.run(take())
        record_status(connection, chain_id=CHAIN_ID, token=token, start_block=0, finalized_block=198, now=NOW)
        context = DocumentContext(connection, lists_dir(settings.data_dir), Installation("http://site.example"))
        rows = [row for row in PROJECTIONS if row.path in (HOLDERS, MAP)]
        documents = {row.path: render(row, read(row, context), Origin("g1", NOW)) for row in rows}
    lists = {f"/data/{path.name}": path.read_bytes() for path in lists_dir(settings.data_dir).glob("*.csv.gz")}
    return documents | lists


def checked(site: Site, token: str | None = None) -> dict[str, Check]:
    def answer(request: httpx.Request) -> httpx.Response:
        content = site.get(request.url.path)
        return httpx.Response(404) if content is None else httpx.Response(200, stream=httpx.ByteStream(content))

    with (
        RecordedNode(ManyTokensChain(TOKEN, SECOND, BAD, logs=LOGS, head=200)) as node,
        httpx.Client(transport=httpx.MockTransport(answer)) as client,
    ):
        return {found.name: found for found in run_checks(client, "http://site.example", [node.url], token)}


def failing(site: Site) -> set[str]:
    checks = checked(site, SECOND).values()
    return {found.name.removeprefix(f"{SECOND} ") for found in checks if found.outcome is Outcome.FAIL}


def changed(site: Site, change: Callable[[Any], object], path: str = SECOND_TOKEN) -> Site:
    document = json.loads(site[path])
    change(document)
    return {**site, path: json.dumps(document).encode()}


def with_list(site: Site, lines: list[str]) -> Site:
    """Returns the site with another list whose hash the token's document contains."""
    packed = gzip.compress("".join(line + "\n" for line in lines).encode())
    named = {"sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed)}
    return changed({**site, SECOND_LIST: packed}, lambda token: token["proof"]["holderList"].update(named))


def test_every_token_is_proven_and_a_broken_one_leaves_the_whole_unproven(site: Site) -> None:
    checks = checked(site)
    why = (
        "broken (blocks 50 to 99: a log row in an unknown form: Expected `str` of length >= 66 - at `$.data`): its "
        "history can't be read further, and its newest list is of block 49"
    )
    assert (checks[f"{BAD} state"].outcome, checks[f"{BAD} state"].detail) == (Outcome.UNKNOWN, why)
    assert checks[f"{BAD} index"].detail == "broken at block 49"
    assert {found.outcome for name, found in checks.items() if BAD not in name} == {Outcome.OK}
    undecided = "; ".join(f"{BAD} {name}" for name in ("state", "claimed verdict", "totalSupply", "balanceOf"))
    assert explained_verdict([*checks.values()]) == (
        f"unproven, since 4 of {len(checks)} checks could not be decided: {undecided}"
    )
    of_second = [name.removeprefix(f"{SECOND} ") for name in checks if SECOND in name]
    assert of_second == [
        "index", "state", "claimed verdict", "one block", "minted - burned", "list file", "list rows", "list length",
        "list sum", "chain", "block hash", "totalSupply", "balanceOf",
    ]  # fmt: skip
    assert [name for name in checks if "0x" not in name] == [
        "claimed verdict", "one block", "minted - burned", "supply of the document", "list file", "list rows",
        "list length", "list sum", "holder map", "chain", "block hash", "totalSupply", "balanceOf",
    ]  # fmt: skip


def test_one_token_can_be_verified_alone(site: Site) -> None:
    checks = checked(site, SECOND)
    assert {found.outcome for found in checks.values()} == {Outcome.OK}
    assert all(SECOND in name for name in checks)
    assert not any(SECOND in name for name in checked(site, TOKEN))
    with pytest.raises(NothingToVerify, match="publishes no list of 0x55"):
        checked(site, "0x" + "55" * 20)


@pytest.mark.parametrize(
    ("change", "caught"),
    [
        (lambda token: token.update(state="failed"), {"index", "state"}),
        (lambda token: token.update(holders=3), {"index", "list length"}),
        (lambda token: token["proof"].update(minted="31"), {"minted - burned"}),
        (lambda token: token["proof"]["holderList"].update(sha256="0" * 64), {"list file"}),
        (lambda token: token.update(chainId=1), {"chain"}),
        (lambda token: token.update(blockHash="0x" + "11" * 32), {"one block", "block hash"}),
    ],
)
def test_a_change_in_a_further_tokens_document_is_caught(
    site: Site, change: Callable[[Any], object], caught: set[str]
) -> None:
    assert failing(changed(site, change)) == caught


def test_a_change_in_a_further_tokens_list_is_caught(site: Site) -> None:
    header, first, second = gzip.decompress(site[SECOND_LIST]).decode().splitlines()
    (one, most), (other, least) = first.split(","), second.split(",")
    moved = [header, f"{one},{int(most) + 1}", f"{other},{int(least) - 1}"]
    assert failing(with_list(site, moved)) == {"balanceOf"}
    assert failing(with_list(site, [header, first])) == {"list length", "list sum", "totalSupply"}
