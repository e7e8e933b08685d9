"""`make run-two`: the whole service as on two hosts, run on this machine: PostgreSQL, an S3, a pipeline host with the
demo chain, two API hosts with a disk each, and nginx in front of them. Everything is temporary and ends with Ctrl-C or
SIGTERM."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nginx import free_port, have_nginx
from object_stores import BUCKET, local_s3
from postgres_fixtures import postgres_binaries, temporary_postgres
from two_hosts import ApiHost, Process, balancing, until

from cli.environment import as_environment, effective_settings
from cli.output import note, progress_line, say
from contracts.access.signing import key_text, new_private_key
from contracts.settings import PREFIX

PORT = 8000


class Ended(Exception):
    """A signal requests the end of everything."""


def missing() -> list[str]:
    """Returns what this machine lacks, and how to get it."""
    lacks = []
    if not have_nginx():
        lacks.append("nginx is not installed; on Debian: apt-get install nginx")
    if postgres_binaries() is None:
        lacks.append("PostgreSQL's server is not installed; on Debian: apt-get install postgresql")
    return lacks


def run_two(stack: ExitStack, directory: Path, wait: Callable[[], None]) -> None:
    """Starts one part after the other, prints each one's address, and waits."""
    told = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    for name in told:
        del os.environ[name]
    binaries = postgres_binaries()
    assert binaries is not None
    postgres = stack.enter_context(temporary_postgres(binaries))
    ledger_url = postgres.url(postgres.new_database())
    say(progress_line("ledger", ledger_url))
    credentials = stack.enter_context(local_s3())
    say(progress_line("store", f"s3://{BUCKET} at {credentials['AWS_ENDPOINT_URL']}"))

    port = int(told.get("SVC_PORT", PORT))
    key_file = directory / "signing.pem"
    key_file.write_text(key_text(new_private_key()))
    key_file.chmod(0o600)
    os.environ |= credentials | {
        "SVC_BASE_URL": f"http://127.0.0.1:{port}",
        "SVC_LEDGER_URL": ledger_url,
        "SVC_PUBLISH_URL": f"s3://{BUCKET}/svc",
        "SVC_MASTER_SECRET": secrets.token_hex(32),
        "SVC_SIGNING_KEY_FILE": str(key_file),
        "SVC_TRUSTED_PROXIES": "127.0.0.1",
        "SVC_DATA_DIR": str(directory / "pipeline" / "var"),
    }
    dagster_port = int(told.get("SVC_DAGSTER_PORT", free_port()))
    own = {"SVC_PORT": str(free_port()), "SVC_DAGSTER_PORT": str(dagster_port), "SVC_HOST_NAME": "pipeline"}
    pipeline = Process(directory / "pipeline", os.environ | own, "run")
    stack.callback(_end, [pipeline])
    pipeline.start()
    say(progress_line("pipeline", f"starts its chain and reads it; {pipeline.log} says how far it is"))
    until(lambda: _has_chain(pipeline), lambda: f"no chain answers:\n{pipeline.said()}")

    environment = as_environment(effective_settings())
    hosts = [ApiHost(name, directory, environment) for name in ("host-a", "host-b")]
    stack.callback(_end, hosts)
    for host in hosts:
        host.start()
    for host in hosts:
        _wait_until_it_answers(host)
        say(progress_line(host.name, f"{host.url}, its disk in {host.data_dir}"))
    stack.enter_context(balancing(directory / "balancer", port, hosts))
    say(progress_line("nginx", f"http://127.0.0.1:{port} leads to both"))
    say(progress_line("pipeline", f"Dagster shows it on http://127.0.0.1:{dagster_port} once it has started"))
    say(progress_line("next", f"curl http://127.0.0.1:{port}/health; kill a host, and it goes on answering"))
    say(progress_line("next", "Ctrl-C stops everything, and nothing of it is kept"))
    wait()


def _has_chain(pipeline: Process) -> bool:
    """Returns whether its demo chain is known, which the hosts need to start; it creates its first generation
    meanwhile."""
    assert pipeline.process is not None
    assert pipeline.process.poll() is None, pipeline.said()
    return effective_settings().demo


def _wait_until_it_answers(host: ApiHost) -> None:
    until(lambda: host.health() is not None, lambda: f"it does not answer:\n{host.said()}")


def _end(processes: Sequence[Process]) -> None:
    """Ends the processes together, including what they left running."""
    for process in processes:
        if process.process is not None and process.process.poll() is None:
            process.process.terminate()
    for process in processes:
        if process.process is not None:
            process.process.wait()
        process.kill()


def main() -> int:
    lacking = missing()
    for line in lacking:
        note(f"make run-two: {line}")
    if lacking:
        return 1

    def end(number: int, frame: FrameType | None) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)
        raise Ended

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        with tempfile.TemporaryDirectory(prefix="svc-two-") as directory, ExitStack() as stack:
            run_two(stack, Path(directory), signal.pause)
    except Ended:
        say(progress_line("stopped", "every process ended"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
