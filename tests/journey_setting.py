"""The environment of a cold start: a whole service that sells on a real chain, and a wallet with some of its coin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from addressed_service import addressed_service
from commands import called
from eth_account import Account
from whole_service import WholeService

from cli.demo.anvil import Anvil
from cli.demo.rpc import Rpc, calldata
from cli.demo.write import deploy, mined_receipt
from cli.environment import as_environment
from contracts.settings import Settings

TREASURY = "0x" + "7e" * 20


class Wallet:
    """An account with its key and a node; it signs and sends, as any wallet does."""

    def __init__(self, rpc: Rpc, account: Any = None) -> None:
        self._rpc = rpc
        self._account = account or Account.create()
        self.address: str = self._account.address
        self.key = self._account.key

    def sign(self, message: dict[str, Any]) -> str:
        """Returns the signature of EIP-712 typed data."""
        return str(self._account.sign_typed_data(full_message=message).signature.to_0x_hex())

    def send(self, to: str, data: str) -> str:
        """Sends a transaction, mines it and the chain's next blocks, and returns its hash."""
        head = self._rpc.call("eth_getBlockByNumber", "latest", False)
        signed = self._account.sign_transaction(
            {
                "chainId": int(self._rpc.call("eth_chainId"), 16),
                "nonce": int(self._rpc.call("eth_getTransactionCount", self.address, "pending"), 16),
                "to": to,
                "data": data,
                "value": 0,
                "gas": 200_000,
                "maxPriorityFeePerGas": 10**9,
                "maxFeePerGas": 2 * int(head["baseFeePerGas"], 16) + 10**9,
            }
        )
        receipt = mined_receipt(self._rpc, self._rpc.call("eth_sendRawTransaction", signed.raw_transaction.to_0x_hex()))
        for _ in range(3):
            self._rpc.call("evm_mine")
        return str(receipt["transactionHash"])


@dataclass(frozen=True)
class Setting:
    """What the agent is given, the address and the wallet; and its person, who has access to the service's machine."""

    base_url: str
    wallet: Wallet
    service: WholeService
    new_wallet: Callable[..., Wallet]
    """Creates another wallet with as many coins, for an account if one is given."""

    @property
    def settings(self) -> Settings:
        return self.service.settings

    def code_from_the_person(self) -> str:
        """Returns the code that the agent's person gets from `svc pair`."""
        done = called(as_environment(self.settings), "pair", "--json")
        assert done.exit_code == 0, done.output
        return str(json.loads(done.stdout)["pairingCode"])


@contextmanager
def cold_start(data_dir: Path, anvil: Anvil, **settings: Any) -> Iterator[Setting]:
    """Yields the service on the chain of `anvil`, with its usual rate limit, and a wallet of 1,000 coins."""
    deployer = anvil.rpc.call("eth_accounts")[0]
    coin = deploy(anvil.rpc, deployer, "UsdcStandIn")

    def new_wallet(account: Any = None) -> Wallet:
        wallet = Wallet(anvil.rpc, account)
        data = calldata("mint(address,uint256)", wallet.address, 1_000_000_000)
        mint = {"from": deployer, "to": coin, "data": data, "gas": hex(200_000)}
        mined_receipt(anvil.rpc, anvil.rpc.call("eth_sendTransaction", mint))
        anvil.rpc.call("anvil_setBalance", wallet.address, hex(10**18))
        return wallet

    sold = {"rpc_urls": (anvil.url,), "usdc_address": coin, "treasury_address": TREASURY}
    with addressed_service(data_dir, rate_limit_per_minute=20, **(sold | settings)) as (service, base_url):
        yield Setting(base_url, new_wallet(), service, new_wallet)
