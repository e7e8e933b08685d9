"""Finds the decisions that sentences report, with day and reason, and entries that report no decision. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from contracts.world.extraction.figures import DAY
from contracts.world.extraction.findings import Part
from contracts.world.extraction.motions import is_not_carried
from contracts.world.extraction.phrases import any_of, phrases
from contracts.world.extraction.vocabulary import load_vocabulary

_LONGEST_SENTENCE = 300
_UNSURE = rf"(?:{any_of('unsure')})\b"
"""First words of sentences that report no decision."""
_NOUN = r"(?!(?:never|not|hardly|barely|almost|nearly|that|who|which)\b)[\w-]{1,30}"
_FRENCH = r"\s(?:l[ea]s?|une?|des|nous|ils?|elles?|on|ce|cette|ces|notre|nos|personne|aucun)\b|\s[ldnc]['’]|\squ"
_DUTCH = r"\s(?:de|het|een|er|we|wij|dat|dit|die|deze|ze|zij|hij|niemand)\b"
_BECAUSE = re.compile(
    rf",?\s(?:because\sof|{any_of('because', space=' ')})\s"
    rf"|,\s(?:denn|pois|car(?={_FRENCH})|want(?={_DUTCH}))\s",
    re.IGNORECASE,
)
"""Words before a reason. "Car" and "want" are English words too, so a French or Dutch word must follow them."""
_BUT = re.compile(r"\b(?:but|however|though|although|only to)\b", re.IGNORECASE)
"""Words within a decision that may introduce its reversal: "to move but stayed"."""
_JOKE = re.compile(
    rf"(?:^|[.!?…,;]\s+|\n|\(|[–—-]\s)(?:(?:haha|lol|no|nein|non|nee),?\s)?(?:{any_of('joke')})(?=\W*(?:$|\n|[.!)]))",
    re.IGNORECASE,
)
"""A remark that makes the sentence before it a joke: "just kidding"."""
_REVERSED_BEHIND = re.compile(
    rf"\b(?:{any_of('but')})\b(?:[^.!?\n]|[.](?=\w))*\b(?:{any_of('reversed')})\b", re.IGNORECASE
)
_REVERSED_AFTER = re.compile(
    r"[.!]\s+"
    rf"(?=[^.!?\n]*\b(?:{any_of('the_decision')})\b)(?=[^.!?\n]*\b(?:{any_of('reversed')})\b)(?![^.!?\n]*\b(?:if|when|unless|not|never)\b)",
    re.IGNORECASE,
)
"""A sentence about the reversal of the decision before it: "We later reversed that."."""
_LONGEST_REMARK = 200
_HAD = re.compile(r"\shad\s")
_YET = re.compile(r"[.!]\s+(?:But|However|Yet|Instead|Still|Then|Now|Later)\b")
"""First words of a sentence that reports the reversal of what "had been decided"."""
_REST = r"(?P<what>(?:[^.!?。]|[.](?=\w)){3,300}?)(?=[.!](?:\s|$)|$)"
_RESOLVED = re.compile(
    rf"\bRESOLVED(?:\s?[–—:-])?\s+(?i:to|that)\s+{_REST}"
    r"|\b[Ww]e(?:\shave|['’]ve)?(?:\sall)?\s(?:agreed|decided):\s(?!nothing\b|no\s(?:decision|change)\b)"
    rf"{_REST.replace('what', 'agreed')}"
    r"|(?<=\band\s)it\swas\s(?:unanimously\s)?(?:decided|agreed|resolved)\s(?:to|that)\s"
    rf"{_REST.replace('what', 'also')}",
)
"""A resolution in minutes: "RESOLVED - To order the signs", or one that follows its reason: "and it was resolved that".
"""
_BEGINS = r"(?:(?<=^)|(?<=[.!?]\s)|(?<=\n))"
_WIR = r"(?:Wir|(?<=\n\n)wir)"
"""German "we". The sentence after the greeting of a mail begins with a small letter."""
_DECIDED_ELSEWHERE = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"{_BEGINS}(?:(?:Der|Die|Das)(?:\s\w[\w-]*){{1,3}}?|{_WIR}|Es)\s(?:(?:hat|haben|wurde|wird|einstimmig|gemeinsam|daher|auch)\s)*"
        r"(?:beschließt|beschließen|beschloss|beschlossen|entschied|entschieden),?\s(?:dass\s)?"
        rf"(?!(?:nicht|nichts|noch|erst|über|ob|kein\w*|sich)\b){_REST}",
        rf"{_BEGINS}(?:(?:L[ea]s?\s|L['’])\w+(?:\s(?!pas\b|jamais\b)\w+)?|Nous\savons|On\sa|Il\sa\sété|Il\sest)\s"
        rf"(?:décide|décident|décidé|convenu)\s(?:à\sl['’]unanimité\s|,\s)*(?:de\s|d['’]|que\s|qu['’]){_REST}",
        rf"{_BEGINS}(?:(?:Se|Se\sha|Hemos|La\s[Jj]unta|El\s[Cc]onsejo)\s(?:acuerda|acordó|acordado|decide|decidió|decidido)|Decidimos|Acordamos)\s"
        rf"(?:por\sunanimidad\s)?(?!de\s)(?:que\s)?{_REST}",
        rf"{_BEGINS}(?:{_WIR}|Der\s\w+|Die\s\w+)\s(?:haben|hat)\s(?:uns|sich)\s(?P<what>(?:für|gegen)\s(?:[^.!?。]|[.](?=\w)){{3,200}}?)\sentschieden"
        rf"(?P<why>,\s(?:weil|da|denn)\s[^.!?]{{3,200}})?(?=[.!](?:\s|$)|$|\sund\s)",
        rf"{_BEGINS}(?:È\sstato|Si\sè|Abbiamo|Il\s\w+\sha|La\s\w+\sha|L['’]\w+\sha)\s(?:deciso|deliberato|concordato)\s"
        rf"(?:all['’]unanimità\s)?(?:di\s|che\s){_REST}",
        rf"{_BEGINS}(?:(?:Ficou|Foi|Está)\s(?:decidido|acordado|deliberado)|Decidiu-se|Deliberou-se|[OA]\s\w+\sdecidiu)\s"
        rf"(?:por\sunanimidade\s)?(?:que\s|(?=\w+[aeio]r\b)){_REST}",
        rf"{_BEGINS}(?:Besloten\s(?:is|werd|wordt)|Er\s(?:is|werd|wordt)\sbesloten|We\shebben\sbesloten|Wij\shebben\sbesloten"
        rf"|(?:Het|De)\s\w+\sheeft\sbesloten|(?:Het|De)\s\w+\s(?:besluit|besloot)),?\s(?:unaniem\s)?(?:om\s|dat\s){_REST}",
        r"(?:^|(?<=[。\n]))(?P<what>(?![^。\n]*(?:まだ|未定|ない))[^。\n]{3,120}?)(?:こと)?(?:[にを]決定|に決め|に決まり?)(?:した|しました|た|ました|った)。",
    )
)
"""Matches a decision in a German, French, Spanish, Italian, Portuguese, Dutch or Japanese sentence."""
_CHOSEN = re.compile(
    rf"{_BEGINS}(?:So\s|Therefore,?\s)?We\s(?:have\s)?(?:chose|chosen|opted\sfor|settled\son)\s(?!not\b|to\b|between\b|nothing\b)"
    rf"(?P<what>(?:[^.!?\n]|[.](?=\w)){{2,120}}?\s(?:over|instead\sof|rather\sthan)\s(?:[^.!?。]|[.](?=\w)){{2,300}}?)(?=[.!](?:\s|$)|$)"
)
"""Matches a choice between two things: "We chose SQLite over a server"."""


class Decided(NamedTuple):
    """A decision that a sentence reports, and its day and reason if the sentence gives them."""

    when: Part | None
    what: Part
    why: Part | None


def decided_in(text: str, part: Part) -> Iterator[Decided]:
    """Yields the decisions that the sentences of a part report."""
    yield from _decided_elsewhere_in(text, part)
    for match in _CHOSEN.finditer(text, part.start, part.end):
        chosen, reason = with_reason(text, Part(*match.span("what")).trimmed(text))
        if not _BUT.search(text, *chosen) and not is_taken_back(text, Part(*match.span()), part.end):
            yield Decided(None, chosen.trimmed(text, " ,"), reason)
    if not any(word in text[part.start : part.end].lower() for word in ("decided", "agreed", "resolved")):
        return
    for match in _RESOLVED.finditer(text, part.start, part.end):
        group = next(name for name in ("what", "agreed", "also") if match[name] is not None)
        if is_taken_back(text, Part(*match.span()), part.end):
            continue
        yield Decided(None, Part(*match.span(group)).trimmed(text), None)
    for match in _decided().finditer(text[part.start : part.end]):
        when, what, why = (
            None if match.start(name) < 0 else Part(part.start + match.start(name), part.start + match.end(name))
            for name in ("when", "what", "why")
        )
        end = part.start + match.end()
        follows = _YET.match(text, end) or (why is not None and _BUT.search(text, *why))
        is_reversed = is_taken_back(text, Part(part.start + match.start(), end), part.end)
        if (
            what is not None
            and not _BUT.search(text, *what)
            and not is_reversed
            and not (follows and _HAD.search(match[0]))
        ):
            yield Decided(when, what.trimmed(text), why and why.trimmed(text))


def is_taken_back(text: str, sentence: Part, end: int) -> bool:
    """Decides whether the sentence of a decision, or the text after it up to `end`, reverses it or calls it a joke."""
    if _REVERSED_BEHIND.search(text, *sentence) or _REVERSED_AFTER.match(text, sentence.end, end):
        return True
    return is_joke(text[sentence.end : min(end, sentence.end + _LONGEST_REMARK)])


def is_joke(behind: str) -> bool:
    """Decides whether a text begins with a remark that makes the text before it a joke, or ends with one."""
    return _JOKE.search(behind) is not None


def _decided_elsewhere_in(text: str, part: Part) -> Iterator[Decided]:
    for form in _DECIDED_ELSEWHERE:
        for match in form.finditer(text, part.start, part.end):
            if is_taken_back(text, Part(*match.span()), part.end):
                continue
            what, why = with_reason(text, Part(*match.span("what")).trimmed(text))
            if why is None and match.re.groupindex.get("why") and match["why"] is not None:
                why = Part(match.end("why") - len(match["why"].split(" ", 2)[2]), match.end("why"))
            yield Decided(None, what.trimmed(text, " ,"), why)


@cache
def _decided() -> re.Pattern[str]:
    """Returns the pattern of an English sentence that reports a decision.

    A full stop after an initial ends the sentence before a word that opens one: "Take plan B. It is safe."
    """
    abbreviated = "|".join(rf"(?<=\b{re.escape(word)})" for word in phrases("abbreviations"))
    openers = "|".join(map(re.escape, sorted(load_vocabulary().openers)))
    short = rf"(?:(?:{abbreviated})[.]\s\S|(?<=\b[A-Z])[.]\s(?!(?i:{openers})\b)[A-Z])"
    words = rf"(?:[^.!?]|[.](?=\w)|(?={short})[.]){{3,300}}?"
    return re.compile(
        rf"{_BEGINS}(?!{_UNSURE})"
        r"(?:(?:On|In|At|Yesterday|Today|So)\b(?![^,.!?\n]{0,40}\b(?i:nobody|none|neither|if|when|unless|whether)\b)"
        rf"[^,.!?\n]{{0,40}},? )?(?!{_UNSURE})"
        rf"(?:We|(?<=^)we|It\swas|The(?: {_NOUN}){{1,3}}|[A-Z][\w’'-]{{1,30}}(?: [A-Z][\w’'-]{{1,30}}){{0,2}})"
        r"\s(?:(?:have|has|had|also|then|finally|all|therefore|unanimously)\s){0,3}(?:decided|agreed|resolved)"
        rf"(?:,?\son\s(?P<when>{DAY}(?:, {DAY})?),?(?=\s(?:to|that|on)\s))?"
        r"(?!\sto\s(?:an?|the|its|their|null|undefined|true|false)\b(?<!agreed\s))"
        rf"\s(?:to|that|on(?!\s(?:{DAY}|nothing|none|no)\b))\s(?P<what>{words})"
        rf"(?:,?\sbecause\s(?P<why>{words}))?(?=[.!](?:\s|$)|$)(?!{short})"
    )


def with_reason(text: str, sentence: Part) -> tuple[Part, Part | None]:
    """Returns a decision's sentence without its reason, and the reason."""
    match = _BECAUSE.search(text, sentence.start, sentence.end)
    if match is None or match.start() == sentence.start or match.end() == sentence.end:
        return sentence, None
    return Part(sentence.start, match.start()), Part(match.end(), sentence.end)


