"""Determines a command's settings: those of the environment, or the demo's if no RPC is set."""

import os
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from contracts.errors import SettingsInvalid, StoreUnusable
from contracts.settings import PREFIX, Settings, load_settings, web_address
from warehouse.file_modes import correct_modes, make_data_directory
from warehouse.full_disk import not_written
from warehouse.publish.generations import current_generation

LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Makes glibc request large pages, which only the environment can do, before a process starts. Touching hundreds of
megabytes in small pages takes a twentieth of the CPU time of reading a chain. Other C libraries and kernels ignore
it."""


def effective_settings() -> Settings:
    """Returns the settings of this environment, completed with those of a running demo if no RPC is set."""
    settings = load_settings()
    if settings.rpc_urls:
        return settings
    # Half a second of imports, which `svc serve` with an RPC set does not need.
    from cli.demo.directory import DEMO_CONFIRMATIONS, RELAYER_KEY_NAME, running_demo

    here = settings.model_copy(update={"data_dir": settings.data_dir / "demo"})
    demo = running_demo(settings.data_dir)
    if demo is None:
        return here
    named = {name: value for name, value in demo.items() if name in Settings.model_fields}
    named["claim_confirmations"] = DEMO_CONFIRMATIONS
    if demo["paid_flow"]:
        named["relayer_key_file"] = here.data_dir / RELAYER_KEY_NAME
    else:
        named["treasury_address"] = None  # a recording accepts no payments, so nothing is for sale
    return here.model_copy(update=named | {"demo": True, "rpc_urls": (demo["rpc_url"],)})


def service_address(settings: Settings) -> str:
    """Returns SVC_BASE_URL, or else the address for which this data directory was published, because the service that
    uses it may have been started with another SVC_HOST or SVC_PORT than this command."""
    with suppress(StoreUnusable):
        generation = None if settings.base_url else current_generation(settings.data_dir)
        if generation is not None:
            return generation.manifest.base_url
    return settings.public_base_url


def given_address(name: str, text: str) -> str:
    """Returns an http(s) address that was passed as `name`. Raises `SettingsInvalid`."""
    import httpx  # not imported at the top, because `svc serve` starts without it

    try:
        _ = httpx.URL(web_address(text)).host  # httpx only decodes the host when it is read
    except (ValueError, httpx.InvalidURL) as error:
        raise SettingsInvalid(
            f"{name} is not an address: {error}.", cure="Pass one such as http://127.0.0.1:8000."
        ) from None
    return text


def make_data_dir(data_dir: Path) -> None:
    """Creates the data directory, closes it to other users and tests that it is writable.

    Raises `DiskFull`, `StoreUnusable`.
    """
    probe = data_dir / f".probe-{os.getpid()}"
    try:
        make_data_directory(data_dir)
        correct_modes(data_dir, gates_only=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise not_written(str(data_dir), data_dir, error) or StoreUnusable(
            f"{data_dir} can't be written: {error.strerror}.",
            cure="Make it writable, or set SVC_DATA_DIR to another directory.",
        ) from None


def as_environment(settings: Settings) -> dict[str, str]:
    """Returns this process's environment with `settings` in it, for a child process that needs the same settings.

    It requests large pages for the child, unless GLIBC_TUNABLES is already set.
    """
    others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return (
        LARGE_PAGES
        | others
        | {
            PREFIX + name.upper(): _text(value)
            for name in Settings.model_fields
            if (value := getattr(settings, name)) not in (None, ())
        }
    )


def command_environment(settings: Settings) -> dict[str, str]:
    """Like `as_environment`, for a child that is an `svc` command.

    If no RPC is set, such a command looks for the demo's directory below SVC_DATA_DIR itself, as `effective_settings`
    did here.
    """
    if settings.rpc_urls:
        return as_environment(settings)
    return as_environment(settings.model_copy(update={"data_dir": settings.installation_dir}))


def _text(value: object) -> str:
    match value:
        case tuple():
            return ",".join(map(str, value))
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value.absolute())
        case _:
            return str(value)
