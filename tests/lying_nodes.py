"""RPC nodes over HTTP in front of a real chain, honest or lying in one way, and a run of the pipeline over them."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fault_node import Fault, FaultNode

from cli.demo.anvil import Anvil
from cli.demo.recorded import RpcFault
from cli.demo.rpc import RpcError, calldata
from cli.demo.write import deploy, mined_receipt
from contracts.token.holder_documents import ConsistencyLevel, Token
from pipelines.clients.rpc import RpcPool
from pipelines.token.engine import IngestReport, ingest
from pipelines.token.events import TokenTransfers
from pipelines.token.holder_lists import take_list
from warehouse.duck.connection import Connection
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import HolderList

Lie = Callable[[str, Sequence[Any], Any], Any]
"""A node's answer to (method, params), given the truth, which it may change."""


class Through:
    """Answers as the chain does, or as `lie` alters it."""

    def __init__(self, anvil: Anvil, lie: Lie = lambda method, params, truth: truth) -> None:
        self._rpc = anvil.rpc
        self.lie = lie

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        try:
            truth = self._rpc.call(method, *params)
        except RpcError as error:
            raise RpcFault(-32000, str(error).partition(": ")[2]) from None
        return self.lie(method, params, copy.deepcopy(truth))


def node(anvil: Anvil, lie: Lie = lambda method, params, truth: truth, *faults: Fault) -> FaultNode:
    return FaultNode(Through(anvil, lie), *faults)


class TokenChain:
    """An anvil with one token, whose transfers tests add."""

    def __init__(self, anvil: Anvil) -> None:
        self.anvil = anvil
        self.owner: str = anvil.rpc.call("eth_accounts")[0]
        self.token: str = deploy(anvil.rpc, self.owner, "UsdcStandIn")

    def mint(self, holder: str, units: int) -> dict[str, Any]:
        return self.sent(self.owner, calldata("mint(address,uint256)", holder, units))

    def move(self, sender: str, recipient: str, units: int) -> dict[str, Any]:
        self.anvil.rpc.call("anvil_impersonateAccount", sender)
        self.anvil.rpc.call("anvil_setBalance", sender, hex(10**18))
        return self.sent(sender, calldata("transfer(address,uint256)", recipient, units))

    def sent(self, sender: str, data: str) -> dict[str, Any]:
        call = {"from": sender, "to": self.token, "data": data, "gas": hex(200_000)}
        return mined_receipt(self.anvil.rpc, self.anvil.rpc.call("eth_sendTransaction", call))

    def bury(self, blocks: int = 3) -> None:
        self.anvil.rpc.call("anvil_mine", hex(blocks))


def short_by_one(chain: TokenChain, receipt: dict[str, Any], sender: str, recipient: str) -> Lie:
    """Returns a lie in which one transfer moved one unit less than it did, with matching balances from its block on.

    The node refuses calls that run code, whose result it could not fake as easily.
    """
    block = int(receipt["blockNumber"], 16)
    place = (receipt["transactionHash"], receipt["logs"][0]["logIndex"])

    def lie(method: str, params: Sequence[Any], truth: Any) -> Any:
        if method == "eth_getLogs":
            for row in truth:
                if (row["transactionHash"], row["logIndex"]) == place:
                    row["data"] = f"0x{int(row['data'], 16) - 1:064x}"
        if method == "eth_call" and "to" not in params[0]:
            raise RpcFault(-32000, "contract creation is not allowed")
        if method == "eth_call" and params[0]["to"] == chain.token and params[0]["data"].startswith("0x70a08231"):
            asked = "0x" + params[0]["data"][-40:].lower()
            at = params[1]
            if at in ("latest", "finalized") or int(at, 16) >= block:
                change = {sender.lower(): 1, recipient.lower(): -1}.get(asked, 0)
                return f"0x{int(truth, 16) + change:064x}"
        return truth

    return lie


def run(
    connection: Connection, data_dir: Path, chain: TokenChain, *nodes: FaultNode | str
) -> tuple[IngestReport, HolderList]:
    """Runs chain and list once over these nodes or addresses."""

    async def work() -> tuple[IngestReport, HolderList]:
        urls = [each if isinstance(each, str) else each.url for each in nodes]
        async with RpcPool(urls, chain_id=8453, patience_s=5.0, timeout_s=20.0, grace_s=2.0) as pool:
            report = await ingest(pool, connection, TokenTransfers(chain.token), start_block=0, confirmations=None)
            fold_balances(connection)
            taken = await take_list(
                connection,
                pool,
                data_dir,
                token=Token(address=chain.token, name="T", symbol="T", decimals=6),
                level=ConsistencyLevel.FINALIZED,
                snapshot_reason=None,
                now=datetime.now(UTC),
            )
            assert taken is not None
            return report, taken

    return asyncio.run(work())
