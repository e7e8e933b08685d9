import errno
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contracts.errors import DiskFull
from warehouse.publish.generations import DocumentEntry, Part, begin, build, current_generation, point_to

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
URL = "https://svc.example"


def make(data_dir: Path, contents: dict[str, bytes], now: datetime = NOON, base_url: str = URL):
    parts = {path: Part.of_bytes(content) for path, content in contents.items()}
    return build(data_dir, begin(data_dir, now), parts, {}, base_url)


def names(data_dir: Path) -> list[str]:
    return sorted(path.name for path in (data_dir / "generations").iterdir())


def test_a_generation_is_pointed_to_and_read_by_its_real_path(tmp_path):
    built = make(tmp_path, {"public/a.json": b"{}"})
    read = current_generation(tmp_path)
    assert read == built.generation
    assert read.id == "20260101T120000Z-000001"
    assert not read.path.is_symlink()
    assert (read.path / "public/a.json").read_bytes() == b"{}"


def test_before_the_first_publish_there_is_no_generation(tmp_path):
    assert current_generation(tmp_path) is None


def test_unchanged_components_are_the_same_file_with_the_same_time(tmp_path):
    first = make(tmp_path, {"a": b"1", "b": b"2"})
    second = make(tmp_path, {"a": b"1", "b": b"3"}, NOON + timedelta(minutes=1))
    a, b = (second.generation.path / name for name in "ab")
    assert a.samefile(first.generation.path / "a")
    assert a.stat().st_mtime == NOON.timestamp()
    assert b.stat().st_mtime == (NOON + timedelta(minutes=1)).timestamp()
    assert second.written == ("b",)
    assert second.linked == 1
    components = second.generation.manifest.components
    assert (components["a"].since, components["b"].since) == (first.generation.id, second.generation.id)


def test_no_generation_is_created_if_nothing_changed(tmp_path):
    make(tmp_path, {"a": b"1"})
    assert make(tmp_path, {"a": b"1"}, NOON + timedelta(hours=2)) is None
    assert names(tmp_path) == ["20260101T120000Z-000001"]


@pytest.mark.parametrize("change", [{"a": b"2"}, {}, {"a": b"1", "b": b"1"}])
def test_a_changed_a_missing_and_a_new_component_each_create_a_generation(tmp_path, change):
    make(tmp_path, {"a": b"1"})
    assert make(tmp_path, change, NOON + timedelta(minutes=1)) is not None


def test_another_base_url_creates_a_generation(tmp_path):
    make(tmp_path, {"a": b"1"})
    assert make(tmp_path, {"a": b"1"}, NOON + timedelta(minutes=1), "https://other.example") is not None


def test_another_document_entry_creates_a_generation(tmp_path):
    parts = {"a": Part.of_bytes(b"1")}
    build(tmp_path, begin(tmp_path, NOON), parts, {}, URL)
    entry = DocumentEntry("inputs", "g", NOON)
    assert build(tmp_path, begin(tmp_path, NOON + timedelta(minutes=1)), parts, {"/a": entry}, URL) is not None


def test_two_generations_in_one_second_get_two_different_seconds(tmp_path):
    make(tmp_path, {"a": b"1"}, NOON.replace(microsecond=900_000))
    draft = begin(tmp_path, NOON.replace(microsecond=950_000))
    assert draft.id == "20260101T120001Z-000002"
    assert draft.ahead_s == pytest.approx(0.05)


def test_ids_grow_after_a_clock_that_went_back(tmp_path):
    first = make(tmp_path, {"a": b"1"})
    second = make(tmp_path, {"a": b"2"}, NOON - timedelta(days=3))
    assert second.generation.id > first.generation.id
    assert current_generation(tmp_path).id == second.generation.id


def test_numbers_grow_after_an_older_generation_was_served_again(tmp_path):
    for number in range(1, 4):
        make(tmp_path, {"public/a": b"%d" % number}, NOON + timedelta(minutes=number))
    oldest = names(tmp_path)[0]
    point_to(tmp_path, oldest)
    assert make(tmp_path, {"public/a": b"1"}, NOON + timedelta(minutes=4)) is None, "nothing differs from the oldest"
    make(tmp_path, {"public/a": b"4"}, NOON + timedelta(minutes=5))
    make(tmp_path, {"public/a": b"5"}, NOON + timedelta(minutes=6))
    assert [name.partition("-")[2] for name in names(tmp_path)] == ["000001", "000004", "000005"]


def test_the_newest_three_and_an_hour_are_kept(tmp_path):
    for minute in range(0, 100, 20):
        make(tmp_path, {"a": str(minute).encode()}, NOON + timedelta(minutes=minute))
    assert [name[9:13] for name in names(tmp_path)] == ["1220", "1240", "1300", "1320"]
    make(tmp_path, {"a": b"x"}, NOON + timedelta(days=1))
    assert [name[9:13] for name in names(tmp_path)] == ["1300", "1320", "1200"]


def test_leftovers_of_killed_builds_go_with_the_next_one(tmp_path):
    first = make(tmp_path, {"a": b"1"})
    (tmp_path / "generations/.building-20260101T120001Z-000002").mkdir()
    (tmp_path / "generations/20260101T120002Z-000002").mkdir()
    second = make(tmp_path, {"a": b"2"}, NOON + timedelta(minutes=1))
    assert names(tmp_path) == [first.generation.id, second.generation.id]


def test_a_full_disk_leaves_the_last_generation_and_nothing_else(tmp_path):
    first = make(tmp_path, {"a": b"1"})

    def full(path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    parts = {"a": Part.of_bytes(b"2"), "b": Part("v", write=full)}
    with pytest.raises(DiskFull) as caught:
        build(tmp_path, begin(tmp_path, NOON + timedelta(minutes=1)), parts, {}, URL)
    assert "Free space" in caught.value.cure
    assert names(tmp_path) == [first.generation.id]
    assert current_generation(tmp_path) == first.generation
    assert make(tmp_path, {"a": b"2"}, NOON + timedelta(minutes=2)) is not None


def test_a_failing_part_leaves_the_last_generation_and_nothing_else(tmp_path):
    first = make(tmp_path, {"a": b"1"})

    def fail(path: Path) -> None:
        raise KeyError("a fault of ours")

    with pytest.raises(KeyError):
        build(tmp_path, begin(tmp_path, NOON + timedelta(minutes=1)), {"a": Part("v", write=fail)}, {}, URL)
    assert names(tmp_path) == [first.generation.id]


def test_a_finished_file_is_linked_and_keeps_its_time(tmp_path):
    source = tmp_path / "list.gz"
    source.write_bytes(b"rows")
    os.utime(source, (1_700_000_000, 1_700_000_000))
    built = build(tmp_path, begin(tmp_path, NOON), {"public/data/list.gz": Part.of_file(source)}, {}, URL)
    linked = built.generation.path / "public/data/list.gz"
    assert linked.samefile(source)
    assert linked.stat().st_mtime == 1_700_000_000
    source.unlink()
    assert linked.read_bytes() == b"rows"
