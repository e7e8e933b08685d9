"""Ingests over and over until complete, as a process to be killed: `python ingest_process.py DIRECTORY URL`."""

import sys
from pathlib import Path

from ingest_helpers import ingest_once, warehouse


def main() -> None:
    directory, url = sys.argv[1:]
    print("started", flush=True)
    with warehouse(Path(directory)) as connection:
        while not ingest_once(connection, url, budget_s=1.0).complete:
            pass
    print("complete", flush=True)


if __name__ == "__main__":
    main()
