"""Makes the pictures and tables of the documentation from the code: `make contracts` runs it.

`docs/data.md` and the lineage in README.md come from the asset graph. With the address of a running service,
`python docs/pictures.py http://127.0.0.1:8000` also takes the picture of its connect page with Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

import dagster as dg

from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from pipelines.definitions import build_definitions

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DATA = ROOT / "docs" / "data.md"
CONNECT_PICTURE = ROOT / "docs" / "pictures" / "connect.png"
PICTURE_WIDTH, PICTURE_HEIGHT = 1200, 1420

LINEAGE = re.compile(r"(?<=<!-- lineage: made by docs/pictures.py -->\n).*?(?=<!-- end of lineage -->)", re.DOTALL)
TABLE = re.compile(r"(raw|core|out)_\w+")

DATA_OPENING = """# Data

This page is made by `docs/pictures.py` from the asset graph and the document registry.

A table's name says its stage: `raw_` as a source gave it, `core_` after the rules, `out_` what documents are made of.
Units end a column's name (`_wei`, `_usd`, `_s`), times are UTC. Every table and column carries its description as a
comment in the warehouse (`select * from duckdb_columns()`), and Dagster shows the same beside the lineage.

Amounts of tokens are exact over all of uint256: integer limbs in tables, decimal strings in JSON. A document states in
its freshness block its `source`, `observedAt`, `quality` and `staleAfter`. The models in `contracts/` are the
reference, and `/openapi.json` of a running service is made from them. [Open data](open-data.md) shows which tables are
public, and how to read them.
"""


def asset_graph() -> dg.AssetGraph:
    """Returns the assets of the service as they are without any setting."""
    return build_definitions(Settings(_env_file=None)).resolve_asset_graph()


def lineage(graph: dg.AssetGraph) -> str:
    """Draws the groups of assets and the arrows between them as a Mermaid chart, without the checks of all groups."""
    group_of = {asset.key: asset.group_name for asset in graph.asset_nodes}
    arrows = {
        (group_of[parent], group_of[asset.key])
        for asset in graph.asset_nodes
        for parent in asset.parent_keys
        if group_of[parent] != group_of[asset.key] and "checks" not in (group_of[parent], group_of[asset.key])
    }
    drawn = [
        f"    {upstream} --> {' & '.join(downstream for _, downstream in group)}"
        for upstream, group in groupby(sorted(arrows), key=lambda arrow: arrow[0])
    ]
    apart = sorted(set(group_of.values()) - {"checks"} - {group for arrow in arrows for group in arrow})
    return "\n".join(["```mermaid", "flowchart LR", *drawn, *(f"    {group}" for group in apart), "```", ""])


def data_page(graph: dg.AssetGraph) -> str:
    """Lists every table and every published document, with the descriptions that the code gives them."""
    described = {asset.key.path[-1]: (asset.group_name, asset.description or "") for asset in graph.asset_nodes}
    tables = [
        f"| `{name}` | {group} | {_cell(text)} |"
        for name, (group, text) in sorted(described.items(), key=lambda item: (item[1][0], item[0]))
        if TABLE.fullmatch(name)
    ]
    documents = [
        f"| `{row.path}` | {_cell(row.summary)} | {_age(row.max_age_s)} |"
        for row in sorted(PROJECTIONS, key=lambda row: row.path)
        if row.collection is None
    ]
    collections = sorted({row.collection for row in PROJECTIONS if row.collection is not None})
    documents += [f"| `/{name}/…/` | One page each, and the same in Markdown | does not age |" for name in collections]
    return "\n".join(
        [
            DATA_OPENING,
            "## Tables of the warehouse\n",
            "| table | group | content and grain |",
            "|---|---|---|",
            *tables,
            "\n## Published documents\n",
            "| path | content | fresh for |",
            "|---|---|---|",
            *documents,
            "",
        ]
    )


def take_connect_picture(base_url: str) -> None:
    """Takes a picture of the connect page. Raises `CalledProcessError` where Chromium fails."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium is not installed.")
    with tempfile.TemporaryDirectory() as profile:
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={profile}")
        shot = (f"--window-size={PICTURE_WIDTH},{PICTURE_HEIGHT}", f"--screenshot={CONNECT_PICTURE}")
        subprocess.run(
            [chromium, *options, *shot, f"{base_url}/connect/"], check=True, timeout=120, capture_output=True
        )


def _cell(description: str) -> str:
    return " ".join(description.split()).replace("|", "\\|")


def _age(seconds: int | None) -> str:
    if seconds is None:
        return "does not age"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def main() -> None:
    graph = asset_graph()
    README.write_text(LINEAGE.sub(lambda _: lineage(graph), README.read_text()))
    DATA.write_text(data_page(graph))
    if len(sys.argv) > 1:
        take_connect_picture(sys.argv[1].rstrip("/"))


if __name__ == "__main__":
    main()