def is_undecided(text: str) -> bool:
    """Decides whether an entry in a list of decisions is not a decision: a question, "Pricing is postponed to May".

    An ambiguous entry, such as "The launch is postponed to May", does not count as a decision.
    """
    text = text[:_LONGEST_SENTENCE]
    if _QUESTION.search(text) or any(form.search(text) for form in _denied_or_reported()):
        return True
    if is_not_carried(text):
        return True
    rejecting = load_vocabulary().rejecting
    last = _LAST_WORD.search(text)
    if last is not None and last["word"].lower() in rejecting:
        return True
    return _DECIDED_TO.search(text) is None and any(form.search(text) for form in (*_UNDECIDED, *_left_open()))


_QUESTION = re.compile(r"^[^.!]*\?(?=\s+[A-Z])|\?\W*$|^(?i:whether|if we)\b")
_DECIDED_TO = re.compile(
    r"(?<!not )(?<!yet )(?<!nothing )(?<!no one )(?<!nobody )\b(?:decided|agreed|resolved) (?:not )?(?:to|that|on)\b",
    re.IGNORECASE,
)
"""Words that make an entry a decision, regardless of what follows."""
_NONE = r"no (?:final |formal |clear )?(?:decisions?|agreements?|consensus|resolution)"
_MADE = "(?:decided|agreed|resolved|settled|concluded)"
_LATER = (
    r"(?=\s*(?:$|[.,;:!()–—-]|(?:to|until|till|for|by|due|because|as|since|after|again|indefinitely|pending|once)\b))"
)
_UNDECIDED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:there (?:was|were|is|has been) )?{_NONE}\b(?! (?:without|is|are|by)\b)",
        rf"\b{_NONE} (?:was|were|has been|have been|could be|yet|reached|made|taken)\b",
        rf"^(?:nothing|none)\b.*\b{_MADE}\b",
        rf"(?:\bnot|n[’']t) (?:yet )?(?:been )?(?:{_MADE}|decide|agree|reach)\b",
        rf"\b(?:failed|unable) to (?:decide|agree)\b|\b(?:un|not |yet to be )(?:decided|resolved|settled)\b{_LATER}",
        rf"\b(?:postponed|deferred|adjourned|tabled|put off|on hold|under (?:discussion|review))\b{_LATER}",
        rf"(?:^|\b(?:is|are|was|were|still|remains?)\s|[:(–—-]\s*)(?:still )?pending\b{_LATER}",
        r"(?:^(?:still )?|\b(?:is|are|was|were|still|remains?|left|kept)\s|[:(–—-]\s*)open\s*(?:for now|$|[.,;)])",
        r"\b(?:will|shall|must|should|needs? to|ha(?:s|ve) to|going to|yet to|still to|to)\s(?:be )?"
        r"(?:decided?|discuss(?:ed)?|revisit(?:ed)?|agreed|clarif(?:y|ied)|settled)\b(?! (?:that|to)\b)",
        r"^(?:decide|discuss|clarify|revisit)\b(?! (?:to|that|by)\b)",
    )
)
"""Forms of an English entry that reports that there is no decision yet."""
_LAST_WORD = re.compile(r"(?:^|[:(–—]\s*|\s-\s)(?P<word>[^\W\d_]+)\)?\W*$")
"""An entry of one word, or the single word after its colon: "Proposal to buy a harp: rejected"."""


