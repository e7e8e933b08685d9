"""The fixtures of every room, one plugin module each, and the global set-up of Hypothesis and publishing."""

import gc

# Until collection has ended: what imports make stays, and the garbage collector would walk it again and again.
gc.disable()

# isort: split
from contracts.access.eth_accounts import eth_account

# Before a test or web3 imports it: imported as the service does, it takes a third of the time and does not raise the
# recursion limit to 100,000, where nested JSON kills us.
eth_account()

# isort: split
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest
import typer.testing
from alembic.config import Config
from alembic.script import ScriptDirectory
from analysed_routes import analysing_once
from anyio import to_process
from fastapi.routing import APIRoute
from forked import FORK_SERVER, run_forked
from hypothesis import HealthCheck, settings
from light_encoders import compress_lightly
from pydantic.fields import FieldInfo
from pydantic_settings import EnvSettingsSource
from rounds import ROUNDS, SOAK_ROUNDS
from shared_state import share
from sqlalchemy import Engine

from contracts.access.signing import KeySet, key_text, new_private_key
from contracts.settings import Settings
from pipelines.publish.documents import ENCODERS
from warehouse.access.signing_keys import SigningKeys
from warehouse.file_modes import make_data_directory, write_private_file
from warehouse.ledger import ledger
from warehouse.ledger.engine import sqlite_engine
from warehouse.world import fold_helper, side_process

# Deadlines and this check count wall time, which on a machine that others use says nothing about the code. In CI every
# run draws the same examples; a soak draws five times as many.
settings.register_profile(
    "house",
    parent=settings.default,
    max_examples=25 * ROUNDS,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

# Where a shell forbids it, each of the hundreds of processes that tests start would compile Dagster and all else anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest_plugins = [
    "anvil_fixtures",
    "postgres_fixtures",
    "recorded_material",
    "web_fixtures",
]


TESTS = Path(__file__).parent

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts us in its background has it ignored. Dagster does with SIGTERM as with SIGINT, and every child
    # would inherit that and never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
MEMORY_DISK = Path("/dev/shm")
MEMORY_DISK_BYTES = 16_000_000_000
_STARTERS = {"subprocess", "multiprocessing"}


def pytest_configure() -> None:
    _use_memory_disk()
    share()


def _use_memory_disk() -> None:
    """Puts temporary directories into memory if there is room: a disk waits a millisecond for each of the thousands of
    `fsync` calls. Tests kill processes, not the machine, so nothing that they assert depends on the disk."""
    if "TMPDIR" in os.environ or not MEMORY_DISK.is_dir():
        return
    can_execute = not os.statvfs(MEMORY_DISK).f_flag & os.ST_NOEXEC
    if can_execute and shutil.disk_usage(MEMORY_DISK).free >= MEMORY_DISK_BYTES:
        os.environ["TMPDIR"] = str(MEMORY_DISK)
        tempfile.tempdir = None  # read TMPDIR again


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests that start processes or a whole run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Runs files with a browser first: they take longest, and no worker should wait for one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("web") is None)
    if ROUNDS < SOAK_ROUNDS:
        _leave_out(config, items, lambda item: item.get_closest_marker("soak") is not None)
    if config.getoption("--quick"):
        _leave_out(config, items, _starts_processes)


def _leave_out(config: pytest.Config, items: list[pytest.Item], is_left_out: Callable[[pytest.Item], bool]) -> None:
    left_out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def _starts_processes(item: pytest.Item) -> bool:
    """Decides by the imports of its module, including those through helpers in this directory."""
    needs = set(getattr(item, "fixturenames", ()))
    return (
        "postgresql" in item.name
        or bool(needs & {"postgres", "anvil"})
        or (isinstance(item, pytest.Function) and _imports_subprocess(item.module))
    )


@lru_cache
def _imports_subprocess(module: ModuleType) -> bool:
    names = (getattr(value, "__module__", None) for value in vars(module).values())
    imported = {sys.modules[name] for name in names if isinstance(name, str) and name in sys.modules}
    helpers = {other for other in imported - {module} if Path(getattr(other, "__file__", None) or "/").parent == TESTS}
    return bool(_STARTERS & vars(module).keys()) or any(map(_imports_subprocess, helpers))


