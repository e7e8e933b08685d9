"""Lets a second process judge the texts of a large import by the guardrail, while this one does everything else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import msgspec

from contracts.world.alignment import Alignment, alignment
from contracts.world.proposal import Proposal
from contracts.world.stages import Judgement
from warehouse.cycles import without_cycles
from warehouse.world.side_process import SideProcess, side_process

MOST_WAITING_BYTES = 256_000_000
"""Encoded texts that wait for the process, above which whoever asks waits too: those of about a million short nodes."""

Judging = Callable[[Proposal], Future[Judgement]]
"""Has a proposal judged, and does not wait for it."""

_encode = msgspec.msgpack.Encoder().encode
_proposal = msgspec.msgpack.Decoder(Proposal).decode
_judgement = msgspec.msgpack.Decoder(Judgement).decode


def judging_here(judge: Alignment) -> Judging:
    """Returns what judges each proposal at once."""

    def asked(proposal: Proposal) -> Future[Judgement]:
        judgement: Future[Judgement] = Future()
        judgement.set_result(judge(proposal))
        return judgement

    return asked


@contextmanager
def judging_beside(judge: Alignment) -> Iterator[Judging]:
    """Yields what has proposals judged by a second process, one after the other.

    If that process is gone, `judge` judges here."""
    waiting: deque[tuple[Future[Judgement], int]] = deque()
    with side_process(judged) as helper:
        thread = ThreadPoolExecutor(1)  # so that nobody waits for the pipe

        def asked(proposal: Proposal) -> Future[Judgement]:
            content = _encode(proposal)
            while sum(size for _, size in waiting) > MOST_WAITING_BYTES or (waiting and waiting[0][0].done()):
                waiting.popleft()[0].result()
            judgement = thread.submit(_answer, helper, content, judge)
            waiting.append((judgement, len(content)))
            return judgement

        try:
            yield asked
        finally:
            thread.shutdown(cancel_futures=True)


@without_cycles()
def judged(content: bytes) -> bytes:
    """Judges an encoded proposal."""
    return _encode(alignment(_proposal(content)))


def _answer(helper: SideProcess, content: bytes, judge: Alignment) -> Judgement:
    helper.ask(content)
    answer = helper.answer()
    return judge(_proposal(content)) if answer is None else _judgement(answer)
