"""Values inside an action that mean the same however they are written: paths, URLs, hosts, amounts, identities."""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from contracts.guardrail.numeric import number

_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20})://([^\s'\"<>`|;\\{}^]+)")
_SCP = re.compile(r"(?<![\w/])(?:[\w.-]{1,64}@)((?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3}):(?!//)")
_DEV_TCP = re.compile(r"/dev/(tcp|udp)/([^/\s]+)/(\d+)")
_UNC = re.compile(r"(?<![\w:\\])\\\\([\w.-]+)\\")
_IP = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.])")
_TRAILING = ".,;:!?)]}'\""


def urls(text: str) -> Iterator[str]:
    """Each URL as `scheme://host[:port]/path`, scheme and host in lower case, host in ASCII, credentials left out."""
    for found in _URL.finditer(text):
        rest = found[2].rstrip(_TRAILING)
        authority, slash, path = rest.partition("/")
        host = host_of(authority)
        if host:
            yield f"{found[1].lower()}://{host}{slash}{path}"


def host_of(authority: str) -> str:
    """Host and port of an authority, as ASCII in lower case; numeric and hexadecimal IPv4 forms as four numbers."""
    host = authority.rpartition("@")[2].partition("?")[0].partition("#")[0].lower().rstrip(".")
    name, colon, port = host.partition(":") if not host.startswith("[") else (host, "", "")
    if re.fullmatch(r"0x[0-9a-f]{1,8}|\d{8,10}", name):
        value = int(name, 0)
        if value < 1 << 32:
            name = ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))
    elif not name.isascii():
        with suppress(UnicodeError):
            name = name.encode("idna").decode("ascii")
    return name + colon + port


def hosts(text: str, found_urls: Iterable[str]) -> Iterator[str]:
    """Hosts of URLs, of scp and git addresses, of /dev/tcp and UNC paths, and bare IPv4 addresses; ports left out."""
    for url in found_urls:
        with suppress(ValueError):
            host = urlsplit(url).hostname
            if host:
                yield host
    for pattern, group in ((_SCP, 1), (_DEV_TCP, 2), (_UNC, 1), (_IP, 1)):
        for found in pattern.finditer(text):
            yield found[group].lower()


_HOME = re.compile(
    r"(?<![\w\\])(?:~(?=[/\\]|$)|\$\{?HOME\}?(?!\w)|(?i:\$env:(?:userprofile|home)|%userprofile%|%homedrive%%homepath%))"
)
_HERE = re.compile(r"^\$(?:PWD|\{PWD\})(?=/|$)")
_OTHER_HOME = re.compile(r"^~([a-z_][a-z0-9_-]*)(?=/|$)")
_WINDOWS_VARIABLES = re.compile(r"(?i)%([a-z]+(?:\(x86\))?)%|\$\{?env:([a-z]+(?:\(x86\))?)\}?")
_WINDOWS_PLACES = {
    "systemroot": "c:/windows",
    "windir": "c:/windows",
    "systemdrive": "c:",
    "programdata": "c:/programdata",
    "allusersprofile": "c:/programdata",
    "programfiles": "c:/program files",
    "programfiles(x86)": "c:/program files (x86)",
    "public": "c:/users/public",
    "appdata": "{home}/appdata/roaming",
    "localappdata": "{home}/appdata/local",
    "temp": "{home}/appdata/local/temp",
    "tmp": "{home}/appdata/local/temp",
    "comspec": "c:/windows/system32/cmd.exe",
}
_DRIVE = re.compile(r"^[A-Za-z]:")
_PATH_SIGN = re.compile(r"[/\\~.%$]")
"""What every word that `_LOOKS_LIKE_PATH` fits has in it."""

_LOOKS_LIKE_PATH = re.compile(r"^(?:[~/.\\]|[A-Za-z]:[\\/]|%\w+%|\$)|[/\\]")
_OPTION_VALUE = re.compile(r"^(?:--?[\w-]+[=:]|[\w.-]+=|@|\d?[<>]{1,2})(?=[~/.$%\\A-Za-z])")
_STARTS_AS_PATH = re.compile(r"[~/]|[A-Za-z]:[\\/]|\\\\|%\w+%|\$")
_NO_BARE_PATH = re.compile(r"[\s'\"()]")
PATHS_IN_CODE = re.compile(r"(?<![\w:/.])(?:~|\$HOME)?(?:/[\w.@+~-]+){2,}/?|[A-Za-z]:\\[^\s'\"]+")
_REMOTE = re.compile(r"^[a-z][a-z0-9+.-]*://|^[\w.-]+@[\w.-]+:")


