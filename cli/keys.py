"""Creates, lists, rotates and revokes API keys, and rotates the signing key (`svc keys`).

An API key's text is printed once.
"""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pydantic.alias_generators import to_camel

from cli.environment import effective_settings, make_data_dir
from cli.output import operator_problems, print_json, say
from cli.owners import given_owner
from cli.stores import existing_ledger, opened_ledger
from contracts.access.consent import CONSENT_PATH
from contracts.access.tiers import Role, Tier
from contracts.errors import OwnerInvalid, SettingsInvalid
from contracts.owners import is_address
from contracts.standing import SourceClass
from contracts.world.signed import is_public_key
from warehouse.access.keys import IssuedKey, KeyUsage, create_key, list_keys, revoke_key, rotate_key
from warehouse.access.owners import MovedKey, moved_keys
from warehouse.access.signing_keys import SigningKeys
from warehouse.ledger.master_secret import load_secrets

LONGEST_OWNER = 100


def create(tier: Tier, owner: str, role: Role, max_class: SourceClass, signer: str | None, as_json: bool) -> None:
    with operator_problems(as_json):
        name = _owner(owner)
        if (max_class is SourceClass.SIGNED_SYSTEM) != (signer is not None):
            raise SettingsInvalid(
                "A key of the class signed_system needs a --signer, and no other key may have one.",
                cure="Pass the system's public Ed25519 key in base64url: --max-class signed_system --signer KEY.",
            )
        if signer is not None and not is_public_key(signer):
            raise SettingsInvalid(
                "--signer is not an Ed25519 public key.", cure="Pass its 32 bytes in base64url, 43 characters."
            )
        with opened_ledger() as (settings, ledger):
            pepper = load_secrets(settings).pepper
            with ledger.transaction() as tx:
                issued = create_key(
                    tx,
                    pepper,
                    tier=tier,
                    owner=name,
                    role=role,
                    max_class=max_class,
                    signer=signer,
                    now=datetime.now(UTC),
                )
    _print_issued(issued, as_json)


def list_(as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.read() as reader:
        keys = list_keys(reader, now=datetime.now(UTC))
    if as_json:
        print_json({"ok": True, "keys": [_key_fields(usage) for usage in keys]})
        return
    for usage in keys:
        key = usage.key
        used = "never" if usage.last_used_at is None else f"{usage.last_used_at:%Y-%m-%d %H:%M:%SZ}"
        say(
            f"{key.key_id}  {key.hint:<16} {key.state:<9} {key.role:<8} {key.owner:<24} "
            f"today {usage.requests_today:>6,}  total {usage.requests:>8,}  last {used}"
        )
    if not keys:
        say("no keys")


def moved(as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.read() as reader:
        keys = moved_keys(reader)
    if as_json:
        print_json({"ok": True, "keys": [_moved(key) for key in keys]})
        return
    for key in keys:
        say(
            f"{key.key_id}  from {key.from_owner}  to {key.to_owner}  {key.nodes:,} nodes, {key.edges:,} edges, "
            f"{key.left:,} left behind"
        )
    say(f"An operator gets its key back by signing: POST {CONSENT_PATH}" if keys else "no keys were moved")


def revoke(key_id: str, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.transaction() as tx:
        changed = revoke_key(tx, key_id, now=datetime.now(UTC))
    if as_json:
        print_json({"ok": True, "keyId": key_id, "state": "revoked", "changed": changed})
    else:
        say(f"{key_id} is revoked" if changed else f"{key_id} was already revoked")


def rotate(key_id: str, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (settings, ledger):
        pepper = load_secrets(settings).pepper
        with ledger.transaction() as tx:
            issued = rotate_key(tx, pepper, key_id, now=datetime.now(UTC))
    _print_issued(issued, as_json)


def rotate_signing(as_json: bool) -> None:
    """Adds a signing key. It is published at once, and signs once every cached key set has expired.

    Older keys still verify.
    """
    with operator_problems(as_json):
        settings = effective_settings()
        make_data_dir(settings.data_dir)
        added = SigningKeys(settings).rotate(datetime.now(UTC))
    if as_json:
        print_json({"ok": True, "kid": added.kid, "activeFrom": added.active_from})
    else:
        say(f"{added.kid} is published, and signs from {added.active_from:%Y-%m-%d %H:%M:%SZ} on")


def _owner(name: str) -> str:
    """Returns the owner of a new key, a name local to this installation. Raises `OwnerInvalid`.

    An address gets keys only by its own signature or payment, because a key from here could read what it wrote.
    """
    owner = given_owner(name)
    if is_address(owner):
        raise OwnerInvalid(
            f"--owner {name} is an address, and only its wallet can get keys for it.",
            cure="Let the wallet sign for a trial key or buy one; or pass a name, such as --owner alice.",
        )
    label = owner.removeprefix("local:")
    if label == owner or len(label) > LONGEST_OWNER:
        raise OwnerInvalid(
            f"--owner {name!r} is not a name of at most {LONGEST_OWNER} characters.",
            cure="Pass a short name, such as --owner alice, which stands for local:alice.",
        )
    return owner


def _print_issued(issued: IssuedKey, as_json: bool) -> None:
    record = issued.record
    if as_json:
        shown = {"tier": record.tier, "owner": record.owner, "role": record.role, "maxClass": record.max_class}
        print_json({"ok": True, "apiKey": issued.key.reveal(), "keyId": record.key_id, **shown})
        return
    say(issued.key.reveal())
    say(
        f"{record.key_id}, tier {record.tier}, role {record.role}, claims up to {record.max_class}, of {record.owner}. "
        "The key is not shown again."
    )


def _moved(key: MovedKey) -> dict[str, Any]:
    names = {"from_owner": "from", "to_owner": "to", "left": "leftBehind"}
    return {names.get(name, to_camel(name)): value for name, value in asdict(key).items()}


def _key_fields(usage: KeyUsage) -> dict[str, Any]:
    fields = asdict(usage) | asdict(usage.key)
    return {to_camel(name): value for name, value in fields.items() if name not in ("key", "family_id")}
