"""Other programs read the open data of a running service: the commands of the documentation, the notebook, and
validators."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from data_tools import run_with, tools_python
from open_data_service import OpenDataService, open_data_service
from patience import HANG_S

pytestmark = pytest.mark.web

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "open-data.md").read_text()
ANYWHERE = "https://agents.example"
BLOCKS = [(packages.split(), text) for packages, text in re.findall(r"```python (.+)\n((?s:.*?))```", PAGE)]

DUCKDB_1_5 = ("duckdb==1.5.5", "duckdb-extensions==1.5.5", "duckdb-extension-httpfs==1.5.5")
POLARS = ("polars==2.1.0",)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory):
    with open_data_service(tmp_path_factory.mktemp("readers")) as running:
        yield running


@pytest.mark.parametrize(("packages", "text"), BLOCKS, ids=[packages[0] for packages, _ in BLOCKS])
def test_the_lines_of_the_documentation_run(service: OpenDataService, packages: list[str], text: str):
    assert run_with(tuple(packages), "-c", text.replace(ANYWHERE, service.url)).strip()


def test_the_lines_for_r_run(service: OpenDataService):
    r = shutil.which("Rscript")
    if r is None:
        pytest.skip("R is not installed")
    (text,) = re.findall(r"```r\n((?s:.*?))```", PAGE)
    done = subprocess.run(
        [r, "-e", text.replace(ANYWHERE, service.url)], capture_output=True, text=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stderr
    assert "3001" in done.stdout


def test_the_documentation_names_packages_that_are_tested():
    assert [packages[0].partition("=")[0] for packages, _ in BLOCKS] == ["duckdb", "duckdb", "polars", "pandas"]
    assert "duckdb==1.5.5" in BLOCKS[0][0] and "duckdb==2.0.0" in BLOCKS[1][0]


PREPARED = 'import duckdb\nfrom duckdb_extensions import import_extension\nimport_extension("httpfs")\n'
PREPARED += 'duckdb.sql("load httpfs")\n'


@pytest.mark.parametrize(
    ("file", "query", "answer"),
    [
        ("transfers-0-99999.parquet", "select count(*) from 'URL' where block_number = 50000", 4),
        ("svc.duckdb", "select rank from svc.holders where address = '0x' || lpad('4d2', 40, '0')", 1768),
    ],
)
def test_a_remote_look_up_by_duckdb_reads_at_most_five_percent_of_the_file(
    service: OpenDataService, file: str, query: str, answer: int
):
    path = f"/data/{file}"
    size = (service.house.current / f"public{path}").stat().st_size
    assert size > 10_000_000
    attach = f"duckdb.sql(\"attach '{service.url}{path}' as svc (read_only)\")\n" if file == "svc.duckdb" else ""
    text = PREPARED + attach + f'print(duckdb.sql("""{query.replace("URL", service.url + path)}""").fetchall()[0][0])'
    python = tools_python(*DUCKDB_1_5)
    service.sent_bytes.clear()
    done = subprocess.run([python, "-c", text], capture_output=True, text=True, timeout=HANG_S)
    assert done.stdout.strip() == str(answer), done.stderr
    assert 0 < service.sent_bytes[path] <= size * 0.05


def test_exact_sums_are_the_same_for_duckdb_1_5_and_python(service: OpenDataService):
    index = json.loads((service.house.current / "public/data/index.json").read_bytes())
    sql = next(dataset for dataset in index["datasets"] if dataset["name"] == "transfers")["exactSums"]["value"]
    text = PREPARED + f"duckdb.sql(\"attach '{service.url}/data/svc.duckdb' as svc (read_only)\")\n"
    text += f'duckdb.sql("use svc")\nprint(duckdb.sql("""{sql}""").fetchall()[0][0])\n'
    text += 'print(sum(int(raw) for (raw,) in duckdb.sql("select value_raw from transfers").fetchall()))'
    by_limbs, by_python = run_with(DUCKDB_1_5, "-c", text).split()
    assert by_limbs == by_python
    assert int(by_limbs) > 2**64


def test_the_notebook_answers_its_three_questions(service: OpenDataService):
    notebook = json.loads((DOCS / "open-data.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in notebook["cells"])
    shown = "print(json.dumps([frame.to_dicts() for frame in (top20, new_holders, price_and_holders)], default=str))"
    text = "\n".join([*cells, shown])
    top20, new_holders, prices = json.loads(run_with(POLARS, "-c", text, SVC_URL=service.url))
    values = [1000 + number for number in range(1, 3001)]
    assert [row["holders"] for row in top20] == [3000, 3001]
    assert top20[0]["top20_share"] == pytest.approx(sum(values[-20:]) / sum(values))
    assert top20[1]["top20_share"] == pytest.approx(1)
    in_debt = 997  # addresses of the many transfers that send more than they receive
    assert sum(row["new_holders"] for row in new_holders) == 3001 + 7919 - in_debt
    assert [(row["day"], row["price_usd"], row["holders"]) for row in prices] == [
        (str(date(2025, 12, 31)), 0.5, None),
        (str(date(2026, 1, 1)), 0.75, 3001),
        (str(date(2026, 1, 2)), 1.25, 3001),
    ]


@pytest.fixture(scope="module")
def copy(service: OpenDataService, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a copy of the open data, as a reader downloads it; the addresses in Croissant are those of the copied
    files."""
    folder = tmp_path_factory.mktemp("copy") / "data"
    shutil.copytree(service.house.current / "public/data", folder)
    described: dict[str, Any] = json.loads((folder / "croissant.json").read_text())
    for file in described["distribution"]:
        file["contentUrl"] = file["contentUrl"].rpartition("/")[2]
    (folder / "croissant.json").write_text(json.dumps(described))
    return folder


