"""Approval tokens: each is bound to one action and counts once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrail.approval import Approval, Approvals, Outcome, make_token, verified

KEY = b"k" * 32
DIGEST = "a" * 64
APPROVAL = Approval(DIGEST, "local:anna", 2_000, "id-0123456789abcdef")


class Store:
    """Accepts a token once."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def take(self, approval: Approval) -> bool:
        if approval.id in self.taken:
            return False
        self.taken.add(approval.id)
        return True


def approvals(**changed: object) -> Approvals:
    return replace(Approvals(KEY, "local:anna", 1_000, Store()), **changed)


def test_a_token_says_what_was_approved() -> None:
    assert verified(make_token(APPROVAL, KEY), KEY) == APPROVAL


def test_a_token_counts_once() -> None:
    known, token = approvals(), make_token(APPROVAL, KEY)
    assert known.accept(token, DIGEST) is Outcome.ACCEPTED
    assert known.accept(token, DIGEST) is Outcome.TAKEN


@pytest.mark.parametrize(
    ("changed", "digest", "outcome"),
    [
        ({}, "b" * 64, Outcome.OTHER_ACTION),
        ({"owner": "local:eve"}, DIGEST, Outcome.OTHER_OWNER),
        ({"now": 2_000}, DIGEST, Outcome.EXPIRED),
        ({"key": b"j" * 32}, DIGEST, Outcome.FORGED),
    ],
)
def test_a_token_is_bound_to_action_owner_time_and_key(
    changed: dict[str, object], digest: str, outcome: Outcome
) -> None:
    store = Store()
    assert approvals(**changed, store=store).accept(make_token(APPROVAL, KEY), digest) is outcome
    assert not store.taken


@pytest.mark.parametrize("token", ["", "x", "svcga1..", "svcga1.a.b", "svcga2.e30.e30", "é", "svcga1." + "a" * 2_000])
def test_an_unparseable_token_is_malformed_or_forged(token: str) -> None:
    assert verified(token, KEY) is Outcome.MALFORMED or verified(token, KEY) is Outcome.FORGED


def test_a_token_has_one_spelling() -> None:
    prefix, payload, signature = make_token(APPROVAL, KEY).split(".")
    for other in (
        f"{prefix}.{payload}=.{signature}",
        f"{prefix}.{payload}.{signature}==",
        f"{prefix}.{payload}.{signature}\n",
    ):
        assert verified(other, KEY) is Outcome.MALFORMED


@given(st.integers(0, 400), st.characters(codec="ascii"))
def test_a_changed_token_is_not_accepted(at: int, char: str) -> None:
    token = make_token(APPROVAL, KEY)
    at %= len(token)
    changed = token[:at] + char + token[at + 1 :]
    if changed != token:
        assert isinstance(verified(changed, KEY), Outcome)


@given(st.text(max_size=80))
def test_no_text_makes_verifying_fail(token: str) -> None:
    assert isinstance(verified(token, KEY), Outcome)


@pytest.mark.parametrize(
    ("approval", "key"),
    [
        (APPROVAL, b"short"),
        (replace(APPROVAL, digest="A" * 64), KEY),
        (replace(APPROVAL, id="short"), KEY),
        (replace(APPROVAL, owner=""), KEY),
        (replace(APPROVAL, expires_at=0), KEY),
        (replace(APPROVAL, owner="o" * 2_000), KEY),
    ],
)
def test_no_token_is_issued_that_no_check_could_accept(approval: Approval, key: bytes) -> None:
    with pytest.raises(ValueError):
        make_token(approval, key)
