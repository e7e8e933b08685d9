"""Keys in the ledger on both engines: created in the same transaction as what they belong to, and changed in one
direction only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from ledger_process import BROKEN_CONSTRAINT

from contracts.access.api_keys import new_key
from contracts.access.tiers import Caller, Tier
from contracts.errors import KeyUnknown
from contracts.settings import Settings
from warehouse.access.key_lookup import open_key_lookup
from warehouse.access.keys import (
    IssuedKey,
    KeyState,
    KeyUse,
    add_uses,
    alive_key_of_claim,
    create_key,
    find_key,
    forget_sealed_keys,
    list_keys,
    record_first_use,
    reinstate_key,
    revoke_key,
    rotate_key,
    sealed_key,
    suspend_key,
)
from warehouse.ledger.ledger import Ledger

NOON = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
PEPPER = b"p" * 32


def made(ledger: Ledger, tier: Tier = Tier.FREE, **options: object) -> IssuedKey:
    given = {"owner": "local:alice", "now": NOON} | options
    with ledger.transaction() as tx:
        return create_key(tx, PEPPER, tier=tier, **given)


def found(settings: Settings, issued: IssuedKey, at: datetime = NOON) -> Caller | None:
    lookup = open_key_lookup(settings, PEPPER)
    held = lookup.find(issued.key.reveal(), at.timestamp())
    lookup.close()
    return held.caller if held else None


@pytest.mark.parametrize("tier", list(Tier))
def test_a_new_key_is_found_only_by_its_text(ledger: Ledger, ledger_settings: Settings, tier: Tier) -> None:
    issued = made(ledger, tier)
    assert found(ledger_settings, issued) == Caller(issued.record.key_id, "local:alice", tier)
    assert issued.record.hint == issued.key.redacted


def test_a_key_of_another_ledger_belongs_to_nobody(ledger: Ledger, ledger_settings: Settings) -> None:
    issued = made(ledger)
    lookup = open_key_lookup(ledger_settings, PEPPER)
    other_pepper = open_key_lookup(ledger_settings, b"q" * 32)
    for text in ("", "svc_free_", "x" * 10_000, issued.key.reveal()[:-1], new_key(Tier.FREE).reveal(), "svc_free_\0"):
        assert lookup.find(text, NOON.timestamp()) is None
    assert other_pepper.find(issued.key.reveal(), NOON.timestamp()) is None
    lookup.close()
    other_pepper.close()


def test_a_key_is_issued_with_the_transaction_or_not_at_all(ledger: Ledger, ledger_settings: Settings) -> None:
    with pytest.raises(InterruptedError), ledger.transaction() as tx:
        issued = create_key(tx, PEPPER, tier=Tier.FREE, owner="0xab", now=NOON, claim_id="claim_1")
        raise InterruptedError
    assert found(ledger_settings, issued) is None
    assert ledger.head() == 0


def test_a_claim_has_at_most_one_key_alive(ledger: Ledger) -> None:
    first = made(ledger, claim_id="claim_1")
    with pytest.raises(BROKEN_CONSTRAINT):
        made(ledger, claim_id="claim_1")
    with ledger.transaction() as tx:
        revoke_key(tx, first.record.key_id, now=NOON)
    second = made(ledger, claim_id="claim_1")
    with ledger.read() as reader:
        assert alive_key_of_claim(reader, "claim_1") == second.record
        assert alive_key_of_claim(reader, "claim_2") is None


def test_states_move_one_way_but_for_suspension(ledger: Ledger, ledger_settings: Settings) -> None:
    issued = made(ledger)
    key_id = issued.record.key_id
    steps = [
        (reinstate_key, False, KeyState.ACTIVE),
        (suspend_key, True, KeyState.SUSPENDED),
        (suspend_key, False, KeyState.SUSPENDED),
        (reinstate_key, True, KeyState.ACTIVE),
        (suspend_key, True, KeyState.SUSPENDED),
        (revoke_key, True, KeyState.REVOKED),
        (revoke_key, False, KeyState.REVOKED),
        (suspend_key, False, KeyState.REVOKED),
        (reinstate_key, False, KeyState.REVOKED),
    ]
    for number, (step, changes, state) in enumerate(steps):
        with ledger.transaction() as tx:
            assert step(tx, key_id, now=NOON + timedelta(seconds=number)) is changes
            record = find_key(tx, key_id)
            assert record is not None and record.state is state
        assert (found(ledger_settings, issued) is not None) is (state is KeyState.ACTIVE)
    assert ledger.head() == 1 + sum(changes for _, changes, _ in steps)


def test_an_unknown_key_is_said_to_be_unknown(ledger: Ledger) -> None:
    for step in (revoke_key, suspend_key, reinstate_key):
        with pytest.raises(KeyUnknown), ledger.transaction() as tx:
            step(tx, "key_none", now=NOON)
    with pytest.raises(KeyUnknown), ledger.transaction() as tx:
        rotate_key(tx, PEPPER, "key_none", now=NOON)


def test_an_open_lookup_sees_each_change_at_once(ledger: Ledger, ledger_settings: Settings) -> None:
    lookup = open_key_lookup(ledger_settings, PEPPER)
    issued = made(ledger)
    text, key_id = issued.key.reveal(), issued.record.key_id
    assert lookup.find(text, NOON.timestamp()) is not None
    for step, valid in ((suspend_key, False), (reinstate_key, True), (revoke_key, False)):
        with ledger.transaction() as tx:
            step(tx, key_id, now=NOON)
        assert (lookup.find(text, NOON.timestamp()) is not None) is valid
    lookup.close()


def test_a_key_becomes_free_when_its_paid_time_ends(ledger: Ledger, ledger_settings: Settings) -> None:
    until = NOON + timedelta(days=30)
    issued = made(ledger, Tier.PRO, paid_until=until)
    for at, tier in ((NOON, Tier.PRO), (until - timedelta(microseconds=1), Tier.PRO), (until, Tier.FREE)):
        caller = found(ledger_settings, issued, at)
        assert caller is not None and caller.tier is tier


def test_a_rotated_key_keeps_everything_but_its_text(ledger: Ledger, ledger_settings: Settings) -> None:
    first = made(ledger, Tier.BASIC, owner="0xab", claim_id="claim_1", paid_until=NOON + timedelta(days=30))
    with ledger.transaction() as tx:
        second = rotate_key(tx, PEPPER, first.record.key_id, now=NOON)
    assert found(ledger_settings, first) is None
    assert found(ledger_settings, second) == Caller(second.record.key_id, "0xab", Tier.BASIC)
    for field in ("family_id", "tier", "owner", "claim_id", "paid_until"):
        assert getattr(second.record, field) == getattr(first.record, field)
    with pytest.raises(KeyUnknown), ledger.transaction() as tx:
        rotate_key(tx, PEPPER, first.record.key_id, now=NOON)


def test_a_suspended_key_stays_suspended_through_a_rotation(ledger: Ledger, ledger_settings: Settings) -> None:
    first = made(ledger)
    with ledger.transaction() as tx:
        suspend_key(tx, first.record.key_id, now=NOON)
        second = rotate_key(tx, PEPPER, first.record.key_id, now=NOON)
    assert found(ledger_settings, second) is None
    with ledger.transaction() as tx:
        assert reinstate_key(tx, second.record.key_id, now=NOON)
    assert found(ledger_settings, second) is not None


def test_sealed_keys_are_deleted_on_first_use_on_revocation_or_with_time(ledger: Ledger) -> None:
    used, revoked, old, kept = (
        made(ledger, sealed=f"sealed {number}", now=NOON + timedelta(hours=number)).record.key_id for number in range(4)
    )
    with ledger.transaction() as tx:
        assert sealed_key(tx, used) == "sealed 0"
        record_first_use(tx, used, now=NOON)
        record_first_use(tx, used, now=NOON + timedelta(hours=9))
        revoke_key(tx, revoked, now=NOON)
        assert forget_sealed_keys(tx, NOON + timedelta(hours=3)) == 1
        assert [sealed_key(tx, key_id) for key_id in (used, revoked, old, kept)] == [None, None, None, "sealed 3"]
        record = find_key(tx, used)
        assert record is not None and record.first_used_at == NOON


def test_uses_add_up_by_day_and_show_in_the_list(ledger: Ledger) -> None:
    first, second = made(ledger).record, made(ledger, now=NOON + timedelta(seconds=1)).record
    with ledger.transaction() as tx:
        add_uses(tx, [KeyUse(first.key_id, "2026-01-01", 5, NOON - timedelta(days=1))])
        add_uses(tx, [KeyUse(first.key_id, "2026-01-02", 2, NOON)])
        add_uses(tx, [KeyUse(first.key_id, "2026-01-02", 3, NOON - timedelta(minutes=1))])
    with ledger.read() as reader:
        newer, older = list_keys(reader, now=NOON)
    assert (newer.key, newer.requests, newer.requests_today, newer.last_used_at) == (second, 0, 0, None)
    assert (older.key, older.requests, older.requests_today, older.last_used_at) == (first, 10, 5, NOON)
