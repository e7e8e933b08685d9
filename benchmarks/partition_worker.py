"""Reads partitions in the bench of workers: `python -m benchmarks.partition_worker SPEC`, a process for each worker.

It has imported everything and read one partition before it measures, so that process start is left out. It prints a
line for each partition that it stored, then what it cost.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from pathlib import Path

from contracts.settings import Settings
from contracts.token.partitions import Partition, partition_of
from pipelines.token.partitions import PartitionReport, make_partitions


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    spec = json.loads(sys.argv[1])
    settings = Settings.model_validate(spec["settings"])
    partitions: list[Partition] = [part for key in spec["partitions"] if (part := partition_of(key)) is not None]
    with tempfile.TemporaryDirectory() as elsewhere:
        warm = settings.model_copy(update={"publish_url": f"file://{elsewhere}", "data_dir": Path(elsewhere)})
        asyncio.run(make_partitions(warm, partitions[:1]))

    def tell(report: PartitionReport) -> None:
        print(json.dumps({"stored": report.partition.key}), flush=True)

    before = cpu_s()
    events = 0
    for partition in partitions:
        events += sum(
            report.transfers for report in asyncio.run(make_partitions(settings, [partition], on_report=tell))
        )
    print(json.dumps({"events": events, "cpu_s": cpu_s() - before}), flush=True)


if __name__ == "__main__":
    main()
