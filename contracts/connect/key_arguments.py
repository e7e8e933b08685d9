"""Defines the arguments of the tools by key, and converts them to requests of the corresponding HTTP routes. Pure.

Every field has a description, because a model has nothing else to go by.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from contracts.addresses import AskedAddress
from contracts.connect.setup_plan import ToolModel
from contracts.guardrail import GuardrailRequest
from contracts.standing import UNSTATED, SourceClass
from contracts.token.history_documents import TokenHolderParameters
from contracts.token.holder_documents import BlockNumber, Day, MomentParameters
from contracts.world.extraction.build import MOST_PIECES, BuildRequest, DocumentId, GraphId, MediaType
from contracts.world.graph_documents import Instant
from contracts.world.memory.memory_plan import DataKindName, DesignRequest, SpecialCategory
from contracts.world.memory.store_kinds import Privacy
from contracts.world.ontology import DOMAINS, load_ontology
from contracts.world.proposal import LONGEST_SOURCE, LONGEST_TITLE
from contracts.world.read_api import DEEPEST, GraphQueryRequest, PastParameters, RecordedAsOf
from contracts.world.signal import MOST_LINKS, SignalRequest

FOUND_AT_MOST = 50
LONGEST_DETAILS = 20_000
HISTORY_OF_A_HOLDER = 5

DEFAULT_TYPE = "Observation"
ACT_TYPE = "Signal"
"""Type of the node that a retraction or a confirmation creates."""

CONVERSATION = "conversation"
"""Source of a statement for which the client names no source."""

_TYPES = f"such as {', '.join(list(load_ontology().node_types)[:12])}; GET /api/v2/schema lists all"

Title = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TITLE)]
NodeId = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Source = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_SOURCE)]
Details = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_DETAILS)]

_SOURCE = "Where the statement comes from, such as a document, a URL or a person; readers judge the statement by it"
_SOURCE_CLASS = (
    "How authoritative it is, highest first: owner, signed_system, document, inference, hearsay. Your key limits it. "
    "`document` for what can be read again, `inference` for your own conclusions"
)
_PROPERTIES = (
    "Further fields of the statement. With a `subject`, a `predicate` and a `value` it is a fact, such as "
    '{"subject": "Acme", "predicate": "owner", "value": "Grace"}. The predicates '
    f"{', '.join(sorted(load_ontology().single_valued_predicates))}, and those that your ontology declares "
    "single-valued, have one value at a time: a later one of an equal or higher class replaces it. Values of any "
    "other predicate are valid side by side until you correct or retract one"
)
_CONFIDENCE = "How sure you are, from 0 to 1; 0.5 if omitted"
_IDEMPOTENCY_KEY = "Your own name for this call: a repeated call gets the same answer and writes nothing twice"
_SAID_AGAIN = "Without it, equal statements count as one, until their content is replaced or retracted"


class NoArguments(ToolModel):
    """A tool without arguments."""


class LinkArguments(ToolModel):
    """One relationship of the statement."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=100)] = Field(
        description="Relationship type, such as PART_OF, ACHIEVES, BLOCKS, INFORMED_BY; GET /api/v2/schema lists all"
    )
    target: NodeId = Field(description="Id of the other node, from a search or an earlier answer")
    direction: Literal["outbound", "inbound"] = Field(
        default="outbound", description="outbound: from the statement to the target; inbound: the other way round"
    )


