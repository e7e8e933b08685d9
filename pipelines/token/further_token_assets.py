"""Further tokens as an asset: those of the tokens file, which are ingested with the partitions of the workers."""

import asyncio

import dagster as dg

from contracts.token.further_tokens import PublishedToken, TokenState
from pipelines.presentation import OWNERS, POOL
from pipelines.resources import Runtime
from pipelines.token.head import probe
from pipelines.token.partition_following import follow_further_tokens


@dg.asset(
    group_name="holders",
    deps=["evm_chain"],
    kinds={"parquet"},
    owners=OWNERS,
    pool=POOL,
    op_tags={"dagster/priority": "1"},  # before the publishing step, which does not depend on it
    description="Holder lists of the tokens of SVC_TOKENS_FILE, each with its own proof, at the end of the last "
    "partition that the workers have stored. A broken token does not stop the others.\n\n"
    "Grain: one list per token and block.",
)
def further_tokens(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Imports the partitions that the workers have stored, and takes and proves the resulting lists."""
    published = asyncio.run(_follow(runtime))
    by_state = {state.value: sum(token.state is state for token in published) for state in TokenState}
    broken = {token.address: token.reason or "" for token in published if token.state is TokenState.BROKEN}
    return dg.MaterializeResult(metadata={**by_state, "reasons": dg.MetadataValue.json(broken)})


async def _follow(runtime: Runtime) -> list[PublishedToken]:
    async with runtime.rpc_pool() as pool:
        head = await probe(pool, confirmations=runtime.settings.confirmations)
        return await follow_further_tokens(runtime.settings, pool, head)
