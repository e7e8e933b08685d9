"""The `svc` command line: every command with its options and help text. Contains no work.

A command names the function that does its work and imports it when it runs: importing Dagster, the stores or web3 here
would cost every `--help` seconds.
"""

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Final, Literal

import typer

from cli.library_commands import LibraryCommands
from cli.output import AsJson, note, say
from cli.process_end import run_and_end
from cli.usage import Commands
from contracts.access.tiers import Role, Tier
from contracts.standing import KEYS_CLAIM, SourceClass
from warehouse.file_modes import keep_files_private

RUNNING: Final = "Run the service"
CHECKING: Final = "Check and measure"
BUYING: Final = "Buy a key"
DECIDING: Final = "Decide as operator"

CHECKOUT: Final = Path(__file__).resolve().parents[1]

EXIT_CODES: Final = (
    "Exit codes: 0 the work is done; 1 something failed or a check found a fault, which is printed with its cure; "
    "2 the arguments or the configuration are wrong, so trying again does not help. `svc guardrail` has codes of its "
    "own for verdicts, which its help names. With --json stdout is one JSON value, also when the command fails; "
    "progress goes to stderr."
)


def runs(work: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a declared command call `<module>:<function>`, whose parameters have the names of its options."""

    def declare(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**options: object) -> None:
            resolve_name(work)(**options)

        return call

    return declare


def group(summary: str) -> typer.Typer:
    """A command that only has subcommands."""
    return typer.Typer(no_args_is_help=True, help=summary)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    # Rendering the coloured traceback of a failed Dagster step takes minutes.
    pretty_exceptions_enable=False,
    help="An infrastructure runtime for personal AI agents: pipeline, files and API.",
    epilog=EXIT_CODES,
)
pipeline = group("Ingest, fold, prove, check and publish, without any Dagster process.")
generations = group("Take generations to an object store and from it, list them, roll one back.")
ingest = group("Read the chain's history with several workers, in partitions.")
docs = group("Check the documents by which agents find and understand a service.")
keys = group("Create, list, rotate and revoke API keys; rotate the signing key.")
claim = typer.Typer()
world = group("Operate the graph: constitution, audit, waiting proposals, export, import, erasure.")
ontology = group("The words that an owner adds to the ontology.")
intake = group("List, review, export and forget registrations.")
guardrail = typer.Typer(
    cls=LibraryCommands,
    no_args_is_help=True,
    help="Judge actions, explain verdicts, put the guardrail before what agents do, and approve what it blocks.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"svc {version('svc')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Keeps every file that a command creates private to this user."""
    keep_files_private()


def command_line() -> None:
    """Runs `svc`."""
    run_and_end(app)


# --- Run the service


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
    """Serve the published generation, and wait for one where there is none yet.

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


# --- Check and measure


@app.command(rich_help_panel=CHECKING)
@runs("cli.doctor:doctor")
def doctor(as_json: AsJson = False) -> None:
    """Check machine, settings, chain and stores; print a cure for each failing line.

    Exits with 1 if one fails, with 2 if the settings can't be read.

    Example: `svc doctor`
    """


@app.command(rich_help_panel=CHECKING)
@runs("cli.verify:verify")
def verify(
    url: Annotated[
        str | None,
        typer.Argument(
            help="Address of the service, such as http://127.0.0.1:8000; offline also a folder.", show_default=False
        ),
    ] = None,
    rpc: Annotated[
        str | None, typer.Option(help="JSON-RPC address to ask; default SVC_RPC_URLS or the demo's.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Prove every balance from the files and --block-hash; ask no RPC.")
    ] = False,
    block_hash: Annotated[
        str | None, typer.Option(help="Hash of the list's block, from a source that you trust; for --offline.")
    ] = None,
    as_json: AsJson = False,
    mirror: Annotated[
        str | None, typer.Option(help="Address of a mirror: check all its files against the service's signed manifest.")
    ] = None,
    keys: Annotated[Path | None, typer.Option(help="Saved key set of the service; default: its jwks.json.")] = None,
    seen: Annotated[
        Path | None, typer.Option(help="File that remembers the newest version seen, so that older ones are found.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="Address of one token: only its list. Default: every token; offline the first.")
    ] = None,
) -> None:
    """Prove published holder lists again: file, sums, supply and balances. Exits with 0 only if all are proven.

    With --offline a service or a folder needs the list and its storage proof, both in /data/.

    With --mirror, URL is the service whose copy is checked; by default it is this installation.

    Example: `svc verify https://agents.example --rpc https://node.example`
    """


app.add_typer(docs, name="docs", rich_help_panel=CHECKING)


@docs.callback()
def docs_group() -> None:
    """Makes `check` a subcommand although it is the only one."""


@docs.command("check")
@runs("cli.docs:check")
def docs_check(
    base_url: Annotated[str, typer.Argument(help="Address of the service, such as http://127.0.0.1:8000")],
    as_json: AsJson = False,
) -> None:
    """Read every document, follow every link, compare what they state. Exits with 0 only if nothing is wrong.

    Example: `svc docs check http://127.0.0.1:8000`
    """


@app.command(
    rich_help_panel=CHECKING,
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def bench(context: typer.Context) -> None:
    """Measure ingestion, serving, selling, the guardrail and the graph against their alternatives.

    Example: `svc bench serving keys`
    """
    if not (CHECKOUT / "benchmarks" / "__main__.py").exists():
        note(f"svc: the benches are in the repository and not in the package: there is no {CHECKOUT / 'benchmarks'}")
        raise typer.Exit(2)
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *context.args])


# --- Buy a key

QuoteId = Annotated[str | None, typer.Option("--quote", help="Id of the quote; default the newest one kept here.")]


@app.command(rich_help_panel=BUYING)
@runs("cli.purchase:quote")
def quote(
    payer: Annotated[str | None, typer.Option(help="Address that will pay; on the demo chain one of its own.")] = None,
    operator: Annotated[
        str | None, typer.Option(help="Address that owns the key once it has signed; default the payer.")
    ] = None,
    plan: Annotated[
        str | None, typer.Option(help="Id of the plan, as the catalogue lists it; default the set-up plan.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Address of the service; default SVC_BASE_URL, or here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask for a quote, and keep it for `svc pay` and `svc claim`.

    Example: `svc quote --plan api_basic_monthly`
    """


@app.command(rich_help_panel=BUYING)
@runs("cli.purchase:pay")
def pay(
    quote_id: QuoteId = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            help="The payer's key: an encrypted JSON key file, or 64 hex digits; on the demo chain not needed."
        ),
    ] = None,
    rpc: Annotated[str | None, typer.Option(help="JSON-RPC address to send to; default SVC_RPC_URLS.")] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a block.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Pay a quote in one transfer. Repeating it sends the same signed transaction, so nothing is paid twice.

    Example: `svc pay --key-file payer.json`
    """


app.add_typer(claim, name="claim", rich_help_panel=BUYING)


@claim.callback(invoke_without_command=True)
def claim_key(
    context: typer.Context,
    quote_id: QuoteId = None,
    transaction: Annotated[
        str | None, typer.Option(help="Hash of the payment; default the one that `svc pay` sent.")
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait while the payment is not settled.")] = 300.0,
    as_json: AsJson = False,
) -> None:
    """Redeem a paid quote: ask until the payment is settled, and print the API key.

    The subcommands are the operator's: they show claims and settle money that no claim uses.

    Example: `svc quote && svc pay && svc claim`
    """
    if context.invoked_subcommand is None:
        from cli.claim import claim

        claim(quote_id, transaction, wait, as_json)


@claim.command("show")
@runs("cli.claim:show")
def claim_show(
    claim_id: Annotated[str, typer.Argument(help="The claim's id, as its receipt names it.")], as_json: AsJson = False
) -> None:
    """Show a claim: its state, its payment and the state of its key.

    Example: `svc claim show claim_685446918d6c85bc22173bd3dc848ed0`
    """


@claim.command("unmatched")
@runs("cli.cases:unmatched")
def claim_unmatched(as_json: AsJson = False) -> None:
    """List the cases of money that no claim uses, newest first: the amount sent, and the amount asked.

    Example: `svc claim unmatched`
    """


@claim.command("resolve")
@runs("cli.cases:resolve")
def claim_resolve(
    case_id: Annotated[str, typer.Argument(help="The case's id, as `svc claim unmatched` shows it.")],
    issue: Annotated[
        bool, typer.Option("--issue", help="Issue the key of its quote and print it; an excess is due back.")
    ] = False,
    received: Annotated[
        str | None, typer.Option(help="The same, with the case of another payment of the sender that brought the rest.")
    ] = None,
    supplement: Annotated[bool, typer.Option("--supplement", help="Print the quote over what is missing.")] = False,
    refund: Annotated[bool, typer.Option("--refund", help="Record that all of it has to be sent back.")] = False,
    refunded: Annotated[str | None, typer.Option(help="Hash of the transaction that sent the money back.")] = None,
    as_json: AsJson = False,
) -> None:
    """Settle a case: issue the key of its quote to its sender, ask for the rest, or record that money goes back.

    Example: `svc claim resolve CASE --issue`
    """


# --- Decide as operator

app.add_typer(keys, name="keys", rich_help_panel=DECIDING)

KeyId = Annotated[str, typer.Argument(help="The key's id, as `svc keys list` shows it.")]


@keys.command("create")
@runs("cli.keys:create")
def keys_create(
    tier: Annotated[
        Tier, typer.Option(case_sensitive=False, help="Requests a day: 100 (free), 1,000 (basic) or any number (pro).")
    ],
    owner: Annotated[str, typer.Option(help="Name of the owner of what the key writes: alice is local:alice.")],
    role: Annotated[
        Role,
        typer.Option(
            case_sensitive=False, help="An operator's key also approves what the guardrail blocks for others."
        ),
    ] = Role.CALLER,
    max_class: Annotated[
        SourceClass,
        typer.Option(
            case_sensitive=False,
            help="Highest class of sources that it may claim, correct and confirm; `owner`: only in the owner's hands.",
        ),
    ] = KEYS_CLAIM,
    signer: Annotated[
        str | None,
        typer.Option(help="Public Ed25519 key (base64url) of the system that signs; for --max-class signed_system."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it. It is not shown again.

    Example: `svc keys create --tier free --owner alice`
    """


