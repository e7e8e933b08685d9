"""Examines the nodes of a large import in a second process, while this one reads the file and examines the edges.

Examining nodes means judging the texts of a part by the guardrail and finding the plain nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple, Protocol

import msgspec

from contracts.world.alignment import Alignment, alignment
from contracts.world.own_ontology import NO_WORDS
from contracts.world.plain_import import NewNode, NodesOfPart
from contracts.world.proposal import PIPELINE
from contracts.world.stages import Judgement
from warehouse.cycles import without_cycles
from warehouse.world.side_process import SideProcess, side_process

NODES_WORTH_A_PROCESS = 50_000
"""Minimum number of nodes for which a second process is worth its start, which takes two seconds."""

MOST_WAITING_BYTES = 256_000_000
"""Maximum size of encoded nodes in the queue: about half a million short ones. Above it, the caller examines some
itself before adding more."""


class LookedAt(NamedTuple):
    """The judgement of a part's texts, and the stored form of each plain node, or None for other nodes."""

    aligned: Judgement
    nodes: list[NewNode | None]


packed_nodes = msgspec.msgpack.Encoder().encode
unpacked_nodes = msgspec.msgpack.Decoder(NodesOfPart).decode
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(LookedAt).decode


class Looking(Protocol):
    """Examines the nodes of parts."""

    def ask(self, packed: bytes) -> Future[LookedAt]:
        """Queues nodes for examination without waiting for the result."""

    def look_at_next(self) -> bool:
        """Examines the next queued nodes in this process. Returns False if the queue is empty."""


class LookingHere:
    """Examines all nodes immediately, in this process."""

    def __init__(self, judge: Alignment) -> None:
        self._judge = judge

    def ask(self, packed: bytes) -> Future[LookedAt]:
        looked: Future[LookedAt] = Future()
        looked.set_result(_look(packed, self._judge))
        return looked

    def look_at_next(self) -> bool:
        return False


@contextmanager
def looking_beside(judge: Alignment) -> Iterator[Looking]:
    """Yields an examiner that uses a second process, one part after the other.

    `judge` judges the nodes that this process examines: also the rest of them if the other process is gone.
    """
    with side_process(looked_at) as helper:
        thread = ThreadPoolExecutor(1)  # so that callers don't wait for the pipe
        thread.submit(_load_rules, helper)
        try:
            yield _LookingBeside(helper, judge, thread)
        finally:
            thread.shutdown(cancel_futures=True)


class ImportHelper:
    """Starts the second process as soon as a file is known to have many nodes, and ends it after the judgement.

    The process judges texts by the service's guardrail, so a file with another `judge` gets no process. The stack
    `ended` ends it if the file is never judged.
    """

    def __init__(self, judge: Alignment, ended: ExitStack) -> None:
        self._judge = judge
        self._ended = ended
        self._looking: Looking | None = None

    def begin(self, nodes: int) -> None:
        """Starts the process if the number of nodes is worth it and it is not running."""
        if self._looking is None and self._judge is alignment and nodes >= NODES_WORTH_A_PROCESS:
            self._looking = self._ended.enter_context(looking_beside(self._judge))

    @contextmanager
    def looking(self, nodes: int) -> Iterator[Looking]:
        """Yields an examiner for a file with this number of nodes."""
        self.begin(nodes)
        looking, self._looking = self._looking or LookingHere(self._judge), None
        with self._ended.pop_all():
            yield looking


class _Asked(NamedTuple):
    packed: bytes
    looked: Future[LookedAt]


class _LookingBeside:
    def __init__(self, helper: SideProcess, judge: Alignment, thread: ThreadPoolExecutor) -> None:
        self._helper = helper
        self._judge = judge
        self._thread = thread
        self._not_begun: deque[_Asked] = deque()

    def ask(self, packed: bytes) -> Future[LookedAt]:
        while sum(len(asked.packed) for asked in tuple(self._not_begun)) > MOST_WAITING_BYTES:
            self.look_at_next()
        asked = _Asked(packed, Future())
        self._not_begun.append(asked)
        self._thread.submit(self._answer_next)
        return asked.looked

    def look_at_next(self) -> bool:
        asked = self._next()
        if asked is None:
            return False
        asked.looked.set_result(_look(asked.packed, self._judge))
        return True

    def _next(self) -> _Asked | None:
        try:
            return self._not_begun.popleft()
        except IndexError:
            return None

    def _answer_next(self) -> None:
        asked = self._next()
        if asked is None:
            return  # this process has already examined it
        try:
            self._helper.ask(asked.packed)
            answer = self._helper.answer()
            asked.looked.set_result(_look(asked.packed, self._judge) if answer is None else _unpack(answer))
        except BaseException as failure:
            asked.looked.set_exception(failure)


def _load_rules(helper: SideProcess) -> None:
    helper.ask(packed_nodes(NodesOfPart(PIPELINE, "", NO_WORDS, "", {}, [], [])))
    helper.answer()


def _look(packed: bytes, judge: Alignment) -> LookedAt:
    nodes = unpacked_nodes(packed)
    return LookedAt(judge(nodes.texts), nodes.plain())


@without_cycles()
def looked_at(packed: bytes) -> bytes:
    """Examines packed nodes, and returns the packed result."""
    return _pack(_look(packed, alignment))
