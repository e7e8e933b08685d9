"""Retention deletes unused objects of partitions after a day, and nothing that a writer still needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_helpers import ALICE, BOB, TOKEN
from stored_partitions import FIRST, OTHER, SERVICE, ZERO, store_at, store_over, store_partition

from cli.demo.recorded import transfer_log
from contracts.errors import ObjectStoreAway, PartitionNotSigned
from contracts.token.partitions import Partition, ReadToken, covering, partitions_within
from warehouse.publish.object_store import ObjectStore
from warehouse.token.partition_retention import Pruned, prune_partitions
from warehouse.token.partition_store import FILES, WRITTEN_WITHIN, PartitionStore

LOGS = [transfer_log(TOKEN, 3, 0, ZERO, ALICE, 5), transfer_log(TOKEN, 25, 0, ALICE, BOB, 2)]
SECOND = Partition(20, 39)
NOTHING = Pruned()


class BeforeManifest(ObjectStore):
    """A writer's store in which something happens after its files are stored and before its manifest is."""

    def __init__(self, directory: Path, happening: Callable[[], object]) -> None:
        super().__init__(f"file://{directory}/store")
        self._happening = happening

    def create(self, name: str, body: bytes) -> bool:
        self._happening()
        return super().create(name, body)


class Killed(Exception):
    """Ends a writer."""


def killed() -> None:
    raise Killed


def written(directory: Path, partition: Partition, happening: Callable[[], object]) -> None:
    store_partition(store_over(BeforeManifest(directory, happening), directory), directory, partition, LOGS)


def killed_before_its_manifest(directory: Path, partition: Partition = FIRST) -> None:
    with pytest.raises(Killed):
        written(directory, partition, killed)


def later(directory: Path, hours: float = 25) -> None:
    """Dates all stored objects back, so that the next object is the newest one."""
    for path in (directory / "store").rglob("*.*"):
        if path.is_file():
            time_s = path.stat().st_mtime - 3600 * hours
            os.utime(path, (time_s, time_s))


def prune(directory: Path, blocks: int = 20, tokens: Sequence[ReadToken] = (SERVICE,)) -> Pruned:
    return prune_partitions(store_at(directory), tokens, blocks)


def fetched(directory: Path) -> int:
    """Fetches all stored partitions and returns their number."""
    store: PartitionStore = store_at(directory)
    manifests = store.manifests(name for names in store.names().values() for name in names)
    for manifest in manifests:
        for path in store.fetch([manifest], directory).values():
            path.unlink()
    return len(manifests)


def test_files_that_a_killed_worker_left_behind_go_after_a_day(tmp_path):
    killed_before_its_manifest(tmp_path)
    store_partition(store_at(tmp_path), tmp_path, FIRST, LOGS)
    later(tmp_path, hours=23)
    store_partition(store_at(tmp_path), tmp_path, SECOND, LOGS)
    assert prune(tmp_path) == NOTHING
    later(tmp_path, hours=2)
    killed_before_its_manifest(tmp_path, Partition(40, 59))  # the newest object, which provides the time
    assert prune(tmp_path) == Pruned(files=2)
    assert fetched(tmp_path) == 2
    assert prune(tmp_path) == NOTHING


def test_a_writer_at_work_keeps_its_files_although_the_same_were_left_behind_before(tmp_path):
    killed_before_its_manifest(tmp_path)
    later(tmp_path)
    pruned: list[Pruned] = []
    written(tmp_path, FIRST, lambda: pruned.append(prune(tmp_path)))
    assert pruned == [Pruned(files=2)]
    assert fetched(tmp_path) == 1


def test_a_writer_that_was_held_up_stores_no_manifest_of_files_that_may_be_gone(tmp_path):
    times = iter([datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC) + WRITTEN_WITHIN * 1.1])
    slow = store_over(ObjectStore(f"file://{tmp_path}/store"), tmp_path, clock=lambda: next(times))
    with pytest.raises(ObjectStoreAway, match="took too long for the files of blocks 0 to 19"):
        store_partition(slow, tmp_path, FIRST, LOGS)
    assert store_at(tmp_path).names() == {}


