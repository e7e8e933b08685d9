"""Keys over HTTP: the same 401 whatever is wrong, exact quotas by UTC day, and changes that a key sees at once."""

import gzip
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from described import expanded
from keyed_service import ACTION, CHECK, NOON_S, bearer, serving, x_api_key
from ledger_process import admit_many, started
from openapi_schema_validator import OAS30Validator
from patience import HANG_S
from rounds import ROUNDS
from trial_wallets import trial_key, wallet

from api.key_gate import presented_key
from contracts.access.api_keys import new_key
from contracts.access.tiers import Role, Tier
from contracts.access.trial_plan import trial_plan
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.errors import StoreBusy
from contracts.problems import Problem
from contracts.publish.routes import is_metered
from contracts.settings import Settings
from warehouse.access.keys import list_keys, reinstate_key, revoke_key, rotate_key, suspend_key

PROCESSES = ROUNDS + 1
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))
NEED_A_KEY = [
    (method, path)
    for path, operations in DESCRIPTION["paths"].items()
    for method, operation in operations.items()
    if operation["security"]
]


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings) as running:
        yield running


def without_request_id(answer):
    return {name: value for name, value in answer.json().items() if name != "requestId"}


def test_some_routes_need_a_key():
    assert ("post", CHECK) in NEED_A_KEY


def test_every_route_that_needs_a_key_gives_one_401_whatever_is_wrong(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)) as service:
        good, other, revoked, suspended = (service.key() for _ in range(4))
        service.change(revoke_key, revoked)
        service.change(suspend_key, suspended)
        text = good.key.reveal()
        wrong = [
            {},
            {"Authorization": ""},
            {"Authorization": "Bearer"},
            {"Authorization": f"Basic {text}"},
            {"Authorization": text},
            {"Authorization": f"Bearer {text}x"},
            {"Authorization": f"Bearer {text[:-1]}"},
            {"Authorization": "Bearer " + "x" * 10_000},
            {"Authorization": f"Bearer {new_key(Tier.PRO).reveal()}"},
            {"X-Api-Key": ""},
            {"X-Api-Key": text.upper()},
            {"X-Api-Key": b"\xff\xfe"},
            bearer(revoked),
            x_api_key(suspended),
            bearer(good) | x_api_key(other),
            bearer(other) | {"X-Api-Key": "nonsense"},
            {"Authorization": f"Basic {text}"} | x_api_key(good),
        ]
        for method, path in NEED_A_KEY:
            body = {"content": b"{"} if method == "post" else {}
            first, *rest = service.ask(*[(method.upper(), path, headers, body) for headers in wrong])
            assert first.status_code == 401, path
            assert first.headers["www-authenticate"] == 'Bearer realm="svc"', path
            Problem.model_validate_json(first.content)
            answers = DESCRIPTION["paths"][path][method]["responses"]
            schema = answers["401"]["content"]["application/problem+json"]["schema"]
            OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(first.json())
            for headers, answer in zip(wrong[1:], rest, strict=True):
                told = (answer.status_code, answer.headers["www-authenticate"], without_request_id(answer))
                assert told == (401, 'Bearer realm="svc"', without_request_id(first)), (path, headers)


def test_a_valid_key_is_let_in_by_either_header_or_both(service):
    issued = service.key()
    answers = [
        service.check(headers)[0] for headers in (bearer(issued), x_api_key(issued), bearer(issued) | x_api_key(issued))
    ]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert [answer.headers["ratelimit"] for answer in answers] == [f'"daily";r={99 - n};t=43200' for n in range(3)]
    assert answers[0].headers["ratelimit-policy"] == '"daily";q=100;w=86400'


@pytest.mark.parametrize(
    ("authorization", "x_api_key", "presented"),
    [
        ([], [], None),
        ([b"Bearer a"], [], "a"),
        ([b"bearer   a "], [], "a"),
        ([], [b" a "], "a"),
        ([b"Bearer a"], [b"a"], "a"),
        ([b"Bearer a"], [b"b"], None),
        ([b"Bearer a", b"Bearer b"], [], None),
        ([b"Bearer a", b"Bearer a"], [], "a"),
        ([], [b"a", b"b"], None),
        ([b"Basic a"], [b"a"], None),
        ([b"Bearer"], [], ""),
        ([b"Bearer \xff"], [], "\xff"),
    ],
)
def test_the_presented_key_is_the_one_that_all_headers_agree_on(authorization, x_api_key, presented):
    assert presented_key(authorization, x_api_key) == presented


