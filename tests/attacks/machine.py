"""Attacks from the same machine: Dagster's web server through a browser, other users' access, what remains in files."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import brotli
import duckdb
import httpx
import zstandard

from .registry import Outcome, Phase, attack
from .service import Service

NOBODY = 65534
MUTATIONS = (
    'mutation { deletePipelineRun(runId: "none") { __typename } }',
    'mutation { terminateRuns(runIds: ["none"]) { __typename } }',
    'mutation { stopSensor(id: "none") { __typename } }',
)
REFUSALS = ("UnauthorizedError", "Unauthorized")


@attack("A5", "a page of another origin launches runs in Dagster", Phase.WHOLE)
def cross_site_runs(service: Service) -> Outcome:
    broken = []
    evil = {"Origin": "https://evil.example", "Referer": "https://evil.example/"}
    with httpx.Client(base_url=service.dagster_url, timeout=30, trust_env=False) as client:
        for mutation in MUTATIONS:
            name = mutation.split("{ ")[1].split("(")[0]
            body = json.dumps({"query": mutation})
            answers = {
                "GET": client.get("/graphql", params={"query": mutation}, headers=evil),
                "POST": client.post("/graphql", content=body, headers=evil | {"Content-Type": "application/json"}),
                "POST of a form": client.post("/graphql", data={"query": mutation}, headers=evil),
                "another Host": client.get("/graphql", params={"query": mutation}, headers={"Host": "evil.example"}),
            }
            for how, answer in answers.items():
                if answer.status_code < 400 and not any(words in answer.text for words in REFUSALS):
                    broken.append(f"{name} by {how}: {answer.text[:60]}")
    return Outcome(broken, f"{len(MUTATIONS)} mutations in four ways")


@attack("A9", "another user of the machine reads private files", Phase.WHOLE)
def other_users(service: Service) -> Outcome:
    if os.geteuid() != 0:
        return Outcome([], "not tried: only root can become another user")
    files = [path for path in service.data_dir.rglob("*") if not path.is_symlink()]
    readable = {service.data_dir / name for name in _readable_by_nobody(files)}
    private = [path for path in readable if "public" not in path.relative_to(service.data_dir).parts]
    served = [path for path in readable if "public" in path.relative_to(service.data_dir).parts]
    broken = []
    if private:
        kinds = sorted({str(path.relative_to(service.data_dir))[:40] for path in private})
        broken.append(f"{len(private)} private files or folders, such as {', '.join(kinds[:3])}")
    if not any(path.name == "llms.txt" for path in served):
        broken.append("a web server of another user can't read what is public")
    return Outcome(broken, f"{len(files)} files, {len(served)} of them public")


def _readable_by_nobody(files: list[Path]) -> list[str]:
    """Returns the files that a process of the user `nobody` can open and the folders that it can list."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        found = []
        for path in files:
            with suppress(OSError):
                next(path.iterdir(), None) if path.is_dir() else path.open("rb").close()
                found.append(str(path))
        with os.fdopen(writer, "w") as pipe:
            json.dump(found, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        found = json.load(pipe)
    os.waitpid(child, 0)
    return list(found)


@attack("A14", "what was forgotten is still in a file", Phase.FILES)
def forgotten(service: Service) -> Outcome:
    marker = service.written.get("private_marker")
    if marker is None:
        return Outcome(["the attack H3, which writes a private text, was not run before"])
    before = _holding(service.data_dir, marker)
    forgot = service.svc_result("world", "forget", "local:one", "--json")
    if forgot.returncode != 0:
        return Outcome([f"svc world forget failed: {forgot.stderr[-200:]}"])
    after = _holding(service.data_dir, marker)
    names = sorted({f"{path.parent.name}/{path.name}" for path in after})
    broken = [f"{len(after)} of {len(before)} files still hold it: {', '.join(names[:4])}"] if after else []
    if not any(path.suffix == ".duckdb" for path in before):
        broken.append("no warehouse held it before")
    return Outcome(broken, f"{len(before)} files before, {len(after)} after")


def _holding(directory: Path, marker: str) -> list[Path]:
    wanted = marker.encode()
    return [
        path
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink() and any(wanted in text for text in _readings(path))
    ]


def _readings(path: Path) -> Iterator[bytes]:
    """Yields the bytes of a file: raw, decompressed, and as its store reads them."""
    raw = path.read_bytes()
    yield raw
    with suppress(OSError, brotli.error, zstandard.ZstdError):
        if path.suffix == ".gz":
            yield gzip.decompress(raw)
        elif path.suffix == ".br":
            yield brotli.decompress(raw)
        elif path.suffix == ".zst":
            yield zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    if path.suffix == ".duckdb":
        with suppress(duckdb.Error), duckdb.connect(str(path), read_only=True) as connection:
            tables = connection.execute("select schema_name, table_name from duckdb_tables()").fetchall()
            for schema, table in tables:
                rows = connection.execute(f'select t::varchar from "{schema}"."{table}" t').fetchall()
                yield "\n".join(str(row) for (row,) in rows).encode()


@attack("A12", "a store that can't be read ends a command in a traceback", Phase.ASIDE)
def corrupt_store(service: Service) -> Outcome:
    sound = (service.data_dir / "warehouse.duckdb").read_bytes()
    stores = {"noise": os.urandom(len(sound)), "cut": sound[: len(sound) // 3]}
    # Each command on one of them: `tests/cli/test_broken_stores.py` has every command and every store.
    commands = [STOPPED[number :: len(stores)] for number in range(len(stores))]
    with ThreadPoolExecutor(len(stores)) as pool:
        broken = pool.map(partial(_tracebacks, service), stores, stores.values(), commands)
    return Outcome([line for lines in broken for line in lines])


STOPPED = (("doctor",), ("pipeline", "run"), ("pipeline", "status"), ("world", "forget", "local:one"))


def _copied_if_there(source: str, target: str) -> None:
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


def _tracebacks(service: Service, name: str, content: bytes, commands: Sequence[tuple[str, ...]]) -> list[str]:
    """Returns the output of commands that end in a traceback, run on a copy of the installation with this warehouse."""
    copy = service.data_dir.with_name(name)
    # The service goes on to publish: what it is building may be gone before it is copied. A pipe can't be copied.
    ignored = shutil.ignore_patterns(".*", "*.pipe")
    shutil.copytree(service.data_dir, copy, symlinks=True, ignore=ignored, copy_function=_copied_if_there)
    (copy / "warehouse.duckdb").write_bytes(content)
    broken = []
    for command in commands:
        ran = service.svc_result(*command, data_dir=copy)
        if "Traceback" in ran.stderr + ran.stdout:
            broken.append(f"svc {' '.join(command)} on {name}: {ran.stderr.strip().splitlines()[-1][:80]}")
    return broken
