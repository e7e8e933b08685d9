"""A change where a fact is defined shows in every document that states the fact, after one publish."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from patience import HANG_S

from contracts.open_data.first_rows import FIRST_ROWS_PATH

HERE = Path(__file__).parent
ROOT = HERE.parent

STATED = {
    "/api/agent-access/plans": '"amount":"11"',
    "/artifacts/plans": '"11"',
    "/artifacts/pricing": '"11"',
    "/llms.txt": "api_basic_monthly 11 USD",
    "/skill.md": "`api_basic_monthly`: 11 USD",
    "/connect/": '<span class="amount">11</span> USD',
    "/connect/index.md": "11 USD",
    "/.well-known/x402.json": '"amount":"11000000"',
    "/openapi.json": '"amount":"11"',
}
"""Every document that contains the price of `api_basic_monthly`, and the text with which it does."""


def published(contracts: Path, data_dir: Path) -> dict[str, Any]:
    """Returns the output of a process that imports `contracts` from elsewhere, and everything else from here."""
    path = os.pathsep.join((str(contracts), str(HERE), str(ROOT)))
    done = subprocess.run(
        [sys.executable, str(HERE / "published_prices.py"), str(data_dir)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=data_dir,
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_a_plan_s_price_changes_in_every_document_page_and_example(tmp_path: Path):
    copy, data_dir = tmp_path / "changed", tmp_path / "var"
    data_dir.mkdir()
    shutil.copytree(ROOT / "contracts", copy / "contracts", ignore=shutil.ignore_patterns("node_modules"))
    plans = copy / "contracts/access/plans.yaml"
    changed, count = re.subn(r'price_usd: "9"', 'price_usd: "11"', plans.read_text())
    assert count == 1
    plans.write_text(changed)

    said = published(copy, data_dir)
    assert said["defects"] == []
    for path, text in STATED.items():
        assert text in said["bodies"][path], path
    old = [
        path
        for path, body in said["bodies"].items()
        if path != FIRST_ROWS_PATH and re.search(r"\b9(\.00\d*)? USDC?\b|\"9\"|\b90000\d\d\b", body)
    ]
    assert old == []