def test_a_free_key_has_exactly_its_hundred_and_then_is_told_when_to_come_back(service):
    issued = service.key()
    answers = service.check(bearer(issued), times=102)
    assert [answer.status_code for answer in answers] == [200] * 100 + [429] * 2
    refused = answers[-1]
    assert refused.headers["retry-after"] == "43200"
    assert refused.headers["ratelimit"] == '"daily";r=0;t=43200'
    problem = Problem.model_validate_json(refused.content)
    assert (problem.code, problem.retryable, problem.violated_policies) == ("quota_exceeded", True, ["daily"])
    assert problem.type == "https://iana.org/assignments/http-problem-types#quota-exceeded"
    service.now_s = NOON_S + 43_199
    assert service.check(bearer(issued))[0].status_code == 429
    service.now_s = NOON_S + 43_200
    assert service.check(bearer(issued))[0].headers["ratelimit"] == '"daily";r=99;t=86400'


def test_tiers_have_their_limits_and_pro_has_none(service):
    basic, pro = service.key(Tier.BASIC), service.key(Tier.PRO)
    assert service.check(bearer(basic))[0].headers["ratelimit-policy"] == '"daily";q=1000;w=86400'
    answers = service.check(bearer(pro), times=130)
    assert {answer.status_code for answer in answers} == {200}
    assert "ratelimit" not in answers[0].headers


def test_a_key_has_the_free_limit_as_soon_as_its_paid_time_ends(service):
    until = datetime.fromtimestamp(NOON_S, UTC) + timedelta(minutes=1)
    issued = service.key(Tier.PRO, paid_until=until)
    assert "ratelimit" not in service.check(bearer(issued))[0].headers
    service.now_s += 60
    assert service.check(bearer(issued))[0].headers["ratelimit-policy"] == '"daily";q=100;w=86400'


def test_revoking_and_suspending_hold_from_the_next_request(service):
    first = service.key()
    steps = [(None, 200), (suspend_key, 401), (reinstate_key, 200), (revoke_key, 401)]
    for step, status in steps:
        if step is not None:
            service.change(step, first)
        assert service.check(bearer(first))[0].status_code == status


def test_a_rotated_key_continues_the_quota_of_the_first(service):
    first = service.key()
    service.check(bearer(first), times=3)
    with service.ledger.transaction() as tx:
        second = rotate_key(tx, service.pepper, first.record.key_id, now=datetime.now(UTC))
    assert service.check(bearer(first))[0].status_code == 401
    assert service.check(bearer(second))[0].headers["ratelimit"] == '"daily";r=96;t=43200'


REFUSED_BEFORE_WORK = [
    ("POST", CHECK, {"json": []}, 400),
    ("POST", CHECK, {"json": {"action": "ls", "mood": "fine"}}, 400),
    ("POST", CHECK, {"content": b" " * 270_000}, 413),
    ("POST", CHECK, {"content": b"ls"}, 415),
    ("PUT", CHECK, {"json": ACTION}, 405),
    ("GET", "/api/v2/world-model/nowhere", {}, 404),
    ("GET", "/api/v2/world-model/live?limit=none", {}, 400),
    ("GET", "/api/v2/world-model/live?limit=1&limit=1", {}, 400),
]


@pytest.mark.parametrize(("method", "path", "options", "status"), REFUSED_BEFORE_WORK)
def test_requests_refused_before_work_cost_the_address_and_not_the_key(service, method, path, options, status):
    issued = service.key()
    refused = service.ask((method, path, bearer(issued), options))[0]
    assert (refused.status_code, refused.headers["ratelimit"]) == (status, '"permin";r=19;t=60')
    assert service.check(bearer(issued))[0].headers["ratelimit"] == '"daily";r=99;t=43200'
    assert service.check({})[0].headers["ratelimit"] == '"permin";r=18;t=60'


def test_a_400_that_work_finds_costs_the_address_and_a_500_the_key(service):
    issued = service.key()
    found = service.check(bearer(issued), json={"action": "\0"})[0]
    assert (found.status_code, found.headers["ratelimit"]) == (400, '"permin";r=19;t=60')

    def fail(*_):
        raise RuntimeError

    service.stores._guardrail_log.record = fail
    answer = service.check(bearer(issued))[0]
    assert (answer.status_code, answer.headers["ratelimit"]) == (500, '"daily";r=99;t=43200')


METERED = [(method.upper(), path) for method, path in NEED_A_KEY if is_metered(path)]
TAKING_A_BODY = [place for place in METERED if "requestBody" in DESCRIPTION["paths"][place[1]][place[0].lower()]]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def roomy(tmp_path):
    """A service that allows an address many requests per minute."""
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=1_000)) as running:
        yield running


def counted_for(answer):
    return answer.headers["ratelimit"].partition(";")[0].strip('"')


def filled_in(path):
    given = {"{nodeId}": "node_none", "{decision}": "1", "{importId}": "import_none", "{number}": "1"}
    return re.sub(r"{\w+}", lambda name: given[name[0]], path)


