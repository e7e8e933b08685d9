import random

import pytest
from publish_process import assert_whole, kill_while_publishing, publish_round, start
from publishing import ONE_LIST, mint, published_house
from rounds import ROUNDS
from small_disk import fill
from small_disk import small_disk as mounted

from contracts.errors import DiskFull
from warehouse.publish.generations import current_generation


def test_kill_minus_nine_while_publishing_leaves_whole_generations_only(tmp_path):
    luck = random.Random(7)
    last = start(tmp_path)
    killed = number = 0
    while killed < (4 if ROUNDS > 1 else 1):  # a process that ended before it was killed does not count
        number += 1
        assert number <= 40, f"only {killed} of 40 were killed in time"
        killed += kill_while_publishing(tmp_path, number, luck, longest_s=0.25)
        now = assert_whole(tmp_path)
        assert now >= last
        last = now
    publish_round(tmp_path, number + 1)
    assert assert_whole(tmp_path) > last
    assert not list((tmp_path / "generations").glob(".building-*"))


@pytest.fixture
def small_disk(tmp_path):
    otherwise = "tests/warehouse/publish/test_generations.py has the same fault without"
    with mounted(tmp_path / "small", otherwise=otherwise) as place:
        yield place


@pytest.mark.parametrize("left_bytes", [0, 60_000, 300_000, 700_000] if ROUNDS > 1 else [300_000])
def test_a_disk_that_fills_up_during_publish_leaves_the_last_generation_up(small_disk, left_bytes):
    house = published_house(small_disk, ONE_LIST)
    first = current_generation(small_disk)
    house.read_chain(mint(300, first=1000, block=30), 40)
    filler = small_disk / "filler"
    fill(filler, leave=left_bytes)
    with pytest.raises(DiskFull):
        house.publish()
    assert assert_whole(small_disk) == first.id
    assert [path.name for path in (small_disk / "generations").iterdir()] == [first.id]
    filler.unlink()
    assert house.publish().published
    assert current_generation(small_disk).id > first.id
