"""Defines arguments and results of connect's tools, in snake_case on the wire. A client's text is never trusted."""

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from contracts.access.recovery import RecoveryProof
from contracts.addresses import AskedAddress
from contracts.base import Timestamp
from contracts.connect.progress import ProgressStatus, StepReport
from contracts.connect.setup_plan import ConnectPlan, OperatingSystem, ToolModel
from contracts.intake.requests import Assistant

LONGEST_AGENT = 200
LONGEST_QUESTION = 1000

PairingCode = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "string",
            "description": "The code from the user: 6 to 64 characters of A-Z, a-z, 0-9, _ and -. Works once.",
        }
    ),
    # There is no pattern, because malformed codes must be refused like unknown ones, and the error must not repeat
    # them.
    Field(repr=False),
]
SessionToken = Annotated[str, Field(repr=False, max_length=200, description="From svc_connect_handshake")]


class HandshakeArguments(ToolModel):
    """Arguments of `svc_connect_handshake`."""

    pairing_code: PairingCode
    agent: Annotated[str, Field(max_length=LONGEST_AGENT, pattern=r"^[^\x00-\x1f\x7f]*$")] | None = Field(
        default=None, description="The local operator's name"
    )


class HandshakeResult(ToolModel):
    """A session that was just opened. No other answer contains its token."""

    session_token: str = Field(repr=False, description="Send it in the arguments of every other tool; keep it secret")
    expires_at: Timestamp = Field(description="When the session ends (UTC); it can't be extended")
    profile: str = Field(description="Owner of the session, as `profile:<id>`")
    next_tool: Literal["svc_connect_plan"] = "svc_connect_plan"


class SessionArguments(ToolModel):
    """Arguments of `svc_connect_status` and `svc_connect_close`."""

    session_token: SessionToken


class PlanArguments(SessionArguments):
    """Arguments of `svc_connect_plan`. A missing one keeps the earlier choice or has its default."""

    assistant: Assistant | None = None
    os: OperatingSystem | None = Field(default=None, description="Operating system of the user's machine")
    runtime_profile: Annotated[str, Field(max_length=60)] | None = Field(
        default=None, description="A runtime profile of the intake"
    )


class PlanResult(ToolModel):
    """The plan with its progress."""

    expires_at: Timestamp = Field(description="When the session ends (UTC)")
    plan: ConnectPlan
    progress: ProgressStatus


class ReportStepArguments(StepReport):
    """Arguments of `svc_connect_report_step`."""

    session_token: SessionToken
    intake_id: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="The `id` in the answer of POST /api/intake, if the step registered the user"
    )

    @property
    def report(self) -> StepReport:
        """Returns the report without token and intake."""
        return StepReport(step_id=self.step_id, outcome=self.outcome, detail=self.detail, evidence=self.evidence)


class ReportStepResult(ToolModel):
    """The progress of the plan after a report."""

    expires_at: Timestamp = Field(description="When the session ends (UTC)")
    progress: ProgressStatus
    intake_id: str | None = Field(description="The intake that the session registered")


class SessionSummary(ToolModel):
    """The main facts about a session."""

    profile: str = Field(description="Owner of the session, as `profile:<id>`")
    agent: str | None = Field(description="The local operator's name")
    created_at: Timestamp
    expires_at: Timestamp = Field(description="When the session ends (UTC); it can't be extended")
    intake_id: str | None = Field(description="The intake that the session registered")
    revision: int = Field(description="Number of changes since the session opened")


class StatusResult(ToolModel):
    """The current state of a session. It is enough to continue after a lost context."""

    session: SessionSummary
    progress: ProgressStatus | None = Field(description="Null if no plan was requested yet")
    next_tool: Literal["svc_connect_plan", "svc_connect_report_step", "svc_connect_close"]


class GraphArguments(SessionArguments):
    """Arguments of `svc_connect_graph`: a key, or an address and, in a second call, its signature."""

    api_key: Annotated[str, Field(max_length=200)] | None = Field(
        default=None,
        repr=False,
        description="An API key. Better: send it as the request's Bearer token, where no model sees it",
    )
    address: AskedAddress | None = Field(
        default=None, description="Without a key: the address whose graph it is; the answer contains what to sign"
    )
    issued_at: int | None = Field(default=None, description="Of the signature, from the answer to the first call")
    proof: RecoveryProof | None = Field(default=None, description="The address's signature of `typed_data`")


class GraphResult(ToolModel):
    """The owner of the graph that the session sees now, or the message to sign first."""

    owner: str | None = Field(description="Owner of the graph for `svc_world_query`; null before the signature")
    by: Literal["key", "signature"] | None = Field(description="What opened it; null before the signature")
    typed_data: dict[str, Any] | None = Field(
        default=None, description="EIP-712, for a wallet: return the signature as `proof` with `issued_at`"
    )
    issued_at: int | None = Field(default=None, description="Unix seconds; the signature is valid for ten minutes")
    expires_at: Timestamp = Field(description="When the session and its access to the graph end (UTC)")


class TalkArguments(SessionArguments):
    """Arguments of `svc_connect_talk`."""

    question: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]


class CloseResult(ToolModel):
    """A closed session."""

    closed: Literal[True] = True
    closed_at: Timestamp
