"""Writes snapshots of one graph over and over, to be killed: `python snapshot_process.py DIRECTORY`."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import duckdb
from world_graphs import edge, events_of, node, snapshot_inputs

from warehouse.world.snapshot_writer import write_snapshot


def main(directory: Path) -> None:
    events = events_of(
        [
            *(node(f"n{number:04}", title=f"node {number}") for number in range(300)),
            *(edge(f"n{number:04}", f"n{number + 1:04}") for number in range(299)),
        ]
    )
    with duckdb.connect() as connection:
        snapshot_inputs(connection, events)
        for revision in itertools.count(1):
            write_snapshot(connection, directory / f"{revision % 2}", revision)
            print("written", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
