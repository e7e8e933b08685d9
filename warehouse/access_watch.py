"""Issued claims held against the chain until they are final: which ones to look at, and what comes of looking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from contracts.commerce.claims import Claim
from contracts.commerce.matching import Terms
from contracts.commerce.quotes import terms_of
from contracts.commerce.rail import PaymentRail
from contracts.commerce.views import Silence
from contracts.commerce.watching import Gone, Sighting, Stands, Unclear, look_again
from warehouse.access import (
    claims_not_final,
    find_claim,
    find_quote,
    reinstate_claim,
    reverse_claim,
    settle_claim,
    used_positions,
)
from warehouse.ledger import Ledger

Outcome = Literal["stands", "final", "reversed", "reinstated", "missing", "given_up", "unclear", "overtaken"]
"""`missing` is a reversed claim whose payment has not landed again; the rest is as it was moved, or was left."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A claim whose payment may still leave the chain, with what its quote asked for."""

    claim: Claim
    terms: Terms


def claims_to_watch(ledger: Ledger, rail: PaymentRail) -> list[Watched]:
    """Claims of the rail's chain whose payment may still leave it, oldest first."""
    with ledger.read() as reader:
        found = [(claim, find_quote(reader, claim.quote_id)) for claim in claims_not_final(reader)]
    return [
        Watched(claim, terms_of(kept.quote, rail))
        for claim, kept in found
        if kept is not None and claim.chain_id == rail.chain_id
    ]


def apply_sightings(
    ledger: Ledger, watched: Watched, sightings: Sequence[Sighting | Silence], *, now: datetime
) -> Outcome:
    """Judge and, where something changed, move claim and key in one transaction; again, it changes nothing.

    `overtaken` where somebody else moved the claim since it was read: what was seen may be older than that.
    """
    claim, terms = watched.claim, watched.terms
    match look_again(claim, terms, sightings, now=now):
        case Unclear():
            return "unclear"
        case Stands(block, final=False) if claim.state == "issued" and block.hash == claim.block_hash:
            return "stands"
    with ledger.transaction() as tx:
        if find_claim(tx, claim.claim_id) != claim:
            return "overtaken"
        used = used_positions(tx, claim.chain_id, claim.transaction_hash) - {claim.log_position}
        match look_again(claim, terms, sightings, now=now, used=used):
            case Stands(block, final):
                moved = claim.state == "reversed" or block.hash != claim.block_hash
                if moved:
                    reverse_claim(tx, claim, now=now)  # nothing where it is so already
                    reinstate_claim(tx, claim, block, now=now)
                if final:
                    settle_claim(tx, claim, now=now)
                return "reinstated" if moved else "final" if final else "stands"
            case Gone(for_good):
                if claim.state == "issued":
                    reverse_claim(tx, claim, now=now)
                    return "reversed"
                if for_good:
                    settle_claim(tx, claim, now=now)
                    return "given_up"
                return "missing"
            case Unclear():
                return "unclear"
