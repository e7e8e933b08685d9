"""Facts over HTTP: disputes, corrections, retractions, confirmations, plans, and the source classes that a key may
claim."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from described import expanded
from keyed_service import bearer, serving
from openapi_schema_validator import OAS30Validator

from contracts.access.tiers import Tier
from contracts.canonical import canonical_json
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.settings import Settings
from contracts.standing import SourceClass
from contracts.times import utc_text
from contracts.world.graph_formats import written
from contracts.world.proposal import Actor
from pipelines.initial_publish import publish_initial
from warehouse.access.keys import create_key, rotate_key
from warehouse.ledger.ledger import open_ledger
from warehouse.world.events import head_revision
from warehouse.world.export import export_pages
from warehouse.world.importing import import_graph
from warehouse.world.write import approve

SIGNAL = "/api/v2/world-model/signal"
QUERY = "/api/v2/world-model/query"
DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))
CTO = {"subject": "CTO of Acme", "predicate": "value"}


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as running:
        yield running


def key(service, owner="local:ada", **options):
    with service.ledger.transaction() as tx:
        issued = create_key(tx, service.pepper, tier=Tier.PRO, owner=owner, now=datetime.now(UTC), **options)
    return bearer(issued)


def ask(service, path, headers, body):
    (answer,) = service.ask(("POST", path, headers, {"json": body}))
    schema = DESCRIPTION["paths"][path]["post"]["responses"][str(answer.status_code)]["content"]
    schema = schema[answer.headers["content-type"].partition(";")[0]]["schema"]
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())
    return answer.json()["data"]


def state(service, headers, value=None, *, verdict="approved", **fields):
    payload = {} if value is None else CTO | {"value": value}
    signal = {"type": "Observation", "title": f"About {value}", "source": "a letter", "payload": payload, **fields}
    data = ask(service, SIGNAL, headers, signal)
    assert data["verdict"] == verdict, [stage for stage in data["stages"] if stage["result"] != "pass"]
    return data


def cto(service, headers, **conditions):
    """Returns the values that hold now, each with whether it is disputed, and the disputes."""
    data = ask(service, QUERY, headers, {"search": "CTO", **conditions})
    facts = {node["properties"]["value"]: node["disputed"] for node in data["nodes"] if "value" in node["properties"]}
    return facts, data["disputes"]


def stage(data, name):
    return next(each for each in data["stages"] if each["stage"] == name)


@pytest.mark.both_engines
def test_a_joke_does_not_replace_the_cto_and_both_are_shown_with_their_sources(service):
    ada = key(service)
    state(service, ada, "Grace", confidence=0.9, sourceClass="document")
    joke = state(service, ada, "Bozo", confidence=0.05, source="a joke in the chat")
    assert stage(joke, "temporal")["result"] == "warn"
    facts, disputes = cto(service, ada)
    assert facts == {"Grace": True, "Bozo": True}
    (dispute,) = disputes
    assert joke["disputes"] == disputes
    assert [(claim["value"], claim["source"], claim["sourceClass"]) for claim in dispute["claims"]] == [
        ("Grace", "a letter", "document"),
        ("Bozo", "a joke in the chat", "inference"),
    ]
    state(service, ada, "Linus", sourceClass="document", confidence=0.8, source="the register")
    assert cto(service, ada) == ({"Linus": False}, [])


def test_the_same_source_updates_what_it_said_and_an_older_observation_goes_into_history(service):
    ada = key(service)
    state(service, ada, "Grace", confidence=0.9, sourceClass="document", observedAt="2026-02-01T00:00:00Z")
    state(service, ada, "Linus", confidence=0.2)
    assert cto(service, ada)[0] == {"Linus": False}
    older = state(service, ada, "Alan", source="an old letter", observedAt="2026-01-01T00:00:00Z")
    assert "goes into history" in stage(older, "temporal")["reason"]
    assert older["nodes"][0]["validTo"] == "2026-02-01T00:00:00.000000Z"
    assert cto(service, ada)[0] == {"Linus": False}


def test_a_correction_takes_the_place_of_the_wrong_node(service):
    ada = key(service)
    wrong = state(service, ada, "Grase", observedAt="2026-02-01T00:00:00Z")["signalId"]
    corrected = state(service, ada, corrects={"id": wrong, "reason": "a typo"}, payload={"value": "Grace"})
    states = {node["id"]: node for node in corrected["nodes"]}
    assert states[wrong]["retracted"] and states[wrong]["endedBy"] == corrected["signalId"]
    assert states[corrected["signalId"]]["validFrom"] == "2026-02-01T00:00:00.000000Z"
    assert states[corrected["signalId"]]["properties"] == {**CTO, "value": "Grace"}
    assert [(edge["type"], edge["properties"]) for edge in corrected["edges"]] == [("CORRECTS", {"reason": "a typo"})]
    assert cto(service, ada)[0] == {"Grace": False}
    again = state(service, ada, corrects={"id": wrong, "reason": "again"}, source="x", verdict="rejected")
    assert "was corrected or retracted" in stage(again, "temporal")["reason"]


@pytest.mark.parametrize("act", ["corrects", "confirms"])
def test_a_planned_fact_still_takes_effect_after_the_present_fact_was_corrected_or_confirmed(service, act):
    ada = key(service)
    now = state(service, ada, "Grace", observedAt="2026-02-01T00:00:00Z")["signalId"]
    later = datetime.now(UTC) + timedelta(days=7)
    planned = state(service, ada, "Linus", validFrom=utc_text(later))["signalId"]
    said = {"payload": {"value": "Grace Hopper"}} if act == "corrects" else {"type": "Signal"}
    state(service, ada, **{act: {"id": now, "reason": "read again"}}, **said)
    assert cto(service, ada)[0] == {"Grace Hopper" if act == "corrects" else "Grace": False}
    then = ask(service, QUERY, ada, {"node_id": planned, "asOf": utc_text(later + timedelta(days=1))})
    assert [(node["properties"]["value"], node["disputed"]) for node in then["nodes"]] == [("Linus", False)]


@pytest.mark.both_engines
def test_a_replaced_fact_that_is_stated_again_holds_again_and_its_retry_is_the_same_signal(service):
    ada = key(service)
    values = ["open", "closed", "open", "closed", "open"]
    said = [state(service, ada, value) for value in values]
    assert len({each["signalId"] for each in said}) == len(values)
    assert cto(service, ada) == ({"open": False}, [])
    assert state(service, ada, "open") == said[-1], "a retry"
    (first,) = ask(service, QUERY, ada, {"node_id": said[0]["signalId"], "include_ended": True})["nodes"]
    assert first["endedBy"] == said[1]["signalId"]


def test_a_retracted_fact_that_is_stated_again_holds_again_unless_it_names_when_it_was_observed(service):
    ada = key(service)
    observed = {"observedAt": "2026-02-01T00:00:00Z"}
    first, seen = state(service, ada, "open"), state(service, ada, "ajar", **observed)
    state(service, ada, retracts={"id": first["signalId"], "reason": "a mistake"}, type="Signal")
    state(service, ada, retracts={"id": seen["signalId"], "reason": "a mistake"}, type="Signal")
    assert cto(service, ada) == ({}, [])
    assert state(service, ada, "ajar", **observed) == seen, "the same observation"
    assert state(service, ada, "open")["signalId"] != first["signalId"]
    assert cto(service, ada) == ({"open": False}, [])


def test_the_correction_of_a_passage_names_the_document_that_says_the_same(service):
    ada = key(service)
    build = {"graphId": "g", "documents": [{"id": "h", "markdown": "# Health\n\n- Blood type: 0+\n"}], "mode": "apply"}
    (built,) = service.ask(("POST", "/api/v2/knowledge-graph/build", ada, {"json": build}))
    ids = {node["type"]: node["id"] for node in built.json()["data"]["nodes"]}
    wrong = {"id": ids["Passage"], "reason": "misread"}
    corrected = state(service, ada, corrects=wrong, type="Passage", title="Blood type: A+", payload={})
    judged = stage(corrected, "referential_integrity")
    assert judged["result"] == "warn"
    assert f"{ids['Document']} was read from its place and stays unchanged" in judged["reason"]


def test_a_fact_with_an_end_shows_since_when_nothing_holds(service):
    ada = key(service)
    grace = state(service, ada, "Grace", validFrom="2026-01-01T00:00:00Z")["signalId"]
    visiting = state(service, ada, "Linus", validFrom="2026-03-01T00:00:00Z", validTo="2026-04-01T00:00:00Z")
    judged = stage(visiting, "temporal")
    assert judged["result"] == "warn"
    assert f"nothing holds from 2026-04-01T00:00:00.000000Z on, since {grace} does not hold again" in judged["reason"]
    assert cto(service, ada)[0] == {}
    back = state(service, ada, "Grace", validFrom="2026-04-01T00:00:00Z")
    assert stage(back, "temporal")["result"] == "pass"
    assert cto(service, ada)[0] == {"Grace": False}


def test_a_fact_with_an_end_shows_which_weak_claim_is_the_only_one_after_it(service):
    ada = key(service)
    strong = {"confidence": 0.9, "sourceClass": "document"}
    grace = state(service, ada, "Grace", validFrom="2025-01-01T00:00:00Z", source="manual", **strong)["signalId"]
    gossip = state(
        service, ada, "Bozo", validFrom="2025-06-01T00:00:00Z", source="gossip", confidence=0.9, sourceClass="hearsay"
    )["signalId"]
    visiting = {"validFrom": "2025-03-01T00:00:00Z", "validTo": "2025-04-01T00:00:00Z", "source": "log"}
    judged = stage(state(service, ada, "Linus", **visiting, **strong), "temporal")
    assert judged["result"] == "warn"
    assert (
        "nothing holds from 2025-04-01T00:00:00.000000Z until 2025-06-01T00:00:00.000000Z, and from then on only "
        f"{gossip}, as hearsay by 'gossip', since {grace} does not hold again: state it from then" in judged["reason"]
    )
    assert cto(service, ada) == ({"Bozo": False}, [])
    state(service, ada, "Grace", validFrom="2025-04-01T00:00:00Z", source="manual", **strong)
    assert cto(service, ada)[0] == {"Grace": True, "Bozo": True}


def test_a_fact_with_an_end_shows_which_weak_claim_goes_on_and_not_what_was_planned(service):
    ada = key(service)
    strong = {"confidence": 0.9, "sourceClass": "document"}
    grace = state(service, ada, "Grace", validFrom="2025-01-01T00:00:00Z", source="manual", **strong)["signalId"]
    gossip = state(service, ada, "Bozo", validFrom="2025-03-15T00:00:00Z", sourceClass="hearsay", source="gossip")
    visiting = {"validFrom": "2025-03-01T00:00:00Z", "validTo": "2025-04-01T00:00:00Z", "source": "log"}
    judged = stage(state(service, ada, "Linus", **visiting, **strong), "temporal")
    assert (
        f"from 2025-04-01T00:00:00.000000Z on only {gossip['signalId']}, as hearsay by 'gossip', holds, "
        f"since {grace} does not hold again" in judged["reason"]
    )
    state(service, ada, "Ada", validFrom="2025-04-01T00:00:00Z", source="manual", **strong)
    again = state(service, ada, "Alan", **visiting | {"source": "diary"}, **strong)
    assert "does not hold again" not in stage(again, "temporal")["reason"]


@pytest.mark.parametrize("act", ["confirms", "retracts"])
def test_a_signal_that_only_confirms_or_retracts_is_no_node_of_its_type(service, act):
    ada = key(service)
    task = {"type": "Task", "source": "me", "payload": {}}
    rent = state(service, ada, **task, title="Pay rent")["signalId"]
    acted = state(service, ada, **task, title=None, **{act: {"id": rent, "reason": "ok"}})["signalId"]
    tasks = ask(service, QUERY, ada, {"node_types": ["Task"], "scope": "own"})["nodes"]
    assert [node["title"] for node in tasks] == (["Pay rent"] if act == "confirms" else [])
    assert ask(service, QUERY, ada, {"search": "task from me"})["nodes"] == []
    assert ask(service, QUERY, ada, {"node_id": acted, "include_ended": True})["nodes"][0]["title"] == "Task from me"
    (history,) = service.ask(("GET", f"/api/v2/world-model/nodes/{acted}", ada, {}))
    assert history.json()["data"]["node"]["validTo"] == history.json()["data"]["node"]["recordedAt"]
    (history,) = service.ask(("GET", f"/api/v2/world-model/nodes/{rent}", ada, {}))
    assert [each["by"] for each in history.json()["data"]["acts"]] == [acted]
    with service.ledger.read() as reader:
        exported = [
            record for page in export_pages(reader, "local:ada", head_revision(reader)) for record in page.records
        ]
    again = state(service, ada, **task, title=None, **{act: {"id": rent, "reason": "ok"}})
    assert again["signalId"] == acted
    lines = list(written(exported, "jsonl"))
    import_graph(service.ledger, lambda: lines, Actor("operator", "operator:eve", on_behalf_of="local:bob"))
    with service.ledger.read() as reader:
        pages = export_pages(reader, "local:bob", head_revision(reader))
        assert list(written([record for page in pages for record in page.records], "jsonl")) == lines
    bob = key(service, "local:bob")
    assert len(ask(service, QUERY, bob, {"node_types": ["Task"], "scope": "own"})["nodes"]) == len(tasks)


def test_corrections_go_there_and_back_and_only_the_last_one_holds(service):
    ada = key(service)
    newest = state(service, ada, "Grace", observedAt="2026-02-01T00:00:00Z")["signalId"]
    for value in ("Linus", "Grace", "Linus", "Grace"):
        corrected = state(service, ada, corrects={"id": newest, "reason": "it was so"}, payload={"value": value})
        newest = corrected["signalId"]
        assert cto(service, ada) == ({value: False}, [])
    state(service, ada, retracts={"id": newest, "reason": "nobody knows"}, type="Signal")
    assert cto(service, ada) == ({}, [])


@pytest.mark.both_engines
def test_a_fact_that_a_retracted_one_had_ended_holds_again(service):
    ada = key(service)
    state(service, ada, "Grace")
    wrong = state(service, ada, "Bozo", source="another letter")["signalId"]
    assert cto(service, ada)[0] == {"Bozo": False}
    state(service, ada, retracts={"id": wrong, "reason": "a forgery"}, type="Signal")
    assert cto(service, ada)[0] == {"Grace": False}


@pytest.mark.parametrize("way", ["confirms", "corrects"])
def test_a_dispute_ends_by_a_confirmation_or_a_correction(service, way):
    ada = key(service)
    right = state(service, ada, "Grace", sourceClass="document", confidence=0.9)["signalId"]
    state(service, ada, "Bozo", source="hearsay", sourceClass="hearsay")
    assert cto(service, ada)[0] == {"Grace": True, "Bozo": True}
    payload = {"value": "Grace H."} if way == "corrects" else {}
    state(service, ada, type="Signal", source="me", payload=payload, **{way: {"id": right, "reason": "I asked her"}})
    assert cto(service, ada) == ({"Grace H." if way == "corrects" else "Grace": False}, [])


@pytest.mark.both_engines
def test_the_owners_confirmation_outranks_everything_his_agents_may_claim(service):
    agent, owner = key(service), key(service, max_class=SourceClass.OWNER)
    fact = state(service, agent, "Grace", sourceClass="owner")
    assert fact["nodes"][0]["sourceClass"] == "document", "his own statement comes only by his confirmation"
    confirmed = state(service, owner, type="Signal", confirms={"id": fact["signalId"], "reason": "so it is"})
    assert next(n for n in confirmed["nodes"] if n["id"] == fact["signalId"])["confirmedAs"] == "owner"
    state(service, agent, "Linus", sourceClass="document", confidence=1.0)
    assert cto(service, agent)[1][0]["claims"][0]["sourceClass"] == "owner"
    for act in ("corrects", "retracts", "confirms"):
        refused = state(
            service, agent, type="Signal", verdict="rejected", **{act: {"id": fact["signalId"], "reason": "x"}}
        )
        assert "stands as owner" in stage(refused, "authority")["reason"]


def test_a_key_claims_no_class_above_its_own(service):
    weak = key(service, max_class=SourceClass.HEARSAY)
    capped = state(service, weak, "Bozo", sourceClass="document")
    assert capped["nodes"][0]["sourceClass"] == "hearsay"
    assert stage(capped, "provenance")["reason"].startswith("stored as hearsay")
    strong = key(service)
    document = state(service, strong, "Grace", sourceClass="document", source="the register")["signalId"]
    spoofed = state(service, weak, "Bozo2", source="the register", verdict="rejected")
    assert "claims up to hearsay" in stage(spoofed, "authority")["reason"]
    refused = state(service, weak, type="Signal", retracts={"id": document, "reason": "x"}, verdict="rejected")
    assert "stands as document" in stage(refused, "authority")["reason"]
    linked = state(
        service, weak, "Bozo3", source="y", links=[{"type": "SUPERSEDES", "target": document}], verdict="rejected"
    )
    assert "does not supersede" in stage(linked, "temporal")["reason"]


def test_a_signed_system_has_its_standing_only_with_its_signature(service):
    private = Ed25519PrivateKey.generate()
    public = base64.urlsafe_b64encode(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
    headers = key(service, max_class=SourceClass.SIGNED_SYSTEM, signer=public.rstrip("="))
    body = {
        "type": "Observation", "source": "payroll", "payload": CTO | {"value": "Grace"}, "sourceClass": "signed_system",
        "observedAt": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    signature = base64.urlsafe_b64encode(private.sign(canonical_json(body))).decode()
    signed = ask(service, SIGNAL, headers, {**body, "signature": signature})
    assert signed["nodes"][0]["sourceClass"] == "signed_system"
    for forged in ("", "A" * 86, signature[:-4] + "AAAA"):
        data = ask(service, SIGNAL, headers, {**body, "title": "Other", "source": "s", "signature": forged})
        assert data["nodes"][0]["sourceClass"] == "document"


def test_rotation_keeps_what_a_key_may_claim(service):
    with service.ledger.transaction() as tx:
        first = create_key(
            tx, service.pepper, tier=Tier.PRO, owner="local:ada", max_class=SourceClass.HEARSAY, now=datetime.now(UTC)
        )
        second = rotate_key(tx, service.pepper, first.record.key_id, now=datetime.now(UTC))
    assert second.record.max_class == SourceClass.HEARSAY
    assert state(service, bearer(second), "x", sourceClass="document")["nodes"][0]["sourceClass"] == "hearsay"


def test_acts_on_nodes_of_others_and_on_unknown_nodes_are_answered_alike(service):
    ada, bob = key(service), key(service, "local:bob")
    his = state(service, bob, "Grace")["signalId"]
    for act in ("corrects", "retracts", "confirms"):
        reasons = []
        for number, target in enumerate((his, "signal:" + "0" * 32)):
            data = state(
                service, ada, type="Signal", source=f"s{number}", verdict="rejected",
                **{act: {"id": target, "reason": "mine"}},
            )  # fmt: skip
            reasons.append(
                [
                    {**each, "reason": each["reason"].replace(target, "X").replace(f"s{number}", "s")}
                    for each in data["stages"]
                ]
            )
            assert data["nodes"] == data["edges"] == data["disputes"] == []
        assert reasons[0] == reasons[1]
    assert cto(service, bob)[0] == {"Grace": False}


@pytest.mark.both_engines
def test_acts_on_what_is_public_wait_for_an_operator(service):
    ada = key(service)
    public = state(service, ada, "Grace", visibility="public", verdict="escalated")
    approve(service.ledger, public["decision"], "eve")
    waiting = state(
        service, ada, type="Signal", retracts={"id": public["signalId"], "reason": "she left"}, verdict="escalated"
    )
    assert cto(service, ada)[0] == {"Grace": False}
    approve(service.ledger, waiting["decision"], "eve")
    assert cto(service, ada)[0] == {}


def test_a_planned_fact_waits_for_its_day(tmp_path):
    shift = [timedelta(0)]
    settings = Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)
    with serving(settings) as service:
        ada = key(service)
        day = utc_text(datetime.now(UTC) + timedelta(days=1))
        state(service, ada, "Grace")
        planned = state(service, ada, "Linus", source="the board", validFrom=day)
        assert "a future time" in stage(planned, "temporal")["reason"]
        assert cto(service, ada)[0] == {"Grace": False}
        state(service, ada, "Alan", source="a newer letter")
        assert cto(service, ada)[0] == {"Alan": False}
        ledger = open_ledger(settings, tmp_path, clock=lambda: datetime.now(UTC) + shift[0])
        service.stores.graph._ledger = lambda: ledger
        shift[0] = timedelta(days=1, seconds=1)
        assert cto(service, ada)[0] == {"Linus": False}
        ledger.close()


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"sourceClass": "gospel"}, "/sourceClass"),
        ({"validFrom": "tomorrow"}, "/validFrom"),
        ({"corrects": "x"}, "/corrects"),
        ({"corrects": {"id": "x"}}, "/corrects/reason"),
        ({"corrects": {"id": "x", "reason": ""}}, "/corrects/reason"),
        ({"retracts": {"id": "a b", "reason": "r"}}, "/retracts/id"),
        ({"confirms": {"id": "x", "reason": "a\nb"}}, "/confirms/reason"),
        ({"corrects": {"id": "x", "reason": "r"}, "retracts": {"id": "x", "reason": "r"}}, "/retracts/id"),
        ({"corrects": {"id": "x", "reason": "r"}, "confirms": {"id": "x", "reason": "r"}}, "/confirms/id"),
    ],
)
def test_an_invalid_act_is_400_with_a_pointer(service, fields, pointer):
    body = {"type": "Signal", "title": "t", "source": "s", **fields}
    (answer,) = service.ask(("POST", SIGNAL, key(service), {"json": body}))
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


def person(service, headers, name, **fields):
    since = {"validFrom": "2020-01-01T00:00:00Z"} | fields
    return state(service, headers, type="Person", title=name, source="the register", **since)["signalId"]


def task(service, headers, title="Paint the fence", *, assigned_to, **fields):
    links = [{"type": "ASSIGNED_TO", "target": assigned_to}]
    return state(service, headers, type="Task", title=title, source="the foreman", links=links, **fields)


def periods(data, edge_type="ASSIGNED_TO"):
    """Returns the days from and until which each edge of a type holds, by its target."""
    edges = [edge for edge in data["edges"] if edge["type"] == edge_type]
    return {edge["target"]: (edge["validFrom"][:10], (edge["validTo"] or "")[:10]) for edge in edges}


def assigned(service, headers, **conditions):
    """Returns who has which task, by titles."""
    data = ask(service, QUERY, headers, {"scope": "own", "limit": 100, "include_edges": True, **conditions})
    titles = {node["id"]: node["title"] for node in data["nodes"]}
    return {titles[e["source"]]: titles[e["target"]] for e in data["edges"] if e["type"] == "ASSIGNED_TO"}


@pytest.mark.parametrize(
    ("times", "period"),
    [
        ({"validFrom": "2024-01-01T00:00:00Z", "validTo": "2024-06-01T00:00:00Z"}, ("2024-01-01", "2024-06-01")),
        ({"observedAt": "2024-03-01T00:00:00Z"}, ("2024-03-01", "")),
        ({"observedAt": "2024-03-01T00:00:00Z", "validFrom": "2024-01-01T02:00:00+02:00"}, ("2024-01-01", "")),
        ({"validFrom": "2034-01-01T00:00:00Z"}, ("2034-01-01", "")),
    ],
)
def test_the_links_of_a_signal_hold_for_the_time_of_the_signal(service, times, period):
    ada = key(service)
    eva = person(service, ada, "Eva")
    data = task(service, ada, assigned_to=eva, **times)
    assert periods(data) == {eva: period}
    publish_initial(service.settings)
    during = f"{period[0][:4]}-04-01T00:00:00Z"
    assert assigned(service, ada, asOf=during) == {"Paint the fence": "Eva"}
    assert assigned(service, ada, asOf="2023-01-01T00:00:00Z") == {}
    assert assigned(service, ada) == ({"Paint the fence": "Eva"} if "observedAt" in times else {})


def test_a_link_of_a_signal_whose_clock_is_ahead_begins_with_the_signal(service):
    ada = key(service)
    eva = person(service, ada, "Eva")
    data = task(service, ada, assigned_to=eva, observedAt=utc_text(datetime.now(UTC) + timedelta(minutes=2)))
    (node,) = data["nodes"]
    assert [edge["validFrom"] for edge in data["edges"]] == [node["validFrom"]]
    assert assigned(service, ada) == {"Paint the fence": "Eva"}


def test_a_link_without_times_begins_with_the_signal_and_its_retry_is_the_same_signal(service):
    ada = key(service)
    eva = person(service, ada, "Eva")
    first = task(service, ada, assigned_to=eva)
    assert first["edges"][0]["validFrom"] == first["nodes"][0]["validFrom"]
    assert task(service, ada, assigned_to=eva) == first


def test_a_link_to_a_signal_is_ordered_among_the_known_ones_by_the_time_of_the_signal(service):
    ada = key(service)
    eva = person(service, ada, "Eva")
    fence = task(service, ada, assigned_to=eva, validFrom="2022-01-01T00:00:00Z")["signalId"]
    to_it = {"links": [{"type": "ASSIGNED_TO", "target": fence, "direction": "inbound"}], "source": "the foreman"}
    bo = state(service, ada, type="Person", title="Bo", validFrom="2024-01-01T00:00:00Z", **to_it)
    assert periods(bo) == {eva: ("2022-01-01", "2024-01-01"), bo["signalId"]: ("2024-01-01", "")}
    older = state(service, ada, type="Person", title="Cy", validFrom="2021-01-01T00:00:00Z", **to_it)
    assert periods(older) == {older["signalId"]: ("2021-01-01", "2022-01-01")}
    week = {"validFrom": "2026-01-01T00:00:00Z", "validTo": "2026-01-08T00:00:00Z"}
    stand_in = state(service, ada, type="Person", title="Dan", **week, **to_it)
    assert periods(stand_in)[bo["signalId"]] == ("2024-01-01", "2026-01-01")
    assert (
        f"{fence} has no ASSIGNED_TO from 2026-01-08T00:00:00.000000Z on, since {bo['signalId']} does not hold"
        in (stage(stand_in, "temporal")["reason"])
    )


def test_the_links_of_a_correction_hold_from_the_start_that_it_takes_over(service):
    ada = key(service)
    eva, bo = person(service, ada, "Eva"), person(service, ada, "Bo")
    wrong = task(service, ada, assigned_to=eva, validFrom="2024-01-01T00:00:00Z")["signalId"]
    right = task(service, ada, "Paint the gate", assigned_to=bo, corrects={"id": wrong, "reason": "misread"})
    assert periods(right) == {bo: ("2024-01-01", "")}
    assert right["nodes"][-1]["validFrom"] == "2024-01-01T00:00:00.000000Z"
    assert [edge["validFrom"][:4] for edge in right["edges"] if edge["type"] == "CORRECTS"] == [
        str(datetime.now(UTC).year)
    ]


@pytest.mark.parametrize(
    ("times", "period"),
    [
        ({}, ("2024-01-01", "")),
        ({"validTo": "2025-06-01T00:00:00Z"}, ("2024-01-01", "2025-06-01")),
        ({"validFrom": "2023-01-01T00:00:00Z", "validTo": "2025-01-01T00:00:00Z"}, ("2023-01-01", "2025-01-01")),
        ({"validFrom": "2026-01-01T00:00:00Z"}, ("2026-01-01", "")),
    ],
)
def test_an_edge_that_a_correction_keeps_follows_the_corrected_times(service, times, period):
    ada = key(service)
    eva = person(service, ada, "Eva")
    first = {"validFrom": "2024-01-01T00:00:00Z", "validTo": "2025-01-01T00:00:00Z"}
    wrong = task(service, ada, assigned_to=eva, **first)["signalId"]
    fix = {"corrects": {"id": wrong, "reason": "misread"}, "source": "the office"}
    right = state(service, ada, type="Task", title="Paint the gate", **fix, **times)
    assert periods(right) == {eva: period}


def test_the_links_of_a_signal_that_waits_hold_for_its_time_once_an_operator_agrees(service):
    ada = key(service)
    goal = state(service, ada, type="Goal", visibility="public", verdict="escalated")
    approve(service.ledger, goal["decision"], "eve")
    dated = {"validFrom": "2024-01-01T00:00:00Z", "links": [{"type": "RELATED_TO", "target": goal["signalId"]}]}
    waiting = state(service, ada, type="Goal", title="Win", visibility="public", verdict="escalated", **dated)
    (edge,) = approve(service.ledger, waiting["decision"], "eve").edges
    assert edge.valid_from == "2024-01-01T00:00:00.000000Z"


def test_an_edge_to_a_corrected_node_that_ended_with_it_ends_with_its_correction(service):
    ada = key(service)
    eva = person(service, ada, "Eva")
    fence = task(service, ada, assigned_to=eva, validFrom="2022-01-01T00:00:00Z")["signalId"]
    to_it = {"links": [{"type": "ASSIGNED_TO", "target": fence, "direction": "inbound"}]}
    bo = person(service, ada, "Bo", validFrom="2024-01-01T00:00:00Z", validTo="2026-01-01T00:00:00Z", **to_it)
    fix = {"corrects": {"id": bo, "reason": "he stays"}, "validTo": "2026-06-01T00:00:00Z"}
    right = state(service, ada, type="Person", title="Bo Li", **fix)
    assert periods(right) == {bo: ("2024-01-01", "2024-01-01"), right["signalId"]: ("2024-01-01", "2026-06-01")}
