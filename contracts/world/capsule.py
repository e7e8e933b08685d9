"""Builds onboarding capsules: small graphs for newcomers without a key. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from contracts.base import Document, Listed
from contracts.world.graph_documents import DecisionFields, OneLine, one_line
from contracts.world.proposal import LONGEST_TITLE, Actor, EdgeDraft, NodeDraft, Proposal
from contracts.world.records import Visibility

SOURCE = "onboarding"
OWNER_PREFIX = "capsule:"

Line = Annotated[
    str,
    StringConstraints(min_length=1, max_length=LONGEST_TITLE, strip_whitespace=True),
    OneLine,
    Field(json_schema_extra={"pattern": r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"}),
]

LineOrNothing = Annotated[
    str,
    StringConstraints(max_length=LONGEST_TITLE, strip_whitespace=True),
    AfterValidator(lambda line: one_line(line) if line else None),
    Field(json_schema_extra={"pattern": r"^[^\x00-\x1f\x7f-\x9f]*$"}),
]
"""An optional line. A blank one becomes None and counts as omitted."""


ClaimTokenState = Literal["shown", "no_longer_shown", "used"]


class WorldModelCreateRequest(Document):
    """The identity of the founder, and the values it holds."""

    owner_id: Line = Field(description="Your own name for the owner: a label without proof")
    name: Line
    is_ai: bool | None = Field(
        default=None, strict=True, alias="isAI", description="Whether an agent starts, or a person"
    )
    display_name: LineOrNothing | None = None
    visibility: Visibility = Field(default="private", description="`public` waits for an operator")
    values: Listed[Line] = Field(default=[], max_length=32)


class CapsuleIdentity(Document):
    """The identity of the capsule's founder."""

    node_id: str
    type: Literal["Agent", "Person"]
    name: str
    display_name: str
    owner_id: str = Field(description="The label that was sent")


class CapsuleValue(Document):
    """One value, a node of FOUNDATION."""

    node_id: str
    title: str


class CapsuleStep(Document):
    """One step of the plan, a task."""

    step: int
    node_id: str
    title: str
    how: str


class CapsuleReview(Document):
    """The review that decides whether the capsule may become public."""

    requested: Visibility
    state: Literal["not_required", "pending"]
    decision: int | None = Field(description="Number of the audit's entry that waits for an operator")


class CapsuleLinks(Document):
    """Links for the next steps."""

    claim: str = Field(description="POST the claim token here with a key to attach the capsule to that key")
    query: str
    signal: str
    plans: str
    schema_: str = Field(alias="schema")


class CapsuleAnswer(DecisionFields):
    """A new capsule."""

    ok: Literal[True] = True
    id: str
    visibility: Visibility = Field(description="`private` until an operator approves a request to be public")
    identity: CapsuleIdentity
    values: list[CapsuleValue]
    plan: list[CapsuleStep]
    review: CapsuleReview
    links: CapsuleLinks
    claim_token: str | None = Field(
        description="Attaches the capsule to a key, once. Only in the first answer and its replays within ten minutes; "
        "null in later replays, and once it was used"
    )
    claim_token_state: ClaimTokenState = Field(
        description="`no_longer_shown`: the replay came too late to repeat the token, which is still valid"
    )


class CapsuleClaimRequest(Document):
    """The one-time token of a capsule."""

    claim_token: str = Field(min_length=1, max_length=200)


class CapsuleClaimResult(DecisionFields):
    """The capsule after the caller claimed it."""

    id: str


class CapsuleClaimAnswer(Document):
    """The envelope of a claimed capsule."""

    ok: Literal[True] = True
    data: CapsuleClaimResult


STEPS = (
    ("values", "Read your values again", "Query the nodes of FOUNDATION and say what is missing by a signal."),
    ("key", "Get a key", "Take a plan of the catalogue, pay its quote and claim it; or ask the operator for one."),
    ("claim", "Attach this capsule to your key", "Send the claim token with your key to `links.claim`, once."),
    ("connect", "Connect your runtime", "Pair with a fresh code over MCP and follow the plan that it gives."),
    ("signal", "State your first goal", "Send a signal of type Goal that your plan can pursue."),
)
"""The plan of every capsule: name, title, how."""


