"""Wallet actions over HTTP: what a client of the Actions specification needs, and answers that help it."""

import json

import pytest
from described import expanded
from keyed_service import serving
from openapi_schema_validator import OAS30Validator

from contracts.discovery import wallet_actions
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.errors import StoreBusy
from contracts.guardrail import RulesetInvalid
from contracts.problems import Problem
from contracts.settings import Settings

DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))
PATHS = (wallet_actions.GUARDRAIL_BLINK_PATH, wallet_actions.WORLD_BLINK_PATH)
PAYER = {"account": "0x" + "70" * 20}


def settings(data_dir, **given) -> Settings:
    base = {
        "base_url": "https://svc.example/under",
        "data_dir": data_dir,
        "rate_limit_per_minute": 0,
        "chain_id": 84532,
    }
    return Settings(_env_file=None, **(base | given))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with serving(settings(tmp_path_factory.mktemp("blink"))) as running:
        yield running


def get(service, path, headers=None):
    return service.ask(("GET", path, headers or {}, {}))[0]


def post(service, path, body=PAYER, **options):
    return service.ask(("POST", path, {}, {"json": body, **options}))[0]


def described(answer, path, method="post"):
    responses = DESCRIPTION["paths"][path][method]["responses"]
    media_type = answer.headers["content-type"].partition(";")[0]
    schema = responses[str(answer.status_code)]["content"][media_type]["schema"]
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())


def check_fields_of_wallets(answer):
    headers = answer.headers
    assert headers["access-control-allow-origin"] == "*"
    assert headers["access-control-allow-methods"] == "GET,POST,PUT,OPTIONS"
    assert {"Content-Type", "X-Action-Version"} <= set(headers["access-control-allow-headers"].split(", "))
    assert {"X-Action-Version", "X-Blockchain-Ids"} <= set(headers["access-control-expose-headers"].split(", "))
    assert (headers["x-action-version"], headers["x-blockchain-ids"]) == ("2.4", "eip155:84532")


@pytest.mark.parametrize("path", PATHS)
def test_an_action_has_what_a_wallet_shows(service, path):
    answer = get(service, path)
    check_fields_of_wallets(answer)
    described(answer, path, "get")
    action = answer.json()
    assert (action["type"], action["disabled"]) == ("action", False)
    assert action["icon"] == "https://svc.example/under/icon.svg"
    assert action["title"] and action["description"] and action["label"]
    form, link = action["links"]["actions"]
    assert (form["type"], link["type"]) == ("post", "external-link")
    assert link["href"] == f"https://svc.example/under{path}"
    names = [parameter["name"] for parameter in form["parameters"]]
    assert form["href"] == f"{link['href']}?" + "&".join(f"{name}={{{name}}}" for name in names)
    select = form["parameters"][1]
    assert [option["value"] for option in select["options"] if option.get("selected")] in (["medium"], ["any"])
    assert "error" not in action
    assert "options" not in form["parameters"][0]


@pytest.mark.parametrize("path", PATHS)
def test_browsers_may_post(service, path):
    (answer,) = service.ask(("OPTIONS", path, {"access-control-request-method": "POST"}, {}))
    assert (answer.status_code, answer.content) == (204, b"")
    check_fields_of_wallets(answer)


@pytest.mark.parametrize(("action", "title"), [("git reset --hard", "Blocked"), ("ls -la", "Passed")])
@pytest.mark.parametrize("in_address", [True, False])
def test_a_check_is_answered_with_its_verdict(service, action, title, in_address):
    given = {"action": action, "severity": "high"}
    if in_address:
        answer = post(service, wallet_actions.GUARDRAIL_BLINK_PATH, params=given)
    else:
        answer = post(service, wallet_actions.GUARDRAIL_BLINK_PATH, PAYER | {"type": "post", "data": given})
    check_fields_of_wallets(answer)
    described(answer, wallet_actions.GUARDRAIL_BLINK_PATH)
    said = answer.json()
    assert (answer.status_code, said["type"]) == (200, "post")
    assert said["message"].startswith(f"{title}: ")
    done = said["links"]["next"]["action"]
    assert (said["links"]["next"]["type"], done["type"], done["title"]) == ("inline", "completed", title)
    assert said["verdict"]["passed"] is (title == "Passed")
    assert all(remedy in done["description"] for remedy in said["verdict"]["remediation"])
    assert "transaction" not in answer.text


