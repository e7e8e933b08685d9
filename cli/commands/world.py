"""Declares the commands of `svc world`, which operate the graph."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cli.commands.declaring import OnTrail, group, runs
from cli.output import AsJson

app = group("Operate the graph: constitution, audit, pending proposals, export, import, erasure.")
ontology = group("Show or set the words that an owner adds to the ontology.")

# The largest revision is the largest integer that JSON represents exactly; a store refuses larger ones with an error.
Number = Annotated[
    int, typer.Argument(min=1, max=2**53 - 1, help="The pending decision's number, as `svc world pending` shows it.")
]


@app.command("load")
@runs("cli.world:load")
def world_load(as_json: AsJson = False) -> None:
    """Update the graph to match the constitution's files. Does nothing if it already does.

    Example: `svc world load`
    """


@app.command("audit")
@runs("cli.world:audit")
def world_audit(
    newest: Annotated[int, typer.Option(min=0, max=1000, help="Print this many of the newest decisions.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Verify the chain of decisions, every event behind it, and the signed heads in the kept generations.

    Exits with 1 if something was tampered with, or if published decisions are missing and no restored backup is
    recorded.

    Example: `svc world audit --newest 10`
    """


@app.command("restored")
@runs("cli.world:restored")
def world_restored(
    backup_audit: Annotated[
        Path | None,
        typer.Argument(
            metavar="AUDIT",
            exists=True,
            dir_okay=False,
            help="Output of `svc world audit --json` from the time of the backup, to compare the ledger with.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Record that you restored a backup of the ledger, so that the audit does not report later decisions as missing.

    The signed record covers the chain as it is now: anything removed or changed afterwards is still detected.

    Example: `svc world restored ~/svc-backup/audit.json`
    """


@app.command("pending")
@runs("cli.world:pending_")
def world_pending(as_json: AsJson = False) -> None:
    """List the proposals that wait for an operator, oldest first.

    Example: `svc world pending`
    """


@app.command("approve")
@runs("cli.world:approve_")
def world_approve(decision: Number, name: OnTrail = None, as_json: AsJson = False) -> None:
    """Approve a proposal. If a stage still rejects it, it remains pending and the exit code is 1.

    Example: `svc world approve 42`
    """


@app.command("reject")
@runs("cli.world:reject_")
def world_reject(
    decision: Number,
    reason: Annotated[str, typer.Option(help="The reason, for the audit trail.")] = "no reason given",
    name: OnTrail = None,
    as_json: AsJson = False,
) -> None:
    """Decline a proposal for good.

    Example: `svc world reject 42 --reason "names a private person"`
    """


app.add_typer(ontology, name="ontology")

OWNER = Annotated[str, typer.Argument(help="The owner: NAME (for local:NAME), an address or profile:ID.")]


@ontology.command("show")
@runs("cli.world:show_ontology")
def world_ontology_show(
    owner: OWNER,
    version: Annotated[
        int | None, typer.Option(min=0, max=2**53 - 1, help="The version to print; default: the newest.")
    ] = None,
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
        typer.Argument(
            exists=True, dir_okay=False, help="The words as JSON or YAML, in the format that `show` prints."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Replace an owner's words with those of a file, as a new version. Refused if existing nodes would not fit.

    Example: `svc world ontology set local:alice words.yaml`
    """


@app.command("export")
@runs("cli.world_files:export")
def world_export(
    file: Annotated[Path, typer.Argument(help="The file to write; `-` for stdout.")],
    owner: Annotated[
        str | None,
        typer.Option(help="The owner: NAME (for local:NAME), an address or profile:ID; default: the public graph."),
    ] = None,
    form: Annotated[
        Literal["jsonl", "jsonld", "graphml"], typer.Option("--format", help="Only jsonl can be imported.")
    ] = "jsonl",
    as_json: AsJson = False,
) -> None:
    """Write a graph to a file with validity, provenance, history, disputes and decisions, but without erased texts.

    Example: `svc world export --owner local:alice graph.jsonl`
    """


@app.command("import")
@runs("cli.world_files:import_")
def world_import(
    path: Annotated[Path, typer.Argument(exists=True, help="An exported file, or a folder of Markdown notes.")],
    owner: Annotated[str, typer.Option(help="The new owner: NAME (for local:NAME), an address or profile:ID.")],
    graph: Annotated[
        str | None, typer.Option(help="Name for a folder's graph; default: derived from the folder's name and path.")
    ] = None,
    name: OnTrail = None,
    as_json: AsJson = False,
) -> None:
    """Import an exported graph, or the notes in a folder, into an owner's part. Writes nothing unless everything fits.

    After an interruption, the same command continues. When notes are read again, their new content replaces the old,
    and the content of deleted notes ends.

    Example: `svc world import notes --owner local:alice`
    """


@app.command("forget")
@runs("cli.world:forget")
def world_forget(
    owner: Annotated[
        str, typer.Argument(help="The owner: NAME (for local:NAME), an address, profile:ID or capsule:ID.")
    ],
    name: OnTrail = None,
    as_json: AsJson = False,
) -> None:
    """Delete the texts of an owner's private nodes and edges from every file. The audit chain stays intact.

    Repeat the command if it was interrupted. An owner who has nothing here is refused.

    Example: `svc world forget local:alice`
    """
