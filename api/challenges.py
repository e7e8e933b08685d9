"""Makes the answers to requests without a key: 401, and 402 with offers. The only place that does.

`links` of the application says where such a client goes on, by what is there.
"""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request

from contracts.access.offers import REQUIRED_HEADER, header_of
from contracts.access.plans import PLANS_PATH, QUOTE_PATH
from contracts.access.rail import rail_of
from contracts.access.trial_offer import TRIAL_PATH
from contracts.errors import PaymentRequired, Unauthorized
from contracts.settings import Settings

BEARER = {"WWW-Authenticate": 'Bearer realm="svc"'}

Links = Callable[[Request], dict[str, str]]


def set_links(app: FastAPI, links: Links) -> None:
    """Sets what every 401 and 402 of the application links to."""
    app.state.challenge_links = links


def unauthorized(request: Request) -> Unauthorized:
    """Returns the one refusal of every request whose key is missing, wrong, expired or revoked."""
    return Unauthorized(
        "Send a valid API key, as a Bearer token or in X-Api-Key.", headers=BEARER, extensions=_links(request)
    )


def payment_required(
    request: Request,
    offered: dict[str, Any],
    detail: str,
    *,
    problem: type[PaymentRequired] = PaymentRequired,
    headers: dict[str, str] | None = None,
) -> PaymentRequired:
    """Returns the x402 challenge of a request; `offered` is its `PaymentRequired` document."""
    return problem(
        detail,
        headers={**BEARER, REQUIRED_HEADER: header_of(offered), **(headers or {})},
        extensions=_links(request),
    )


def _links(request: Request) -> dict[str, object]:
    links: Links | None = getattr(request.app.state, "challenge_links", None)
    found = {} if links is None else links(request)
    return {"links": found} if found else {}


def challenge_links(settings: Settings) -> dict[str, str]:
    """Returns where a client without a key goes on: what can be bought, where anything can be, and how to try."""
    base_url = settings.public_base_url
    trial = {"trial": base_url + TRIAL_PATH} if settings.trial_keys_per_day else {}
    if rail_of(settings).missing:
        return trial
    return {"plans": base_url + PLANS_PATH, "quote": base_url + QUOTE_PATH, **trial}