def paths(words: Iterable[str], cwd: str, home: str, windows: bool) -> Iterator[str]:
    """Each word that names a file, absolute: `~`, `$HOME` and Windows' variables replaced, `.` and `..` resolved.

    Windows paths have forward slashes and are in lower case. Words with options in front (`--file=x`, `if=x`) count.
    A pattern for a part of a name is followed by the private files that it fits.
    """
    for word in words:
        if not _PATH_SIGN.search(word):
            continue
        candidate = _OPTION_VALUE.sub("", word, count=1)
        if _NO_BARE_PATH.search(candidate) and not _STARTS_AS_PATH.match(candidate):
            continue
        if len(candidate) > 1_000 or not _LOOKS_LIKE_PATH.search(candidate) or _REMOTE.match(candidate):
            continue
        path = expanded(candidate, cwd, home, windows)
        yield path
        if _GLOB.search(path):
            yield from _private_files(path, home)
        if candidate != word and _LOOKS_LIKE_PATH.match(word):
            yield expanded(word, cwd, home, windows)


_GLOB = re.compile(r"[?\[]|[^/]\*|\*[^/]")
_PRIVATE_FILES = (
    "/etc/shadow",
    "/etc/gshadow",
    "{home}/.ssh/id_rsa",
    "{home}/.ssh/id_ed25519",
    "{home}/.aws/credentials",
)
"""What a pattern such as `/e??/sh*` is written for."""


def _private_files(pattern: str, home: str) -> Iterator[str]:
    for each in _PRIVATE_FILES:
        private = each.format(home=home)
        if private.count("/") == pattern.count("/") and fnmatchcase(private, pattern):
            yield private


_WRITTEN_PATH = re.compile(r"(?:~[\w-]*|\$\{?[A-Za-z_]\w*\}?|[\w.@+%-]+)?/[\w.@+%*?,\[\]{}~$/-]*")
_DETOUR = re.compile(r"^(?=[/~.$]).*//|/\.{1,2}(?:/|$)")


def without_detours(word: str) -> str:
    """A word that is a path, without `//`, `.` and what `..` takes back; a relative one stays so, other words stay."""
    if "/" not in word or not _DETOUR.search(word) or not _WRITTEN_PATH.fullmatch(word):
        return word
    # nobody knows what stands above a home directory or in a variable
    root, _, rest = word.partition("/") if word[0] in "~$" else ("", "", word)
    resolved = posixpath.normpath(f"/{rest.lstrip('/')}" if word[0] == "/" else rest.lstrip("/"))
    if root:
        resolved = root if resolved == "." else f"{root}/{resolved}"
    return resolved + ("/" if word.endswith("/") and resolved != "/" else "")


def expanded(path: str, cwd: str, home: str, windows: bool) -> str:
    """One path, absolute and without `.` and `..`."""
    path = _HOME.sub(lambda _: home, path)
    path = _HERE.sub(lambda _: cwd, path)
    path = _OTHER_HOME.sub(lambda found: "/root" if found[1] == "root" else f"/home/{found[1]}", path)
    if windows or "%" in path or "\\" in path:
        path = _WINDOWS_VARIABLES.sub(
            lambda found: _WINDOWS_PLACES.get((found[1] or found[2]).lower(), found[0]).replace("{home}", home), path
        )
    if windows or _DRIVE.match(path):
        path = path.replace("\\", "/").lower()
        cwd = cwd.replace("\\", "/").lower()
    path = path.removeprefix("//?/").removeprefix("//./")
    if not path.startswith("/") and not _DRIVE.match(path) and not path.startswith(("$", "%")):
        path = posixpath.join(cwd, path)
    trailing = "/" if path.endswith("/") and len(path) > 1 else ""
    drive, path = (path[:2], path[2:]) if _DRIVE.match(path) else ("", path)
    resolved = posixpath.normpath(path) if path else "/"
    if resolved.startswith("//"):
        resolved = resolved[1:]
    return drive + resolved + (trailing if resolved != "/" else "")


