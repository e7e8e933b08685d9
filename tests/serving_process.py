"""A process that appears to others to serve a data directory: it holds the record of its address."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLD = (
    "import sys, pathlib; from warehouse.publish.served_address import hold_address; "
    "hold_address(pathlib.Path(sys.argv[1]), sys.argv[2]); print('held', flush=True); sys.stdin.read()"
)


@contextmanager
def serving(data_dir: Path, base_url: str) -> Iterator[subprocess.Popen[str]]:
    """Serves until the context ends, or until the process is killed."""
    command = [sys.executable, "-c", HOLD, str(data_dir), base_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()
