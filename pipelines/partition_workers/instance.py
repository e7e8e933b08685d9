"""The home of Dagster's processes that run workers on one host. `kubernetes.yaml` is that of a cluster."""

from pathlib import Path

from contracts.errors import SettingsInvalid
from contracts.settings import Settings
from pipelines.instance import diary_unusable
from warehouse.file_modes import make_data_directory, make_private_directory

PROCESSES, KUBERNETES = (Path(__file__).with_name(name) for name in ("processes.yaml", "kubernetes.yaml"))


def prepare_workers_home(settings: Settings, count: int) -> Path:
    """Writes `<data_dir>/workers` with its `dagster.yaml` for `count` runs at once. Raises `StoreUnusable`."""
    home = settings.data_dir.absolute() / "workers"
    try:
        make_data_directory(settings.data_dir.absolute())
        make_private_directory(home)
        (home / "dagster.yaml").write_text(PROCESSES.read_text().replace("$count", str(count)))
    except OSError as error:
        raise diary_unusable(home, f"{error.filename}: {error.strerror}") from error
    return home


def require_workers(settings: Settings) -> None:
    """Raises `SettingsInvalid` where something that workers need is not set.

    A worker signs what it stores, so it takes the key of the host that publishes, and never makes one.
    """
    needed = {
        "SVC_PARTITION_BLOCKS": settings.partition_blocks,
        "SVC_PUBLISH_URL": settings.publish_url,
        "SVC_WORKERS_URL": settings.workers_url,
        "SVC_RPC_URLS": settings.rpc_urls,
        "SVC_SIGNING_KEY_FILE": settings.signing_key_file,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise SettingsInvalid(
            f"Workers need {', '.join(missing)}.",
            cure="Set them as docs/operations.md shows under `More than one machine: ingestion`.",
        )
