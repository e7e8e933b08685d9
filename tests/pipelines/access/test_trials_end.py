"""30 days after a trial's end nothing that its key wrote is left; an owner who bought a key meanwhile keeps
everything."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from erased_installation import QUERY, SIGNAL, WORD, Installation, installed
from keyed_service import CHECK, KeyedService, serving
from trial_wallets import trial_key, wallet

from contracts.access.tiers import Tier
from contracts.access.trial_plan import trial_plan
from contracts.settings import Settings
from pipelines.access.trials import end_trials, trials_due
from pipelines.definitions import build_definitions
from pipelines.erasure import erase_for_owners
from pipelines.runs import opened_instance
from warehouse.access.keys import list_keys
from warehouse.ledger.ledger import open_ledger

ADA = wallet(1)
PLAN = trial_plan()


@pytest.fixture
def installation(
    request: pytest.FixtureRequest, ledger_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Installation:
    return installed(request, ledger_settings, monkeypatch)


def in_days(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


def send(service: KeyedService, key: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    (answer,) = service.ask(("POST", path, {"X-Api-Key": key}, {"json": body}))
    assert answer.status_code < 300, answer.text
    return dict(answer.json())


def written(service: KeyedService) -> str:
    """Returns a trial key that wrote a goal and had an action judged, both containing the word."""
    service.now_s = datetime.now(UTC).timestamp()
    key: str = trial_key(service, ADA)["apiKey"]
    send(service, key, SIGNAL, {"type": "Goal", "title": f"The {WORD} plan", "source": "me"})
    send(service, key, CHECK, {"action": f"echo {WORD}"})
    return key


def owners(service: KeyedService) -> set[str]:
    with service.ledger.read() as reader:
        return {usage.key.owner for usage in list_keys(reader, now=datetime.now(UTC))}


def trials(service: KeyedService) -> list[Any]:
    with service.ledger.transaction() as tx:
        return list(tx._connection.exec_driver_sql("select * from access_trials").all())


def test_the_writes_of_a_trial_key_leave_every_file_and_then_its_owner_is_forgotten(
    installation: Installation,
) -> None:
    with serving(installation.settings) as service:
        written(service)
        installation.publish()
        almost, over = (
            in_days(PLAN.days + PLAN.erased_after_days - 0.1),
            in_days(PLAN.days + PLAN.erased_after_days + 1),
        )
        assert end_trials(installation.settings, almost) == 0
        assert installation.places() != set()
        assert trials_due(installation.settings, over) is not None
        assert end_trials(installation.settings, over) == 1
        assert end_trials(installation.settings, over) == 0
        assert trials_due(installation.settings, over) is None
        assert owners(service) == {ADA.address.lower()}
        erase_for_owners(installation.settings)
        assert installation.places() == set()
        assert trials_due(installation.settings, over) is not None
        assert end_trials(installation.settings, over) == 0
        assert (owners(service), trials(service)) == ({"forgotten"}, [])
        assert trials_due(installation.settings, over) is None


def test_an_owner_who_has_bought_another_key_meanwhile_keeps_its_graph(installation: Installation) -> None:
    with serving(installation.settings) as service:
        key = written(service)
        bought = service.key(Tier.BASIC, owner=ADA.address.lower())
        assert end_trials(installation.settings, in_days(PLAN.days + PLAN.erased_after_days + 1)) == 0
        found = send(service, bought.key.reveal(), QUERY, {"search": WORD, "scope": "own"})["data"]["nodes"]
        assert [node["title"] for node in found] == [f"The {WORD} plan"]
        assert trials(service) == []
        (refused,) = service.ask(("POST", QUERY, {"X-Api-Key": key}, {"json": {"search": WORD}}))
        assert refused.status_code == 401, "a trial that is forgotten leaves no key of the free tier"


def test_the_network_of_a_trial_is_forgotten_on_the_next_day(installation: Installation) -> None:
    with serving(installation.settings) as service:
        written(service)
        assert trials_due(installation.settings, in_days(0)) is None
        assert trials_due(installation.settings, in_days(1)) is not None
        end_trials(installation.settings, in_days(1))
        ((_, _, _, network, *_),) = trials(service)
        assert network is None


def test_the_trials_job_erases_ended_trials(installation: Installation) -> None:
    with serving(installation.settings) as service:
        written(service)
        with service.ledger.transaction() as tx:
            tx._connection.exec_driver_sql("update access_trials set ends_at = '2026-01-01T00:00:00Z'")
    job = build_definitions(installation.settings).resolve_job_def("trials")
    with opened_instance(installation.data_dir) as instance:
        assert job.execute_in_process(instance=instance).success
    with closing(open_ledger(installation.settings, installation.data_dir)) as ledger, ledger.read() as reader:
        assert reader.rows("world_nodes_of_owner", owner=ADA.address.lower()) == []


def test_a_wallets_month_ends_before_its_trial_is_forgotten() -> None:
    assert PLAN.wallet_days <= PLAN.days + PLAN.erased_after_days
