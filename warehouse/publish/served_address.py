"""Records the address at which the processes of the API serve a data directory, so that nobody publishes for another
one.

Each process holds a lock on a file with its address for as long as it lives. The kernel drops the lock with the
process, so the file of a killed one is ignored.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from contracts.errors import ForeignGeneration
from contracts.settings import Settings

FOLDER = "serving"
"""The folder in SVC_DATA_DIR with one locked file per serving process, which contains its address."""


def hold_address(data_dir: Path, base_url: str) -> None:
    """Records until this process ends that it serves `data_dir` at `base_url`. Raises `OSError`."""
    folder = data_dir / FOLDER
    folder.mkdir(exist_ok=True)
    name = token_hex(8)
    draft = folder / f".{name}"
    # Never closed: the process holds the lock until it ends.
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.write(descriptor, base_url.encode())
    draft.rename(folder / name)


def served_address(data_dir: Path) -> str | None:
    """Returns the address at which a process serves `data_dir`, or None. Removes the files of ended processes."""
    for path in (data_dir / FOLDER).glob("[!.]*"):
        with suppress(FileNotFoundError), path.open() as file:
            try:
                # Shared, so that two processes that check at the same time don't mistake one another for a serving one.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read()
            with suppress(OSError):
                path.unlink()
    return None


def refuse_other_address(settings: Settings) -> None:
    """Raises `ForeignGeneration` if a running service has another address than the settings: it could not serve a
    generation that is published for theirs."""
    served = served_address(settings.data_dir)
    if served is not None and served != settings.public_base_url:
        raise ForeignGeneration(
            f"A service is running on {settings.data_dir} for {served}, not {settings.public_base_url}.",
            cure=f"Set SVC_BASE_URL={served}, or stop that service first to publish for another address.",
        )
