"""Defines the requests of a paired session to the rest of the service. The answers are those of the HTTP routes."""

from typing import Annotated

from pydantic import ConfigDict, Field

from contracts.connect.messages import SessionArguments
from contracts.guardrail import GuardrailRequest
from contracts.world.read_api import GraphQueryRequest


class GuardrailCheckArguments(SessionArguments, GuardrailRequest):
    """Arguments of `svc_guardrail_check`."""

    @property
    def request(self) -> GuardrailRequest:
        """Returns the request without the token."""
        return GuardrailRequest(action=self.action, severity=self.severity, context=self.context)


class WorldQueryArguments(SessionArguments, GraphQueryRequest):
    """Arguments of `svc_world_query`. With only the token, it returns all nodes, ordered by id."""

    model_config = ConfigDict(alias_generator=str)

    @property
    def request(self) -> GraphQueryRequest:
        """Returns the query without the token."""
        return GraphQueryRequest.model_validate(self.model_dump(exclude={"session_token"}), by_name=True)


class IntakeStatusArguments(SessionArguments):
    """Arguments of `svc_intake_status`."""

    intake_id: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="From the answer of POST /api/intake; this session's intake if omitted"
    )
