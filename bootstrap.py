"""Builds `.venv` from `requirements.lock`, and installs the local chain's Node packages if npm is available. Uses only
the standard library.

Run by `make`, or without it: `python3 bootstrap.py && .venv/bin/svc run`. Installs with uv if that is available
(seconds), and otherwise with pip (minutes); either way every file is checked against its hash in the lock. Does nothing
if the lock, this file and pyproject.toml have not changed since the last successful run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
CHAIN = ROOT / "contracts" / "chain"
STAMP = VENV / ".ok"
INPUTS = (LOCK, ROOT / "pyproject.toml", ROOT / "bootstrap.py", CHAIN / "package-lock.json")
MINIMUM_PYTHON = (3, 11)
MINIMUM_FREE_BYTES = 3_000_000_000


def main() -> int:
    problem = unmet_requirement()
    if problem:
        print(f"bootstrap: {problem}", file=sys.stderr)
        return 1
    wanted = fingerprint()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return 0
    STAMP.unlink(missing_ok=True)
    try:
        install_python_packages()
        install_chain_packages()
    except subprocess.CalledProcessError as error:
        print(f"bootstrap: `{' '.join(map(str, error.cmd))}` failed with {error.returncode}", file=sys.stderr)
        return 1
    draft = STAMP.with_suffix(".tmp")
    draft.write_text(wanted)
    draft.replace(STAMP)
    return 0


def unmet_requirement() -> str | None:
    """Returns what this machine lacks, with its cure, or None."""
    if sys.version_info < MINIMUM_PYTHON:
        return f"Python {'.'.join(map(str, MINIMUM_PYTHON))} or newer is required; this is {sys.version.split()[0]}."
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return "Python's venv module is missing. On Debian: apt-get install python3-venv"
    if not VENV.exists() and shutil.disk_usage(ROOT).free < MINIMUM_FREE_BYTES:
        return f"{MINIMUM_FREE_BYTES // 10**9} GB of free disk space are required in {ROOT}."
    return None


def fingerprint() -> str:
    """Returns a digest that changes whenever the installation must be repeated."""
    digest = hashlib.sha256(sys.version.encode())
    for path in INPUTS:
        digest.update(path.read_bytes() if path.exists() else b"")
    digest.update(str(shutil.which("npm")).encode())
    return digest.hexdigest()


def install_python_packages() -> None:
    python = VENV / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", "--clear", VENV)
    uv = find_uv(python)
    if uv:
        env = {**os.environ, **uv_environment(), "VIRTUAL_ENV": str(VENV)}
        say("installing the locked packages with uv")
        run(*uv, "pip", "sync", "--quiet", "--require-hashes", LOCK, env=env)
        run(*uv, "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", ROOT, env=env)
    else:
        say("installing the locked packages with pip; this takes a few minutes")
        pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps")
        run(*pip, "--require-hashes", "--requirement", LOCK)
        run(*pip, "--no-build-isolation", "--editable", ROOT)
    run(python, "-m", "guardrail.compile", cwd=ROOT)  # so that no start has to parse a thousand YAML entries


def find_uv(python: Path) -> tuple[str | Path, ...] | None:
    """Returns the command for uv, which is the machine's own or one that pip installs into `.venv`; or None."""
    on_path = shutil.which("uv")
    if on_path:
        return (on_path,)
    tools = VENV / "uv"
    fetch = (python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--target", tools, "uv")
    if not (tools / "bin" / "uv").exists():
        subprocess.run([*map(str, fetch)], check=False, stderr=subprocess.DEVNULL)
    return (tools / "bin" / "uv",) if (tools / "bin" / "uv").exists() else None


def uv_environment() -> dict[str, str]:
    """Translates pip's index and certificate settings to uv's names: uv reads neither pip's files nor `PIP_*`."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], check=False, capture_output=True, text=True
    ).stdout
    pairs = (line.partition("=") for line in listed.splitlines())
    values = {name.rsplit(".", 1)[-1]: value.strip("'\"").replace("\\n", " ") for name, _, value in pairs}
    translated = {
        "UV_DEFAULT_INDEX": values.get("index-url"),
        "UV_INDEX": values.get("extra-index-url"),
        "SSL_CERT_FILE": values.get("cert"),
        # Every line of the lock has a hash, so all indexes may be searched: the first must not hide another's file.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_SYSTEM_CERTS": "1",
        "UV_CACHE_DIR": str(VENV / "uv-cache"),
        "UV_LINK_MODE": "hardlink",
    }
    return {name: value for name, value in translated.items() if value and name not in os.environ}


def install_chain_packages() -> None:
    npm = shutil.which("npm")
    if npm is None:
        say("no npm: the demo will run from recorded history, without the paid flow")
        return
    say("installing the local chain's Node packages")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run(command, check=False, cwd=CHAIN).returncode != 0:
        say("npm failed: the demo will run from recorded history, without the paid flow")


def run(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, env=env)


def say(text: str) -> None:
    print(f"bootstrap: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
