"""Declares the commands that run the service and its parts."""

from typing import Annotated, Final

import typer

from cli.commands.declaring import group, runs
from cli.output import AsJson

RUNNING: Final = "Run the service"

app = typer.Typer()
pipeline = group("Ingest, fold, prove, check and publish, without any Dagster process.")
generations = group("Push generations to an object store, follow one, list generations and roll back.")
ingest = group("Read the chain's history in partitions, with several workers.")


@app.command(rich_help_panel=RUNNING)
@runs("cli.run:run")
def run(
    dagster_launch: Annotated[
        bool, typer.Option("--dagster-launch", help="Allow Dagster's pages to launch runs and toggle schedules.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run everything: chain, pipeline, API and Dagster. Ctrl-C stops it all.

    Without SVC_RPC_URLS the chain is a local demo chain. Dagster's pages are read-only unless --dagster-launch is
    given, and can only be opened from this machine.

    Example: `SVC_PORT=8080 svc run`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.serve:serve")
def serve(
    workers: Annotated[int, typer.Option(min=1, help="Number of API processes; they share one rate limit.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Serve the published generation, or wait for the first one if nothing is published yet.

    Example: `svc serve --workers 4`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.api_host:api")
def api(
    workers: Annotated[int, typer.Option(min=1, help="Number of API processes.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Serve what another host publishes: one of several API hosts, without a pipeline. Ctrl-C stops it.

    It downloads each generation that SVC_PUBLISH_URL points to, and shares the PostgreSQL ledger at SVC_LEDGER_URL.

    Example: `SVC_PUBLISH_URL=s3://bucket/svc svc api`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.demo.command:demo")
def demo(
    reset: Annotated[
        bool, typer.Option("--reset", help="First delete the chain and everything that was ingested from it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run only the local demo chain, and print its RPC URL and addresses. Ctrl-C saves and stops it.

    Example: `svc demo --reset`
    """


app.add_typer(pipeline, name="pipeline", rich_help_panel=RUNNING)


@pipeline.command("run")
@runs("cli.pipeline:run")
def pipeline_run(
    snapshot: Annotated[
        bool, typer.Option("--snapshot", help="Keep the resulting state as a snapshot to compare with.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run until the chain is read up to finality and published. Does nothing if nothing is new.

    Example: `svc pipeline run --snapshot`
    """


@pipeline.command("datadocs")
@runs("cli.pipeline:datadocs")
def pipeline_datadocs(as_json: AsJson = False) -> None:
    """Write the Data Docs of Great Expectations from the current facts of every checked table.

    They are pages for the operator in `SVC_DATA_DIR/datadocs` and are not published.

    Example: `svc pipeline datadocs`
    """


@pipeline.command("status")
@runs("cli.pipeline:status")
def pipeline_status(as_json: AsJson = False) -> None:
    """Show how far the chain is read, what is proven and what is published.

    While a run has the warehouse locked, this shows the facts of the published list.

    Example: `svc pipeline status --json`
    """


@app.command(rich_help_panel=RUNNING)
@runs("cli.pipeline:publish")
def publish(as_json: AsJson = False) -> None:
    """Publish the contents of the warehouse under this SVC_BASE_URL. Reads nothing from the chain.

    Example: `SVC_BASE_URL=https://agents.example svc publish`
    """


app.add_typer(generations, name="generations", rich_help_panel=RUNNING)

Once = Annotated[bool, typer.Option("--once", help="Check once and exit, instead of running until stopped.")]


@generations.command("push")
@runs("cli.generations:push")
def generations_push(once: Once = False, as_json: AsJson = False) -> None:
    """Store each generation of this host in SVC_PUBLISH_URL when it is published. `svc run` does this if that is set.

    Example: `SVC_PUBLISH_URL=s3://bucket/svc svc generations push`
    """


@generations.command("follow")
@runs("cli.generations:follow")
def generations_follow(once: Once = False, as_json: AsJson = False) -> None:
    """Download each generation that SVC_PUBLISH_URL points to, for `svc serve` on a host without the pipeline.

    Example: `SVC_PUBLISH_URL=s3://bucket/svc svc generations follow`
    """


@generations.command("list")
@runs("cli.generations:list_")
def generations_list(as_json: AsJson = False) -> None:
    """List the generations kept on this host and, with SVC_PUBLISH_URL, the stored ones, newest last.

    Example: `svc generations list`
    """


@generations.command("rollback")
@runs("cli.generations:rollback")
def generations_rollback(
    generation_id: Annotated[str, typer.Argument(help="The generation's id, as `svc generations list` shows it.")],
    as_json: AsJson = False,
) -> None:
    """Serve an older generation again, on every host, until the next one is published.

    Example: `svc generations rollback 20260101T120000Z-000041`
    """


app.add_typer(ingest, name="ingest", rich_help_panel=RUNNING)


@ingest.command("workers")
@runs("cli.ingest:workers")
def ingest_workers(
    count: Annotated[int, typer.Option(min=1, help="Runs that read in parallel, each in its own process.")] = 2,
    once: Annotated[bool, typer.Option("--once", help="Exit as soon as nothing below finality is missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read the partitions that the object store lacks, on this host. A cluster does the same with its own launcher.

    Needs SVC_PARTITION_BLOCKS, SVC_PUBLISH_URL and SVC_WORKERS_URL. A killed worker's partitions are read again.

    Example: `svc ingest workers --count 4`
    """


@ingest.command("status")
@runs("cli.ingest:status")
def ingest_status(as_json: AsJson = False) -> None:
    """Show which partitions are stored and which are missing, and the state of each token in SVC_TOKENS_FILE.

    Example: `svc ingest status --json`
    """
