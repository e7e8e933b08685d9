"""Publishing in a separate process that can be killed, for the fault tests and the soak."""

from __future__ import annotations

import hashlib
import random
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from forked import forked
from publishing import ONE_LIST, House, published_house

from warehouse.duck.connection import Warehouse
from warehouse.publish.generations import current_generation


def publish_round(data_dir: Path, number: int, about_to: Callable[[], object] = lambda: None) -> None:
    """Changes the inputs of documents and query copy, and publishes as of `number` minutes later."""
    house = House(data_dir)
    house.now += timedelta(minutes=number)
    with Warehouse(data_dir).connect() as connection:
        connection.execute("delete from out_holders__sources")
        connection.execute(
            "insert into out_holders__sources values ('other', ?, null, ?)", [number, house.now.replace(tzinfo=None)]
        )
    about_to()
    house.publish()


def kill_while_publishing(data_dir: Path, number: int, luck: random.Random, longest_s: float) -> bool:
    """Starts a round and kills it with SIGKILL after at most `longest_s` seconds of publishing. Returns whether it was
    still running."""
    with forked(_publish_aloud, data_dir, number) as process:
        assert process.stdout.readline() == "publishing\n"
        time.sleep(luck.uniform(0, longest_s))
        process.kill()
        return process.wait() == -signal.SIGKILL


def _publish_aloud(data_dir: Path, number: int) -> None:
    publish_round(data_dir, number, lambda: print("publishing", flush=True))


def assert_whole(data_dir: Path) -> str:
    """Asserts that the pointer leads to a generation whose every component exists with its size and hash. Returns its
    id."""
    generation = current_generation(data_dir)
    assert generation is not None
    for path, component in generation.manifest.components.items():
        content = (generation.path / path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (component.bytes, component.sha256), path
    return generation.id


def start(data_dir: Path) -> str:
    """Publishes a first whole generation with a list to link, and returns its id."""
    published_house(data_dir, ONE_LIST)
    return assert_whole(data_dir)