class RememberArguments(ToolModel):
    """Arguments of `svc_remember`: one statement."""

    title: Title = Field(description="The statement in one line, in words by which you would search for it")
    details: Details | None = Field(
        default=None, description="Further details, in a few sentences, if one line is too short"
    )
    type: Annotated[str, StringConstraints(min_length=1, max_length=100)] = Field(
        default=DEFAULT_TYPE, description=f"Node type, {_TYPES}"
    )
    properties: dict[str, Any] = Field(default={}, description=_PROPERTIES)
    source: Source = Field(default=CONVERSATION, description=_SOURCE)
    source_class: SourceClass = Field(default=UNSTATED, description=_SOURCE_CLASS)
    confidence: Annotated[float, Field(ge=0, le=1)] | None = Field(default=None, description=_CONFIDENCE)
    observed_at: Instant | None = Field(
        default=None, description="When it was observed, RFC 3339 with offset; now if omitted"
    )
    valid_from: Instant | None = Field(
        default=None, description="From when it is true, RFC 3339 with offset; a future time makes it a plan"
    )
    valid_to: Instant | None = Field(
        default=None, description="Until when it is true, RFC 3339 with offset; until further notice if omitted"
    )
    links: Annotated[list[LinkArguments], Field(max_length=MOST_LINKS)] = Field(
        default=[], description="Relationships to existing nodes"
    )
    visibility: Literal["private", "public"] = Field(
        default="private",
        description="`private`: only keys of your owner see it; `public` waits until the service's operator agrees",
    )
    idempotency_key: Annotated[str, StringConstraints(min_length=1, max_length=150)] | None = Field(
        default=None, description=f"{_IDEMPOTENCY_KEY}. {_SAID_AGAIN}"
    )

    def signal(self) -> SignalRequest:
        """Returns the signal with this statement."""
        stated = self.model_dump(exclude={"details", "properties"}, exclude_none=True)
        return SignalRequest.model_validate({**stated, "payload": _payload(self.properties, self.details)})


class CorrectArguments(ToolModel):
    """Arguments of `svc_correct`: what to do with one node, and why."""

    id: NodeId = Field(description="Id of the node that is wrong, or that you confirm, from a search")
    action: Literal["corrects", "retracts", "confirms"] = Field(
        description="corrects: replaces it by your statement; retracts: it was never true, and nothing replaces it; "
        "confirms: it is true, which ends a dispute"
    )
    reason: Source = Field(description="Why, in one line; it is stored with the change")
    title: Title | None = Field(
        default=None, description="For `corrects`: the right statement in one line; the reason if omitted"
    )
    details: Details | None = Field(default=None, description="For `corrects`: further details of the right statement")
    properties: dict[str, Any] = Field(
        default={},
        description="For `corrects`: fields of the right statement, such as the right `value` of a fact; subject and "
        "predicate are copied from the corrected node",
    )
    source: Source = Field(default=CONVERSATION, description=_SOURCE)
    source_class: SourceClass = Field(default=UNSTATED, description=_SOURCE_CLASS)
    confidence: Annotated[float, Field(ge=0, le=1)] | None = Field(default=None, description=_CONFIDENCE)
    idempotency_key: Annotated[str, StringConstraints(min_length=1, max_length=150)] | None = Field(
        default=None, description=_IDEMPOTENCY_KEY
    )

    def signal(self, type_name: str, properties: dict[str, Any]) -> SignalRequest:
        """Returns the signal for this act. `type_name` and `properties` are those of the corrected node."""
        corrects = self.action == "corrects"
        about = {name: properties[name] for name in ("subject", "predicate") if corrects and name in properties}
        stated = self.model_dump(include={"source", "source_class", "confidence", "idempotency_key"}, exclude_none=True)
        return SignalRequest.model_validate(
            {
                **stated,
                "type": type_name if corrects else ACT_TYPE,
                "title": (self.title or self.reason)[:LONGEST_TITLE],
                "payload": about | _payload(self.properties, self.details),
                self.action: {"id": self.id, "reason": self.reason},
            }
        )


class AroundArguments(ToolModel):
    """A neighbourhood in the graph."""

    id: NodeId = Field(description="Id of the node to start from, which is included in the answer")
    depth: Annotated[int, Field(ge=1, le=DEEPEST)] = Field(default=1, description="Steps along relationships")
    direction: Literal["outbound", "inbound", "both"] = Field(
        default="both", description="Which relationships to follow"
    )


