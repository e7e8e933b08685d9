"""The rows of the price sources are unique, in order of trust, and known to the settings and to `svc doctor`."""

import pytest

from cli import doctor
from contracts.settings import PREFIX, Settings, settings_that_give
from pipelines.market.price_source import OnChain
from pipelines.market.sources import PRICE_SOURCES, configured_sources

CAPABILITY = {"eth": "eth_price", "token": "token_price"}
EVERYTHING = {
    "rpc_urls": ("https://node.example",),
    "token_address": "0x" + "70" * 20,
    "_env_file": None,
} | {source.needs[0]: f"https://{source.name}.example" for source in PRICE_SOURCES}
ADDRESSES = {source.needs[0]: "0x" + "71" * 20 for source in PRICE_SOURCES if isinstance(source.ask, OnChain)}
SETTINGS = Settings(**(EVERYTHING | ADDRESSES))


def test_a_market_has_no_two_sources_of_one_name_or_rank() -> None:
    assert len({source.name for source in PRICE_SOURCES}) == len(PRICE_SOURCES)
    assert len({(source.market, source.rank) for source in PRICE_SOURCES}) == len(PRICE_SOURCES)


def test_sources_are_believed_in_order_of_rank() -> None:
    first_of_the_token = [source.name for source in configured_sources("token", SETTINGS)][:2]
    first_of_ether = configured_sources("eth", SETTINGS)[0].name
    assert (first_of_the_token, first_of_ether) == (["dexscreener", "geckoterminal"], "chainlink")


def test_the_chain_is_the_last_source_of_the_token() -> None:
    assert configured_sources("token", SETTINGS)[-1].name == "pool"


@pytest.mark.parametrize("market", CAPABILITY)
def test_the_settings_that_turn_a_price_on_are_those_of_its_sources(market: str) -> None:
    settings = {source.setting for source in PRICE_SOURCES if source.market == market}
    assert set(settings_that_give(CAPABILITY[market])) == settings


@pytest.mark.parametrize("source", PRICE_SOURCES, ids=lambda source: source.name)
def test_a_source_is_off_without_any_of_its_settings(source) -> None:
    assert source.is_configured(SETTINGS)
    for name in source.needs:
        assert not source.is_configured(SETTINGS.model_copy(update={name: None})), name


@pytest.mark.parametrize("source", PRICE_SOURCES, ids=lambda source: source.name)
def test_a_source_that_knows_its_networks_is_off_on_any_other(source) -> None:
    other = SETTINGS.model_copy(update={"chain_id": 999_999_999})
    assert source.is_configured(other) == (source.networks is None)


def test_the_doctor_reports_every_price_source() -> None:
    assert {source.name for source in PRICE_SOURCES} <= {source.name for source in doctor.SOURCES}


def test_the_setting_of_a_source_is_one_of_the_settings() -> None:
    names = {PREFIX + name.upper() for name in Settings.model_fields}
    assert {source.setting for source in doctor.SOURCES} <= names
