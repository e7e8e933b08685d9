"""Snapshots: what was written is read, and nothing incomplete, damaged or of a later version is opened."""

from __future__ import annotations

import errno
import hashlib
import random
import shutil
import time
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pytest
import tantivy
from forked import forked
from rounds import ROUNDS
from small_disk import fill, small_disk
from world_graphs import T0, edge, events_of, node, snapshot_inputs, write, write_again_and_again

from contracts.errors import StoreTooNew, StoreUnusable
from warehouse.world.index_entries import NODE_COLUMNS, entries_here
from warehouse.world.snapshot import (
    FORMAT,
    MANIFEST,
    NOBODY,
    PUBLIC_TEXT,
    SEPARATED,
    Snapshot,
    TextIndex,
    index_schema,
    read_manifest,
    sealed,
    separated,
)
from warehouse.world.snapshot_writer import write_numbers, write_snapshot

HISTORY = events_of(
    [
        node("b", title="Bée", properties={"deep": [{"n": 10**30, "text": "ü\u202e"}], "float": 0.1}),
        node("a", owner="0xaa"),
        node("over", valid_to=T0),
        node("é"),
        edge("b", "a", owner="0xaa"),
        edge("b", "é"),
        edge("é", "b"),
        edge("b", "over", valid_to=T0),
    ]
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("written") / "snapshot", HISTORY)


@pytest.fixture
def directory(tmp_path: Path, written: Path) -> Path:
    return shutil.copytree(written, tmp_path / "snapshot")


def test_a_written_snapshot_is_read_back(directory: Path) -> None:
    snapshot = Snapshot(directory)
    assert (len(snapshot), snapshot.revision, snapshot.manifest.edges) == (4, 8, 3)
    assert [snapshot.find(each) for each in ("a", "b", "over", "é", "c", "")] == [0, 1, 2, 3, None, None]
    assert [snapshot.node(number) for number in range(4)] == [HISTORY[1].node, HISTORY[0].node, None, HISTORY[3].node]
    assert [snapshot.edge(number) for number in range(3)] == [HISTORY[4].edge, HISTORY[5].edge, HISTORY[6].edge]
    assert snapshot.node_owner.tolist() == [1, 0, NOBODY, 0]
    assert snapshot.out_start.tolist() == [0, 0, 2, 2, 3]
    assert snapshot.edge_source.tolist() == [1, 1, 3] and snapshot.edge_target.tolist() == [0, 3, 1]
    assert snapshot.in_start.tolist() == [0, 1, 2, 2, 3] and snapshot.in_edge.tolist() == [0, 2, 1]
    assert snapshot.edge_owner.tolist() == [1, 0, 0]
    assert (snapshot.owner_code("0xaa"), snapshot.owner_code("0xbb")) == (1, None)


def test_an_empty_graph_has_a_snapshot_too(tmp_path: Path) -> None:
    snapshot = Snapshot(write(tmp_path / "snapshot", []))
    assert len(snapshot) == 0 and snapshot.find("a") is None


def test_an_index_of_several_segments_knows_the_node_of_each_document(tmp_path: Path) -> None:
    directory = tmp_path / PUBLIC_TEXT
    directory.mkdir()
    index = tantivy.Index(index_schema(), str(directory))
    index.register_tokenizer(SEPARATED, separated)
    writer = index.writer(heap_size=32_000_000, num_threads=1)
    of_segments = [[4, 7, 9], [1, 2], [12]]
    for numbers in of_segments:
        rows = [(number, number % 2, 0, 0, '{"title":"x","properties":{}}', None, None, None) for number in numbers]
        nodes = pa.RecordBatch.from_pylist([dict(zip(NODE_COLUMNS, row, strict=True)) for row in rows])
        for entry, _ in entries_here(nodes):
            writer.add_json(entry)
        writer.commit()
    writer.wait_merging_threads()
    write_numbers(directory)
    written = TextIndex(directory)
    assert written.searcher.num_segments == len(of_segments)
    every, _, matched = written.best(tantivy.Query.all_query(), 10, counted=True)
    assert (sorted(every.tolist()), matched) == ([1, 2, 4, 7, 9, 12], 6)
    odd, _, matched = written.best(tantivy.Query.term_query(written.schema, "type", 1), 10, counted=True)
    assert (sorted(odd.tolist()), matched) == ([1, 7, 9], 3)


