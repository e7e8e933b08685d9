"""Reads a token's own metadata with web3.py contract calls through our pool of nodes."""

from collections.abc import Sequence
from typing import Any

from eth_abi.exceptions import DecodingError
from eth_typing import ABIFunction
from web3 import AsyncWeb3
from web3.exceptions import Web3Exception

from contracts.errors import RpcUnavailable
from contracts.token.holder_documents import Token
from pipelines.clients.rpc_state import Rpc
from pipelines.clients.rpc_web3 import PoolProvider

_DECIMALS_LIMIT = 77


async def read_token(rpc: Rpc, address: str) -> Token:
    """Reads name, symbol and decimals at the newest block; each is None if the contract does not answer it."""
    chain = AsyncWeb3(PoolProvider(rpc))
    decimals = await _answer(chain, address, "decimals", "uint256")
    return Token(
        address=address,
        name=await _text(chain, address, "name"),
        symbol=await _text(chain, address, "symbol"),
        decimals=decimals if decimals is not None and decimals <= _DECIMALS_LIMIT else None,
    )


async def _text(chain: AsyncWeb3[Any], address: str, function: str) -> str | None:
    """Reads a `string` answer, or the `bytes32` of older tokens, else None. `Token` cleans it."""
    text = await _answer(chain, address, function, "string")
    if text is None:
        word = await _answer(chain, address, function, "bytes32")
        try:
            return (word or b"").rstrip(b"\0").decode()
        except UnicodeDecodeError:
            return None
    return str(text)


async def _answer(chain: AsyncWeb3[Any], address: str, function: str, output: str) -> Any:
    """Calls `function()` and reads one `output`. Returns None if it returns something else, or no node answers."""
    abi: Sequence[ABIFunction] = [
        {
            "type": "function",
            "name": function,
            "stateMutability": "view",
            "inputs": [],
            "outputs": [{"name": "", "type": output}],
        }
    ]
    contract = chain.eth.contract(address=chain.to_checksum_address(address), abi=abi)
    try:
        return await contract.functions[function]().call()
    except (Web3Exception, DecodingError, UnicodeDecodeError, OverflowError, RpcUnavailable):
        return None
