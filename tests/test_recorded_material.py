"""Recorded material is found, left out with a reason or missed, never silently."""

import gzip
import re
from pathlib import Path

import pytest
from recorded_material import material_of

TESTS = Path(__file__).parent


def test_recorded_material_is_read_next_to_the_checkout_or_where_the_variable_points(tmp_path: Path) -> None:
    beside, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    for folder, value in ((beside, "1"), (elsewhere, "2")):
        folder.mkdir()
        (folder / "a.json").write_text(value)
        (folder / "b.jsonl.gz").write_bytes(gzip.compress(f"{value}\n{value}\n".encode()))
    assert material_of({}, beside).json("a.json") == 1
    assert material_of({"RECORDED_MATERIAL": ""}, beside).json("a.json") == 1
    pointed = material_of({"RECORDED_MATERIAL": str(elsewhere)}, beside)
    assert (pointed.json("a.json"), list(pointed.json_lines("b.jsonl.gz"))) == (2, [2, 2])


def test_a_test_skips_without_recorded_material_and_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match=r"no recorded material at .*/shared: .* RECORDED_MATERIAL"):
        material_of({}, tmp_path / "shared")
    with pytest.raises(pytest.skip.Exception, match="no recorded material at /nowhere"):
        material_of({"RECORDED_MATERIAL": "/nowhere"}, tmp_path)


def test_in_ci_a_test_fails_without_recorded_material_unless_it_is_deliberately_absent(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="no recorded material at"):
        material_of({"CI": "true"}, tmp_path / "shared")
    with pytest.raises(pytest.skip.Exception, match="out of reach: RECORDED_MATERIAL=none"):
        material_of({"CI": "true", "RECORDED_MATERIAL": "none"}, tmp_path)


def test_a_file_that_the_material_lacks_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        material_of({"RECORDED_MATERIAL": str(tmp_path)}).json("missing.json")


def test_no_other_module_of_the_tests_knows_where_it_lies() -> None:
    own = {TESTS / "recorded_material.py", Path(__file__)}
    others = [path for path in TESTS.rglob("*.py") if path not in own]
    assert len(others) > 100
    beside_the_checkout = re.compile(r"""(parents\[\d\]|parent|ROOT) / ["']shared|\.\./shared""")
    assert [path for path in others if beside_the_checkout.search(path.read_text())] == []
