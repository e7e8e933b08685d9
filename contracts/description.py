"""The committed OpenAPI description, as it is published for one address. `python -m api.openapi` writes it."""

from __future__ import annotations

import json
from pathlib import Path

OPENAPI_FILE = Path(__file__).with_name("openapi") / "openapi.json"


def description_for(base_url: str) -> bytes:
    """The description with `servers` naming `base_url`."""
    description = json.loads(OPENAPI_FILE.read_text())
    description["servers"] = [{"url": base_url}]
    return json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()
