"""Implements `svc guardrail approve`: a person on the service's host lets a blocked action pass once."""

import re
from datetime import UTC, datetime, timedelta

from cli.environment import effective_settings
from cli.output import operator_problems, print_json, say
from contracts.errors import BodyInvalid, SettingsInvalid
from contracts.guardrail_approvals import DIGEST, issue_approval, owner_named
from contracts.times import utc_text
from warehouse.ledger.master_secret import load_secrets


def approve(digest: str, owner: str, minutes: int, as_json: bool) -> None:
    with operator_problems(as_json):
        if not re.fullmatch(DIGEST, digest):
            raise SettingsInvalid(
                "DIGEST is not the digest of a check.",
                cure="Give the 64 hexadecimal digits of `digest` in the answer that blocked the action.",
            )
        named = owner_named(owner)
        if named is None:
            raise SettingsInvalid(
                f"{owner!r} names no owner of a key or session.", cure="Give an address, local:NAME or profile:ID."
            )
        key = load_secrets(effective_settings()).approval_key
        try:
            issued = issue_approval(key, digest, named, timedelta(minutes=minutes), datetime.now(UTC))
        except BodyInvalid as problem:
            raise SettingsInvalid(problem.detail, cure="Give the owner a shorter name.") from None
    if as_json:
        print_json(
            {
                "approvalToken": issued.token,
                "digest": issued.approval.digest,
                "owner": issued.approval.owner,
                "expiresAt": utc_text(issued.expires_at),
            }
        )
        return
    say(issued.token)
    say(
        f"It lets one check of {issued.approval.owner} pass, before {issued.expires_at:%H:%M:%SZ}: the same action, "
        "severity and context, with the token as `approval_token` in the context."
    )
