"""A chain of decisions that was rewritten as a whole is consistent, but contradicts the signed heads of the
generations."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from keyed_service import with_secrets
from publishing import House
from sqlalchemy import text
from world_writes import goal, no_rules, proposal

from contracts.errors import StoreUnusable
from contracts.world.audit import FIRST_LINK, AuditReport, ChainedDecision, commitment
from warehouse.access.signing_keys import SigningKeys
from warehouse.ledger.ledger import Ledger
from warehouse.publish.generations import Part, begin, build, current_generation, kept_manifests
from warehouse.world.audit import verify
from warehouse.world.audit_heads import audit_head, known_heads, record_restore
from warehouse.world.write import propose


class AuditedHouse(House):
    """A house whose ledger is on either engine; `decide` admits the given goals, one decision each."""

    def __init__(self, ledger: Ledger, settings) -> None:
        given = with_secrets(settings)
        chosen = {name: getattr(given, name) for name in ("ledger_url", "master_secret", "signing_key_file")}
        super().__init__(settings.data_dir, **{name: value for name, value in chosen.items() if value is not None})
        self.ledger = ledger
        self.publications = 0
        self.now = datetime.now(UTC)

    def decide(self, *titles: str) -> None:
        for title in titles:
            propose(self.ledger, proposal(goal(title, title=title)), alignment=no_rules)

    def publish_change(self) -> str:
        """Builds a generation of one file, which differs from the last."""
        self.publications += 1
        self.now += timedelta(minutes=1)
        draft = begin(self.data_dir, self.now)
        parts = {"public/number.txt": Part.of_bytes(str(self.publications).encode())}
        build(self.data_dir, draft, parts, {}, self.settings.public_base_url, audit_head(self.settings, draft))
        return draft.id

    def audit(self) -> AuditReport:
        with self.ledger.read() as reader:
            return verify(reader, known_heads(self.settings))

    def lose_decisions(self, after: int) -> None:
        """Resets the ledger to its first `after` decisions, as restoring a backup does."""
        with self.ledger._writers.begin() as connection:
            seq = connection.execute(
                text("select min(seq) from world_decisions where number > :after"), {"after": after}
            ).scalar_one()
            for table in ("world_decision_payloads", "world_decisions", "world_events", "ledger_changes"):
                connection.execute(text(f"delete from {table} where seq >= :seq"), {"seq": seq})
            connection.execute(text("delete from world_nodes where revision >= :seq"), {"seq": seq})

    def record_restore(self) -> None:
        self.now += timedelta(minutes=1)
        with self.ledger.read() as reader:
            record_restore(self.settings, reader, self.now)

    def rewrite_history(self, decision: int, old: str, new: str) -> None:
        """Changes one decision's text as a file editor can, and recomputes every commitment and link after it."""
        with self.ledger._writers.begin() as connection:
            rows = connection.execute(
                text(
                    "select d.seq, d.number, d.decided_at, d.verdict, d.commitment, p.salt, p.payload "
                    "from world_decisions d join world_decision_payloads p on p.seq = d.seq order by d.number"
                )
            ).all()
            previous = FIRST_LINK
            for seq, number, decided_at, verdict, _, salt, payload in rows:
                payload = payload.replace(old, new) if number == decision else payload
                chained = ChainedDecision(
                    number=number,
                    seq=seq,
                    decided_at=decided_at,
                    verdict=verdict,
                    commitment=commitment(salt, payload),
                )
                previous = chained.link(previous)
                fields = {"seq": seq, "payload": payload, "commitment": chained.commitment, "link": previous}
                connection.execute(
                    text("update world_decisions set commitment = :commitment, link = :link where seq = :seq"), fields
                )
                connection.execute(
                    text("update world_decision_payloads set payload = :payload where seq = :seq"), fields
                )


@pytest.fixture
def house(ledger: Ledger, ledger_settings) -> AuditedHouse:
    return AuditedHouse(ledger, ledger_settings)


