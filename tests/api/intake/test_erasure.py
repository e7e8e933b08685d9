"""A registrant erases by the token of the first answer, without an operator (P5)."""

import threading

import pytest
from intakes import AGENT, ENTERPRISE, HUMAN, INTAKE, LANES, get, register
from keyed_service import KeyedService, serving

from warehouse.intake.rights import erase_intake, forget_intake
from warehouse.world.audit import verify

WRONG = "svc_erase_" + "0" * 64


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as opened:
        yield opened


def registered(service: KeyedService, body) -> dict:
    return register(service, body).json()


def erase(service: KeyedService, intake_id: str, token: object):
    (answer,) = service.ask(("POST", f"{INTAKE}/{intake_id}/erase", {}, {"json": {"eraseToken": token}}))
    return answer


@pytest.mark.parametrize("body", LANES, ids=lambda body: body["lane"])
def test_the_token_erases_what_is_kept_and_the_counts_stay(service, body):
    answer, other = registered(service, body), registered(service, body)
    before = get(service, f"{INTAKE}/stats").json()
    assert answer["eraseUrl"].endswith(f"{INTAKE}/{answer['id']}/erase")
    erased = erase(service, answer["id"], answer["eraseToken"])
    assert (erased.status_code, erased.json()) == (200, {"ok": True, "intakeId": answer["id"], "erased": True})
    assert erased.headers["cache-control"] == "no-store"
    for path in (f"{INTAKE}/{answer['id']}", f"{INTAKE}/{answer['id']}/capsule"):
        assert get(service, path).status_code == 404
    assert get(service, f"{INTAKE}/{other['id']}").status_code == 200
    assert get(service, f"{INTAKE}/stats").json() == before
    with service.ledger.read() as reader:
        assert reader.row("intake_one", intake_id=answer["id"]) is None
        assert verify(reader).intact


def test_erasing_again_is_the_same_answer_and_changes_nothing(service):
    answer = registered(service, HUMAN)
    first = erase(service, answer["id"], answer["eraseToken"])
    with service.ledger.read() as reader:
        head = reader.head()
    again = erase(service, answer["id"], answer["eraseToken"])
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    with service.ledger.read() as reader:
        assert reader.head() == head


def test_a_late_retry_registers_nobody_again(service):
    key = {"Idempotency-Key": "a" * 22}
    answer = service.ask(("POST", INTAKE, key, {"json": HUMAN}))[0].json()
    assert erase(service, answer["id"], answer["eraseToken"]).status_code == 200
    counted = get(service, f"{INTAKE}/stats").json()
    (retried,) = service.ask(("POST", INTAKE, key, {"json": HUMAN}))
    assert (retried.status_code, retried.json()["code"]) == (409, "registration_erased")
    assert get(service, f"{INTAKE}/stats").json() == counted
    (fresh,) = service.ask(("POST", INTAKE, {"Idempotency-Key": "b" * 22}, {"json": HUMAN}))
    assert fresh.status_code == 201


def test_erasing_an_intake_that_an_operator_already_forgot_succeeds(service):
    answer = registered(service, HUMAN)
    forget_intake(service.ledger, answer["id"], "ada")
    assert erase(service, answer["id"], answer["eraseToken"]).status_code == 200


def test_an_unknown_id_and_a_wrong_token_get_the_same_answer(service):
    mine, theirs = registered(service, AGENT), registered(service, ENTERPRISE)
    refusals = [
        erase(service, intake_id, token)
        for intake_id, token in (
            ("0" * 32, WRONG),
            ("nope", mine["eraseToken"]),
            ("%C3%BF" * 4, "ÿ"),
            (mine["id"], WRONG),
            (mine["id"], theirs["eraseToken"]),
            (mine["id"], mine["eraseToken"][:-1]),
            (mine["id"], mine["eraseToken"].upper()),
        )
    ]
    seen = [{**answer.json(), "instance": "", "requestId": ""} for answer in refusals]
    assert {answer.status_code for answer in refusals} == {404}
    assert all(problem == seen[0] for problem in seen)
    assert seen[0]["code"] == "intake_not_found"
    for answer in (mine, theirs):
        assert get(service, f"{INTAKE}/{answer['id']}").status_code == 200


@pytest.mark.parametrize("token", [None, "", 5, "x" * 201])
def test_a_malformed_erase_token_is_a_fault_of_the_body(service, token):
    answer = erase(service, "0" * 32, token)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/eraseToken")


def test_the_status_and_the_capsule_never_show_the_token(service):
    answer = registered(service, HUMAN)
    for path in (f"{INTAKE}/{answer['id']}", f"{INTAKE}/{answer['id']}/capsule"):
        assert "erase" not in get(service, path).text.lower()


@pytest.mark.both_engines
def test_eight_simultaneous_erasures_count_as_one(service):
    answer, start = registered(service, HUMAN), threading.Barrier(8)
    failed: list[BaseException] = []

    def race() -> None:
        start.wait()
        try:
            erase_intake(service.ledger, service.pepper, answer["id"], answer["eraseToken"])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with service.ledger.read() as reader:
        assert [change for change in service.ledger.changes_after(0, 99) if change.entity_id == answer["id"]]
        assert reader.row("intake_one", intake_id=answer["id"]) is None
