"""Puts the demo on a fresh anvil: deploys the contracts, funds accounts, writes the planned history, returns to now."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from cli.demo.anvil import PRUNED
from cli.demo.compile import load_artifact
from cli.demo.history import HISTORY_S, Movement, PlannedBlock
from cli.demo.recorded import TokenMetadata
from cli.demo.rpc import Rpc, RpcError

METADATA: Final = TokenMetadata("Demo Service Token", "DEMO", 18)
USDC: Final = 10**6
ETHER: Final = 10**18
BIDWALL_TRIGGER_WEI: Final = 10 * ETHER
_PAYER_USDC: Final = 10_000 * USDC
_MINED_WITHIN_S: Final = 10.0
_GAS: Final = hex(1_000_000_000)
# The genesis block is dated this long before the story's end; the contracts are deployed before the history begins.
_GENESIS_BEFORE_S: Final = HISTORY_S + 600

Receipt = dict[str, Any]


@dataclass(frozen=True)
class DemoContracts:
    """Lower-case addresses; `token_start_block` is where the token was deployed."""

    token_address: str
    usdc_address: str
    bidwall_address: str
    treasury_address: str
    token_start_block: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def genesis_flags(now: int) -> list[str]:
    """Flags of an anvil on which a story that ends at `now` can be written."""
    return ["--timestamp", str(now - _GENESIS_BEFORE_S), "--no-mining", *PRUNED]


def deploy(rpc: Rpc, deployer: str, name: str, types: Sequence[str] = (), values: Sequence[Any] = ()) -> str:
    """Send the creation of artifact `name` and mine it at once or by an explicit `evm_mine`; its lower-case address."""
    data = load_artifact(name)["bytecode"] + encode(types, values).hex()
    transaction = {"from": deployer, "data": data, "gas": hex(10_000_000)}
    sent, _ = rpc.batch([("eth_sendTransaction", [transaction]), ("evm_mine", [])])
    receipt = mined_receipt(rpc, sent)
    address: str = receipt["contractAddress"].lower()
    return address


def mined_receipt(rpc: Rpc, transaction_hash: str) -> Receipt:
    """The receipt of a transaction, once it has a block. Raises `RpcError` where it failed or is not mined in 10 s."""
    deadline = time.monotonic() + _MINED_WITHIN_S
    # The node answers a send before the block exists, even when it mines at once.
    while (receipt := rpc.call("eth_getTransactionReceipt", transaction_hash)) is None:
        if time.monotonic() > deadline:
            raise RpcError(f"transaction {transaction_hash} was not mined in {_MINED_WITHIN_S:.0f} s")
        time.sleep(0.005)
    if receipt["status"] != "0x1":
        raise RpcError(f"transaction {transaction_hash} reverted")
    mined: Receipt = receipt
    return mined


def move_calldata(movements: Iterable[Movement]) -> str:
    """Call data of `DemoToken.move`, as 0x-hex."""
    rows = [(movement.sender, movement.recipient, movement.value_raw) for movement in movements]
    selector = keccak(text="move((address,address,uint256)[])")[:4]
    return "0x" + (selector + encode(["(address,address,uint256)[]"], [rows])).hex()


def write_contracts(rpc: Rpc, now: int) -> DemoContracts:
    """Deploy token, USDC stand-in and bidwall just before the history of a story that ends at `now` (Unix seconds).

    The chain's genesis must be older than that and its mining explicit. The first dev account owns all, the second is
    the treasury, the other eight hold USDC to pay with.
    """
    owner, treasury, *payers = rpc.call("eth_accounts")
    deployed_at = now - _GENESIS_BEFORE_S + 60
    addresses: list[str] = []
    for name, types, values in (
        ("DemoToken", ["string", "string"], [METADATA.name, METADATA.symbol]),
        ("UsdcStandIn", [], []),
        ("Bidwall", [], []),
    ):
        rpc.call("evm_setNextBlockTimestamp", deployed_at + 12 * len(addresses))
        addresses.append(deploy(rpc, owner, name, types, values))
    token, usdc, bidwall = addresses
    mint = keccak(text="mint(address,uint256)")[:4]
    sent = rpc.batch(
        [
            *(
                (
                    "eth_sendTransaction",
                    [_call(owner, usdc, "0x" + (mint + encode(["address", "uint256"], pair)).hex())],
                )
                for pair in ((payer, _PAYER_USDC) for payer in payers)
            ),
            ("evm_setNextBlockTimestamp", [deployed_at + 60]),
            ("evm_mine", []),
        ]
    )
    for transaction_hash in sent[: len(payers)]:
        mined_receipt(rpc, transaction_hash)
    return DemoContracts(token, usdc, bidwall, treasury.lower(), token_start_block=1)


def write_history(rpc: Rpc, contracts: DemoContracts, plan: Sequence[PlannedBlock], now: int) -> None:
    """Write `plan`, one block each, dated back from `now`; three empty blocks at `now` make all of it final."""
    owner, _, *payers = rpc.call("eth_accounts")
    for number, block in enumerate(plan):
        calls: list[tuple[str, Sequence[Any]]] = [
            ("eth_sendTransaction", [_call(owner, contracts.token_address, move_calldata(block.movements))])
        ]
        if block.native_to_bidwall_wei:
            giver = payers[number % len(payers)]
            gift = {**_call(giver, contracts.bidwall_address, "0x"), "value": hex(block.native_to_bidwall_wei)}
            calls.append(("eth_sendTransaction", [gift]))
        calls += [("evm_setNextBlockTimestamp", [now - block.age_s]), ("evm_mine", [])]
        for transaction_hash in rpc.batch(calls)[:-2]:
            mined_receipt(rpc, transaction_hash)
    for seconds_ago in (4, 2, 0):
        rpc.batch([("evm_setNextBlockTimestamp", [now - seconds_ago]), ("evm_mine", [])])


def _call(sender: str, to: str, data: str) -> dict[str, str]:
    return {"from": sender, "to": to, "data": data, "gas": _GAS}
