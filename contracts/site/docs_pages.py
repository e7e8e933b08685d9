"""Views of the pages under `/docs/`: the index, one page per operation, the errors, and the prices."""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from contracts.access.example_quote import EXAMPLE_PLAN
from contracts.access.plans import PlanOffer, load_calls
from contracts.access.rail import usd_of
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.connect.jsonrpc import PROTOCOL_ERRORS
from contracts.connect.key_server import KEY_MCP_PATH
from contracts.connect.server import MCP_PATH
from contracts.connect.tool_problems import tool_failures
from contracts.discovery.texts import shared_facts
from contracts.errors import RequestUnreadable
from contracts.problem_links import operation_docs_path, operations
from contracts.site.api_description import Operation
from contracts.site.mcp_errors import refusals
from contracts.site.page import Documents, Page
from contracts.site.shown import DESCRIPTION

DOCS_PATH = "/docs/"
PRICING_PATH = "/docs/pricing/"
ERRORS_PATH = "/docs/errors/"

FIRST = (
    "token_holders",
    "token_price",
    "capability_registry",
    "agent_access_quote",
    "agent_access_claim",
    "guardrail_check",
    "world_model_signal",
    "world_model_query",
)
"""The operations shown to first-time visitors."""

_LONGEST_DESCRIPTION = 160


def operation_pages() -> tuple[Page, ...]:
    """Returns one page for every operation of the committed description."""
    return tuple(
        Page(
            name=f"operation_{named.operation_id}",
            path=operation_docs_path(named.operation_id),
            title=named.summary,
            description=_first_sentence(named.description or named.summary),
            view=partial(operation_page, named.operation_id),
            shows=(DESCRIPTION,),
            drawn_as="operation",
        )
        for methods in operations().values()
        for named in methods.values()
    )


def operation_page(operation_id: str, documents: Documents) -> Mapping[str, Any]:
    """Returns everything in the description about one operation."""
    description = documents.read(DESCRIPTION)
    operation = description.operations.get(operation_id) if description else None
    call = None if operation is None else load_calls().get(f"{operation.method} {operation.path}")
    return {
        **_docs_facts(),
        "operation": operation,
        "command": operation.command(documents.installation.url(operation.path)) if operation else None,
        "call": call,
        "call_price": None if call is None else usd_of(call.price),
        "is_mcp": operation is not None and operation.path in (MCP_PATH, KEY_MCP_PATH),
        "sells_calls": documents.installation.rail.takes_signatures,
    }


def docs_page(documents: Documents) -> Mapping[str, Any]:
    """Returns all operations by group."""
    description = documents.read(DESCRIPTION)
    groups = description.groups if description else []
    return {
        **_docs_facts(),
        "groups": [(_anchor(tag["name"]), tag, operations) for tag, operations in groups],
        "first": [description.operations[id_] for id_ in FIRST] if description else [],
        "count": sum(len(operations) for _, operations in groups),
    }


def errors_page(documents: Documents) -> Mapping[str, Any]:
    """Returns every error code with the operations that answer with it; those of the MCP servers are separate."""
    description = documents.read(DESCRIPTION)
    problems = description.problems if description else []
    return {
        **_docs_facts(),
        "problems": problems,
        "unreadable": RequestUnreadable,
        "mcp_paths": (MCP_PATH, KEY_MCP_PATH),
        "mcp_refusals": tuple(refusals()),
        "mcp_protocol_errors": PROTOCOL_ERRORS,
        "tool_failures": tool_failures(documents.installation.app_url),
        "example": next((problem.example for problem, _ in problems if problem.code == "body_invalid"), None),
    }


def pricing_page(documents: Documents) -> Mapping[str, Any]:
    """Returns plans, single calls, limits and what is free."""
    description = documents.read(DESCRIPTION)
    operations = list(description.operations.values()) if description else []
    calls = load_calls()
    facts = shared_facts(documents.installation)
    return {
        **facts,
        **_docs_facts(),
        "thousand": [
            *((offer.name, usd, "if all are used") for offer in facts["offers"] if (usd := _per_thousand(offer))),
            *((call.name, f"{Decimal(usd_of(call.price)) * 1000:.2f}", None) for call in calls.values()),
        ],
        "calls": [(call, usd_of(call.price), _operation_at(operations, call.operation)) for call in calls.values()],
        "keyed": [
            (operation, usd_of(call.price) if (call := calls.get(f"{operation.method} {operation.path}")) else None)
            for operation in operations
            if operation.needs_key
        ],
        "free": sum(not operation.needs_key for operation in operations),
        "quota": REQUESTS_A_DAY,
        "example_plan": EXAMPLE_PLAN,
    }


def _docs_facts() -> dict[str, Any]:
    return {"operation_path": operation_docs_path, "docs": DOCS_PATH, "pricing": PRICING_PATH, "errors": ERRORS_PATH}


def _per_thousand(offer: PlanOffer) -> str | None:
    if offer.requests_per_day is None or offer.price.period_days is None:
        return None
    requests = offer.requests_per_day * offer.price.period_days
    return f"{Decimal(offer.price.amount) * 1000 / requests:.2f}"


def _operation_at(operations: list[Operation], method_and_path: str) -> Operation | None:
    return next((one for one in operations if f"{one.method} {one.path}" == method_and_path), None)


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def _first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
    return sentence if len(sentence) <= _LONGEST_DESCRIPTION else sentence[: _LONGEST_DESCRIPTION - 1].rstrip() + "…"
