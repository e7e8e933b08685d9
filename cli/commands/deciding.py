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
    help="Judge actions, explain verdicts, put the guardrail before what agents do, and approve what it blocks.",
)

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


app.add_typer(world.app, name="world", rich_help_panel=DECIDING)
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
