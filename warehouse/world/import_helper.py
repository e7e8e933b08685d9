"""Lets a second process look at the nodes of a large import, while this one reads the file and looks at the edges.

To look at nodes is to judge the texts of a part by the guardrail and to find the plain nodes.
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
"""Nodes of a file from which on a second process looks at them, which takes two seconds to start."""

MOST_WAITING_BYTES = 256_000_000
"""Encoded nodes that wait, above which whoever asks looks at some first: about half a million short ones."""


class LookedAt(NamedTuple):
    """The judgement of a part's texts, and each of its nodes as it is stored or None."""

    aligned: Judgement
    nodes: list[NewNode | None]


packed_nodes = msgspec.msgpack.Encoder().encode
unpacked_nodes = msgspec.msgpack.Decoder(NodesOfPart).decode
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(LookedAt).decode


class Looking(Protocol):
    """Has the nodes of parts looked at."""

    def ask(self, packed: bytes) -> Future[LookedAt]:
        """Has nodes looked at, and does not wait for it."""

    def look_at_next(self) -> bool:
        """Looks at the next nodes that wait. Returns False if none wait."""


class LookingHere:
    """Looks at all nodes at once."""

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
    """Yields what has nodes looked at by a second process, one part after the other.

    What this process looks at, `judge` judges; so too all that is left if the other one is gone."""
    with side_process(looked_at) as helper:
        thread = ThreadPoolExecutor(1)  # so that nobody waits for the pipe
        thread.submit(_load_rules, helper)
        try:
            yield _LookingBeside(helper, judge, thread)
        finally:
            thread.shutdown(cancel_futures=True)


class ImportHelper:
    """Begins the second process as soon as a file is known to have many nodes, and ends it after the judgement.

    The process judges texts by the service's own guardrail, so a file with another `judge` gets no process. The stack
    `ended` ends it if the file is never judged.
    """

    def __init__(self, judge: Alignment, ended: ExitStack) -> None:
        self._judge = judge
        self._ended = ended
        self._looking: Looking | None = None

    def begin(self, nodes: int) -> None:
        """Begins the process if so many nodes are worth it, unless it runs."""
        if self._looking is None and self._judge is alignment and nodes >= NODES_WORTH_A_PROCESS:
            self._looking = self._ended.enter_context(looking_beside(self._judge))

    @contextmanager
    def looking(self, nodes: int) -> Iterator[Looking]:
        """Yields what has so many nodes looked at."""
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
            return  # it was looked at here
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
    """Looks at packed nodes, and returns what was seen, packed."""
    return _pack(_look(packed, alignment))
