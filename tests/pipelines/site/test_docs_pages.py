"""The pages of the documentation: one for every operation, complete, well formed, and rebuilt only when it has
changed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from html_pages import Read
from publishing import ONE_LIST, published_house

from contracts.access.plans import load_calls, load_plans
from contracts.access.rail import usd_of
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import OPENAPI_FILE, OPENAPI_PATH, description_for, openapi_json
from contracts.problem_links import operation_docs_path
from contracts.publish.projection import ExpiringBody
from contracts.publish.registry import OPERATIONS, PROJECTIONS
from contracts.publish.routes import file_of
from contracts.site.pages import OPERATION_PAGES
from pipelines.publish.documents import QUICK_ENCODERS
from pipelines.publish.site import filled, made_of
from warehouse.publish.generations import current_generation

HERE = Installation("https://svc.example/under/it")
ROWS = {row.path: row for row in PROJECTIONS}
DESCRIBED = description_for(HERE, ["/api/token/price"])
BODIES = {OPENAPI_PATH: openapi_json(HERE, ["/api/token/price"])}
IDS = [operation["operationId"] for item in DESCRIBED["paths"].values() for operation in item.values()]
LARGEST_PAGE_BYTES = 30_000
"""Largest page of an operation as sent, compressed."""


def made(path: str, bodies: Mapping[str, bytes] = BODIES, here: Installation = HERE) -> str:
    row = ROWS[path]
    assert row.describe is not None
    body = filled(row, row.describe(here, bodies))
    assert isinstance(body, ExpiringBody)
    return body.fresh.decode()


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Returns every page of an operation and its Markdown, by operation."""
    return {id_: made(operation_docs_path(id_)) for id_ in IDS}


@pytest.fixture(scope="module")
def twins() -> dict[str, str]:
    return {id_: made(operation_docs_path(id_) + "index.md") for id_ in IDS}


def test_every_operation_has_a_page_and_no_page_is_of_another():
    assert [page.path for page in OPERATION_PAGES] == [operation_docs_path(id_) for id_ in _committed_ids()]
    assert sorted(_committed_ids()) == sorted(IDS)
    assert {row.collection for row in PROJECTIONS if row.path.startswith("/docs/operations/")} == {OPERATIONS}


def _committed_ids() -> list[str]:
    items = json.loads(OPENAPI_FILE.read_text())["paths"].values()
    return [operation["operationId"] for item in items for operation in item.values()]


def test_every_page_is_well_formed_and_its_links_lead_somewhere(pages: dict[str, str]):
    for id_, text in pages.items():
        page = Read(text)
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert (page.open, len(ids)) == ([], len(set(ids))), id_
        assert [tag for tag, _ in page.elements].count("h1") == 1, id_
        links = {str(each["href"]).removeprefix(HERE.prefix).partition("#")[0] for each in page.all("a")}
        assert {link for link in links if link.startswith("/")} <= {*ROWS, "/data/", "/health"}, id_
        assert all(each.get("scope") for each in page.all("th")), id_


def test_a_page_shows_every_parameter_answer_error_and_link(pages: dict[str, str], twins: dict[str, str]):
    for operation in _operations():
        text, twin = Read(pages[operation["operationId"]]).text, twins[operation["operationId"]]
        wanted = [_resolved(parameter)["name"] for parameter in operation.get("parameters", [])]
        for status, answer in operation["responses"].items():
            content = _resolved(answer).get("content", {})
            wanted += [status, *content.get("application/problem+json", {}).get("examples", {})]
            wanted += [link["description"] for link in answer.get("links", {}).values()]
        missing = [word for word in wanted if word not in text or word not in twin]
        assert missing == [], operation["operationId"]
        command = twin.partition("curl ")[2].partition("```")[0]
        headers = [each["name"] for each in map(_resolved, operation.get("parameters", [])) if each["in"] == "header"]
        assert [name for name in headers if f'-H "{name}: ' not in command] == [], operation["operationId"]


def test_the_page_of_a_chunk_names_both_media_types_that_it_takes(pages: dict[str, str], twins: dict[str, str]):
    text = " ".join(Read(pages["world_model_import_chunk"]).text.split())
    assert "The Content-Type is application/octet-stream or application/x-ndjson." in text
    assert "The body is sent as application/octet-stream." in text
    assert "The body is sent as `application/octet-stream`." in twins["world_model_import_chunk"]
    assert "Content-Type: application/json" not in text
    assert "The body is sent as `application/json`." in twins["world_model_query"]


