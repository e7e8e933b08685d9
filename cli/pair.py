"""Implements `svc pair`: issues a pairing code, if this installation has no companion application that does."""

from cli.environment import effective_settings, service_address
from cli.output import operator_problems, print_json, say
from cli.stores import opened_ledger
from contracts.errors import SettingsInvalid
from contracts.times import utc_text
from warehouse.connect.sessions import issue_code
from warehouse.ledger.master_secret import load_secrets


def pair(as_json: bool) -> None:
    with operator_problems(as_json):
        settings = effective_settings()
        if settings.app_url is not None:
            raise SettingsInvalid(
                "SVC_APP_URL is set, so pairing codes come from the companion application.",
                cure=f"Get one at {settings.app_url}/profile, or unset SVC_APP_URL.",
            )
        with opened_ledger() as (settings, ledger):
            pepper = load_secrets(settings).pepper
            with ledger.transaction() as tx:
                issued = issue_code(tx, pepper)
    if as_json:
        print_json({"ok": True, "pairingCode": issued.code, "expiresAt": utc_text(issued.expires_at)})
        return
    say(issued.code)
    address = service_address(settings)
    say(f"Give it to your assistant before {issued.expires_at:%H:%M:%SZ}; it pairs at {address}/mcp.")
