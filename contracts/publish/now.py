"""Builds the small document that tells page scripts what is served now, so that pages need not contain it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from contracts.publish.projection import PAGE_GROUP
from contracts.publish.registry import PROJECTIONS

Entry = tuple[str, datetime | None, str | None]
"""The generation of a document's newest inputs, the end of its freshness, and the reason why it is already stale."""

_PAGES = {
    row.path.removesuffix("index.html"): row.path
    for row in PROJECTIONS
    if row.group == PAGE_GROUP and row.markdown is not None and row.collection is None
}
"""The published path of every page by its address, without pages of a collection, which change only with the code."""

_TITLES = {row.path: row.summary for row in PROJECTIONS if row.freshness is not None}


def now_document(
    generation: str, created_at: datetime, block: int | None, entries: Mapping[str, Entry]
) -> dict[str, Any]:
    """Returns the served generation, the block of the newest holder list, the freshness of every document that ages,
    and the generation in which each page last changed."""
    return {
        "generation": generation,
        "createdAt": created_at,
        "block": block,
        "documents": {
            path: {"title": title, "staleAfter": entries[path][1], "staleReason": entries[path][2]}
            for path, title in _TITLES.items()
            if path in entries
        },
        "pages": {path: entries[file][0] for path, file in sorted(_PAGES.items()) if file in entries},
    }
