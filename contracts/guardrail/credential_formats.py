"""Secrets known by their format: what vendors' keys and tokens look like, and the checksums that some of them carry."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _github_checksum(token: str) -> bool:
    """GitHub's tokens end in the CRC-32 of the part before it, in base 62, six digits."""
    body, check = token[4:-6], token[-6:]
    value, digits = zlib.crc32(body.encode()), ""
    while value:
        value, digit = divmod(value, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0") == check


def _json_web_token(token: str) -> bool:
    try:
        header = base64.urlsafe_b64decode(token.split(".")[0] + "===")
        return isinstance(json.loads(header), dict)
    except (binascii.Error, ValueError):
        return False


def _luhn(digits: str) -> bool:
    numbers = [int(char) for char in digits if char.isdigit()]
    if not 13 <= len(numbers) <= 19 or len(set(numbers)) < 4:
        return False
    doubled = [value * 2 - 9 * (value > 4) if place % 2 else value for place, value in enumerate(reversed(numbers))]
    return sum(doubled) % 10 == 0


def _is_no_hash(token: str) -> bool:
    """File names carry hashes behind a dash, such as `icon.ico-<md5>.png`."""
    return re.search(r"[g-zA-Z]", token.rpartition("-")[2]) is not None


@dataclass(frozen=True)
class Format:
    """A shape of secrets. `least_entropy` is in bits per character, without the prefix; below it is a placeholder."""

    kind: str
    pattern: str
    least_entropy: float = 3.0
    check: Callable[[str], bool] | None = None
    check_decides: bool = True
    """A failed check means that it is no secret; else it only lowers the confidence."""


_THREE_PART_SHAPE = r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?"
_CARD_SHAPE = r"\b(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|3[47]\d{2}|6(?:011|5\d{2}))(?:[ -]?\d{4}){2}[ -]?\d{1,7}\b"
FORMATS: tuple[Format, ...] = (
    Format("private-key", r"-----BEGIN[ A-Z0-9_-]{0,40}PRIVATE KEY(?: BLOCK)?-----", 0.0),
    Format("aws-access-key-id", r"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16}\b", 2.8),
    Format("github-token", r"\bgh[pousr]_[A-Za-z0-9]{36}\b", 3.0, _github_checksum, check_decides=False),
    Format("github-token", r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"),
    Format("gitlab-token", r"\bgl(?:pat|dt|ft|ffct|soat|rt)-[A-Za-z0-9_-]{20}\b"),
    Format("gitlab-token", r"\bgl(?:imt-[A-Za-z0-9_-]{25}|ptt-[A-Za-z0-9_-]{40}|agent-[A-Za-z0-9_-]{50})\b"),
    Format("gitlab-token", r"\bgl(?:oas-[A-Za-z0-9_-]{64}|cbt-[0-9a-zA-Z]{1,5}_[A-Za-z0-9_-]{20})\b"),
    Format("gitlab-token", r"\bgl(?:pat|rt)-[A-Za-z0-9_-]{27,300}\.[0-9a-z]{2}\.?[0-9a-z]{7,9}\b"),
    Format("gitlab-runner-token", r"\bGR1348941[A-Za-z0-9_-]{20}\b"),
    Format("slack-token", r"\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,200}\b", 3.2),
    Format("slack-token", r"\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+\b", 3.0),
    Format("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,60}"),
    Format("discord-webhook", r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,70}"),
    Format("teams-webhook", r"\.webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/"),
    Format("discord-token", r"\b[MNOA][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b"),
    Format("telegram-token", r"\b\d{8,10}:A[A-Za-z0-9_-]{34}\b"),
    Format("stripe-key", r"\b[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,99}\b", 2.5),
    Format("stripe-webhook-secret", r"\bwhsec_[A-Za-z0-9+/=]{24,64}"),
    Format("google-api-key", r"\bAIza[A-Za-z0-9_-]{35}\b"),
    Format("google-oauth-secret", r"\bGOCSPX-[A-Za-z0-9_-]{28}\b"),
    Format("google-oauth-token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    Format("openai-key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,74}T3BlbkFJ[A-Za-z0-9_-]{20,74}"),
    Format("anthropic-key", r"\bsk-ant-[a-z0-9]{3,12}-[A-Za-z0-9_-]{32,}"),
    Format("sk-key", r"\bsk-(?:[a-z]{2,8}-)?[A-Za-z0-9]{32,64}\b", 3.5),
    Format("huggingface-token", r"\b(?:hf_|api_org_)[A-Za-z]{34}\b"),
    Format("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    Format("npm-auth-token", r"_auth(?:Token)?\s*=\s*[A-Za-z0-9+/=_-]{16,}"),
    Format("pypi-token", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    Format("rubygems-key", r"\brubygems_[a-f0-9]{48}\b"),
    Format("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}\b"),
    Format("mailchimp-key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    Format("mailgun-key", r"\b(?:key|pubkey)-[0-9a-f]{32}\b"),
    Format("twilio-key", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    Format("square-token", r"\b(?:EAAA|sq0(?:atp|csp|idp)-)[A-Za-z0-9_-]{22,60}\b"),
    Format("shopify-token", r"\bshp(?:at|ca|pa|ss|ua)_[A-Fa-f0-9]{32}\b"),
    Format("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    Format("heroku-key", r"\bHRKU-[A-Za-z0-9_-]{36,60}\b"),
    Format("databricks-token", r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    Format("hashicorp-vault-token", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,250}\b"),
    Format("terraform-token", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    Format("doppler-token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{40,44}\b"),
    Format("grafana-token", r"\bgl(?:sa|c)_[A-Za-z0-9+/_]{32,}={0,2}"),
    Format("new-relic-key", r"\bNR(?:AK|JS|II|RA)-[A-Za-z0-9_-]{19,32}\b"),
    Format("linear-key", r"\blin_api_[A-Za-z0-9]{40}\b"),
    Format("notion-token", r"\b(?:secret_|ntn_)[A-Za-z0-9]{40,46}\b"),
    Format("postman-key", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b"),
    Format("atlassian-token", r"\bATATT3[A-Za-z0-9_=-]{60,200}"),
    Format("airtable-token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    Format("planetscale-key", r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64}"),
    Format("dynatrace-token", r"\bdt0[cs]0[1-9]\.[A-Z0-9]{24}\.[A-Z0-9]{64}\b"),
    Format("artifactory-key", r"\bAKCp[A-Za-z0-9]{60,75}\b"),
    Format("artifactory-token", r"\bcmVmdGtuO[A-Za-z0-9]{50,60}\b"),
    Format("sourcegraph-token", r"\bsgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}\b"),
    Format("fly-token", r"\b(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/=,_-]{100,})"),
    Format("facebook-token", r"\bEAA[MC][A-Za-z0-9]{20,}\b"),
    Format("facebook-token", r"\b\d{15,16}\|[A-Za-z0-9_-]{27,40}"),
    Format("intra42-secret", r"\bs-s4t2(?:ud|af)-[a-f0-9]{64}\b"),
    Format("age-key", r"\bAGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}\b"),
    Format("azure-secret", r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}\b"),
    Format("azure-storage-key", r"(?i)\bAccountKey\s*=\s*[A-Za-z0-9+/]{80,88}={0,2}"),
    Format("cloudflare-origin-key", r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{146}\b"),
    Format("1password-token", r"\bops_eyJ[A-Za-z0-9+/]{200,}={0,3}"),
    Format("1password-secret-key", r"\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b"),
    Format("alibaba-key-id", r"\bLTAI[A-Za-z0-9]{12,26}\b"),
    Format("clickhouse-key", r"\b4b1d[A-Za-z0-9]{38}\b"),
    Format("clojars-token", r"\bCLOJARS_[a-z0-9]{60}\b"),
    Format("defined-networking-token", r"\bdnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    Format("duffel-token", r"\bduffel_(?:test|live)_[A-Za-z0-9_=-]{43}\b"),
    Format("easypost-key", r"\bEZ[AT]K[A-Za-z0-9]{54}\b"),
    Format("flutterwave-key", r"\bFLW(?:SECK|PUBK)_TEST-[a-h0-9]{12,32}(?:-X)?\b"),
    Format("frameio-token", r"\bfio-u-[A-Za-z0-9_=-]{64}\b"),
    Format("freemius-key", r"\bsk_[\w$%^&*!~+=-]{29}\b", 3.6),
    Format("harness-token", r"\b[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}\b"),
    Format("infracost-key", r"\bico-[A-Za-z0-9]{32}\b", 3.0, _is_no_hash),
    Format("kubernetes-service-token", r"\bsha256~[A-Za-z0-9_-]{43}\b"),
    Format("live-key", r"\b(?:live|test)_(?:pub_)?[a-f0-9]{31,35}\b|\blive_[A-Za-z0-9_=-]{40}\b"),
    Format("mapbox-token", r"\b[ps]k\.[A-Za-z0-9]{60}\.[A-Za-z0-9]{22}\b"),
    Format("maxmind-key", r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b"),
    Format("octopus-deploy-key", r"\bAPI-[A-Z0-9]{26}\b"),
    Format("perplexity-key", r"\bpplx-[A-Za-z0-9]{48}\b"),
    Format("prefect-key", r"\bpnu_[a-z0-9]{36}\b"),
    Format("pulumi-token", r"\bpul-[a-f0-9]{40}\b"),
    Format("readme-token", r"\brdme_[a-z0-9]{70}\b"),
    Format("scalingo-token", r"\btk-us-[A-Za-z0-9_-]{48}\b"),
    Format("brevo-key", r"\bxkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}\b"),
    Format("sentry-token", r"\bsntrys_eyJ[A-Za-z0-9+/=_-]{80,200}|\bsntryu_[a-f0-9]{64}\b"),
    Format("settlemint-token", r"\bsm_(?:pat|aat|sat)_[A-Za-z0-9]{16}\b"),
    Format("shippo-token", r"\bshippo_(?:live|test)_[a-fA-F0-9]{40}\b"),
    Format("sonar-token", r"\bsq[aup]_[a-f0-9]{40}\b"),
    Format("typeform-token", r"\btfp_[A-Za-z0-9._=-]{59}\b"),
    Format("yandex-key", r"\bAQVN[A-Za-z0-9_-]{35,38}\b|\bYC[A-Za-z0-9_-]{38}\b"),
    Format("yandex-token", r"\bt1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2}"),
    Format("dropbox-token", r"\bsl\.[A-Za-z0-9_=-]{130,152}\b"),
    Format("contentful-token", r"\bCFPAT-[A-Za-z0-9_-]{43}\b"),
    Format("figma-token", r"\bfig[dou]r?_[A-Za-z0-9_-]{40}\b"),
    Format("groq-key", r"\bgsk_[A-Za-z0-9]{52}\b"),
    Format("replicate-token", r"\br8_[A-Za-z0-9]{37}\b"),
    Format("supabase-token", r"\bsb[ap]_[a-f0-9]{40}\b"),
    Format("tailscale-key", r"\btskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}\b"),
    Format("docker-token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{27,32}\b"),
    Format("vercel-token", r"\bvc[pkia]_[A-Za-z0-9]{24,60}\b"),
    Format("json-web-token", _THREE_PART_SHAPE, 3.0, _json_web_token),
    Format("card-number", _CARD_SHAPE, 0.0, _luhn),
    Format("extended-private-key", r"\b[xyz]prv[1-9A-HJ-NP-Za-km-z]{107}\b"),
)  # fmt: skip