def test_the_loser_of_two_writers_leaves_files_that_go(tmp_path):
    assert store_partition(store_at(tmp_path), tmp_path, FIRST, LOGS)
    assert not store_partition(store_at(tmp_path), tmp_path, FIRST, LOGS)
    later(tmp_path)
    store_partition(store_at(tmp_path), tmp_path, SECOND, LOGS)
    assert prune(tmp_path) == Pruned(files=2)
    assert fetched(tmp_path) == 2


def test_partitions_of_another_size_go_a_day_after_others_replaced_them(tmp_path):
    for partition in (FIRST, SECOND, Partition(40, 59)):
        store_partition(store_at(tmp_path), tmp_path, partition, LOGS)
    later(tmp_path)
    store_partition(store_at(tmp_path), tmp_path, Partition(0, 39), LOGS)
    assert prune(tmp_path, blocks=40) == NOTHING
    later(tmp_path)
    killed_before_its_manifest(tmp_path, Partition(80, 119))
    assert prune(tmp_path, 40, tokens=[SERVICE, ReadToken(OTHER)]) == NOTHING  # the new ones lack a token
    assert prune(tmp_path, blocks=40) == Pruned(partitions=2, files=4)
    assert sorted(store_at(tmp_path).names()) == [Partition(0, 39), Partition(40, 59)]
    assert fetched(tmp_path) == 2


@pytest.mark.parametrize(
    ("partition", "blocks", "cover"),
    [
        (FIRST, 20, [FIRST]),
        (FIRST, 40, [Partition(0, 39)]),
        (Partition(0, 39), 20, [FIRST, SECOND]),
        (Partition(30, 59), 20, [SECOND, Partition(40, 59)]),
    ],
)
def test_blocks_of_a_partition_lie_in_these_of_another_size(partition, blocks, cover):
    assert covering(partition, blocks) == cover


def test_files_of_a_manifest_that_is_refused_stay_for_the_person_who_judges_it(tmp_path):
    store_partition(store_at(tmp_path), tmp_path, FIRST, LOGS)
    killed_before_its_manifest(tmp_path)
    ((name,),) = store_at(tmp_path).names().values()
    path = tmp_path / "store/manifests" / name
    path.write_bytes(path.read_bytes().replace(b'"minted_raw":"5"', b'"minted_raw":"6"'))
    later(tmp_path)
    store_partition(store_at(tmp_path), tmp_path, SECOND, LOGS)
    assert prune(tmp_path) == NOTHING
    with pytest.raises(PartitionNotSigned):
        fetched(tmp_path)


STEP = st.sampled_from(["write", "killed", "later", "prune", "prune within"])


@settings(max_examples=6, deadline=None)
@given(steps=st.lists(st.tuples(STEP, st.integers(0, 2), st.sampled_from([20, 40])), max_size=12))
def test_whatever_happens_in_between_everything_stored_can_be_fetched(tmp_path_factory, steps):
    directory = tmp_path_factory.mktemp("retention")
    (directory / "store").mkdir()
    size = 20
    for step, place, size in steps:
        partition = Partition(place * size, place * size + size - 1)
        match step:
            case "write":
                written(directory, partition, lambda: None)
            case "killed":
                killed_before_its_manifest(directory, partition)
            case "later":
                later(directory)
            case "prune":
                prune(directory, size)
            case "prune within":
                written(directory, partition, partial(prune, directory, size))
        assert fetched(directory) == sum(map(len, store_at(directory).names().values()))
    for partition in partitions_within(0, 39, size):
        store_partition(store_at(directory), directory, partition, LOGS)
    later(directory)
    killed_before_its_manifest(directory, Partition(1000, 1019))
    prune(directory, size)
    stored = store_at(directory)
    assert set(stored.names()) >= set(partitions_within(0, 39, size))
    attempts = {file.name.rpartition("/")[0] for file in stored.listed(FILES)}
    assert len(attempts) == len(stored.names()) + 1
