"""Stores pairing codes and sessions in the ledger: a code opens one session, once, and the session records its
progress.

Only digests of codes and tokens are stored. This module knows nothing about plans and how a session moves through them.
"""

import secrets
from dataclasses import dataclass, field
from datetime import datetime

from contracts.connect.pairing import BUILT_IN_PROFILE, CODE_LIVES, Vouched, code_digest, new_code
from contracts.connect.sessions import KEPT, SESSION_LIVES, Session
from contracts.connect.tokens import new_token, token_digest
from warehouse.ledger.ledger import Ledger, Reader, Row, Transaction, utc_text
from warehouse.ledger.records import columns_of, record_of

PAIRING_CHANGED = "pairing"
"""The kind under which pairing codes are on the change feed; the entity id is the row's id, which opens nothing."""

SESSION_CHANGED = "connect"
"""The kind under which sessions are on the change feed; the entity id is `session_id`, which opens nothing."""


@dataclass(frozen=True, slots=True)
class IssuedCode:
    """A newly created pairing code. Its text exists only here."""

    code: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A newly opened session. Its token exists only here."""

    token: str = field(repr=False)
    session: Session


def issue_code(tx: Transaction, pepper: bytes) -> IssuedCode:
    code, now = new_code(), tx.now()
    _insert_pairing(tx, code_digest(pepper, code), Vouched(BUILT_IN_PROFILE, now, now + CODE_LIVES), None)
    return IssuedCode(code, now + CODE_LIVES)


def redeem_issued(ledger: Ledger, digest: str, pepper: bytes, agent: str | None) -> OpenedSession | None:
    """Opens the session of a pairing code issued here, by its digest. Returns None if it is unknown, expired or used.

    The write lock is taken only for a valid code, so guessing codes does not hold up writers.
    """
    with ledger.read() as reader:
        if _good_pairing(reader, digest, ledger.now()) is None:
            return None
    with ledger.transaction() as tx:
        pairing = _good_pairing(tx, digest, tx.now())
        if pairing is None:
            return None
        tx.run("connect_consume_pairing", pairing_id=pairing["pairing_id"], consumed_at=utc_text(tx.now()))
        tx.changed(PAIRING_CHANGED, pairing["pairing_id"])
        return _open(tx, pepper, pairing["pairing_id"], pairing["profile_id"], agent)


def redeem_vouched(
    tx: Transaction, digest: str, vouched: Vouched, pepper: bytes, agent: str | None
) -> OpenedSession | None:
    """Opens the session of a code that a companion vouches for. Returns None if it was used here or has expired."""
    now = tx.now()
    if is_known(tx, digest) or vouched.expires_at <= now:
        return None
    pairing_id = _insert_pairing(tx, digest, vouched, now)
    return _open(tx, pepper, pairing_id, vouched.profile_id, agent)


def is_known(reader: Reader, digest: str) -> bool:
    """Returns True if a code with this digest was issued or used here."""
    return reader.row("connect_pairing_of_code", code_digest=digest) is not None


def find_session(reader: Reader, pepper: bytes, token: str) -> Session | None:
    """Returns the session of a token, even an ended one, or None if there is none or it was deleted."""
    row = reader.row("connect_session_of_token", token_digest=token_digest(pepper, token))
    return None if row is None else record_of(Session, row)


def save_session(tx: Transaction, session: Session) -> Session | None:
    """Saves the choice, progress and intake of an open session. Returns None if it changed meanwhile or has ended."""
    saved = tx.run(
        "connect_save_session",
        **columns_of(session),
        now=utc_text(tx.now()),
    )
    if not saved:
        return None
    tx.changed(SESSION_CHANGED, session.session_id)
    return session_of_id(tx, session.session_id)


def close_session(tx: Transaction, session_id: str) -> Session:
    """Ends a session now. Does nothing if it was closed before."""
    if tx.run("connect_close_session", session_id=session_id, closed_at=utc_text(tx.now())):
        tx.run("connect_forget_graph", session_id=session_id)
        tx.changed(SESSION_CHANGED, session_id)
    return session_of_id(tx, session_id)


def open_graph(tx: Transaction, session_id: str, owner: str, key_id: str | None) -> None:
    """Lets a session see the graph of `owner`, by one of the owner's keys or, if `key_id` is None, by a signature."""
    opened_at = utc_text(tx.now())
    tx.run("connect_open_graph", session_id=session_id, owner=owner, key_id=key_id, opened_at=opened_at)


