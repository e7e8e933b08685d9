"""Declares the commands of an operator: keys, pairing, registrations, the guardrail's approvals, and the graph."""

from typing import Annotated, Final

import typer

from cli.commands import world
from cli.commands.declaring import OnTrail, group, runs
from cli.library_commands import LibraryCommands
from cli.output import AsJson
from contracts.access.tiers import Role, Tier
from contracts.standing import KEYS_CLAIM, SourceClass

DECIDING: Final = "Decide as operator"

app = typer.Typer()
keys = group("Create, list, rotate and revoke API keys; rotate the signing key.")
intake = group("List, review, export and forget registrations.")
guardrail = typer.Typer(
    cls=LibraryCommands,
    no_args_is_help=True,
    help="Judge actions, explain verdicts, put the guardrail in front of agents, and approve what it blocks.",
)

app.add_typer(keys, name="keys", rich_help_panel=DECIDING)

KeyId = Annotated[str, typer.Argument(help="The key's id, as `svc keys list` shows it.")]


@keys.command("create")
@runs("cli.keys:create")
def keys_create(
    tier: Annotated[
        Tier, typer.Option(case_sensitive=False, help="Requests per day: 100 (free), 1,000 (basic) or unlimited (pro).")
    ],
    owner: Annotated[
        str, typer.Option(help="Name of the owner of everything the key writes; alice stands for local:alice.")
    ],
    role: Annotated[
        Role,
        typer.Option(
            case_sensitive=False,
            help="An operator's key can also approve actions that the guardrail blocks for others.",
        ),
    ] = Role.CALLER,
    max_class: Annotated[
        SourceClass,
        typer.Option(
            case_sensitive=False,
            help="Highest source class that the key may claim, correct and confirm; give `owner` only to the owner.",
        ),
    ] = KEYS_CLAIM,
    signer: Annotated[
        str | None,
        typer.Option(help="Public Ed25519 key (base64url) of the signing system; for --max-class signed_system."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it. It is not shown again.

    Example: `svc keys create --tier free --owner alice`
    """


@keys.command("list")
@runs("cli.keys:list_")
def keys_list(as_json: AsJson = False) -> None:
    """List every key, newest first: its owner, its state and its use. Use in the last few seconds may be missing.

    Example: `svc keys list`
    """


@keys.command("moved")
@runs("cli.keys:moved")
def keys_moved(as_json: AsJson = False) -> None:
    """List the keys that a migration moved to the paying address because their operator had never signed.

    Example: `svc keys moved`
    """


@keys.command("revoke")
@runs("cli.keys:revoke")
def keys_revoke(key_id: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key for good, at once and in every process.

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
    """Add a signing key: published at once, it signs once all cached key sets have expired. Older keys still verify.

    Example: `svc keys rotate-signing`
    """


@app.command(rich_help_panel=DECIDING)
@runs("cli.pair:pair")
def pair(as_json: AsJson = False) -> None:
    """Print a pairing code for an assistant. It works once, within ten minutes.

    Example: `svc pair`
    """


app.add_typer(intake, name="intake", rich_help_panel=DECIDING)

IntakeId = Annotated[str, typer.Argument(help="The intake's id, as `svc intake list` shows it.")]


@intake.command("list")
@runs("cli.intake:list_")
def intake_list(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="Most rows to list.")] = 100,
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
    """Approve an intake, or request changes.

    Example: `svc intake review INTAKE --approve`
    """


@intake.command("export")
@runs("cli.intake:export")
def intake_export(intake_id: IntakeId, as_json: AsJson = False) -> None:
    """Print everything that is stored of an intake, including contact data.

    Example: `svc intake export INTAKE --json > intake.json`
    """


@intake.command("forget")
@runs("cli.intake:forget")
def intake_forget(intake_id: IntakeId, name: OnTrail = None, as_json: AsJson = False) -> None:
    """Delete what is stored of an intake from every file, except lane, profile, day and states. Counts remain.

    The command may be repeated, and must be repeated if it was interrupted.

    Example: `svc intake forget INTAKE`
    """


app.add_typer(world.app, name="world", rich_help_panel=DECIDING)
app.add_typer(guardrail, name="guardrail", rich_help_panel=DECIDING)


@guardrail.callback()
def guardrail_group() -> None:
    """Makes `approve` a subcommand although it is the only one here; the others are the library's."""


@guardrail.command("approve")
@runs("cli.guardrail:approve")
def guardrail_approve(
    digest: Annotated[str, typer.Argument(help="The `digest` of the check that blocked the action.")],
    owner: Annotated[str, typer.Option(help="Owner of the check: NAME (for local:NAME), an address or profile:ID.")],
    minutes: Annotated[int, typer.Option(min=1, max=60, help="Minutes until the token expires.")] = 10,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation; for the operator's scripts.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a blocked action pass once: print a token for the context of the owner's next check of it.

    Shows what is known about the check and asks for confirmation. Needs the master secret, so it only works on the
    service's host.

    Example: `svc guardrail approve DIGEST --owner local:alice`
    """
