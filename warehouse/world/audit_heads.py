"""Signs a head of the audit in each generation, so that a chain that was rewritten as a whole is found."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from contracts.access.signing import KeySet
from contracts.errors import OperatorProblem
from contracts.settings import Settings
from contracts.world.audit import AuditHead, head_sha256
from warehouse.access.signing_keys import SigningKeys
from warehouse.ledger.engine import ledger_location
from warehouse.ledger.ledger import Reader, open_ledger
from warehouse.publish.generations import Draft, Manifest


def audit_head(settings: Settings, draft: Draft) -> AuditHead | None:
    """Returns the head of the chain for the pending generation, or None before the first decision.

    If the ledger can't be read, the last generation's head is signed again: a document may be marked stale because of
    that very fault.
    """
    head = _newest(settings) or (None if draft.previous is None else _known(draft.previous.manifest))
    if head is None:
        return None
    decisions, link = head
    signer = SigningKeys(settings).current().signer(draft.created_at)
    signature = signer.sign(head_sha256(draft.id, decisions, link))
    return AuditHead(decisions=decisions, link=link, signature=signature)


def signed_heads(manifests: list[Manifest], keys: KeySet) -> tuple[dict[str, AuditHead], list[str]]:
    """Returns the heads by generation, and the faults of heads that were forged or removed."""
    heads: dict[str, AuditHead] = {}
    faults = []
    for manifest in manifests:
        generation, head = manifest.generation, manifest.audit_head
        if head is None:
            if heads:
                faults.append(f"generation {generation} holds no head of the audit, as those before it do")
        elif keys.verifies(head.signature, head_sha256(generation, head.decisions, head.link)):
            heads[generation] = head
        else:
            faults.append(f"the head of the audit in generation {generation} is not signed by a key of this service")
    return heads, faults


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
