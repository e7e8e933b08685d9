"""An import that is killed anywhere leaves whole parts, and repeating the import completes the same graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from import_process import import_file, importing_in

from contracts.settings import Settings
from contracts.world.portable import line_of
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.audit import verify
from warehouse.world.events import head_revision
from warehouse.world.export import export_pages

OWNER, OTHER = "local:ada", "local:bob"
NODES = 120


def write_file(path: Path) -> Path:
    lines = [{"kind": "header", "format": "svc.world.graph", "version": 1, "scope": "owner"}]
    about = {"validFrom": "2026-01-01T00:00:00Z", "recordedAt": "2026-01-01T00:00:00Z"}
    for number in range(NODES):
        said = {"subject": f"door {number % 40}", "predicate": "state", "value": number}
        lines.append(
            {
                "kind": "node",
                "id": f"n{number}",
                "type": "Observation",
                "title": f"Door {number}",
                "source": f"camera {number // 40}",
                "properties": said,
                **about,
            }
        )
    for number in range(1, NODES):
        lines.append(
            {
                "kind": "edge",
                "source": f"n{number}",
                "target": "n0",
                "type": "INFORMED_BY",
                "statedIn": "a file",
                **about,
            }
        )
    lines.append({"kind": "end", "lines": len(lines)})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def exported(ledger: Ledger, owner: str) -> list[dict[str, Any]]:
    """Returns the exported records without the decisions and times of this installation."""
    with ledger.read() as reader:
        pages = export_pages(reader, owner, head_revision(reader))
        records = [json.loads(line_of(record)) for page in pages for record in page.records]
    chance = ("decision", "recordedAt", "statedAt", "lines")
    return [
        {name: value for name, value in record.items() if name not in chance}
        for record in records
        if record["kind"] != "decision"
    ]


@pytest.mark.parametrize(
    ("doing", "least"), [("judging", 100), pytest.param("writing", 40, marks=pytest.mark.soak), ("writing", 160)]
)
def test_an_import_continues_after_a_kill(ledger_settings: Settings, tmp_path: Path, doing: str, least: int) -> None:
    file = write_file(tmp_path / "graph.jsonl")
    with importing_in(ledger_settings, file, OWNER) as process:
        assert process.stdout is not None
        for line in process.stdout:
            what, done = line.split()
            if what == doing and int(done) >= least:
                break
        process.kill()
        process.wait()
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
    with ledger.transaction() as tx:  # waits until PostgreSQL has noticed the death
        assert verify(tx).faults == []
    import_file(ledger_settings, file, OWNER)
    import_file(ledger_settings, file, OTHER)
    assert exported(ledger, OWNER) == exported(ledger, OTHER)
    with ledger.read() as reader:
        assert verify(reader).faults == []
    ledger.close()
