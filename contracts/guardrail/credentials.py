"""Secrets by their shape, with entropy and, where the format has one, its checksum. Placeholders don't count."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import re2

Confidence = Literal["certain", "likely", "possible"]
_Candidate = tuple[str, str, Confidence]

MAX_SECRETS = 64


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


_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _github_checksum(token: str) -> bool | None:
    """GitHub's tokens end in the CRC-32 of the part before it, in base 62, six digits."""
    body, check = token[4:-6], token[-6:]
    value, digits = zlib.crc32(body.encode()), ""
    while value:
        value, digit = divmod(value, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0") == check


def _json_web_token(token: str) -> bool | None:
    try:
        header = base64.urlsafe_b64decode(token.split(".")[0] + "===")
        return isinstance(json.loads(header), dict)
    except (binascii.Error, ValueError):
        return False


def _luhn(digits: str) -> bool | None:
    numbers = [int(char) for char in digits if char.isdigit()]
    if not 13 <= len(numbers) <= 19 or len(set(numbers)) < 4:
        return False
    doubled = [value * 2 - 9 * (value > 4) if place % 2 else value for place, value in enumerate(reversed(numbers))]
    return sum(doubled) % 10 == 0


def _is_no_hash(token: str) -> bool | None:
    """File names carry hashes behind a dash, such as `icon.ico-<md5>.png`."""
    return re.search(r"[g-zA-Z]", token.rpartition("-")[2]) is not None


@dataclass(frozen=True)
class _Format:
    kind: str
    pattern: str
    least_entropy: float = 3.0
    check: Callable[[str], bool | None] | None = None
    check_decides: bool = True
    """A failed check means that it is no secret; else it only lowers the confidence."""


_THREE_PART_SHAPE = r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?"
_CARD_SHAPE = r"\b(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|3[47]\d{2}|6(?:011|5\d{2}))(?:[ -]?\d{4}){2}[ -]?\d{1,7}\b"
_FORMATS = (
    _Format("private-key", r"-----BEGIN[ A-Z0-9_-]{0,40}PRIVATE KEY(?: BLOCK)?-----", 0.0),
    _Format("aws-access-key-id", r"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}\b", 2.8),
    _Format("github-token", r"\bgh[pousr]_[A-Za-z0-9]{36}\b", 3.0, _github_checksum, check_decides=False),
    _Format("github-token", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"),
    _Format("gitlab-token", r"\bgl(?:pat|dt|ft|ffct|soat|rt)-[A-Za-z0-9_-]{20}\b"),
    _Format("gitlab-token", r"\bgl(?:imt-[A-Za-z0-9_-]{25}|ptt-[A-Za-z0-9_-]{40}|agent-[A-Za-z0-9_-]{50})\b"),
    _Format("gitlab-token", r"\bgl(?:oas-[A-Za-z0-9_-]{64}|cbt-[0-9a-zA-Z]{1,5}_[A-Za-z0-9_-]{20})\b"),
    _Format("gitlab-token", r"\bgl(?:pat|rt)-[A-Za-z0-9_-]{27,300}\.[0-9a-z]{2}\.?[0-9a-z]{7,9}\b"),
    _Format("gitlab-runner-token", r"\bGR1348941[A-Za-z0-9_-]{20}\b"),
    _Format("slack-token", r"\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,200}\b", 3.2),
    _Format("slack-token", r"\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+\b", 3.0),
    _Format("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,60}"),
    _Format("discord-webhook", r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,70}"),
    _Format("teams-webhook", r"\.webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/"),
    _Format("discord-token", r"\b[MNOA][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b"),
    _Format("telegram-token", r"\b\d{8,10}:A[A-Za-z0-9_-]{34}\b"),
    _Format("stripe-key", r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,99}\b", 2.5),
    _Format("stripe-webhook-secret", r"\bwhsec_[A-Za-z0-9+/=]{24,64}"),
    _Format("google-api-key", r"\bAIza[A-Za-z0-9_-]{35}\b"),
    _Format("google-oauth-secret", r"\bGOCSPX-[A-Za-z0-9_-]{28}\b"),
    _Format("google-oauth-token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    _Format("openai-key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,74}T3BlbkFJ[A-Za-z0-9_-]{20,74}"),
    _Format("anthropic-key", r"\bsk-ant-[a-z0-9]{3,12}-[A-Za-z0-9_-]{32,}"),
    _Format("sk-key", r"\bsk-(?:[a-z]{2,8}-)?[A-Za-z0-9]{32,64}\b", 3.5),
    _Format("huggingface-token", r"\b(?:hf_|api_org_)[A-Za-z]{34}\b"),
    _Format("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    _Format("npm-auth-token", r"_auth(?:Token)?\s*=\s*[A-Za-z0-9+/=_-]{16,}"),
    _Format("pypi-token", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    _Format("rubygems-key", r"\brubygems_[a-f0-9]{48}\b"),
    _Format("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}\b"),
    _Format("mailchimp-key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    _Format("mailgun-key", r"\b(?:key|pubkey)-[0-9a-f]{32}\b"),
    _Format("twilio-key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    _Format("square-token", r"\b(?:EAAA|sq0(?:atp|csp|idp)-)[A-Za-z0-9_-]{22,60}\b"),
    _Format("shopify-token", r"\bshp(?:at|ca|pa|ss|ua)_[A-Fa-f0-9]{32}\b"),
    _Format("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    _Format("heroku-key", r"\bHRKU-[A-Za-z0-9_-]{36,60}\b"),
    _Format("databricks-token", r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    _Format("hashicorp-vault-token", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,250}\b"),
    _Format("terraform-token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    _Format("doppler-token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{40,44}\b"),
    _Format("grafana-token", r"\bgl(?:sa|c)_[A-Za-z0-9+/_]{32,}={0,2}"),
    _Format("new-relic-key", r"\bNR(?:AK|JS|II|RA)-[A-Za-z0-9_-]{19,32}\b"),
    _Format("linear-key", r"\blin_api_[A-Za-z0-9]{40}\b"),
    _Format("notion-token", r"\b(?:secret_|ntn_)[A-Za-z0-9]{40,46}\b"),
    _Format("postman-key", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    _Format("atlassian-token", r"\bATATT3[A-Za-z0-9_=-]{60,200}"),
    _Format("airtable-token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    _Format("planetscale-key", r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64}"),
    _Format("dynatrace-token", r"\bdt0[cs]0[1-9]\.[A-Z0-9]{24}\.[A-Z0-9]{64}\b"),
    _Format("artifactory-key", r"\bAKCp[A-Za-z0-9]{60,75}\b"),
    _Format("artifactory-token", r"\bcmVmdGtuO[A-Za-z0-9]{50,60}\b"),
    _Format("sourcegraph-token", r"\bsgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}\b"),
    _Format("fly-token", r"\b(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/=,_-]{100,})"),
    _Format("facebook-token", r"\bEAA[MC][A-Za-z0-9]{20,}\b"),
    _Format("facebook-token", r"\b\d{15,16}\|[A-Za-z0-9_-]{27,40}"),
    _Format("intra42-secret", r"\bs-s4t2(?:ud|af)-[a-f0-9]{64}\b"),
    _Format("age-key", r"\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}\b"),
    _Format("azure-secret", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}\b"),
    _Format("azure-storage-key", r"(?i)\bAccountKey\s*=\s*[A-Za-z0-9+/]{80,88}={0,2}"),
    _Format("cloudflare-origin-key", r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146}\b"),
    _Format("1password-token", r"\bops_eyJ[A-Za-z0-9+/]{200,}={0,3}"),
    _Format("1password-secret-key", r"\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b"),
    _Format("alibaba-key-id", r"\bLTAI[A-Za-z0-9]{12,26}\b"),
    _Format("clickhouse-key", r"\b4b1d[A-Za-z0-9]{38}\b"),
    _Format("clojars-token", r"\bCLOJARS_[a-z0-9]{60}\b"),
    _Format("defined-networking-token", r"\bdnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    _Format("duffel-token", r"\bduffel_(?:test|live)_[A-Za-z0-9_=-]{43}\b"),
    _Format("easypost-key", r"\bEZ[AT]K[A-Za-z0-9]{54}\b"),
    _Format("flutterwave-key", r"\bFLW(?:SECK|PUBK)_TEST-[a-h0-9]{12,32}(?:-X)?\b"),
    _Format("frameio-token", r"\bfio-u-[A-Za-z0-9_=-]{64}\b"),
    _Format("freemius-key", r"\bsk_[\w$%^&*!~+=-]{29}\b", 3.6),
    _Format("harness-token", r"\b[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}\b"),
    _Format("infracost-key", r"\bico-[A-Za-z0-9]{32}\b", 3.0, _is_no_hash),
    _Format("kubernetes-service-token", r"\bsha256~[A-Za-z0-9_-]{43}\b"),
    _Format("live-key", r"\b(?:live|test)_(?:pub_)?[a-f0-9]{31,35}\b|\blive_[A-Za-z0-9_=-]{40}\b"),
    _Format("mapbox-token", r"\b[ps]k\.[A-Za-z0-9]{60}\.[A-Za-z0-9]{22}\b"),
    _Format("maxmind-key", r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b"),
    _Format("octopus-deploy-key", r"\bAPI-[A-Z0-9]{26}\b"),
    _Format("perplexity-key", r"\bpplx-[A-Za-z0-9]{48}\b"),
    _Format("prefect-key", r"\bpnu_[a-z0-9]{36}\b"),
    _Format("pulumi-token", r"\bpul-[a-f0-9]{40}\b"),
    _Format("readme-token", r"\brdme_[a-z0-9]{70}\b"),
    _Format("scalingo-token", r"\btk-us-[A-Za-z0-9_-]{48}\b"),
    _Format("brevo-key", r"\bxkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}\b"),
    _Format("sentry-token", r"\bsntrys_eyJ[A-Za-z0-9+/=_-]{80,200}|\bsntryu_[a-f0-9]{64}\b"),
    _Format("settlemint-token", r"\bsm_(?:pat|aat|sat)_[A-Za-z0-9]{16}\b"),
    _Format("shippo-token", r"\bshippo_(?:live|test)_[a-fA-F0-9]{40}\b"),
    _Format("sonar-token", r"\bsq[aup]_[a-f0-9]{40}\b"),
    _Format("typeform-token", r"\btfp_[A-Za-z0-9._=-]{59}\b"),
    _Format("yandex-key", r"\bAQVN[A-Za-z0-9_-]{35,38}\b|\bYC[A-Za-z0-9_-]{38}\b"),
    _Format("yandex-token", r"\bt1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2}"),
    _Format("dropbox-token", r"\bsl\.[A-Za-z0-9_=-]{130,152}\b"),
    _Format("contentful-token", r"\bCFPAT-[A-Za-z0-9_-]{43}\b"),
    _Format("figma-token", r"\bfig[dou]r?_[A-Za-z0-9_-]{40}\b"),
    _Format("groq-key", r"\bgsk_[A-Za-z0-9]{52}\b"),
    _Format("replicate-token", r"\br8_[A-Za-z0-9]{37}\b"),
    _Format("supabase-token", r"\bsb[ap]_[a-f0-9]{40}\b"),
    _Format("tailscale-key", r"\btskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}\b"),
    _Format("docker-token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27,32}\b"),
    _Format("vercel-token", r"\bvc[pkia]_[A-Za-z0-9]{24,60}\b"),
    _Format("json-web-token", _THREE_PART_SHAPE, 3.0, _json_web_token),
    _Format("card-number", _CARD_SHAPE, 0.0, _luhn),
    _Format("extended-private-key", r"\b[xyz]prv[1-9A-HJ-NP-Za-km-z]{107}\b"),
)  # fmt: skip
_FOUND = [re.compile(each.pattern) for each in _FORMATS]

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
        if number < len(_FORMATS):
            for match in _FOUND[number].finditer(text):
                secret = _of_format(_FORMATS[number], match[0])
                if secret is not None and len(found) < MAX_SECRETS:
                    found.setdefault(secret.value, secret)
    for number in hits:
        if number >= len(_FORMATS):
            for kind, value, confidence in _CONTEXTS[number - len(_FORMATS)][1](text):
                if len(found) >= MAX_SECRETS:
                    return list(found.values())
                if not any(value in known or known in value for known in found):
                    found[value] = Secret(kind, confidence, entropy(value), value)
    return list(found.values())


def _of_format(shape: _Format, value: str) -> Secret | None:
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
    for pattern in (*(each.pattern for each in _FORMATS), *(needed for needed, _ in _CONTEXTS)):
        made.Add(pattern)
    made.Compile()
    return made


_SHAPES = _shapes()


def masked(text: str, found: list[Secret]) -> str:
    """A text with every secret shortened to its first characters."""
    for each in sorted(found, key=lambda secret: -len(secret.value)):
        text = text.replace(each.value, f"{each.value[:4]}***")
    return text
