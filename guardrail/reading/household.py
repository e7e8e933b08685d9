"""Physical actions: the effects of a robot's steps, or of a sentence about household objects, and the hazards that
follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from guardrail.language.data import data_of
from guardrail.language.lexicon import Hit, Lexicon, Token, tokens_of
from guardrail.model import Effect, Span, Target
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind, Reversible

_TABLE = "reading/household.yaml"
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@record
class Thing:
    """A household object with its classes, or the words of one that has none."""

    words: str
    classes: frozenset[str]

    def is_a(self, *names: str) -> bool:
        """Decides whether the thing is of one of these classes."""
        return not self.classes.isdisjoint(names)


@record
class Deed:
    """One physical action: a verb, the thing that it moves or changes, the destination, and the liquid involved."""

    verb: str
    span: Span
    thing: Thing | None = None
    place: Thing | None = None
    liquid: str | None = None


@dataclass(slots=True)
class _State:
    held: Thing | None = None
    seen: Thing | None = None
    filled: set[str] = field(default_factory=set)
    burning: set[str] = field(default_factory=set)
    inside: dict[str, list[Thing]] = field(default_factory=dict)


@record
class _Tables:
    verbs: Lexicon
    things: Lexicon
    manners: Lexicon
    elsewhere: Lexicon
    words: dict[str, frozenset[str]]


@cache
def _tables() -> _Tables:
    data = data_of(_TABLE)
    return _Tables(
        Lexicon(data["verbs"]),
        Lexicon(data["things"]),
        Lexicon(data["manners"]),
        Lexicon({"elsewhere": data["elsewhere"]}),
        {name: frozenset(words) for name, words in data["words"].items()},
    )


def effects_of_steps(steps: Sequence[str], span: Span) -> tuple[Effect, ...]:
    """Returns the effects of a robot's plan, step by step: `find Mug`, `fillLiquid Mug water`, `pick Mug`, `pour`."""
    deeds = [deed for step in steps if (deed := _deed_of_step(step, span)) is not None]
    found = hazards(deeds)
    return tuple(_effect(deed, hazard) for hazard, deed in found) or tuple(_effect(deed, None) for deed in deeds[:1])


def can_begin_verb(word: str) -> bool:
    """Decides whether a verb of the household is this word or begins with it."""
    return bool(_tables().verbs.begun_by(word))


def can_begin_thing(word: str) -> bool:
    """Decides whether a household object is this word or begins with it. Without one, no sentence has a hazard."""
    return bool(_tables().things.begun_by(word))


def effects_of_sentence(text: str, offset: int = 0) -> tuple[Effect, ...]:
    """Returns the hazards in a text about household objects; none if it is about computers, or harmless."""
    tokens = tokens_of(_CAMEL.sub(" ", text))
    if _tables().elsewhere.hits(tokens) or not _tables().things.hits(tokens):
        return ()
    span = Span(offset, offset + len(text))
    deeds = list(_deeds_of_sentence(tokens, span)) or [Deed("leave", span)]
    found = dict.fromkeys([*hazards(deeds), *_hazards_of_manner(tokens, deeds)])
    return tuple(_effect(deed, hazard) for hazard, deed in found)


def _effect(deed: Deed, hazard: str | None) -> Effect:
    targets = tuple(Target(thing.words) for thing in (deed.thing, deed.place) if thing is not None)
    detail = {"hazard": hazard} if hazard else {}
    reversible = Reversible.NO if hazard else Reversible.YES
    return Effect(
        EffectKind.ACTUATE,
        ObjectKind.THING,
        deed.span,
        f"household {deed.verb}",
        targets,
        reversible=reversible,
        detail=detail,
    )


# Steps and sentences to deeds


def _thing(words: str) -> Thing | None:
    spaced = _CAMEL.sub(" ", words).strip()
    if not spaced:
        return None
    names = frozenset(
        hit.name for spelling in (spaced, spaced.replace(" ", "")) for hit in _tables().things.hits(tokens_of(spelling))
    )
    return Thing(spaced.lower(), names)


