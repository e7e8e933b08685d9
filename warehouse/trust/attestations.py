"""Stores the trust room's rows: attestations folded into scores, the contract's answers, and the served rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import duckdb
import msgspec

from contracts.base import Quality, unpublished
from contracts.trust import (
    ERC8004,
    FUNCTIONS,
    LISTED_AT_MOST,
    NEW,
    WEIGHTING_RULE,
    ListedAgent,
    ListedAttestation,
    ListedAttester,
    SampledScores,
    Standing,
    TrustConsistency,
    TrustProtocol,
    TrustRegistry,
    TrustScore,
    TrustTotals,
    Weighting,
    attested,
    level_of,
    thresholds,
)
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import transaction
from warehouse.duck.rows import aware_utc, insert, naive_utc, replace_all
from warehouse.statements import read_sql
from warehouse.token.chain_head import SeenHead
from warehouse.token.holders import first_row, one_row

SCORE_PATH = "/api/v2/trust/score/{address}"
NOT_CONFIGURED = "not_configured"
BACKFILLING = "backfilling"
ATTESTATIONS_MISSING = "attestations_missing"

_CHECKS_KEPT = timedelta(days=2)


@dataclass(frozen=True)
class TrustState:
    """The block up to which attestations of a registry are counted."""

    registry: str
    half_life_s: int
    block: int
    block_hash: str


@dataclass(frozen=True)
class ScoreCheck:
    """One query to the contract, with our answer (meets, score) and its answer. If `theirs` is None, `reason` is why
    there was no answer."""

    agent: str
    min_score: int
    ours: tuple[bool, int]
    theirs: tuple[bool, int] | None
    reason: str | None


def read_trust_state(connection: duckdb.DuckDBPyConnection) -> TrustState | None:
    row = first_row(connection, "select registry, half_life_s, block, block_hash from core_trust__state")
    return None if row is None else TrustState(*row)


def fold_scores(connection: duckdb.DuckDBPyConnection, registry: str, half_life_s: int) -> frozenset[str]:
    """Counts all attestations after the last fold in one transaction. Returns the attested agents.

    The count starts over for another registry or half-life, and if attestations are being read again.
    """
    reach = first_row(connection, read_sql("trust_reach"))
    with transaction(connection):
        state = read_trust_state(connection)
        if state is not None and (
            (state.registry, state.half_life_s) != (registry, half_life_s) or reach is None or reach[0] < state.block
        ):
            forget_scores(connection)
            state = None
        if reach is None or (state is not None and state.block == reach[0]):
            return frozenset()
        after = -1 if state is None else state.block
        rows = connection.execute(read_sql("attestations_after"), {"after": after}).fetchall()
        standings = _standings(connection, {row[0] for row in rows})
        history = []
        for agent, _, block, log_index, attester, job_id, score, at_s, uri in rows:
            standing = standings[agent] = attested(standings.get(agent, NEW), score, at_s, half_life_s)
            history.append(
                {
                    "agent": agent,
                    "number": standing.count,
                    "block": block,
                    "log_index": log_index,
                    "attester": attester,
                    "job_id": job_id,
                    "score": score,
                    "weighted_score": standing.weighted_score,
                    "average_score": standing.average_score,
                    "attested_at_s": at_s,
                    "metadata_uri": uri,
                }
            )
        _append(connection, "append_history", history)
        connection.execute("delete from core_trust__scores where list_contains(?, agent)", [list(standings)])
        _append(
            connection, "append_scores", [_score_row(agent, new_standing) for agent, new_standing in standings.items()]
        )
        block, block_hash, block_time = reach
        counted = {"registry": registry, "half_life_s": half_life_s}
        counted |= {"block": block, "block_hash": block_hash, "block_time": block_time}
        replace_all(connection, "core_trust__state", counted)
    return frozenset(standings)


def forget_scores(connection: duckdb.DuckDBPyConnection) -> None:
    """Deletes everything that was counted."""
    for table in ("core_trust__state", "core_trust__scores", "core_trust__history", "core_trust__checks"):
        connection.execute(f"delete from {table}")  # noqa: S608 - our own names


def scores(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Returns the weighted score of every agent."""
    return dict(connection.execute("select agent, weighted_score from core_trust__scores").fetchall())


