"""Answers questions about a session from plan, progress and session, by the rules of `talk.yaml`. It calls no model.

A topic matches if the question contains one of its phrases; the longest phrase wins. Example: "where is it, this
failed" contains "where", one word, and "this failed", two words, so the answer is about failures.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

import yaml
from pydantic import Field

from contracts.access.plans import load_plans
from contracts.access.rail import usd_of
from contracts.connect.progress import SETTLED, Progress, carry_over, next_step
from contracts.connect.setup_plan import ConnectPlan, PlanStep, ToolModel
from contracts.connect.setup_plan_rows import VARIABLE, Row

TALK_FILE = Path(__file__).with_name("talk.yaml")

_WORD = re.compile(r"[^\W_]+")
_BILLED = {"one_time": "once", "recurring": "for {days} days"}


class SessionFacts(ToolModel):
    """Facts about a session, in addition to its plan and progress. Times are UTC."""

    now: datetime
    expires_at: datetime
    base_url: str
    payments_live: bool


class TalkAnswer(ToolModel):
    """An answer, with the questions of all topics."""

    topic: str | None = Field(description="Null if the question was not understood")
    answer: str
    can_answer: tuple[str, ...] = Field(description="A question for each topic")


class Topic(Row):
    """One topic of questions."""

    id: str
    question: str
    words: tuple[str, ...]
    answer: str
    finished: str | None = None


class TalkFile(Row):
    """The content of `talk.yaml`."""

    topics: tuple[Topic, ...]
    unknown: str


@cache
def load_talk() -> TalkFile:
    """Returns the checked file. Raises `pydantic.ValidationError`."""
    return TalkFile.model_validate(yaml.load(TALK_FILE.read_text(), yaml.CSafeLoader))


def answer(question: str, plan: ConnectPlan, progress: Progress, session_facts: SessionFacts) -> TalkAnswer:
    """Answers a question. The same question about the same state gets the same answer.

    `progress` may belong to another version of the plan: identical steps count.
    """
    file = load_talk()
    words = tuple(_WORD.findall(question.casefold()))
    questions = tuple(topic.question for topic in file.topics)
    named = _named_step(plan, words)
    topic = _topic(file, words, named)
    if topic is None:
        return TalkAnswer(
            topic=None, answer=_filled(file.unknown, {"questions": " ".join(questions)}), can_answer=questions
        )
    facts = _facts(plan, progress, session_facts, named)
    answerable = set(VARIABLE.findall(topic.answer)) <= facts.keys()
    template = topic.answer if answerable or topic.finished is None else topic.finished
    return TalkAnswer(topic=topic.id, answer=_filled(template, facts), can_answer=questions)


def _topic(file: TalkFile, words: tuple[str, ...], named: PlanStep | None) -> Topic | None:
    best, best_score = None, 0
    for topic in file.topics:
        score = max(len(phrase.split()) if _contains(words, phrase) else 0 for phrase in topic.words)
        if score > best_score:
            best, best_score = topic, score
    if best is None and named is not None:
        return next(topic for topic in file.topics if topic.id == "how")
    return best


def _contains(words: tuple[str, ...], phrase: str) -> bool:
    wanted = phrase.split()
    return any(
        all(_matches(word, want) for word, want in zip(words[at:], wanted, strict=False))
        for at in range(len(words) - len(wanted) + 1)
    )


def _matches(word: str, wanted: str) -> bool:
    return word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted


def _named_step(plan: ConnectPlan, words: tuple[str, ...]) -> PlanStep | None:
    """Returns the step whose whole id is in the question, the longest one if there are several, or None."""
    spelled = " ".join(words)
    contained = [step for step in plan.steps if f" {step.id.replace('_', ' ')} " in f" {spelled} "]
    return max(contained, key=lambda step: len(step.id), default=None)


def _facts(plan: ConnectPlan, progress: Progress, session: SessionFacts, named: PlanStep | None) -> dict[str, str]:
    changed = progress.plan_version != plan.version
    if changed:
        progress = carry_over(plan, progress)
    states = {at.step_id: at.state for at in progress.steps}
    done = [step for step in plan.steps if states.get(step.id) == "done"]
    coming = next_step(plan, progress)
    step = named or (coming.step if coming else None)
    undone = list(reversed(done))
    facts = {
        "done": str(len(done)),
        "total": str(len(plan.steps)),
        "others": "".join(
            f", {', '.join(ids)} {state.replace('_', ' ')}"
            for state in ("failed", "rolled_back", "skipped")
            if (ids := [entry.id for entry in plan.steps if states.get(entry.id) == state])
        ),
        "changed": " The plan has changed since the set-up began: ask for it once more." if changed else "",
        "open": str(sum(states.get(entry.id) not in SETTLED for entry in plan.steps)),
        "workspace": plan.workspace,
        "boundary": plan.boundary,
        "first_mission": plan.first_mission,
        "sent": " ".join(plan.sent),
        "base_url": session.base_url,
        "consents": ", ".join(entry.id for entry in plan.steps if entry.consent),
        "undo_order": ", ".join(entry.id for entry in undone) or "nothing is done yet",
        "undo_notes": " ".join(f"{entry.id}: {entry.rollback.note}" for entry in undone if not entry.rollback.complete),
        "prices": "; ".join(
            f"{offer.id}, {usd_of(offer.price)} USD {_BILLED[offer.billing].format(days=offer.paid_days)}"
            for offer in load_plans().values()
        ),
        "payments": "Payments are open, in USDC."
        if session.payments_live
        else "Payments are not set up at this installation, so nothing can be bought at the moment.",
        "ends": _ends(session),
    }
    if coming is not None:
        facts |= {
            "next_id": coming.step.id,
            "next_title": coming.step.title,
            "next_what": coming.step.what,
            "guidance": coming.guidance,
        }
    if step is not None:
        facts |= _step_facts(step, states.get(step.id, "pending"))
    return facts


def _step_facts(step: PlanStep, state: str) -> dict[str, str]:
    commands = len(step.commands)
    undo = " then ".join(f"`{command.run}`" for command in step.rollback.commands)
    return {
        "step_id": step.id,
        "step_state": state.replace("_", " "),
        "step_what": step.what,
        "step_why": step.why,
        "step_optional": " It is optional: it may be skipped." if step.optional else "",
        "step_files": ", ".join(file.path for file in step.files) or "no file",
        "step_commands": f"{commands} command{'s' if commands != 1 else ''}" if commands else "no command",
        "step_effects": " ".join(step.side_effects).rstrip(".") or "none",
        "step_checks": " ".join(check.gives for check in step.checks),
        "step_undo": step.rollback.note + (f" Run {undo}." if undo else ""),
    }


def _ends(session: SessionFacts) -> str:
    minutes = int((session.expires_at - session.now).total_seconds()) // 60
    return f"in {minutes} minute{'s' if minutes != 1 else ''}" if minutes > 0 else "in less than a minute"


def _filled(template: str, facts: Mapping[str, str]) -> str:
    return VARIABLE.sub(lambda variable: facts[variable[1]], template)
