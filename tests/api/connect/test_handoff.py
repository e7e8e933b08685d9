"""The hand-off against an honest companion application, and against faulty and hostile ones."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from companion_app import PATH, Companion, Reply, honest

from api.connect.handoff import Handoff
from contracts.settings import Settings
from warehouse.ledger.counters import Counters, open_counters

SECRET = b"the secret of both"
PATIENCE_S = 10.0


@pytest.fixture
def counters(ledger_settings: Settings) -> Iterator[Counters]:
    opened = open_counters(ledger_settings, ledger_settings.data_dir)
    yield opened
    opened.close()


@pytest.fixture
def companion() -> Iterator[Companion]:
    with Companion(SECRET) as made:
        yield made


def handoff(
    url: str,
    counters: Counters,
    secret: bytes | None = SECRET,
    ahead_s: int = 0,
    timeout_s: float = PATIENCE_S,
) -> Handoff:
    ahead = timedelta(seconds=ahead_s)
    return Handoff(url, secret, counters, lambda: datetime.now(UTC) + ahead, timeout_s=timeout_s)


def ask(handoff: Handoff, code: str):
    return asyncio.run(handoff.vouched(code))


def test_a_good_code_is_vouched_for_once(companion: Companion, counters: Counters):
    code, asking = companion.give(profile="ada"), handoff(companion.url, counters)
    vouched = ask(asking, code)
    assert vouched is not None
    assert vouched.profile_id == "ada"
    assert vouched.expires_at - vouched.issued_at == timedelta(minutes=5)
    assert ask(asking, code) is None
    assert companion.asked == [code, code]


def test_without_a_secret_a_companion_on_this_machine_is_believed_and_no_other(counters: Counters, caplog):
    with Companion() as companion:
        assert ask(handoff(companion.url, counters, secret=None), companion.give()) is not None
    assert ask(handoff("http://app.example", counters, secret=None), "ABC123") is None
    assert "SVC_HANDOFF_SECRET" in caplog.text


def bent(**changes: object) -> Callable[[Reply], None]:
    """Returns a behaviour that changes fields of the body and signs it correctly."""

    def behave(reply: Reply) -> None:
        said = json.loads(reply.body) | changes
        reply.body = json.dumps({name: value for name, value in said.items() if value is not None}).encode()
        reply.sign()

    return behave


def then(**changes: object) -> Callable[[Reply], None]:
    """Returns a behaviour that changes a correct reply after signing it."""

    def behave(reply: Reply) -> None:
        reply.sign()
        for name, value in changes.items():
            setattr(reply, name, value)

    return behave


def before(**changes: object) -> Callable[[Reply], None]:
    """Returns a behaviour that changes a reply and then signs it correctly."""

    def behave(reply: Reply) -> None:
        for name, value in changes.items():
            setattr(reply, name, value)
        reply.sign()

    return behave


def unsigned(reply: Reply) -> None:
    reply.headers.pop("X-Svc-Signature", None)


def compressed(reply: Reply) -> None:
    reply.body = gzip.compress(b'{"ok":true,"pad":"' + b" " * 10_000_000 + b'"}')
    reply.headers["Content-Encoding"] = "gzip"
    reply.sign()


def for_somebody_else(reply: Reply) -> None:
    reply.sign()
    reply.body = reply.body.replace(b'"ada"', b'"eve"')


def redirecting(reply: Reply) -> None:
    reply.sign()
    reply.status, reply.headers["Location"] = 307, f"http://127.0.0.1:9{PATH}"


def as_text(reply: Reply) -> None:
    reply.sign()
    reply.headers["Content-Type"] = "text/html"


BEHAVIOURS: dict[str, Callable[[Reply], None]] = {
    "not signed": unsigned,
    "signed with another secret": before(secret=b"the secret of others"),
    "signed an hour ago": before(timestamp=str(int(time.time()) - 3600)),
    "signed for an hour ahead": before(timestamp=str(int(time.time()) + 3600)),
    "changed after it was signed": for_somebody_else,
    "a nonce with a dot": before(nonce="a.b.c.d.e.f.g"),
    "ok as a string": bent(ok="true"),
    "no profile": bent(profileId=None),
    "no times": bent(issuedAt=None, expiresAt=None),
    "expired": bent(expiresAt="2026-01-01T00:00:00Z"),
    "issued in the future": bent(issuedAt="2099-01-01T00:00:00Z", expiresAt="2099-01-01T00:01:00Z"),
    "alive for a year": bent(expiresAt="2099-01-01T00:01:00Z"),
    "not JSON": before(body=b"<!doctype html>"),
    "JSON of type text/html": as_text,
    "a list": before(body=b"[]"),
    "empty": before(body=b""),
    "larger than 8 KiB": bent(pad=" " * 8192),
    "compressed": compressed,
    "redirecting": redirecting,
    "201": then(status=201),
    "500": then(status=500),
    "closing the connection": then(drop=True),
}


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_no_other_reply_is_believed(
    companion: Companion, tmp_path, behaviour: Callable[[Reply], None], caplog: pytest.LogCaptureFixture
):
    counters = open_counters(Settings(_env_file=None, data_dir=tmp_path), tmp_path)
    code, companion.behaviour = companion.give(), behaviour
    assert ask(handoff(companion.url, counters), code) is None
    assert companion.asked == [code]
    assert "no usable reply" in caplog.text
    assert "in time" not in caplog.text
    assert code not in caplog.text
    counters.close()


@pytest.mark.parametrize("behaviour", [then(wait_s=60.0), then(trickle_s=0.4)], ids=["silent", "a byte at a time"])
def test_the_wait_for_a_companion_is_bounded(
    companion: Companion, counters: Counters, behaviour: Callable[[Reply], None], caplog: pytest.LogCaptureFixture
):
    code, companion.behaviour = companion.give(), behaviour
    started = time.monotonic()
    assert ask(handoff(companion.url, counters, timeout_s=0.5), code) is None
    assert time.monotonic() - started < 30  # either behaviour takes a minute
    assert "in time" in caplog.text


@pytest.mark.both_engines
def test_a_replayed_reply_is_refused_on_every_host(
    companion: Companion, counters: Counters, ledger_settings: Settings, caplog: pytest.LogCaptureFixture
):
    recorded: list[tuple[bytes, dict[str, str]]] = []

    def record(reply: Reply) -> None:
        honest(reply)
        recorded.append((reply.body, dict(reply.headers)))

    def replay(reply: Reply) -> None:
        reply.body, reply.headers = recorded[0]

    companion.behaviour = record
    assert ask(handoff(companion.url, counters), companion.give()) is not None
    companion.behaviour = replay
    other = open_counters(ledger_settings, ledger_settings.data_dir)
    for ahead_s in (0, 30, 55):
        for each in (counters, other):
            assert ask(handoff(companion.url, each, ahead_s=ahead_s), "a-guess") is None
    assert caplog.text.count("was used before") == 6
    other.close()


def test_a_companion_refuses_requests_that_are_not_signed_with_its_secret(companion: Companion, counters: Counters):
    code = companion.give()
    assert ask(handoff(companion.url, counters, secret=b"another"), code) is None
    assert ask(handoff(companion.url, counters, secret=None), code) is None


def test_an_unreachable_companion_is_no_companion(counters: Counters, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert ask(handoff(closed, counters), "ABC123-secret") is None
    assert "ConnectError" in caplog.text
    assert "ABC123-secret" not in caplog.text
    assert SECRET.decode() not in caplog.text
