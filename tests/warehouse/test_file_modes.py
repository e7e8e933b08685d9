"""Modes of the data directory: published files can be read by others, and nothing else. A9."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from warehouse.file_modes import correct_modes, is_shared, make_data_directory, make_private_directory

PRIVATE = (
    "warehouse.duckdb",
    "ledger.db-wal",
    "run.lock",
    "holders/1.parquet",
    "world/7/nodes.bin",
    "dagster/history/runs/index.db",
    "logs/api.log",
    "generations/g1/manifest.json",
    "generations/g1/serving.duckdb",
    "generations/g1/world/nodes.bin",
    "generations/g1/hosting/nginx.conf",
    "demo/ledger.db",
    "demo/generations/g1/serving.duckdb",
)
PUBLIC = (
    "generations/g1/public/llms.txt",
    "generations/g1/public/api/token/holders.json.br",
    "demo/generations/g1/public/llms.txt",
)
PASSED_THROUGH = (".", "generations", "generations/g1", "demo", "demo/generations", "demo/generations/g1")


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def tree(data_dir: Path) -> Path:
    """Returns a data directory whose modes are whatever the umask gives."""
    for name in (*PRIVATE, *PUBLIC):
        (data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (data_dir / name).write_text(name)
    (data_dir / "current").symlink_to("generations/g1")
    return data_dir


def modes(data_dir: Path) -> dict[str, int]:
    found = {".": data_dir, **{str(path.relative_to(data_dir)): path for path in data_dir.rglob("*")}}
    return {name: stat.S_IMODE(path.lstat().st_mode) for name, path in found.items() if not path.is_symlink()}


def wanted(name: str) -> int:
    if name in PASSED_THROUGH:
        return 0o711
    is_public = "public" in Path(name).parts
    is_file = name in PRIVATE or name in PUBLIC
    return {(True, True): 0o644, (True, False): 0o755, (False, True): 0o600, (False, False): 0o700}[is_public, is_file]


def test_an_existing_tree_is_corrected_whatever_its_umask_was(tmp_path: Path, umask: int):
    data_dir = tree(tmp_path / "var")
    wrong = {name for name, mode in modes(data_dir).items() if mode != wanted(name)}
    corrections = correct_modes(data_dir)
    assert {str(correction.path.relative_to(data_dir)) for correction in corrections} == wrong
    assert all(correction.done for correction in corrections)
    assert {name: mode for name, mode in modes(data_dir).items() if mode != wanted(name)} == {}
    assert correct_modes(data_dir) == []


def test_a_start_corrects_the_modes_that_others_need_to_pass(tmp_path: Path, umask: int):
    data_dir = tree(tmp_path / "var")
    correct_modes(data_dir, gates_only=True)
    found = modes(data_dir)
    for name in PRIVATE:
        gates = [name, *(str(parent) for parent in Path(name).parents)]
        assert any(found[gate] in (0o700, 0o600) for gate in gates), name
    for name in PASSED_THROUGH:
        assert found[name] == 0o711, name


def test_a_file_under_two_names_keeps_the_mode_of_the_published_one(tmp_path: Path):
    data_dir = tree(tmp_path / "var")
    published = data_dir / "generations/g1/public/data.csv.gz"
    os.link(data_dir / "holders/1.parquet", published)
    correct_modes(data_dir)
    assert stat.S_IMODE(published.stat().st_mode) == 0o644
    assert stat.S_IMODE((data_dir / "holders").stat().st_mode) == 0o700
    assert correct_modes(data_dir) == []


def test_links_out_of_the_directory_are_not_followed(tmp_path: Path):
    data_dir = tree(tmp_path / "var")
    outside = tmp_path / "outside"
    outside.write_text("")
    outside.chmod(0o644)
    (data_dir / "link").symlink_to(outside)
    (data_dir / "links").symlink_to(tmp_path)
    correct_modes(data_dir)
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_a_directory_that_users_share_is_left_alone(tmp_path: Path):
    shared = tree(tmp_path / "shared")
    shared.chmod(0o1777)
    before = modes(shared)
    assert is_shared(shared)
    assert correct_modes(shared) == []
    make_data_directory(shared)
    assert modes(shared) == before


def test_created_directories_can_be_traversed_and_not_listed(tmp_path: Path, umask: int):
    data_dir = tmp_path / "srv/service/var"
    make_data_directory(data_dir)
    made = (data_dir, data_dir.parent, data_dir.parent.parent)
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o711] * 3
    make_private_directory(data_dir / "logs")
    assert stat.S_IMODE((data_dir / "logs").stat().st_mode) == 0o700
    in_the_way = tmp_path / "file"
    in_the_way.touch(mode=0o600)
    with pytest.raises(NotADirectoryError):
        make_data_directory(in_the_way)
    assert stat.S_IMODE(in_the_way.stat().st_mode) & 0o111 == 0
    data_dir.chmod(0o777)
    (data_dir / "logs").chmod(0o777)
    make_data_directory(data_dir)
    make_private_directory(data_dir / "logs")
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o711
    assert stat.S_IMODE((data_dir / "logs").stat().st_mode) == 0o700