def test_frictionless_finds_the_data_package_valid(copy: Path):
    """Checks every small resource with its rows, and the others by their description."""
    package = json.loads((copy / "datapackage.json").read_text())
    small = [resource for resource in package["resources"] if (copy / resource["path"]).stat().st_size < 1_000_000]
    assert len(small) > 5
    (copy / "small.json").write_text(json.dumps(package | {"resources": small}))
    frictionless = ("frictionless[parquet]==5.21.0", "pandas==3.1.1")
    program = "import json, frictionless\n"
    program += "report = frictionless.Package('small.json').validate(limit_rows=300)\n"
    program += (
        "frictionless.Package.from_descriptor('datapackage.json')  # raises for a description that is not valid\n"
    )
    program += "print(json.dumps([report.valid, len(report.tasks), report.flatten(['type', 'message'])]))"
    done = subprocess.run(
        [tools_python(*frictionless), "-c", program], cwd=copy, capture_output=True, text=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == [True, len(small), []]


def test_mlcroissant_finds_the_description_valid_and_reads_rows_by_it(copy: Path):
    program = "import sys, mlcroissant\nlogged = mlcroissant.Dataset(jsonld=sys.argv[1])\n"
    program += "assert not logged.metadata.ctx.issues.errors, logged.metadata.ctx.issues.report()\n"
    program += "print(next(iter(logged.records('holder_lists')))['holder_lists/holders'], flush=True)\n"
    program += "import os; os._exit(0)  # its threads may abort while the interpreter ends"
    assert run_with(("mlcroissant[parquet]==1.1.1",), "-c", program, copy / "croissant.json").split()[-1] == "3000"


def test_the_data_contracts_are_valid(copy: Path):
    contracts = sorted(copy.glob("*.odcs.yaml"))
    assert len(contracts) >= 9
    program = "import sys\nfrom datacontract.data_contract import DataContract\n"
    program += "for name in sys.argv[1:]:\n    result = DataContract(data_contract_file=name).lint()\n"
    program += "    assert result.result == 'passed', (name, result.checks)\nprint(len(sys.argv) - 1)"
    assert run_with(("datacontract-cli==1.2.8",), "-c", program, *contracts).split()[-1] == str(len(contracts))
