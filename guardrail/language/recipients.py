"""Decides whether a message also goes to somebody whom the person who asked for it didn't name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guardrail.language.lexicon import Token, tokens_of

MOST_ADDRESSES = 20
"""Number of addresses up to which a message is compared with a request."""
MOST_WORDS = 300
_ADDRESS = re.compile(r"[\w.+'-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}\Z")
_SEVERAL = frozenset(
    (
        *("team", "teams", "everyone", "everybody", "all", "both", "attendees", "participants", "cc", "bcc", "copy"),
        *("list", "group", "people", "them", "others", "colleagues", "department", "staff", "members", "contacts"),
        *("forward", "share", "customers", "clients", "recipients", "anyone", "who", "whoever", "thread", "loop"),
        *("partners", "suppliers", "board", "family", "friends", "folks", "guests", "parents", "each", "every", "also"),
        *("reply", "respond", "answer", "invite", "alle", "allen", "kollegen", "kopie", "gruppe", "verteiler", "auch"),
        *("equipe", "équipe", "tous", "copie", "aussi", "equipo", "todos", "copia", "también", "antworte", "réponds"),
    )
)
"""Words of requests that may reach more people than they name."""
_JOINS = frozenset(("and", "or", "plus", "with", "und", "oder", "mit", "et", "ou", "avec", "y", "o", "e", "con"))
_SHORTEST_NAME = 3


def is_stranger(address: str, addresses: Sequence[str], request: str) -> bool:
    """Decides whether an address belongs to nobody in the request, although the request names one other recipient of
    the message, at another domain: "Send Mara the agenda"."""
    if _ADDRESS.match(address) is None:
        return False
    words = tokens_of(request)
    if len(words) > MOST_WORDS or any(word.text in _SEVERAL for word in words) or _names_of(address, words):
        return False
    domain, named = _domain(address), False
    for other in addresses:
        names = _names_of(other, words) if _ADDRESS.match(other) is not None else []
        if not names:
            continue
        if _domain(other) == domain or any(_joins_another(words, number) for number in names):
            return False
        # Other words that an address contains name no person: "send the support numbers".
        capitalised = any(request[words[number].start].isupper() for number in names)
        named = named or capitalised or other.lower() in request.lower()
    return named


def _domain(address: str) -> str:
    return address.rpartition("@")[2].lower()


def _names_of(address: str, words: Sequence[Token]) -> list[int]:
    """Returns the numbers of the words that name the owner of an address, also as in `bmiller` for Miller."""
    local, _, domain = address.lower().partition("@")
    parts = {*re.split(r"[^\w]+|_", local), *domain.split(".")[:-1]}
    return [number for number, word in enumerate(words) if _names(word.text, local, parts)]


def _names(word: str, local: str, parts: set[str]) -> bool:
    return word in parts if len(word) <= _SHORTEST_NAME else word in parts or word in local


def _joins_another(words: Sequence[Token], number: int) -> bool:
    """Decides whether another name is joined to one: "Mara and Bob", "Mara, Bob", "Mara Lind and Bob"."""
    following = words[number + 1 : number + 3]
    return any(word.text in _JOINS for word in (*words[max(0, number - 1) : number], *following)) or any(
        word.after in (",", "&", "+", "/") for word in following
    )
