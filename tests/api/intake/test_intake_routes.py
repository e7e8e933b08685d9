"""Intake over HTTP: the answers to the holder of an id, the answers to anybody else, and refusals."""

import json
import re
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from described import expanded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from intakes import AGENT, ENTERPRISE, HUMAN, INTAKE, LANES, get, register
from keyed_service import KeyedService, serving
from openapi_schema_validator import OAS30Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4
from rounds import ROUNDS

from contracts.discovery.openapi import OPENAPI_FILE
from contracts.intake.artifact_documents import TemplateArtifact
from contracts.intake.artifacts import ARTIFACT_KINDS, Facts, artifact
from contracts.intake.intake_documents import (
    IntakeLinks,
    IntakeProvisioningCapsule,
    IntakeResponse,
    IntakeStats,
    IntakeStatusResponse,
    RecentIntakes,
)
from contracts.intake.requests import CONSENT_VERSION
from contracts.problems import Problem
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from warehouse.intake.intakes import activate_by_claim, follow_claim, review

BASE_URL = "https://svc.example"
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))


@pytest.fixture
def service(ledger_settings: Settings):
    changes = {"rate_limit_per_minute": 0, "base_url": BASE_URL}
    with serving(ledger_settings.model_copy(update=changes)) as opened:
        yield opened


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """One service for many bodies."""
    changes = {"rate_limit_per_minute": 0, "base_url": BASE_URL, "data_dir": tmp_path_factory.mktemp("lasting")}
    with serving(Settings(_env_file=None, **changes)) as opened:
        yield opened


def registered(service: KeyedService, body: dict, **headers: str) -> dict:
    answer = register(service, body, **headers)
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    IntakeResponse.model_validate_json(answer.text)
    return answer.json()


def _without(answer: dict, names: set[str]) -> dict:
    return {name: value for name, value in answer.items() if name not in names}


def refused(answer, status: int, code: str, *pointers: str) -> None:
    problem = Problem.model_validate(answer.json())
    assert (answer.status_code, problem.code) == (status, code), answer.text
    assert {error.pointer for error in problem.errors} == set(pointers)


def test_every_lane_is_answered_with_what_its_holder_needs(service):
    for body in LANES:
        answer = registered(service, body)
        assert answer["id"] == answer["intakeId"]
        assert re.fullmatch("[0-9a-f]{32}", answer["id"])
        assert (answer["lane"], answer["source"]) == (body["lane"], "api")
        status = get(service, f"{INTAKE}/{answer['id']}")
        capsule = get(service, f"{INTAKE}/{answer['id']}/capsule")
        assert (status.status_code, capsule.status_code) == (200, 200)
        assert status.headers["cache-control"] == capsule.headers["cache-control"] == "no-store"
        IntakeStatusResponse.model_validate_json(status.text)
        IntakeProvisioningCapsule.model_validate_json(capsule.text)
        once = {"eraseToken", "eraseTokenState", "eraseUrl"}
        assert {name: status.json()[name] for name in answer if name not in once} == _without(answer, once)
        assert not once & status.json().keys()
        assert {name: capsule.json()[name] for name in status.json()} == status.json()


def test_a_summary_says_what_was_sent_and_the_profile_answers_what_was_left_open(service):
    agent, human, enterprise = (registered(service, body) for body in LANES)
    assert agent["summary"] == {
        "headline": "Agent agent-seven offers a service",
        "runtime": "not stated",
        "agentId": "agent-seven",
        "serviceOffer": "Summaries with sources",
        "endpoint": AGENT["endpoint"],
    }
    assert human["summary"]["worldSources"] == ["notes"]
    assert human["summary"]["assistantId"] == "custom"
    assert "assistantId" in human["normalized"]["defaulted"]
    assert "worldSources" not in human["normalized"]["defaulted"]
    assert all(isinstance(value, str | list) for value in human["summary"].values())
    assert enterprise["summary"]["contactFullName"] == "Grace Full-Name"
    assert human["consentAt"] == "2026-01-01T08:00:00Z"
    assert (human["normalized"]["consentVersion"], agent["normalized"]["consentVersion"]) == (
        "2026-01",
        CONSENT_VERSION,
    )


