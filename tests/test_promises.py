"""What every answer promises, tested over all published documents and all routes at once."""

import asyncio
import json
from pathlib import Path

import pytest
from openapi_schema_validator import OAS30Validator
from publishing import House, mint

from contracts.description import OPENAPI_FILE
from contracts.problems import Problem
from contracts.projections import PROJECTIONS

DESCRIPTION = json.loads(OPENAPI_FILE.read_text())
MODELS = {projection.path: projection.model for projection in PROJECTIONS}


@pytest.fixture(scope="module")
def houses(tmp_path_factory) -> dict[str, House]:
    """One house before any data, one with two lists, one whose last check failed."""
    made = {name: House(tmp_path_factory.mktemp(name), rate_limit_per_minute=0) for name in ("empty", "full", "failed")}
    for name in ("full", "failed"):
        made[name].read_chain(mint(120), 20)
        made[name].read_chain(mint(1, first=200, block=30), 40)
    for house in made.values():
        house.publish()
    made["failed"].republish_stale("check_failed")
    return made


def ask(house: House, *requests: tuple[str, str]):
    async def asked():
        async with house.client() as client:
            return [await client.request(method, path) for method, path in requests]

    return asyncio.run(asked())


def validator(path: str, status: int, media_type: str) -> OAS30Validator:
    responses = DESCRIPTION["paths"][path]["get"]["responses"]
    schema = responses[str(status)]["content"][media_type]["schema"]
    return OAS30Validator({**schema, "components": DESCRIPTION["components"]})


def bodies(house: House) -> list[Path]:
    return [
        file
        for tree in ("public", "stale")
        for file in (house.current / tree).rglob("*.json")
        if file.name not in ("routes.json", "openapi.json")
    ]


@pytest.mark.parametrize("name", ["empty", "full", "failed"])
def test_every_published_document_fits_its_model_and_the_description(houses, name):
    house = houses[name]
    assert bodies(house)
    for file in bodies(house):
        path = "/" + str(file.relative_to(house.current / file.relative_to(house.current).parts[0])).removesuffix(
            ".json"
        )
        content = file.read_bytes()
        MODELS[path].model_validate_json(content)
        validator(path, 200, "application/json").validate(json.loads(content))


@pytest.mark.parametrize("name", ["empty", "full", "failed"])
def test_every_success_says_ok_and_is_described(houses, name):
    house = houses[name]
    paths = [path for path in DESCRIPTION["paths"] if "{" not in path]
    for path, answer in zip(paths, ask(house, *[("GET", path) for path in paths]), strict=True):
        assert answer.status_code == 200, path
        validator(path, 200, "application/json").validate(answer.json())
        if path != "/openapi.json":
            assert answer.json()["ok"] is True, path


def test_every_error_has_the_one_body_and_is_described(houses, tmp_path):
    unpublished = House(tmp_path)
    cases = [
        (houses["full"], "GET", "/api/token/holders-map?limit=1", "/api/token/holders-map"),
        (houses["full"], "GET", "/api/token/holders-map?cursor=x", "/api/token/holders-map"),
        (houses["full"], "GET", "/api/token/holders-map-temporal?from=7", "/api/token/holders-map-temporal"),
        (houses["full"], "GET", "/data/none", "/data/{file}"),
        *[(houses["full"], "POST", path.replace("{file}", "x"), path) for path in DESCRIPTION["paths"]],
        *[(unpublished, "GET", path, path) for path in DESCRIPTION["paths"] if "{" not in path],
    ]
    for house, method, asked, path in cases:
        (answer,) = ask(house, (method, asked))
        assert answer.status_code >= 400, asked
        assert answer.headers["content-type"] == "application/problem+json"
        problem = Problem.model_validate_json(answer.content)
        assert (problem.ok, problem.status, problem.instance) == (False, answer.status_code, asked.partition("?")[0])
        validator(path, answer.status_code, "application/problem+json").validate(answer.json())


def test_every_answer_may_be_read_by_any_page_and_is_never_sniffed(houses):
    requests = [("GET", path) for path in (*DESCRIPTION["paths"], "/nowhere")] + [("POST", "/health")]
    for answer in ask(houses["full"], *requests):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"]


def test_what_is_published_is_described_and_nothing_else_is(houses):
    table = json.loads((houses["full"].current / "public/routes.json").read_text())
    folders = {f"{prefix}{{file}}" for prefix in table["folders"]}
    assert {*table["routes"], *folders, "/health"} == set(DESCRIPTION["paths"])
    assert set(MODELS) | {"/openapi.json"} == set(table["routes"])
    for path, route in table["routes"].items():
        described = {parameter["name"] for parameter in DESCRIPTION["paths"][path]["get"].get("parameters", [])}
        assert described == set(route["parameters"]), path


def test_all_freshness_blocks_agree_on_their_own_time(houses):
    for file in bodies(houses["full"]):
        document = json.loads(file.read_bytes())
        assert document["stale"] is (file.relative_to(houses["full"].current).parts[0] == "stale")
        assert (document["staleAfter"] is None) == (document["fetchedAt"] is None)
        assert document["generation"] and document["generatedAt"].endswith("Z")
