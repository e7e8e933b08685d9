"""Lets a second process judge the texts of a large import by the guardrail, while this one does everything else.

The process is given proposals and answers with judgements; it opens no store. It ends with the pipe, so also if this
process is killed.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeVar

import msgspec

from contracts.world.alignment import Alignment, alignment
from contracts.world.proposal import Proposal
from contracts.world.stages import Judgement

_encode = msgspec.msgpack.Encoder().encode
_proposal = msgspec.msgpack.Decoder(Proposal).decode
_judgement = msgspec.msgpack.Decoder(Judgement).decode
_Part = TypeVar("_Part")


def aligned_beside(
    parts: Iterable[_Part], texts_of: Callable[[_Part], Proposal], judge: Alignment
) -> Iterator[tuple[_Part, Judgement]]:
    """Yields each part with the judgement of its texts, which a second process makes one part ahead. If that process is
    gone, `judge` judges here."""
    with _helper() as helper:
        waiting: list[tuple[_Part, Proposal]] = []
        for part in parts:
            proposal = texts_of(part)
            answers = [(given, _answer(helper, asked, judge)) for given, asked in waiting]
            _ask(helper, proposal)
            waiting = [(part, proposal)]
            yield from answers
        yield from [(given, _answer(helper, asked, judge)) for given, asked in waiting]


@contextmanager
def _helper() -> Iterator[Connection]:
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    there.close()
    try:
        with closing(here):
            yield here
    finally:
        process.join()


def _ask(helper: Connection, proposal: Proposal) -> None:
    with suppress(OSError):  # asking for the answer finds out
        helper.send_bytes(_encode(proposal))


def _answer(helper: Connection, proposal: Proposal, judge: Alignment) -> Judgement:
    try:
        return _judgement(helper.recv_bytes())
    except (OSError, EOFError):
        return judge(proposal)


def _serve(connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process decides what an interrupted import does
    with closing(connection):
        while True:
            try:
                asked = connection.recv_bytes()
            except EOFError:
                return
            connection.send_bytes(_encode(alignment(_proposal(asked))))
