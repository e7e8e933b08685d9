"""Builds the refusals of requests without a valid key: 401, and 402 with offers. No other module builds them."""

from typing import Any

from contracts.access.offers import REQUIRED_HEADER, header_of
from contracts.errors import PaymentRequired, Unauthorized

BEARER = {"WWW-Authenticate": 'Bearer realm="svc"'}


def unauthorized() -> Unauthorized:
    """Returns the refusal of any request whose key is missing, wrong, expired or revoked; it is the same for all."""
    return Unauthorized("Send a valid API key, as a Bearer token or in X-Api-Key.", headers=BEARER)


def payment_required(
    offered: dict[str, Any],
    detail: str,
    *,
    problem: type[PaymentRequired] = PaymentRequired,
    headers: dict[str, str] | None = None,
) -> PaymentRequired:
    """Returns the x402 challenge of a request; `offered` is its `PaymentRequired` document."""
    return problem(detail, headers={**BEARER, REQUIRED_HEADER: header_of(offered), **(headers or {})})
