"""Secrets by their shape, with entropy and, where the format has one, its checksum. Placeholders don't count."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import re2

from contracts.guardrail.credential_formats import FORMATS, Format

Confidence = Literal["certain", "likely", "possible"]
_Candidate = tuple[str, str, Confidence]

MAX_SECRETS = 64
SHORTEST_SHOWN = 12
"""Characters of a secret of which the first four may be shown."""


@dataclass(frozen=True)
class Secret:
    """A value that looks like a secret. `entropy` is in bits per character."""

    kind: str
    confidence: Confidence
    entropy: float
    value: str

    @property
    def line(self) -> str:
        """`kind confidence entropy value`, as the view shows it."""
        return f"{self.kind} {self.confidence} {self.entropy:.1f} {self.value}"


def entropy(text: str) -> float:
    """Shannon entropy in bits per character."""
    if not text:
        return 0.0
    length = len(text)
    return -sum(count / length * math.log2(count / length) for count in Counter(text).values())


_FOUND = [re.compile(each.pattern) for each in FORMATS]

_PREFIX = re.compile(r"^[A-Za-z0-9.]{1,12}[_-](?=.{12})")
_URL_PASSWORD = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{0,80}:([^\s/@'\"]{3,200})@[\w\[]", re.IGNORECASE)
_AUTHORIZATION = re.compile(
    r"(?i)\b(?:authorization|proxy-authorization)\b['\"]?\s*[:=]\s*['\"]?(?:(basic|bearer|token|digest|apikey)\s+)?([A-Za-z0-9+/=._~-]{8,2000})"
)
_BASIC_USER = re.compile(
    r"(?:(?<=\s)-u\s*|--user[ =]|--proxy-user[ =])['\"]?[^\s:'\"]{1,80}['\"]?:['\"]?([^\s'\"]{3,200})"
)
_HEADER_KEY = re.compile(r"(?i)(?:api-?key|token|secret|auth)[\w-]{0,10}['\"]?\s*:\s*['\"]?([A-Za-z0-9+/=._~-]{8,400})")
_NAMED = re.compile(
    r"""(?ix)
    (?:passw(?:or)?d|passwd|pwd|passphrase|secret|token|api[_.-]?key|apikey|access[_.-]?key|auth[_.-]?key
      |private[_.-]?key|signing[_.-]?key|encryption[_.-]?key|client[_.-]?key|credentials?|_key|\bkey|masterkey|license[_.-]?key|\bpass\b|_pass\b|\bpw)(?P<rest>[\w.-]{0,30})
    ['"\]]{0,2}\s{0,5}(?:=>|:=|==?|:|,|\s=\s|\bis\b|\bvalue\s?=)\s{0,5}
    (?P<quote>['"`]{0,3})(?P<value>[^\s'"`,;<>]{6,300})
    """
)
# What follows "key" or "token" in a name that is not the secret itself.
_ABOUT_ANOTHER = re.compile(
    r"(?i)(?:ids?|names?|urls?|uri|audience|paths?|files?|types?|len(?:gth)?|size|count|expir\w*|age)$"
)
_PLACEHOLDER = re.compile(
    r"""(?ix)
    sample | placeholder | change_?me | your[_-]?\w | \bmy[_-]?\w+ | dummy | fake | redacted | \*{3} | \$\{ | \{\{
    | ^(?:true|false|none|null|nil|undefined|password|passwd|secret|token|test\w{0,4}|string|todo|required|default
      |value|key)$
    | ^[$<%(\[] | ^(?:process\.env|os\.environ|env\.|config\.|self\.|this\.) | getenv | %\w+%$ | \)$
    | ^(?:/|\./|\.\./|~/|https?://|file:|[a-z]:\\) | ^[\W_]*$
    """
)
_WORDLIKE = re.compile(r"^[A-Za-z]+\d?(?:[._-][A-Za-z]+\d?)*$|^[a-z_.]+$|^\d{1,5}$")
_RUNS = ("12345", "abc123", "qwerty", "password123", "aaaaaa", "000000", "111111")


def secrets(text: str) -> list[Secret]:
    """Values in a text that look like secrets, most telling shapes first; each value once, at most `MAX_SECRETS`."""
    found: dict[str, Secret] = {}
    hits = _SHAPES.Match(text) or ()
    for number in hits:
        if number < len(FORMATS):
            for match in _FOUND[number].finditer(text):
                secret = _of_format(FORMATS[number], match[0])
                if secret is not None and len(found) < MAX_SECRETS:
                    found.setdefault(secret.value, secret)
    for number in hits:
        if number >= len(FORMATS):
            for kind, value, confidence in _CONTEXTS[number - len(FORMATS)][1](text):
                if len(found) >= MAX_SECRETS:
                    return list(found.values())
                if not any(value in known or known in value for known in found):
                    found[value] = Secret(kind, confidence, entropy(value), value)
    return list(found.values())


def _of_format(shape: Format, value: str) -> Secret | None:
    bits = entropy(_PREFIX.sub("", value))
    if bits < shape.least_entropy or _filler(value):
        return None
    checked = shape.check(value) if shape.check else None
    if checked is False and shape.check_decides:
        return None
    return Secret(shape.kind, "certain" if checked is not False else "likely", bits, value)


def _url_passwords(text: str) -> Iterator[_Candidate]:
    for match in _URL_PASSWORD.finditer(text):
        if not _reference(match[1]):
            yield "url-password", match[1], "likely"


def _authorizations(text: str) -> Iterator[_Candidate]:
    for match in _AUTHORIZATION.finditer(text):
        if (match[1] or _random(match[2])) and not _placeholder(match[2]) and len(match[2]) >= 12:
            yield "authorization-header", match[2], "likely"


def _basic_users(text: str) -> Iterator[_Candidate]:
    for match in _BASIC_USER.finditer(text):
        value = match[1].strip("{}")
        if not _placeholder(value):
            yield "basic-credentials", value, "likely" if _random(value) else "possible"


def _named(text: str) -> Iterator[_Candidate]:
    for match in _HEADER_KEY.finditer(text):
        if not _placeholder(match[1]) and _random(match[1]):
            yield "header-key", match[1], "likely"
    for match in _NAMED.finditer(text):
        value = match["value"].rstrip(".,;)]}")
        if len(value) < 6 or _placeholder(value) or _ABOUT_ANOTHER.search(match["rest"]):
            continue
        if _random(value):
            yield "named-secret", value, "likely"
        elif match["quote"] and not _WORDLIKE.match(value):
            yield "named-secret", value, "possible"


def _vendor_keys(text: str) -> Iterator[_Candidate]:
    for match in _VENDOR.finditer(text):
        value = match[1]
        if _placeholder(value) or not any(char.isdigit() for char in value):
            continue
        # Some vendors hand out UUIDs as keys; then the name has to say so.
        if _random(value) or (_UUID.match(value) and _KEY_NAME.search(match[0])):
            yield "vendor-key", value, "likely"


def _high_entropy(text: str) -> Iterator[_Candidate]:
    for match in _TOKENS.finditer(text):
        value = match[0]
        if len(value) >= 20 and _random(value) and _mixed(value) and not _placeholder(value):
            yield "high-entropy", value, "possible"


_TOKENS = re.compile(r"(?<![A-Za-z0-9+/=_.:-])[A-Za-z0-9+/_-]{20,200}={0,2}(?![A-Za-z0-9+/=_.-])")
# Services whose keys have no shape of their own: the name stands before the key.
_VENDORS = (
    r"(?i)\b(?:adobe|airtable|algolia|alibaba|amplitude|asana|atlassian|aws|azure|beamer|bitbucket|bittrex|cloudflare"
    r"|codecov|coinbase|confluent|contentful|datadog|discord|dropbox|etsy|facebook|fastly|finnhub|flickr|freshbooks|gcp"
    r"|gitter|gocardless|grafana|heroku|hubspot|intercom|jfrog|jira|kraken|kucoin|launchdarkly|linear|linkedin|looker"
    r"|mailchimp|mailgun|mapbox|mattermost|messagebird|microsoft|netlify|newrelic|notion|okta|openai|plaid|postman"
    r"|privateai|rapidapi|scalingo|sendbird|sendgrid|sentry|shippo|shopify|slack|snyk|sonar|sourcegraph|square|stripe"
    r"|sumologic|telegram|travis|trello|twilio|twitch|twitter|typeform|yandex|zendesk)"
)
_VENDOR = re.compile(
    _VENDORS + r"[\w .-]{0,24}['\"]?\s{0,3}(?:=>|:=|=|:|\s)\s{0,3}['\"]?([A-Za-z0-9_+/=-]{16,120})(?![\w.:/])"
)
_KEY_NAME = re.compile(r"(?i)key|token|secret|auth")
_DOTTED = re.compile(r"^[A-Za-z_$][\w-]{0,30}(?:\.[A-Za-z_][\w-]{0,24})+(?::\d{1,5})?$")
_DIGITS_ONLY_HEX = re.compile(r"^(?:0x)?[0-9a-fA-F]+$")
_UUID = re.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def _mixed(value: str) -> bool:
    """Upper, lower and digits together, as no identifier in words has them; hashes and ids in hex don't."""
    return (
        any(char.isupper() for char in value)
        and any(char.islower() for char in value)
        and sum(char.isdigit() for char in value) >= 2
        and not _DIGITS_ONLY_HEX.match(value)
    )


def _random(value: str) -> bool:
    """Whether a value looks drawn at random rather than written: enough entropy for its length, and no words."""
    if len(value) < 8 or _WORDLIKE.match(value) or _UUID.match(value) or _DOTTED.match(value):
        return False
    if len(value) >= 20 and _DIGITS_ONLY_HEX.match(value):
        return entropy(value) >= 3.0
    classes = sum(
        (
            any(char.islower() for char in value),
            any(char.isupper() for char in value),
            any(char.isdigit() for char in value),
            any(not char.isalnum() for char in value),
        )
    )
    return classes >= 2 and entropy(value) >= min(3.6, math.log2(len(value)) - 0.6)


def _placeholder(value: str) -> bool:
    return _PLACEHOLDER.search(value) is not None or _filler(value)


def _reference(value: str) -> bool:
    return value.startswith(("$", "{", "<", "%", "*", "[")) or _filler(value)


def _filler(value: str) -> bool:
    lowered = value.lower()
    if "example" in lowered or "xxxxx" in lowered or lowered.endswith("here"):
        return True
    tail = lowered[-24:]
    return (len(set(tail)) <= 4 and len(tail) > 12) or any(run in lowered for run in _RUNS)


# What has to occur in a text for a search by context to be worth its time, and the search.
_CONTEXTS: tuple[tuple[str, Callable[[str], Iterator[_Candidate]]], ...] = (
    ("://", _url_passwords),
    ("(?i)authorization", _authorizations),
    (r"\s-u|--user|--proxy-user", _basic_users),
    ("(?i)passw|pwd|passphrase|secret|token|key|credential|pass|pw|auth", _named),
    (_VENDORS, _vendor_keys),
    ("[A-Za-z0-9+/_-]{20}", _high_entropy),
)


def _shapes() -> Any:
    """One pass that says which formats and contexts occur at all."""
    made = re2.Filter()
    for pattern in (*(each.pattern for each in FORMATS), *(needed for needed, _ in _CONTEXTS)):
        made.Add(pattern)
    made.Compile()
    return made


_SHAPES = _shapes()


def masked(text: str, found: list[Secret]) -> str:
    """A text with these secrets shortened to their first characters, short ones to nothing."""
    for each in sorted(found, key=lambda secret: -len(secret.value)):
        shown = each.value[:4] if len(each.value) >= SHORTEST_SHOWN else ""
        text = text.replace(each.value, f"{shown}***")
    return text


def without_secrets(text: str) -> str:
    """A text with every secret shortened to its first characters, also where there are more than `MAX_SECRETS`."""
    # what is masked is shorter than before, so this ends
    while (shorter := masked(text, secrets(text))) != text:
        text = shorter
    return text
