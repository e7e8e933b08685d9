"""Configures the home of the Dagster processes that run workers on one host. `kubernetes.yaml` is for a cluster."""

from pathlib import Path

from contracts.settings import Settings
from pipelines.instance import diary_unusable
from warehouse.file_modes import make_data_directory, make_private_directory
from warehouse.token.partition_store import require_partitions

PROCESSES, KUBERNETES = (Path(__file__).with_name(name) for name in ("processes.yaml", "kubernetes.yaml"))


def prepare_workers_home(settings: Settings, count: int) -> Path:
    """Writes `<data_dir>/workers` with its `dagster.yaml` for `count` concurrent runs. Raises `DiskFull`,
    `StoreUnusable`."""
    home = settings.data_dir.absolute() / "workers"
    try:
        make_data_directory(settings.data_dir.absolute())
        make_private_directory(home)
        (home / "dagster.yaml").write_text(PROCESSES.read_text().replace("$count", str(count)))
    except OSError as error:
        raise diary_unusable(home, f"{error.filename}: {error.strerror}", error) from error
    return home


def require_workers(settings: Settings) -> None:
    """Raises `SettingsInvalid` if a setting that workers need is not set.

    A worker signs what it stores, so it uses the signing key of the publishing host and never creates one.
    """
    require_partitions(settings, "workers_url", "rpc_urls", "signing_key_file")