_UNITS = {
    "$": "usd", "us$": "usd", "usd": "usd", "usdc": "usd", "usdt": "usd", "dai": "usd", "dollar": "usd",
    "dollars": "usd",
       "€": "eur", "eur": "eur", "euro": "eur", "euros": "eur", "£": "gbp", "gbp": "gbp", "pounds": "gbp",
    "¥": "jpy", "jpy": "jpy", "chf": "chf", "eth": "eth", "ether": "eth", "weth": "eth",
    "wei": "wei", "gwei": "gwei",
    "btc": "btc", "sol": "sol", "%": "percent", "percent": "percent",
}  # fmt: skip
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mio": 1e6, "million": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9}
_NUMBER = r"(\d{1,3}(?:[,_']\d{3})+(?:\.\d+)?|\d{1,78}(?:\.\d{1,30})?)"
_SCALE = r"(?:\s?(k|thousand|m|mio|million|bn|b|billion)(?![A-Za-z]))?"
_BEFORE = re.compile(rf"(?i)(?<![\w$])(us\$|\$|€|£|¥|(?:usdc?|usdt|eur|gbp|jpy|chf|eth|btc)\s){_NUMBER}{_SCALE}")
_AFTER = re.compile(
    rf"(?i)(?<![\w.,$]){_NUMBER}{_SCALE}\s?(usdc|usdt|usd|dai|dollars?|eur|euros?|€|gbp|£|pounds|jpy|chf|weth|ether|eth|gwei|wei|btc|sol|percent|%)(?![\w])"
)
_UNLIMITED = re.compile(
    r"(?i)\b(?:uint256[._]?max|max[_ ]?uint(?:256)?|2\s?\*\*\s?256\s?-\s?1|unlimited|infinite)\b"
    r"|(?<!\w)0x[fF]{64}(?!\w)"
)
MAX_UINT256_FROM = float(1 << 255)


def amounts(text: str) -> Iterator[tuple[float, str]]:
    """Amounts with a unit in a text, as `(amount, unit)`; stablecoins of the dollar count as `usd`."""
    for found in _BEFORE.finditer(text):
        yield _scaled(found[2], found[3]), _UNITS[found[1].strip().lower()]
    for found in _AFTER.finditer(text):
        yield _scaled(found[1], found[2]), _UNITS[found[3].lower()]
    if _UNLIMITED.search(text):
        yield math.inf, "unlimited"


def _scaled(digits: str, scale: str | None) -> float:
    plain = number(digits.replace("'", ""))
    return (plain or 0.0) * _SCALES.get((scale or "").lower(), 1.0)


_AMOUNT_NAME = re.compile(
    r"(?i)(?:^|[._])(?:amount|value|price|total|sum|allowance|limit|budget|cost|fee|qty|quantity|payment|funds)(?:$|[._])|amount$"
)
_UNIT_IN_NAME = re.compile(r"(?i)_(usdc?|usd_cents|eur|gbp|eth|wei|gwei|btc|percent)$")
_UNIT_NAMES = frozenset(("currency", "unit", "token", "asset", "symbol", "denomination"))


def argument_amounts(leaves: Iterable[tuple[str, object]]) -> Iterator[tuple[float, str]]:
    """Amounts among the arguments of a call: the unit is in the name (`amount_usd`) or beside it (`currency`)."""
    held = [(path.rpartition(".")[2], value) for path, value in leaves]
    beside = next((str(value).lower() for name, value in held if name.lower() in _UNIT_NAMES), "")
    for name, value in held:
        unit_in_name = _UNIT_IN_NAME.search(name)
        if not (unit_in_name or _AMOUNT_NAME.search(name)):
            continue
        amount = number(value)
        if amount is None:
            continue
        unit = unit_in_name[1].lower() if unit_in_name else beside
        if unit == "usd_cents":
            amount, unit = amount / 100, "usd"
        yield (math.inf, "unlimited") if amount >= MAX_UINT256_FROM else (amount, _UNITS.get(unit, unit))


IDENTITIES = {
    "email": re.compile(r"(?i)(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])"),
    "address": re.compile(r"(?<![0-9A-Za-z])0x[0-9a-fA-F]{40}(?![0-9A-Za-z])"),
    "bitcoin": re.compile(
        r"(?<![0-9A-Za-z])(?:bc1[02-9ac-hj-np-z]{11,71}|[13][1-9A-HJ-NP-Za-km-z]{25,34})(?![0-9A-Za-z])"
    ),
    "iban": re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![0-9A-Za-z])"),
    "url": re.compile(r"(?i)\bhttps?://[^\s'\"<>`]+|\bwww\.[^\s'\"<>`]+"),
    "phone": re.compile(r"(?<![\w.-])\+\d[\d ().-]{6,18}\d(?!\w)"),
}
"""Values that say who gets or reaches something."""


def identities(text: str) -> Iterator[tuple[str, str]]:
    """`(kind, value)` of each identity in a text, without inner spaces."""
    for kind, pattern in IDENTITIES.items():
        for found in pattern.finditer(text):
            yield kind, found[0].rstrip(_TRAILING).replace(" ", "")