def test_a_request_that_no_key_could_send_costs_the_address_on_every_route(roomy):
    issued = roomy.key(Tier.BASIC)
    headers = bearer(issued)
    wrong = [(method, filled_in(path), headers | JSON, {"content": b"{"}) for method, path in TAKING_A_BODY]
    wrong += [(method, filled_in(path), headers, {"content": b"x"}) for method, path in TAKING_A_BODY]
    wrong += [
        (method, filled_in(path), headers | JSON, {"content": b" " * 5_000_000}) for method, path in TAKING_A_BODY
    ]
    compressed = {"content": gzip.compress(b"{}")}
    wrong += [
        (method, filled_in(path), headers | JSON | {"content-encoding": "gzip"}, compressed)
        for method, path in TAKING_A_BODY
    ]
    wrong += [("PATCH", filled_in(path), headers, {}) for _, path in METERED]
    wrong.append(("GET", "/api/v2/world-model/nowhere", headers, {}))
    wrong += [
        (method, f"{filled_in(path)}?{parameter['name']}=a&{parameter['name']}=b", headers, {})
        for method, path in METERED
        for parameter in DESCRIPTION["paths"][path][method.lower()].get("parameters", ())
        if parameter["in"] == "query"
    ]
    answers = roomy.ask(*wrong)
    assert {answer.status_code for answer in answers} == {400, 404, 405, 413, 415, 421}
    assert [
        (method, path, answer.text)
        for (method, path, *_), answer in zip(wrong, answers, strict=True)
        if counted_for(answer) != "permin"
    ] == []


FOUND_AT_WORK = [
    ("POST", CHECK, {"action": "\0"}),
    ("POST", "/api/v2/world-model/query", {"node_types": ["Nonsense"]}),
    ("POST", "/api/v2/world-model/query", {"cursor": "nonsense"}),
    ("POST", "/api/v2/world-model/signal", {"type": "Nonsense", "title": "a", "source": "me"}),
    ("POST", "/api/v2/world-model/erase", {"confirm": "nonsense"}),
    ("PUT", "/api/v2/world-model/ontology", {"expectedVersion": 7}),
    ("POST", "/api/v2/guardrail/approvals", {"digest": "0" * 64, "owner": "nobody:x"}),
    (
        "POST",
        "/api/v2/knowledge-graph/build",
        {"mode": "preview", "documents": [{"id": "a", "text": "{", "mediaType": "application/json"}]},
    ),
    ("GET", "/api/v2/world-model/live?cursor=nonsense", None),
    ("GET", "/api/v2/world-model/ontology?version=7", None),
    ("GET", "/api/v2/world-model/export?cursor=nonsense", None),
]


@pytest.mark.parametrize(("method", "path", "body"), FOUND_AT_WORK)
def test_a_400_costs_the_address_also_where_work_finds_it(service, method, path, body):
    issued = service.key(role=Role.OPERATOR)
    (answer,) = service.ask((method, path, bearer(issued), {} if body is None else {"json": body}))
    assert (answer.status_code, answer.headers["ratelimit"]) == (400, '"permin";r=19;t=60'), answer.text
    assert service.check(bearer(issued))[0].headers["ratelimit"] == '"daily";r=99;t=43200'


def test_requests_outside_a_trial_cost_the_address_on_every_route(roomy):
    headers = {"X-Api-Key": trial_key(roomy, wallet(1))["apiKey"]}
    excluded = [(method, path) for method, path in METERED if not trial_plan().includes(f"{method} {path}")]
    public = {"type": "Goal", "title": "Answer", "source": "me", "visibility": "public"}
    answers = roomy.ask(
        *[(method, filled_in(path), headers, {}) for method, path in excluded],
        ("POST", "/api/v2/world-model/signal", headers, {"json": public}),
    )
    assert len(answers) >= 8
    assert {(answer.json()["code"], counted_for(answer)) for answer in answers} == {("trial_excluded", "permin")}


def test_requests_refused_because_of_stored_state_cost_the_key(service):
    issued = service.key()
    answers = service.ask(
        ("GET", "/api/v2/world-model/nodes/node_none", bearer(issued), {}),
        ("POST", "/api/v2/guardrail/approvals", bearer(issued), {"json": {"digest": "0" * 64, "owner": "local:other"}}),
    )
    assert [(answer.json()["code"], counted_for(answer)) for answer in answers] == [
        ("node_unknown", "daily"),
        ("operator_role_needed", "daily"),
    ]


