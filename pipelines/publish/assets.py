"""The published documents as assets: one per registry row or collection. The step that builds a generation builds all
of them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import dagster as dg

from contracts.discovery.capabilities import Status, capability_states
from contracts.discovery.installation import Installation
from contracts.publish.projection import Projection
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from pipelines.presentation import OWNERS, POOL, model_schema
from pipelines.publish.generation import publish, republish
from pipelines.resources import Runtime
from warehouse.discovery.checks import CheckResult, check_results
from warehouse.duck.connection import Connection
from warehouse.duck.tables import room_of
from warehouse.publish.lineage import tables_of
from warehouse.publish.readers import context_for

QUERY_COPY, LINKED = "svc/query_copy", "linked"
"""The tag of a run that publishes a few documents and leaves the query copy of the tables unchanged."""


def document_key(projection: Projection) -> dg.AssetKey:
    """Returns the asset key of a document: `document/api/token/holders` for `/api/token/holders`. Documents of one
    collection are one asset."""
    place = projection.collection or projection.path.strip("/") or "index.html"
    return dg.AssetKey(["document", *place.split("/")])


_KEYS = {path: document_key(row) for row in PROJECTIONS for path in row.paths}
"""The assets of the documents by path."""


def upstream_of(projection: Projection) -> set[dg.AssetKey]:
    """Returns the assets from which a document is built: the tables that it reads, or the documents that it shows. The
    list of files, which pages also show, is not an asset."""
    shown = {_KEYS[path] for path in projection.shows if path in _KEYS}
    return {dg.AssetKey(table) for table in tables_of(projection)} | shown


def age_in_words(projection: Projection) -> str:
    """Describes how long a document is fresh."""
    if projection.max_age_s is not None:
        return f"fresh for {projection.max_age_s} s"
    return "as fresh as what it shows" if projection.shows else "does not age"


def _spec(projection: Projection) -> dg.AssetSpec:
    model: dict[str, Any] = (
        {}
        if projection.model is None
        else {"model": projection.model.__name__, "dagster/column_schema": model_schema(projection.model)}
    )
    return dg.AssetSpec(
        document_key(projection),
        deps=sorted(upstream_of(projection), key=str),
        group_name="publish",
        description=f"{projection.description}\n\nGrain: one document, {age_in_words(projection)}.",
        kinds={projection.media_type.partition(";")[0].rpartition("/")[2].rpartition("+")[2]},
        owners=OWNERS,
        freshness_policy=_freshness(projection),
        metadata={"route": projection.path, "max_age_s": projection.max_age_s or 0, **model},
    )


def _first_of_each_asset(rows: Iterable[Projection]) -> list[Projection]:
    """Returns the first document of every asset, which represents the others of its collection."""
    first: dict[dg.AssetKey, Projection] = {}
    for row in rows:
        first.setdefault(document_key(row), row)
    return list(first.values())


def _freshness(projection: Projection) -> dg.FreshnessPolicy | None:
    """Returns the freshness policy: a warning once the document is stale, a failure at twice that age.

    Returns None if the document does not age.
    """
    if projection.max_age_s is None:
        return None
    age = timedelta(seconds=projection.max_age_s)
    return dg.FreshnessPolicy.time_window(fail_window=2 * age, warn_window=age)


def documents_of_what_is_off(installation: Installation) -> frozenset[dg.AssetKey]:
    """Returns the documents of capabilities that are off at an installation: they contain no number that could age."""
    states = capability_states(installation).values()
    off = {route for state in states if state.status is Status.OFF for route in state.capability.routes}
    return frozenset(document_key(row) for row in PROJECTIONS if f"GET {row.path}" in off)


NUMBERS = "numbers_passed_their_checks"
"""The name of a document's check that the checks of the rooms whose tables it reads have passed."""

CHECKED = {
    document_key(row): frozenset(map(room_of, tables_of(row)))
    for row in PROJECTIONS
    if row.freshness is not None and tables_of(row)
}
"""The documents that contain numbers, and the rooms from which these come."""


@dg.multi_asset(
    name="publish_generation",
    specs=[*map(_spec, _first_of_each_asset(PROJECTIONS))],
    check_specs=[
        dg.AssetCheckSpec(
            NUMBERS,
            asset=key,
            description="The checks of all tables of the rooms that the document reads have passed.",
        )
        for key in CHECKED
    ],
    pool=POOL,
    can_subset=True,
)
def publish_generation(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """Builds the next generation from the selected documents, points to it, and shows the checks of its numbers.

    The checks belong to this step, since a separate one would make every run of prices more expensive. A run of only
    checks publishes nothing.
    """
    chosen = [row for row in PROJECTIONS if document_key(row) in context.selected_asset_keys]
    check_keys = sorted(context.selected_asset_check_keys, key=str)
    with runtime.warehouse.connect() as connection:
        results = check_results(connection) if check_keys else []
        if chosen:
            yield from _published(context, connection, runtime.settings, chosen)
    # One query, whose result is cached: Dagster requests the record of each document with its result.
    context.instance.get_asset_records([check_key.asset_key for check_key in check_keys])
    yield from _numbers_checked(check_keys, results)


def _published(
    context: dg.AssetExecutionContext, connection: Connection, settings: Settings, chosen: Sequence[Projection]
) -> Iterator[dg.MaterializeResult[None]]:
    """Publishes. A run of one room links the query copy; a run of the chain rewrites it."""
    documents = context_for(connection, settings)
    if context.run.tags.get(QUERY_COPY) == LINKED:
        made = {key.path[-1] for key in context.job_def.asset_layer.selected_asset_keys}
        report = republish(documents, settings, chosen, moved_tables=made)
    else:
        names = {row.name for row in chosen}
        unmoved = [row for row in PROJECTIONS if row.name not in names]
        # A run of all documents builds each of them, whatever has moved.
        report = publish(documents, settings, unmoved=unmoved or None)
    context.log.info(
        f"{report.generation}: {report.written} files with {report.bytes_written} bytes written and {report.linked} "
        f"linked in {report.seconds} s"
    )
    for projection in _first_of_each_asset(chosen):
        yield dg.MaterializeResult(
            asset_key=document_key(projection),
            metadata={
                "generation": report.generation or "none",
                "changed": projection.path in report.changed_documents,
                "document": dg.MetadataValue.url(settings.public_base_url + projection.path),
            },
        )


def _numbers_checked(
    check_keys: Sequence[dg.AssetCheckKey], results: Sequence[CheckResult]
) -> Iterator[dg.AssetCheckResult]:
    """Shows the results of the checks on each document whose numbers they cover. Blocks nothing: the checks themselves
    do that."""
    for check_key in check_keys:
        of_document = [result for result in results if room_of(result.table_name) in CHECKED[check_key.asset_key]]
        failed = [f"{result.table_name}: {result.fact}" for result in of_document if not result.passed]
        yield dg.AssetCheckResult(
            asset_key=check_key.asset_key,
            check_name=check_key.name,
            passed=not failed,
            severity=dg.AssetCheckSeverity.WARN,
            metadata={"facts": len(of_document), "failed": dg.MetadataValue.json(failed)},
        )
