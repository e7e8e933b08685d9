"""Trust as assets: scores computed from attestations, their history, the contract's answers, and the served rows."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg

from contracts.trust import sample_agents
from pipelines.presentation import POOL, markdown_table, row_count, table_asset, table_spec
from pipelines.resources import Runtime
from pipelines.trust.source import ask_scores, read_half_life
from warehouse.duck.inspection import preview
from warehouse.token.chain_head import read_head
from warehouse.trust.attestations import (
    ScoreCheck,
    checked_at_block,
    fold_scores,
    forget_scores,
    newly_attested,
    read_trust_state,
    record_checks,
    record_trust_status,
    scores,
)

GROUP = "trust"
FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=timedelta(minutes=30), warn_window=timedelta(minutes=15))
OFF = {"off": "SVC_TRUST_REGISTRY_ADDRESS or SVC_TOKEN_ADDRESS is not set"}
SILENT = "registry_unanswered"


def registry_of(runtime: Runtime) -> str | None:
    """Returns the registry; None without a token, since the warehouse belongs to a token's chain."""
    return runtime.settings.trust_registry_address if runtime.settings.token_address else None


@dg.multi_asset(
    name="count_scores",
    specs=[
        table_spec(
            "core_trust__scores",
            GROUP,
            "Each agent's scores, computed from its attestations in the contract's own integer arithmetic: the plain "
            "mean and one in which recent work weighs more.",
            deps=["raw_chain__attestations", "raw_chain__attestation_ranges"],
            freshness=FRESHNESS,
            capability="trust_scores",
        ),
        table_spec(
            "core_trust__history",
            GROUP,
            "Every attestation with the agent's scores after it: how trust developed.",
            deps=["raw_chain__attestations", "raw_chain__attestation_ranges"],
            freshness=FRESHNESS,
            capability="trust_scores",
        ),
    ],
    pool=POOL,
)
def count_scores(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Counts the attestations after the last fold."""
    registry = registry_of(runtime)
    with runtime.warehouse.connect() as connection:
        state = read_trust_state(connection)
        half_life_s = state.half_life_s if state is not None and state.registry == registry else None
        if registry is not None and half_life_s is None:
            half_life_s = asyncio.run(_half_life(runtime, registry))
        touched = frozenset[str]()
        if registry is None or half_life_s is None:
            forget_scores(connection)
        else:
            touched = fold_scores(connection, registry, half_life_s)
        counts = {name: row_count(connection, name) for name in ("core_trust__scores", "core_trust__history")}
        best = preview(connection, "trust_best")
        newest = preview(connection, "trust_newest_attestations")
    for name, metadata in counts.items():
        if registry is None:
            metadata |= OFF
        elif half_life_s is None:
            metadata["failed"] = SILENT
        else:
            shown = best if name == "core_trust__scores" else newest
            metadata |= {"half_life_s": half_life_s, "touched_agents": len(touched), "preview": markdown_table(shown)}
        yield dg.MaterializeResult(asset_key=name, metadata=metadata)


@table_asset(
    GROUP,
    "The registry's own answers of `meetsTrustThreshold` for a sample of scores and thresholds, at the block up to "
    "which attestations are counted.",
    deps=["core_trust__scores"],
    kinds=("evm",),
)
def core_trust__checks(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Queries the contract about a sample drawn by the block's hash, once per block."""
    registry = registry_of(runtime)
    checks: list[ScoreCheck] = []
    with runtime.warehouse.connect() as connection:
        state = read_trust_state(connection)
        if registry is not None and state is not None and not checked_at_block(connection, state.block):
            counted = scores(connection)
            sample = {
                agent: counted[agent] for agent in sample_agents(counted, newly_attested(connection), state.block_hash)
            }
            checks = asyncio.run(_ask(runtime, registry, state.block, sample))
            record_checks(connection, state.block, checks, datetime.now(UTC))
        metadata = row_count(connection, "core_trust__checks")
        newest = preview(connection, "trust_checks")
    if registry is None:
        return dg.MaterializeResult(metadata=metadata | OFF)
    metadata |= {
        "asked": len(checks),
        "answered": sum(check.theirs is not None for check in checks),
        "equal": sum(check.theirs == check.ours for check in checks),
        "answers": markdown_table(newest, rows=24),
    }
    return dg.MaterializeResult(metadata=metadata)


@dg.multi_asset(
    name="serve_trust",
    specs=[
        table_spec(
            "out_trust__scores",
            GROUP,
            "The served scores.",
            deps=["core_trust__scores"],
            freshness=FRESHNESS,
            capability="trust_scores",
        ),
        table_spec(
            "out_trust__status",
            GROUP,
            "The contracts, the block of the scores, and the contract's answers at that block.",
            deps=["core_trust__scores", "core_trust__history", "core_trust__checks"],
            freshness=FRESHNESS,
            capability="trust_scores",
        ),
    ],
    pool=POOL,
)
def serve_trust(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Records the scores to serve."""
    settings, registry = runtime.settings, registry_of(runtime)
    with runtime.warehouse.connect() as connection:
        state = read_trust_state(connection)
        silent = registry is not None and (state is None or state.registry != registry)
        head = read_head(connection)
        record_trust_status(
            connection,
            chain_id=settings.chain_id,
            registry=registry,
            escrow=settings.escrow_address,
            head=head,
            reason=SILENT if silent and head is not None else None,
            now=datetime.now(UTC),
        )
        counts = {name: row_count(connection, name) for name in ("out_trust__scores", "out_trust__status")}
        status = preview(connection, "trust_status")
    for name, metadata in counts.items():
        yield dg.MaterializeResult(asset_key=name, metadata=metadata | {"status": markdown_table(status)})


async def _half_life(runtime: Runtime, registry: str) -> int | None:
    async with runtime.rpc_pool() as pool:
        return await read_half_life(pool, registry)


async def _ask(runtime: Runtime, registry: str, block: int, sample: dict[str, int]) -> list[ScoreCheck]:
    async with runtime.rpc_pool() as pool:
        return await ask_scores(pool, registry, block, sample)
