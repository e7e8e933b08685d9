"""Signs a head of the audit in each generation, so that a chain that was rewritten as a whole is detected, and signs an
operator's records of restores, which explain why such heads contradict the chain."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path

import msgspec

from contracts.errors import OperatorProblem, StoreUnusable
from contracts.settings import Settings
from contracts.times import utc_text
from contracts.world.audit import FIRST_LINK, AuditHead, KnownHeads, Restore, head_sha256
from warehouse.access.signing_keys import SigningKeys
from warehouse.file_modes import write_private_file
from warehouse.ledger.engine import ledger_location
from warehouse.ledger.ledger import Reader, open_ledger
from warehouse.publish.generations import Draft, Manifest, kept_manifests

RESTORE_FILE = "restored.json"


def audit_head(settings: Settings, draft: Draft) -> AuditHead | None:
    """Returns the head of the chain for the pending generation, or None before the first decision.

    If the ledger can't be read, the last generation's head is signed again, because a document may be marked stale for
    that very reason.
    """
    head = _newest(settings) or (None if draft.previous is None else _known(draft.previous.manifest))
    if head is None:
        return None
    decisions, link = head
    signer = SigningKeys(settings).current().signer(draft.created_at)
    signature = signer.sign(head_sha256(draft.id, decisions, link))
    return AuditHead(decisions=decisions, link=link, signature=signature)


def known_heads(settings: Settings) -> KnownHeads:
    """Returns the heads of retained generations, classified by the validity of their signatures, and the last restore.

    Raises `StoreUnusable`, `SettingsInvalid`.
    """
    keys = SigningKeys(settings).current()
    kids = {key.kid for key in keys.keys}
    heads: dict[str, AuditHead] = {}
    faults, of_lost_keys = [], []
    for manifest in kept_manifests(settings.data_dir):
        generation, head = manifest.generation, manifest.audit_head
        if head is None:
            if heads:
                faults.append(f"generation {generation} has no head of the audit, although earlier ones do")
        elif keys.verifies(head.signature, head_sha256(generation, head.decisions, head.link)):
            heads[generation] = head
        elif head.signature.get("kid") in kids:
            faults.append(f"the head of the audit in generation {generation} is not signed by the key that it names")
        else:
            of_lost_keys.append(generation)
    restore = _restore(settings.data_dir)
    if restore is not None and not keys.verifies(restore.head.signature, restore.sha256):
        if restore.head.signature.get("kid") in kids:
            faults.append(f"the record of the restore of {restore.restored_at} is not signed by the key that it names")
        restore = None  # signed by a key that a later restore reverted: the restore must be recorded again
    return KnownHeads(published=heads, faults=tuple(faults), of_lost_keys=tuple(of_lost_keys), restore=restore)


def record_restore(settings: Settings, reader: Reader, now: datetime) -> Restore:
    """Signs the present head of the chain and stores it next to the generations, replacing an earlier restore.

    The caller has verified the chain, which may be shorter than the heads of earlier generations claim. Raises
    `OSError`.
    """
    decisions, link = newest_link(reader) or (0, FIRST_LINK)
    unsigned = Restore(restored_at=utc_text(now), head=AuditHead(decisions=decisions, link=link, signature={}))
    signature = SigningKeys(settings).current().signer(now).sign(unsigned.sha256)
    restore = msgspec.structs.replace(unsigned, head=msgspec.structs.replace(unsigned.head, signature=signature))
    write_private_file(settings.data_dir / RESTORE_FILE, msgspec.json.encode(restore), replace=True)
    return restore


def _restore(data_dir: Path) -> Restore | None:
    path = data_dir / RESTORE_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Restore)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoreUnusable(
            f"The record of the restore {path} can't be read: {error}.",
            cure="Give this user access to it, or delete it and run `svc world restored` again.",
        ) from None


def _newest(settings: Settings) -> tuple[int, str] | None:
    location = ledger_location(settings.ledger_url, settings.data_dir)
    if isinstance(location, Path) and not location.exists():
        return None
    try:
        with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.read() as reader:
            return newest_link(reader)
    except OperatorProblem:
        return None


def newest_link(reader: Reader) -> tuple[int, str] | None:
    """Returns the number and the link of the newest decision, or None before the first."""
    row = reader.row("world_last_decision")
    return None if row is None else (int(row["number"]), str(row["link"]))


def _known(manifest: Manifest) -> tuple[int, str] | None:
    head = manifest.audit_head
    return None if head is None else (head.decisions, head.link)
