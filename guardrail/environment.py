"""Judges the content of environment variables by their names: keys and passwords, and the hosts they are meant for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

WHOLE = "os.environ"
"""The name that the readers of code give to the whole environment."""

COOKIES = "$DOCUMENT_COOKIES"
"""The name that the reader of JavaScript gives to the cookies of a page."""

_PRINTERS = {
    "env": ("-0", "--null"),
    "printenv": ("-0", "--null"),
    "set": (),
    "export": ("-p",),
    "declare": ("-x", "-p", "-px", "-xp"),
}
_PRINTED = re.compile(
    r"(?:\$\(|`)\s*(?:env|printenv|set|export -p|declare -p?x)\s*(?:[|)`;]|$)"
    r"|^(?i:env:[/\\]\*)$"  # all entries of the variable drive, as the PowerShell reader spells them
    r"|(?i:(?:get-childitem|gci|dir|ls)\s+[\"']?env:\\?[\"']?\s*(?:[|)]|$))"
)
_VARIABLE = re.compile(r"\$(?:\{!?([A-Za-z]\w{2,60})[}:]|\$?([A-Za-z]\w{2,60}))")
_SECRET = re.compile(
    r"(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|PAT|MNEMONIC|SEED_PHRASE"
    r"|(?:API|ACCESS|PRIVATE|SECRET|ENCRYPTION|MASTER|SIGNING|AUTH)_?KEY)(?:_|$)"
    r"|^DOCUMENT_COOKIES$|^(?:DATABASE|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|MYSQL)_(?:URL|URI|DSN)$"
)
_NOBODYS = re.compile(
    r"^(?:DOCUMENT_COOKIES|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|MASTER_KEY|JWT_SECRET|SESSION_SECRET|SECRET_KEY(?:_BASE)?"
    r"|ROOT_PASSWORD|(?:DB|DATABASE|POSTGRES|PG|MYSQL|MONGO|REDIS|SSH|SUDO|VAULT|KUBE)_?\w*"
    r"|.*(?:PRIVATE_KEY|SIGNING_KEY|ENCRYPTION_KEY|MNEMONIC|SEED_PHRASE))$"
)
"""Secrets that no request should contain in its text, whatever the host."""
_TEMPLATE = re.compile(r"\$\{\{\s*secrets\.(\w{2,60})")
"""A secret of a CI system, inserted before the shell runs."""
_OWNERS = {
    "aws": ("amazonaws", "aws"),
    "azure": ("azure", "microsoft", "windows.net"),
    "gcp": ("google",),
    "google": ("google", "gstatic"),
    "gh": ("github",),
    "github": ("github", "ghcr"),
    "gitlab": ("gitlab",),
    "npm": ("npmjs",),
    "node": ("npmjs", "npm"),
    "pypi": ("pypi",),
    "twine": ("pypi",),
    "openai": ("openai", "azure"),
    "anthropic": ("anthropic",),
    "stripe": ("stripe",),
    "slack": ("slack",),
    "docker": ("docker",),
    "dockerhub": ("docker",),
    "heroku": ("heroku",),
    "cloudflare": ("cloudflare",),
    "digitalocean": ("digitalocean",),
    "hf": ("huggingface", "hf.co"),
    "huggingface": ("huggingface", "hf.co"),
}
"""The hosts that a secret is meant for, by the first word of its name."""


def prints_everything(program: str, words: Sequence[str]) -> bool:
    """Decides whether a call prints every variable with its value, including keys and passwords."""
    if program == "ps:get-childitem":
        return [word.lower().rstrip("\\") for word in words] == ["env:"]
    options = _PRINTERS.get(program)
    return options is not None and all(word in options for word in words)


def holds_everything(text: str) -> bool:
    """Decides whether a word contains the whole environment: `$(env | base64)`, `{"e": os.environ}`."""
    return WHOLE in text or (_may_print(text) and _PRINTED.search(text) is not None)


def _may_print(text: str) -> bool:
    """Decides whether a text has a sign that every command in it needs, which is quicker to test than the command."""
    return "$(" in text or "`" in text or (":" in text and "env:" in text.lower())


def foreign_secrets(text: str, hosts: Sequence[str]) -> bool:
    """Decides whether a text passes a secret, recognised by its variable's name, to a host that it is not meant for. A
    name that doesn't reveal the owner (`$TOKEN`, `$API_KEY`) may be meant for any host."""
    return "$" in text and any(not _is_meant_for(name, hosts) for name in _secrets(text))


def _secrets(text: str) -> Iterator[str]:
    for match in _VARIABLE.finditer(text):
        name = (match[1] or match[2]).upper()
        if _SECRET.search(name):
            yield name
    for match in _TEMPLATE.finditer(text):
        yield match[1].upper()


def _is_meant_for(name: str, hosts: Sequence[str]) -> bool:
    owner = _OWNERS.get(name.partition("_")[0].lower())
    if owner is not None and hosts:
        return any(part in host for host in hosts for part in owner)
    return not _NOBODYS.match(name)
