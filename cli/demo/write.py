"""Writes the demo to a fresh anvil: deploys the contracts, funds accounts, writes the planned history up to now."""

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from eth_abi.abi import encode

from cli.demo.anvil import PRUNED
from cli.demo.compile import load_artifact
from cli.demo.directory import DemoAddresses
from cli.demo.happenings import (
    ETHER,
    HALF_LIFE_S,
    NEWEST_USD,
    USDC,
    Scene,
    liquidity,
    opening,
    plan_happenings,
    price_set,
)
from cli.demo.history import HISTORY_S, Movement, PlannedBlock
from cli.demo.recorded import TokenMetadata
from cli.demo.rpc import Rpc, RpcError, calldata
from contracts.evm.codec import selector

METADATA: Final = TokenMetadata("Demo Service Token", "DEMO", 18)
BIDWALL_TRIGGER_WEI: Final = 10 * ETHER
EMPTY_BLOCKS: Final = 3
"""Empty blocks at the end of the written history, which make everything before them final."""

_PAYER_USDC: Final = 10_000 * USDC
_MINED_WITHIN_S: Final = 10.0
_GAS: Final = 1_000_000_000
# The genesis block is dated this long before the story's end; the contracts are deployed before the history begins.
_GENESIS_BEFORE_S: Final = HISTORY_S + 600

DEPLOYED: Final = (
    "DemoToken",
    "UsdcStandIn",
    "Bidwall",
    "TrustRegistry",
    "TokenPool",
    "ChainlinkFeed",
    "SequencerFeed",
    "Escrow",
)

_MOVE: Final = selector("move((address,address,uint256)[])")

Receipt = dict[str, Any]


