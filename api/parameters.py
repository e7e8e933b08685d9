"""Parameters that several rooms accept: the Idempotency-Key, and the check for repeated query parameters."""

from collections import Counter
from typing import Annotated

from fastapi import Header, Request

from api.openapi.headers import header_refs
from contracts.errors import ParameterInvalid
from contracts.idempotency import IDEMPOTENCY_HEADER, LONGEST_IDEMPOTENCY_KEY, SHORTEST_ANONYMOUS_KEY
from contracts.problems import MOST_ERRORS

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias=IDEMPOTENCY_HEADER,
        min_length=1,
        max_length=LONGEST_IDEMPOTENCY_KEY,
        description="A retry with the same key and body gets the same answer; with another body it is refused. The key "
        "is scoped to the quote of a claim, otherwise to the owner of the caller's API key. Without an API key, "
        f"registrations and capsules need one of at least {SHORTEST_ANONYMOUS_KEY} characters, such as a random UUID",
    ),
]

REPLAYED_HEADER = "Idempotent-Replayed"
REPLAYED_HEADERS = header_refs(REPLAYED_HEADER)
"""OpenAPI description of the header that marks a repeated answer."""


def replayed_header(replayed: bool) -> dict[str, str]:
    """Returns the header that marks a repeated answer; nothing for a first one."""
    return {REPLAYED_HEADER: "true"} if replayed else {}


def refuse_repeated(request: Request) -> None:
    """Raises `ParameterInvalid` if a parameter was sent more than once, because it is unclear which one was meant."""
    counts = Counter(name for name, _ in request.query_params.multi_items())
    repeated = {name: f"/query/{name}" for name, count in sorted(counts.items()) if count > 1}
    if len(request.headers.getlist(IDEMPOTENCY_HEADER)) > 1:
        repeated[IDEMPOTENCY_HEADER] = f"/header/{IDEMPOTENCY_HEADER}"
    if repeated:
        raise ParameterInvalid(
            f"Given more than once: {', '.join([*repeated][:MOST_ERRORS])}.",
            errors=[(place, "given more than once") for place in repeated.values()],
        )