@pytest.mark.parametrize(
    ("sent", "profile"),
    [
        ({}, "guided_local"),
        ({"experiencePath": "existing_agent_operator"}, "operator_local"),
        ({"launchPath": "/launch-builder"}, "builder_local"),
        ({"launchPath": "/upgrade-my-agent"}, "operator_local"),
        ({"runtimeProfile": "guided_local", "launchPath": "/launch-builder"}, "guided_local"),
        ({"runtimeProfile": "no such profile"}, "guided_local"),
        ({"runtimeProfile": "agent_service"}, "guided_local"),
    ],
)
def test_a_profile_is_chosen_by_what_was_sent(lasting, sent, profile):
    answer = registered(lasting, HUMAN | sent)
    assert answer["activationPackage"]["profileId"] == answer["launchChecklist"]["profileId"] == profile


def test_a_checklist_counts_what_is_there_and_what_is_missing(lasting):
    def states(sent):
        checklist = registered(lasting, HUMAN | sent)["launchChecklist"]
        found = {item["id"]: item["state"] for item in checklist["items"]}
        counts = checklist["counts"]
        for name, state in (("captured",) * 2, ("defined",) * 2, ("pendingInput", "pending_input")):
            assert counts[name] == list(found.values()).count(state)
        assert sum(counts.values()) == len(found)
        return found

    bare = states({})
    assert (bare["world_sources"], bare["execution_surfaces"], bare["first_mission"], bare["review"]) == (
        "captured",
        "pending_input",
        "defined",
        "pending_review",
    )
    full = states({"executionSurfaces": ["mail"], "firstMission": "Sort my mail"})
    assert (full["execution_surfaces"], full["first_mission"]) == ("captured", "captured")
    assert states({"worldSources": []})["world_sources"] == "pending_input"


def test_every_link_resolves(service):
    answer = registered(service, ENTERPRISE)
    links = answer["provisioningTrail"]["links"]
    assert len(links) == len(IntakeLinks.model_fields) == 22
    published = {path for row in PROJECTIONS for path in row.paths}
    for name, link in links.items():
        parts = urlsplit(link)
        assert f"{parts.scheme}://{parts.netloc}" == BASE_URL, name
        if parts.path in published:
            assert parts.fragment in ("", f"intake={answer['id']}")
            continue
        found = get(service, parts.path)
        assert found.status_code == 200, name
        if parts.fragment:
            assert found.json()[parts.fragment.removeprefix("/")] == answer[name], name


def test_links_lead_into_the_app_where_there_is_one(ledger_settings):
    changes = {"app_url": "https://app.example", "base_url": BASE_URL, "rate_limit_per_minute": 0}
    with serving(ledger_settings.model_copy(update=changes)) as service:
        answer = registered(service, HUMAN | {"launchPath": "/launch-builder"})
        links = answer["provisioningTrail"]["links"]
        assert links["app"] == "https://app.example"
        assert links["resumeApp"] == f"https://app.example/launch-builder#intake={answer['id']}"


def test_templates_of_the_published_artifact_can_be_sent(lasting):
    made = artifact("intake-template", Facts(BASE_URL, None, (), ()))
    assert isinstance(made, TemplateArtifact)
    assert [template.lane.value for template in made.templates] == ["agent", "human", "enterprise"]
    for template in made.templates:
        registered(lasting, template.body)
        assert set(template.body) <= {*template.required, *template.optional}
    assert len(ARTIFACT_KINDS) == 16


@pytest.mark.both_engines
def test_the_same_key_and_body_give_the_same_intake(service):
    one, two = (f"{number}f3c9a52-0a8e-4c8b-9f0e-6d1f2b3c4d5e" for number in (1, 2))
    first = registered(service, AGENT, Idempotency_Key=one)
    again = register(service, AGENT, Idempotency_Key=one)
    assert (again.status_code, again.json(), again.headers["idempotent-replayed"]) == (201, first, "true")
    refused(register(service, HUMAN, Idempotency_Key=one), 409, "idempotency_mismatch")
    changed = AGENT | {"agentContact": "somebody else"}
    refused(register(service, changed, Idempotency_Key=one), 409, "idempotency_mismatch")
    assert registered(service, AGENT, Idempotency_Key=two)["id"] != first["id"]
    refused(register(service, AGENT, Idempotency_Key="k" * 201), 400, "parameter_invalid", "/header/Idempotency-Key")