def test_once_the_minute_of_the_address_is_used_up_a_refused_request_costs_the_key(service):
    issued = service.key()
    answers = service.check(bearer(issued), times=25, json=[])
    assert {answer.status_code for answer in answers} == {400}
    assert [answer.headers["ratelimit"] for answer in answers[18:22]] == [
        '"permin";r=1;t=60',
        '"permin";r=0;t=60',
        '"daily";r=99;t=43200',
        '"daily";r=98;t=43200',
    ]
    assert service.check({})[0].status_code == 429
    answers = service.check(bearer(issued), times=96, json=[])
    assert [answer.status_code for answer in answers] == [400] * 95 + [429]


def test_without_a_limit_of_addresses_what_is_refused_before_work_costs_nothing(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)) as service:
        issued = service.key()
        service.check(bearer(issued), times=130, json=[])
        assert service.check(bearer(issued))[0].headers["ratelimit"] == '"daily";r=99;t=43200'


def test_exactly_the_simultaneous_requests_whose_work_began_are_counted(service):
    issued = service.key()
    good, bad = {"json": ACTION}, {"json": []}
    requests = [("POST", CHECK, bearer(issued), options) for options in (good, bad) * 15]
    answers = service.ask_at_once(*requests)
    assert sorted(answer.status_code for answer in answers) == [200] * 15 + [400] * 15
    assert service.check(bearer(issued))[0].headers["ratelimit"] == '"daily";r=84;t=43200'
    assert service.check({})[0].headers["ratelimit"] == '"permin";r=4;t=60'


def test_a_valid_key_spares_the_address_and_an_invalid_one_does_not(service):
    issued, wrong = service.key(), {"X-Api-Key": new_key(Tier.FREE).reveal()}
    assert {answer.status_code for answer in service.check(bearer(issued), times=30)} == {200}
    answers = service.check(wrong, times=21)
    assert [answer.status_code for answer in answers] == [401] * 20 + [429]
    assert answers[0].headers["ratelimit-policy"] == '"permin";q=20;w=60'
    assert answers[-1].json()["violated-policies"] == ["permin"]
    assert service.check(bearer(issued))[0].status_code == 200


def test_use_is_written_to_the_ledger_in_batches(service):
    issued = service.key()
    service.check(bearer(issued), times=5)
    service.gate.write_uses()
    service.check({"X-Api-Key": issued.key.reveal()[:-1]})
    service.gate.close()
    with service.ledger.read() as reader:
        (usage,) = list_keys(reader, now=datetime.fromtimestamp(NOON_S, UTC))
    assert (usage.requests, usage.requests_today) == (5, 5)
    assert usage.last_used_at == usage.key.first_used_at == datetime.fromtimestamp(NOON_S, UTC)


@pytest.mark.parametrize("store", ["ledger", "counters"])
def test_a_failing_store_is_answered_with_503_until_it_recovers(tmp_path, store):
    class Failing:
        def fetch(self, question, parameters):
            raise StoreBusy("It stayed locked.", cure="Wait.")

    with serving(Settings(_env_file=None, data_dir=tmp_path)) as service:
        issued = service.key()
        assert service.check(bearer(issued))[0].status_code == 200
        holder, name = (service.gate._lookup, "_store") if store == "ledger" else (service.counters._rates, "store")
        working = getattr(holder, name)
        setattr(holder, name, Failing())
        answer = service.check(bearer(issued))[0]
        assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
        assert (answer.headers["retry-after"], answer.json()["retryable"]) == ("2", True)
        assert service.ask(("GET", "/api/v2/nowhere", bearer(issued), {}))[0].status_code == 404
        setattr(holder, name, working)
        assert service.check(bearer(issued))[0].headers["ratelimit"] == '"daily";r=98;t=43200'


def test_unopenable_stores_are_answered_with_503(tmp_path):
    with serving(Settings(_env_file=None, data_dir=tmp_path)) as service:
        issued = service.key()
        service.stores._secrets = None
        (tmp_path / "master.secret").write_text("")
        assert service.check(bearer(issued))[0].status_code == 503


def test_processes_admit_exactly_the_quota(ledger_settings):
    with serving(ledger_settings) as service:
        issued = service.key()
        settings = service.settings
        processes = []
        try:
            for _ in range(PROCESSES):
                process = started(admit_many, settings, issued.key.reveal(), 60, NOON_S)
                processes.append((process, process.__enter__()))
            admitted = [int(running.communicate(timeout=HANG_S)[0]) for _, running in processes]
        finally:
            for process, _ in processes:
                process.__exit__(None, None, None)
        assert sum(admitted) == 100
        with service.ledger.read() as reader:
            (usage,) = list_keys(reader, now=datetime.fromtimestamp(NOON_S, UTC))
        assert usage.requests_today == 100


def test_keys_have_no_form_in_the_description():
    assert not re.search(r"svc_(free|basic|pro)_[0-9A-Za-z]{36}", OPENAPI_FILE.read_text())
