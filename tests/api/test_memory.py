"""Free memory returns to the system after work, and an idle process is not woken."""

from __future__ import annotations

import asyncio
import platform

import pytest

from api.memory import WORTH_IT_CPU_S, MemoryKeeper, trimming


class Readings:
    """A process's CPU clock that stands still."""

    now_cpu_s = 0.0

    def __call__(self) -> float:
        return self.now_cpu_s


@pytest.mark.parametrize(
    ("used_cpu_s", "trimmed"),
    [
        ([0.0], 0),
        ([WORTH_IT_CPU_S / 2], 0),
        ([5.0], 1),
        ([5.0, 5.0 + WORTH_IT_CPU_S / 2], 1),
        ([5.0, 6.0, 7.0], 3),
    ],
)
def test_memory_is_given_back_once_for_each_stretch_of_work(used_cpu_s: list[float], trimmed: int) -> None:
    calls: list[None] = []
    keeper = MemoryKeeper(lambda: calls.append(None), clock := Readings())
    for clock.now_cpu_s in used_cpu_s:
        asyncio.run(keeper.trim_after_work())
    assert len(calls) == trimmed


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can give memory back when asked")
def test_the_c_library_can_be_asked_for_it() -> None:
    trim = trimming()
    assert trim is not None
    assert trim() in (0, 1)