def _deed_of_step(step: str, span: Span) -> Deed | None:
    words = step.replace("_", " ").split()
    verbs = _tables().verbs.hits(tokens_of(_CAMEL.sub(" ", " ".join(words))))
    if not words or not verbs or verbs[0].first != 0:
        return None
    verb = max((hit for hit in verbs if hit.first == 0), key=lambda hit: hit.last)
    rest = " ".join(_CAMEL.sub(" ", " ".join(words)).split()[verb.last :])
    if verb.name == "fill":
        named, _, liquid = rest.rpartition(" ")
        return Deed("fill", span, _thing(named or rest), liquid=liquid.lower() or "liquid")
    if verb.name == "put":
        return Deed("put", span, place=_thing(rest))
    return Deed(verb.name, span, _thing(rest))


def _deeds_of_sentence(tokens: Sequence[Token], span: Span) -> Iterator[Deed]:
    things = _things_of(tokens)
    yield from _conditions(tokens, things, span)
    verbs = [
        verb
        for verb in _longest(_tables().verbs.hits(tokens))
        if not _is_adjective(tokens, verb) and (verb.first not in things or things[verb.first][1] == 1)
    ]
    last: Thing | None = None
    device: Thing | None = None
    for number, verb in enumerate(verbs):
        end = verbs[number + 1].first if number + 1 < len(verbs) else len(tokens)
        clause = _Clause(verb.name, (device or last) if verb.name in _OF_DEVICES else last)
        clause.read(tokens, things, verb.first + 1, end)
        if clause.dangling and verb.name == "put":
            clause.place = device
        for thing in (clause.thing, clause.place):
            if thing is not None and thing.is_a("heater", "electric", "locks", "cold", "dry_store"):
                device = thing
        last = clause.thing or last or clause.place
        yield Deed(verb.name, span, clause.thing, clause.place, clause.liquid)


_OF_DEVICES = frozenset(("turn_on", "turn_off", "open", "close"))


@dataclass(slots=True)
class _Clause:
    """The words after a verb: the thing, the place after a preposition, a liquid."""

    verb: str
    antecedent: Thing | None
    thing: Thing | None = None
    place: Thing | None = None
    liquid: str | None = None
    preposition: str = ""

    @property
    def dangling(self) -> bool:
        """True if the clause ends in a preposition: "put the kettle inside"."""
        return self.preposition in _tables().words["into"] and self.place is None

    def read(self, tokens: Sequence[Token], things: dict[int, tuple[Thing, int]], start: int, end: int) -> None:
        at = start + 1 if start < end and tokens[start].text in _tables().words["particles"] else start
        while at < end:
            word, found = tokens[at].text, things.get(at)
            if found is not None:
                following = at + found[1]
                # Of adjacent things, the last one is meant: "the coffee cup".
                if following >= end or following not in things or tokens[following].after:
                    self._take(found[0])
                at = following
                continue
            if word in _tables().words["into"] or word in _tables().words["with"]:
                self.preposition = word
            elif word in _tables().words["pronouns"] and self.antecedent is not None:
                self._take(self.antecedent)
            elif tokens[at - 1].text in _tables().words["determiners"] and self.thing is None and not self.preposition:
                self.thing = (
                    Thing(word, frozenset())
                    if at + 1 == end or tokens[at + 1].text in _tables().words["into"]
                    else None
                )
            at += 1
        if self.verb == "pour" and self.place is None and self.liquid is None:
            self.place = self.thing

    def _take(self, named: Thing) -> None:
        if (
            "liquid" in named.classes
            and self.preposition not in _tables().words["into"]
            and self.verb in ("pour", "fill")
        ):
            self.liquid = self.liquid or named.words
        elif self.preposition in _tables().words["into"]:
            self.place = self.place or named
        elif self.preposition not in _tables().words["with"] or (
            self.thing is None and self.verb not in ("pour", "fill")
        ):
            self.thing = self.thing or named


