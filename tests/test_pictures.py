"""The generated pages and pictures of the documentation show the asset graph of today; `make contracts` renews them."""

from __future__ import annotations

import runpy
from pathlib import Path

from contracts.site import lineage

ROOT = Path(__file__).resolve().parents[1]
PICTURES = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
GRAPH = PICTURES["asset_graph"]()


def test_the_page_of_tables_and_documents_is_current():
    assert (ROOT / "docs" / "data.md").read_text() == PICTURES["data_page"](GRAPH)


def test_the_lineage_in_the_readme_is_current():
    assert PICTURES["LINEAGE"].search((ROOT / "README.md").read_text()).group() == PICTURES["lineage"](GRAPH)


def test_the_lineage_of_the_pages_is_current():
    assert lineage.FILE.read_bytes() == PICTURES["lineage_record"](GRAPH)
