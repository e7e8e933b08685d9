"""The further effects of writing, removing or changing certain paths and keys: persisting, granting, switching off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from guardrail.facts import Facts
from guardrail.interpret.frame import directory_of
from guardrail.interpret.pipes import written_text
from guardrail.model import Call, Effect
from guardrail.paths.spelling import located
from guardrail.paths.writes import STARTS_WITH_SHELL, consequence_of_write, is_of_guard, is_record
from guardrail.registry import KeyMeaning, is_password_store, meaning_of_change, meaning_of_reading, meaning_of_removal
from guardrail.startup_lines import only_set_up
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope

_KEEPS_RIGHTS = re.compile(r"[ugoa]*\+[rwxX]+|[ug]=rw[xX]?|0?[67][0-7][0-7]")
_HOOK = re.compile(r"(?:^|/)(?:\.git/hooks|\.husky|\.githooks)(?:/(?!.*\.sample$)|$)")
_HIVE_OF_PASSWORDS = KeyMeaning(EffectKind.READ, ObjectKind.CREDENTIAL, "copies the store of passwords")


def of_write(effect: Effect, directory: str | None, facts: Facts, call: Call | None = None) -> Iterator[Effect]:
    """Yields the further effects of a write to certain paths: persisting, granting, or changing the guard."""
    for target in effect.targets:
        if target.place in (Place.REMOTE, Place.PRODUCTION):
            continue
        consequence = consequence_of_write(target.text)
        if consequence is None and directory is not None:
            consequence = consequence_of_write(located(target.text, facts, directory))
        if consequence is not None:
            detail = {"says": f"changes {consequence.reason}"}
            if consequence is STARTS_WITH_SHELL and effect.kind is EffectKind.WRITE and call is not None:
                text = written_text(call)
                if text is not None and only_set_up(text):
                    detail["line"] = "setting"
            yield Effect(
                kind=consequence.kind,
                object=consequence.object,
                span=effect.span,
                source=effect.source,
                targets=(target,),
                scope=Scope.ALL if consequence.object is ObjectKind.DEVICE else Scope.ONE,
                reversible=Reversible.NO if consequence.kind is EffectKind.OVERWRITE else Reversible.YES,
                sure=effect.sure,
                elevated=effect.elevated,
                detail=detail,
            )


def of_removal(effect: Effect, facts: Facts, call: Call) -> Iterator[Effect]:
    """Yields the further effects if certain paths are deleted, moved or lose their rights."""
    yield from _of_the_guard(effect, facts, call)
    if effect.kind is EffectKind.DELETE:
        yield from _of_records(effect)
        yield from _of_hooks(effect)


def _of_the_guard(effect: Effect, facts: Facts, call: Call) -> Iterator[Effect]:
    """Yields a change of the guard if one of its files is deleted, moved or locked, which turns it off as surely as a
    write."""
    if call.program == "chmod" and any(_KEEPS_RIGHTS.fullmatch(word.text) for word in call.words):
        return
    directory = directory_of(call)
    for target in effect.targets:
        if target.place in (Place.REMOTE, Place.PRODUCTION):
            continue
        if is_of_guard(target.text) or (directory and is_of_guard(located(target.text, facts, directory))):
            changed = replace(effect, kind=EffectKind.CONFIGURE, object=ObjectKind.GUARD, targets=(target,))
            yield replace(changed, detail={"says": "removes what checks or steers the agent"})


def _of_hooks(effect: Effect) -> Iterator[Effect]:
    """Yields that a check is disabled if a hook of git is deleted."""
    hooks = tuple(replace(target, place=Place.UNKNOWN) for target in effect.targets if _HOOK.search(target.text))
    if hooks:
        yield replace(effect, kind=EffectKind.DISABLE, object=ObjectKind.REPOSITORY, targets=hooks)


def _of_records(effect: Effect) -> Iterator[Effect]:
    """Yields that a log is disabled if its records are deleted."""
    targets = tuple(target for target in effect.targets if is_record(target.located))
    if targets:
        changed = replace(effect, kind=EffectKind.DISABLE, object=ObjectKind.SERVICE, targets=targets)
        yield replace(changed, detail={"says": "removes the record of what happened"})


def of_registry_keys(effect: Effect) -> Iterator[Effect]:
    """Yields the effects of registry keys that start programs, maintain a defence or contain passwords."""
    value, data = effect.detail.get("value", ""), effect.detail.get("data", "")
    for target in effect.targets:
        meaning: KeyMeaning | None
        if effect.kind is EffectKind.READ:
            meaning = meaning_of_reading(target.text, value)
            if effect.scope is Scope.ALL and is_password_store(target.text):
                meaning = _HIVE_OF_PASSWORDS
        elif effect.kind is EffectKind.DELETE:
            meaning = meaning_of_removal(target.text, value)
        else:
            meaning = meaning_of_change(target.text, value, data)
        if meaning is not None:
            changed = replace(effect, kind=meaning.kind, object=meaning.object, targets=(target,))
            yield replace(changed, detail={"says": meaning.reason})
