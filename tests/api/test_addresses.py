"""Addresses in paths and queries: every route treats their capitals by one rule."""

import json
from typing import Any

import pytest
from described import expanded
from keyed_service import KeyedService, serving

from contracts.discovery.openapi import OPENAPI_FILE
from contracts.settings import Settings

LOWER = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"  # from EIP-55
WRONG = "0x5Aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

PLACES = [
    (path, parameter["name"], parameter["in"])
    for path, operations in expanded(json.loads(OPENAPI_FILE.read_text()))["paths"].items()
    for parameter in operations.get("get", {}).get("parameters", ())
    if "0-9a-fA-F]{40}" in json.dumps(parameter["schema"])
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Any:
    data_dir = tmp_path_factory.mktemp("addresses")
    with serving(Settings(_env_file=None, data_dir=data_dir, rate_limit_per_minute=0)) as running:
        yield running


def asked(service: KeyedService, path: str, name: str, place: str, address: str) -> Any:
    target = path.replace(f"{{{name}}}", address) if place == "path" else f"{path}?{name}={address}"
    return service.ask(("GET", target, {}, {}))[0]


def test_places_of_addresses_are_found() -> None:
    assert len(PLACES) >= 6


@pytest.mark.parametrize(("path", "name", "place"), PLACES)
def test_mixed_case_that_is_no_checksum_is_refused_on_every_route(
    service: KeyedService, path: str, name: str, place: str
) -> None:
    refused = asked(service, path, name, place, WRONG)
    assert (refused.status_code, refused.json()["code"]) == (400, "parameter_invalid")
    assert "EIP-55" in refused.json()["detail"]
    for address in (LOWER, CHECKSUMMED, "0x" + LOWER[2:].upper()):
        assert asked(service, path, name, place, address).status_code != 400