class SearchArguments(ToolModel):
    """Arguments of `svc_search`. Without arguments, it returns the first nodes by id."""

    query: Annotated[str, StringConstraints(max_length=1_000)] | None = Field(
        default=None,
        description="Words to look for in titles and properties; any of them, in any grammatical form; the rarest "
        "count most",
    )
    scope: Literal["own", "public", "both"] = Field(
        default="both", description="Your owner's private nodes, public nodes, or both with yours first among equals"
    )
    types: Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=100)] = (
        Field(default=[], description=f"Only nodes of these types, {_TYPES}")
    )
    domain: Annotated[str, Field(json_schema_extra={"enum": list(DOMAINS)})] | None = Field(
        default=None, description="Only nodes of this domain of the graph"
    )
    around: AroundArguments | None = Field(default=None, description="Only nodes near this one, with relationships")
    order: Literal["id", "recent"] = Field(
        default="id", description="Order without a query and `around`: by id, or the newest first"
    )
    as_of: Instant | None = Field(default=None, description="What was true at this time, RFC 3339 with offset")
    include_ended: bool = Field(
        default=False, description="Also nodes that were replaced, corrected, retracted or are no longer true"
    )
    limit: Annotated[int, Field(ge=1, le=FOUND_AT_MOST)] = Field(default=10, description="Maximum number of nodes")
    cursor: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="`cursor` of the previous answer, with otherwise the same arguments: the next page"
    )

    def request(self) -> GraphQueryRequest:
        """Returns the query."""
        around = self.around
        return GraphQueryRequest.model_validate(
            {
                "search": self.query,
                "node_types": self.types or None,
                "traverse": around and {"from_id": around.id, "depth": around.depth, "direction": around.direction},
                "include_edges": around is not None,
                **self.model_dump(include={"scope", "domain", "order", "as_of", "include_ended", "limit", "cursor"}),
            }
        )


class NodeArguments(ToolModel):
    """Arguments of `svc_node`."""

    id: NodeId = Field(description="Id of the node, from a search or an earlier answer")
    as_of: Instant | None = Field(
        default=None, description="The node's state in the world at this time, RFC 3339 with offset"
    )
    recorded_as_of: RecordedAsOf | None = Field(
        default=None, description="What the graph believed at this time (RFC 3339 with offset) or revision (a number)"
    )

    def request(self) -> PastParameters:
        """Returns the time for which the node is requested."""
        return PastParameters.model_validate({"as_of": self.as_of, "recorded_as_of": self.recorded_as_of})


class DocumentArguments(ToolModel):
    """One text to read."""

    text: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The whole text, in the form of media_type"
    )
    id: DocumentId | None = Field(
        default=None, description="Its name. Building again with the same graph_id and id replaces its earlier content"
    )
    title: Title | None = Field(default=None, description="Its title, if the text has none")
    media_type: MediaType = Field(default="text/markdown", description="The form of the text")
    url: Annotated[str, StringConstraints(max_length=2_000)] | None = Field(
        default=None, description="Its origin, which is stored and never fetched"
    )


class TripleArguments(ToolModel):
    """One statement of your own."""

    subject: Title = Field(description="Title of a node, or of a new one")
    predicate: Annotated[str, StringConstraints(min_length=1, max_length=100)] = Field(
        description="Relationship type of the schema, such as PART_OF; any other word is stored as a property"
    )
    object: Title = Field(description="Title of the other node, or of a new one")


class BuildArguments(ToolModel):
    """Arguments of `svc_build`: documents, or statements of your own."""

    documents: Annotated[list[DocumentArguments], Field(max_length=100)] = Field(
        default=[],
        description=f"Texts to read, 1 MiB and {MOST_PIECES:,} lines, cells, values, names and links together at most",
    )
    triples: Annotated[list[TripleArguments], Field(max_length=1_000)] = Field(
        default=[], description="Statements that need no reading: subject, predicate, object"
    )
    graph_id: GraphId | None = Field(
        default=None, description="Name of the graph, needed to build it again; a hash of the content if omitted"
    )
    mode: Literal["preview", "apply"] = Field(
        default="preview", description="preview: show what would be written; apply: write it"
    )
    visibility: Literal["private", "public"] = Field(
        default="private", description="Visibility of what `apply` writes; `public` waits for the service's operator"
    )

    def request(self) -> BuildRequest:
        """Returns the request of the route."""
        return BuildRequest.model_validate(self.model_dump(exclude_none=True))


