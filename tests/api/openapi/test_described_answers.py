"""The description against the served answers, in both directions: every answer is described, and every status
occurs."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import yaml
from described import expanded
from openapi_schema_validator import OAS30Validator
from openapi_spec_validator import validate
from record_examples import SETTINGS, UNRECORDED, Recorder, a_file_of, outdated, record
from whole_service import WholeService, whole_service

from api.app import create_app
from api.openapi.headers import HEADERS
from contracts.discovery.examples import references
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import OPENAPI_PATH, OPENAPI_V2_PATH, V2_PREFIX, description_for
from contracts.publish.registry import PAGE_HEADERS, PROJECTIONS
from contracts.publish.routes import ACTION_HEADERS, OPEN_HEADERS, PREFLIGHT_HEADERS, file_of, is_limited

DESCRIPTION: dict[str, Any] = expanded(description_for(Installation("https://svc.example"), []))
OPERATIONS = {
    operation["operationId"]: (method, path, operation)
    for path, operations in DESCRIPTION["paths"].items()
    for method, operation in operations.items()
}
ELSEWHERE = {
    414: "tests/api/publish/test_request_heads.py",
    431: "tests/api/publish/test_request_heads.py",
    500: "nothing that a client sends brings it about",
    503: "faults of stores have tests of their own in every room",
}
REACHED_ELSEWHERE = {
    ("agent_access_operator", 409): "tests/api/access/test_operator_consent.py",
    ("agent_access_operator_challenge", 409): "tests/api/access/test_operator_consent.py",
    ("agent_access_recovery", 409): "tests/api/access/test_recovery.py",
    ("agent_access_recovery_challenge", 409): "tests/api/access/test_recovery.py",
    ("agent_access_case_supplement", 409): "tests/api/access/test_cases.py",
    ("data_file", 206): "tests/api/publish/test_ranges.py",
    ("data_file", 416): "tests/api/publish/test_ranges.py",
    ("world_model_erase", 403): "tests/api/world/test_erasing.py",
    ("world_model_import_apply", 403): "tests/api/world/test_moving.py",
    ("world_model_node_erase", 400): "tests/api/world/test_erasing.py",
    ("world_model_node_erase", 403): "tests/api/world/test_erasing.py",
    ("world_model_ontology_set", 403): "tests/api/world/test_own_ontology.py",
    **{
        ("mcp_by_key", status): "tests/api/connect/test_key_mcp.py"
        for status in (202, 400, 403, 404, 405, 413, 415, 421)
    },
    ("mcp_by_key", 429): "tests/api/connect/test_key_mcp.py",
    ("mcp", 202): "tests/api/connect",
    ("mcp", 403): "tests/api/connect",
    ("mcp", 404): "tests/api/connect",
    ("mcp", 421): "tests/api/connect",
    ("mcp", 429): "tests/api/connect",
}
BY_SIGNATURE = {202, 402, 409}
"""Statuses of a signed payment, at every operation that needs a key; they are tested in
`tests/api/access/test_settling.py`."""


class Seen(NamedTuple):
    """One answer, and the operation that gave it."""

    operation_id: str
    answer: httpx.Response


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[WholeService, Recorder, list[Seen]]:
    with whole_service(tmp_path_factory.mktemp("whole"), **SETTINGS) as service:
        recorder = asyncio.run(record(service))
        return service, recorder, [Seen(*each) for each in recorder.seen] + asyncio.run(provoked(service))


def examples_of(operation: dict[str, Any]) -> dict[str, Any]:
    """Returns the examples of a path's parameters, by name."""
    return {each["name"]: each["example"] for each in operation.get("parameters", []) if each["in"] == "path"}


