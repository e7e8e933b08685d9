"""Here belongs how the catalogue becomes one file. `python -m guardrail.catalogue.compile` and the wheel's build
call it."""

from __future__ import annotations

import json
from pathlib import Path

from guardrail.catalogue.loader import COMPILED, PROGRAMS, plain_catalogue, source_files


def compile_catalogue(programs: Path = PROGRAMS, compiled: Path = COMPILED) -> int:
    """Writes the compiled file and returns the number of entries. A mistake raises before anything is written."""
    plain = plain_catalogue(source_files(programs))
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    compiled.write_text(text, encoding="utf-8")
    return len(plain["entries"])


if __name__ == "__main__":
    compile_catalogue()