def newly_attested(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Returns the agents that were attested since the last query to the contract."""
    return [agent for (agent,) in connection.execute(read_sql("newly_attested")).fetchall()]


def checked_at_block(connection: duckdb.DuckDBPyConnection, block: int) -> bool:
    """Returns True if the contract gave any answer about the scores at `block`."""
    row = first_row(
        connection, "select 1 from core_trust__checks where block = ? and theirs_meets is not null limit 1", [block]
    )
    return row is not None


def record_checks(
    connection: duckdb.DuckDBPyConnection, block: int, checks: Sequence[ScoreCheck], now: datetime
) -> None:
    """Stores the contract's answers at `block` and deletes checks older than two days."""
    oldest = naive_utc(now) - _CHECKS_KEPT
    with transaction(connection):
        connection.execute("delete from core_trust__checks where block = ? or checked_at < ?", [block, oldest])
        insert(connection, "core_trust__checks", (_check_row(block, check, now) for check in checks))


def is_trust_recorded(connection: duckdb.DuckDBPyConnection) -> bool:
    """Returns True if any run has recorded the registry's status."""
    return first_row(connection, read_sql("trust_status")) is not None


def record_trust_status(
    connection: duckdb.DuckDBPyConnection,
    *,
    chain_id: int,
    registry: str | None,
    escrow: str | None,
    head: SeenHead | None,
    reason: str | None,
    now: datetime,
) -> None:
    """Replaces the served rows: the scores and their status.

    `reason` is why they could not be counted. Without one, missing attestations, which the registry's numbering shows,
    become the reason.
    """
    state = first_row(connection, "select half_life_s, block, block_hash, block_time from core_trust__state")
    half_life_s, block, block_hash, block_time = state or (None,) * 4
    attestations, agents, attesters = one_row(connection, read_sql("trust_totals"))
    checked_block, checked, equal, check_reason = one_row(connection, read_sql("newest_checks"))
    if checked_block != block:
        checked, equal, check_reason = 0, 0, None
    (gaps,) = one_row(connection, read_sql("attestation_gaps"))
    if reason is None and block is not None and gaps:
        reason = ATTESTATIONS_MISSING
    complete = reason is None and block is not None and head is not None and block >= head.finalized_block
    with transaction(connection):
        connection.execute("delete from out_trust__scores")
        connection.execute(
            "insert into out_trust__scores by name "
            "select agent, attestation_count, weighted_score, average_score, last_attested_at from core_trust__scores"
        )
        replace_all(
            connection,
            "out_trust__status",
            {
                "chain_id": chain_id,
                "registry": registry,
                "escrow": escrow,
                "half_life_s": half_life_s,
                "block": block,
                "block_hash": block_hash,
                "block_time": block_time,
                "level": head and head.level,
                "complete": complete,
                "attestations": attestations,
                "agents": agents,
                "attesters": attesters,
                "checked": checked,
                "equal": equal,
                "check_reason": check_reason,
                "reason": reason,
                "recorded_at": now,
            },
        )


@dataclass(frozen=True)
class _Status:
    """The status row in the form that the documents use."""

    chain_id: int | None
    registry: str | None
    escrow: str | None
    half_life_s: int | None
    totals: TrustTotals | None
    consistency: TrustConsistency | None
    freshness: dict[str, Any]

    @property
    def network(self) -> str | None:
        return None if self.chain_id is None else f"eip155:{self.chain_id}"


def read_trust_protocol(context: DocumentContext) -> TrustProtocol:
    """Reads the trust registry, and how its scores are computed."""
    status = _status(context.connection)
    return TrustProtocol(
        **status.freshness,
        registry=status.registry,
        escrow=status.escrow,
        network=status.network,
        lowest_score=1,
        highest_score=100,
        thresholds=thresholds(),
        weighting=Weighting(half_life_s=status.half_life_s, rule=WEIGHTING_RULE),
        totals=status.totals,
        score_path=SCORE_PATH,
        functions=FUNCTIONS,
        erc8004=ERC8004,
        consistency=status.consistency,
    )


def read_trust_registry(context: DocumentContext) -> TrustRegistry:
    """Reads the attested agents, their attesters and the newest attestations."""
    status = _status(context.connection)
    lists = {
        name: _listed(context.connection, f"trust_listed_{name}") for name in ("agents", "attesters", "attestations")
    }
    counted = status.totals is not None
    return TrustRegistry(
        **status.freshness,
        registry=status.registry,
        network=status.network,
        totals=status.totals,
        agents=[
            ListedAgent(**row | {"level": level_of(row["weighted_score"], True)}) for row in lists["agents"] if counted
        ],
        attesters=[ListedAttester(**row) for row in lists["attesters"] if counted],
        attestations=[ListedAttestation(**row) for row in lists["attestations"] if counted],
        truncated=any(getattr(status.totals, name, 0) > len(rows) for name, rows in lists.items() if counted),
        consistency=status.consistency,
    )


def _listed(connection: duckdb.DuckDBPyConnection, question: str) -> list[dict[str, Any]]:
    cursor = connection.execute(read_sql(question), {"limit": LISTED_AT_MOST})
    names = [column[0] for column in cursor.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return [
        {name: aware_utc(value) if isinstance(value, datetime) else value for name, value in row.items()}
        for row in rows
    ]


def read_trust_score(context: DocumentContext, agent: str) -> TrustScore:
    """Reads the score of an agent (lower-case hex). An agent without attestations has zeros and is not registered."""
    status = _status(context.connection)
    known = status.consistency is not None
    row = first_row(context.connection, read_sql("trust_score"), {"agent": agent}) if known else None
    count, weighted, average, last_at = row or (0, 0, 0, None)
    return TrustScore(
        **status.freshness,
        agent=agent,
        trust_score=average if known else None,
        weighted_score=weighted if known else None,
        attestation_count=count if known else None,
        registered=count > 0 if known else None,
        thresholds=thresholds(),
        level=level_of(weighted, count > 0) if known else None,
        last_attested_at=aware_utc(last_at),
        registry=status.registry,
        network=status.network,
        consistency=status.consistency,
    )


def _status(connection: duckdb.DuckDBPyConnection) -> _Status:
    row = first_row(connection, read_sql("trust_status"))
    if row is None:
        row = (*[None] * 8, False, 0, 0, 0, 0, 0, None, None, None)
    (
        chain_id, registry, escrow, half_life_s, block, block_hash, block_time, level, complete, attestations, agents,
        attesters, checked, equal, check_reason, reason, recorded_at,
    ) = row  # fmt: skip
    consistency = None
    if registry is not None and block is not None and level is not None:
        consistency = TrustConsistency(
            level=level,
            block=block,
            block_hash=block_hash,
            time=aware_utc(block_time),
            sampled=_sampled(agents, checked, equal, check_reason),
        )
    totals = TrustTotals(attestations=attestations, agents=agents, attesters=attesters) if consistency else None
    if consistency is None:
        freshness = unpublished(
            source=None,
            quality=Quality.UNAVAILABLE,
            reason=reason or (NOT_CONFIGURED if registry is None else BACKFILLING),
            observed_at=None,
            fetched_at=None,
        )
    else:
        quality, why = _quality(complete, consistency.sampled)
        freshness = unpublished(
            source="warehouse",
            quality=quality,
            reason=reason or why,
            observed_at=consistency.time,
            fetched_at=aware_utc(recorded_at),
        )
    return _Status(chain_id, registry, escrow, half_life_s, totals, consistency, freshness)


def _sampled(agents: int, checked: int, equal: int, reason: str | None) -> SampledScores:
    if equal < checked:
        return SampledScores(checked=checked, equal=equal, verdict="failed", reason="score_mismatch")
    if checked == 0:
        why = reason or ("no_agents" if agents == 0 else "not_asked")
        return SampledScores(checked=0, equal=0, verdict="unproven", reason=why)
    return SampledScores(checked=checked, equal=equal, verdict="proven", reason=None)


def _quality(complete: bool, sampled: SampledScores) -> tuple[Quality, str | None]:
    if sampled.verdict == "failed":
        return Quality.ESTIMATED, sampled.reason
    if not complete:
        return Quality.ESTIMATED, BACKFILLING
    if sampled.verdict == "unproven" and sampled.reason != "no_agents":
        return Quality.DERIVED, sampled.reason
    return Quality.EXACT, None


def _standings(connection: duckdb.DuckDBPyConnection, agents: set[str]) -> dict[str, Standing]:
    rows = connection.execute(read_sql("standings"), {"agents": sorted(agents)}).fetchall()
    return {agent: Standing(*fields) for agent, *fields in rows}


def _score_row(agent: str, standing: Standing) -> dict[str, Any]:
    return {
        "agent": agent,
        "attestation_count": standing.count,
        "weighted_score": standing.weighted_score,
        "average_score": standing.average_score,
        "score_sum": standing.score_sum,
        "weight_sum": str(standing.weight_sum),
        "weighted_sum": str(standing.weighted_sum),
        "last_at_s": standing.last_at_s,
    }


def _check_row(block: int, check: ScoreCheck, now: datetime) -> dict[str, Any]:
    ours_meets, ours_score = check.ours
    theirs_meets, theirs_score = check.theirs or (None, None)
    return {
        "block": block,
        "agent": check.agent,
        "min_score": check.min_score,
        "ours_meets": ours_meets,
        "ours_score": ours_score,
        "theirs_meets": theirs_meets,
        "theirs_score": theirs_score,
        "reason": check.reason,
        "checked_at": now,
    }


def _append(connection: duckdb.DuckDBPyConnection, question: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        text = msgspec.json.encode(rows).decode()
        connection.execute(read_sql(question), {"rows": text}).fetchall()