@pytest.mark.parametrize(
    ("operation_id", "row"),
    [
        ("intake_register", "`worldSources` (array (at most 8 items) of"),
        ("intake_register", "`executionSurfaces` (array (at most 6 items) of"),
        ("world_model_create", "`values` (array (at most 32 items) of string"),
        ("world_model_signal", "`links` (array (at most 100 items) of object)"),
        ("knowledge_graph_build", "`documents` (array (1 to 100 items) of object)"),
        ("knowledge_graph_build", "`nodes` (array (1 to 10,000 items) of object)"),
        ("knowledge_graph_build", "`triples` (array (1 to 10,000 items) of object)"),
        (
            "world_model_signal",
            "`payload` (object): The node's properties: at most 24,000 bytes as RFC 8785 writes them, and at most 16 "
            "levels",
        ),
    ],
)
def test_a_page_names_the_limits_of_lists_and_payloads(twins: dict[str, str], operation_id: str, row: str):
    assert f"- {row}" in twins[operation_id]


def test_a_page_shows_every_example(pages: dict[str, str], twins: dict[str, str]):
    for operation in _operations():
        text, twin = Read(pages[operation["operationId"]]).text, twins[operation["operationId"]]
        media = list(operation.get("requestBody", {}).get("content", {}).values())
        media += [
            media
            for status, answer in operation["responses"].items()
            for media in list(_resolved(answer).get("content", {}).values())[:1]
            if int(status) < 400
        ]
        for example in (each for one in media for each in one.get("examples", {}).values()):
            value = _resolved(example)
            if "externalValue" in value:
                assert f"({value['externalValue']})" in twin
            else:
                shown = value["value"] if isinstance(value["value"], str) else json.dumps(value["value"], indent=2)
                assert shown[:200].encode().decode("unicode_escape")[:60].strip() in text, operation["operationId"]


def _operations() -> list[dict[str, Any]]:
    return [operation for item in DESCRIBED["paths"].values() for operation in item.values()]


