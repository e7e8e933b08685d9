"""The settings of a command, and of the commands that it starts."""

import os
from pathlib import Path

import pytest

from cli.environment import as_environment, command_environment, effective_settings
from contracts.settings import PREFIX, Settings

RPC = {"SVC_RPC_URLS": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("given", "data_dir", "installation_dir"),
    [
        ({}, "var/demo", "var"),
        (RPC, "var", "var"),
        ({"SVC_DATA_DIR": "demo"}, "demo/demo", "demo"),
        (RPC | {"SVC_DATA_DIR": "demo"}, "demo", "demo"),
        (RPC | {"SVC_DATA_DIR": "var/demo", "SVC_DEMO": "true"}, "var/demo", "var"),
    ],
)
def test_child_commands_have_the_same_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], data_dir: str, installation_dir: str
):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = effective_settings()
    assert (settings.data_dir, settings.installation_dir) == (Path(data_dir), Path(installation_dir))
    for name, value in command_environment(settings).items():
        monkeypatch.setenv(name, value)
    started = effective_settings()
    assert (started.data_dir, started.installation_dir) == (tmp_path / data_dir, tmp_path / installation_dir)


@pytest.mark.parametrize("own", [None, "glibc.malloc.arena_max=2"])
def test_child_commands_request_large_pages_unless_the_user_tunes_glibc_otherwise(
    monkeypatch: pytest.MonkeyPatch, own: str | None
):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if own:
        monkeypatch.setenv("GLIBC_TUNABLES", own)
    assert as_environment(Settings(_env_file=None))["GLIBC_TUNABLES"] == (own or "glibc.malloc.hugetlb=1")
