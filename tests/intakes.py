"""A body for each lane, and a service that accepts them."""

from __future__ import annotations

from typing import Any

import httpx
from keyed_service import KeyedService

INTAKE = "/api/intake"

AGENT: dict[str, Any] = {
    "lane": "agent",
    "agentId": "agent-seven",
    "serviceOffer": "Summaries with sources",
    "endpoint": "https://agent.example:8443/a2a?x=%20y",
    "agentContact": "agent-contact-value@reach.example",
    "consent": True,
}
HUMAN: dict[str, Any] = {
    "lane": "human",
    "name": "Ada Human-Name",
    "useCase": "Keep my goals together",
    "telegram": "@telegram-handle-value",
    "twitter": "@twitter-handle-value",
    "email": "human-email-value@reach.example",
    "worldSources": ["notes"],
    "consent": {"accepted": True, "at": "2026-01-01T10:00:00+02:00", "policyVersion": "2026-01"},
}
ENTERPRISE: dict[str, Any] = {
    "lane": "enterprise",
    "orgName": "Example Works",
    "contactFullName": "Grace Full-Name",
    "contactName": "contact-name-value",
    "contactRole": "Operations-role-value",
    "contactEmail": "contact-email-value@reach.example",
    "telegram": "@enterprise-handle-value",
    "useCase": "One graph of our contracts",
    "consent": True,
}
LANES = (AGENT, HUMAN, ENTERPRISE)

CONTACT_VALUES = (
    "agent-contact-value",
    "telegram-handle-value",
    "twitter-handle-value",
    "human-email-value",
    "contact-name-value",
    "contact-email-value",
    "enterprise-handle-value",
)
"""Must appear in no answer, table, log or file except the contact table."""

PERSON_VALUES = ("Ada Human-Name", "Operations-role-value")
"""Likewise: shown only to the operator."""


def register(service: KeyedService, body: Any, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    (answer,) = service.ask(("POST", INTAKE, named, {"json": body}))
    return answer


def get(service: KeyedService, path: str) -> httpx.Response:
    (answer,) = service.ask(("GET", path, {}, {}))
    return answer
