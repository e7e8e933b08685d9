"""Checking a signature leaves the process as it was, and imports no more than it needs."""

import subprocess
import sys

CHECK = """
import sys
from contracts.access.proofs import check_message
before = sys.getrecursionlimit()
check_message("text", "0x" + "11" * 65, "0x" + "aa" * 20)
import web3
print(before, sys.getrecursionlimit())
print("eth_account" in sys.modules, [name for name in sys.modules if name.startswith("py_ecc.") and "bls" in name])
from py_ecc.bls import G2ProofOfPossession
print(G2ProofOfPossession.__name__)
"""


def test_checking_a_signature_and_web3_after_it_neither_raise_the_recursion_limit_nor_compute_the_curve_of_validators():
    ran = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=True)
    limits, imported, found_later = ran.stdout.splitlines()
    before, after = limits.split()
    assert after == before == "1000"
    assert imported == "True []"
    assert found_later == "G2ProofOfPossession"
