"""A worker of Dagster's runs that a test starts from the fork server and kills."""

import os
import sys
from pathlib import Path


def work(data_dir: Path, collector_url: str) -> None:
    """Executes runs for a data directory and sends spans to the collector; its output goes to a log."""
    for name in [name for name in os.environ if name.startswith(("SVC_", "DAGSTER_"))]:
        del os.environ[name]
    os.environ.update({"SVC_DATA_DIR": str(data_dir), "SVC_OTLP_URL": collector_url})
    os.chdir(data_dir)
    with (data_dir / "worker.log").open("a") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    sys.stderr = os.fdopen(2, "w", closefd=False)
    from pipelines.worker import main

    main()
