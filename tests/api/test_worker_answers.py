"""A worker process answers a large request exactly as this process would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from whole_service import whole_service
from world_writes import ADA, goal, no_rules, proposal

from api.workers import WorkerPool
from api.world.large import (
    answer_past,
    answer_past_in_worker,
    judge_in_worker,
    prepare_build,
    prepare_build_in_worker,
    prepare_design,
    prepare_design_in_worker,
    unpacked,
)
from contracts.world.extraction.build import BuildRequest
from contracts.world.memory.memory_plan import DesignRequest
from warehouse.ledger.ledger import open_ledger
from warehouse.publish.serving import ServedGenerations
from warehouse.world import query
from warehouse.world.history import Past
from warehouse.world.write import propose

BUILD = {"mode": "apply", "documents": [{"markdown": "".join(f"# Part {number}\n" for number in range(150))}]}
DESIGN = {"agent": {"id": "helper"}, "goals": ["Answer mail"], "sources": ["inbox"], "mode": "apply"}


@pytest.fixture(scope="module", autouse=True)
def started_as_services_do(forked_workers: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    with forked_workers():
        yield


def test_a_worker_gives_what_this_process_gives(tmp_path: Path) -> None:
    async def scene() -> None:
        pool = WorkerPool()
        body = json.dumps(BUILD).encode()
        here = prepare_build(ledger, BuildRequest.model_validate(BUILD), ADA)
        there = await pool.run("ada", prepare_build_in_worker, settings, body, ADA)
        assert there.fields == here.fields
        assert here.to_be_written is not None and there.to_be_written is not None
        assert unpacked(there.to_be_written).proposal == unpacked(here.to_be_written).proposal
        judged = unpacked(await pool.run("ada", judge_in_worker, settings, here.to_be_written)).judgment
        assert judged is not None and judged.judged.verdict == "approved"

        plan = prepare_design(ledger, DesignRequest.model_validate(DESIGN), ADA)
        body = json.dumps(DESIGN).encode()
        planned = await pool.run("ada", prepare_design_in_worker, settings, body, ADA)
        assert (planned.fields, planned.node_ids) == (plan.fields, plan.node_ids)

        wanted, past = query.Query(limit=5), Past(None, revision)
        asked = answer_past(ledger, served, wanted, past, ADA.name, 0)
        assert asked.matched >= 1
        assert await pool.run("ada", answer_past_in_worker, settings, wanted, past, ADA.name, 0) == asked

    with whole_service(tmp_path) as service:
        settings = service.settings
        ledger, served = open_ledger(settings, settings.data_dir), ServedGenerations(settings.data_dir)
        revision = propose(ledger, proposal(goal("g")), alignment=no_rules).revision
        asyncio.run(scene())
        served.close()
        ledger.close()
