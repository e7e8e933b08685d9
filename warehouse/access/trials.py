"""Stores trial keys: issues them within their limits, repeats a lost answer, and ends them.

A trial is a row for the first key of a family, so a key that replaces that one is a trial key too.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from contracts.access.api_keys import new_key
from contracts.access.claims import ANSWER_KEPT
from contracts.access.trial_keys import network_digest, trial_end, wallet_digest
from contracts.access.trial_plan import trial_plan
from contracts.sealing import seal, unseal
from contracts.secrets import DerivedSecrets
from contracts.times import instant_of, utc_day
from contracts.world.records import FORGOTTEN
from warehouse.access.keys import create_key, forget_sealed_keys, revoke_key, sealed_key
from warehouse.ledger.ledger import Ledger, Reader, Row, Transaction, utc_text
from warehouse.world.forget import erase_ended_trial

Lacking = Literal["wallet", "network", "day"]
"""The limit that leaves no trial: that of the wallet, of its network or of the day."""

Step = Literal["keep", "erase", "forget"]
"""What to do about an owner whose trials are long over: keep its graph, erase it, or forget the owner, whose graph is
gone from every file."""


@dataclass(frozen=True, slots=True)
class Applicant:
    """A wallet (lower case) that requests a trial key, the network of the request, and the digest of its challenge."""

    wallet: str
    network: str
    challenge_sha256: str


@dataclass(frozen=True, slots=True)
class IssuedTrial:
    """A trial key. Its text exists only here and in repeated answers to the same challenge."""

    key_text: str = field(repr=False)
    key_id: str
    issued_at: datetime
    replayed: bool


def is_answered(reader: Reader, challenge_sha256: str) -> bool:
    """Decides whether a challenge was answered with a key before; the key may be gone by now."""
    return reader.row("access_trial", challenge_sha256=challenge_sha256) is not None


def answered(reader: Reader, derived: DerivedSecrets, challenge_sha256: str, *, now: datetime) -> IssuedTrial | None:
    """Returns the key that answered a challenge before, or None if it was used or is older than `ANSWER_KEPT`."""
    row = reader.row("access_trial", challenge_sha256=challenge_sha256)
    if row is None or now - instant_of(row["issued_at"]) > ANSWER_KEPT:
        return None
    sealed = sealed_key(reader, row["family_id"])
    text = None if sealed is None else unseal(derived.sealing_key, sealed, challenge_sha256)
    if text is None:
        return None
    return IssuedTrial(text, row["family_id"], instant_of(row["issued_at"]), replayed=True)


def lacking(
    reader: Reader, derived: DerivedSecrets, applicant: Applicant, most_a_day: int, *, now: datetime
) -> Lacking | None:
    """Returns the limit that is used up, or None if a trial is left. `most_a_day` is the installation's daily limit."""
    room = reader.row("access_trial_room", **_limits(derived, applicant, "", most_a_day, now))
    assert room is not None
    if not room["of_wallet"]:
        return "wallet"
    if not room["of_network"]:
        return "network"
    return None if room["of_day"] else "day"


def take_trial(
    tx: Transaction, derived: DerivedSecrets, applicant: Applicant, most_a_day: int, *, now: datetime
) -> IssuedTrial:
    """Issues a key to a wallet that has signed. A single statement checks all limits and counts against them.

    The caller must check in the same transaction that `lacking` is None and the challenge not answered; otherwise an
    assertion rolls it back.
    """
    plan, ends_at = trial_plan(), trial_end(now)
    key = new_key(plan.tier)
    issued = create_key(
        tx,
        derived.pepper,
        tier=plan.tier,
        owner=applicant.wallet,
        now=now,
        key=key,
        sealed=seal(derived.sealing_key, key.reveal(), applicant.challenge_sha256),
    )
    taken = tx.run(
        "access_take_trial",
        challenge_sha256=applicant.challenge_sha256,
        issued_at=utc_text(now),
        ends_at=utc_text(ends_at),
        **_limits(derived, applicant, issued.record.key_id, most_a_day, now),
    )
    forget_sealed_keys(tx, now - ANSWER_KEPT)
    assert taken == 1, "no trial was left"
    return IssuedTrial(key.reveal(), issued.record.key_id, now, replayed=False)


def trials_to_end(reader: Reader, now: datetime) -> bool:
    """Decides whether `end_trials` would do anything."""
    if reader.row("access_trial_networks", day=utc_day(now)) is not None:
        return True
    return any(_step(reader, row) is not None for row in _over(reader, now))


def end_trials(ledger: Ledger, now: datetime) -> int:
    """Erases the graphs of trial keys that ended `erased_after_days` ago, and later forgets the owners of these keys.

    Returns the number of erased graphs. An erasure is recorded like one that its owner requested, so the files are
    rewritten too; until that is done, the keys' owner stays known. An owner with another key by now keeps its graph.
    The networks of earlier days are forgotten as well.
    """
    with ledger.transaction() as tx:
        tx.run("access_forget_trial_networks", day=utc_day(now))
    with ledger.read() as reader:
        over = _over(reader, now)
    steps = []
    for row in over:
        with ledger.transaction() as tx:
            # Queried again, since the owner may have got another key meanwhile.
            current = next((each for each in _over(tx, now) if each["owner"] == row["owner"]), None)
            step = None if current is None else _step(tx, current)
            if step is not None:
                steps.append(step)
                _take_step(tx, step, row["owner"], now)
    ledger.scrub()
    return steps.count("erase")


def _over(reader: Reader, now: datetime) -> list[Row]:
    ended_before = now - timedelta(days=trial_plan().erased_after_days)
    return reader.rows("access_trials_over", ended_before=utc_text(ended_before))


def _step(reader: Reader, over: Row) -> Step | None:
    """Returns the next step for the trials of an owner, or None while files that contain its erased graph remain."""
    if over["has_keys"]:
        return "keep"
    if not over["erased"]:
        return "erase"
    return None if any(row["owner"] == over["owner"] for row in reader.rows("world_erasures_waiting")) else "forget"


def _take_step(tx: Transaction, step: Step, owner: str, now: datetime) -> None:
    families = [row["family_id"] for row in tx.rows("access_trials_of", owner=owner)]
    if step == "erase":
        erase_ended_trial(tx, owner, families[-1])
    for family_id in families:
        if step == "erase":
            tx.run("access_mark_trial_erased", family_id=family_id, erased_at=utc_text(now))
            continue
        if step == "forget":
            tx.run("access_forget_trial_owner", family_id=family_id, forgotten=FORGOTTEN)
        for key in tx.rows("access_keys_of_trial", family_id=family_id):
            revoke_key(tx, key["key_id"], now=now)
        tx.run("access_forget_trial", family_id=family_id)


def _limits(
    derived: DerivedSecrets, applicant: Applicant, family_id: str, most_a_day: int, now: datetime
) -> dict[str, Any]:
    day = utc_day(now)
    return {
        "owner": applicant.wallet,
        "family_id": family_id,
        "wallet_digest": wallet_digest(derived.pepper, applicant.wallet),
        "wallet_since": utc_text(now - timedelta(days=trial_plan().wallet_days)),
        "network_digest": network_digest(derived.pepper, applicant.network, day),
        "day": day,
        "most_of_network": trial_plan().keys_per_network,
        "most_a_day": most_a_day,
    }
