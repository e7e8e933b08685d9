"""Verifies a published list of holders: its digest, sum and count against what the service states. Pure."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass

from svc_client.api_types import HolderListFile, TokenHolders
from svc_client.errors import NotProven

HEADER = "address,balance_raw"


@dataclass(frozen=True)
class VerifiedHolders:
    """The verified facts of a list. `total_supply_raw` is the sum of all balances in the token's smallest unit."""

    holder_count: int
    total_supply_raw: int
    block: int
    block_hash: str


def list_to_verify(document: TokenHolders) -> HolderListFile:
    """Returns the file to which a document's proof refers. Raises `NotProven` if there is no such proof."""
    consistency = document["consistency"]
    if consistency is None:
        raise NotProven("the document has no proof yet")
    proof = consistency["proof"]
    if proof["verdict"] != "proven" or proof["holderList"] is None:
        raise NotProven(f"the service itself reports that the list is {proof['verdict']}")
    return proof["holderList"]


def verified(document: TokenHolders, packed: bytes) -> VerifiedHolders:
    """Verifies the list's file (gzip) against its document. Raises `NotProven` with what does not match."""
    file, consistency = list_to_verify(document), document["consistency"]
    assert consistency is not None
    if hashlib.sha256(packed).hexdigest() != file["sha256"]:
        raise NotProven("the list is not the file that the proof names")
    header, *rows = gzip.decompress(packed).decode().splitlines()
    if header != HEADER:
        raise NotProven(f"the list has the columns {header}")
    balances = dict(row.split(",") for row in rows)
    total = sum(int(balance) for balance in balances.values())
    if len(balances) != len(rows) or any(int(balance) <= 0 for balance in balances.values()):
        raise NotProven("the list contains an address twice, or one that holds nothing")
    if len(rows) != document["holderCount"]:
        raise NotProven(f"the list has {len(rows)} holders, but the document states {document['holderCount']}")
    if not str(total) == consistency["proof"]["sumOfBalances"] == document["totalSupplyRaw"]:
        raise NotProven(f"the balances sum up to {total}, but the document states {document['totalSupplyRaw']}")
    return VerifiedHolders(len(rows), total, consistency["block"], consistency["blockHash"])