def test_a_returning_identity_gets_a_new_id_and_is_counted_once(service):
    ids = {registered(service, AGENT | {"serviceOffer": f"Another offer {n}"})["id"] for n in range(3)}
    registered(service, HUMAN)
    registered(service, HUMAN | {"telegram": "Telegram-Handle-VALUE"})
    assert len(ids) == 3
    stats = IntakeStats.model_validate_json(get(service, f"{INTAKE}/stats").text)
    assert (stats.total, stats.by_lane.agent.registrations, stats.by_lane.agent.distinct) == (5, 3, 1)
    assert (stats.by_lane.human.distinct, stats.by_lane.enterprise.registrations) == (1, 0)
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    assert [day.model_dump() for day in stats.by_day] == [{"day": today, "agent": 3, "human": 2, "enterprise": 0}]


def test_recent_activity_identifies_nobody(service):
    answers = [registered(service, body) for body in LANES]
    recent = get(service, f"{INTAKE}/recent")
    assert recent.headers["cache-control"] == "no-store"
    items = RecentIntakes.model_validate_json(recent.text).items
    assert [item.lane.value for item in items] == ["agent", "enterprise", "human"]
    for body, answer in zip(LANES, answers, strict=True):
        told = [answer["id"], answer["receivedAt"][11:19], *(str(body[name]) for name in body if name != "lane")]
        assert not [each for each in told if each in recent.text and each != "True"]


@pytest.mark.parametrize("path", ["nope", "0" * 32, "0" * 31, "%00", "ÿ" * 16, "A" * 32, "0" * 32 + "/capsule"])
def test_an_unknown_id_is_not_found(lasting, path):
    refused(get(lasting, f"{INTAKE}/{path}"), 404, "intake_not_found")


def test_states_move_with_review_and_claim_and_the_capsule_changes_only_with_them(service):
    def capsule_of(intake_id):
        return get(service, f"{INTAKE}/{intake_id}/capsule").json()

    agent, human = registered(service, AGENT)["id"], registered(service, HUMAN)["id"]
    first = capsule_of(agent)
    assert (first["artifact"], first["version"]) == ("svc.intake.capsule", "1.2")
    assert first == capsule_of(agent)
    assert first["activation"] == {
        "reviewState": "pending_review",
        "activationState": "not_started",
        "publicLaunch": "closed",
        "selfServeActivation": "disabled",
    }
    with service.ledger.transaction() as tx:
        review(tx, agent, approve=True, operator="ada")
    approved = capsule_of(agent)
    assert (approved["version"], approved["provisioningTrail"]["currentState"]) == ("1.3", "awaiting_activation")
    assert approved["activation"]["publicLaunch"] == "cohort"
    assert approved["launchChecklist"]["counts"]["pendingReview"] == 0
    with service.ledger.transaction() as tx:
        review(tx, agent, approve=True, operator="ada")
        moved = activate_by_claim(tx, agent_id="agent-seven", user_id=human, claim_id="claim_1", payer="0x1")
        assert sorted(moved) == sorted([agent, human])
        assert activate_by_claim(tx, agent_id=None, user_id=None, claim_id="claim_2", payer="0x1") == []
        assert activate_by_claim(tx, agent_id="agent-eight", user_id="x", claim_id="claim_2", payer="0x1") == []
    active = capsule_of(agent)
    assert (active["version"], active["provisioningTrail"]["currentState"]) == ("1.4", "active")
    assert active["activation"]["publicLaunch"] == "open"
    assert capsule_of(human)["activation"]["publicLaunch"] == "closed"
    assert {part["state"] for part in active["readiness"].values()} == {"ready"}
    with service.ledger.transaction() as tx:
        follow_claim(tx, "claim_1", holds=False)
    assert capsule_of(agent)["activation"]["activationState"] == "suspended"
    with service.ledger.transaction() as tx:
        follow_claim(tx, "claim_1", holds=True)
        review(tx, human, approve=False, operator="ada")
    assert capsule_of(agent)["activation"]["activationState"] == "activated"
    assert capsule_of(human)["activation"]["reviewState"] == "changes_requested"
    steps = [step["step"] for step in capsule_of(agent)["provisioningTrail"]["steps"]]
    assert steps == ["received", "provisioned", "review_approved", "activated", "suspended", "reinstated"]
    assert "claim_1" not in json.dumps(capsule_of(agent))