async def provoked(service: WholeService) -> list[Seen]:
    """Returns every operation's answers to requests that it must refuse, or need not answer in full."""
    seen = []
    limited = create_app(service.settings.model_copy(update={"rate_limit_per_minute": 1, "trusted_proxies": ()}))
    unlimited = create_app(service.settings.model_copy(update={"rate_limit_per_minute": 0}))
    key = {"Authorization": f"Bearer {service.key()}"}
    async with (
        service.house.client(application=limited) as first,
        service.house.client(application=unlimited) as client,
    ):
        for operation_id, (method, path, operation) in OPERATIONS.items():
            named = {"file": a_file_of(service, path)} if path.endswith("/{file}") else {}
            url, answers = path.format(**examples_of(operation) | named), operation["responses"]
            secured = key if operation["security"] else {}
            asked = [await client.patch(url, headers=secured)] if method != "options" else []
            refused = "patch" if "put" in DESCRIPTION["paths"][path] else "put"
            asked = [await client.request(refused, url, headers=secured)] if method != "options" else []
            if operation_id in UNRECORDED:
                asked.append(await client.get(url))
            if path.endswith("/{file}"):
                asked.append(await client.get(path.format(file="nothing")))
            if is_limited(path):
                await first.get("/api/token/price")  # the only request of this minute, which may have begun just now
                asked.append(await first.request(method, url))
                if asked[-1].status_code != 429:  # another minute began in between
                    asked.append(await first.request(method, url))
            if "304" in answers:
                tag = (await client.get(url)).headers["etag"]
                asked.append(await client.get(url, headers={"If-None-Match": tag}))
            if "206" in answers:
                asked.append(await client.get(url, headers={"Range": "bytes=0-1"}))
                asked.append(await client.get(url, headers={"Range": "bytes=99999999-"}))
            if "406" in answers:
                asked.append(await client.get(url, headers={"Accept-Encoding": "identity;q=0"}))
            if "401" in answers:
                asked.append(await client.request(method, url))
            if "requestBody" in operation:
                json_type = {"Content-Type": "application/json", **secured}
                plain = {"Content-Type": "text/plain", **secured}
                asked.append(await client.request(method, url, content=b"[", headers=json_type))
                asked.append(await client.request(method, url, content=b"a=b", headers=plain))
                asked.append(await client.request(method, url, content=b" " * 1_100_000, headers=json_type))
            elif "400" in answers:
                where = path.replace("{address}", "0x12") if "{address}" in path else f"{url}?nothing=1"
                asked.append(await client.request(method, where, headers=secured))
            seen += [Seen(operation_id, answer) for answer in asked]
    return seen


def response_of(seen: Seen) -> dict[str, Any]:
    responses = OPERATIONS[seen.operation_id][2]["responses"]
    assert str(seen.answer.status_code) in responses, (seen.operation_id, seen.answer.status_code, seen.answer.text)
    return responses[str(seen.answer.status_code)]


def is_of_trials_alone(response: dict[str, Any]) -> bool:
    """Decides whether only trial keys are refused with this response: see `tests/api/access/test_trial_keys.py`."""
    codes = set(re.findall(r"`(\w+)`:", response["description"]))
    return bool(codes) and codes <= {"trial_excluded", "trial_full"}


def is_bought(response: dict[str, Any]) -> bool:
    """Decides whether only a signed payment gets this response: see `tests/api/access/test_signed_payments.py`."""
    return response["description"].startswith("A key, bought by the signed payment")


def check(schema: dict[str, Any], value: Any) -> None:
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(value)


def test_every_answer_has_a_described_status_and_a_body_that_fits(recorded):
    for seen in recorded[2]:
        content = response_of(seen).get("content", {})
        if not seen.answer.content:
            assert seen.answer.status_code in (202, 204, 302, 304), seen
            continue
        media_type = seen.answer.headers["content-type"].partition(";")[0]
        assert media_type in content, seen
        if seen.answer.status_code != 206 and (media_type == "application/json" or media_type.endswith("+json")):
            check(content[media_type]["schema"], seen.answer.json())


