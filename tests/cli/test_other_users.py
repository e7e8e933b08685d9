"""A9: nginx under another user serves what is published, and that user can read nothing else of the installation."""

from __future__ import annotations

import grp
import http.client
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from installation import Installation
from nginx import have_nginx, serving
from publishing import FEW, commands_publish

from contracts.settings import Settings

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user"),
    pytest.mark.timeout(600),
]
OTHER = pwd.getpwnam("nobody")
READABLE = 'while IFS= read -r path; do [ -r "$path" ] && printf "%s\\n" "$path"; done; true'


def readable_by_another_user(data_dir: Path) -> list[str]:
    """Returns the files that the other user can read, of all files that root finds."""
    files = sorted(str(path) for path in data_dir.rglob("*") if path.is_file() and not path.is_symlink())
    ran = subprocess.run(
        ["/bin/sh", "-c", READABLE],
        input="\n".join(files) + "\n",
        user=OTHER.pw_uid,
        group=OTHER.pw_gid,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    return [str(Path(line).relative_to(data_dir)) for line in ran.stdout.splitlines()]


def unpublished(paths: list[str]) -> list[str]:
    return [path for path in paths if Path(path).parts[0] != "generations" or Path(path).parts[2] != "public"]


@contextmanager
def installed(umask: int) -> Iterator[Installation]:
    """Yields an installation in a place that every user can reach, made under an unusual umask."""
    place = Path(tempfile.mkdtemp(prefix="svc-other-user-"))
    place.chmod(0o711)
    before = os.umask(umask)
    try:
        with pytest.MonkeyPatch.context() as patch:
            commands_publish(patch, *FEW)
            yield Installation(Settings(_env_file=None, data_dir=place / "var"))
    finally:
        os.umask(before)
        shutil.rmtree(place)


def test_another_user_reads_what_is_published_and_nothing_else(tmp_path: Path):
    with installed(umask=0o000) as installation:
        data_dir = installation.data_dir
        installation.called("publish")
        installation.called("pipeline", "run")
        key = installation.keys("create", "--tier", "free", "--owner", "ada")["apiKey"]
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        with installation.served(tmp_path / "log"):
            signal = '{"type": "Goal", "title": "A secret", "source": "me"}'
            assert installation.ask("POST", "/api/v2/world-model/signal", headers, signal) == 201
            check = '{"action": "rm -rf /", "severity": "high"}'
            assert installation.ask("POST", "/api/v2/guardrail/check", headers, check) == 200
            readable = readable_by_another_user(data_dir)
        assert {"warehouse.duckdb", "ledger.db", "guardrail.db", "master.secret", "dagster"} <= {
            path.name for path in data_dir.iterdir()
        }
        assert list(data_dir.glob("generations/*/world/nodes.bin")) != []
        assert unpublished(readable) == []
        assert published(data_dir) == set(readable)
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o711


def test_another_user_is_served_what_is_published_under_a_strict_umask():
    with installed(umask=0o077) as installation:
        data_dir = installation.data_dir
        installation.called("publish")
        assert set(readable_by_another_user(data_dir)) == published(data_dir)
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o711
        if have_nginx():
            with serving(data_dir, f"{OTHER.pw_name} {grp.getgrgid(OTHER.pw_gid).gr_name}") as (port, _):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("GET", "/llms.txt", headers={"Accept-Encoding": "identity"})
                answer = connection.getresponse()
                body = answer.read()
                connection.close()
            assert (answer.status, body) == (200, (data_dir / "current/public/llms.txt").read_bytes())


def published(data_dir: Path) -> set[str]:
    """Returns every file of every published tree."""
    files = (path for path in data_dir.glob("generations/*/public/**/*") if path.is_file())
    return {str(path.relative_to(data_dir)) for path in files}