def test_the_claimed_severity_counts_and_is_medium_unless_said(service):
    for severity, title in ({"severity": "low"}, "Passed"), ({}, "Blocked"), ({"severity": ""}, "Blocked"):
        answer = post(service, wallet_actions.GUARDRAIL_BLINK_PATH, params={"action": "git reset --hard", **severity})
        assert answer.json()["links"]["next"]["action"]["title"] == title


def test_a_search_is_answered_from_the_public_graph(service):
    answer = post(service, wallet_actions.WORLD_BLINK_PATH, params={"search": "trust", "domain": "any"})
    check_fields_of_wallets(answer)
    described(answer, wallet_actions.WORLD_BLINK_PATH)
    assert answer.json()["links"]["next"]["action"]["title"] == "0 public nodes match"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", [PAYER, PAYER | {"data": {}}, PAYER | {"data": {"action": [], "search": "  "}}])
def test_an_action_without_its_parameter_leads_on(service, path, body):
    answer = post(service, path, body)
    described(answer, path)
    assert answer.json() == {
        "type": "external-link",
        "externalLink": "https://svc.example/under/connect/",
        "message": "Go on there.",
    }


def test_the_application_is_where_it_leads_where_there_is_one(tmp_path):
    with serving(settings(tmp_path, app_url="https://app.example/start")) as running:
        assert post(running, PATHS[0]).json()["externalLink"] == "https://app.example/start"
        assert get(running, PATHS[0]).json()["links"]["actions"][1]["label"] == "Open the application"


@pytest.mark.parametrize(
    ("path", "options", "status"),
    [
        (PATHS[0], {"params": {"action": "ls", "severity": "dire"}}, 400),
        (PATHS[0], {"params": [("action", "ls"), ("action", "rm")]}, 400),
        (PATHS[0], {"params": {"action": "x" * 2_001}}, 400),
        (PATHS[0], {"json": {"account": PAYER["account"], "data": {"action": "y" * 40_000}}}, 400),
        (PATHS[0], {"json": {"account": PAYER["account"], "data": {"action": " \n"}}}, 400),
        (PATHS[0], {"json": {}}, 400),
        (PATHS[0], {"json": {"account": 7}}, 400),
        (PATHS[0], {"json": [PAYER]}, 400),
        (PATHS[0], {"json": None, "content": b"{"}, 400),
        (PATHS[0], {"json": None, "content": b"x" * 70_000}, 413),
        (PATHS[1], {"params": {"search": "a", "domain": "NOWHERE"}}, 400),
        (PATHS[1], {"params": {"search": "s" * 1_001}}, 400),
    ],
)
def test_bad_input_is_refused_with_a_message(service, path, options, status):
    options = {"json": PAYER} | options
    headers = {"content-type": "application/json"}
    (answer,) = service.ask(("POST", path, headers, options))
    assert answer.status_code == status
    check_fields_of_wallets(answer)
    described(answer, path)
    problem = Problem.model_validate_json(answer.content)
    assert answer.json()["message"] == problem.detail


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/blink/none", 404), ("PUT", PATHS[0], 405), ("DELETE", PATHS[1], 405)]
)
def test_other_paths_and_methods_say_so_to_wallets_too(service, method, path, status):
    (answer,) = service.ask((method, path, {}, {}))
    assert answer.status_code == status
    check_fields_of_wallets(answer)
    assert answer.json()["message"]


def test_a_body_that_is_not_json_is_415(service):
    (answer,) = service.ask(("POST", PATHS[0], {"content-type": "text/plain"}, {"content": b"{}"}))
    assert answer.status_code == 415
    check_fields_of_wallets(answer)


def test_a_refusal_for_too_many_requests_says_so_to_wallets_too(tmp_path):
    with serving(settings(tmp_path, rate_limit_per_minute=2)) as running:
        answers = [get(running, PATHS[0]) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    check_fields_of_wallets(answers[2])
    assert answers[2].json()["message"]
    assert answers[2].headers["retry-after"]


def no_policy():
    raise RulesetInvalid("policy.yaml:3: no rows.", cure="Mend it.")


class NoGraph:
    def seen_by(self, owner):
        raise StoreBusy("The ledger is locked.", cure="Wait.")


def test_currently_unavailable_actions_are_shown_as_disabled(tmp_path):
    with serving(settings(tmp_path)) as running:
        running.stores._load_guardrail = no_policy
        running.stores._graph = NoGraph()
        for path in PATHS:
            action = get(running, path).json()
            assert action["disabled"] is True
            assert action["error"]["message"].endswith("can't be read at the moment.")
            answer = post(running, path, params={"action": "ls", "search": "a"})
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
            check_fields_of_wallets(answer)
