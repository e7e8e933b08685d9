"""A new user imports a folder of notes, asks ten questions and corrects one answer, with the commands of the README."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from keyed_service import bearer, serving
from typer.testing import CliRunner

from cli.app import app
from contracts.access.tiers import Tier
from warehouse.access.keys import create_key

README = Path(__file__).parents[3] / "README.md"

NOTES = {
    "lighthouse.md": """# Lighthouse

Grace Hopper leads Lighthouse. The launch is planned for 2026-09-01.

- [ ] Write the press release
- [x] Choose a hosting company

Depends on: Harbour

We decided to host the archive in Zurich, because the contract there is cheaper.
""",
    "people/grace.md": """# Grace Hopper

Grace Hopper works at Acme. Her birthday is on 9 December.
""",
    "office.md": """# Office

The office moves to the old brewery in May.

| supplier | item | price |
|---|---|---|
| Oakwood | desks | 4200 EUR |

The wifi password hangs beside the kitchen door.
""",
    "reading.md": """# Reading

Project Harbour: a store for scanned letters.

I want to read the biography of Hedy Lamarr before the summer.
""",
}

QUESTIONS = {
    "who leads Lighthouse": "Grace Hopper",
    "when is the launch planned": "2026-09-01",
    "press release": "press release",
    "where do we host the archive": "Zurich",
    "what is Harbour": "scanned letters",
    "birthday of Grace": "December",
    "where does the office move": "brewery",
    "price of desks": "4200 EUR",
    "wifi password": "kitchen door",
    "which biography do I want to read": "Hedy Lamarr",
}


@pytest.fixture
def service(ledger_settings, monkeypatch):
    monkeypatch.setenv("SVC_DATA_DIR", str(ledger_settings.data_dir))
    monkeypatch.setenv("SVC_RPC_URLS", "http://127.0.0.1:9")  # otherwise it would be a demo, in a separate directory
    monkeypatch.chdir(ledger_settings.data_dir)
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as running:
        yield running


def readme() -> str:
    """Returns the README as one line."""
    return " ".join(README.read_text().split())


def svc(line: str) -> None:
    arguments = line.partition("#")[0].split()
    result = CliRunner().invoke(app, arguments[1:])
    assert result.exit_code == 0, result.output


def test_notes_are_imported_asked_ten_questions_and_corrected(service, tmp_path):
    for name, text in NOTES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    [imports] = re.findall(r"`(svc world import [^`]+)`", readme())
    svc(imports)
    with service.ledger.transaction() as tx:
        key = bearer(create_key(tx, service.pepper, tier=Tier.FREE, owner="local:me", now=datetime.now(UTC)))

    def api(path: str, body: dict) -> dict:
        (answer,) = service.ask(("POST", f"/api/v2/{path}", key, {"json": body}))
        assert answer.status_code < 300, answer.text
        return answer.json()["data"]

    [asking] = re.findall(r"client\.query\(([^()]+)\)", readme())
    question = eval(f"dict({asking})")
    missing = []
    for search, answer in QUESTIONS.items():
        found = api("world-model/query", {**question, "search": search})["nodes"]
        if answer not in json.dumps(found):
            missing.append((search, [node["title"] for node in found]))
    assert missing == []
    wrong = api("world-model/query", {**question, "search": "where does the office move"})["nodes"][0]
    [correcting] = re.findall(r"client\.signal\(([^()]+corrects=[^()]+)\)", readme())
    body = eval(f"dict({correcting})", {"goal": wrong}) | {"type": "Observation", "title": "The office stays"}
    assert api("world-model/signal", body)["verdict"] == "approved"
    found = api("world-model/query", {**question, "search": "where does the office move"})["nodes"]
    assert wrong["id"] not in [node["id"] for node in found]
    assert body["title"] in [node["title"] for node in found]
    [exports] = re.findall(r"`(svc world export [^`]+)`", readme())
    svc(exports)
    assert "old brewery" in (service.settings.data_dir / "graph.jsonl").read_text()
