"""Discovery documents as the front serves them: types, the alias, the card next to the MCP endpoint, 304 and 404."""

import asyncio
import json
from collections.abc import Iterator

import httpx
import pytest
from publishing import House

from contracts.discovery.openapi import OPENAPI_PATH
from contracts.discovery.service import AGENT_CARD_PATH, AGENT_PATH, CAPABILITIES_PATH, SERVER_CARD_PATH
from contracts.publish.registry import PROJECTIONS
from contracts.publish.routes import is_limited

DOCUMENTS = [row for row in PROJECTIONS if row.cache == "discovery" and row.media_type.endswith("json")]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("house"), rate_limit_per_minute=1)
    made.publish()
    yield made


def ask(house: House, *requests: tuple[str, str, dict[str, str]]) -> list[httpx.Response]:
    async def asked() -> list[httpx.Response]:
        async with house.client() as client:
            return [await client.request(method, path, headers=headers) for method, path, headers in requests]

    return asyncio.run(asked())


def test_every_document_is_served_with_its_type_uncounted_and_for_anybody(house: House):
    counted, free = (
        [document for document in DOCUMENTS if is_limited(document.path) is limited] for limited in (True, False)
    )
    asked = [*counted, *free, *free]
    for each, answer in zip(asked, ask(house, *(("GET", each.path, {}) for each in asked)), strict=True):
        assert answer.status_code == 200, each.path
        assert answer.headers["content-type"] == each.media_type
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"].startswith("public, max-age=300")
        assert ("ratelimit-policy" in answer.headers) is (each in counted), each.path
        answer.json()


def test_the_agent_manifest_is_the_agent_card_byte_for_byte(house: House):
    card, manifest = ask(house, ("GET", AGENT_CARD_PATH, {}), ("GET", AGENT_PATH, {}))
    assert card.content == manifest.content
    assert card.headers["etag"] == manifest.headers["etag"]
    assert card.json()["signatures"]


def test_the_description_shows_an_alias_as_what_it_is_published_as(house: House):
    (description,) = ask(house, ("GET", OPENAPI_PATH, {}))
    get = description.json()["paths"][AGENT_PATH]["get"]["responses"]["200"]["content"]["application/json"]
    assert get["examples"]["published"]["externalValue"].endswith(AGENT_PATH)


def test_the_server_card_is_a_file_next_to_the_live_endpoint(house: House):
    card, again, other = ask(
        house,
        ("GET", SERVER_CARD_PATH, {"Accept": "application/mcp-server-card+json"}),
        ("HEAD", SERVER_CARD_PATH, {}),
        ("POST", SERVER_CARD_PATH, {}),
    )
    assert card.headers["content-type"] == "application/mcp-server-card+json"
    assert (again.status_code, again.content) == (200, b"")
    assert other.status_code == 405
    (unchanged,) = ask(house, ("GET", SERVER_CARD_PATH, {"If-None-Match": card.headers["etag"]}))
    assert unchanged.status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/agent-cards.json",
        "/.well-known/",
        "/.well-known/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/agent-skills/",
        "/schemas/nothing.json",
        "/mcp/server-cards",
        "/.WELL-KNOWN/agent.json",
        "/.well-known/agent.json/",
    ],
)
def test_neighbours_that_do_not_exist_are_a_json_404(house: House, path: str):
    (answer,) = ask(house, ("GET", path, {}))
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["ok"] is False


def test_before_the_first_probe_the_registry_says_so_and_states_no_time(house: House):
    (answer,) = ask(house, ("GET", CAPABILITIES_PATH, {}))
    statuses = {capability["status"] for capability in answer.json()["capabilities"]}
    assert statuses == {"off", "unknown"}  # off by the settings, or not checked yet
    assert {capability["checkedAt"] for capability in answer.json()["capabilities"]} == {None}


def test_publishing_again_changes_no_document(house: House):
    def bodies() -> dict[str, bytes]:
        paths = [document.path for document in DOCUMENTS]
        table = json.loads((house.current / "public/routes.json").read_text())["routes"]
        return {path: (house.current / "public" / table[path]["file"]).read_bytes() for path in paths}

    before = bodies()
    assert not house.publish().published
    assert bodies() == before