BAD = [
    ({"consent": False}, "/consent"),
    ({"consent": "true"}, "/consent"),
    ({"consent": {"accepted": "true"}}, "/consent/accepted"),
    ({"lane": "AGENT"}, "/lane"),
    ({"agentId": "ab"}, "/agentId"),
    ({"endpoint": "javascript:alert(1)"}, "/endpoint"),
    ({"proof": "ftp://a.example"}, "/proof"),
    ({"consentAt": "now"}, "/consentAt"),
    ({"a/b~c": 1}, "/a~1b~0c"),
    ({"agentId": "x\x00yz"}, "/agentId"),
]


@pytest.mark.parametrize(("sent", "pointer"), BAD)
def test_a_fault_is_pointed_at(lasting, sent, pointer):
    refused(register(lasting, AGENT | sent), 400, "body_invalid", pointer)


def test_every_fault_of_a_body_is_named(lasting):
    body = HUMAN | {"worldSources": ["x"] * 9, "email": "а@b.co", "executionSurfaces": ["x", 5]}
    refused(register(lasting, body), 400, "body_invalid", "/worldSources", "/email", "/executionSurfaces/1")
    bare = {"lane": "human"}
    refused(register(lasting, bare), 400, "body_invalid", "/consent", "/name", "/useCase", "/telegram")
    refused(register(lasting, {}), 400, "body_invalid", "/lane")


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ({"json": []}, 400, "body_invalid"),
        ({"json": None}, 400, "body_invalid"),
        ({"content": b""}, 400, "body_invalid"),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400, "body_invalid"),
        ({"content": b'{"lane":"agent","lane":"human"}', "headers": {"content-type": "application/json"}}, 400, None),
        ({"content": b"{}", "headers": {"content-type": "text/plain"}}, 415, "media_type_unsupported"),
        ({"json": AGENT | {"serviceOffer": "x" * 65 * 1024}}, 413, "body_too_large"),
    ],
)
def test_an_unusable_body_is_refused(lasting, sent, status, code):
    headers = sent.pop("headers", {})
    (answer,) = lasting.ask(("POST", INTAKE, headers, sent))
    assert (answer.status_code, answer.json()["code"]) == (status, code or "body_invalid")


def test_a_refused_body_leaves_no_row(service):
    register(service, AGENT | {"consent": False})
    with service.ledger.read() as reader:
        assert reader.head() == 0


# The routes accept what the description says, tried with bodies that are nearly right.

_SCHEMA = DESCRIPTION["paths"][INTAKE]["post"]["requestBody"]["content"]["application/json"]["schema"]
_REGISTRY = Registry().with_resource("urn:svc", Resource.from_contents(DESCRIPTION, default_specification=DRAFT4))

_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.text(max_size=12),
    st.sampled_from(["", " ", "ab", "abc", "x" * 201, "human", "agent", "custom", "/launch-builder", "a\tb", "a\nb"]),
    st.lists(st.sampled_from(["a", "", 1]), max_size=9),
    st.fixed_dictionaries({"accepted": st.sampled_from([True, False, "true", 1])}),
)
_names = st.sampled_from(sorted({name for body in LANES for name in body} | {"agentName", "proof", "wallet", "more"}))


def _described(body: dict) -> bool:
    lanes = {"agent": "AgentIntake", "human": "HumanIntake", "enterprise": "EnterpriseIntake"}
    name = lanes.get(body.get("lane")) if isinstance(body.get("lane"), str) else None
    if name is None:
        return False
    schema = {"$ref": f"urn:svc#/components/schemas/{name}"}
    return OAS30Validator(schema, registry=_REGISTRY).is_valid(body)


@settings(max_examples=30 * ROUNDS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.sampled_from(LANES),
    changed=st.dictionaries(_names, _values, max_size=3),
    left_out=st.sets(_names, max_size=1),
)
def test_a_body_is_taken_exactly_where_the_description_says_so(lasting, body, changed, left_out):
    sent = {name: value for name, value in (body | changed).items() if name not in left_out}
    answer = register(lasting, sent)
    assert answer.status_code in (201, 400), answer.text
    assert (answer.status_code == 201) == _described(sent), (sent, answer.text)