def test_the_heads_of_all_generations_lie_on_an_honest_chain(house: AuditedHouse) -> None:
    house.publish_change()
    for title in ("one", "two", "three"):
        house.decide(title)
        house.publish_change()
    house.decide("later")
    report = house.audit()
    assert (report.faults, report.signed_heads, report.decisions) == ([], 3, 4)


def test_a_published_generation_and_one_marked_stale_carry_the_head(house: AuditedHouse) -> None:
    house.decide("one")
    house.publish()
    house.decide("two")
    house.republish_stale("check_failed")
    generation = current_generation(house.data_dir)
    assert generation is not None and generation.manifest.audit_head is not None
    assert (generation.manifest.audit_head.decisions, house.audit().signed_heads) == (2, 2)


def test_a_chain_rewritten_as_a_whole_is_found(house: AuditedHouse) -> None:
    house.decide("one", "two", "three")
    generation = house.publish_change()
    house.rewrite_history(2, "words of no decision", "")
    assert house.audit().faults == [], "rewriting without a change is no tampering"
    house.rewrite_history(2, "local:ada", "local:eve")
    with house.ledger.read() as reader:
        assert verify(reader).faults == [], "the chain fits itself"
    assert house.audit().faults == [f"the chain up to decision 3 differs from that of generation {generation}"]


def test_a_chain_cut_off_after_a_generation_is_found(house: AuditedHouse) -> None:
    house.decide("one", "two")
    house.publish_change()
    with house.ledger._writers.begin() as connection:
        for table in ("world_decision_payloads", "world_decisions"):
            connection.execute(text(f"delete from {table} where seq = (select max(seq) from {table})"))
    assert any("has 2 decisions, but the chain ends earlier" in fault for fault in house.audit().rolled_back)


@pytest.mark.parametrize("forgery", ["another link", "another signature", "a signature of no form", "no head"])
def test_a_head_that_was_edited_is_found(house: AuditedHouse, forgery: str) -> None:
    house.decide("one")
    house.publish_change()
    house.decide("two")
    generation = house.publish_change()
    path = house.data_dir / "generations" / generation / "manifest.json"
    manifest = json.loads(path.read_text())
    if forgery == "another link":
        manifest["auditHead"]["link"] = "ab" * 32
    elif forgery == "another signature":
        earlier = kept_manifests(house.data_dir)[0].audit_head
        assert earlier is not None
        manifest["auditHead"]["signature"] = earlier.signature
    elif forgery == "a signature of no form":
        manifest["auditHead"]["signature"] |= {"jws": "é..é"}
    else:
        manifest["auditHead"] = None
    path.write_text(json.dumps(manifest))
    [fault] = house.audit().faults
    assert generation in fault


def test_a_head_survives_the_rotation_of_signing_keys(house: AuditedHouse) -> None:
    house.decide("one")
    house.publish_change()
    SigningKeys(house.settings).rotate(house.now)
    house.now += timedelta(hours=1)
    house.decide("two")
    house.publish_change()
    manifests = kept_manifests(house.data_dir)
    kids = {manifest.audit_head.signature["kid"] for manifest in manifests if manifest.audit_head}
    assert (len(kids), house.audit().faults) == (2, [])


def test_a_restore_is_rolled_back_until_it_is_recorded_and_intact_from_then_on(house: AuditedHouse) -> None:
    house.decide("kept")
    house.publish_change()
    house.decide("lost", "lost-too")
    generation = house.publish_change()
    house.lose_decisions(after=1)
    report = house.audit()
    assert (report.verdict, report.faults) == ("rolled_back", [])
    assert report.rolled_back == [f"generation {generation} has 3 decisions, but the chain ends earlier"]
    house.record_restore()
    report = house.audit()
    assert (report.verdict, report.superseded, report.signed_heads) == ("intact", 1, 2)
    house.decide("new", "newer", "newest")
    house.publish_change()
    assert house.audit().verdict == "intact"


