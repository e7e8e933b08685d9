"""The generated pages and pictures of the documentation show the asset graph of today; `make contracts` renews them."""

from __future__ import annotations

import runpy
from pathlib import Path

from PIL import Image

from contracts.site import lineage
from contracts.site.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]
PICTURES = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
GRAPH = PICTURES["asset_graph"]()


def test_the_page_of_tables_and_documents_is_current():
    assert (ROOT / "docs" / "data.md").read_text() == PICTURES["data_page"](GRAPH)


def test_the_map_of_the_readme_has_every_page_and_their_picture():
    readme = (ROOT / "README.md").read_text()
    assert not [page.path for page in PAGES if f"`{page.path}`" not in readme]
    assert f'src="{PICTURES["SHEET"].relative_to(ROOT)}"' in readme
    with Image.open(PICTURES["SHEET"]) as sheet:
        assert sheet.height // PICTURES["SMALL_HEIGHT"] == -(-len(PAGES) // PICTURES["COLUMNS"])
    assert PICTURES["SHEET"].stat().st_size <= 600_000


def test_a_sheet_has_the_upper_part_of_every_picture_in_order(tmp_path: Path):
    colours = ["#ff0000", "#00ff00", "#0000ff", "#ffffff", "#000000"]
    for number, colour in enumerate(colours):
        with Image.new("RGB", (864, 400 + 400 * number), colour) as picture:
            picture.save(tmp_path / f"{number}.png")
    PICTURES["contact_sheet"]([tmp_path / f"{number}.png" for number in range(5)], tmp_path / "sheet.webp")
    with Image.open(tmp_path / "sheet.webp") as sheet:
        assert sheet.size == (4 * 440 - 8, 2 * 332 - 8)
        seen = [sheet.getpixel((440 * (number % 4) + 216, 332 * (number // 4) + 162)) for number in range(5)]
    for (red, green, blue), colour in zip(seen, colours, strict=True):
        wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        assert max(abs(a - b) for a, b in zip((red, green, blue), wanted, strict=True)) < 12


def test_the_lineage_of_the_pages_is_current():
    assert lineage.FILE.read_bytes() == PICTURES["lineage_record"](GRAPH)
