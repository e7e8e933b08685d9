"""Stores the chunks of imports in the ledger until the imports are applied, deleted or expired. `importing.py` applies
them."""

from __future__ import annotations

import hashlib
import secrets
import zlib
from datetime import datetime, timedelta

from contracts.canonical import sha256_hex
from contracts.errors import BodyTooLarge, ImportIncomplete, ImportsExceeded, ImportUnknown
from contracts.times import utc_text
from contracts.world.import_api import (
    CHUNK_BYTES,
    HOURS_UNTIL_EXPIRY,
    MOST_CHUNKS,
    MOST_OPEN_IMPORTS,
    ChunkDocument,
    ImportResult,
    ImportState,
)
from warehouse.ledger.ledger import Reader, Transaction


def begin(tx: Transaction, owner: str, key_id: str) -> ImportState:
    """Begins an import of a key. Raises `ImportsExceeded`."""
    expire(tx)
    now = tx.now()
    still_open = [row["id"] for row in tx.rows("world_open_imports", owner=owner, now=utc_text(now))]
    if len(still_open) >= MOST_OPEN_IMPORTS:
        raise ImportsExceeded(f"You have open imports; apply or delete one of them first: {', '.join(still_open)}.")
    import_id = f"imp_{secrets.token_hex(16)}"
    tx.run(
        "world_begin_import",
        id=import_id,
        owner=owner,
        key_id=key_id,
        created_at=utc_text(now),
        expires_at=_expiry(now),
    )
    return state_of(tx, owner, import_id)


def state_of(reader: Reader, owner: str, import_id: str, now: datetime | None = None) -> ImportState:
    """Returns an import of `owner`. Raises `ImportUnknown`, also for imports of others and expired ones."""
    row = reader.row("world_import", id=import_id, owner=owner)
    if row is None or (now is not None and row["expires_at"] <= utc_text(now)):
        raise ImportUnknown("There is no import with this id, or none that your key can see.")
    chunks = reader.rows("world_import_chunk_digests", import_id=import_id)
    return ImportState(
        import_id=import_id,
        status="open" if row["result"] is None else "applied",
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        chunks=[ChunkDocument(number=row["number"], bytes=row["bytes"], sha256=row["sha256"]) for row in chunks],
        result=None if row["result"] is None else ImportResult.model_validate_json(row["result"]),
    )


def put_chunk(tx: Transaction, owner: str, import_id: str, number: int, body: bytes) -> ImportState:
    """Stores a chunk, replacing an earlier one with its number. Raises `ImportUnknown`, `ImportsExceeded` and
    `BodyTooLarge`."""
    state = state_of(tx, owner, import_id, tx.now())
    if state.result is not None:
        raise ImportsExceeded("This import was applied and accepts no more chunks.")
    if number > MOST_CHUNKS:
        raise ImportsExceeded(f"An import has at most {MOST_CHUNKS} chunks.")
    if len(body) > CHUNK_BYTES:
        raise BodyTooLarge(f"Send at most {CHUNK_BYTES:,} bytes.")
    tx.run(
        "world_put_import_chunk",
        import_id=import_id,
        number=number,
        sha256=sha256_hex(body),
        bytes=len(body),
        body=zlib.compress(body, 1),
    )
    return state_of(tx, owner, import_id)


def whole_file(reader: Reader, owner: str, import_id: str, sha256: str, now: datetime) -> bytes:
    """Returns all chunks as one file. Raises `ImportUnknown`, `ImportIncomplete`."""
    state = state_of(reader, owner, import_id, now)
    numbers = [chunk.number for chunk in state.chunks]
    if numbers != list(range(1, len(numbers) + 1)) or not numbers:
        missing = next(number for number in range(1, len(numbers) + 2) if number not in numbers)
        raise ImportIncomplete(f"The chunk {missing} did not arrive.")
    digest = hashlib.sha256()
    parts = []
    for number in numbers:
        row = reader.row("world_import_chunk", import_id=import_id, number=number)
        if row is None:
            raise ImportIncomplete(f"The chunk {number} did not arrive.")
        parts.append(zlib.decompress(row["body"]))
        digest.update(parts[-1])
    if digest.hexdigest() != sha256:
        raise ImportIncomplete("The SHA-256 of the chunks together is not the one that was named.")
    return b"".join(parts)


def finish(tx: Transaction, owner: str, import_id: str, result: ImportResult) -> None:
    """Stores the result of an applied import, and deletes its chunks. Raises `ImportUnknown`, `ImportsExceeded`."""
    if state_of(tx, owner, import_id, tx.now()).result is not None:
        raise ImportsExceeded("This import was applied already.")
    tx.run("world_finish_import", id=import_id, result=result.model_dump_json(by_alias=True))
    tx.run("world_drop_import_chunks", import_id=import_id)


def drop(tx: Transaction, owner: str, import_id: str) -> None:
    """Deletes an import with its chunks. States that it wrote stay. Raises `ImportUnknown`."""
    state_of(tx, owner, import_id, tx.now())
    tx.run("world_drop_import", id=import_id)


def expire(tx: Transaction) -> int:
    """Deletes expired imports. Returns their number."""
    return tx.run("world_expire_imports", now=utc_text(tx.now()))


def _expiry(now: datetime) -> str:
    return utc_text(now + timedelta(hours=HOURS_UNTIL_EXPIRY))