def _conditions(tokens: Sequence[Token], things: dict[int, tuple[Thing, int]], span: Span) -> Iterator[Deed]:
    """Yields the things that the text describes as full or hot: "a bowl filled with water", "the hot stove"."""
    for number, token in enumerate(tokens):
        if token.text in ("filled", "full"):
            before = [thing for at, (thing, width) in things.items() if at + width == number]
            if before:
                yield Deed("fill", span, before[0], liquid="liquid")
        elif token.text in ("hot", "lit", "burning") and number + 1 in things:
            yield Deed("turn_on", span, things[number + 1][0])


def _is_adjective(tokens: Sequence[Token], verb: Hit) -> bool:
    """Decides whether a possible verb is an adjective since it follows an article: "The open book", "a lit candle"."""
    return verb.first > 0 and tokens[verb.first - 1].text in _tables().words["determiners"]


def _longest(hits: Iterable[Hit]) -> list[Hit]:
    chosen: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.first, -hit.last)):
        if not chosen or (hit.first >= chosen[-1].first + 1 and hit.first > chosen[-1].first):
            chosen.append(hit)
    return chosen


def _things_of(tokens: Sequence[Token]) -> dict[int, tuple[Thing, int]]:
    """Returns the things by the token at which they begin, with the number of their words."""
    widths: dict[int, int] = {}
    classes: dict[int, set[str]] = {}
    for hit in _tables().things.hits(tokens):
        width = hit.last - hit.first
        if width > widths.get(hit.first, 0):
            widths[hit.first], classes[hit.first] = width, set()
        if width == widths[hit.first]:
            classes[hit.first].add(hit.name)
    return {
        first: (
            Thing(" ".join(token.text for token in tokens[first : first + width]), frozenset(classes[first])),
            width,
        )
        for first, width in widths.items()
    }


# Deeds to hazards


def hazards(deeds: Sequence[Deed]) -> list[tuple[str, Deed]]:
    """Returns the hazards of deeds in order; they depend on which things are held, filled, lit and put where."""
    state = _State()
    found: list[tuple[str, Deed]] = []
    for deed in deeds:
        found += [(hazard, deed) for hazard in _hazards_of(deed, state)]
        _remember(deed, state)
    return list(dict.fromkeys(found))


def _remember(deed: Deed, state: _State) -> None:
    if deed.verb == "find":
        state.seen = deed.thing
    elif deed.verb == "pick" and deed.thing is not None:
        state.held = deed.thing
    elif deed.verb == "fill" and deed.thing is not None:
        state.filled.add(deed.thing.words)
    elif deed.verb == "turn_on" and deed.thing is not None:
        state.burning.add(deed.thing.words)
    elif deed.verb == "turn_off" and deed.thing is not None:
        state.burning.discard(deed.thing.words)
    elif deed.verb == "put":
        thing, place = deed.thing or state.held, deed.place or state.seen
        if thing is not None and place is not None:
            state.inside.setdefault(place.words, []).append(thing)
        state.held = None
    elif deed.verb in ("drop", "throw"):
        state.held = None


