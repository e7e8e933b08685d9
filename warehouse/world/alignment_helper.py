"""Lets a second process judge the texts of a large import by the guardrail, while this one does everything else."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Protocol

import msgspec

from contracts.world.alignment import Alignment, alignment
from contracts.world.proposal import Proposal
from contracts.world.stages import Judgement
from warehouse.cycles import without_cycles
from warehouse.world.side_process import SideProcess, side_process

MOST_WAITING_BYTES = 256_000_000
"""Encoded texts that wait for the process, above which whoever asks waits too: those of about a million short nodes."""

_encode = msgspec.msgpack.Encoder().encode
_proposal = msgspec.msgpack.Decoder(Proposal).decode
_judgement = msgspec.msgpack.Decoder(Judgement).decode


class Judging(Protocol):
    """Has proposals judged."""

    def ask(self, proposal: Proposal) -> Future[Judgement]:
        """Has a proposal judged, and does not wait for it."""

    def judge_last(self) -> bool:
        """Judges the last proposal that nobody has begun to judge. Returns False if there is none."""


class JudgingHere:
    """Judges each proposal at once."""

    def __init__(self, judge: Alignment) -> None:
        self._judge = judge

    def ask(self, proposal: Proposal) -> Future[Judgement]:
        judgement: Future[Judgement] = Future()
        judgement.set_result(self._judge(proposal))
        return judgement

    def judge_last(self) -> bool:
        return False


@contextmanager
def judging_beside(judge: Alignment) -> Iterator[Judging]:
    """Yields what has proposals judged by a second process, one after the other.

    If that process is gone, `judge` judges here."""
    with side_process(judged) as helper:
        thread = ThreadPoolExecutor(1)  # so that nobody waits for the pipe
        try:
            yield _JudgingBeside(helper, judge, thread)
        finally:
            thread.shutdown(cancel_futures=True)


class _JudgingBeside:
    def __init__(self, helper: SideProcess, judge: Alignment, thread: ThreadPoolExecutor) -> None:
        self._helper = helper
        self._judge = judge
        self._thread = thread
        self._asked: deque[tuple[Future[Judgement], bytes]] = deque()
        self._not_begun: deque[tuple[Future[Judgement], bytes]] = deque()

    def ask(self, proposal: Proposal) -> Future[Judgement]:
        asked = Future[Judgement](), _encode(proposal)
        while sum(len(content) for _, content in self._asked) > MOST_WAITING_BYTES or self._first_is_done():
            self._asked.popleft()[0].result()
        self._asked.append(asked)
        self._not_begun.append(asked)
        self._thread.submit(self._answer_first)
        return asked[0]

    def judge_last(self) -> bool:
        try:
            judgement, content = self._not_begun.pop()
        except IndexError:
            return False
        judgement.set_result(self._judge(_proposal(content)))
        return True

    def _first_is_done(self) -> bool:
        return bool(self._asked) and self._asked[0][0].done()

    def _answer_first(self) -> None:
        try:
            judgement, content = self._not_begun.popleft()
        except IndexError:
            return  # it was judged here
        try:
            self._helper.ask(content)
            answer = self._helper.answer()
            judgement.set_result(self._judge(_proposal(content)) if answer is None else _judgement(answer))
        except BaseException as failure:
            judgement.set_exception(failure)


@without_cycles()
def judged(content: bytes) -> bytes:
    """Judges an encoded proposal."""
    return _encode(alignment(_proposal(content)))
