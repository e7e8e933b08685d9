"""The program that a harness starts at each tool call: it passes the input to the warm process and prints its answer.

It imports almost nothing. Every failure is a refusal with the reason: a missing answer never means yes.
"""
# ruff: noqa: PTH100, PTH111, PTH117, PTH120
# Paths are strings: importing pathlib takes longer than this program may take.

from __future__ import annotations

import json
import os
import socket
import sys
import time

from guardrail.hooks.directories import DirectoryUnsafe, make_private, runtime_directory

TYPE_CHECKING = False  # importing typing takes longer than this program may take
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DEADLINE = 10.0
"""Seconds for the whole call; the time limit that the installer sets in a harness is longer."""
MOST_BYTES = 8 * 1024 * 1024
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_WAIT = 0.02
_SOURCES = (".py", ".yaml")
"""Suffixes of files whose size or time changes with each installation, and with each change in a work tree."""


class Refused(Exception):
    """The reason why there is no answer."""


def run(harness: str) -> int:
    """Answers a harness: reads its input from stdin, prints the answer to stdout, and returns the exit code of the
    hook."""
    try:
        output, error, code = ask(harness, _stdin(), time.monotonic() + DEADLINE)
    except Refused as refused:
        output, error, code = refusal(harness, str(refused))
    except Exception as fault:
        output, error, code = refusal(harness, f"the hook failed ({type(fault).__name__})")
    sys.stdout.write(output)
    sys.stderr.write(error)
    return code


def refusal(harness: str, reason: str) -> tuple[str, str, int]:
    """Returns a denial that every event of a harness understands, without reading the input: the texts for stdout and
    stderr, and the exit code. Exit code 2 blocks, but Copilot and Cursor show the reason only from an answer that they
    parse, which requires exit code 0."""
    said = f"svc-guardrail: {reason}. The action was not judged, so it is blocked."
    if harness == "copilot":
        return json.dumps({"permissionDecision": "deny", "permissionDecisionReason": said}), "", 0
    if harness == "cursor":
        return json.dumps({"permission": "deny", "user_message": said, "agent_message": said}), "", 0
    return "", said, 2


def ask(harness: str, given: str, deadline: float) -> tuple[str, str, int]:
    """Returns the answer of the warm process, which is started if necessary. Raises `Refused` if there is none."""
    question = {
        "version": identity(),
        "id": os.urandom(8).hex(),
        "harness": harness,
        "input": given,
        "home": os.path.expanduser("~"),
    }
    try:
        directory = make_private(runtime_directory())
    except DirectoryUnsafe as error:
        raise Refused(str(error)) from None
    with _connected(directory, question["version"], deadline) as connection:
        try:
            connection.settimeout(_left(deadline))
            connection.sendall(json.dumps(question).encode() + b"\n")
            answered = _line(connection, deadline)
        except TimeoutError:
            raise Refused("the warm process did not answer in time") from None
        except OSError:
            raise Refused("the warm process ended before it answered") from None
    return _checked(answered, question)


def identity() -> str:
    """Returns an identity of this installation's state. A warm process serves exactly one state."""
    # The `hash` of a tuple of numbers is the same in every process of an interpreter.
    return f"{sys.executable}|{PACKAGE}|{hash(tuple(sorted(_states(PACKAGE)))):x}"


def _states(directory: str) -> Iterator[tuple[int, int, int]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(_SOURCES):
                found = entry.stat()
                yield found.st_ino, found.st_size, found.st_mtime_ns
            elif entry.name[0] not in "._" and entry.is_dir():
                yield from _states(entry.path)


def socket_name(version: str) -> str:
    """Returns the file name of the socket. Paths of sockets must be short, so it contains a checksum of the
    identity."""
    checksum = 0
    for character in version:
        checksum = (checksum * 1_000_003 + ord(character)) & 0xFFFF_FFFF_FFFF
    return f"{checksum:012x}.sock"


def is_own_peer(connection: socket.socket) -> bool:
    """Decides whether the process at the other end belongs to the same user. If the system can't tell, the mode of the
    directory must suffice."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, option, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()


def _stdin() -> str:
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Refused("the input is too long")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("the input is not UTF-8") from None


def _connected(directory: str, version: str, deadline: float) -> socket.socket:
    """Connects to the warm process of this installation, and starts it if there is none."""
    # A socket's path must be short, so it is relative to its directory.
    os.chdir(directory)
    name, started = socket_name(version), 0
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(_left(deadline))
            connection.connect(name)
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            started = started or _start()
            if _failed(started):
                raise Refused(
                    "the warm process can't be started; the command `svc-guardrail daemon` shows why"
                ) from None
            if _left(deadline) <= _WAIT:
                raise Refused("the warm process did not start in time") from None
            time.sleep(_WAIT)
            continue
        except TimeoutError:
            connection.close()
            raise Refused("the warm process did not answer in time") from None
        except OSError as error:
            connection.close()
            raise Refused(f"the warm process can't be reached ({error.strerror})") from None
        if not is_own_peer(connection):
            connection.close()
            raise Refused("the socket belongs to another user")
        return connection


def _start() -> int:
    """Starts the warm process in a new session. It imports modules from the same places as this process, never from its
    current directory."""
    path = os.pathsep.join(entry for entry in sys.path if os.path.isabs(entry))
    code = "import os,sys;sys.path[:]=sys.argv.pop(1).split(os.pathsep);from guardrail.daemon.server import main;main()"
    null = os.open(os.devnull, os.O_RDWR)
    redirected = [(os.POSIX_SPAWN_DUP2, null, descriptor) for descriptor in (0, 1, 2)]
    try:
        return os.posix_spawn(
            sys.executable, [sys.executable, "-P", "-c", code, path], os.environ, file_actions=redirected, setsid=True
        )
    except OSError as error:
        raise Refused(f"the warm process can't be started ({error.strerror})") from None
    finally:
        os.close(null)


def _failed(process: int) -> bool:
    """Decides whether the started process ended with an error. One that finds another already running ends without."""
    try:
        ended, status = os.waitpid(process, os.WNOHANG)
    except ChildProcessError:
        return False
    return ended == process and status != 0


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())


def _line(connection: socket.socket, deadline: float) -> bytes:
    parts: list[bytes] = []
    length = 0
    while not (parts and parts[-1].endswith(b"\n")):
        connection.settimeout(_left(deadline))
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionResetError
        parts.append(part)
        length += len(part)
        if length > MOST_BYTES:
            raise Refused("the warm process answered nonsense")
        if time.monotonic() > deadline:
            raise TimeoutError
    return b"".join(parts)


def _checked(answered: bytes, question: dict[str, str]) -> tuple[str, str, int]:
    try:
        answer: Any = json.loads(answered)
        output, error, code = answer["output"], answer["error"], answer["code"]
        version, number = answer["version"], answer["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refused("the warm process answered nonsense") from None
    if version != question["version"]:
        raise Refused("the warm process has another version; stop it")
    if number != question["id"] or not isinstance(output, str) or not isinstance(error, str) or code not in (0, 2):
        raise Refused("the warm process answered nonsense")
    return output, error, code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1] if len(sys.argv) == 2 else ""))
