"""The list of attacks: each one registers itself with an id and a title, and returns an outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .service import Service


class Phase(IntEnum):
    """Phases run in order, except that `API` runs alongside the next two. Within a phase, attacks run in registration
    order."""

    API = 1
    """Against the API, from its first answer on; attacks measure its CPU and memory."""
    WHOLE = 2
    """Once `svc run` is complete, with its first pipeline run and Dagster's web server."""
    ASIDE = 3
    """Against the limited service, and on copies of the files."""
    LOAD = 4
    """Against the API; attacks measure how long it takes, and leave work behind that disturbs others."""
    FILES = 5
    """On the files of a service that has stopped."""


@dataclass(frozen=True)
class Outcome:
    """`broken` lists what succeeded; an empty list means that the attack was repelled."""

    broken: list[str]
    note: str = ""


@dataclass(frozen=True)
class Attack:
    id: str
    title: str
    phase: Phase
    run: Callable[[Service], Outcome]


ATTACKS: list[Attack] = []


def attack(
    id: str, title: str, phase: Phase = Phase.API
) -> Callable[[Callable[[Service], Outcome]], Callable[[Service], Outcome]]:
    """Registers the decorated function."""

    def register(run: Callable[[Service], Outcome]) -> Callable[[Service], Outcome]:
        ATTACKS.append(Attack(id, title, phase, run))
        return run

    return register
