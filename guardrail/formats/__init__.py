"""Finds secrets, account numbers and personal data in a text, by their shape: formats, check digits, entropy, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal

import re2

from guardrail.formats import personal, values
from guardrail.formats.table import CREDENTIALS
from guardrail.record import record

Confidence = Literal["certain", "likely", "possible"]
Category = Literal["secret", "account_number", "personal_data"]

MAX_FINDINGS = 64
_SHORTEST = 8
"""Length of the shortest text that can contain a finding."""
SHORTEST_SHOWN = 12
"""Minimum length of a secret for its first four characters to be shown."""

_LINES_TOGETHER = 50
"""Number of lines that are searched as one text, which takes a fifth of the time of one search per line."""

__all__ = ["MAX_FINDINGS", "Category", "Confidence", "Finding", "find", "masked", "without_findings"]


@record
class Finding:
    """A part of a text that is a secret, an account number or personal data. `kind` is the name of its format."""

    kind: str
    confidence: Confidence
    start: int
    end: int
    category: Category = "secret"


def find(text: str) -> tuple[Finding, ...]:
    """Returns the findings in a text, in order, without overlaps: the most specific shape wins. At most
    `MAX_FINDINGS`."""
    if len(text) < _SHORTEST:
        return ()
    found: list[Finding] = []
    for number in _occurring(text):
        for finding in _ROWS[number][1](text):
            if len(found) >= MAX_FINDINGS:
                return _in_order(found)
            if not any(finding.start < known.end and known.start < finding.end for known in found):
                found.append(finding)
    return _in_order(found)


def without_findings(lines: Sequence[str]) -> Iterator[str]:
    """Yields the lines in which `find` finds nothing. None of them contains a line break.

    A shape that occurs in a line also occurs in a text with this line, so lines are searched one by one only if some
    shape occurs in the text, possibly across two lines.
    """
    for first in range(0, len(lines), _LINES_TOGETHER):
        together = lines[first : first + _LINES_TOGETHER]
        if _occurring("\n".join(together)):
            yield from (line for line in together if not find(line))
        else:
            yield from together


def masked(text: str, findings: tuple[Finding, ...] | None = None) -> str:
    """Shortens the findings in a text to their first characters, and short ones to nothing. Without `findings`, masks
    everything that `find` finds, even beyond `MAX_FINDINGS`."""
    if findings is not None:
        return _without(text, findings)
    # A masked finding isn't found again and is shorter, so this ends.
    while (shorter := _without(text, find(text))) != text:
        text = shorter
    return text


def _without(text: str, findings: tuple[Finding, ...]) -> str:
    parts, at = [], 0
    for finding in findings:
        shown = 4 if finding.end - finding.start >= SHORTEST_SHOWN else 0
        parts += [text[at : finding.start + shown], "***"]
        at = finding.end
    shorter = "".join([*parts, text[at:]])
    return shorter if len(shorter) < len(text) else text


def _in_order(found: list[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda finding: finding.start)) if found else ()


@cache
def _compiled(pattern: str) -> Any:
    return re2.compile(pattern)


_Search = Callable[[str], Iterator[Finding]]


def _credential_search(number: int) -> _Search:
    shape = CREDENTIALS[number]

    def search(text: str) -> Iterator[Finding]:
        pattern = _compiled(shape.pattern)
        group = 1 if pattern.groups else 0
        for match in pattern.finditer(text):
            value = match.group(group)
            if values.entropy_without_prefix(value) < shape.least_entropy or values.is_filler(value):
                continue
            passed = shape.check(value) if shape.check else True
            if passed or not shape.check_decides:
                yield Finding(shape.kind, "certain" if passed else "likely", match.start(group), match.end(group))

    return search


def _number_search(number: personal.Number, category: Category) -> _Search:
    def search(text: str) -> Iterator[Finding]:
        if number.names and not _compiled(number.names).search(text):
            return
        for match in _compiled(number.pattern).finditer(text):
            if number.check(match.group(0)):
                yield Finding(number.kind, "likely", match.start(), match.end(), category)

    return search


def _bulk_search(kind: str, source: str) -> _Search:
    def search(text: str) -> Iterator[Finding]:
        matches = [match for match in _compiled(source).finditer(text) if not values.is_filler(match.group(0))]
        if len({match.group(0).lower() for match in matches}) >= personal.BULK:
            for match in matches:
                yield Finding(kind, "likely", match.start(), match.end(), "personal_data")

    return search


_URL_USER = r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{0,80}:([^\s/@'\"]{3,200})@([\w.-]+|\[)"
_AUTHORIZATION = (
    r"(?i)\b(?:proxy-)?authorization\b['\"]?\s*[:=]\s*['\"]?"
    r"(?:(basic|bearer|token|digest|apikey|ssws)\s+)?([A-Za-z0-9+/=._~-]{8,900})"
)
_BASIC_USER = r"(?:\s-u\s*|--user[ =]|--proxy-user[ =])['\"]?[^\s:'\"]{1,80}['\"]?:['\"]?([^\s'\"]{3,200})"
_NETRC = r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S{3,200})"
_HEADER_KEY = r"(?i)(?:api-?key|token|secret|auth)[\w-]{0,10}['\"]?\s*:\s*['\"]?([A-Za-z0-9+/=._~-]{8,400})"
_NAMED = (
    r"(?i)(?:passw(?:or)?d|passwd|pwd|passphrase|secret|token|api[_.-]?key|access[_.-]?key|auth[_.-]?key"
    r"|private[_.-]?key|signing[_.-]?key|encryption[_.-]?key|client[_.-]?key|credentials?|_key|\bkey|masterkey"
    r"|license[_.-]?key|\bpass\b|_pass\b|\bpw\b|\bpw_|seed[ _-]?phrase|mnemonic)([\w.-]{0,30})"
    r"['\"\]]{0,2}\s{0,5}(?:=>|:=|==?|:|,|\bis\b|\bvalue\s?=)\s{0,5}"
    r"(['\"`]{0,3})([^\s'\"`,;<>]{6,300})"
)
_NO_QUOTE = ("", "''", '""')
"""Quotes before a value that is not quoted itself: two of them are an empty text, after which code continues."""
_BETWEEN = "=:,"
"""Characters between a name and its value, if there is no "is"."""
# Suffixes after "key" or "token" in names of values that aren't the secret itself.
_ABOUT_ANOTHER = (
    r"(?i)(?:ids?|names?|urls?|uri|audience|paths?|files?|types?|len(?:gth)?|size|count|expir\w*|age)$"
    r"|^(?:words?|boards?|frames?|codes?|downs?|ups?|press|maps?|bind(?:ing)?s?|rings?)\b"
)
_NAMED_FILE = r"@[\w./~-]{1,200}\.(?:txt|json|ya?ml|pem|key|env|crt|p12|b64|pub|asc)$"
# Services whose keys have no distinctive shape: the name precedes the key.
_VENDORS = (
    r"(?i)\b(?:adobe|adyen|aiven|airtable|algolia|alibaba|amplitude|asana|atlassian|auth0|aws|azure|beamer|binance"
    r"|bitbucket|bittrex|box|bugsnag|cloudflare|codecov|cohere|coinbase|confluent|contentful|datadog|deepgram|discord"
    r"|dropbox|etsy|facebook|fastly|finnhub|flickr|freshbooks|freshdesk|gcp|gitea|gitter|gocardless|grafana|heroku"
    r"|hetzner|hubspot|infura|intercom|jfrog|jira|klaviyo|kraken|kucoin|launchdarkly|linear|linkedin|linode|logzio"
    r"|looker|mailchimp|mailgun|mapbox|mattermost|messagebird|microsoft|mistral|mixpanel|netlify|newrelic|notion|okta"
    r"|onelogin|openai|opsgenie|pagerduty|paypal|pipedrive|plaid|postman|postmark|privateai|rapidapi|reddit|rollbar"
    r"|scalingo|segment|sendbird|sendgrid|sentry|shippo|shopify|slack|snyk|sonar|sourcegraph|spotify|square|stripe"
    r"|strava|sumologic|telegram|travis|trello|twilio|twitch|twitter|typeform|vonage|vultr|wandb|yandex|zendesk|zoom)"
)
_VENDOR = _VENDORS + r"[\w .-]{0,24}['\"]?\s{0,3}(?:=>|:=|=|:|\s)\s{0,3}['\"]?([A-Za-z0-9_+/=-]{16,120})(?:$|[^\w.:/])"
_KEY_NAME = r"(?i)key|token|secret|auth"
_DIGIT = re.compile(r"\d")
_PUBLIC_BLOCK = (
    r"(?s)-----BEGIN [A-Z0-9 ]{0,20}(?:CERTIFICATE|PUBLIC KEY|SIGNATURE|CERTIFICATE REQUEST|CRL|PUBLIC KEY BLOCK)-----"
    r".*?-----END"
)
"""Certificates, public keys and signatures: their content looks random, but is meant to be seen."""
_TOKENS = r"(?:^|[^A-Za-z0-9+/=_.:-])([A-Za-z0-9+/_-]{20,200}={0,2})(?:$|[^A-Za-z0-9+/=_.-])"


def _url_passwords(text: str) -> Iterator[Finding]:
    for match in _compiled(_URL_USER).finditer(text) if "@" in text else ():
        nearby = "." not in match.group(2) or match.group(2).startswith("127.")
        if not values.is_reference(match.group(1)) and not (nearby and values.is_placeholder(match.group(1))):
            yield Finding("url-password", "likely", match.start(1), match.end(1))


def _authorizations(text: str) -> Iterator[Finding]:
    for match in _compiled(_AUTHORIZATION).finditer(text):
        value = match.group(2)
        if len(value) >= 12 and (match.group(1) or values.is_random(value)) and not values.is_placeholder(value):
            yield Finding("authorization-header", "likely", match.start(2), match.end(2))


def _basic_users(text: str) -> Iterator[Finding]:
    for pattern, needed in ((_BASIC_USER, ":"), (_NETRC, "machine")):
        if needed not in text:
            continue
        for match in _compiled(pattern).finditer(text):
            value = match.group(1).strip("{}")
            if not values.is_placeholder(value):
                confidence: Confidence = "likely" if values.is_random(value) else "possible"
                yield Finding("basic-credentials", confidence, match.start(1), match.end(1))


def _named(text: str) -> Iterator[Finding]:
    for match in _compiled(_HEADER_KEY).finditer(text) if ":" in text else ():
        if not values.is_placeholder(match.group(1)) and values.is_random(match.group(1)):
            yield Finding("header-key", "likely", match.start(1), match.end(1))
    if text.isascii() and not any(sign in text for sign in _BETWEEN) and "is" not in text.lower():
        return
    for match in _compiled(_NAMED).finditer(text):
        value = match.group(3).rstrip(".,;)]}")
        if len(value) < 6 or value.endswith(":") or values.is_placeholder(value):
            continue  # too short, a name before its own value, or a placeholder
        if _compiled(_ABOUT_ANOTHER).search(match.group(1)) or _compiled(_NAMED_FILE).match(value):
            continue
        listed = "," in text[match.end(1) : match.start(2)]
        if values.is_expression(value) and (listed or match.group(2) in _NO_QUOTE):
            continue
        if listed and values.is_argument(value):
            continue
        start = match.start(3)
        if values.is_random(value):
            yield Finding("named-secret", "likely", start, start + len(value))
        elif match.group(2) and not values.is_wordlike(value):
            yield Finding("named-secret", "possible", start, start + len(value))


def _vendor_keys(text: str) -> Iterator[Finding]:
    for match in _compiled(_VENDOR).finditer(text) if _DIGIT.search(text) else ():
        value = match.group(1)
        if values.is_placeholder(value) or not any(char.isdigit() for char in value):
            continue
        # Some vendors issue UUIDs as keys; then the name must contain a word for a key.
        if values.is_random(value) or (values.is_uuid(value) and _compiled(_KEY_NAME).search(match.group(0))):
            yield Finding("vendor-key", "likely", match.start(1), match.end(1))


def _high_entropy(text: str) -> Iterator[Finding]:
    public = [match.span() for match in _compiled(_PUBLIC_BLOCK).finditer(text)] if "-----BEGIN" in text else []
    for match in _compiled(_TOKENS).finditer(text):
        value = match.group(1)
        if values.is_placeholder(value) or values.is_made_of_words(value):
            continue
        if any(start < match.start() < end for start, end in public):
            continue
        if values.is_random(value) and values.is_mixed(value):
            yield Finding("high-entropy", "possible", match.start(1), match.end(1))


# A pattern that a text must contain for a search to be worth its time, and the search; the most specific first.
_ROWS: tuple[tuple[str, _Search], ...] = (
    *((shape.pattern, _credential_search(number)) for number, shape in enumerate(CREDENTIALS)),
    *((number.names or number.pattern, _number_search(number, "account_number")) for number in personal.ACCOUNTS),
    ("://", _url_passwords),
    ("(?i)authorization", _authorizations),
    (r"\s-u|--user|--proxy-user|machine\s", _basic_users),
    ("(?i)passw|pwd|passphrase|secret|token|key|credential|pass|pw|auth|phrase|mnemonic", _named),
    (_VENDORS, _vendor_keys),
    *((number.names or number.pattern, _number_search(number, "personal_data")) for number in personal.PERSONAL),
    (personal.EMAIL, _bulk_search("email-addresses", personal.EMAIL)),
    (personal.TELEPHONE, _bulk_search("telephone-numbers", personal.TELEPHONE)),
    ("[A-Za-z0-9+/_-]{20}", _high_entropy),
)
_LITERAL = re.compile(r"^(?:\\b)?((?:[A-Za-z0-9_:/ -]|\\[.$])+)(?![?*+{|])")
# An alternative outside brackets: a match may begin differently.
_ALTERNATIVES = re.compile(r"^[^()]*\||\|\\b")


def _literal(pattern: str) -> str | None:
    """Returns the text that every match begins with, if it is long enough: then no pattern is compiled to look for
    it."""
    match = _LITERAL.match(pattern)
    literal = match[1].replace("\\", "") if match and not _ALTERNATIVES.search(pattern) else ""
    return literal if len(literal) >= 3 else None


_LITERALS = tuple(
    (literal, number) for number, (pattern, _) in enumerate(_ROWS) if (literal := _literal(pattern)) is not None
)
_OF_DIGITS = frozenset(
    (personal.TELEPHONE, *(number.pattern for number in (*personal.ACCOUNTS, *personal.PERSONAL) if not number.names))
)
"""Patterns without letters to look for. Trying them takes as long as trying all others together."""
_TWO_DIGITS = re.compile(r"\d\d", re.ASCII)
_OTHERS = tuple(
    number for number, (pattern, _) in enumerate(_ROWS) if _literal(pattern) is None and pattern not in _OF_DIGITS
)
_NUMBERS = tuple(
    number for number, (pattern, _) in enumerate(_ROWS) if _literal(pattern) is None and pattern in _OF_DIGITS
)


def _filter(patterns: Iterable[str]) -> Any:
    """Compiles patterns into one that decides in a single pass which of them occur in a text."""
    shapes = re2.Filter()
    for pattern in patterns:
        shapes.Add(pattern)
    shapes.Compile()
    return shapes


@cache
def _shapes() -> Any:
    """Returns the patterns of `_OTHERS`, and as the last one any of `_LITERALS`: in most texts none occurs."""
    any_literal = "|".join(re2.escape(literal) for literal, _ in _LITERALS)
    return _filter((*(_ROWS[number][0] for number in _OTHERS), any_literal))


@cache
def _shapes_of_digits() -> Any:
    return _filter(_ROWS[number][0] for number in _NUMBERS)


def _occurring(text: str) -> list[int]:
    numbers: list[int] = []
    for index in _shapes().Match(text) or ():
        if index < len(_OTHERS):
            numbers.append(_OTHERS[index])
        else:
            numbers += [number for literal, number in _LITERALS if literal in text]
    if _TWO_DIGITS.search(text) is not None:
        numbers += [_NUMBERS[index] for index in _shapes_of_digits().Match(text) or ()]
    return sorted(numbers)
