"""Further tokens in a generation: their own files below /data/tokens/, in the signed manifest, and no datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from html_pages import Read
from ingest_helpers import CHAIN_ID
from publishing import DOCUMENTS, House, mint

from api.discovery.router import broken_tokens
from contracts.token.further_tokens import TokenState, broken_token, waiting_token
from contracts.token.partitions import FurtherToken
from warehouse.token.further_token_files import write_index, write_published

PAGE = "/data/index.html"
ONE, BAD = "0x" + "01" * 20, "0x" + "bb" * 20


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house with two further tokens after its first publish; only to be copied."""
    house = House(tmp_path_factory.mktemp("published"))
    house.read_chain(mint(3), 20)
    tokens = [waiting_token(FurtherToken(address=address, first_block=7), CHAIN_ID) for address in (ONE, BAD)]
    tokens[1] = broken_token(tokens[1], "blocks 0 to 49: a log row in an unknown form")
    for token in tokens:
        write_published(house.data_dir, token)
    write_index(house.data_dir, tokens)
    house.publish(*DOCUMENTS, PAGE)
    return house


@pytest.fixture
def house(published: House, tmp_path: Path) -> House:
    return published.copied(tmp_path)


def test_further_tokens_are_published_with_their_state_and_no_dataset(house):
    data = house.current / "public/data"
    index = json.loads((data / "tokens/index.json").read_bytes())
    assert [(token["address"], token["state"]) for token in index["tokens"]] == [(ONE, "waiting"), (BAD, "broken")]
    manifest = json.loads((data / "manifest.json").read_bytes())
    assert {path for path in manifest["files"] if path.startswith("/data/tokens/")} == {
        "/data/tokens/index.json",
        f"/data/tokens/{ONE}/token.json",
        f"/data/tokens/{BAD}/token.json",
    }
    assert broken_tokens(house.current.resolve()) == (BAD,)


def test_published_further_tokens_are_on_the_page_of_open_data(house):
    def told() -> str:
        return " ".join(Read((house.current / f"public{PAGE}").read_text()).text.split())

    assert "Further tokens" in told() and "broken blocks 0 to 49: a log row in an unknown form" in told()
    house.republish_stale()
    assert "Further tokens" in told()
    write_index(house.data_dir, [])
    house.publish(*DOCUMENTS, PAGE)
    assert "Further tokens" not in told()


def test_a_token_removed_from_the_tokens_file_is_missing_from_the_next_generation(house):
    (token,) = [waiting_token(FurtherToken(address=ONE, first_block=7), CHAIN_ID)]
    write_index(house.data_dir, [token])
    house.publish(*DOCUMENTS)
    names = [path.name for path in sorted((house.current / "public/data/tokens").iterdir())]
    assert names == [ONE, "index.json", "index.json.gz"]
    assert token.state is TokenState.WAITING
    assert broken_tokens(house.current.resolve()) == ()
