"""Checking a signature leaves the process as it was."""

import subprocess
import sys

CHECK = """
import sys
from contracts.access.proofs import check_message
before = sys.getrecursionlimit()
check_message("text", "0x" + "11" * 65, "0x" + "aa" * 20)
print(before, sys.getrecursionlimit())
"""


def test_checking_a_signature_does_not_raise_the_recursion_limit():
    ran = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True)
    before, after = ran.stdout.split()
    assert after == before == "1000"
