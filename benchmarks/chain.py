"""Starts the chain for measuring ingestion: about 300,000 transfers, emitted by the bench token itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from eth_abi.abi import encode

from cli.demo.anvil import Anvil
from cli.demo.compile import ARTIFACTS_DIR
from cli.demo.rpc import calldata

SUPPLY = 2**255 + 12345
TRANSFERS_PER_BLOCK = 500
ACCOUNTS = 60_000
TX_GAS = 25_000_000_000


@dataclass(frozen=True)
class BenchChain:
    """A finished history: its RPC address, the token, and the last block."""

    anvil: Anvil
    token: str
    last_block: int


@contextmanager
def bench_chain(transfers: int) -> Iterator[BenchChain]:
    """Starts a local EVM with at least `transfers` Transfer events, one transaction per block.

    It is removed at the end.
    """
    with Anvil(flags=["--prune-history", "64"]) as anvil:
        rpc = anvil.rpc
        owner = rpc.call("eth_accounts")[0]
        artifact = json.loads((ARTIFACTS_DIR / "BenchToken.json").read_text())
        creation = artifact["bytecode"] + encode(["uint256"], [SUPPLY]).hex()
        deployment = rpc.call("eth_sendTransaction", {"from": owner, "data": creation, "gas": hex(10_000_000)})
        rpc.call("evm_mine")
        token = rpc.call("eth_getTransactionReceipt", deployment)["contractAddress"]
        rpc.call("evm_setAutomine", False)
        for seed in range(-(-transfers // TRANSFERS_PER_BLOCK)):
            data = calldata("churn(uint256,uint256,uint256)", seed, TRANSFERS_PER_BLOCK, ACCOUNTS)
            transaction = {"from": owner, "to": token, "data": data, "gas": hex(TX_GAS)}
            rpc.batch([("eth_sendTransaction", [transaction]), ("evm_mine", [])])
        rpc.batch([("evm_mine", [])] * 3)
        yield BenchChain(anvil, token, int(rpc.call("eth_blockNumber"), 16))
