"""Defines the published snapshot of the graph: the layout of its files, and memory-mapped reading.

Nodes are numbered from 0 in the byte order of their ids, edges in the order of their sources and targets.
"""

from __future__ import annotations

import hashlib
import mmap
from bisect import bisect_left
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tantivy

from contracts.errors import StoreTooNew, StoreUnusable
from contracts.world.records import Edge, Node
from warehouse.world.text import MOST_EDGES

FORMAT = 4
"""Version of the layout below. A reader opens only this version; a snapshot can be rebuilt from the ledger at any
time."""

MANIFEST = "snapshot.json"
PUBLIC_TEXT, PRIVATE_TEXT = "text-public", "text-private"
NOBODY = 2**32 - 1
"""Owner code of state that nobody sees: not live, or replaced by a later state."""

FORM_FIELDS = ("title", "body", "edges")
"""Fields of the text index for the forms of a node's words: those of its title, its other words, and words that only
its edges have."""

SEPARATED = "separated"
separated = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()

_node = msgspec.json.Decoder(Node).decode
_edge = msgspec.json.Decoder(Edge).decode


class FileEntry(msgspec.Struct, frozen=True):
    """One file of a snapshot."""

    bytes: int
    sha256: str


class SnapshotManifest(msgspec.Struct, frozen=True):
    """Describes a snapshot, which contains every event of the graph up to the ledger seq `revision`.

    That event was recorded at `recorded_at`, which earlier versions left out.
    """

    format: int
    revision: int
    nodes: int
    edges: int
    types: list[str]
    domains: list[str]
    files: dict[str, FileEntry]
    recorded_at: str | None = None


def sealed(manifest: SnapshotManifest) -> bytes:
    """Encodes the manifest file: its checksum on the first line, then the manifest."""
    body = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def read_manifest(directory: Path) -> SnapshotManifest:
    """Reads the manifest and checks its checksum and the size of every file.

    Raises `StoreTooNew` for a later format, `StoreUnusable` for an earlier one and for incomplete files.
    """
    try:
        checksum, _, body = (directory / MANIFEST).read_bytes().partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != checksum:
            raise _unusable(directory, "its manifest's checksum is wrong")
        written = msgspec.json.decode(body, type=_Format).format
        if written > FORMAT:
            raise StoreTooNew(
                f"The graph snapshot {directory} has format {written}; this version reads {FORMAT}.",
                cure="Start the version that wrote it, or run `svc publish` with this one.",
            )
        manifest = msgspec.json.decode(body, type=SnapshotManifest)
        for name, entry in manifest.files.items():
            if (directory / name).stat().st_size != entry.bytes:
                raise _unusable(directory, f"{name} is not {entry.bytes} bytes long")
    except (OSError, msgspec.MsgspecError) as error:
        raise _unusable(directory, str(error)) from error
    if manifest.format != FORMAT:
        raise _unusable(directory, f"format {manifest.format} is no longer read")
    return manifest


class _Format(msgspec.Struct):
    format: int


def _unusable(directory: Path, why: str) -> StoreUnusable:
    return StoreUnusable(f"The graph snapshot {directory} can't be opened: {why}.", cure="Run `svc publish`.")


class Texts:
    """Texts stored back to back, accessed by number."""

    def __init__(self, directory: Path | None, name: str) -> None:
        self._bytes = _mapped(directory, f"{name}.bin")
        self._starts = memoryview(bytes(8) if directory is None else _mapped(directory, f"{name}.u64")).cast("Q")

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> bytes:
        return self._bytes[self._starts[number] : self._starts[number + 1]]

    def find(self, text: str) -> int | None:
        """Returns the number of a text, or None. Requires that the texts are sorted."""
        key = text.encode()
        number = bisect_left(self, key)
        return number if number < len(self) and self[number] == key else None


