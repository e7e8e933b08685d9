"""Compiled data is valid as long as the sources and the code that it was built from are those in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from guardrail.compiled import load_compiled


class Maker:
    """Creates data, counts its calls, and can fail."""

    def __init__(self, fault: str = "") -> None:
        self.times = 0
        self.fault = fault

    def __call__(self) -> dict[str, Any]:
        self.times += 1
        if self.fault:
            raise ValueError(self.fault)
        return {"rows": [self.times]}


SOURCES = {"a.yaml": b"- a\n", "b.yaml": b"- b\n"}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    module = tmp_path / "maker.py"
    module.write_text("one = 1\n")
    return module


def test_compiled_data_is_stored_and_loaded_by_the_next_process(tmp_path: Path, code: Path) -> None:
    make, file = Maker(), tmp_path / "kept.json"
    assert load_compiled(file, SOURCES, [code], make) == load_compiled(file, SOURCES, [code], make) == {"rows": [1]}
    assert make.times == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.json", "maker.py"]


@pytest.mark.parametrize(
    "changed",
    [
        {"a.yaml": b"- a\n"},
        {"a.yaml": b"- a\n", "b.yaml": b"- c\n"},
        {"a.yaml": b"- a\n- b\n", "b.yaml": b""},
        {"a.yaml": b"- a\n", "c.yaml": b"- b\n"},
    ],
)
def test_compiled_data_is_rebuilt_when_its_sources_change(
    tmp_path: Path, code: Path, changed: dict[str, bytes]
) -> None:
    make, file = Maker(), tmp_path / "kept.json"
    load_compiled(file, SOURCES, [code], make)
    assert load_compiled(file, changed, [code], make) == {"rows": [2]}


def test_compiled_data_is_rebuilt_when_its_code_changes(tmp_path: Path, code: Path) -> None:
    make, file = Maker(), tmp_path / "kept.json"
    load_compiled(file, SOURCES, [code], make)
    code.write_text("one = 2\n")
    assert load_compiled(file, SOURCES, [code], make) == {"rows": [2]}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"data": {}}', b"\xff"])
def test_a_damaged_compiled_file_is_rebuilt(tmp_path: Path, code: Path, content: bytes) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(content)
    assert load_compiled(file, SOURCES, [code], Maker()) == {"rows": [1]}


def test_without_sources_the_file_counts(tmp_path: Path, code: Path) -> None:
    make, file = Maker(), tmp_path / "kept.json"
    load_compiled(file, SOURCES, [code], make)
    assert load_compiled(file, {}, [tmp_path / "nowhere.py"], make) == {"rows": [1]}


def test_a_mistake_leaves_the_file_as_it_was(tmp_path: Path, code: Path) -> None:
    file = tmp_path / "kept.json"
    load_compiled(file, SOURCES, [code], Maker())
    before = file.read_bytes()
    with pytest.raises(ValueError, match="line 3"):
        load_compiled(file, {}, [code], Maker()) and load_compiled(file, {"a": b""}, [code], Maker("line 3"))
    assert file.read_bytes() == before


def test_a_directory_that_cannot_be_written_keeps_nothing(tmp_path: Path, code: Path) -> None:
    make, file = Maker(), tmp_path / "nowhere" / "kept.json"
    assert load_compiled(file, SOURCES, [code], make) == {"rows": [1]}
    assert load_compiled(file, SOURCES, [code], make) == {"rows": [2]}
    assert list(tmp_path.iterdir()) == [code]