def opened_graph(reader: Reader, session_id: str) -> str | None:
    """Returns the owner of the graph that a session opened, or None. A graph opened by a key is open only while the key
    is active."""
    row = reader.row("connect_opened_graph", session_id=session_id)
    return None if row is None else str(row["owner"])


def session_of_id(reader: Reader, session_id: str) -> Session:
    """Returns the session with this id, which must exist."""
    row = reader.row("connect_session", session_id=session_id)
    assert row is not None, "a session that was just read"
    return record_of(Session, row)


def sessions_of_intake(reader: Reader, intake_id: str) -> list[Row]:
    """Returns the rows of the sessions that registered an intake, by column name."""
    return reader.rows("connect_sessions_of_intake", intake_id=intake_id)


def forget_sessions_of_intake(tx: Transaction, intake_id: str) -> None:
    """Deletes the agent and the reports of the sessions of an intake. Closes those that are still open."""
    sessions = sessions_of_intake(tx, intake_id)
    tx.run("connect_forget_intake", intake_id=intake_id, closed_at=utc_text(tx.now()))
    for row in sessions:
        tx.run("connect_forget_graph", session_id=row["session_id"])
    tx.changed_each([(SESSION_CHANGED, row["session_id"]) for row in sessions])


def delete_ended(tx: Transaction) -> int:
    """Deletes sessions and codes that expired longer ago than the retention period. Returns their number.

    The deletions don't go on the change feed, since nothing needs to follow them.
    """
    before = utc_text(tx.now() - KEPT)
    tx.run("connect_delete_session_graphs", expired_before=before)
    sessions = tx.run("connect_delete_sessions", expired_before=before)
    return sessions + tx.run("connect_delete_pairings", expired_before=before)


def _good_pairing(reader: Reader, digest: str, now: datetime) -> Row | None:
    row = reader.row("connect_pairing_of_code", code_digest=digest)
    if row is None or row["consumed_at"] is not None or datetime.fromisoformat(row["expires_at"]) <= now:
        return None
    return row


def _insert_pairing(tx: Transaction, digest: str, vouched: Vouched, consumed_at: datetime | None) -> str:
    pairing_id = f"pair_{secrets.token_hex(16)}"
    tx.run(
        "connect_insert_pairing",
        pairing_id=pairing_id,
        code_digest=digest,
        profile_id=vouched.profile_id,
        issued_at=utc_text(vouched.issued_at),
        expires_at=utc_text(vouched.expires_at),
        consumed_at=None if consumed_at is None else utc_text(consumed_at),
    )
    tx.changed(PAIRING_CHANGED, pairing_id)
    return pairing_id


def _open(tx: Transaction, pepper: bytes, pairing_id: str, profile_id: str, agent: str | None) -> OpenedSession:
    token, session_id, now = new_token(), f"connect_{secrets.token_hex(16)}", tx.now()
    tx.run(
        "connect_insert_session",
        session_id=session_id,
        token_digest=token_digest(pepper, token),
        pairing_id=pairing_id,
        profile_id=profile_id,
        agent=agent,
        created_at=utc_text(now),
        expires_at=utc_text(now + SESSION_LIVES),
    )
    tx.changed(SESSION_CHANGED, session_id)
    return OpenedSession(token, session_of_id(tx, session_id))
