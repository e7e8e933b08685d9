"""Describes the key that a signed payment can buy at any operation, in place of the operation's answer. Pure."""

from typing import Any

from api.openapi.headers import PAID_PREFIX, header_refs

_KEY = {"$ref": "#/components/schemas/ClaimAnswer"}
_NAME = "key_bought"
_ANSWER = {
    "description": "A key, bought by the signed payment (`PAYMENT-SIGNATURE`) in place of the operation's answer",
    "content": {"application/json": {"schema": _KEY}},
    "headers": header_refs(
        "Cache-Control", "Link", "PAYMENT-RESPONSE", "RateLimit", "RateLimit-Policy", "X-Request-Id"
    ),
}


def add_purchases(document: dict[str, Any]) -> None:
    """Adds the answer that contains a key to every operation that accepts signed payments, in place."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path.startswith(PAID_PREFIX) and "402" in operation["responses"]:
                _add(operation["responses"])
    document["components"].setdefault("responses", {})[_NAME] = _ANSWER


def _add(responses: dict[str, Any]) -> None:
    if (created := responses.get("201")) is None:
        responses["201"] = {"$ref": f"#/components/responses/{_NAME}"}
        return
    created["description"] += ", or a key that a signed payment bought"
    for media in created["content"].values():
        media["schema"] = {"anyOf": [media["schema"], _KEY]}
