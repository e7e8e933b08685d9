"""A process that publishes and serves with the `contracts` that come first on its path, and prints as JSON what its
documents contain and what is wrong with them. See `tests/test_one_change.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx
from addressed_service import addressed_service
from light_encoders import compress_lightly
from patience import HANG_S

from cli.docs import gather
from contracts.discovery.checks.judge import defects_of

if __name__ == "__main__":
    compress_lightly()
    with addressed_service(Path(sys.argv[1])) as (_, base_url), httpx.Client(timeout=HANG_S) as client:
        evidence = gather(client, base_url)
    bodies = {path: answer.text for path, answer in {**evidence.linked_documents, **evidence.documents}.items()}
    print(json.dumps({"bodies": bodies, "defects": [each.what for each in defects_of(evidence)]}))
