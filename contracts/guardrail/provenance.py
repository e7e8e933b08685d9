"""Where the values of an action come from: what the person asked for, or only what untrusted content said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from contracts.guardrail.calls import flattened, one_line
from contracts.guardrail.values import identities

_TOKEN = re.compile(r"[a-z0-9][a-z0-9@._+-]*[a-z0-9]|[a-z0-9]")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can could do for from has have he her his i if in is it its me my no not of on or "
        "our please she so some that the their them then there they this to us was we were will with would you your "
        "true false null none",
    )
)
SHORTEST_QUOTE = 4


@dataclass(frozen=True)
class Provenance:
    """How the leaves of an action relate to the request and to untrusted content.

    `untrusted` and `unrequested` hold `(path, value)`: values found in untrusted content but not in the request, and
    values that name someone or something but are not in the request. Shares are of the distinct telling words of the
    arguments, 0 to 1; a share is None where there are no such words or nothing to compare with.
    """

    untrusted: tuple[tuple[str, str], ...]
    unrequested: tuple[tuple[str, str], ...]
    untrusted_share: float | None
    requested_share: float | None

    def fields(self) -> dict[str, Any]:
        """What conditions see under `provenance`."""
        return {
            "untrusted_values": len(self.untrusted),
            "unrequested_values": len(self.unrequested),
            "untrusted_share": self.untrusted_share,
            "requested_share": self.requested_share,
        }


NOTHING_TO_COMPARE = Provenance((), (), None, None)


def tokens(text: str) -> set[str]:
    """The telling words of a text, lower case."""
    return {found for found in _TOKEN.findall(text.lower()) if found not in _COMMON}


def compare(arguments: Any, request: str, untrusted: str) -> Provenance:
    """Compare the arguments (a tree, or text) with the request and with untrusted content."""
    if not request and not untrusted:
        return NOTHING_TO_COMPARE
    request_folded, untrusted_folded = _folded(request), _folded(untrusted)
    request_tokens, untrusted_tokens = tokens(request), tokens(untrusted)
    from_untrusted: dict[tuple[str, str], None] = {}
    unrequested: dict[tuple[str, str], None] = {}
    words: set[str] = set()
    for path, leaf in flattened(arguments):
        if leaf is None or isinstance(leaf, bool | dict | list):
            continue
        text = one_line(leaf)
        words |= tokens(text)
        for value in _values(text):
            folded = _folded(value)
            if folded and folded not in request_folded:
                if folded in untrusted_folded:
                    from_untrusted[path, value] = None
                if request:
                    unrequested[path, value] = None
        whole = _folded(text)
        if len(whole) >= SHORTEST_QUOTE and whole in untrusted_folded and whole not in request_folded:
            from_untrusted[path, text] = None
    outside = words - request_tokens
    return Provenance(
        tuple(from_untrusted),
        tuple(unrequested),
        len(outside & untrusted_tokens) / len(words) if words and untrusted else None,
        len(words & request_tokens) / len(words) if words and request else None,
    )


def _values(text: str) -> Iterator[str]:
    yielded = False
    for _, value in identities(text):
        yielded = True
        yield value
    if not yielded and re.fullmatch(r"[#$€£]?[\w.-]*\d[\w.-]*", text) and len(text) >= 3:
        yield text


def _folded(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()