def pytest_collection_finish() -> None:
    """Exempts the objects of imports and collection from garbage collection for the whole run, and collects less often
    than in a small process. Otherwise the collector takes a quarter of the CPU of tests that call the API."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    gc.enable()


def pytest_xdist_auto_num_workers() -> int:
    """Starts one and a half times as many workers as processors, since tests also wait for servers and clocks."""
    return (os.cpu_count() or 2) * 3 // 2


@pytest.fixture(scope="session", autouse=True)
def done_once(request: pytest.FixtureRequest) -> None:
    """Sets up what all tests share. It is one fixture because each fixture that every test uses costs it 40
    microseconds."""
    for shared in (
        published_encoders,
        trust_roots,
        command_tree,
        settings_fields,
        analysed_routes,
        revision_scripts,
        migrated_ledgers,
        first_signing_key,
        forked_helpers,
        forked_workers,
    ):
        request.getfixturevalue(shared.__name__)


@pytest.fixture(scope="session")
def published_encoders() -> dict[str, Callable[[bytes], bytes]]:
    """Compresses lightly during the whole run. Returns the encoders of a service."""
    encoders = dict(ENCODERS)
    compress_lightly()
    return encoders


@pytest.fixture(scope="session")
def trust_roots() -> None:
    """Parses the trust roots once. Otherwise each of the tests' thousands of HTTP clients would parse them again, which
    takes ten times as long as a request."""
    for transports in (httpx._transports.default, httpx2._transports.default):
        transports.create_ssl_context = lru_cache(maxsize=32)(transports.create_ssl_context)  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def command_tree() -> None:
    """Builds the command tree of `svc` once. Otherwise each command that tests call would rebuild it, which takes
    longer than most commands."""
    typer.testing._get_command = lru_cache(typer.testing._get_command)  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def settings_fields() -> None:
    """Inspects the name and type of each setting once: most tests create settings, and this is nine tenths of the
    cost."""
    EnvSettingsSource._extract_field_info = _once_for_a_field(  # type: ignore[method-assign]
        EnvSettingsSource._extract_field_info
    )
    EnvSettingsSource._field_is_complex = _once_for_a_field(  # type: ignore[method-assign]
        EnvSettingsSource._field_is_complex
    )


def _once_for_a_field(look: Callable[..., Any]) -> Callable[..., Any]:
    seen: dict[tuple[object, ...], tuple[FieldInfo, Any]] = {}

    def look_once(source: EnvSettingsSource, field: FieldInfo, *names: Any) -> Any:
        key = id(field), source.env_prefix, source.case_sensitive, *map(repr, names)
        if key not in seen:
            seen[key] = field, look(source, field, *names)  # with the field, so that nothing else gets its id
        return seen[key][1]

    return look_once


@pytest.fixture(scope="session")
def analysed_routes() -> None:
    """Analyses each route once: doing it for every application takes half of the CPU of tests that call the API."""
    APIRoute.__init__ = analysing_once(APIRoute.__init__)  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def revision_scripts() -> None:
    """Reads each directory of migrations once: Dagster reads all of its own whenever it opens an instance."""
    read = ScriptDirectory.from_config
    scripts: dict[str | None, ScriptDirectory] = {}

    def read_once(config: Config) -> ScriptDirectory:
        location = config.get_main_option("script_location")
        if location not in scripts:
            scripts[location] = read(config)
        return scripts[location]

    ScriptDirectory.from_config = read_once  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def migrated_ledgers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], AbstractContextManager[None]]:
    """Creates each new SQLite ledger as a copy of an empty one: migrating takes ten times as long as opening.

    Returns a context manager within which ledgers are opened as a service opens them.
    """
    opened = sqlite_engine
    # Before any test, since Alembic migrates in one thread at a time only.
    directory = tmp_path_factory.mktemp("empty_ledger")
    ledger.open_ledger(Settings(_env_file=None, data_dir=directory), directory).close()
    template = (directory / "ledger.db").read_bytes()

    def copied_and_opened(path: Path, wait_s: float) -> Engine:
        if not path.exists():
            with suppress(OSError):  # opening says what is wrong
                make_data_directory(path.parent)
                with tempfile.NamedTemporaryFile(dir=path.parent, prefix="copied-") as copy:
                    copy.write(template)
                    copy.flush()
                    os.link(copy.name, path)  # whole at once, unless another thread was faster
        return opened(path, wait_s)

    @contextmanager
    def as_services_do() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ledger, "sqlite_engine", opened)
            yield

    ledger.sqlite_engine = copied_and_opened  # type: ignore[attr-defined]
    return as_services_do


@pytest.fixture(scope="session")
def forked_helpers() -> None:
    """Forks the helpers of a large import from the fork server. A service spawns them, which takes a second each."""
    for module in (fold_helper, side_process):
        module.get_context = lambda _: FORK_SERVER  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def forked_workers() -> Callable[[], AbstractContextManager[None]]:
    """Forks the API's workers for large requests from the fork server. A service starts an interpreter, whose imports
    take two seconds.

    Returns a context manager within which workers are started as a service starts them.
    """
    started = to_process.run_sync

    @contextmanager
    def as_services_do() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(to_process, "run_sync", started)
            yield

    to_process.run_sync = run_forked  # type: ignore[assignment]
    return as_services_do


@pytest.fixture(scope="session")
def first_signing_key() -> Callable[[SigningKeys], KeySet]:
    """Gives every new data directory the same signing key. The key is part of the description and thus of 140 pages,
    which a process that publishes from another directory can then reuse.

    Returns the function by which a service reads its keys, with a separate key for each directory.
    """
    current = SigningKeys.current
    text = key_text(new_private_key())

    def current_of_tests(keys: SigningKeys) -> KeySet:
        if not keys._named and not keys._path.exists():
            with suppress(OSError):  # the service says what is wrong
                make_data_directory(keys._path.parent)
                write_private_file(keys._path, text, replace=False)
        return current(keys)

    SigningKeys.current = current_of_tests  # type: ignore[assignment, method-assign]
    return current
