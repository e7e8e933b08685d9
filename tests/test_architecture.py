import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_imports_follow_the_arrows():
    linted = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert linted.returncode == 0, linted.stdout


def test_the_site_holds_no_python():
    assert not list((ROOT / "site").rglob("*.py"))


def test_the_lock_names_no_host_and_no_path():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert not [line for line in lines if "://" in line or line.startswith(("-", "file:", "/"))]
    requirements = [line for line in lines if line and not line[0].isspace()]
    assert requirements and all("==" in line and line.endswith("\\") for line in requirements)


def test_the_node_lock_has_hashes_and_no_addresses():
    lock = (ROOT / "contracts" / "chain" / "package-lock.json").read_text()
    assert '"integrity"' in lock
    assert '"resolved"' not in lock