@keys.command("list")
@runs("cli.keys:list_")
def keys_list(as_json: AsJson = False) -> None:
    """List every key, newest first: its owner, its state and its use. Uses of the last seconds may be missing.

    Example: `svc keys list`
    """


@keys.command("moved")
@runs("cli.keys:moved")
def keys_moved(as_json: AsJson = False) -> None:
    """List the keys that a migration gave to the address that paid, because their operator had never signed.

    Example: `svc keys moved`
    """


@keys.command("revoke")
@runs("cli.keys:revoke")
def keys_revoke(key_id: KeyId, as_json: AsJson = False) -> None:
    """Make a key invalid for ever, at once and in every process.

    Example: `svc keys revoke key_71d4bb63da1386487584d9f66e8b83ee`
    """


@keys.command("rotate")
@runs("cli.keys:rotate")
def keys_rotate(key_id: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key and print its successor, which has the same owner, tier and quota.

    Example: `svc keys rotate key_71d4bb63da1386487584d9f66e8b83ee`
    """


@keys.command("rotate-signing")
@runs("cli.keys:rotate_signing")
def keys_rotate_signing(as_json: AsJson = False) -> None:
    """Add a signing key: published at once, it signs when every cached key set has expired. Older ones still verify.

    Example: `svc keys rotate-signing`
    """


@app.command(rich_help_panel=DECIDING)
@runs("cli.pair:pair")
def pair(as_json: AsJson = False) -> None:
    """Print a pairing code for an assistant. It works once, for ten minutes.

    Example: `svc pair`
    """


OnTrail = Annotated[str | None, typer.Option("--as", help="Your name on the trail; default the name of your account.")]

app.add_typer(intake, name="intake", rich_help_panel=DECIDING)

IntakeId = Annotated[str, typer.Argument(help="The intake's id, as `svc intake list` shows it.")]


@intake.command("list")
@runs("cli.intake:list_")
def intake_list(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="The greatest number of rows.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List the newest intakes, without contact data.

    Example: `svc intake list --most 20`
    """


@intake.command("review")
@runs("cli.intake:review")
def intake_review(
    intake_id: IntakeId,
    approve: Annotated[bool, typer.Option("--approve/--request-changes", help="Your decision.")],
    name: OnTrail = None,
    as_json: AsJson = False,
) -> None:
    """Approve an intake, or ask for changes.

    Example: `svc intake review INTAKE --approve`
    """


@intake.command("export")
@runs("cli.intake:export")
def intake_export(intake_id: IntakeId, as_json: AsJson = False) -> None:
    """Print everything that is kept of an intake, including contact data.

    Example: `svc intake export INTAKE --json > intake.json`
    """


@intake.command("forget")
@runs("cli.intake:forget")
def intake_forget(intake_id: IntakeId, name: OnTrail = None, as_json: AsJson = False) -> None:
    """Delete what is kept of an intake from every file, except lane, profile, day and states. Counts stay.

    It may be repeated, and has to be where it was interrupted.

    Example: `svc intake forget INTAKE`
    """


app.add_typer(world, name="world", rich_help_panel=DECIDING)

# The greatest revision is the greatest integer that JSON carries exactly; a store refuses more with an error.
Number = Annotated[
    int, typer.Argument(min=1, max=2**53 - 1, help="The decision that waits, as `svc world pending` names it.")
]


@world.command("load")
@runs("cli.world:load")
def world_load(as_json: AsJson = False) -> None:
    """Bring the graph to the constitution's files. Does nothing where it is there already.

    Example: `svc world load`
    """


@world.command("audit")
@runs("cli.world:audit")
def world_audit(
    newest: Annotated[int, typer.Option(min=0, max=1000, help="Print this many of the newest decisions.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Verify the chain of decisions, every event behind it, and the signed heads that kept generations hold.

    Exits with 1 if something was tampered with, or if decisions that were published are gone and no restore of a backup
    is recorded.

    Example: `svc world audit --newest 10`
    """


@world.command("restored")
@runs("cli.world:restored")
def world_restored(
    backup_audit: Annotated[
        Path | None,
        typer.Argument(
            metavar="AUDIT",
            exists=True,
            dir_okay=False,
            help="What `svc world audit --json` printed at the backup, to compare the ledger with.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record that you restored a backup of the ledger, so that the audit does not miss what was written after it.

    The signed record holds the chain as it is now: whatever is taken out or changed later is still found.

    Example: `svc world restored ~/svc-backup/audit.json`
    """


@world.command("pending")
@runs("cli.world:pending_")
def world_pending(as_json: AsJson = False) -> None:
    """List the proposals that wait for an operator, oldest first.

    Example: `svc world pending`
    """


@world.command("approve")
@runs("cli.world:approve_")
def world_approve(decision: Number, name: OnTrail = None, as_json: AsJson = False) -> None:
    """Let a proposal in. A stage may still reject it: then it keeps waiting, and the exit code is 1.

    Example: `svc world approve 42`
    """


@world.command("reject")
@runs("cli.world:reject_")
def world_reject(
    decision: Number,
    reason: Annotated[str, typer.Option(help="The reason, for the audit.")] = "no reason given",
    name: OnTrail = None,
    as_json: AsJson = False,
) -> None:
    """Decline a proposal for good.

    Example: `svc world reject 42 --reason "names a private person"`
    """


world.add_typer(ontology, name="ontology")

OWNER = Annotated[str, typer.Argument(help="The owner: NAME (local:NAME), an address or profile:ID.")]


@ontology.command("show")
@runs("cli.world:show_ontology")
def world_ontology_show(
    owner: OWNER,
    version: Annotated[int | None, typer.Option(min=0, max=2**53 - 1, help="This version; default the newest.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the words that an owner added to the ontology.

    Example: `svc world ontology show local:alice`
    """


@ontology.command("set")
@runs("cli.world:set_ontology_")
def world_ontology_set(
    owner: OWNER,
    file: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="The words as JSON or YAML, in the form that `show` prints."),
    ],
    as_json: AsJson = False,
) -> None:
    """Make the words of a file those of an owner, as a new version. Refused where nodes would not fit.

    Example: `svc world ontology set local:alice words.yaml`
    """


@world.command("export")
@runs("cli.world_files:export")
def world_export(
    file: Annotated[Path, typer.Argument(help="The file to write; `-` is stdout.")],
    owner: Annotated[
        str | None,
        typer.Option(help="Whose: NAME (local:NAME), an address or profile:ID. Without it the public graph."),
    ] = None,
    form: Annotated[
        Literal["jsonl", "jsonld", "graphml"], typer.Option("--format", help="Only jsonl can be imported.")
    ] = "jsonl",
    as_json: AsJson = False,
) -> None:
    """Write a graph to a file: validity, provenance, history, disputes and decisions, without texts that were erased.

    Example: `svc world export --owner local:alice graph.jsonl`
    """


@world.command("import")
@runs("cli.world_files:import_")
def world_import(
    path: Annotated[Path, typer.Argument(exists=True, help="An exported file, or a folder of Markdown notes.")],
    owner: Annotated[str, typer.Option(help="Whose it becomes: NAME (local:NAME), an address or profile:ID.")],
    graph: Annotated[
        str | None, typer.Option(help="The name of a folder's graph; without it, by the folder's name and path.")
    ] = None,
    name: OnTrail = None,
    as_json: AsJson = False,
) -> None:
    """Bring an exported graph, or the notes below a folder, into an owner's part. Nothing is written unless all fits.

    After an interruption the same command goes on. Notes that are read again replace what they said before, and what
    notes said that are gone ends.

    Example: `svc world import notes --owner local:alice`
    """


@world.command("forget")
@runs("cli.world:forget")
def world_forget(
    owner: Annotated[str, typer.Argument(help="The owner: NAME (local:NAME), an address, profile:ID or capsule:ID.")],
    name: OnTrail = None,
    as_json: AsJson = False,
) -> None:
    """Delete the texts of an owner's private nodes and edges from every file. The audit's chain stays whole.

    It has to be repeated where it was interrupted. An owner of whom there is nothing is refused.

    Example: `svc world forget local:alice`
    """


app.add_typer(guardrail, name="guardrail", rich_help_panel=DECIDING)


@guardrail.callback()
def guardrail_group() -> None:
    """Makes `approve` a subcommand although it is the only one here; the others are the library's."""


@guardrail.command("approve")
@runs("cli.guardrail:approve")
def guardrail_approve(
    digest: Annotated[str, typer.Argument(help="The `digest` of the check that blocked the action.")],
    owner: Annotated[str, typer.Option(help="Whose check it is: NAME (local:NAME), an address or profile:ID.")],
    minutes: Annotated[int, typer.Option(min=1, max=60, help="Time until the token expires.")] = 10,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask: for a script of the operator's.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a blocked action pass once: print a token for the context of the owner's next check of it.

    Shows what is known of the check and asks. It needs the master secret, so it works on the service's host alone.

    Example: `svc guardrail approve DIGEST --owner local:alice`
    """