class Snapshot:
    """A snapshot mapped into memory, or an empty graph without a directory. The arrays may be written to; changes stay
    in this process.

    node_type, node_domain, node_owner    per node: number of its type and domain; 0 public, n the n-th owner, NOBODY
    node_revision, node_words    per node: the revision that wrote it; the number of its words
    node_next    per node: the next node from the same source; NOBODY if there is none
    out_start, edge_source, edge_target, edge_owner    edges in order of sources: those of n at out_start[n:n+2]
    in_start, in_edge    numbers of edges in order of targets: those to n at in_start[n:n+2]

    Example: with out_start = [0, 2, 2, 3], the edges of node 0 are numbers 0 and 1, node 1 has none, and node 2 has
    edge 2.
    """

    def __init__(self, directory: Path | None) -> None:
        """Raises `StoreTooNew`, `StoreUnusable`."""
        self.manifest = _EMPTY if directory is None else read_manifest(directory)
        self.revision = self.manifest.revision
        self.ids, self._nodes = Texts(directory, "ids"), Texts(directory, "nodes")
        self._edge_record = _column(directory, "edge_record.u32")
        self._edges, self._owners = Texts(directory, "edges"), Texts(directory, "owners")
        self.node_type, self.node_domain = _column(directory, "node_type.u16"), _column(directory, "node_domain.u8")
        self.node_owner = _column(directory, "node_owner.u32")
        self.node_revision, self.node_words = (
            _column(directory, "node_revision.u64"),
            _column(directory, "node_words.u32"),
        )
        self.node_next = _column(directory, "node_next.u32")
        self.out_start, self.in_start = _column(directory, "out_start.u64"), _column(directory, "in_start.u64")
        self.edge_source, self.edge_target = (
            _column(directory, "edge_source.u32"),
            _column(directory, "edge_target.u32"),
        )
        self.edge_owner, self.in_edge = _column(directory, "edge_owner.u32"), _column(directory, "in_edge.u32")
        self.public_text = None if directory is None else TextIndex(directory / PUBLIC_TEXT)
        self.private_text = None if directory is None else TextIndex(directory / PRIVATE_TEXT)

    def __len__(self) -> int:
        return self.manifest.nodes

    def find(self, node_id: str) -> int | None:
        """Returns the number of a node, live or not, or None if no node has this id."""
        return self.ids.find(node_id)

    def place_of(self, node_id: str) -> int:
        """Returns the number of the first node whose id is not below `node_id`."""
        return bisect_left(self.ids, node_id.encode())

    def node(self, number: int) -> Node | None:
        """Returns a node's record, or None if its state was not live."""
        record = self._nodes[number]
        return _node(record) if record else None

    def following(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Returns two rows: the next node from the same source for each number, and the one after that; NOBODY if there
        is none."""
        following = np.empty((2, len(numbers)), np.int64)
        following[0] = self.node_next.take(numbers)
        following[1] = self.node_next.take(following[0], mode="clip")
        following[1][following[0] == NOBODY] = NOBODY
        return following

    def edge(self, number: int) -> Edge:
        """Returns an edge's record."""
        return _edge(self._edges[int(self._edge_record[number])])

    def owner_code(self, owner: str) -> int | None:
        """Returns the code of an owner of private state, or None if the snapshot has nothing of that owner."""
        number = self._owners.find(owner)
        return None if number is None else number + 1

    def edges_at(self, number: int) -> list[tuple[Edge, int]]:
        """Returns a node's edges that belong to its owner, or all edges of a node that is not live, with the nodes at
        their other ends; an empty list if there are more than `MOST_EDGES`."""
        out = np.arange(*(int(place) for place in self.out_start[number : number + 2]))
        first, end = (int(place) for place in self.in_start[number : number + 2])
        edges = np.concatenate([out, self.in_edge[first:end]]).astype(np.int64)
        owner, owners = self.node_owner[number], self.edge_owner[edges]
        own = edges[owners != NOBODY if owner == NOBODY else owners == owner]
        if len(own) > MOST_EDGES:
            return []
        ends = self.edge_source[own].astype(np.int64) + self.edge_target[own] - number
        return [(self.edge(edge), end) for edge, end in zip(own.tolist(), ends.tolist(), strict=True)]

    @property
    def owners(self) -> int:
        """Returns the number of owners with codes."""
        return len(self._owners)


class TextIndex:
    """One full-text index of nodes, in `directory`, with a file next to it that gives the node of each document."""

    def __init__(self, directory: Path) -> None:
        try:
            index = tantivy.Index.open(str(directory))
        except ValueError as error:
            raise _unusable(directory.parent, str(error)) from error
        index.register_tokenizer(SEPARATED, separated)
        index.config_reader("manual")  # by default a thread of the index watches the directory
        self.schema = index.schema
        self.searcher = index.searcher()
        self._numbers = _column(directory.parent, numbers_file(directory.name))
        self._starts = list(accumulate(segment_sizes(directory), initial=0))

    def best(
        self, query: tantivy.Query, wanted: int, *, counted: bool
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], int]:
        """Returns the numbers of the best nodes that match a query, their scores, and the number of all matches, or 0
        unless `counted`."""
        result = self.searcher.search(query, wanted, counted)
        scores, addresses = zip(*hits, strict=True) if (hits := result.hits) else ((), ())
        documents = [address.doc for address in addresses]
        if len(self._starts) > 2:  # more than one segment
            firsts = (self._starts[address.segment_ord] for address in addresses)
            documents = [first + document for first, document in zip(firsts, documents, strict=True)]
        numbers = self._numbers.take(np.array(documents, np.int64)).astype(np.int64)
        return numbers, np.array(scores, np.float64), int(result.count) if counted else 0  # type: ignore[attr-defined]

    def matching(self, query: tantivy.Query, owner: int) -> int:
        """Returns the number of nodes that match a query, restricted to an owner's code unless that is 0."""
        if owner:
            of_owner = tantivy.Query.term_query(self.schema, "owner", owner)
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, of_owner)])
        return int(self.searcher.search(query, 1).count)  # type: ignore[attr-defined]

    def counted(self, query: tantivy.Query) -> int:
        """Returns the number of all nodes that match a query. For thousands of nodes a search, which scores them, takes
        several times as long; for a few nodes, this takes longer to start."""
        return int(self.searcher.aggregate(query, {"all": {"filter": "*"}})["all"]["doc_count"])


