"""Defines the HTTP form of a proposal that waits for agreement, and of its owner's answer."""

from typing import Any, Literal

from pydantic import Field

from contracts.base import Document
from contracts.world.graph_documents import StageDocument

PENDING_PATH = "/api/v2/world-model/pending/{decision}"
LONGEST_CLIENT = 200


class PendingStatement(Document):
    """One node that would be written."""

    id: str
    type: str
    title: str
    properties: dict[str, Any]
    visibility: Literal["public", "private"]


class PendingAct(Document):
    """A correction, retraction or confirmation that would be written."""

    kind: Literal["corrects", "retracts", "confirms"]
    id: str = Field(description="The node to which it applies")
    reason: str


class PendingState(Document):
    """A proposal that waits, or its outcome."""

    decision: int = Field(description="Number of the decision that lets it wait")
    state: Literal["waiting", "settled"] = Field(description="`settled`: somebody agreed or declined")
    by: Literal["owner", "operator"] | None = Field(
        description="Whose agreement it waits for in the graph's present state: the owner's, or the operator's for "
        "public content and for anything that a stage would now refuse; null once it is settled"
    )
    decided_at: str = Field(description="Since when it waits (UTC)")
    settled_by: int | None = Field(description="Number of the decision that settled it")
    source: str = Field(description="Where the statement comes from")
    statements: list[PendingStatement] = Field(description="The first nodes that it would write")
    acts: list[PendingAct]


class PendingWriteAnswer(Document):
    """The envelope of a proposal that waits."""

    ok: Literal[True] = True
    data: PendingState


class ConfirmRequest(Document):
    """The owner's answer to a proposal that waits."""

    confirm: bool = Field(strict=True, description="true: write it; false: withdraw it for good")
    client: str = Field(
        default="",
        max_length=LONGEST_CLIENT,
        pattern=r"^[^\x00-\x1f\x7f]*$",
        description="The program through which the owner answers. The audit records it as a claim",
    )


class ConfirmResult(Document):
    """The result of the proposal."""

    decision: int = Field(description="Number of the decision that settled it, or of the one that lets it wait")
    verdict: Literal["approved", "rejected", "escalated"] = Field(
        description="approved: written; rejected: declined, or a stage now refuses it and it keeps waiting; escalated: "
        "it keeps waiting, because an operator must agree"
    )
    stages: list[StageDocument]
    revision: int = Field(description="The graph's revision after it")


class ConfirmAnswer(Document):
    """The envelope of an answered proposal."""

    ok: Literal[True] = True
    data: ConfirmResult


def pending_url(base_url: str, decision: int) -> str:
    """Returns the address of a proposal that waits."""
    return base_url + PENDING_PATH.format(decision=decision)
