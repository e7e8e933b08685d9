"""Builds the documents of further tokens, those of the tokens file: one for each, and their index. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from contracts.base import AddressText, Document, HexHash, Timestamp
from contracts.open_data.names import TOKENS_FOLDER
from contracts.token.holder_documents import Token
from contracts.token.holders import csv_path
from contracts.token.partitions import FurtherToken
from contracts.token.proof import Proof


class TokenState(StrEnum):
    """The reliability of a further token's numbers: the verdict of its list, or `waiting` before the first list.

    `broken` if its history can no longer be read, or there is no contract at its address.
    """

    PROVEN = "proven"
    UNPROVEN = "unproven"
    DISPUTED = "disputed"
    FAILED = "failed"
    WAITING = "waiting"
    BROKEN = "broken"


NO_CONTRACT = "no_contract"
"""The reason for a token without transfers at whose address the nodes know no contract: the row's address is wrong."""


class PublishedToken(Document):
    """A further token: how far it has been read, and the newest list of its holders with its proof."""

    ok: Literal[True] = True
    chain_id: int
    address: AddressText
    label: str | None = Field(description="Its name in the tokens file")
    token: Token | None = Field(description="From its own contract; null before that was queried")
    state: TokenState
    reason: str | None = Field(description="Why it is not fully proven; null if it is")
    first_block: int = Field(ge=0, description="The first block that is read")
    block: int | None = Field(description="Block of the list: the end of the last imported partition")
    block_hash: HexHash | None
    block_time: Timestamp | None
    holders: int | None = Field(description="Addresses with a balance above zero at that block")
    transfers: int | None = Field(description="Transfer events up to that block")
    proof: Proof | None
    holder_rows: str | None = Field(description="Path of the list with ranks, times and shares, as Parquet")


class IndexedToken(Document):
    """A line of the index."""

    address: AddressText
    label: str | None
    state: TokenState
    reason: str | None
    block: int | None
    holders: int | None
    document: str = Field(description="Path of the token's own document")


class TokenIndex(Document):
    """All further tokens. The service token, at `/api/token/*`, is not one of them."""

    ok: Literal[True] = True
    tokens: list[IndexedToken]


def token_folder(address: str) -> str:
    """Returns the folder in which everything about a further token is published."""
    return f"{TOKENS_FOLDER}{address}/"


def document_path(address: str) -> str:
    return f"{token_folder(address)}token.json"


def rows_path(address: str) -> str:
    return f"{token_folder(address)}holders.parquet"


def waiting_token(token: FurtherToken, chain_id: int) -> PublishedToken:
    """Returns the document of a token before its first list."""
    return PublishedToken(
        chain_id=chain_id,
        address=token.address,
        label=token.name,
        token=None,
        state=TokenState.WAITING,
        reason="not_read_yet",
        first_block=token.first_block,
        block=None,
        block_hash=None,
        block_time=None,
        holders=None,
        transfers=None,
        proof=None,
        holder_rows=None,
    )


def proven_token(
    row: FurtherToken,
    token: Token,
    proof: Proof,
    *,
    chain_id: int,
    block_time: datetime,
    holders: int,
    transfers: int,
) -> PublishedToken:
    """Returns the document of a token with its newest list. The files named by the proof are in the token's folder."""
    folder = token_folder(row.address)

    def moved(path: str) -> str:
        return folder + path.rpartition("/")[2]

    files = proof.holder_list and proof.holder_list.model_copy(update={"path": moved(csv_path(proof.block))})
    storage = proof.storage
    if storage is not None and storage.file is not None:
        storage = storage.model_copy(
            update={"file": storage.file.model_copy(update={"path": moved(storage.file.path)})}
        )
    return PublishedToken(
        chain_id=chain_id,
        address=row.address,
        label=row.name,
        token=token,
        state=TokenState(proof.verdict.value),
        reason=proof.reason,
        first_block=row.first_block,
        block=proof.block,
        block_hash=proof.block_hash,
        block_time=block_time,
        holders=holders,
        transfers=transfers,
        proof=proof.model_copy(update={"holder_list": files, "storage": storage}),
        holder_rows=rows_path(row.address),
    )


def broken_token(last: PublishedToken, reason: str) -> PublishedToken:
    """Returns the document of a token whose history can no longer be read, with its last list."""
    return last.model_copy(update={"state": TokenState.BROKEN, "reason": reason})


def indexed_token(token: PublishedToken) -> IndexedToken:
    """Returns the index line of a token."""
    return IndexedToken(
        address=token.address,
        label=token.label,
        state=token.state,
        reason=token.reason,
        block=token.block,
        holders=token.holders,
        document=document_path(token.address),
    )


def token_index(tokens: Sequence[PublishedToken]) -> TokenIndex:
    """Returns the index of all further tokens."""
    return TokenIndex(tokens=[indexed_token(token) for token in sorted(tokens, key=lambda token: token.address)])
