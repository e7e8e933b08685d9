"""The committed OpenAPI description, as it is published for one address. `python -m api.openapi` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OPENAPI_FILE = Path(__file__).with_name("openapi") / "openapi.json"
EXAMPLES_DIR = OPENAPI_FILE.with_name("examples")
PROBLEM_EXAMPLES = EXAMPLES_DIR / "problems.json"

LONGEST_LIST = 3
LARGEST_WHOLE_BYTES = 4_096


def description_for(base_url: str) -> bytes:
    """The description with `servers` naming `base_url`."""
    description = json.loads(OPENAPI_FILE.read_text())
    description["servers"] = [{"url": base_url}]
    return json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()


def shortened(body: Any) -> Any:
    """A large body with its lists cut to a few items, so that it shows rather than fills."""
    if len(json.dumps(body)) <= LARGEST_WHOLE_BYTES:
        return body
    return _cut(body)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_cut(each) for each in value[:LONGEST_LIST]]
    return value
