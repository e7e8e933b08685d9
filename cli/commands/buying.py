"""Declares the commands that buy a key, and the operator's commands for what was paid."""

from pathlib import Path
from typing import Annotated, Final

import typer

from cli.commands.declaring import perform, runs
from cli.output import AsJson

BUYING: Final = "Buy a key"

app = typer.Typer()
claim = typer.Typer()

QuoteId = Annotated[str | None, typer.Option("--quote", help="Id of the quote; default: the newest one stored here.")]


@app.command(rich_help_panel=BUYING)
@runs("cli.purchase:quote")
def quote(
    payer: Annotated[
        str | None, typer.Option(help="Address that will pay; default: on the demo chain, one of its accounts.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="Address that will own the key once it has signed; default: the payer.")
    ] = None,
    plan: Annotated[str | None, typer.Option(help="Id of the plan in the catalogue; default: the set-up plan.")] = None,
    url: Annotated[
        str | None, typer.Option(help="Address of the service; default: SVC_BASE_URL, or this machine's service.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Request a quote and store it for `svc pay` and `svc claim`.

    Example: `svc quote --plan api_basic_monthly`
    """


@app.command(rich_help_panel=BUYING)
@runs("cli.purchase:pay")
def pay(
    quote_id: QuoteId = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            help="The payer's key: an encrypted JSON key file, or a file with 64 hex digits; the demo chain needs none."
        ),
    ] = None,
    rpc: Annotated[str | None, typer.Option(help="JSON-RPC address to send to; default: SVC_RPC_URLS.")] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for a block.")] = 60.0,
    as_json: AsJson = False,
) -> None:
    """Pay a quote with one transfer. Repeating the command sends the same signed transaction, so you never pay twice.

    Example: `svc pay --key-file payer.json`
    """


app.add_typer(claim, name="claim", rich_help_panel=BUYING)


@claim.callback(invoke_without_command=True)
def claim_key(
    context: typer.Context,
    quote_id: QuoteId = None,
    transaction: Annotated[
        str | None, typer.Option(help="Hash of the payment's transaction; default: the one that `svc pay` sent.")
    ] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the payment to settle.")] = 300.0,
    as_json: AsJson = False,
) -> None:
    """Redeem a paid quote: wait until the payment is settled, then print the API key.

    The subcommands are for the operator: they show claims and settle money that no claim uses.

    Example: `svc quote && svc pay && svc claim`
    """
    if context.invoked_subcommand is None:
        perform("cli.claim:claim", quote_id=quote_id, transaction=transaction, wait=wait, as_json=as_json)


@claim.command("show")
@runs("cli.claim:show")
def claim_show(
    claim_id: Annotated[str, typer.Argument(help="The claim's id, from its receipt.")], as_json: AsJson = False
) -> None:
    """Show a claim: its state, its payment and the state of its key.

    Example: `svc claim show claim_685446918d6c85bc22173bd3dc848ed0`
    """


@claim.command("unmatched")
@runs("cli.cases:unmatched")
def claim_unmatched(as_json: AsJson = False) -> None:
    """List the cases of money that no claim uses, newest first: the amount sent and the amount asked for.

    Example: `svc claim unmatched`
    """


@claim.command("resolve")
@runs("cli.cases:resolve")
def claim_resolve(
    case_id: Annotated[str, typer.Argument(help="The case's id, as `svc claim unmatched` shows it.")],
    issue: Annotated[
        bool, typer.Option("--issue", help="Issue and print the key of its quote; any excess must be sent back.")
    ] = False,
    received: Annotated[
        str | None, typer.Option(help="Like --issue, with the case of the sender's other payment that paid the rest.")
    ] = None,
    supplement: Annotated[bool, typer.Option("--supplement", help="Print a quote for the missing amount.")] = False,
    refund: Annotated[bool, typer.Option("--refund", help="Record that all of the money must be sent back.")] = False,
    refunded: Annotated[str | None, typer.Option(help="Hash of the transaction that sent the money back.")] = None,
    as_json: AsJson = False,
) -> None:
    """Settle a case: issue the key of its quote to its sender, request the rest, or record a refund.

    Example: `svc claim resolve CASE --issue`
    """