def test_a_restore_that_went_on_before_it_was_recorded_is_no_tampering(house: AuditedHouse) -> None:
    house.now -= timedelta(hours=2)
    house.decide("kept", "lost")
    generation = house.publish_change()
    house.lose_decisions(after=1)
    house.decide("new", "newer")
    report = house.audit()
    assert (report.verdict, report.faults) == ("rolled_back", [])
    later = f"generation {generation} has another decision 2 than the chain, whose decision is later"
    assert report.rolled_back == [later]
    house.record_restore()
    assert house.audit().verdict == "intact"


def test_a_chain_rewritten_after_a_recorded_restore_is_tampered_with(house: AuditedHouse) -> None:
    house.decide("kept", "kept-too", "lost")
    house.publish_change()
    house.lose_decisions(after=2)
    house.record_restore()
    house.rewrite_history(1, "local:ada", "local:eve")
    [fault] = house.audit().faults
    assert fault.startswith("the chain up to decision 2 differs from that of the restore of ")


def test_decisions_taken_out_after_a_recorded_restore_are_missed(house: AuditedHouse) -> None:
    house.decide("kept", "kept-too", "lost")
    house.publish_change()
    house.lose_decisions(after=2)
    house.record_restore()
    house.decide("new")
    generation = house.publish_change()
    house.lose_decisions(after=2)
    assert house.audit().rolled_back == [f"generation {generation} has 3 decisions, but the chain ends earlier"]
    house.lose_decisions(after=1)
    report = house.audit()
    assert report.verdict == "rolled_back"
    assert report.rolled_back[0].startswith("the restore of ")


def test_a_second_restore_of_an_older_backup_is_recorded_in_place_of_the_first(house: AuditedHouse) -> None:
    house.decide("oldest", "old", "lost")
    house.publish_change()
    for kept in (2, 1):
        house.lose_decisions(after=kept)
        assert house.audit().verdict == "rolled_back"
        house.record_restore()
        assert house.audit().verdict == "intact"


def test_a_restore_that_took_back_a_rotated_signing_key_is_recorded_like_any_other(house: AuditedHouse) -> None:
    house.decide("kept")
    keys = SigningKeys(house.settings)
    keys.current()
    path = house.settings.signing_key_file or house.data_dir / "signing.pem"
    backup = path.read_bytes()
    house.publish_change()
    keys.rotate(house.now)
    house.now += timedelta(hours=1)
    generation = house.publish_change()
    path.write_bytes(backup)
    report = house.audit()
    assert (report.verdict, report.faults) == ("rolled_back", [])
    assert report.rolled_back == [f"generation {generation} is signed by a key that this service does not have"]
    house.record_restore()
    assert (house.audit().verdict, house.audit().superseded) == ("intact", 1)


@pytest.mark.parametrize("forgery", ["another link", "another time"])
def test_an_edited_record_of_a_restore_is_found(house: AuditedHouse, forgery: str) -> None:
    house.decide("kept", "lost")
    house.publish_change()
    house.lose_decisions(after=1)
    house.record_restore()
    path = house.data_dir / "restored.json"
    record = json.loads(path.read_text())
    if forgery == "another link":
        record["head"]["link"] = "ab" * 32
    else:
        record["restoredAt"] = "2099-01-01T00:00:00.000000Z"
    path.write_text(json.dumps(record))
    report = house.audit()
    assert report.verdict == "tampered"
    assert any("the record of the restore" in fault for fault in report.faults)


def test_a_record_of_a_restore_that_is_no_record_is_named_with_a_cure(house: AuditedHouse) -> None:
    house.decide("one")
    (house.data_dir / "restored.json").write_text("{}")
    with pytest.raises(StoreUnusable, match="delete it and run `svc world restored` again"):
        house.audit()
