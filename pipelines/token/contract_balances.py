"""Compares the transfers of the watched contract with its balances in the tokens that the settings name.

Any other token can report whatever balances it likes: a difference there means nothing, and anybody could cause one.
"""

from collections.abc import Sequence
from datetime import datetime

from contracts.token.nodes import Disagreement, DisputedFact
from contracts.token.proof import Missing, decode_uint
from pipelines.clients.rpc import Endpoint, RpcPool
from pipelines.clients.rpc_state import Call, ask
from pipelines.token.proof import balance_of_data
from warehouse.duck.connection import Connection
from warehouse.token.disputes import record_disputes, settle_disputes
from warehouse.token.transfers import (
    CONTRACT_TRANSFERS,
    TRANSFERS,
    delivering_hosts,
    last_checkpoint,
    moved_of_service_token,
    moved_to_contract,
)

HELD = "transfers of the contract from "
EVERY_TRANSFER = "every transfer that was read"


async def compare_contract_balances(
    pool: RpcPool,
    connection: Connection,
    contract: str,
    service_token: str,
    other_tokens: Sequence[str],
    *,
    start_block: int,
    now: datetime,
) -> None:
    """Opens a dispute for each token whose balance grew by another amount than the contract's stored transfers sum up
    to.

    The growth is reported by the nodes and, for the service token, computed from all of its transfers. The dispute ends
    when all that answer agree with the stored transfers.
    """
    reaches = [last_checkpoint(connection, tables) for tables in (CONTRACT_TRANSFERS, TRANSFERS)]
    block = min((reach.to_block for reach in reaches if reach is not None), default=-1)
    if None in reaches or block < start_block:
        return
    held_from = f"{HELD}{', '.join(delivering_hosts(connection, CONTRACT_TRANSFERS))}"
    for token in (service_token, *other_tokens):
        ours = moved_to_contract(connection, contract, token, block)
        growths = await _growths(pool, contract, token, start_block, block)
        if token == service_token:
            growths[EVERY_TRANSFER] = moved_of_service_token(connection, contract, block)
        key = (DisputedFact.BALANCE, token)
        if any(growth != ours for growth in growths.values()):
            answers = [(host, str(growth)) for host, growth in growths.items()]
            found = Disagreement(*key, block, (*answers, (held_from, str(ours))))
            record_disputes(connection, [found], now, tables=CONTRACT_TRANSFERS)
        elif growths:
            settle_disputes(connection, [key], "nodes_agree", now, tables=CONTRACT_TRANSFERS)


async def _growths(pool: RpcPool, contract: str, token: str, start_block: int, to_block: int) -> dict[str, int]:
    """Returns by host how much the contract's balance grew from before `start_block` to `to_block`.

    A node without state of these blocks is left out and not queried again; most nodes lack that of old blocks.
    """
    blocks = [to_block] if start_block == 0 else [to_block, start_block - 1]
    calls: list[Call] = [
        ("eth_call", [{"to": token, "data": balance_of_data(contract)}, hex(block)]) for block in blocks
    ]

    async def growth(endpoint: Endpoint) -> int | None:
        answers = await ask(endpoint, calls)
        after, *before = [answer if isinstance(answer, Missing) else decode_uint(answer) for answer in answers]
        before_it = before[0] if before else 0
        if before_it is Missing.EMPTY:  # the token was not deployed yet
            before_it = 0
        return None if isinstance(after, Missing) or isinstance(before_it, Missing) else after - before_it

    found = await pool.each(growth, enough=lambda _: True)
    return {endpoint.host: result for endpoint, result in found.items() if isinstance(result, int)}