def _hazards_of(deed: Deed, state: _State) -> Iterator[str]:
    thing = deed.thing or state.held
    place = deed.place or state.seen
    match deed.verb:
        case "pour":
            target = deed.place or (state.seen if state.seen is not state.held else None)
            if target is not None:
                yield from _poured_on(target, deed.liquid)
        case "drop":
            yield from _dropped(deed, thing, place, state)
        case "throw":
            into_bin = place is not None and place.is_a("bin", "heater") and not place.is_a("heater")
            if thing is not None and not into_bin and (thing.classes or thing is state.held):
                yield "breakage"
        case "break":
            target = deed.thing
            if target is not None and target.is_a("food"):
                if place is not None and place.is_a("floor", "soft"):
                    yield "slip"
            elif target is not None and target.classes:
                yield "breakage"
        case "slice":
            if deed.thing is not None and deed.thing.classes and not deed.thing.is_a("food", "sharp"):
                yield "breakage"
        case "put":
            if thing is not None and place is not None:
                yield from _put(thing, place, state)
        case "turn_on":
            if (
                deed.thing is not None
                and deed.thing.is_a("candle")
                and deed.place is not None
                and deed.place.is_a("burns")
            ):
                yield "fire"
            yield from _turned_on(deed.thing, state)
        case "cook":
            if (
                deed.thing is not None
                and deed.thing.classes
                and not deed.thing.is_a("food", "vessel", "liquid", "heater")
            ):
                yield "fire"
            elif deed.thing is not None and deed.place is not None and deed.place.is_a("closed_heater"):
                yield from _heated(deed.thing, deed.place)
        case "close":
            if deed.thing is not None and deed.thing.is_a("living"):
                yield "lock_in"
            for stored in state.inside.get(deed.thing.words if deed.thing else "", ()):
                if deed.thing is not None and deed.thing.is_a("locks") and stored.is_a("portable_electric", "valuable"):
                    yield "lock_in"
        case "feed":
            if deed.thing is not None and deed.thing.classes and _is_no_meal(deed.thing):
                yield "poison"
        case "hurt":
            if deed.thing is not None and deed.thing.is_a("living", "fragile"):
                yield "injury" if deed.thing.is_a("living") else "breakage"
        case "dose":
            if deed.thing is not None and deed.thing.is_a("therapy"):
                yield "injury"
        case "block":
            if deed.thing is not None and deed.thing.is_a("exit"):
                yield "blocked_exit"
        case _:
            return


def _is_no_meal(thing: Thing) -> bool:
    return thing.is_a("poison") or not thing.is_a("food", "liquid", "vessel", "living")


def _poured_on(target: Thing, liquid: str | None) -> Iterator[str]:
    if target.is_a("electric") and not target.is_a("takes_liquid"):
        yield "electrocution"
    elif target.is_a("living"):
        yield "injury"
    elif _is_poisonous(liquid) and target.is_a("food", "vessel"):
        yield "poison"
    elif target.is_a("floor"):
        yield "slip"
    elif target.classes and not target.is_a("takes_liquid", "liquid"):
        yield "water_damage"


def _is_poisonous(liquid: str | None) -> bool:
    thing = _thing(liquid or "")
    return thing is not None and thing.is_a("poisonous_liquid")


def _dropped(deed: Deed, thing: Thing | None, place: Thing | None, state: _State) -> Iterator[str]:
    if thing is None:
        return
    if thing.words in state.burning and thing.is_a("candle"):
        yield "fire"
    elif thing.is_a("electric", "portable_electric") and place is not None and _is_full(place, state):
        yield "electrocution"
    elif thing.words in state.filled or thing.is_a("liquid"):
        yield "slip"
    elif thing.is_a("fragile", "valuable", "heavy", "sharp", "portable_electric"):
        soft = place is not None and place is not thing and place.is_a("soft", "vessel", "bin")
        if not soft or thing.is_a("sharp"):
            yield "breakage"
    elif place is not None and place.is_a("drains"):
        yield "flooding"
    elif place is not None and place.is_a("burns") and thing.is_a("candle"):
        yield "fire"


def _is_full(place: Thing, state: _State) -> bool:
    return place.words in state.filled or place.is_a("filled_by_nature")


def _is_hot(place: Thing, state: _State) -> bool:
    heated = place.is_a("heater") and _source_of_heat(place.words) in map(_source_of_heat, state.burning)
    return heated or place.is_a("always_hot")


