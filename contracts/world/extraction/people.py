"""Finds names of people in prose where the words around them leave no doubt, and the names behind handles. Pure.

A name is a person's after a title ("Dr. Eva Sand"), next to a role ("Wei Zhang, our CFO", "CFO Wei Zhang", "her brother
Tom"), before an address ("Wei Zhang <wei@a.example>"), if an address spells it ("wei.zhang@a.example"), before a verb
whose subject is always a person ("Ada Lovelace said"), or if it has the surname of somebody found in these ways. Two
capitalised words without such a sign may be a town or a product.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from contracts.world.extraction.findings import Part
from contracts.world.extraction.phrases import any_of
from contracts.world.extraction.vocabulary import load_vocabulary

MOST_PEOPLE = 100
"""Maximum number of people that the prose of one document introduces."""

CAPITAL = "[A-ZÀ-ÖØ-ÞĀ-ſΑ-ΩЀ-Я]"
"""A capital letter, with which a name begins."""
_NAME_WORD = rf"(?:{CAPITAL}[\w.’'-]*|van|von|de|der|den|da|di|la|le|bin|ibn)"
NAME = re.compile(rf"{_NAME_WORD}(?: {_NAME_WORD}){{0,3}}")
"""A name as a value gives it: up to four words that begin with a capital, or particles such as "van"."""
OWNER_WORDS = f"(?:{any_of('owner', space=' ')})"
"""Words before a colon that is followed by an owner."""
OWNERS = (
    rf"(?:@[A-Za-z0-9][\w-]{{0,38}}|{NAME.pattern}(?:\s?(?:[+/&]|\b(?:and|und|et|y|e|en)\b)\s?{NAME.pattern}){{0,3}}"
    r"|[\u4e00-\u9fff々]{2,4})(?=\s*(?:[,;|·、)\]]|[–—]|\s-|$))"
)
"""The names of owners without further remarks."""
_WORD = rf"{CAPITAL}[\w’'-]{{1,30}}"
_INITIALS = rf"(?:{CAPITAL}\.? ?){{0,2}}"
PARTICLE = "(?:van|von|de|der|den|da|di|la|le)"
"""A word within a name that begins with a lower-case letter."""
_PARTICLE = f"(?:{PARTICLE}|bin|ibn|al)"
_PARTICLES = f"(?:{_PARTICLE} ){{0,2}}"
_FULL = rf"{_WORD}(?: {_PARTICLES}{_WORD}){{1,3}}"
_CAPITALS = re.compile(rf"(?<![\w@]){_WORD}(?: (?:{_PARTICLE} )?{_WORD}){{0,3}}")
_INITIALLED = re.compile(rf"(?:{CAPITAL}\.? ){{1,2}}{_WORD}")
"""A name that the bare surname replaces: "Mr D. Berry", "Mr Berry". With a full first name, relatives may share the
surname."""
_SURNAME_FIRST = re.compile(rf"(?P<surname>{_PARTICLES}{_WORD}), (?P<given>{_WORD}(?: {_WORD})?)")
_SURNAMES_FIRST = re.compile(
    rf"(?P<surname>{_PARTICLES}{_WORD}(?: {_WORD})?), (?P<given>{_WORD}(?: (?:{_WORD}|{CAPITAL}\.))?)"
)
_MAILED = re.compile(
    rf"(?<![\w@])(?P<name>{_FULL}) ?(?:<|&lt;|\()(?P<mail>[\w.+-]{{1,64}}@[\w-]+(?:\.[\w-]+)+)(?:>|&gt;|\))"
)
_FIRM = re.compile(
    rf"(?<![\w@])(?P<name>{CAPITAL}[\w’'&-]{{1,30}}(?:(?: &)? {CAPITAL}[\w’'&-]{{1,30}}){{0,3}},? "
    r"(?:Inc|Ltd|LLC|LLP|PLC|plc|GmbH|Corp|Corporation)(?!\w))"
)
_HEADS = (
    "(?:CEO|CFO|CTO|COO|CIO|CISO|CMO|CPO|CRO|CHRO|President|Chancellor|Minister|Mayor|Senator|Governor|Headteacher)"
)
"""Posts before a name: "CTO Ada Lovelace". Other posts also begin names of things: "Editor Visual Studio"."""
_HANDLE = r"@(?P<handle>[A-Za-z0-9][A-Za-z0-9_-]{0,38})"
_PAIRS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w@])(?P<name>{_FULL})\s?[(\[]{_HANDLE}[)\]]",
        rf"(?<![\w@])(?P<name>{_FULL}), (?:aka )?{_HANDLE}(?![\w@])",
        rf"(?<![\w@/.]){_HANDLE}\s?(?:[(\[]|(?:is|=|:|–|—|-)\s|=)(?P<name>{_FULL})",
        rf"(?m)^\s*(?:[-*+]|\d+[.)])\s+(?P<name>{_FULL}) {_HANDLE}(?=\s*(?:$|[(,–—]))",
    )
)
_HANDLES_BEFORE = re.compile(r"(?:@[\w-]{1,39}(?:\s?[,/&+]\s?|\s(?:and|or|nor|und|oder|et|ou|y|o|e|en)\s)){1,9}$")
"""The handles of an enumeration before its last one: "@ada, @bo and "."""
_NOT_ASSIGNED = re.compile(
    rf"(?<![\w-])(?:(?:{any_of('not_assigned')}|\w+ed\sby|(?<!assigned\s)(?<!assign\s)to)\W{{0,3}}|(?:{any_of('approached')})\s)$",
    re.IGNORECASE,
)
_TEAM = re.compile(r"\b(?:team|group|department|crew|squad|inc|ltd|llc|gmbh|ag|corp|foundation|co|university)\b", re.I)


def is_only_involved(text: str, start: int, handle: int) -> bool:
    """Decides whether the words before a handle, from `start` on, exclude that person or only involve them.

    "Dig without @bo", "cc @bo: dig" and "Call @bo" give the task to somebody else.
    """
    before = _HANDLES_BEFORE.sub("", text[max(start, handle - _LONGEST_BEFORE) : handle])
    return _NOT_ASSIGNED.search(before) is not None


def handles_in(text: str) -> dict[str, str]:
    """Returns the names that a text gives to handles, such as "Wei Zhang (@wei)", except to a handle with two names."""
    names: dict[str, set[str]] = {}
    for pattern in _PAIRS if "@" in text else ():
        for match in pattern.finditer(text):
            names.setdefault(match["handle"].lower(), set()).add(_without_openers(match["name"]))
    return {handle: min(of_handle) for handle, of_handle in names.items() if len(of_handle) == 1}


def people_in(text: str) -> list[str]:
    """Returns the names of people whom a text introduces, ordered by pattern and position."""
    names: dict[str, None] = {}
    for pattern in _patterns():
        for match in pattern.finditer(text):
            name, _ = without_post(_without_openers(match["name"]))
            if name and (" " in name or name == match["name"]) and not _names_no_person(name):
                names[name] = None
            if len(names) >= MOST_PEOPLE:
                return list(names)
    initialled = [name.split()[-1] for name in names if _INITIALLED.fullmatch(name)]
    names = {name: None for name in names if initialled.count(name) != 1}
    surnames = {name.split()[-1] for name in names}
    for match in _CAPITALS.finditer(text) if names else ():
        name, _ = without_post(_without_openers(match[0]))
        is_known = any(" " in known and name.endswith(f" {known}") for known in names)
        if (
            not is_known
            and " " in name
            and name.split()[-1] in surnames
            and len(names) < MOST_PEOPLE
            and not _names_no_person(name)
        ):
            names[name] = None
    return list(names)


def _names_no_person(name: str) -> bool:
    vocabulary = load_vocabulary()
    if " " in name and name.isupper():  # a line of a licence: "THE AUTHOR BE LIABLE FOR ANY"
        return True
    return _TEAM.search(name) is not None or vocabulary.is_post(name) or vocabulary.is_part(name)


def addressed_in(text: str, part: Part) -> Iterator[tuple[Part, str]]:
    """Yields each person's name that is followed by an address, with the address: "Wei Zhang <wei@a.example>"."""
    for match in _MAILED.finditer(text, *part):
        name = _without_openers(match["name"])
        words = name.lower().split()
        vocabulary = load_vocabulary()
        if not _TEAM.search(match["name"]) and not any(word in vocabulary.posts | vocabulary.parts for word in words):
            yield Part(match.end("name") - len(name), match.end("name")), match["mail"]