def test_every_answer_carries_the_header_fields_that_are_described_and_only_those(recorded):
    of_all = {"content-type", "content-length", "content-encoding", "cache-control", "vary", "x-request-id"}
    cross_origin = (OPEN_HEADERS | ACTION_HEADERS | PREFLIGHT_HEADERS).keys() - HEADERS.keys()
    of_all |= {"date", "server"} | {name.lower() for name in cross_origin}
    of_pages = {name.lower() for name in PAGE_HEADERS}
    for seen in recorded[2]:
        described = response_of(seen).get("headers", {})
        given = {name.lower() for name in seen.answer.headers}
        is_page = seen.answer.headers.get("content-type", "").startswith(("text/html", "image/svg"))
        undescribed = given - {name.lower() for name in described} - of_all - (of_pages if is_page else set())
        assert undescribed == set(), seen
        required = {name.lower() for name in described if HEADERS.get(name, {}).get("required")}
        assert required <= given, (seen, required - given)


def test_only_counted_requests_report_limits(recorded):
    _, recorder, _ = recorded
    for operation_id, answer in recorder.seen:
        method, path, _ = OPERATIONS[operation_id]
        counts = is_limited(path) and method.lower() != "options"
        assert ("ratelimit-policy" in answer.headers) == counts, (operation_id, answer.headers)
        if "ratelimit" in answer.headers:
            assert re.fullmatch(r'"(permin|daily)";r=\d+;t=\d+', answer.headers["ratelimit"])


def test_every_described_status_is_given(recorded):
    seen = {(each.operation_id, each.answer.status_code) for each in recorded[2]}
    described = {
        (operation_id, int(status))
        for operation_id, (_, _, operation) in OPERATIONS.items()
        for status in operation["responses"]
        if int(status) not in ELSEWHERE
        and not (operation["security"] and int(status) in BY_SIGNATURE)
        and not is_of_trials_alone(operation["responses"][status])
        and not is_bought(operation["responses"][status])
    }
    missing = sorted(described - seen - set(REACHED_ELSEWHERE))
    assert missing == [], "provoke it in tests/record_examples.py or here, or name its test in REACHED_ELSEWHERE"


def test_a_method_that_is_not_described_is_refused_with_those_that_are(recorded):
    refused = [seen for seen in recorded[2] if seen.answer.status_code == 405]
    assert {seen.operation_id for seen in refused} >= {name for name, row in OPERATIONS.items() if row[0] != "options"}
    for seen in refused:
        allowed = set(seen.answer.headers["allow"].split(", "))
        described = {method.upper() for method in DESCRIPTION["paths"][OPERATIONS[seen.operation_id][1]]}
        assert allowed - {"HEAD", "OPTIONS"} == described - {"OPTIONS"}, seen


def test_the_recorded_examples_are_what_the_service_answers(recorded):
    assert outdated(recorded[1]) == [], "run `make contracts`"


def test_every_published_example_fits_its_schema_and_nothing_lacks_one(recorded):
    whole = expanded(published(recorded[0])[0])
    missing = []
    for path, operation in [
        (path, each) for path, operations in whole["paths"].items() for each in operations.values()
    ]:
        operation_id = operation["operationId"]
        for parameter in operation.get("parameters", []):
            if "example" not in parameter:
                missing.append((operation_id, parameter["name"]))
            else:
                check(parameter["schema"], parameter["example"])
        bodies = operation.get("requestBody", {}).get("content", {})
        for status, content in [
            ("request", bodies),
            *(
                (status, response.get("content", {}))
                for status, response in operation["responses"].items()
                if not is_bought(response) and status != "206"
            ),
        ]:
            has_examples = any("examples" in media for media in content.values())
            if content and not has_examples and operation_id not in UNRECORDED and "{file}" not in path:
                missing.append((operation_id, status))
            for media in content.values():
                for example in media.get("examples", {}).values():
                    if "$ref" in example:
                        example = whole["components"]["examples"][example["$ref"].rpartition("/")[2]]
                    check(
                        media["schema"], example["value"] if "value" in example else published_at(recorded[0], example)
                    )
    missing = [(operation_id, where) for operation_id, where in missing if not operation_id.startswith("mcp")]
    named = [("agent_access_case_supplement", "201"), ("agent_access_quote_code", "200")]
    assert sorted(missing) == named, "a recorded quote would name another's address"


