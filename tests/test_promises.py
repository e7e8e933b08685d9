"""The promises of every answer, tested over all published documents and all routes at once."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml
from described import expanded
from openapi_schema_validator import OAS30Validator
from publishing import TWO_LISTS, House, published_house

from contracts.discovery.openapi import OPENAPI_FILE
from contracts.problems import Problem
from contracts.publish.registry import PROJECTIONS, REDIRECTS

DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))
ROWS = {path: projection for projection in PROJECTIONS if projection.is_described for path in projection.paths}
PAGES = {projection.path for projection in PROJECTIONS if not projection.is_described}
ADDRESSES = PAGES | {path.removesuffix("index.html") for path in PAGES}
REDIRECTED = {redirect.path: redirect.to for redirect in REDIRECTS if redirect.to in ROWS}
ANSWERED = [path for path in DESCRIPTION["paths"] if "{" not in path and "get" in DESCRIPTION["paths"][path]]


@pytest.fixture(scope="module")
def houses(tmp_path_factory) -> dict[str, House]:
    """Returns one house before any data, one with two lists, and one whose last check failed."""
    histories = {"empty": (), "full": TWO_LISTS, "failed": TWO_LISTS}
    made = {
        name: published_house(tmp_path_factory.mktemp(name), history, rate_limit_per_minute=0)
        for name, history in histories.items()
    }
    made["failed"].republish_stale("check_failed")
    return made


def ask(house: House, *requests: tuple[str, str]):
    async def asked():
        async with house.client() as client:
            return [await client.request(method, path) for method, path in requests]

    return asyncio.run(asked())


def validator(path: str, status: int, media_type: str) -> OAS30Validator:
    operations = DESCRIPTION["paths"][path]
    responses = (operations.get("get") or next(iter(operations.values())))["responses"]
    schema = responses[str(status)]["content"][media_type]["schema"]
    return OAS30Validator({**schema, "components": DESCRIPTION["components"]})


def bodies(house: House) -> list[tuple[str, Path]]:
    """Returns paths and the files of their bodies, including those prepared for later."""
    table = json.loads((house.current / "public/routes.json").read_text())
    files = [(path, house.current / tree / r["file"]) for path, r in table["routes"].items() for tree in TREES]
    return [(path, file) for path, file in files if file.exists()]


TREES = ("public", "stale")


def ageing(house: House) -> list[tuple[Path, dict]]:
    """Returns the files of the documents that have a freshness block, with that block."""
    blocks = []
    for path, file in bodies(house):
        if path not in PAGES and ROWS[path].freshness is not None:
            body = json.loads(file.read_bytes())
            blocks.append((file, body["data"] if ROWS[path].enveloped else body))
    return blocks


def check_described(path: str, status: int, media_type: str, content: bytes) -> None:
    check = validator(path, status, media_type)
    check.validate(_read(media_type, content))


def _read(media_type: str, content: bytes) -> object:
    if media_type.endswith("yaml"):
        return yaml.load(content, yaml.CSafeLoader)
    return json.loads(content) if media_type.endswith("json") else content.decode()


@pytest.mark.parametrize("name", ["empty", "full", "failed"])
def test_every_published_document_fits_its_model_and_the_description(houses, name):
    assert {path for path, _ in bodies(houses[name])} == set(ROWS) | PAGES
    for path, file in bodies(houses[name]):
        if path in PAGES:
            continue
        content = file.read_bytes()
        if ROWS[path].model is not None:
            ROWS[path].model.model_validate_json(content)
        check_described(path, 200, ROWS[path].media_type.partition(";")[0], content)


@pytest.mark.parametrize("name", ["empty", "full", "failed"])
def test_every_success_says_ok_and_is_described(houses, name):
    for path, answer in zip(ANSWERED, ask(houses[name], *[("GET", path) for path in ANSWERED]), strict=True):
        if path in REDIRECTED:
            assert (answer.status_code, answer.headers["location"]) == (302, REDIRECTED[path])
            assert "302" in DESCRIPTION["paths"][path]["get"]["responses"]
            continue
        if "401" in DESCRIPTION["paths"][path]["get"]["responses"]:
            assert answer.status_code == 401, path
            continue
        assert answer.status_code == 200, path
        media_type = answer.headers["content-type"].partition(";")[0]
        check_described(path, 200, media_type, answer.content)
        if (path.startswith("/api/") or path == "/health") and media_type == "application/json":
            assert answer.json()["ok"] is True, path


@pytest.mark.parametrize("name", ["empty", "failed"])
def test_missing_data_says_why_and_failed_data_is_stale(houses, name):
    for file, block in ageing(houses[name]):
        assert block["quality"] != "unavailable" or block["reason"], file
        if name == "failed":
            assert block["stale"] is (block["reason"] != "not_configured"), file


def test_every_error_has_the_one_body_and_is_described(houses, tmp_path):
    unpublished = House(tmp_path)
    cases = [
        (houses["full"], "GET", "/api/token/holders-map?limit=1", "/api/token/holders-map"),
        (houses["full"], "GET", "/api/token/holders-map?cursor=x", "/api/token/holders-map"),
        (houses["full"], "GET", "/api/token/holders-map-temporal?from=7", "/api/token/holders-map-temporal"),
        (houses["full"], "GET", "/data/none", "/data/{file}"),
        *[
            (houses["full"], "POST", path.replace("{file}", "x"), path)
            for path, operations in DESCRIPTION["paths"].items()
            if "post" not in operations
        ],
        *[(unpublished, "GET", path, path) for path in (*ROWS, *REDIRECTED, "/health")],
    ]
    answers = [
        answer
        for house in (houses["full"], unpublished)
        for answer in ask(house, *[(method, asked) for asked_of, method, asked, _ in cases if asked_of is house])
    ]
    for (_, _, asked, path), answer in zip(cases, answers, strict=True):
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


def test_exactly_the_published_documents_are_described(houses):
    table = json.loads((houses["full"].current / "public/routes.json").read_text())
    assert set(table["routes"]) == set(ROWS) | PAGES
    led = {path: route["to"] for path, route in table["redirects"].items()}
    assert {path: to for path, to in led.items() if to not in ADDRESSES} == REDIRECTED
    assert {
        *ROWS,
        *REDIRECTED,
        *(
            "/data/{file}" if path.startswith("/data/") else f"{path.partition('*')[0]}{{file}}"
            for path in table["folders"]
        ),
        *table["indexes"],
    } <= set(DESCRIPTION["paths"])
    for path in table["routes"].keys() - PAGES:
        route = table["routes"][path]
        described = {parameter["name"] for parameter in DESCRIPTION["paths"][path]["get"].get("parameters", [])}
        assert described == set(route.get("parameters", [])), path
        limited = "429" in DESCRIPTION["paths"][path]["get"]["responses"]
        assert limited == path.startswith(("/api/", "/blink/")), path


def test_all_freshness_blocks_agree_on_their_own_time(houses):
    for file, block in ageing(houses["full"]):
        assert block["stale"] is (file.relative_to(houses["full"].current).parts[0] == "stale")
        assert (block["staleAfter"] is None) == (block["fetchedAt"] is None)
        assert block["generation"] and block["generatedAt"].endswith("Z")
