"""The generated pages and pictures of the documentation show the asset graph of today; `make contracts` renews them."""

from __future__ import annotations

import runpy
from functools import cache
from pathlib import Path

from PIL import Image

from contracts.site import lineage
from contracts.site.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]
PICTURES = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
graph = cache(PICTURES["asset_graph"])


def test_the_page_of_tables_and_documents_is_current():
    assert (ROOT / "docs" / "data.md").read_text() == PICTURES["data_page"](graph())


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
    for pixel, colour in zip(seen, colours, strict=True):
        assert isinstance(pixel, tuple)
        wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        assert max(abs(a - b) for a, b in zip(pixel, wanted, strict=True)) < 12


def test_columns_follow_from_those_that_a_query_names():
    assert PICTURES["followed_columns"](
        "out_trust__scores",
        """
        with final as (
            select agent, score, 'final' as finality from raw_chain__attestations where number > $first
            union all
            select agent, score, 'also' from raw_chain__attestations
        )
        select hex(agent) as who, max(score) filter (finality = 'final') as best, count(*) as attestations from final
        group by all
        """,
    ) == {
        "who": ("raw_chain__attestations.agent",),
        "best": ("raw_chain__attestations.score",),
        "attestations": (),
    }


def test_columns_that_an_update_writes_follow_from_its_query():
    assert PICTURES["followed_columns"](
        "out_holders__daily",
        """
        update $table as series set price_high = seen.high, price_source = 'observed',
            price_quality = if(seen.high > seen.low, seen.quality, null)
        from (
            select max(price_usd) as high, min(price_usd) as low, first(quality) as quality
            from raw_market__token_prices where fetched_at > (select max(start) from $table)
        ) as seen
        """,
    ) == {
        "price_high": ("raw_market__token_prices.price_usd",),
        "price_source": (),
        "price_quality": ("raw_market__token_prices.price_usd", "raw_market__token_prices.quality"),
    }


def test_a_statement_without_a_query_says_nothing_of_columns():
    assert PICTURES["followed_columns"]("out_holders__daily", "delete from $table where start > $start") == {}


def test_the_lineage_of_the_pages_is_current():
    assert lineage.FILE.read_bytes() == PICTURES["lineage_record"](graph())
