"""Finds where a mail ends and the older mail that it answers or forwards begins. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_REPLIED = re.compile(
    r"^[> ]*(?:On|Am|Le|El|Il|Em|Op)\s[^\n]{5,150}\s"
    r"(?:wrote|a\sécrit|escribió|ha\sscritto|escreveu|(?:schrieb|schreef)\b[^\n:]{0,80})\s?:[ \t\r]*$",
    re.MULTILINE,
)
"""The line of a reply that introduces the quoted mail."""
_BY_PROGRAM = re.compile(r"\d:\d\d|[\w.+-]@\w")
"""A time or an address, which such a line contains if a program wrote it."""
_SEPARATED = re.compile(
    r"^[> ]*[–—_-]{2,20}[ \t]?(?:Original (?:message|appointment)|Ursprüngliche Nachricht|Message d['’]origine"
    r"|Mensaje original|Messaggio originale|Mensagem original|Oorspronkelijk bericht|Forwarded message"
    r"|Weitergeleitete Nachricht|Message transféré|Mensaje reenviado|Messaggio inoltrato"
    r"|Mensagem (?:encaminhada|reencaminhada)|Doorgestuurd bericht)[ \t]?[–—_-]{2,20}[ \t\r]*$"
    r"|^(?:Begin forwarded message|Anfang der weitergeleiteten Nachricht|Début du message (?:réexpédié|transféré)"
    r"|Inicio del mensaje reenviado|Inizio messaggio inoltrato|Início da mensagem (?:encaminhada|reencaminhada)"
    r"|Begin doorgestuurd bericht)\s?:[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A separator line above a whole mail that the text answers or forwards."""
_FROM = re.compile(r"^[ \t]*\*{0,2}(?:From|Von|De|Da|Van)\s?:", re.MULTILINE)
_NAME = re.compile(r"[ \t]*\*{0,2}(?P<name>[A-Za-zÀ-ÿ]+(?: [a-z]+)?)\s?:")
_SENT = frozenset({"sent", "gesendet", "envoyé", "enviado", "enviado el", "enviada em", "inviato", "verzonden"})
_DATED = _SENT | {"date", "datum", "fecha", "data"}
_SUBJECT = frozenset({"subject", "betreff", "objet", "asunto", "oggetto", "assunto", "onderwerp"})
_MOST_LINES = 8
"""Maximum number of lines in the head of a mail."""
_LINE = re.compile(r"^[ \t]*\S", re.MULTILINE)
_TEXT_LINE = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)
"""The beginning of a line that is not a heading."""
_ABOVE = re.compile(r"\n[ \t\r]*\n$")
_RULE = re.compile(r"_{8,}[ \t\r]*\n\s*$")
_FURTHEST = 200
"""Number of characters before the head of a mail that are examined to decide whether it is one."""


def older_mail_in(text: str) -> int:
    """Returns where an older mail begins whose lines have no ">". Without such a mail, that is the end of the text."""
    is_mail = _is_head(_head_at(text, len(text) - len(text.lstrip())), _DATED | _SUBJECT)
    starts = [
        *(match.start() for match in [_SEPARATED.search(text)] if match is not None),
        *(match.start() for match in _REPLIED.finditer(text) if _is_unquoted(text, match, is_mail=is_mail)),
        *_heads_in(text, is_mail=is_mail),
    ]
    return min(starts, default=len(text))


def _is_unquoted(text: str, replied: re.Match[str], *, is_mail: bool) -> bool:
    """Decides whether the older mail below the introducing line of a reply has no ">" before its lines."""
    below = text[replied.end() : replied.end() + 1_000].lstrip()
    is_sure = is_mail or _BY_PROGRAM.search(replied[0]) is not None
    return is_sure and below != "" and not below.startswith(">") and not replied[0].startswith(">")


def _heads_in(text: str, *, is_mail: bool) -> Iterator[int]:
    """Yields the offsets of mail heads below other text: "From: ...", "Sent: ...", "Subject: ..."."""
    begin = _LINE.search(text)
    first = _TEXT_LINE.search(text)
    for match in _FROM.finditer(text):
        names = _head_at(text, match.start())
        if begin is None or match.start() <= begin.start() or not _is_head(names, _DATED):
            continue
        above = _ABOVE.search(text, max(0, match.start() - _FURTHEST), match.start())
        is_below_text = first is not None and first.start() < match.start()
        is_apart = above is not None and (is_mail or (not names.isdisjoint(_SENT) and is_below_text))
        if is_apart or _RULE.search(text, max(0, match.start() - _FURTHEST), match.start()):
            yield match.start()


def _head_at(text: str, start: int) -> frozenset[str]:
    """Returns the names of the header lines from an offset on, up to the first blank line."""
    names = set()
    for line in text[start : start + 4_000].split("\n", _MOST_LINES)[:_MOST_LINES]:
        if not line.strip():
            break
        if (match := _NAME.match(line)) is not None:
            names.add(match["name"].lower())
    return frozenset(names)


def _is_head(names: frozenset[str], others: frozenset[str]) -> bool:
    is_from = not names.isdisjoint({"from", "von", "de", "da", "van"})
    return is_from and not names.isdisjoint(_SUBJECT) and not names.isdisjoint(others)
