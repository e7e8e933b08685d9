"""Implements `svc guardrail approve`: a person on the service's host lets a blocked action pass once."""

import re
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta

import typer

from cli.environment import effective_settings
from cli.output import note, operator_problems, print_json, say
from cli.owners import given_owner
from contracts.errors import BodyInvalid, OwnerInvalid, SettingsInvalid
from contracts.guardrail_approvals import DIGEST, issue_approval, owner_named
from contracts.settings import Settings
from contracts.times import utc_text
from warehouse.guardrail.log import KnownCheck, open_guardrail_log
from warehouse.ledger.master_secret import load_secrets


def approve(digest: str, owner: str, minutes: int, yes: bool, as_json: bool) -> None:
    """Shows what is known of a check, asks, and prints a token that lets one check of the owner pass."""
    with operator_problems(as_json):
        if not re.fullmatch(DIGEST, digest):
            raise SettingsInvalid(
                "DIGEST is not the digest of a check.",
                cure="Pass the 64 hexadecimal digits of `digest` from the answer that blocked the action.",
            )
        named = owner_named(given_owner(owner))
        if named is None:
            raise OwnerInvalid(
                f"{owner!r} is not an owner of keys or sessions.", cure="Pass a name, an address or profile:ID."
            )
        settings = effective_settings()
        _show(_known(settings, digest), digest, named)
        if not yes:
            _ask()
        key = load_secrets(settings).approval_key
        try:
            issued = issue_approval(key, digest, named, timedelta(minutes=minutes), datetime.now(UTC))
        except BodyInvalid as problem:
            raise SettingsInvalid(problem.detail, cure="Use an owner with a shorter name.") from None
    if as_json:
        print_json(
            {
                "ok": True,
                "approvalToken": issued.token,
                "digest": issued.approval.digest,
                "owner": issued.approval.owner,
                "expiresAt": utc_text(issued.expires_at),
            }
        )
        return
    say(issued.token)
    note(
        f"It lets one check of {issued.approval.owner} pass, before {issued.expires_at:%H:%M:%SZ}: the same action, "
        "severity and context, with the token as `approval_token` in the context."
    )


def _known(settings: Settings, digest: str) -> KnownCheck | None:
    with closing(open_guardrail_log(settings, settings.data_dir)) as log:
        return log.known(digest)


def _show(check: KnownCheck | None, digest: str, owner: str) -> None:
    """Shows on stderr what the person is about to approve."""
    if check is None:
        note(
            f"This service knows no check with the digest {digest}: it was never made here, is older than a month or "
            "less than a second old, or its text was forgotten. Nobody can tell what you would approve."
        )
        return
    lines = {
        "action": _on_one_line(check.action),
        "would": "; ".join(check.effects) or "have no recognised effect",
        "rules": ", ".join(check.matched) or "none",
        "severity": f"{check.severity}, asked at {check.asked_severity}; {'passed' if check.passed else 'blocked'}",
        "checked": f"{utc_text(check.checked_at)} by {check.caller} over {check.source}",
        "for": owner,
    }
    for name, text in lines.items():
        note(f"{name:>9}  {text}")


def _on_one_line(text: str) -> str:
    """Replaces control characters, which a terminal would obey: the judged agent wrote the text."""
    return "".join(char if char.isprintable() else " " for char in text)


def _ask() -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SettingsInvalid(
            "A person must confirm an approval in a terminal, and this is not one.",
            cure="Run it in a terminal, or with --yes from your own script.",
        )
    note("Let it pass once? Type yes:")
    if sys.stdin.readline().strip().lower() != "yes":
        note("Nothing was approved.")
        raise typer.Exit(1)
