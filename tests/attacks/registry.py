"""The list of attacks: each registers itself with an id and a title, and returns an outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .service import Service


class Phase(IntEnum):
    """Phases run in order; within one, attacks run in the order of registration."""

    QUIET = 1
    """Against the API while nothing else happens; attacks measure CPU and memory."""
    LOAD = 2
    """Against the API; attacks leave work behind that disturbs others."""
    WHOLE = 3
    """Against `svc run` over the same data directory, with Dagster's web server."""
    FILES = 4
    """On the files of a service that has ended."""


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
    id: str, title: str, phase: Phase = Phase.QUIET
) -> Callable[[Callable[[Service], Outcome]], Callable[[Service], Outcome]]:
    """Registers the decorated function."""

    def register(run: Callable[[Service], Outcome]) -> Callable[[Service], Outcome]:
        ATTACKS.append(Attack(id, title, phase, run))
        return run

    return register
