"""The published documents as assets: one per row of the registry, made by one step: a generation is one thing."""

from collections.abc import Iterator

import dagster as dg

from contracts.projections import PROJECTIONS, Projection
from pipelines.presentation import OWNERS, model_schema
from pipelines.publish.generation import publish
from pipelines.resources import Runtime
from warehouse.holder_lists import lists_dir
from warehouse.projections import Readable, tables_of

OPENAPI = dg.AssetKey(["document", "openapi.json"])


def document_key(projection: Projection) -> dg.AssetKey:
    """`/api/token/holders` is the asset `document/api/token/holders`."""
    return dg.AssetKey(["document", *projection.path.strip("/").split("/")])


def _spec(projection: Projection) -> dg.AssetSpec:
    return dg.AssetSpec(
        document_key(projection),
        deps=[dg.AssetKey(table) for table in sorted(tables_of(projection))],
        group_name="publish",
        description=f"{projection.description}\n\nGrain: one JSON document, fresh for {projection.max_age_s} s.",
        kinds={"json"},
        owners=OWNERS,
        metadata={
            "route": projection.path,
            "model": projection.model.__name__,
            "max_age_s": projection.max_age_s,
            "dagster/column_schema": model_schema(projection.model),
        },
    )


@dg.multi_asset(
    name="publish_generation",
    specs=[
        *map(_spec, PROJECTIONS),
        dg.AssetSpec(
            OPENAPI,
            group_name="publish",
            description="The OpenAPI 3.0.3 description, with this installation's address. Grain: one document.",
            kinds={"json"},
            owners=OWNERS,
            metadata={"route": "/openapi.json"},
        ),
    ],
    pool="warehouse",
)
def publish_generation(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult]:
    """Build the next generation of what changed, and point to it."""
    with runtime.warehouse.connect() as connection:
        report = publish(Readable(connection, lists_dir(runtime.data_dir)), runtime.settings)
    keys = {projection.path: document_key(projection) for projection in PROJECTIONS} | {"/openapi.json": OPENAPI}
    for path, key in keys.items():
        yield dg.MaterializeResult(
            asset_key=key,
            metadata={
                "generation": report.generation or "none",
                "changed": path in report.changed_documents,
                "document": dg.MetadataValue.url(runtime.settings.public_base_url + path),
                "generation_bytes_written": report.bytes_written,
                "files_written": report.written,
                "files_linked": report.linked,
                "publish_s": report.seconds,
            },
        )