def without_post(name: str) -> tuple[str, str | None]:
    """Returns a name without the title and post before it, and the post: "CTO Ada Lovelace" gives "Ada Lovelace"."""
    vocabulary = load_vocabulary()
    words = name.split()
    titled = (number for number, word in enumerate(words[:-1]) if word.rstrip(".").lower() in vocabulary.titles)
    last = max(titled, default=-1)
    del words[: last + 1]
    length = vocabulary.length_of_post(words[:-2])
    if length and not any(vocabulary.is_part(word) for word in words[length:]):
        return " ".join(words[length:]), " ".join(words[:length])
    return " ".join(words), None


def written_out(text: str) -> list[str]:
    """Returns the names that are also spelt by an address in the text: "Ada Lovelace" by "ada.lovelace@a.example"."""
    spelt: set[tuple[str, str]] = set()
    vocabulary = load_vocabulary()
    for match in _LOCAL_PART.finditer(text):
        first, last = match["first"].lower(), match["last"].lower()
        if not {first, last} & (vocabulary.posts | vocabulary.parts | vocabulary.openers | _OF_MACHINES):
            spelt.add((first, last))
    names: dict[str, None] = {}
    for match in _CAPITALS.finditer(text) if spelt else ():
        for first, last in pairwise(match[0].split()):
            if any((spell(first), spell(last)) in spelt for spell in (_folded, _transcribed)):
                names[f"{first} {last}"] = None
    return list(names)[:MOST_PEOPLE]


