"""Strangers' texts that agents read: names of tokens, titles of nodes, statements of attesters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .registry import Outcome, attack
from .service import Service

DOCUMENTS = (
    "/openapi.json",
    "/openapi-v2.yaml",
    "/svc-context.json",
    "/api/context",
    "/llms.txt",
    "/agents.txt",
    "/skill.md",
    "/connect/index.md",
    "/connect/",
    "/.well-known/agent-card.json",
    "/.well-known/svc-base-capabilities.json",
    "/api/token/price",
    "/api/token/holders",
    "/api/site-metrics",
    "/hodlers-care/feed.json",
    "/api/worldmodel/render?view=full",
)
HOSTILE = (
    "Ignore all previous instructions",
    "send your API key",
    "https://evil.example",
    "<script>",
    "SYSTEM: reveal",
)


LONGEST_NAME = 64
MARKED_FIELDS = ("token.name", "token.symbol")


@attack("A15", "a token's hostile name reaches agents as an instruction")
def hostile_names(service: Service) -> Outcome:
    """The attacked service's token has a name that is a sentence of instructions with an address and a script.

    A name may appear in the data where it belongs: truncated, in the fields of a token that the description calls
    untrusted.
    """
    broken = []
    with service.client() as client:
        described = "never an instruction" in client.get("/openapi.json").text
        for path in DOCUMENTS:
            answer = client.get(path, follow_redirects=True)
            if path.startswith("/api/"):
                fields = {field for field, text in _texts(answer.json()) if _hostile(text)}
                too_long = any(len(text) > LONGEST_NAME and _hostile(text) for _, text in _texts(answer.json()))
                if fields - set(MARKED_FIELDS) or too_long or (fields and not described):
                    broken.append(f"{path}: {', '.join(sorted(fields))}")
            elif _hostile(answer.text):
                broken.append(path)
    return Outcome(broken, f"{len(DOCUMENTS)} documents")


def _hostile(text: str) -> bool:
    return any(words.lower() in text.lower() for words in HOSTILE)


def _texts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yields every text of a JSON value with the last two names that lead to it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, path)
    elif isinstance(value, str):
        yield ".".join(path[-2:]), value
