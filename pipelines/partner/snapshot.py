"""Decodes the partner's snapshot. Pure; `source.py` makes the request."""

from datetime import datetime
from typing import Any

import msgspec

from contracts.market import Refusal
from contracts.outside_texts import outside_value
from contracts.partner import MAX_TEXT, PartnerAnswer, bounds_broken, gives_away, is_ahead, own_time, says_error


def decode(answer: Any, *, chain_id: int, secret: str | None, now: datetime) -> PartnerAnswer | Refusal:
    """Returns the object in an answer, or in its `data`. Refuses the whole answer if it repeats our credential."""
    if not isinstance(answer, dict) or says_error(answer):
        return Refusal("error_answer")
    inner = answer.get("data")
    snapshot = inner if isinstance(inner, dict) else answer
    if says_error(snapshot):
        return Refusal("error_answer")
    if not snapshot:
        return Refusal("empty_answer")
    if broken := bounds_broken(answer):
        return Refusal(broken)
    if secret and any(gives_away(text, secret) for text in (as_text(answer), *_texts(answer))):
        return Refusal("credential_echoed")
    named = snapshot.get("chainId", snapshot.get("chain_id", chain_id))
    if str(named).removeprefix("eip155:") != str(chain_id):
        return Refusal("other_chain")
    observed_at = own_time(snapshot) or own_time(answer)
    if is_ahead(observed_at, now):
        return Refusal("time_ahead")
    return PartnerAnswer(outside_value(snapshot, MAX_TEXT), observed_at)


def as_text(snapshot: dict[str, Any]) -> str:
    """Renders a snapshot as JSON: keys sorted, numbers as received, without spaces."""
    return msgspec.json.Encoder(order="deterministic", decimal_format="number").encode(snapshot).decode()


def _texts(value: Any) -> list[str]:
    """Returns every text in an answer, including names.

    A search in the bytes would not do: JSON escapes could hide the credential.
    """
    texts, pending = [], [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            pending += [*part, *part.values()]
        elif isinstance(part, list):
            pending += part
    return texts
