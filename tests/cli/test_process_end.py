"""The processes of `svc` end at once, with their exit code and after printing all of their output."""

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, sys
from cli.process_end import run_and_end

class Costly:
    def __del__(self):
        print("taken down", flush=True)

def work():
    print("worked")
    atexit.register(print, "tidied up")
    {end}

held = Costly()
run_and_end(work)
"""


@pytest.mark.parametrize(("end", "code"), [("return", 0), ("sys.exit(0)", 0), ("sys.exit(3)", 3)])
def test_a_finished_process_cleans_up_and_is_not_killed(end: str, code: int):
    done = ended_by(end)
    assert (done.returncode, done.stdout, done.stderr) == (code, "worked\ntidied up\n", "")


@pytest.mark.parametrize(
    ("end", "error"), [("sys.exit('No.')", "No."), ("raise OSError('Broken.')", "OSError: Broken.")]
)
def test_a_process_that_ends_with_a_message_says_it_and_ends_as_any_other(end: str, error: str):
    done = ended_by(end)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, error)
    assert done.stdout == "worked\ntidied up\ntaken down\n"


def ended_by(end: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PROGRAM.format(end=end)], capture_output=True, text=True)
