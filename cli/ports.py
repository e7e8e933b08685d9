"""Checks that a port is available before anything is started."""

import errno
import socket

from contracts.errors import OperatorProblem, SettingsInvalid
from contracts.settings import Settings, authority

EVERY_ADDRESS = "0.0.0.0"  # noqa: S104  (compared with, not bound to)


def require_two_ports(settings: Settings, dagster_host: str) -> None:
    """Raises `SettingsInvalid` if the API and Dagster would listen on the same port of the same address."""
    if settings.port != settings.dagster_port:
        return
    try:
        known = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return  # `require_free_port` reports the host
    if any(address[0] in (dagster_host, EVERY_ADDRESS) for *_, address in known):
        raise SettingsInvalid(
            f"SVC_PORT and SVC_DAGSTER_PORT are both {settings.port}.", cure="Set one of them to another port."
        )


def require_free_port(host: str, port: int, variable: str) -> None:
    """Raises `OperatorProblem` if the port is taken, and `SettingsInvalid` if it is not allowed or the host is not this
    machine's.

    `variable` names the setting of the port.
    """
    place = authority(host, port)
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:  # as asyncio binds; otherwise 0.0.0.0 counts as the same port
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
    except (OSError, UnicodeError) as error:
        match error:
            case OSError(errno=errno.EADDRINUSE):
                problem: OperatorProblem = OperatorProblem(
                    f"{place} is taken.", cure=f"Stop what listens there, or set {variable} to another port."
                )
            case PermissionError():
                problem = SettingsInvalid(
                    f"This user may not listen on {place}.", cure=f"Set {variable} to a port of 1024 or higher."
                )
            case _:
                problem = SettingsInvalid(
                    f"SVC_HOST={host} is not an address of this machine.",
                    cure="Set SVC_HOST to one, such as 127.0.0.1 or ::1, or to 0.0.0.0 for all of them.",
                )
        raise problem from None