def _resolved(part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    _, _, kind, name = part["$ref"].split("/")
    found: dict[str, Any] = DESCRIBED["components"][kind][name]
    return found


def test_the_errors_of_mcp_are_listed_apart_with_their_numbers_and_what_to_do():
    page = Read(made("/docs/errors/"))
    text = " ".join(page.text.split())
    assert "Every error is one application/problem+json body (RFC 9457), except those of MCP." in text
    assert "/mcp and /api/v2/mcp answer in JSON-RPC 2.0." in text
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {"mcp-origin_forbidden", "mcp-host_unknown", "mcp-session_limited", "mcp-body_invalid"} <= ids
    assert {"tool-session_required", "tool-session_ended", "tool-pairing_code_rejected", "tool-key_rejected"} <= ids
    assert {"tool-arguments_invalid", "tool-step_not_ready"} <= ids
    assert {"mcp-method_unknown", "mcp-tool_unknown", "mcp-revision_unsupported"} <= ids
    assert "request_unreadable" in ids, "what no operation answers is listed too"
    assert "resource_unknown-32602No resource has this URIRead one that resources/list returns." in text
    assert "body_invalid 400-32700 or -32600The message is not JSON, or not JSON-RPCCorrect what message names" in text
    assert (
        "host_unknown 421-32600The request is for another hostSend the request to the address of this service." in text
    )
    assert "This tool needs the session_token of a paired session.Ask the user for a fresh pairing code" in text


@pytest.mark.parametrize("operation_id", ["mcp", "mcp_by_key"])
def test_the_page_of_an_mcp_server_leads_to_the_errors_of_mcp(
    pages: dict[str, str], twins: dict[str, str], operation_id: str
):
    assert "[errors of MCP](https://svc.example/under/it/docs/errors/#mcp)" in twins[operation_id]
    assert 'href="/under/it/docs/errors/#mcp"' in pages[operation_id]
    assert "errors of MCP" not in twins["token_price"]


def test_a_page_is_small(pages: dict[str, str]):
    sizes = {id_: len(QUICK_ENCODERS["gzip"](text.encode())) for id_, text in pages.items()}
    assert max(sizes.values()) <= LARGEST_PAGE_BYTES


def test_the_markdown_is_text_without_markup(twins: dict[str, str]):
    for id_, text in twins.items():
        assert text.startswith("# "), id_
        assert not re.search(r"</?(p|div|span|table|li|a|code)\b", re.sub(r"(?s)```.*?```", "", text)), id_
        assert "\n\n\n\n" not in text, id_


def test_the_page_of_a_call_that_is_sold_singly_names_its_price(pages: dict[str, str]):
    text = " ".join(Read(pages["world_model_query"]).text.split())
    assert "It needs an API key" in text
    assert "A single call costs 0.005 USD without a key" in text
    assert "Anybody may call it without a key" in " ".join(Read(pages["token_price"]).text.split())


def test_the_prices_are_those_of_the_plans_file():
    text = " ".join(Read(made("/docs/pricing/").replace("<", " <")).text.split())
    for plan in load_plans().values():
        assert f"{plan.name} {usd_of(plan.price)} USD" in text
    for call in load_calls().values():
        assert f"{call.name} {usd_of(call.price)} {call.description}" in text
    assert "API Basic 0.30 USD if all are used" in text
    assert 'id="pay"' in made("/docs/pricing/")


def test_a_script_can_calculate_with_the_plans_and_prices_of_the_page():
    selling = replace(HERE, rail=replace(HERE.rail, relays=True, missing=()))
    page = Read(made("/docs/pricing/", here=selling))
    rows = [each for each in page.all("li") if "data-plan" in each]
    shown = {each["data-plan"]: (each["data-usd"], each["data-days"], each["data-most"]) for each in rows}
    assert list(shown) == [plan.name for plan in load_plans().values()]
    assert shown["Agent runtime activation"] == ("5", "", "100")
    assert shown["API Basic"] == ("9", "30", "1000")
    assert shown["API Pro"] == ("49", "30", "")
    assert _single_prices(page) == [usd_of(call.price) for call in load_calls().values()]
    assert _single_prices(Read(made("/docs/pricing/"))) == []  # if no call is sold on its own


def _single_prices(page: Read) -> list[str | None]:
    return [each["data-single"] for each in page.all("tr") if "data-single" in each]


def test_every_error_has_a_row_that_an_address_can_name():
    ids = {attributes.get("id") for _, attributes in Read(made("/docs/errors/")).elements}
    assert set(DESCRIBED["components"]["examples"]) - {"settlement_pending"} <= ids


def test_without_a_description_the_pages_say_so():
    for path in ("/docs/", "/docs/errors/", "/docs/pricing/", operation_docs_path("token_price")):
        page = Read(made(path, {}))
        assert page.open == []
    assert "Not described yet" in made("/docs/", {})


def test_pages_are_linked_and_not_rebuilt_while_the_description_stays_the_same(tmp_path, monkeypatch):
    house = published_house(tmp_path, ONE_LIST)
    first = current_generation(house.data_dir)
    assert first is not None
    again: list[str] = []
    real = filled

    def noted(row, content):
        again.append(row.path)
        return real(row, content)

    monkeypatch.setattr("pipelines.publish.site.filled", noted)
    house.publish()
    second = current_generation(house.data_dir)
    assert second is not None
    assert [path for path in again if path.startswith("/docs/") or path == OPENAPI_PATH] == []
    for id_ in ("token_price", "agent_access_claim"):
        for path in (operation_docs_path(id_), operation_docs_path(id_) + "index.md"):
            assert second.manifest.documents[path] == first.manifest.documents[path]
            name = f"public/{file_of(path)}"
            assert (second.path / name).stat().st_ino == (first.path / name).stat().st_ino


def test_the_sources_of_a_page_change_with_the_description_and_the_installation():
    row = ROWS[operation_docs_path("token_price")]
    other = Installation("https://other.example")
    sources = {
        made_of(row, HERE, (b"one",)),
        made_of(row, HERE, (b"two",)),
        made_of(row, HERE, (None,)),
        made_of(row, other, (b"one",)),
        made_of(ROWS[operation_docs_path("eth_price")], HERE, (b"one",)),
    }
    assert len(sources) == 5
    assert made_of(row, Installation(HERE.base_url), (b"one",)) == made_of(row, HERE, (b"one",))
