from pathlib import Path

import msgspec
import pytest
from rounds import chosen
from shared_state import copy_with_links

from contracts.settings import load_settings
from pipelines.initial_publish import publish_initial
from pipelines.publish.generation import PublishReport, republish_stale
from warehouse.publish.generations import current_generation

TOKEN = "0x" + "70" * 20
TO_COME = {"rpc_urls": ("http://127.0.0.1:9",), "token_address": TOKEN}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, PublishReport]:
    """The directory and the report of a publish before anything is read; only to be read and copied."""
    data_dir = tmp_path_factory.mktemp("first")
    return data_dir, publish_initial(load_settings(data_dir=data_dir, **TO_COME))


@pytest.fixture
def begun(first: tuple[Path, PublishReport], tmp_path: Path) -> Path:
    copy_with_links(first[0], tmp_path)
    return tmp_path


def published(data_dir: Path, path: str = "api/token/holders.json") -> dict:
    generation = current_generation(data_dir)
    assert generation is not None
    return msgspec.json.decode((generation.path / "public" / path).read_bytes())


def test_before_anything_is_read_the_documents_say_that_the_backfill_is_to_come(first: tuple[Path, PublishReport]):
    body = published(first[0])
    assert (body["quality"], body["reason"], body["holderCount"]) == ("unavailable", "backfilling", None)
    assert body["backfill"] == {"percent": 0.0, "block": None, "finalizedBlock": None}
    assert body["token"]["address"] == TOKEN


def test_without_a_token_they_say_that_none_is_configured(tmp_path: Path):
    publish_initial(load_settings(data_dir=tmp_path))
    body = published(tmp_path)
    assert (body["quality"], body["reason"], body["backfill"]) == ("unavailable", "not_configured", None)


def test_a_configured_source_that_was_not_read_yet_is_reported_so_while_it_stays_configured(begun: Path):
    settings = TO_COME | {"data_dir": begun}
    read = ("api/bidwall/balance.json", "api/bidwall/events.json", "api/v2/trust/protocol.json")
    asked = (
        "api/token/price.json",
        "api/bidwall/eth-price.json",
        "api/integrations/partner/base-snapshot.json",
        "api/revenue/marketplace.json",
    )

    def reasons(paths: tuple[str, ...]) -> list[str]:
        bodies = (published(begun, path) for path in paths)
        return [body.get("data", body)["reason"] for body in bodies]

    assert reasons(read + asked) == ["not_configured"] * 7
    contracts = {"bidwall_address": "0x" + "ba" * 20, "trust_registry_address": "0x" + "4e" * 20}
    sources = dict.fromkeys(("coinbase_url", "dexscreener_url", "partner_url"), "https://svc.example")
    marketplace = {"marketplace_url": "https://m.example", "marketplace_agent_id": "84"}
    publish_initial(load_settings(**settings, **contracts, **sources, **marketplace))
    assert (reasons(read), reasons(asked)) == (["backfilling"] * 3, ["not_asked_yet"] * 4)
    publish_initial(load_settings(**settings))
    assert reasons(asked)[2:] == ["not_configured"] * 2


def test_publishing_twice_changes_nothing(begun: Path, first: tuple[Path, PublishReport]):
    second = publish_initial(load_settings(data_dir=begun, **TO_COME))
    assert (second.published, second.generation) == (False, first[1].generation)


@pytest.mark.parametrize("reason", chosen(["check_failed", "rpc_unavailable"]))
def test_a_stale_mark_stays_when_only_the_address_changes(begun: Path, reason: str):
    settings = load_settings(data_dir=begun, **TO_COME)
    republish_stale(settings, reason)
    publish_initial(settings.model_copy(update={"base_url": "https://svc.example"}))
    assert published(begun, "openapi.json")["servers"][0]["url"] == "https://svc.example"
    assert (published(begun)["stale"], published(begun)["reason"]) == (True, reason)
