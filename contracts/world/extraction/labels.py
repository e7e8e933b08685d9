"""Parses the label before a colon, a dash or a verb: "Owner: Ada", "**API** - ...", "Risk (impact: high): ..."."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.figures import DAY, DAY_WITH_YEAR
from contracts.world.extraction.findings import Part
from contracts.world.extraction.phrases import phrases
from contracts.world.extraction.vocabulary import Vocabulary, load_vocabulary, singular

_BRACKET = r"(?:\([^()\n]{0,80}\)|\[[^\[\]\n]{0,80}\])"
_LABEL = re.compile(
    rf"(?!\.\. )(?P<mark>\*\*|__|`)?(?P<label>(?:[^\s:*_`|<>(\[]|{_BRACKET})(?:[^:*_`|<>(\[\n]|{_BRACKET}){{0,48}}?)"
    rf"(?P=mark)?(?P<behind>\s*{_BRACKET})?\s*(?::(?P=mark)?(?:\s+|$)|::(?P=mark)?[ \t]+(?=\S))"
)
"""A label ends at the first colon outside brackets. Dataview writes two colons: "Cost:: 40 EUR"."""
_BRACKETED = re.compile(r"\[(?=[^\[\]\n]{1,50}::\s)[^\[\]\n]+\]|\((?=[^()\n]{1,50}::\s)[^()\n]+\)")
"""A bracketed Dataview field that fills its line: "[mood:: good]"."""
_LONG_LABEL = re.compile(r"(?:\*\*|__)?(?P<label>[^\s:.!?;*_`|<>][^:.!?;\n]{0,98}):(?:\*\*|__)?\s")
_ENDS_WITHIN = re.compile(r"[?!](?=\s)|(?:^|(?<=[\s(]))(?P<word>[^\W\d_][^\W\d_-]*)[.](?=\s)")
"""A possible sentence end within the words before a colon: "It rained. Decision: go"."""
_GOES_ON_BEHIND = re.compile(r"\s+[^\W\d_](?<=[a-zß-ÿ])")
_DAY = rf"{DAY}(?:, {DAY})?"
_QUALIFIED = re.compile(
    rf"(?P<head>[^(\[]*?)\s*(?:[(\[](?P<inner>[^()\[\]\n]+)[)\]]|(?:^|\b(?:of|on|from)\s+|(?<=\s)|,\s)(?P<day>{_DAY}))",
    re.IGNORECASE,
)
"""A label with its qualification, or only a day: "Risk (impact: high)", "Decided on 2026-03-01"."""
_DATED = re.compile(
    rf"(?P<mark>\*\*|__)?[(\[]?(?P<day>{_DAY})[)\]]?(?P=mark)?(?:\s+[–—-]{{1,2}}|(?<=[)\]])(?:\s*:)?)\s+(?=\S)"
)
"""The day of an entry before a dash, or in a bracket: "2026-03-01 - sell the boat"."""
_PAIR = re.compile(r"(?P<name>[^\W\d][\w -]{0,30}?)\s*[:=]\s*(?P<value>(?!//)\S[^:=]*)")
ONLY_DAY = re.compile(_DAY, re.IGNORECASE)
_IN_BRACKETS = re.compile(_BRACKET)
_TERM = re.compile(
    r"(?P<mark>\*\*|__|`)(?P<label>[^*_`\n]{1,80})(?P<behind>)(?P=mark)\s+"
    r"(?:[–—-]{1,2}|(?:is|are)(?!\s+(?:deprecated|removed|renamed|replaced|required|supported|disabled|enabled|ignored|fixed|added"
    r"|changed|not|no|now|still|also|only)\b)|means|refers to|stands for)\s+"
)
_WITHIN_LINE = re.compile(r"(?:\s[–—-]{1,2}\s|\s?[,;·]\s)\s*(?P<last>[^,;·]+)$")
"""The words between a dash or comma and a colon: "Book the hall - owner: Ada"."""
_VALUE_END = re.compile(
    rf"(?P<day>\b{DAY_WITH_YEAR})[.,]\s+|(?P<stop>[.])\s+(?=[^\W_a-zß-öø-ÿ]|[@*`\"“(])|\s?[;|·]\s+|(?P<comma>,)\s+"
)
"""The end of a value before other text in its line. A comma ends a value only before another label."""
_ORDINAL = re.compile(r"(?<![\w.])\d{1,2}$")
MOST_LABEL_WORDS = 5
_LONGEST_SHORT = 3
"""Maximum length of a capitalised word that may be an abbreviation at the beginning of a label: "Ltd."."""
_ABBREVIATED = frozenset(word.lower() for word in phrases("abbreviations"))
_VERBS = frozenset({"is", "are", "was", "were", "be"})
"""Last words before a colon that show that a text is not a label: "The site is: ..."."""


@dataclass
class Labelled:
    """A label and the text after it."""

    label: str
    label_part: Part
    rest: Part
    is_term: bool
    head: str
    """The label without a day or bracket that follows its name; empty if the label is only a day."""
    day: Part | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    """Names and values in a bracket: "impact: high"."""
    is_one: bool = False
    """True if the rest is an element of a list."""
    is_dashed: bool = False
    """True if a dash or a verb, rather than a colon, separates a term from its definition."""


def label_of(reading: Reading, part: Part) -> Labelled | None:
    """Matches `Label: rest`, `**Label**: rest`, `**Term** — rest`, `**Term** is rest`."""
    text = reading.text
    if text.startswith("[^", part.start):
        return None  # a footnote
    if _BRACKETED.fullmatch(text, *part):
        part = Part(part.start + 1, part.end - 1)
    for pattern in (_TERM, _LABEL):
        match = pattern.match(text, part.start, part.end)
        if match is None or text.startswith("//", match.end("label") + 1):
            continue
        label_part = Part(match.start("label"), max(match.end("label"), match.end("behind"))).trimmed(text)
        rest = Part(match.end(), part.end).trimmed(text)
        mark = match["mark"]
        is_term = mark is not None and mark in text[match.end("label") : match.end()]
        if mark == "`" and not is_term:
            continue  # a label in code shows how something is written
        if _holds_sentence(match["label"]):
            continue
        if rest.start < rest.end and _is_within_line(reading.vocabulary, match["label"]):
            continue
        is_bold = mark is not None and not is_term and not reading.vocabulary.is_field(match["label"])
        if is_bold and _is_within_sentence(reading, rest, mark):
            continue
        if mark is not None and not is_term and text.endswith(mark, rest.start, rest.end):
            rest = Part(rest.start, rest.end - len(mark)).trimmed(text)
        labelled = _qualified(reading, label_part, rest, is_term=is_term)
        if labelled is None or labelled.label.rpartition(" ")[2].lower() in _VERBS:
            continue
        labelled.is_dashed = pattern is _TERM
        if len(_IN_BRACKETS.sub("", labelled.head).split()) <= MOST_LABEL_WORDS:
            return labelled
    return None


def _is_within_sentence(reading: Reading, rest: Part, mark: str) -> bool:
    """Decides whether a sentence continues after a mark that ends within the value: "**Doctor: Mr. Vogt** says"."""
    end = reading.text.find(mark, rest.start, rest.end)
    return end >= 0 and _GOES_ON_BEHIND.match(reading.text, end + len(mark), rest.end) is not None


def _qualified(reading: Reading, part: Part, rest: Part, *, is_term: bool) -> Labelled | None:
    """Reads a label with the day or the bracket that may follow its name.

    A text whose bracket has a colon but no content of the form "impact: high" is not a label.
    """
    whole = reading.text[part.start : part.end]
    match = _QUALIFIED.fullmatch(whole)
    if match is None:
        return Labelled(whole, part, rest, is_term, whole) if ":" not in whole else None
    head = match["head"].rstrip(" *_`")
    name = Part(part.start, part.start + len(head)) if head else part
    qualification = Part(*match.span("day" if match["inner"] is None else "inner"))
    text = whole[qualification.start : qualification.end]
    if ONLY_DAY.fullmatch(text):
        day = Part(part.start + qualification.start, part.start + qualification.end)
        return Labelled(whole, name, rest, is_term, head, day)
    pairs = [_PAIR.fullmatch(piece.strip()) for piece in re.split("[,;]", text)]
    if head and all(pairs):
        stated = tuple((pair["name"], pair["value"]) for pair in pairs if pair is not None)
        return Labelled(head, name, rest, is_term, head, pairs=stated)
    if ":" in text or head != match["head"].rstrip():
        return None
    return Labelled(whole, part, rest, is_term, head if head and is_known(reading.vocabulary, head) else whole)


def without_day(reading: Reading, part: Part) -> tuple[Part | None, Part]:
    """Returns the day at the beginning of an entry, if there is one, and the rest: "2026-03-01: sell the boat"."""
    labelled = label_of(reading, part)
    if labelled is not None and not labelled.head and labelled.rest.start < labelled.rest.end:
        return labelled.day, labelled.rest
    dated = _DATED.match(reading.text, part.start, part.end)
    return (None, part) if dated is None else (Part(*dated.span("day")), Part(dated.end(), part.end))


def details_of(reading: Reading, part: Part) -> tuple[list[Labelled], Part]:
    """Returns the labels with an owner, a day or a state that a part begins with, and the text after them.

    Example: "Owner: Eva Sand. Deadline: 2026-06-02. Write the report". A single label that takes all of the text is not
    returned.
    """
    details: list[Labelled] = []
    rest = part
    while rest.start < rest.end:
        labelled = label_of(reading, rest)
        if (
            labelled is None
            or labelled.is_dashed
            or labelled.pairs
            or not _is_detail(reading.vocabulary, labelled.head)
        ):
            break
        end, following = _end_of_value(reading, labelled.rest)
        details.append(replace(labelled, rest=Part(labelled.rest.start, end)))
        rest = Part(following, part.end)
    return (details, rest) if len(details) > 1 or rest.start < rest.end else ([], part)


def _end_of_value(reading: Reading, value: Part) -> tuple[int, int]:
    """Returns the end of a value within a line, and the beginning of the text after it."""
    text = reading.text
    for match in _VALUE_END.finditer(text, *value):
        before = text[value.start : match.start()]
        if match["day"] is not None or match["comma"] is None:
            word = before.rpartition(" ")[2].lower()
            is_short = match["stop"] is not None and (len(word) < 2 or word in _ABBREVIATED | load_vocabulary().titles)
            if not is_short and not (match["stop"] is not None and _ORDINAL.search(before)):
                return match.end("day") if match["day"] is not None else match.start(), match.end()
            continue
        labelled = label_of(reading, Part(match.end(), value.end))
        if labelled is not None and _is_detail(reading.vocabulary, labelled.head):
            return match.start(), match.end()
    return value.end, value.end


def begins_label(reading: Reading, line: Part) -> bool:
    """Decides whether a line begins with a label too long to be read, which still ends the value above it."""
    match = _LONG_LABEL.match(reading.text, line.start, line.end)
    return match is not None and reading.vocabulary.begins_label(match["label"])


def is_known(vocabulary: Vocabulary, label: str) -> bool:
    """Decides whether a label announces a relation or a type."""
    return vocabulary.relation_of(label) is not None or vocabulary.type_of(label) is not None


def _is_within_line(vocabulary: Vocabulary, label: str) -> bool:
    """Decides whether the words before a colon end with a label that describes the words before it.

    "Book the hall, owner" does. "Owner, reviewer" is one label of two words.
    """
    match = _WITHIN_LINE.search(label)
    if match is None or not _is_detail(vocabulary, match["last"]):
        return False
    before = label[: match.start()]
    return vocabulary.relation_of(before) is None and not _is_detail(vocabulary, before)


def gives_detail(vocabulary: Vocabulary, text: str) -> bool:
    """Decides whether a text begins like a label that ends with another label for the words before it."""
    match = _LABEL.match(text)
    return match is not None and _is_within_line(vocabulary, match["label"])


def _is_detail(vocabulary: Vocabulary, label: str) -> bool:
    """Decides whether a label gives a thing's owner, day or state."""
    word = singular(label)
    relation = vocabulary.relation_of(label)
    is_party = relation is not None and relation.type != "MENTIONS" and relation.to in ("Person", "Organization")
    return is_party or word in vocabulary.dues or word in vocabulary.states or word in vocabulary.ends


def has_sentence_before_colon(text: str) -> bool:
    """Decides whether a text begins like a label that contains the end of a sentence."""
    label = _LABEL.match(text)
    return label is not None and _holds_sentence(label["label"])


def _holds_sentence(label: str) -> bool:
    """Decides whether the words before a colon contain the end of a sentence and so are not a label."""
    for match in _ENDS_WITHIN.finditer(label):
        word = match["word"]
        if word is None:
            return True
        is_short = len(word) == 1 or (match.start() == 0 and word[0].isupper() and len(word) <= _LONGEST_SHORT)
        is_abbreviated = word.lower() in _ABBREVIATED or word.lower() in load_vocabulary().titles
        if not is_short and not is_abbreviated:
            return True
    return False