def test_every_operation_says_what_it_is_and_who_may_call_it():
    tags = {tag["name"] for tag in DESCRIPTION["tags"]}
    for operation_id, (_, path, operation) in OPERATIONS.items():
        assert operation["summary"] and operation["description"], operation_id
        assert operation["tags"] and set(operation["tags"]) <= tags, operation_id
        assert bool(operation["security"]) == ("401" in operation["responses"]), operation_id
        assert set(re.findall(r"{(\w+)}", path)) == {
            each["name"] for each in operation.get("parameters", []) if each["in"] == "path"
        }


def test_every_link_leads_from_what_an_answer_holds_to_an_operation_that_takes_it(recorded):
    exchanges = recorded[1].exchanges
    for operation_id, (_, _, operation) in OPERATIONS.items():
        for status, response in operation["responses"].items():
            for link in response.get("links", {}).values():
                target = OPERATIONS[link["operationId"]][2]
                assert set(link.get("parameters", {})) <= {each["name"] for each in target.get("parameters", [])}
                body = next(each["body"] for each in exchanges[operation_id] if each["status"] == int(status))
                for expression in (*link.get("parameters", {}).values(), *link.get("requestBody", {}).values()):
                    resolve(body, expression.removeprefix("$response.body#"))


def resolve(body: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        body = body[int(part)] if isinstance(body, list) else body[part]
    return body


def published_at(service: WholeService, example: dict[str, str]) -> Any:
    """Returns the published document that an example names: the value of JSON or YAML, otherwise the text."""
    path = example["externalValue"].removeprefix(service.settings.public_base_url)
    aliases = {alias.path: row.path for row in PROJECTIONS for alias in row.aliases}
    file = service.house.current / "public" / file_of(aliases.get(path, path))
    if file.suffix in (".txt", ".md", ".svg", ".xml"):
        return file.read_text()
    return _yaml(file) if file.suffix == ".yaml" else json.loads(file.read_bytes())


def published(service: WholeService) -> tuple[dict[str, Any], dict[str, Any]]:
    public: Path = service.house.current / "public"
    whole = json.loads((public / OPENAPI_PATH.strip("/")).read_bytes())
    return whole, _yaml(public / OPENAPI_V2_PATH.strip("/"))


def _yaml(file: Path) -> Any:
    return yaml.load(file.read_bytes(), yaml.CSafeLoader)


def test_the_published_description_differs_only_in_its_own_address_and_bodies(recorded):
    service = recorded[0]
    whole, v2 = published(service)
    assert whole["servers"] == v2["servers"] == [{"url": service.settings.public_base_url}]
    assert set(whole["paths"]) == set(DESCRIPTION["paths"])
    shown = whole["paths"]["/svc-context.json"]["get"]["responses"]["200"]["content"]["application/json"]["examples"]
    assert published_at(service, shown["published"])["ok"] is True
    validate(whole)


def test_the_description_of_api_v2_is_that_part_of_the_whole_and_complete(recorded):
    whole, v2 = published(recorded[0])
    assert set(v2["paths"]) == {path for path in whole["paths"] if path.startswith(V2_PREFIX)}
    assert v2["info"] == whole["info"]
    for ref in references(v2):
        kind, name = ref.split("/")[2:]
        assert v2["components"][kind][name] == whole["components"][kind][name]


def test_publishing_again_keeps_every_byte(recorded):
    service = recorded[0]
    before = [
        (service.house.current / "public" / path.strip("/")).read_bytes() for path in (OPENAPI_PATH, OPENAPI_V2_PATH)
    ]
    service.house.publish()
    after = [
        (service.house.current / "public" / path.strip("/")).read_bytes() for path in (OPENAPI_PATH, OPENAPI_V2_PATH)
    ]
    assert before == after