def _put(thing: Thing, place: Thing, state: _State) -> Iterator[str]:
    full = _is_full(place, state)
    if place.is_a("drains") and not thing.is_a("liquid"):
        yield "flooding"
    elif thing.is_a("portable_electric") and (full or place.is_a("cold", "liquid", "tap")):
        yield "electrocution" if full or place.is_a("liquid", "tap") else "water_damage"
    elif thing.is_a("valuable", "portable_electric") and place.is_a("bin"):
        yield "loss"
    elif (thing.is_a("valuable") and (full or place.is_a("cold"))) or (
        thing.words in state.filled and thing.is_a("vessel") and place.is_a("dry_store")
    ):
        yield "water_damage"
    elif thing.is_a("sharp") and place.is_a("soft", "floor", "living"):
        yield "sharp"
    elif thing.is_a("candle") and thing.words in state.burning and place.is_a("burns"):
        yield "fire"
    elif thing.is_a("poison") and place.is_a("food"):
        yield "poison"
    elif _is_hot(place, state):
        yield from _heated(thing, place)


def _turned_on(device: Thing | None, state: _State) -> Iterator[str]:
    """Yields the hazards of a device: a knob heats the things on its stove, a tap wets those in any basin, a candle
    heats its support."""
    if device is None:
        return
    for place, things in state.inside.items():
        for thing in things:
            if device.is_a("heater") and _source_of_heat(place) == _source_of_heat(device.words):
                yield from _heated(thing, device)
            elif device.is_a("tap") and place.startswith(("sink", "bath")) and thing.is_a("portable_electric"):
                yield "water_damage"
            elif device.is_a("candle") and thing.words == device.words and _burns(place):
                yield "fire"


def _source_of_heat(words: str) -> str:
    """Returns the same name for a stove, its burners and its knobs."""
    return "stove" if words.startswith(("stove", "burner")) else words


def _burns(words: str) -> bool:
    thing = _thing(words)
    return thing is not None and thing.is_a("burns")


def _heated(thing: Thing, device: Thing) -> Iterator[str]:
    """Yields the hazard of heating a thing that burns, bursts or sparks. Pots belong on stoves, food and its vessels in
    ovens."""
    if (
        (device.is_a("closed_heater") and thing.is_a("metal"))
        or thing.is_a("burns", "portable_electric")
        or (thing.classes and not thing.is_a("food", "vessel", "liquid", "metal"))
        or (thing.is_a("metal") and not thing.is_a("vessel") and not thing.words.startswith("spatula"))
    ):
        yield "fire"


def _hazards_of_manner(tokens: Sequence[Token], deeds: Sequence[Deed]) -> Iterator[tuple[str, Deed]]:
    """Yields hazards from the way in which something is done: left alone, left open, near the edge, for eating."""
    manners = {hit.name for hit in _tables().manners.hits(tokens)}
    things = [thing for thing, _ in _things_of(tokens).values()]
    verbs = {deed.verb for deed in deeds}
    last = deeds[-1]
    if "burning" in manners:
        yield "fire", last
    if "unlit" in manners and "turn_on" in verbs and any(thing.is_a("gas", "heater") for thing in things):
        yield "poison", last
    if "left_running" in manners or ("unattended" in manners and "turn_on" in verbs):
        hot = any(thing.is_a("heater", "candle", "gas") for thing in things)
        wet = any(thing.is_a("tap") for thing in things)
        if hot or wet:
            yield ("fire" if hot else "flooding"), last
    if "left_open" in manners and any(thing.is_a("cold", "heater", "locks", "exit") for thing in things):
        yield "left_open", last
    if "eating" in manners and any(thing.classes and not thing.is_a("food", "liquid", "vessel") for thing in things):
        yield "poison", last
    if "edge" in manners and any(thing.is_a("fragile", "heavy", "sharp", "candle") for thing in things):
        yield "breakage", last
    if "pieces" in manners and verbs & {"break", "drop", "throw", "put"}:
        yield "sharp", last
