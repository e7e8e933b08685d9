"""Recorded material: chains, receipts, providers' answers and schemas stored beside the checkout, not in it.

The only module that knows the location. Tests use the fixture `recorded_material`; if the material is absent the test
skips, and in CI it fails unless `RECORDED_MATERIAL=none` deliberately puts the material out of reach.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "RECORDED_MATERIAL"
"""The folder of the material, or `none`. Unset or empty: `shared` beside the checkout."""

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared"


@dataclass(frozen=True)
class RecordedMaterial:
    """Reads files by their path inside the folder of the material."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def json(self, name: str) -> Any:
        """Returns the value of a JSON file, compressed or not."""
        return json.loads(self._text(name))

    def json_lines(self, name: str) -> Iterator[Any]:
        """Yields the value of each line of a file."""
        return map(json.loads, self._text(name).splitlines())

    def _text(self, name: str) -> str:
        path = self.path(name)
        return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def material_of(environment: Mapping[str, str], beside_the_checkout: Path = BESIDE_THE_CHECKOUT) -> RecordedMaterial:
    """Returns the material that the environment points at. If it is missing, the requesting test is skipped; in CI it
    fails."""
    chosen = environment.get(VARIABLE) or str(beside_the_checkout)
    if chosen == "none":
        pytest.skip(f"recorded material is out of reach: {VARIABLE}=none")
    folder = Path(chosen)
    if not folder.is_dir():
        reason = f"no recorded material at {folder}: put it there, or point {VARIABLE} at its folder"
        pytest.fail(f"{reason} (`none` skips)") if environment.get("CI") else pytest.skip(reason)
    return RecordedMaterial(folder)


@pytest.fixture(scope="session")
def recorded_material() -> RecordedMaterial:
    return material_of(os.environ)
