"""The kinds of documents besides the plain one: envelopes, other media types, aliases, redirects, published
variants."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest
from document_kinds import (
    ANSWER,
    CONTENTS,
    DEPRECATED,
    DISCOVERY,
    ENVELOPED,
    PAGE,
    PLAIN,
    REDIRECT,
    RENDERED,
    TWIN,
    Enveloped,
    Plain,
)
from publishing import House
from pydantic import ValidationError

from api.publish.front import Front
from contracts.publish.registry import PROJECTIONS, REDIRECTS
from contracts.publish.rendering import Origin, mark_stale, render
from contracts.publish.routes import file_of
from contracts.site.pages import PAGES
from pipelines.publish.documents import published_document
from warehouse.ledger.counters import Take
from warehouse.publish.generations import begin, current_generation


class Passed(Exception):
    """Raised when the front hands a request on."""


async def pass_on(scope, receive, send):
    raise Passed(scope["path"])


class Counted:
    def __init__(self):
        self.taken = 0

    def take(self, key, limit, window_s, now_s):
        self.taken += 1
        return Take(True, limit, limit - self.taken, 42)


@pytest.fixture
def house(tmp_path):
    made = House(tmp_path)
    made.publish_rows(CONTENTS, [REDIRECT])
    return made


def ask(house, path, method="GET", headers=None, *, late=timedelta(0), take=None):
    moment = (house.now + late).timestamp()
    front = Front(house.settings, pass_on, take or Counted().take, clock=lambda: moment)

    async def asked():
        async with house.client(application=front) as client:
            return await client.request(method, path, headers=headers or {})

    return asyncio.run(asked())


def body(house, path, tree="public"):
    return json.loads((house.current / tree / file_of(path)).read_bytes())


def test_an_envelope_holds_freshness_and_fields_in_its_data(house):
    document = body(house, ENVELOPED.path)
    Enveloped.model_validate(document)
    assert list(document) == ["ok", "data"]
    data = document["data"]
    assert (data["answer"], data["stale"], data["staleAfter"]) == (42, False, "2026-01-02T12:05:00Z")
    assert data == {name: value for name, value in body(house, PLAIN.path).items() if name != "ok"}


def test_an_envelope_ages_within_its_data(house):
    late = ask(house, ENVELOPED.path, late=timedelta(hours=1)).json()
    assert (late["data"]["stale"], late["data"]["reason"], late["data"]["answer"]) == (True, "expired", 42)
    assert list(late) == ["ok", "data"]


def test_after_a_failed_check_ageing_documents_and_their_aliases_are_stale_and_the_rest_keeps_its_bytes(house):
    before = {path: ask(house, path).content for path in (DISCOVERY.path, RENDERED.path, "/text.txt")}
    house.republish_stale("check_failed", projections=CONTENTS)
    for path in (PLAIN.path, "/api/kinds", "/same"):
        marked = ask(house, path).json()
        assert (marked["stale"], marked["reason"]) == (True, "check_failed")
        Plain.model_validate(marked)
    marked = ask(house, ENVELOPED.path).json()
    Enveloped.model_validate(marked)
    assert (marked["data"]["stale"], marked["data"]["reason"]) == (True, "check_failed")
    assert {path: ask(house, path).content for path in before} == before
    stale = {
        path for path, entry in current_generation(house.data_dir).manifest.documents.items() if entry.stale_reason
    }
    assert stale == {PLAIN.path, ENVELOPED.path}


def test_content_may_know_that_it_is_out_of_date_and_until_when_it_is_not():
    now = ANSWER["fetched_at"]
    said = json.loads(render(PLAIN, ANSWER | {"stale": True, "reason": "timeout"}, Origin("g", now)))
    assert (said["stale"], said["reason"], said["staleAfter"]) == (True, "timeout", "2026-01-02T12:05:00Z")
    own = json.loads(render(PLAIN, ANSWER | {"stale_after": now + timedelta(hours=2)}, Origin("g", now)))
    assert (own["stale"], own["staleAfter"]) == (False, "2026-01-02T14:00:00Z")


@pytest.mark.parametrize(
    "row", [replace(PLAIN, when_stale={"answer": 0}), replace(ENVELOPED, when_stale={"answer": 0})]
)
def test_a_field_may_say_something_else_once_the_document_is_stale(row):
    now = ANSWER["fetched_at"]
    fresh = render(row, ANSWER, Origin("g", now))
    late = render(row, ANSWER, Origin("g", now), now=now + timedelta(hours=1))
    for body, answer in ((fresh, 42), (late, 0), (mark_stale(row, fresh, "check_failed"), 0)):
        read = json.loads(body)
        assert read.get("data", read)["answer"] == answer


def test_a_document_without_freshness_never_ages(house):
    fresh, late = ask(house, DISCOVERY.path), ask(house, DISCOVERY.path, late=timedelta(days=900))
    assert fresh.json() == {"title": "Kinds", "links": ["/api/kinds"]}
    assert (fresh.content, fresh.headers["etag"]) == (late.content, late.headers["etag"])
    assert not (house.current / "stale" / file_of(DISCOVERY.path)).exists()


def test_each_document_states_its_media_type_cache_and_own_header_fields(house):
    headers = ask(house, DISCOVERY.path).headers
    assert headers["content-type"] == "application/feed+json"
    assert headers["cache-control"] == "public, max-age=300, stale-while-revalidate=3600, stale-if-error=86400"
    assert (headers["x-kind"], headers["x-chain"]) == ("discovery", "eip155:8453")
    assert ask(house, "/text.txt").headers["content-type"] == "text/plain; charset=utf-8"
    assert "x-kind" not in ask(house, PLAIN.path).headers


def test_an_alias_has_the_same_body_and_tag_and_its_own_header_fields(house):
    own, alias = ask(house, PLAIN.path), ask(house, "/api/kinds")
    assert (own.content, own.headers["etag"]) == (alias.content, alias.headers["etag"])
    for name, value in DEPRECATED.items():
        assert alias.headers[name] == value.format(prefix="")
        assert name not in own.headers
    again = ask(house, "/api/kinds", headers={"if-none-match": own.headers["etag"]})
    assert (again.status_code, again.headers["sunset"]) == (304, DEPRECATED["Sunset"])


def test_an_alias_goes_stale_with_its_document(house):
    assert ask(house, "/api/kinds", late=timedelta(hours=1)).json()["stale"] is True


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_redirect_leads_on_and_has_no_body(house, method):
    answer = ask(house, REDIRECT.path, method)
    assert (answer.status_code, answer.headers["location"], answer.content) == (302, PLAIN.path, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"].startswith("public, max-age=60")


def test_a_redirect_knows_only_reading(house):
    answer, options = ask(house, REDIRECT.path, "POST"), ask(house, REDIRECT.path, "OPTIONS")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")


def test_links_to_other_paths_include_the_path_of_the_base_url(tmp_path):
    made = House(tmp_path, base_url="https://svc.example/under/it")
    made.publish_rows(CONTENTS, [REDIRECT])
    assert ask(made, REDIRECT.path).headers["location"] == "/under/it/api/kinds/plain"
    assert ask(made, REDIRECT.path).headers["link"] == '</under/it/page/>; rel="describedby"'
    assert ask(made, "/api/kinds").headers["link"].startswith("</under/it/api/kinds/plain>; ")
    assert ask(made, PAGE.path).headers["link"].startswith("</under/it/page/index.md>; ")


@pytest.mark.parametrize(
    ("accept", "markdown"),
    [
        (None, False),
        ("*/*", False),
        ("text/html", False),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", False),
        ("text/html, text/markdown;q=0.9", False),
        ("text/markdown;q=0", False),
        ("text/markdown;q=0.5, text/*", False),
        ("text/*", False),
        ("application/json", False),
        ("text/markdown", True),
        ("TEXT/Markdown; charset=utf-8", True),
        ("text/markdown, text/html, */*", True),
        ("text/markdown, text/html;q=0.9", True),
        ("text/html;q=0.5, text/markdown;q=0.8, */*;q=0.1", True),
    ],
)
def test_a_page_is_markdown_for_whoever_prefers_that(house, accept, markdown):
    answer = ask(house, PAGE.path, headers={} if accept is None else {"accept": accept})
    page, twin = ask(house, PAGE.path), ask(house, TWIN.path)
    asked = twin if markdown else page
    assert (answer.content, answer.headers["etag"], answer.headers["content-type"]) == (
        asked.content,
        asked.headers["etag"],
        asked.headers["content-type"],
    )
    assert answer.headers["vary"] == page.headers["vary"] == "Accept-Encoding, Accept"
    assert twin.headers["vary"] == "Accept-Encoding"
    tag = {"if-none-match": answer.headers["etag"], **({} if accept is None else {"accept": accept})}
    assert ask(house, PAGE.path, headers=tag).status_code == 304


@pytest.mark.parametrize("path", [PLAIN.path, PAGE.path, "/text.txt", "/api/kinds"])
def test_a_page_of_another_origin_may_read(house, path):
    counter = Counted()
    answer = ask(house, path, "OPTIONS", {"access-control-request-method": "GET"}, take=counter.take)
    assert (answer.status_code, answer.content, counter.taken) == (204, b"", 0)
    assert answer.headers["allow"] == answer.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "If-None-Match" in answer.headers["access-control-allow-headers"]


def test_a_page_of_another_origin_may_write_to_the_rooms(house):
    answer = ask(house, "/api/intake", "OPTIONS", {"access-control-request-method": "POST"})
    assert answer.status_code == 204
    assert {"POST", "PUT", "DELETE"} <= set(answer.headers["access-control-allow-methods"].split(", "))
    assert {"Authorization", "Content-Type", "X-Api-Key"} <= set(
        answer.headers["access-control-allow-headers"].split(", ")
    )


@pytest.mark.parametrize("path", ["/mcp", "/blink/guardrail", "/api/intake"])
def test_other_options_requests_are_handed_on(house, path):
    headers = {} if path == "/api/intake" else {"access-control-request-method": "POST"}
    assert ask(house, path, "OPTIONS", headers).status_code == 500  # there is no application to hand it to


@pytest.mark.parametrize(
    ("path", "counted"),
    [(PLAIN.path, 1), ("/api/kinds", 1), ("/same", 0), (REDIRECT.path, 1), (DISCOVERY.path, 0), ("/text.txt", 0)],
)
def test_paths_under_api_are_counted_and_discovery_is_not(house, path, counted):
    counter = Counted()
    answer = ask(house, path, take=counter.take)
    assert counter.taken == counted
    assert ("ratelimit-policy" in answer.headers) == bool(counted)


def test_a_published_variant_answers_its_query_and_its_own_path(house):
    by_query, by_path = ask(house, f"{RENDERED.path}?view=hero"), ask(house, "/api/kinds/render/hero")
    assert by_query.json() == {"ok": True, "view": "hero"}
    assert (by_query.content, by_query.headers["etag"]) == (by_path.content, by_path.headers["etag"])
    assert ask(house, RENDERED.path).json()["view"] is None
    tag = by_query.headers["etag"]
    assert ask(house, f"{RENDERED.path}?view=hero", headers={"if-none-match": tag}).status_code == 304


@pytest.mark.parametrize("query", ["view=shell", "view=hero&view=hero", "view=", "other=1"])
def test_every_other_query_is_handed_on(house, query):
    with pytest.raises(Exception) as raised:
        front = Front(house.settings, pass_on, None, clock=house.now.timestamp)

        async def asked():
            import httpx

            transport = httpx.ASGITransport(front)
            async with httpx.AsyncClient(transport=transport, base_url="https://svc.example") as client:
                await client.get(f"{RENDERED.path}?{query}")

        asyncio.run(asked())
    assert isinstance(raised.value, Passed)


def test_a_body_that_breaks_the_model_of_its_envelope_is_not_published(tmp_path):
    draft = begin(tmp_path, House(tmp_path).now)
    with pytest.raises(ValidationError):
        published_document(ENVELOPED, ANSWER | {"answer": "many"}, draft)
    with pytest.raises(ValueError, match="surprise"):
        published_document(ENVELOPED, ANSWER | {"surprise": 1}, draft)
    with pytest.raises(ValueError, match="without a model"):
        published_document(RENDERED, {"view": 1}, draft)


def test_parameters_of_published_variants_are_read_from_their_query():
    assert [(path, getattr(parameters, "view", None)) for path, parameters in RENDERED.bodies] == [
        (RENDERED.path, None),
        ("/api/kinds/render/hero", "hero"),
    ]


def test_the_registry_agrees_with_itself():
    rows = [*PROJECTIONS, *CONTENTS]
    paths = [path for row in rows for path in row.paths] + [redirect.path for redirect in REDIRECTS]
    assert len(paths) == len(set(paths))
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert (row.freshness is None) == (row.max_age_s is None), row.path
        assert not row.published_variants or row.parameters is not None, row.path
    assert {redirect.to for redirect in REDIRECTS} <= {*paths, *(page.path for page in PAGES)}
