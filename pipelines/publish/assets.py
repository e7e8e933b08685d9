"""The published documents as assets: one per row of the registry, all made by the step that makes a generation."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import dagster as dg

from contracts.publish.registry import PROJECTIONS, Projection
from pipelines.presentation import OWNERS, POOL, model_schema
from pipelines.publish.generation import publish, republish
from pipelines.resources import Runtime
from warehouse.publish.lineage import tables_of
from warehouse.publish.readers import context_for

QUERY_COPY, LINKED = "svc/query_copy", "linked"
"""The tag of a run that publishes a few documents, and leaves the query copy of the tables as it is."""


def document_key(projection: Projection) -> dg.AssetKey:
    """Returns the asset key of a document: `document/api/token/holders` for `/api/token/holders`."""
    return dg.AssetKey(["document", *projection.path.strip("/").split("/")])


def _spec(projection: Projection) -> dg.AssetSpec:
    age = "does not age" if projection.max_age_s is None else f"fresh for {projection.max_age_s} s"
    model: dict[str, Any] = (
        {}
        if projection.model is None
        else {"model": projection.model.__name__, "dagster/column_schema": model_schema(projection.model)}
    )
    return dg.AssetSpec(
        document_key(projection),
        deps=[dg.AssetKey(table) for table in sorted(tables_of(projection))],
        group_name="publish",
        description=f"{projection.description}\n\nGrain: one document, {age}.",
        kinds={projection.media_type.partition(";")[0].rpartition("/")[2].rpartition("+")[2]},
        owners=OWNERS,
        freshness_policy=_freshness(projection),
        metadata={"route": projection.path, "max_age_s": projection.max_age_s or 0, **model},
    )


def _freshness(projection: Projection) -> dg.FreshnessPolicy | None:
    """Returns the freshness policy: a warning once the document is stale, a failure at twice that age.

    Returns None where the document does not age.
    """
    if projection.max_age_s is None:
        return None
    age = timedelta(seconds=projection.max_age_s)
    return dg.FreshnessPolicy.time_window(fail_window=2 * age, warn_window=age)


@dg.multi_asset(name="publish_generation", specs=[*map(_spec, PROJECTIONS)], pool=POOL, can_subset=True)
def publish_generation(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> Iterator[dg.MaterializeResult[None]]:
    """Builds the next generation from the selected documents, and points to it.

    A run of one room links the query copy; a run of the chain writes it again.
    """
    chosen = [row for row in PROJECTIONS if document_key(row) in context.selected_asset_keys]
    with runtime.warehouse.connect() as connection:
        documents = context_for(connection, runtime.settings)
        if context.run.tags.get(QUERY_COPY) == LINKED:
            report = republish(documents, runtime.settings, chosen)
        else:
            unmoved = [row for row in PROJECTIONS if row not in chosen]
            report = publish(documents, runtime.settings, unmoved=unmoved)
    for projection in chosen:
        yield dg.MaterializeResult(
            asset_key=document_key(projection),
            metadata={
                "generation": report.generation or "none",
                "changed": projection.path in report.changed_documents,
                "document": dg.MetadataValue.url(runtime.settings.public_base_url + projection.path),
                "generation_bytes_written": report.bytes_written,
                "files_written": report.written,
                "files_linked": report.linked,
                "publish_s": report.seconds,
            },
        )