def numbers_file(index: str) -> str:
    """Returns the name of the file with each document's node number, in document order. The index has the numbers too,
    but reads the whole column to return them."""
    return f"{index}.u32"


def segment_sizes(directory: Path) -> list[int]:
    """Returns the number of documents in each segment of a full-text index."""
    meta = msgspec.json.decode((directory / "meta.json").read_bytes(), type=_Meta)
    return [segment.max_doc for segment in meta.segments]


class _Segment(msgspec.Struct):
    max_doc: int


class _Meta(msgspec.Struct):
    segments: list[_Segment]


def index_schema() -> tantivy.Schema:
    """Defines the fields of the full-text index: the node's number, the values for filters, and its words, which are
    already separated by spaces (`text.NodeWords`)."""
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("num", fast=True)
    for name in ("type", "domain", "owner"):
        builder.add_integer_field(name, indexed=True)
    builder.add_text_field("written", tokenizer_name=SEPARATED, index_option="freq")
    for name in FORM_FIELDS:
        builder.add_text_field(name, tokenizer_name=SEPARATED, index_option="basic")
    return builder.build()


_EMPTY = SnapshotManifest(FORMAT, revision=0, nodes=0, edges=0, types=[], domains=[], files={})


def _mapped(directory: Path | None, name: str) -> mmap.mmap | bytes:
    if directory is None or (directory / name).stat().st_size == 0:  # an empty file can't be mapped
        return b""
    with (directory / name).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


_DTYPES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8"}


def _column(directory: Path | None, name: str) -> np.ndarray[Any, Any]:
    dtype = _DTYPES[name.rpartition(".")[2]]
    if directory is None or (directory / name).stat().st_size == 0:
        return np.zeros(0, dtype)
    return np.memmap(directory / name, dtype, mode="c").view(np.ndarray)
