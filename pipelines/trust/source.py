"""Queries the registry contract for its half-life, and whether agents meet thresholds at a block."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from contracts.evm.codec import selector
from contracts.token.proof import Missing, decode_uint
from contracts.trust import THRESHOLDS
from pipelines.clients.rpc_state import Call, Rpc, ask
from warehouse.trust.attestations import ScoreCheck

_HALF_LIFE: Final = selector("halfLifeS()")
_MEETS: Final = selector("meetsTrustThreshold(address,uint256)")
_MOST_S: Final = 3650 * 86_400


async def read_half_life(rpc: Rpc, registry: str) -> int | None:
    """Reads the contract's half-life in seconds, which never changes. Returns None if the answer contains none."""
    (answer,) = await ask(rpc, [("eth_call", [{"to": registry, "data": _HALF_LIFE}, "latest"])])
    half_life_s = answer if isinstance(answer, Missing) else decode_uint(answer)
    return None if isinstance(half_life_s, Missing) or not 0 < half_life_s <= _MOST_S else half_life_s


async def ask_scores(rpc: Rpc, registry: str, block: int, sample: Mapping[str, int]) -> list[ScoreCheck]:
    """Reads the contract's answers at `block` for each agent of `sample` (with our score) and each threshold."""
    questions = [(agent, ours, least) for agent, ours in sample.items() for least in THRESHOLDS.values()]
    calls: Sequence[Call] = [
        ("eth_call", [{"to": registry, "data": meets_data(agent, least)}, hex(block)]) for agent, _, least in questions
    ]
    answers = await ask(rpc, calls) if calls else []
    return [
        _check(agent, ours, least, _meets(answer))
        for (agent, ours, least), answer in zip(questions, answers, strict=True)
    ]


def meets_data(agent: str, min_score: int) -> str:
    """Returns the call data of `meetsTrustThreshold(address,uint256)`."""
    return f"{_MEETS}{agent.removeprefix('0x').rjust(64, '0')}{min_score:064x}"


def _check(agent: str, ours: int, least: int, answer: tuple[bool, int] | Missing) -> ScoreCheck:
    theirs, reason = (None, answer.value) if isinstance(answer, Missing) else (answer, None)
    return ScoreCheck(agent, least, (ours >= least, ours), theirs, reason)


def _meets(answer: Any | Missing) -> tuple[bool, int] | Missing:
    if isinstance(answer, Missing):
        return answer
    if not isinstance(answer, str) or len(answer) != 130:
        return Missing.EMPTY
    try:
        return bool(int(answer[2:66], 16)), int(answer[66:], 16)
    except ValueError:
        return Missing.EMPTY
