"""Lets a second process judge the texts of a large import by the guardrail, while this one does everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec

from contracts.world.alignment import Alignment, alignment
from contracts.world.proposal import Proposal
from contracts.world.stages import Judgement
from warehouse.world.side_process import SideProcess, side_process

_encode = msgspec.msgpack.Encoder().encode
_proposal = msgspec.msgpack.Decoder(Proposal).decode
_judgement = msgspec.msgpack.Decoder(Judgement).decode
_Part = TypeVar("_Part")


def aligned_beside(
    parts: Iterable[_Part], texts_of: Callable[[_Part], Proposal], judge: Alignment
) -> Iterator[tuple[_Part, Judgement]]:
    """Yields each part with the judgement of its texts, which a second process makes one part ahead. If that process is
    gone, `judge` judges here."""
    with side_process(judged) as helper:
        waiting: list[tuple[_Part, Proposal]] = []
        for part in parts:
            proposal = texts_of(part)
            answers = [(given, _answer(helper, asked, judge)) for given, asked in waiting]
            helper.ask(_encode(proposal))
            waiting = [(part, proposal)]
            yield from answers
        yield from [(given, _answer(helper, asked, judge)) for given, asked in waiting]


def judged(content: bytes) -> bytes:
    """Judges an encoded proposal."""
    return _encode(alignment(_proposal(content)))


def _answer(helper: SideProcess, proposal: Proposal, judge: Alignment) -> Judgement:
    answer = helper.answer()
    return judge(proposal) if answer is None else _judgement(answer)