class _Denial(NamedTuple):
    """Patterns of one language for entries that report that nothing is decided."""

    denied: str
    """Denials before a verb of deciding."""
    none: str
    """Beginnings of an entry that reports no decision."""
    thought: str
    """Conjunctions between a verb of thinking or saying and its clause."""


_DENIALS = {
    "en": _Denial(
        r"^(?:nobody|no\sone|neither|none)(?:\s(?:of|in|on)\s(?:\w+\s)?\w+)?(?:\s(?:has|have|had|yet|ever))*\s",
        rf"(?:we\s|they\s|it\s)?(?:\w+\s){{0,2}}(?:{any_of('decided', 'en')})\s(?:on\s)?nothing\b"
        r"(?=\s*(?:$|[.,;:!(–—-]|(?:yet|so\sfar|today|new|else|about|on|for|in|at)\b))",
        r"\s(?:that\s|whether\s|if\s)?",
    ),
    "de": _Denial(
        r"(?:\b(?:nicht|nichts|nie|noch\snicht)\s(?:(?:endgültig|abschließend|abschliessend|definitiv|formell|einstimmig|mehr)\s)?"
        r"|^(?:niemand|keiner)(?:\svon\s\w+)?\s(?:(?:hat|hatte)\s)?)",
        r"(?:noch\s)?kein\w*\s(?:beschluss|entscheid|entscheidung|einigung)\b(?!\s(?:ohne|ist|wird))",
        r",?\s",
    ),
    "fr": _Denial(
        r"(?:\bn(?:['’]|e\s)[^.,;:]{0,25}\b(?:pas|rien|jamais)\s(?:(?:encore|été|non\splus)\s){0,2}"
        r"|^(?:rien|personne|aucune?\s\w+)\sn(?:['’]|e\s)\w+\s(?:(?:encore|été)\s){0,2}|^(?:pas\sencore|pas|non)\s)",
        r"(?:pas\s(?:encore\s)?de|aucune)\sdécision\b(?!\s(?:sans|ne|n['’]est))",
        r"\s(?:que?\b|qu['’]|si\b)",
    ),
    "es": _Denial(
        r"(?:\b(?:no|nunca|jamás|tampoco)\s(?:se\s)?(?:(?:ha|han|he|hemos|había|fue|está|sido|aún|todavía)\s){0,3}"
        r"|^(?:nadie|nada|ninguno)\s(?:se\s)?(?:(?:ha|fue|sido)\s){0,2})",
        r"(?:(?:sin|ninguna|ningún|no\shay|no\shubo)\s(?:decisión|acuerdo)|sin\s(?:decidir|resolver))\b",
        r"\s(?:que|si)\b",
    ),
    "it": _Denial(
        r"(?:\bnon\s(?:si\s)?(?:(?:è|ha|hanno|abbiamo|stato|ancora|mai|nulla|niente)\s){0,4}"
        r"|^(?:nessuno|niente|nulla)\s(?:(?:è|ha|stato|ancora)\s){0,3})",
        r"(?:nessuna\s(?:decisione|delibera)|nessun\saccordo)\b",
        r"\sche\b",
    ),
    "pt": _Denial(
        r"(?:\bnão\s(?:se\s)?(?:(?:foi|está|ficou|sido|ainda|nada)\s){0,3}|^(?:ninguém|nada)\s(?:se\s)?(?:(?:foi|ainda)\s){0,2})",
        r"(?:nenhuma|sem)\s(?:decisão|deliberação)\b",
        r"\sque\b",
    ),
    "nl": _Denial(
        r"(?:\b(?:niet|niets|nooit|nog\sniet)\s(?:(?:definitief|unaniem)\s)?|^niemand\s(?:(?:heeft|had)\s)?)",
        r"(?:nog\s)?geen\s(?:besluit|beslissing|akkoord)\b",
        r",?\s(?:dat|of)\b",
    ),
}
_STILL = rf"(?:(?:{any_of('still')})\s)?"
_UNTIL_LATER = rf"(?=\s*(?:$|[.,;:!()–—-]|(?:{any_of('until_later')})\b))"


@cache
def _denied_or_reported() -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of entries that deny a decision, or only report somebody's opinion."""
    return tuple(
        re.compile(
            rf"{form.denied}(?:{any_of('decided', language)})\b|^{form.none}"
            rf"|(?:^(?:[^\W\d][\w.’'-]*\s){{1,3}}?(?:{any_of('thinks', language)}){form.thought}.*"
            rf"|^(?:{any_of('hearsay', language)})\b.*)\b(?:{any_of('decided', language)})\b",
            re.IGNORECASE,
        )
        for language, form in _DENIALS.items()
    )


@cache
def _left_open() -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of entries about something open or postponed: "Vertagt: neue Lampen"."""
    patterns = []
    for language in _DENIALS:
        later = f"(?:{any_of('left_open', language)})"
        patterns.append(
            re.compile(
                rf"^(?:(?:{any_of('decision')})\s)?{_STILL}{later}{_UNTIL_LATER}"
                rf"|(?:[:(–—]\s*|\s-\s){_STILL}{later}{_UNTIL_LATER}"
                rf"|\b(?:{any_of('remains', language)})\s(?:[\w.-]+\s){{0,4}}?{later}\W*$",
                re.IGNORECASE,
            )
        )
    return tuple(patterns)
