"""Declares the commands that run the service and its parts."""

from typing import Annotated, Final

import typer

from cli.commands.declaring import group, runs
from cli.output import AsJson

RUNNING: Final = "Run the service"

app = typer.Typer()
pipeline = group("Ingest, fold, prove, check and publish, without any Dagster process.")
generations = group("Take generations to an object store and from it, list them, roll one back.")
ingest = group("Read the chain's history with several workers, in partitions.")


@app.command(rich_help_panel=RUNNING)
@runs("cli.run:run")
def run(
    dagster_launch: Annotated[
        bool, typer.Option("--dagster-launch", help="Let Dagster's pages launch runs and switch schedules.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run everything: chain, pipeline, API and Dagster. Ctrl-C ends it all.

    Without SVC_RPC_URLS the chain is a local demo chain. Dagster's pages are read-only unless --dagster-launch is
    given, and only this machine can open them.

    Example: `SVC_PORT=8080 svc run`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.serve:serve")
def serve(
    workers: Annotated[int, typer.Option(min=1, help="Processes that answer; they share one rate limit.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Serve the published generation; wait for the first one if nothing is published yet.

    Example: `svc serve --workers 4`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.api_host:api")
def api(
    workers: Annotated[int, typer.Option(min=1, help="Processes that answer.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Serve what another host publishes: one of several API hosts, without a pipeline. Ctrl-C ends it.

    It takes over each generation that SVC_PUBLISH_URL points to, and shares the PostgreSQL ledger of SVC_LEDGER_URL.

    Example: `SVC_PUBLISH_URL=s3://bucket/svc svc api`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.demo.command:demo")
def demo(
    reset: Annotated[
        bool, typer.Option("--reset", help="Delete the chain and everything that was ingested from it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run only the local demo chain, and print its RPC URL and addresses. Ctrl-C saves it and ends.

    Example: `svc demo --reset`
    """


app.add_typer(pipeline, name="pipeline", rich_help_panel=RUNNING)


@pipeline.command("run")
@runs("cli.pipeline:run")
def pipeline_run(
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Keep this state as a snapshot to compare with.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run until the chain is read up to finality and published. Does nothing where nothing is new.

    Example: `svc pipeline run --snapshot`
    """


@pipeline.command("datadocs")
@runs("cli.pipeline:datadocs")
def pipeline_datadocs(as_json: AsJson = False) -> None:
    """Write the Data Docs of Great Expectations, from the facts of every checked table as they are now.

    They are pages for the operator in `SVC_DATA_DIR/datadocs`; nothing publishes them.

    Example: `svc pipeline datadocs`
    """


@pipeline.command("status")
@runs("cli.pipeline:status")
def pipeline_status(as_json: AsJson = False) -> None:
    """Show how far the chain is read, what is proven and what is published.

    While a run holds the warehouse, these are the facts of the published list.

    Example: `svc pipeline status --json`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.pipeline:publish")
def publish(as_json: AsJson = False) -> None:
    """Publish what the warehouse holds, for this SVC_BASE_URL. Reads nothing from the chain.

    Example: `SVC_BASE_URL=https://agents.example svc publish`
    """


app.add_typer(generations, name="generations", rich_help_panel=RUNNING)

Once = Annotated[bool, typer.Option("--once", help="End after one look, instead of going on until it is stopped.")]


@generations.command("push")
@runs("cli.generations:push")
def generations_push(once: Once = False, as_json: AsJson = False) -> None:
    """Store each generation of this host in SVC_PUBLISH_URL as it is published. `svc run` does so where that is set.

    Example: `SVC_PUBLISH_URL=s3://bucket/svc svc generations push`
    """


@generations.command("follow")
@runs("cli.generations:follow")
def generations_follow(once: Once = False, as_json: AsJson = False) -> None:
    """Take over each generation that SVC_PUBLISH_URL points to, for a `svc serve` on a host without the pipeline.

    Example: `SVC_PUBLISH_URL=s3://bucket/svc svc generations follow`
    """


@generations.command("list")
@runs("cli.generations:list_")
def generations_list(as_json: AsJson = False) -> None:
    """List the generations that are kept here and, with SVC_PUBLISH_URL, the stored ones; the newest is the last.

    Example: `svc generations list`
    """


@generations.command("rollback")
@runs("cli.generations:rollback")
def generations_rollback(
    generation_id: Annotated[str, typer.Argument(help="The generation's id, as `svc generations list` shows it.")],
    as_json: AsJson = False,
) -> None:
    """Serve an older generation again, on every host. It stays until the next one is published.

    Example: `svc generations rollback 20260101T120000Z-000041`
    """


app.add_typer(ingest, name="ingest", rich_help_panel=RUNNING)


@ingest.command("workers")
@runs("cli.ingest:workers")
def ingest_workers(
    count: Annotated[int, typer.Option(min=1, help="Runs that read at once, a process each.")] = 2,
    once: Annotated[bool, typer.Option("--once", help="End as soon as nothing below finality is missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read the partitions that the object store lacks, on this host. A cluster runs the same by its own launcher.

    Needs SVC_PARTITION_BLOCKS, SVC_PUBLISH_URL and SVC_WORKERS_URL. Partitions of a killed worker are read again.

    Example: `svc ingest workers --count 4`
    """


@ingest.command("status")
@runs("cli.ingest:status")
def ingest_status(as_json: AsJson = False) -> None:
    """Say which partitions are stored and which are missing, and how each token of SVC_TOKENS_FILE stands.

    Example: `svc ingest status --json`
    """