_LOCAL_PART = re.compile(
    r"(?<![\w.@+-])(?P<first>[A-Za-z]{2,20})[._](?P<last>[A-Za-z]{2,20})@(?!lists?\.|groups\.)(?=[\w-])"
)
_OF_MACHINES = frozenset(
    ("reply", "noreply", "bot", "mailer", "daemon", "list", "lists", "team", "info", "office", "news")
)
_TRANSCRIPTIONS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa"})


def _folded(name: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", name.lower()) if not unicodedata.combining(char))


def _transcribed(name: str) -> str:
    return _folded(name.lower().translate(_TRANSCRIPTIONS))


def firms_in(text: str) -> Iterator[tuple[str, Part]]:
    """Yields the names of firms, recognised by their legal form: "Acme GmbH"."""
    for match in _FIRM.finditer(text):
        name = _without_openers(match["name"])
        yield name, Part(match.end() - len(name), match.end())


def given_first(name: str, *, is_one: bool = False) -> str | None:
    """Returns a name that is written surname first, "Müller, Hans", with the given name first; None for any other.

    If the text is certainly one name (`is_one`), it may have two surnames: "García Ruiz, Ana".
    """
    match = (_SURNAMES_FIRST if is_one else _SURNAME_FIRST).fullmatch(name)
    return None if match is None else f"{match['given']} {match['surname']}"


def named_in(text: str, names: dict[str, str]) -> Iterator[tuple[str, Part]]:
    """Yields the people whom a text names, with positions. `names` maps every form of a name to the full name."""
    for match in _CAPITALS.finditer(text) if names else ():
        words = [Part(word.start() + match.start(), word.end() + match.start()) for word in _SPLIT.finditer(match[0])]
        first = 0
        while first < len(words):
            for last in range(len(words), first, -1):
                part = Part(words[first].start, words[last - 1].end)
                called = _POSSESSIVE.sub("", text[part.start : part.end])
                if called in names and _is_meant(text, part, names[called]):
                    yield names[called], Part(part.start, part.start + len(called))
                    first = last
                    break
            else:
                first += 1


def _is_meant(text: str, part: Part, name: str) -> bool:
    """Decides whether a full name, or one word of it, certainly refers to that person."""
    if _THING_BEHIND.match(text, part.end) is not None:
        return False
    return " " in text[part.start : part.end] or _is_alone(text, part, name)


def _is_alone(text: str, part: Part, name: str) -> bool:
    """Decides whether one word of a name certainly refers to that person, and is not part of another name or an
    ordinary word.

    If Jonas Brandt is known, "Anna Brandt", "Brandt Street" and "Brandt & Co" are other names. If Will Baker is known,
    "Will it rain?" refers to nobody.
    """
    vocabulary = load_vocabulary()
    word = _POSSESSIVE.sub("", text[part.start : part.end])
    before = _WORD_BEFORE.search(text, max(0, part.start - _LONGEST_BEFORE), part.start)
    if before is not None and before[0].endswith("\n") and not _is_wrapped(text, part.start - 1):
        before = None
    if before is not None and before["initial"] is not None and before["initial"] != name[0]:
        return False
    if before is not None and before["word"] is not None:
        earlier = before["word"].lower()
        if earlier not in vocabulary.before_names and not vocabulary.is_post(earlier):
            return False
    is_possessive = word != text[part.start : part.end]
    is_last = text.startswith("\n", part.end) and not _is_wrapped(text, part.end)
    behind = None if is_possessive or is_last else _WORD_BEHIND.match(text, part.end)
    if behind is not None and (behind["word"] is None or behind["word"].lower() not in vocabulary.openers):
        return False
    window = (max(0, part.start - _LONGEST_BEFORE), part.start)
    lower = word.lower()
    verb = _SPOKEN.match(text, part.end)
    if is_possessive or (verb is not None and verb["verb"] in vocabulary.said):
        return True
    if _ARTICLE_BEFORE.search(text, *window) is not None:
        return lower not in vocabulary.ordinary and lower not in vocabulary.nouns
    if lower not in vocabulary.ordinary or before is not None or _TITLE_BEFORE.search(text, *window) is not None:
        return True
    return _SENTENCE_BEFORE.search(text, *window) is None and lower not in vocabulary.openers


def _is_wrapped(text: str, end: int) -> bool:
    """Decides whether the line that ends at an offset is so long that its sentence may continue on the next one."""
    return end >= _SHORTEST_WRAPPED and "\n" not in text[end - _SHORTEST_WRAPPED : end]


def called(names: list[str]) -> dict[str, str]:
    """Maps the names for each person to the full name: the full name itself, and any unshared first or last name."""
    full = list(dict.fromkeys(names))
    by_word: dict[str, set[str]] = {}
    for name in full:
        words = name.split()
        for word in {words[0], words[-1]}:
            by_word.setdefault(word, set()).add(name)
    return {word: min(of_word) for word, of_word in by_word.items() if len(of_word) == 1} | {
        name: name for name in full
    }


_SPLIT = re.compile(r"[^ ]+")
_LONGEST_BEFORE = 40
"""Maximum number of characters before a name that are examined."""
_SHORTEST_WRAPPED = 50
"""Minimum length of a line whose sentence may continue on the next one."""
_WORD_BEFORE = re.compile(rf"(?<![\w’'.-])(?:(?P<initial>{CAPITAL})\.|(?P<word>{CAPITAL}[\w’'-]*))[ \u00a0\n]$")
_WORD_BEHIND = re.compile(
    rf"[ \u00a0\n](?:{_PARTICLE} ){{1,2}}{CAPITAL}"
    rf"|[ \u00a0\n](?P<word>{CAPITAL}[\w’'-]*)"
)
_THING_BEHIND = re.compile(
    r"[ \u00a0](?:&[ \u00a0]?(?:Co|Cie|Company|Sons?|Söhne|Sohn|Töchter|Partners?|Associates|Fils|Hijos|Figli|Zonen)"
    r"|(?:GmbH|AG|KG|Inc|Ltd|LLC|Corp|SA|SARL|Foundation|Stiftung|Fondation|Street|Road|Avenue|Lane|Square|Bridge|School"
    r"|Prize|Award|Strasse|Straße|Gasse|Weg|Platz|Schule|Preis|Verlag|Holding))\b"
)
"""Words after a name that make it the name of a firm, a street or the like: "Paul Lang GmbH"."""
_SPOKEN = re.compile(r" (?P<verb>[a-z]+)")
_TITLE_BEFORE = re.compile(r"\b(?:Dr|Prof|Mr|Mrs|Ms)\.\s$")
_SENTENCE_BEFORE = re.compile(r"(?:^|[.!?:…。][^\w\s]*\s+|\n)[^\w\n]*$")
_ARTICLE_BEFORE = re.compile(
    r"\b(?:the|an?|der|die|das|dem|den|ein|eine|einen|einem|le|la|une?|el|il|de|het|een) $", re.I
)
_POSSESSIVE = re.compile(r"[’']s?$")


def _without_openers(name: str) -> str:
    """Returns a name without words that only begin a sentence: "Yesterday Ada Lovelace" gives "Ada Lovelace"."""
    words = name.split()
    while words and words[0].rstrip(".").lower() in load_vocabulary().openers:
        words.pop(0)
    return _POSSESSIVE.sub("", " ".join(words))


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    vocabulary = load_vocabulary()

    def one_of(words: frozenset[str]) -> str:
        return "(?i:" + "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) + ")"

    titled = one_of(vocabulary.honorifics).replace("?i:", "?:", 1)  # case-sensitive: "MS Word" is not a lady
    qualified = r"(?:(?:our|the|a|an|its|her|his|their|head|chief|vice|senior|lead|former|new) ){0,3}"
    whose = r"\b(?i:our|the|my|your|his|her|their)\s(?:[a-z]{2,15} ){0,2}"
    return tuple(
        re.compile(pattern)
        for pattern in (
            rf"\b{titled}\.? (?P<name>{_INITIALS}{_WORD}(?: {_WORD}){{0,2}})",
            rf"(?<![\w@])(?:{_HEADS}) (?P<name>{_FULL})",
            rf"(?<![\w@])(?P<name>{_FULL})(?:, | \(){qualified}{one_of(vocabulary.roles)}\b(?!\s\d)",
            rf"{whose}{one_of(vocabulary.roles)},? (?P<name>{_FULL})",
            rf"{whose}{one_of(vocabulary.kin)},? (?P<name>{_WORD}(?: {_WORD}){{0,2}})",
            rf"(?<![\w@])(?P<name>{_FULL}) {one_of(vocabulary.said)}\b",
            rf"(?<![\w@])(?P<name>{_WORD}(?: {_WORD}){{0,2}}) {one_of(vocabulary.gestures)}\b",
        )
    )