def owner_of(capsule_id: str) -> str:
    """Returns the owner of the capsule's nodes until a key's owner claims them."""
    return OWNER_PREFIX + capsule_id


def capsule_proposal(request: WorldModelCreateRequest, capsule_id: str, visibility: Visibility) -> Proposal:
    """Returns the capsule's graph: identity, values and plan. The same request and id always give the same graph.

    A public identity contains only the display name, not the owner's other names.
    """
    root = f"capsule/{capsule_id}"
    shown = request.display_name or request.name
    identity = NodeDraft(
        id=root,
        type=_type(request),
        title=shown,
        properties={"name": request.name, "owner_label": request.owner_id} if visibility == "private" else {},
        visibility=visibility,
    )
    values = [
        NodeDraft(
            id=f"{root}/value/{number}",
            type="Value",
            title=value,
            properties={"statement": value},
            visibility=visibility,
        )
        for number, value in enumerate(dict.fromkeys(request.values), 1)
    ]
    goal = NodeDraft(id=f"{root}/goal", type="Goal", title="A world model of its own", visibility=visibility)
    project = NodeDraft(id=f"{root}/plan", type="Project", title="Next steps", visibility=visibility)
    tasks = [
        NodeDraft(
            id=f"{root}/step/{name}",
            type="Task",
            title=title,
            properties={"step": number, "description": how},
            visibility=visibility,
        )
        for number, (name, title, how) in enumerate(STEPS, 1)
    ]
    ties = [(root, "HOLDS", value.id) for value in values]
    ties += [(root, "PURSUES", goal.id), (project.id, "ACHIEVES", goal.id), (project.id, "ASSIGNED_TO", root)]
    ties += [(project.id, "GOVERNED_BY", value.id) for value in values]
    ties += [(task.id, "PART_OF", project.id) for task in tasks]
    ties += [(task.id, "PRECEDES", after.id) for task, after in pairwise(tasks)]
    return Proposal(
        actor=Actor("capsule", owner_of(capsule_id)),
        source=SOURCE,
        nodes=(identity, *values, goal, project, *tasks),
        edges=tuple(EdgeDraft(source=s, type=t, target=o, visibility=visibility) for s, t, o in ties),
    )


def identity_of(request: WorldModelCreateRequest, capsule_id: str) -> CapsuleIdentity:
    """Returns the capsule's identity for the answer."""
    return CapsuleIdentity(
        node_id=f"capsule/{capsule_id}",
        type=_type(request),
        name=request.name,
        display_name=request.display_name or request.name,
        owner_id=request.owner_id,
    )


def values_of(proposal: Proposal) -> list[CapsuleValue]:
    """Returns the capsule's values for the answer."""
    return [CapsuleValue(node_id=draft.id, title=draft.title) for draft in proposal.nodes if draft.type == "Value"]


def plan_of(proposal: Proposal) -> list[CapsuleStep]:
    """Returns the capsule's plan for the answer."""
    return [
        CapsuleStep(
            step=draft.properties["step"],
            node_id=draft.id,
            title=draft.title,
            how=draft.properties["description"],
        )
        for draft in proposal.nodes
        if draft.type == "Task"
    ]


def links_of(base_url: str) -> CapsuleLinks:
    """Returns the links for the next steps at this installation."""
    return CapsuleLinks(
        claim=f"{base_url}/api/v2/world-model/capsules/claim",
        query=f"{base_url}/api/v2/world-model/query",
        signal=f"{base_url}/api/v2/world-model/signal",
        plans=f"{base_url}/api/agent-access/plans",
        schema_=f"{base_url}/api/v2/schema",
    )


def _type(request: WorldModelCreateRequest) -> Literal["Agent", "Person"]:
    return "Person" if request.is_ai is False else "Agent"
