"""Describes the answers to a request for a range of bytes, once for all published documents."""

from itertools import chain
from typing import Any

from api.openapi.headers import header_refs
from api.responses import problem_answer
from contracts.errors import RangeNotSatisfiable
from contracts.publish.registry import PROJECTIONS

FOLDERS = ("/data/", "/assets/")

_PART = {"schema": {"type": "string", "format": "binary"}}


def add_ranges(document: dict[str, Any]) -> None:
    """Adds the 206 and the 416 to the operations that send a file unchanged, in place."""
    published = set(chain.from_iterable(row.paths for row in PROJECTIONS))
    for path, operations in document["paths"].items():
        if path in published or path.startswith(FOLDERS):
            answers = operations["get"]["responses"]
            answers["206"] = {
                "description": "The requested range",
                "headers": header_refs("Content-Range"),
                "content": dict.fromkeys(answers["200"]["content"], _PART),
            }
            of_files = header_refs("Last-Modified") if path.startswith(FOLDERS) else {}
            for status, fields in {"200": header_refs("Accept-Ranges"), "206": {}, "304": {}}.items():
                answers[status]["headers"] = of_files | fields | answers[status].get("headers", {})
            answers["416"] = problem_answer(RangeNotSatisfiable)
