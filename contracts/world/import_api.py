"""Defines the requests and answers with which a key exports its owner's graph and imports one in chunks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.base import Document
from contracts.world.graph_documents import StageDocument
from contracts.world.import_file import Limits
from contracts.world.proposal import Verdict

CHUNK_BYTES = 1024 * 1024
MOST_CHUNKS = 128
MOST_OPEN_IMPORTS = 2
HOURS_UNTIL_EXPIRY = 24
LIMITS = Limits(nodes=100_000, states=250_000)
IDS_RETURNED = 1_000


class ExportParameters(Document):
    """The format of an export, and its page."""

    format: Literal["jsonl", "jsonld", "graphml"] = Field(
        default="jsonl", description="JSON Lines, which can be imported; or JSON-LD or GraphML of the same records"
    )
    cursor: str | None = Field(
        default=None, max_length=2_000, description="From the `Link` with `rel=next` of the previous page"
    )


class ImportApplication(Document):
    """Declares that all chunks were sent, with their joint digest."""

    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="SHA-256 of all chunks in their order, as hex digits"
    )


class ChunkDocument(Document):
    """A chunk that arrived."""

    number: int
    bytes: int
    sha256: str


class ImportResult(Document):
    """The judgement of a whole file. Either all of it is written or nothing."""

    verdict: Verdict
    stages: list[StageDocument] = Field(description="All seven, in their order; empty for a file without nodes")
    nodes: int = Field(description="Nodes of the file")
    edges: int = Field(description="Edges of the file")
    written: int = Field(description="States that were written; what the graph already had is not written again")
    decisions: int = Field(description="Decisions that wrote them")
    node_ids: list[str] = Field(description=f"The ids of the first {IDS_RETURNED:,} nodes, as given in the file")
    revision: int = Field(description="The graph's revision after it")


class ImportState(Document):
    """An import: the chunks that arrived, or its result."""

    import_id: str
    status: Literal["open", "applied"]
    created_at: str
    expires_at: str = Field(description="When it is deleted, applied or not")
    chunk_bytes: int = Field(default=CHUNK_BYTES, description="Maximum bytes per chunk")
    most_chunks: int = Field(default=MOST_CHUNKS, description="Maximum number of chunks; they are numbered from 1")
    chunks: list[ChunkDocument] = Field(description="The chunks that arrived, by number; empty once it is applied")
    result: ImportResult | None = Field(description="Null until it is applied")


class ImportAnswer(Document):
    ok: Literal[True] = True
    data: ImportState


class ImportApplied(Document):
    ok: Literal[True] = True
    data: ImportResult
