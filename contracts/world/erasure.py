"""Defines requests and answers of erasures by owners, and the schedule of what is erased when."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from contracts.base import Document
from contracts.canonical import canonical_sha256
from contracts.times import instant_of, utc_text
from contracts.world.graph_documents import OneLine
from contracts.world.proposal import LONGEST_SOURCE

Scope = Literal["node", "source", "everything"]

FILES_REWRITTEN_EVERY = timedelta(hours=20)
"""Shortest time between two rewrites of the files for owners' erasures, however many requests there are."""

FILES_REWRITTEN_WITHIN = timedelta(hours=24)
"""Time after an erasure within which the files are rewritten: the interval above, the hourly check, and the work."""

AT_ONCE = (
    "every answer: of the graph now, of its past, and of its history",
    "the ledger, with its write-ahead log where it is SQLite's; the audit keeps salted hashes",
)
LATER = (
    "graph snapshots, query copies and every older generation",
    "the warehouse with its free pages, and PostgreSQL's tables",
    "records of runs, logs, and, for everything, the texts that the guardrail judged",
)
BY_THE_OPERATOR = (
    "backups and copies of the data directory",
    "PostgreSQL's write-ahead log, its archive and replicas",
)


class EraseRequest(Document):
    """The target of an erasure: everything that one source stated, or everything of the key's owner."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["source"], "properties": {"source": {"type": "string"}}},
                {"required": ["everything"], "properties": {"everything": {"const": True, "type": "boolean"}}},
            ]
        }
    )

    source: Annotated[str, OneLine] | None = Field(
        default=None,
        min_length=1,
        max_length=LONGEST_SOURCE,
        description="A `source` of your nodes and edges, compared case-insensitively; a build's is "
        "`knowledge-graph/build:` followed by its graphId",
    )
    everything: Literal[True] | None = Field(
        default=None, description="All of your private nodes and edges, your ontology and what was decided on them"
    )
    confirm: str | None = Field(
        default=None, max_length=500, description="For everything: `erase everything of ` and your owner's name"
    )

    @model_validator(mode="after")
    def _names_one_thing(self) -> EraseRequest:
        if (self.source is None) == (self.everything is None):
            raise ValueError("send either `source` or `everything`")
        return self


class LaterErasure(Document):
    """A place that still contains the texts, and the time by which they are gone from it."""

    place: str
    by: str = Field(description="UTC; holds if the service and its pipeline are running")


class SaidToo(Document):
    """A node that repeats a statement of an erased one."""

    id: str
    type: str
    title: str


class ErasureData(Document):
    """An erasure: what was erased, and when it is gone from each place."""

    erasure_id: str | None = Field(description="Its number in the audit; null if there was nothing to erase")
    scope: Scope
    nodes: int = Field(ge=0, description="Nodes that are erased now")
    edges: int = Field(ge=0, description="Edges, also those of others' statements at these nodes")
    said_too: list[SaidToo] = Field(
        description="For a node that a build read from a document: your other nodes that were read from the same "
        "place, such as a decision, or the document with a property. They stay until you erase them too. Empty in a "
        "repetition"
    )
    requested_at: str = Field(description="UTC")
    finished_at: str | None = Field(description="When the last file was rewritten (UTC); null while some wait")
    erased_at_once: list[str]
    erased_later: list[LaterErasure] = Field(description="Empty once it is finished")
    left_to_operator: list[str] = Field(description="Copies that the service can't reach")
    revision: int = Field(description="The graph's revision, after the erasure")


class ErasureAnswer(Document):
    """The envelope of an erasure."""

    ok: Literal[True] = True
    data: ErasureData


def confirmation(owner: str) -> str:
    """Returns the text with which an owner confirms that everything is to be erased."""
    return f"erase everything of {owner}"


def subject_sha256(owner: str, scope: Scope, subject: str) -> str:
    """Returns the digest by which an erasure can be looked up without storing its subject."""
    return canonical_sha256([owner, scope, subject])


def schedule_of(requested_at: str, finished_at: str | None) -> dict[str, Any]:
    """Returns the fields of `ErasureData` that state what is erased when."""
    by = utc_text(instant_of(requested_at) + FILES_REWRITTEN_WITHIN)
    return {
        "erased_at_once": list(AT_ONCE),
        "erased_later": [] if finished_at else [LaterErasure(place=place, by=by) for place in LATER],
        "left_to_operator": list(BY_THE_OPERATOR),
    }


def files_due(waiting_since: str | None, last_finished: str | None, now: datetime) -> bool:
    """Decides whether to rewrite the files now, given the time since which the oldest erasure has been waiting."""
    if waiting_since is None:
        return False
    return last_finished is None or instant_of(last_finished) + FILES_REWRITTEN_EVERY <= now
