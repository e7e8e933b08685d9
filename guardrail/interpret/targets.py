"""Determines the places of the targets of effects, and the care that they deserve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from guardrail import environment
from guardrail.circumstances import host_of
from guardrail.facts import Environment, Facts
from guardrail.interpret.frame import Frame, directory_of
from guardrail.interpret.memory import Memory
from guardrail.interpret.pipes import prints_environment, prints_secrets
from guardrail.interpret.programs import CARES
from guardrail.model import Call, Effect, Target, Word
from guardrail.paths.care import PUBLIC_CERTIFICATES, Care, care_of
from guardrail.paths.places import place_of
from guardrail.paths.spelling import located, seen_from
from guardrail.vocabulary import EffectKind, ObjectKind, Origin, Place, Sensitivity

DESTROYS = frozenset((EffectKind.DELETE, EffectKind.OVERWRITE, EffectKind.DISCARD))
_PATHLIKE = frozenset((ObjectKind.PATH, ObjectKind.SECRET, ObjectKind.CREDENTIAL, ObjectKind.PERSONAL_DATA))
_NO_CARE = Care(Sensitivity.NONE, "")
_ENVIRONMENT = Care(Sensitivity.SECRET, "every variable of the environment")


class Targets:
    """Locates paths, hosts and things according to the facts and to what earlier calls did."""

    def __init__(self, facts: Facts, memory: Memory) -> None:
        self._facts = facts
        self._memory = memory
        self._judges_origin = facts.user_request is not None or bool(facts.untrusted_content)

    def in_frame(self, effect: Effect, frame: Frame) -> Effect:
        """Completes a reader's own effect with the place and care of its paths."""
        thing = effect.object
        targets = tuple(
            self._located(target, effect, frame)
            if thing is ObjectKind.PATH
            else replace(target, place=self.placed(target.place, thing))
            for target in effect.targets
        )
        return replace(
            effect,
            span=frame.carrier or effect.span,
            sure=effect.sure and frame.sure,
            elevated=effect.elevated or frame.elevated,
            targets=targets,
        )

    def _located(self, target: Target, effect: Effect, frame: Frame) -> Target:
        call = Call("", (), effect.span, host=frame.host, directory=frame.directory)
        place = None if target.place is Place.UNKNOWN else target.place
        sensitivity = None if target.sensitivity is Sensitivity.NONE else target.sensitivity
        found = self.target(Word(target.text, effect.span), effect.kind, effect.object, call, place, sensitivity)
        return replace(found, origin=target.origin) if target.origin is not Origin.UNKNOWN else found

    def placed(self, place: Place, thing: ObjectKind) -> Place:
        """Returns production for a remote place, or for an unknown place that is not a path, if the environment is
        production."""
        if self._facts.environment is Environment.PRODUCTION and (
            place is Place.REMOTE or (place is Place.UNKNOWN and thing is not ObjectKind.PATH)
        ):
            return Place.PRODUCTION
        return place

    def target(
        self,
        word: Word,
        kind: EffectKind,
        thing: ObjectKind,
        call: Call,
        place: Place | None = None,
        sensitivity: Sensitivity | None = None,
    ) -> Target:
        """Returns what a word names, seen as a thing that an effect of this kind reaches. A row may state its place and
        sensitivity."""
        text = word.text
        directory = directory_of(call)
        if place is None:
            place = Place.UNKNOWN
            if thing in _PATHLIKE:
                place = self._in_new_container(text, call)
                if place is None:
                    place = self.on_host(place_of(text, self._facts, directory), call)
                if kind in DESTROYS and self._memory.owns(text, directory):
                    place = Place.TEMPORARY
                elif place is Place.REMOTE:
                    place = self.placed(place, thing)
        if sensitivity is None:
            sensitivity = self.care(word, directory).sensitivity
        if (
            kind is EffectKind.SEND
            and self._memory.with_environment
            and located(text, self._facts, directory) in self._memory.with_environment
        ):
            sensitivity = Sensitivity.SECRET
        origin = self._facts.origin_of(text) if self._judges_origin else Origin.UNKNOWN
        path = seen_from(directory, text) if directory is not None and thing in _PATHLIKE and call.host is None else ""
        return Target(text, place, sensitivity, origin, path)

    def care(self, word: Word, directory: str | None) -> Care:
        """Returns the care that a word's path deserves: its own, that of a file copied there, or that of a
        substitution's output."""
        text = word.text
        computed = not word.known and any(mark in text for mark in ("$(", "`", "<("))
        if (word.glob or not word.known) and environment.holds_everything(text):
            return _ENVIRONMENT
        care = _NO_CARE if computed else care_of(text, self._facts.os)
        if care.sensitivity is Sensitivity.NONE and directory is not None:
            care = care_of(located(text, self._facts, directory), self._facts.os)
        if self._memory.made_keys and located(text, self._facts, directory) in self._memory.made_keys:
            return _NO_CARE
        if self._memory.copied and care.sensitivity not in CARES:
            care = self._memory.copied.get(located(text, self._facts, directory), care)
        if "mktemp" in text and computed:
            return care  # a new file without content
        if computed and care.sensitivity is Sensitivity.NONE and not text.startswith(PUBLIC_CERTIFICATES):
            found = [care_of(piece) for piece in _pieces(text)]
            cares = [known for known in found if known.sensitivity is not Sensitivity.NONE]
            care = next((known for known in cares if known.sensitivity in CARES), cares[0] if cares else care)
        return care

    def on_host(self, place: Place, call: Call) -> Place:
        """Returns the place as seen on another machine, which doesn't have our workspace."""
        if call.host is not None and call.host.startswith("container:") and place in (Place.SYSTEM, Place.HOME):
            return Place.UNKNOWN
        if call.host is None or place in (Place.SYSTEM, Place.HOME, Place.TEMPORARY):
            return place
        if call.host.startswith("image:"):
            return place
        return (
            self.placed(Place.REMOTE, ObjectKind.RESOURCE) if not call.host.startswith("container:") else Place.UNKNOWN
        )

    def _in_new_container(self, text: str, call: Call) -> Place | None:
        """Returns the place of a path in a container that the action creates: on this machine if the path is mounted;
        otherwise temporary, since it disappears with the container."""
        mounts = self._memory.mounts.get(call.host) if call.host is not None else None
        if mounts is None:
            return None
        path = located(text, self._facts, directory_of(call))
        for inside, outside in mounts:
            if path == inside or path.startswith((f"{inside}/", f"{inside}*")) or inside == "/":
                if not outside.startswith(("/", "~", ".", "$", "`")):
                    return Place.UNKNOWN  # a named volume
                return place_of(outside + path[len(inside.rstrip("/")) :], self._facts)
            if inside.startswith(f"{path.rstrip('/*')}/"):
                return Place.UNKNOWN  # the path contains a mount
        return Place.TEMPORARY if path.startswith("/") else None

    def fed(self, call: Call, kind: EffectKind) -> Target:
        """Returns the piped input as a target that deserves the care of its sources."""
        fed = self._memory.fed(call.stdin)
        sensitivity = fed.care.sensitivity if fed.care is not None else Sensitivity.NONE
        if kind is EffectKind.SEND:
            hosts = [host for word in call.words if (host := host_of(word.text))]
            if prints_environment(call.stdin) or prints_secrets(call.stdin, hosts):
                sensitivity = Sensitivity.SECRET
        for redirection in call.redirections:
            if redirection.operator == "<":
                return self.target(redirection.target, EffectKind.READ, ObjectKind.PATH, call)
        return Target("stdin", sensitivity=sensitivity)


def _pieces(text: str) -> Iterator[str]:
    """Yields the words of a substitution that no reader parsed."""
    for char in "$()`<>|;&\"'":
        text = text.replace(char, " ")
    return iter(text.split())
