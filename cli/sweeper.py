"""Ends what a killed supervisor leaves running: `python -m cli.sweeper DATA_DIR`, which `cli.supervise` starts.

Its standard input is a pipe from the supervisor, which writes a line whenever its children change. The pipe ends with
the supervisor, however that ends, on every system. Until then this process only waits, so it imports nothing before.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Waits for the end of the supervisor, and then ends its children and the demo's node like a Ctrl-C."""
    lines = [line for line in sys.stdin.buffer if line.endswith(b"\n")]
    if lines:
        from cli.supervise import end_orphans
        from warehouse.discovery.processes import Child

        newest = json.loads(lines[-1])
        end_orphans([Child(**child) for child in newest["children"]], newest["stop_timeout_s"])
    _end_demo(Path(sys.argv[1]))


def _end_demo(data_dir: Path) -> None:
    """Stores the chain of a node that runs for nobody any more, and ends the node."""
    from cli.demo.directory import DemoDirectory

    directory = DemoDirectory(data_dir)
    if directory.noted_node() is None:
        return
    from cli.demo.chain import adopt_orphan
    from contracts.errors import DemoBusy

    with suppress(DemoBusy), directory.held():
        adopt_orphan(directory, lambda _: None)


if __name__ == "__main__":
    main()
