"""`svc guardrail approve` next to the library's own commands: its tokens pass, once, at the API on the same host."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from commands import called
from installation import SVC, Installation
from keyed_service import DANGEROUS, DANGEROUS_ROW, bearer, serving

from cli import library_commands
from contracts.settings import Settings


@pytest.fixture
def installation(tmp_path):
    return Installation(Settings(_env_file=None, data_dir=tmp_path))


@pytest.fixture
def passed_on(monkeypatch):
    """Arguments that reached the library."""
    reached = []

    def run_library(arguments):
        reached.append(list(arguments))
        if arguments == ["--help"]:
            print("usage: svc guardrail COMMAND")
            raise SystemExit(0)
        return 2

    monkeypatch.setattr(library_commands, "run_library", run_library)
    return reached


def approved(installation: Installation, *arguments: str):
    return json.loads(installation.called("guardrail", "approve", *arguments, "--yes", "--json").stdout)


def test_a_token_of_the_host_lets_one_check_pass(ledger_settings):
    installation, owner = Installation(ledger_settings), "local:agent"
    with serving(ledger_settings) as service:
        agent = bearer(service.key(owner=owner))
        (blocked,) = service.check(agent, json={"action": DANGEROUS})
        digest = blocked.json()["data"]["digest"]
        made = approved(installation, digest, "--owner", owner, "--minutes", "5")
        lives = datetime.fromisoformat(made["expiresAt"]) - datetime.now(UTC)
        assert timedelta(minutes=4) < lives <= timedelta(minutes=5)
        assert (made["digest"], made["owner"]) == (digest, owner)
        body = {"action": DANGEROUS, "context": {"approval_token": made["approvalToken"]}}
        outcomes = [answer.json()["data"]["approval"] for answer in service.check(agent, 2, json=body)]
    assert outcomes == ["accepted", "taken"]


def in_a_terminal(installation: Installation, typed: str, *arguments: str) -> tuple[int, str]:
    """Returns the exit code, and what a person sees who types the answer to the prompt."""
    terminal, other_end = pty.openpty()
    command = [str(SVC), "guardrail", "approve", *arguments]
    with subprocess.Popen(
        command, stdin=other_end, stdout=other_end, stderr=other_end, env=installation.environment
    ) as process:
        os.close(other_end)
        os.write(terminal, typed.encode())
        shown = b""
        try:
            while part := os.read(terminal, 1 << 12):
                shown += part
        except OSError:  # how Linux reports that the other end is closed
            pass
    os.close(terminal)
    return process.returncode, shown.decode().replace("\r\n", "\n")


def test_a_person_sees_what_they_approve_and_confirms_it(ledger_settings):
    installation, owner = Installation(ledger_settings), "local:agent"
    with serving(ledger_settings) as service:
        issued = service.key(owner=owner)
        (blocked,) = service.check(bearer(issued), json={"action": f"{DANGEROUS} # \x1b[2J", "severity": "high"})
        service.stores.guardrail_log.write()
    digest = blocked.json()["data"]["digest"]
    code, shown = in_a_terminal(installation, "yes\n", digest, "--owner", owner)
    assert (code, "\x1b[2J" in shown) == (0, False)
    for expected in (DANGEROUS, DANGEROUS_ROW, "discard path", "high, asked at high; blocked", issued.record.key_id):
        assert expected in shown
    assert "svcga1." in shown.partition("Type yes")[2]
    code, shown = in_a_terminal(installation, "y\n", digest, "--owner", owner)
    assert (code, "svcga1." in shown) == (1, False)


def test_a_digest_that_nobody_knows_says_so(installation):
    made = installation.called("guardrail", "approve", "a" * 64, "--owner", "0x" + "AB" * 20, "--yes")
    assert made.stdout.startswith("svcga1.")
    assert "Nobody can tell what you would approve" in made.stderr
    assert "0x" + "ab" * 20 in made.stderr and "approval_token" in made.stderr


def test_without_a_terminal_nothing_is_approved_unless_a_script_says_yes(installation):
    refused = installation.called("guardrail", "approve", "a" * 64, "--owner", "local:a", code=2)
    assert "--yes" in refused.stderr and not refused.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("a" * 63, "--owner", "local:a"),
        ("A" * 64, "--owner", "local:a"),
        ("a" * 64, "--owner", "kind:alice"),
        ("a" * 64, "--owner", "capsule:c"),
        ("a" * 64, "--owner", "local:" + "😀" * 150),
        ("a" * 64, "--owner", "local:a", "--minutes", "61"),
        ("a" * 64, "--owner", "local:a", "--minutes", "0"),
        ("a" * 64,),
    ],
)
def test_an_invalid_approval_is_refused(installation, arguments):
    installation.called("guardrail", "approve", *arguments, code=2)


def test_every_other_word_is_the_librarys_with_its_arguments_as_typed(passed_on):
    for arguments in (["check", "--json", "--", "-rf"], ["hook", "--help"], ["aprove"]):
        assert called({}, "guardrail", *arguments).exit_code == 2
    assert passed_on == [["check", "--json", "--", "-rf"], ["hook", "--help"], ["aprove"]]


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_shows_approve_and_the_librarys_commands(passed_on, arguments):
    shown = called({}, "guardrail", *arguments).output
    assert "approve" in shown and "usage: svc guardrail COMMAND" in shown
    assert passed_on == [["--help"]]
