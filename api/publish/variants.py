"""Computes variants of published documents, in this process or, if that takes long, in the worker pool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from contracts.errors import CheckFailed, NotReady
from contracts.publish.projection import Content, Projection
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, is_of_the_past, mark_stale, render
from warehouse.document_context import NeedsWorker
from warehouse.publish.generations import DocumentEntry
from warehouse.publish.readers import read
from warehouse.publish.serving import GenerationReading, ServedGenerations

if TYPE_CHECKING:
    from api.workers import WorkerPool

Work = Callable[[Awaitable[bytes]], Awaitable[bytes | None]]


def entry_of(reading: GenerationReading, path: str) -> DocumentEntry:
    """Returns the entry of the document at a path, whose origin and age a variant shares. Raises `NotReady`."""
    entry = reading.generation.manifest.documents.get(path)
    if entry is None:
        raise NotReady("The first generation is still being built.", headers={"Retry-After": "5"})
    return entry


def body_of(projection: Projection, content: Content, entry: DocumentEntry) -> bytes:
    """Renders content with the origin and age of a published document."""
    body = render(projection, content, Origin(entry.generation, entry.generated_at), now=datetime.now(UTC))
    reason = entry.stale_reason
    # A run that reads nothing newer does not devalue past numbers, but a check may find that they are wrong.
    if reason is None or (is_of_the_past(content) and reason != CheckFailed.code):
        return body
    return mark_stale(projection, body, reason)


def variant(projection: Projection, reading: GenerationReading, parameters: BaseModel) -> bytes:
    """Returns the body of a document for these parameters.

    Raises `NotReady`, the projection's refusals, and `NeedsWorker` if only a worker should compute it.
    """
    entry = entry_of(reading, projection.path)
    return body_of(projection, read(projection, reading.context, parameters), entry)


async def computed_variant(
    projection: Projection,
    parameters: BaseModel,
    served: ServedGenerations,
    workers: Callable[[], WorkerPool],
    caller: str,
    waiting: Work | None = None,
) -> bytes | None:
    """Returns `variant`, computed by a worker if this process should not do it. `caller` is charged for the worker;
    `waiting` may stop waiting for it by returning None. Raises the errors of `variant`, and `WorkersBusy`."""

    def in_process() -> bytes | None:
        try:
            with served.reading() as reading:
                return variant(projection, reading, parameters)
        except NeedsWorker:
            return None

    body = await run_in_threadpool(in_process)
    if body is not None:
        return body
    given = parameters.model_dump(by_alias=True, exclude_none=True)
    work = workers().run(caller, variant_in_worker, served.data_dir, projection.name, given)
    return await (work if waiting is None else waiting(work))


def variant_in_worker(data_dir: Path, name: str, parameters: dict[str, object]) -> bytes:
    """Calls `variant` with a worker's generations. `parameters` are keyed by their names in the query."""
    projection = next(row for row in PROJECTIONS if row.name == name)
    assert projection.parameters is not None
    with _generations(data_dir).reading(computes_lists=True) as reading:
        return variant(projection, reading, projection.parameters.model_validate(parameters))


@cache
def _generations(data_dir: Path) -> ServedGenerations:
    return ServedGenerations(data_dir)
