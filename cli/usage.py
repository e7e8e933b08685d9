"""Refuses wrong arguments in plain words: on stderr, and with --json also as a single JSON value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from cli.output import print_json

_GIVEN = "cli.usage.given"


class _Refusing:
    """Parses and runs a command line, and prints its refusals. Subcommands parse their arguments while it runs."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        given = tuple(args)
        with _refused(given):
            context = super().make_context(info_name, args, parent, **extra)  # type: ignore[misc]
        context.meta[_GIVEN] = given
        return context

    def invoke(self, ctx: Any) -> Any:
        with _refused(ctx.meta[_GIVEN]):
            return super().invoke(ctx)  # type: ignore[misc]


class Commands(_Refusing, TyperGroup):
    """A command line with several commands."""


class OneCommand(_Refusing, TyperCommand):
    """A command line with a single command."""


@contextmanager
def _refused(arguments: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except TyperException as refusal:
        refusal.message = _plain(refusal.message)
        _name_both_flags(refusal)
        if "--json" in arguments:
            cure = "Add `--help` after the command to see its arguments."
            print_json({"ok": False, "code": "arguments_invalid", "detail": refusal.format_message(), "cure": cure})
        raise


def _name_both_flags(refusal: TyperException) -> None:
    """Names both flags of a missing yes-or-no option; Typer would name only the first."""
    option = getattr(refusal, "param", None)
    if option is not None and option.secondary_opts:
        refusal.param_hint = [*option.opts, *option.secondary_opts]  # type: ignore[attr-defined]


def _plain(message: str) -> str:
    """Returns a message without pydantic's phrases, which Typer passes on."""
    rule = message.removeprefix("Value error, ").partition(", unable to parse")[0]
    return rule.replace("Input should", "it should")