def test_a_change_in_one_process_does_not_reach_the_files(directory: Path) -> None:
    Snapshot(directory).node_owner[1] = NOBODY
    assert Snapshot(directory).node_owner[1] == 0


def test_a_snapshot_opens_quickly(directory: Path) -> None:
    times = []
    for _ in range(5):
        started = time.process_time()
        Snapshot(directory)
        times.append(time.process_time() - started)
    assert min(times) < 0.05


def test_the_stored_files_match_the_manifest(directory: Path) -> None:
    for name, entry in read_manifest(directory).files.items():
        content = (directory / name).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry.bytes, entry.sha256)


@pytest.mark.parametrize(
    "name", ["nodes.bin", "edge_target.u32", "ids.u64", "text-public/meta.json", "text-public.u32"]
)
@pytest.mark.parametrize("damage", ["missing", "short", "long"])
def test_half_a_snapshot_is_refused(directory: Path, name: str, damage: str) -> None:
    content = (directory / name).read_bytes()
    (directory / name).unlink()
    if damage != "missing":
        (directory / name).write_bytes(content[:-1] if damage == "short" else content + b"x")
    with pytest.raises(StoreUnusable):
        Snapshot(directory)


def test_a_manifest_that_is_missing_cut_or_changed_is_refused(directory: Path) -> None:
    content = (directory / MANIFEST).read_bytes()
    for damaged in (b"", content[: len(content) // 2], content.replace(b'"nodes": 4', b'"nodes": 5')):
        assert damaged != content
        (directory / MANIFEST).write_bytes(damaged)
        with pytest.raises(StoreUnusable):
            Snapshot(directory)
    (directory / MANIFEST).unlink()
    with pytest.raises(StoreUnusable):
        Snapshot(directory)


def test_a_later_format_is_refused_as_such_and_an_earlier_one_too(directory: Path) -> None:
    manifest = read_manifest(directory)
    (directory / MANIFEST).write_bytes(sealed(msgspec.structs.replace(manifest, format=FORMAT + 1)))
    with pytest.raises(StoreTooNew):
        Snapshot(directory)
    (directory / MANIFEST).write_bytes(sealed(msgspec.structs.replace(manifest, format=FORMAT - 1)))
    with pytest.raises(StoreUnusable):
        Snapshot(directory)


def test_a_later_format_with_another_layout_is_still_recognised(directory: Path) -> None:
    body = b'{"format": 9, "all": "different"}'
    (directory / MANIFEST).write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    with pytest.raises(StoreTooNew):
        Snapshot(directory)


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        snapshot_inputs(connection, HISTORY)
        connection.execute("update snapshot_input_nodes set body = '{}' where id = 'é'")
        with pytest.raises(msgspec.ValidationError):
            write_snapshot(connection, tmp_path / "snapshot", 8)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_is_named_and_leaves_no_half_snapshot(tmp_path: Path) -> None:
    otherwise = "tests/warehouse/world/test_digested_files.py has the same error without"
    with small_disk(tmp_path / "small", otherwise=otherwise) as place, duckdb.connect() as connection:
        snapshot_inputs(connection, events_of([node("a"), node("b", title="b" * 3_000_000), edge("a", "b")]))
        fill(place / "filler", leave=1_000_000)
        with pytest.raises(OSError, match="No space left") as caught:
            write_snapshot(connection, place / "snapshot", 3)
        assert [path.name for path in place.iterdir()] == ["filler"]
        (place / "filler").unlink()
        write_snapshot(connection, place / "snapshot", 3)
        assert len(Snapshot(place / "snapshot")) == 2
    assert caught.value.errno == errno.ENOSPC


def test_killed_at_any_moment_a_writer_leaves_whole_snapshots_or_none(tmp_path: Path) -> None:
    dice = random.Random(5)
    for _ in range(ROUNDS):
        with forked(write_again_and_again, tmp_path) as writer:
            assert writer.stdout.readline() == "written\n"
            time.sleep(dice.uniform(0, 0.2))
            writer.kill()
            writer.wait()
        whole = [path for path in tmp_path.iterdir() if not path.name.startswith(".")]
        assert whole
        for directory in whole:
            snapshot = Snapshot(directory)
            assert len(snapshot) == 300 and np.count_nonzero(snapshot.edge_owner == 0) == 299
            for name, entry in snapshot.manifest.files.items():
                assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == entry.sha256
    write(tmp_path / "after", HISTORY)
    assert not list(tmp_path.glob(".*"))
