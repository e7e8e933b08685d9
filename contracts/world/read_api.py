"""Defines requests and answers of the graph's read routes. The interface prescribes the names with underscores."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from contracts.base import DIGITS, Document
from contracts.standing import SourceClass
from contracts.times import normal_instant
from contracts.world.graph_documents import DisputeDocument, EdgeDocument, Instant, NodeDocument, StageDocument
from contracts.world.ontology import DOMAINS, load_ontology
from contracts.world.proposal import HIGHEST_REVISION

NODES_PER_QUERY, NODES_PER_QUERY_AT_MOST = 50, 1_000
NODES_LIVE, NODES_LIVE_AT_MOST = 5_000, 20_000
DEEPEST = 6


def _known_domain(name: str) -> str:
    if name not in DOMAINS:
        raise ValueError(f"is not one of {', '.join(DOMAINS)}")
    return name


Domain = Annotated[str, AfterValidator(_known_domain), Field(json_schema_extra={"enum": list(DOMAINS)})]
NodeType = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100),
    Field(
        description="A node type of /api/v2/schema or of your ontology",
        json_schema_extra={"examples": list(load_ontology().node_types)},
    ),
]
NodeId = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Cursor = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]

_CURSOR = "From the previous page; only `limit` may differ between pages"
_AS_OF = "Returns what held in the world at this instant, as known now or at `recordedAsOf`"
_RECORDED_AS_OF = (
    "Returns what was known at this instant (RFC 3339) or revision (an integer). A decision's changes count together"
)
_AT_REVISION = "Older name for a revision in `recordedAsOf`. If both are sent, the earlier one counts"
_INCLUDE_ENDED = "Whether to return nodes that were superseded, corrected, retracted or had ended by then too"


def _recorded(value: object) -> object:
    if isinstance(value, str):
        if not (value.isascii() and value.isdecimal() and len(value) <= len(str(HIGHEST_REVISION))):
            return normal_instant(value)
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= HIGHEST_REVISION:
        raise ValueError("is neither an RFC 3339 time with its offset nor a revision")
    return value


RecordedAsOf = Annotated[
    int | str,
    BeforeValidator(_recorded),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": HIGHEST_REVISION},
                {"type": "string", "format": "date-time", "maxLength": 40},
            ]
        }
    ),
]


class PastParameters(Document):
    """The time in the world and the time of knowledge that a query is about."""

    as_of: Instant | None = Field(default=None, description=_AS_OF)
    recorded_as_of: RecordedAsOf | None = Field(default=None, description=_RECORDED_AS_OF)
    at_revision: Annotated[int, Field(ge=0, le=HIGHEST_REVISION), DIGITS] | None = Field(
        default=None, description=_AT_REVISION
    )

    @property
    def beliefs(self) -> dict[str, int | str]:
        """Returns the instants and revisions of the belief by parameter; empty for now."""
        given = {"recordedAsOf": self.recorded_as_of, "atRevision": self.at_revision}
        return {name: recorded for name, recorded in given.items() if recorded is not None}


class Traverse(Document):
    """Start and extent of a traversal. The result includes the start."""

    from_id: NodeId = Field(alias="from_id")
    depth: int = Field(default=1, strict=True, ge=1, le=DEEPEST)
    direction: Literal["outbound", "inbound", "both"] = "outbound"


class GraphQueryRequest(PastParameters):
    """Conditions that a node must all fulfil. Without any: all nodes, by id."""

    search: Annotated[str, StringConstraints(max_length=1_000)] | None = Field(
        default=None,
        description="Words in titles and properties, any of them, in any grammatical form. Rare words count most, and "
        "more in a title. The last word, from three characters on, and any word followed by `*` also find words that "
        "begin with them. A word of at least five letters that no node has also finds words that differ in one letter",
    )
    scope: Literal["own", "public", "both"] = Field(
        default="both", description="Your private nodes, public nodes, or both; among equals yours come first"
    )
    domain: Domain | None = None
    node_id: NodeId | None = Field(default=None, alias="node_id")
    traverse: Traverse | None = None
    node_types: list[NodeType] | None = Field(default=None, alias="node_types", max_length=100)
    limit: int = Field(default=NODES_PER_QUERY, strict=True, ge=1, le=NODES_PER_QUERY_AT_MOST)
    include_edges: bool = Field(default=False, strict=True, alias="include_edges")
    order: Literal["id", "recent"] = Field(
        default="id", description="Order without `search` and `traverse`: by id, or newest first"
    )
    at_revision: int | None = Field(default=None, strict=True, ge=0, le=HIGHEST_REVISION, description=_AT_REVISION)
    include_ended: bool = Field(default=False, strict=True, alias="include_ended", description=_INCLUDE_ENDED)
    cursor: Cursor | None = Field(
        default=None,
        description=f"{_CURSOR}. Pages by rank, distance or `recent` skip a number of nodes in the graph as it is at "
        "that time, so nodes written or erased between two pages shift the rest. To avoid this, request all pages with "
        "the same `recordedAsOf`, such as the `revision` of an answer. Pages by id are not affected",
    )


class LiveParameters(PastParameters):
    """Selects a part of the graph and its time."""

    limit: Annotated[int, Field(ge=1, le=NODES_LIVE_AT_MOST), DIGITS] = NODES_LIVE
    cursor: Cursor | None = Field(default=None, description=_CURSOR)


class SearchHints(Document):
    """What you can search, returned where a search found nothing."""

    near_words: list[str] = Field(alias="near_words", description="Words that are nearly the same")
    node_types: dict[str, int] = Field(alias="node_types", description="Nodes that were searched, by type")
    own_nodes: int = Field(
        alias="own_nodes", ge=0, description="Your private nodes that were searched; 0 for a time before they existed"
    )
    public_nodes: int = Field(alias="public_nodes", ge=0, description="Public nodes that were searched")


class GraphQueryResult(Document):
    """The nodes of one page: search results by rank, traversed nodes by distance, others in the requested order."""

    query_id: str = Field(alias="query_id", description="The same for the same query of the same revision")
    matched_nodes: int = Field(alias="matched_nodes", ge=0, description="On all pages together")
    nodes: list[NodeDocument]
    edges: list[EdgeDocument] | None = Field(description="Between these nodes; null unless requested")
    disputes: list[DisputeDocument] = Field(description="All values of each fact among these nodes that is disputed")
    truncated: bool = Field(description="Whether there is more than this page contains")
    cursor: str | None = Field(description="Requests the next page; null on the last")
    revision: int = Field(description="Revision of the graph that was queried")
    hints: SearchHints | None = Field(description="What may help where a search found nothing; otherwise null")


class GraphQueryAnswer(Document):
    ok: Literal[True] = True
    data: GraphQueryResult


class LiveGraph(Document):
    """Nodes by id, and the edges between the nodes of this page. The counts cover everything that the caller sees."""

    node_count: int = Field(ge=0)
    edge_count: int = Field(ge=0)
    nodes: list[NodeDocument]
    edges: list[EdgeDocument]
    disputes: list[DisputeDocument] = Field(description="All values of each fact among these nodes that is disputed")
    truncated: bool = Field(description="Whether there is more than this page contains")
    cursor: str | None = Field(description="Requests the next page; null on the last")
    revision: int = Field(description="Revision of the graph that was queried")


class LiveGraphAnswer(Document):
    ok: Literal[True] = True
    data: LiveGraph


class NodeStateDocument(Document):
    """One state of the node."""

    node: NodeDocument
    decision: int = Field(description="Number of the decision that accepted it")
    retired_at: str | None = Field(description="When the next state was recorded; null for the newest")


class NodeDecisionDocument(Document):
    """A decision that wrote a state of the node."""

    decision: int
    decided_at: str
    verdict: str
    stages: list[StageDocument] | None = Field(
        description="Null if the decision is somebody else's, forgotten, or very large"
    )


class NodeSourceDocument(Document):
    """A source that stated the node."""

    source: str
    source_class: SourceClass
    actor: str
    stated_at: str = Field(description="When it first stated the node")


class NodeActDocument(Document):
    """A correction, retraction or confirmation of the node."""

    kind: Literal["corrects", "retracts", "confirms"]
    by: str = Field(description="The node that did it")
    reason: str
    recorded_at: str


class NodeHistoryData(Document):
    """A node at a time, and its history up to then."""

    node: NodeDocument | None = Field(description="Its state then; null if it did not hold `asOf`, or was not known")
    history: list[NodeStateDocument] = Field(description="Its states known then, newest first")
    decisions: list[NodeDecisionDocument] = Field(description="The decisions on these states, newest first")
    sources: list[NodeSourceDocument] = Field(description="The sources of these states, newest first")
    acts: list[NodeActDocument]
    disputes: list[DisputeDocument] = Field(description="All values that held along with it then, if they differ")
    truncated: bool = Field(description="Whether it has older states than these")
    revision: int = Field(description="Revision of the graph that was queried")


class NodeHistoryAnswer(Document):
    ok: Literal[True] = True
    data: NodeHistoryData


class GraphCounts(Document):
    """Live public nodes."""

    node_count: int = Field(ge=0)
    domain_counts: dict[str, int] = Field(alias="domain_counts", description="Every domain, also those without nodes")
    revision: int = Field(description="The graph's revision that was counted")


class GraphOverlay(Document):
    """Changes since the snapshot, which are served from memory."""

    events: int = Field(ge=0)
    snapshot_revision: int = Field(description="Revision of the snapshot; 0 before the first")
    publish_requested: bool = Field(description="Whether a new snapshot is due")


class GraphHealth(Document):
    """`degraded` while a new snapshot is due: answers are correct but slower."""

    status: Literal["ok", "degraded"]
    graph: GraphCounts
    overlay: GraphOverlay


class GraphHealthAnswer(Document):
    ok: Literal[True] = True
    data: GraphHealth