class GoalArguments(ToolModel):
    """One purpose of the agent."""

    title: Title = Field(description="The purpose in one line")
    priority: Literal["low", "medium", "high"] = Field(default="medium", description="Its importance")
    kinds: list[DataKindName] = Field(default=[], description="Kinds of data that it needs to recall")


class MemorySourceArguments(ToolModel):
    """One source of the agent's knowledge."""

    title: Title = Field(description="The source in one line")
    kinds: list[DataKindName] = Field(default=[], description="Kinds of data that it contains")
    personal: bool | None = Field(default=None, description="Whether it is about people; treated as true if omitted")
    special_categories: list[SpecialCategory] | None = Field(
        default=None, description="Special categories of personal data in it (GDPR, articles 9 and 10)"
    )


class MemoryDesignArguments(ToolModel):
    """Arguments of `svc_memory_design`."""

    agent_id: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        description="Your name for the agent that the memory is for"
    )
    role: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        default="assistant", description="What the agent does, in a word or two"
    )
    goals: Annotated[list[GoalArguments], Field(min_length=1, max_length=50)] = Field(
        description="Purposes of the memory"
    )
    sources: Annotated[list[MemorySourceArguments], Field(max_length=50)] = Field(
        default=[], description="Sources of the agent's knowledge"
    )
    privacy: Privacy = Field(default="private", description="How strictly data about people is protected")
    retention: Annotated[str, StringConstraints(max_length=40)] | None = Field(
        default=None, description="How long to keep memory, as an ISO 8601 duration such as P90D; as useful if omitted"
    )
    budget_tokens: Annotated[int, Field(ge=512, le=10_000_000)] = Field(
        default=8_000, description="Tokens that recalled memory may fill in one request"
    )
    confirmation: Literal["owner"] | None = Field(
        default=None,
        description="`owner`: each record about a person that outlives the session waits for its owner's confirmation",
    )
    mode: Literal["preview", "apply"] = Field(
        default="preview", description="preview: show the plan; apply: write it into the owner's graph"
    )

    def request(self) -> DesignRequest:
        """Returns the request of the route."""
        constraints = self.model_dump(
            include={"privacy", "retention", "budget_tokens", "confirmation"}, exclude_none=True
        )
        return DesignRequest.model_validate(
            {
                "agent": {"id": self.agent_id, "role": self.role},
                "goals": [goal.model_dump() for goal in self.goals],
                "sources": [source.model_dump() for source in self.sources],
                "constraints": constraints,
                "mode": self.mode,
            }
        )


class GuardrailArguments(GuardrailRequest):
    """Arguments of `svc_guardrail_check`."""

    def request(self) -> GuardrailRequest:
        """Returns the request of the route."""
        return GuardrailRequest(action=self.action, severity=self.severity, context=self.context)


class HoldersArguments(ToolModel):
    """Arguments of `svc_holders`. Without an address, it returns figures of the whole list and its largest holders.

    Both are as of `block`, or the end of `date`.
    """

    address: AskedAddress | None = Field(
        default=None,
        description="One address, lower case or with its EIP-55 checksum: its balance, rank and history",
    )
    block: BlockNumber | None = Field(
        default=None, description="Figures at this block; those of the newest list if omitted"
    )
    date: Day | None = Field(
        default=None, description="Figures at the end of this UTC day, YYYY-MM-DD; not together with `block`"
    )

    def request(self) -> TokenHolderParameters:
        """Returns the parameters of the route for one address."""
        return TokenHolderParameters(block=self.block, date=self.date, limit=HISTORY_OF_A_HOLDER)

    def moment(self) -> MomentParameters:
        """Returns the parameters of the route for the whole list."""
        return MomentParameters(block=self.block, date=self.date)


def _payload(properties: dict[str, Any], details: str | None) -> dict[str, Any]:
    return properties if details is None else {**properties, "description": details}