@dataclass(frozen=True)
class DemoContracts(DemoAddresses):
    """The contracts, for code that writes to them."""

    def scene(self, accounts: Sequence[str]) -> Scene:
        """Returns the contracts and the node's accounts in the form that the demo's events need."""
        return Scene(
            token=self.token_address,
            usdc=self.usdc_address,
            bidwall=self.bidwall_address,
            pool=self.pool_address,
            feed=self.chainlink_feed_address,
            registry=self.trust_registry_address,
            escrow=self.escrow_address,
            accounts=tuple(account.lower() for account in accounts),
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def contracts_sha256() -> str:
    """Returns the digest of the code that `write_contracts` deploys."""
    code = [load_artifact(name)["bytecode"] for name in DEPLOYED]
    return hashlib.sha256("\n".join(code).encode()).hexdigest()


def genesis_flags(now: int) -> list[str]:
    """Returns the flags for an anvil to which a history that ends at `now` can be written."""
    return ["--timestamp", str(now - _GENESIS_BEFORE_S), "--no-mining", *PRUNED]


def deploy(rpc: Rpc, deployer: str, name: str, types: Sequence[str] = (), values: Sequence[Any] = ()) -> str:
    """Deploys artifact `name`, whether the node mines automatically or not. Returns the lower-case address."""
    return deploy_code(rpc, deployer, load_artifact(name)["bytecode"] + encode(types, values).hex())


def deploy_code(rpc: Rpc, deployer: str, data: str) -> str:
    """Deploys creation code with its encoded arguments appended, like `deploy`."""
    transaction = {"from": deployer, "data": data, "gas": hex(10_000_000)}
    sent, _ = rpc.batch([("eth_sendTransaction", [transaction]), ("evm_mine", [])])
    receipt = mined_receipt(rpc, sent)
    address: str = receipt["contractAddress"].lower()
    return address


def mined_receipt(rpc: Rpc, transaction_hash: str) -> Receipt:
    """Returns the receipt of one transaction; waits and raises like `mined_receipts`."""
    return mined_receipts(rpc, [transaction_hash])[0]


def mined_receipts(rpc: Rpc, transaction_hashes: Sequence[str]) -> list[Receipt]:
    """Waits until transactions are mined and returns their receipts, in the given order.

    Raises `RpcError` if one failed or is not mined within 10 s.
    """
    deadline = time.monotonic() + _MINED_WITHIN_S
    asked = [("eth_getTransactionReceipt", [transaction_hash]) for transaction_hash in transaction_hashes]
    # The node answers a send before the block exists, even if it mines automatically.
    while None in (receipts := rpc.batch(asked)):
        if time.monotonic() > deadline:
            missing = transaction_hashes[receipts.index(None)]
            raise RpcError(f"transaction {missing} was not mined in {_MINED_WITHIN_S:.0f} s")
        time.sleep(0.005)
    for transaction_hash, receipt in zip(transaction_hashes, receipts, strict=True):
        if receipt["status"] != "0x1":
            raise RpcError(f"transaction {transaction_hash} reverted")
    return receipts


def move_calldata(movements: Iterable[Movement]) -> str:
    """Returns 0x-hex call data of `DemoToken.move`: the list's offset, its length, and three words per movement.

    eth_abi takes thirty times as long, which is a second for the whole history.
    """
    rows = [
        f"{movement.sender[2:]:0>64}{movement.recipient[2:]:0>64}{movement.value_raw:064x}" for movement in movements
    ]
    return "".join((_MOVE, f"{32:064x}{len(rows):064x}", *rows))


def write_contracts(rpc: Rpc, now: int) -> DemoContracts:
    """Deploys the contracts just before the start of a history that ends at `now` (Unix seconds).

    The chain's genesis must be older than that and its mining explicit. The first dev account owns everything, the
    second is the treasury, and the other eight get USDC to pay with.
    """
    accounts = rpc.call("eth_accounts")
    owner, treasury, *payers = accounts
    deployed_at = now - _GENESIS_BEFORE_S + 60
    deployed: list[str] = []

    def put(name: str, types: Sequence[str] = (), values: Sequence[Any] = ()) -> str:
        rpc.call("evm_setNextBlockTimestamp", deployed_at + 12 * len(deployed))
        deployed.append(deploy(rpc, owner, name, types, values))
        return deployed[-1]

    token = put("DemoToken", ["string", "string"], [METADATA.name, METADATA.symbol])
    usdc = put("UsdcStandIn")
    bidwall = put("Bidwall")
    registry = put("TrustRegistry", ["uint256"], [HALF_LIFE_S])
    contracts = DemoContracts(
        token_address=token,
        usdc_address=usdc,
        bidwall_address=bidwall,
        treasury_address=treasury.lower(),
        pool_address=put("TokenPool", ["address", "address"], [token, usdc]),
        chainlink_feed_address=put("ChainlinkFeed", ["uint8", "string"], [8, "ETH / USD"]),
        sequencer_feed_address=put("SequencerFeed"),
        trust_registry_address=registry,
        escrow_address=put("Escrow", ["address"], [registry]),
        token_start_block=1,
    )
    mints = [calldata("mint(address,uint256)", payer, _PAYER_USDC) for payer in payers]
    transactions = [_call(owner, usdc, mint) for mint in mints]
    transactions += [happening.transaction(_GAS) for happening in opening(contracts.scene(accounts))]
    _mine(rpc, transactions, deployed_at + 240)
    return contracts


def write_history(rpc: Rpc, contracts: DemoContracts, plan: Sequence[PlannedBlock], now: int) -> None:
    """Writes the blocks of `plan`, dated back from `now`, and then a fresh price.

    Three empty blocks at `now` make everything before them final.
    """
    accounts = rpc.call("eth_accounts")
    owner, _, *payers = accounts
    scene = contracts.scene(accounts)
    happenings = plan_happenings(scene, plan, now)
    for number, block in enumerate(plan):
        transactions = [_call(owner, contracts.token_address, move_calldata(block.movements))]
        if number == 0:
            transactions.append(_call(owner, contracts.token_address, move_calldata(liquidity(scene))))
        if block.native_to_bidwall_wei:
            giver = payers[number % len(payers)]
            gift = {**_call(giver, contracts.bidwall_address, "0x"), "value": hex(block.native_to_bidwall_wei)}
            transactions.append(gift)
        transactions += [happening.transaction(_GAS) for happening in happenings.get(number, [])]
        _mine(rpc, transactions, now - block.age_s)
    _mine(rpc, [price_set(scene, NEWEST_USD).transaction(_GAS)], now - 6)
    for place in reversed(range(EMPTY_BLOCKS)):
        _mine(rpc, [], now - 2 * place)


def _mine(rpc: Rpc, transactions: Sequence[dict[str, str]], time_s: int) -> None:
    """Mines one block with `transactions`, all of which must succeed."""
    calls: list[tuple[str, Sequence[Any]]] = [("eth_sendTransaction", [transaction]) for transaction in transactions]
    calls += [("evm_setNextBlockTimestamp", [time_s]), ("evm_mine", [])]
    if transactions:
        mined_receipts(rpc, rpc.batch(calls)[:-2])
    else:
        rpc.batch(calls)


def _call(sender: str, to: str, data: str) -> dict[str, str]:
    return {"from": sender, "to": to, "data": data, "gas": hex(_GAS)}
