"""Decides whether a value looks random or only stands for a secret: placeholders, examples, references."""

from __future__ import annotations

import math
import re
from collections import Counter

_PREFIX = re.compile(r"^[A-Za-z0-9.]{1,12}[_-](?=.{12})")
_WORDLIKE = re.compile(r"^(?:[A-Za-z]+\d?|\d{0,3})(?:[._:/-](?:[A-Za-z]+\d?|\d{0,3}))*$|^\d{1,5}$")
_DOTTED = re.compile(r"^[A-Za-z_$][\w-]{0,30}(?:\.[A-Za-z_][\w-]{0,24})+(?::\d{1,5})?$")
_EXPRESSION = re.compile(
    r"^\\?[&*!-]{1,2}[A-Za-z_$][\w$:]*$|^[&*!-]?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[\w$]+)*[(\[{]|^\.\w+\(|\)[.\[]"
    r"|^(?:True|False|None|true|false|null)\b|^[A-Z]\w*(?:Key|Type)s?$"
)
_ARGUMENT = re.compile(r"^[A-Za-z_]\w*=")
_WORDS = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_PART = r"(?:[A-Za-z]*\d{0,3}[a-z]?|\d{1,4}[A-Za-z]{0,4})"
_JOINED = re.compile(rf"^{_PART}(?:_{_PART}){{2,}}$")
_HEX = re.compile(r"^(?:0x)?[0-9a-fA-F]+$")
_UUID = re.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_PLACEHOLDER = r"""(?ix)
    sample | placeholder | change_?me | replace[_-]?(?:me|with) | your[_-]?\w | \bmy[_-]?\w+ | dummy | fake | redacted
    | insert[_-] | \*{3} | \.{3} | \$\{ | \{\{ | <[a-z_ -]+> | ^\{[a-z_][\w.]*(?:[!:(\[]|$) | ^\#\w+$
    | ^(?:true|false|none|null|nil|undefined|password|passwd|pass|secret|token|test\w{0,4}|string|todo|required|default
      |value|key|tbd|tiger|foo\w{0,4}|bar|baz)$
    | ^\\?[$<%(\[] | ^:[a-z] | \\[sdwSDWb(] | \[\^ | ^(?:process\.env|os\.environ|env\.|config\.|self\.|this\.|vault:|op://|ssm:|secretsmanager:)
    | getenv | %\w+%$ | \)$ | ^\w+(?:\|\w+){2} | ^\.[*+]
    | ^(?:/|\./|\.\./|~/|https?://|file:|[a-z]:\\) | ^[\W_]*$
    """
_RUNS = ("12345", "abc123", "qwerty", "password123", "aaaaaa", "000000", "111111", "deadbeef", "abcdef", "foobar")
_DIGESTS = ("sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:", "md5:", "sha1:")


def entropy(text: str) -> float:
    """Returns the Shannon entropy in bits per character."""
    if not text:
        return 0.0
    length = len(text)
    return -sum(count / length * math.log2(count / length) for count in Counter(text).values())


def entropy_without_prefix(text: str) -> float:
    """Returns the entropy of the text after a provider's prefix."""
    return entropy(_PREFIX.sub("", text))


def is_filler(value: str) -> bool:
    """Decides whether a value is an example from documentation, a sequence of letters, or a few letters repeated."""
    lowered = value.lower()
    if "example" in lowered or "xxxxx" in lowered or lowered.endswith("here"):
        return True
    tail = lowered[-24:]
    return (len(set(tail)) <= 4 and len(tail) > 12) or any(run in lowered for run in _RUNS)


def is_placeholder(value: str) -> bool:
    """Decides whether a value is to be replaced by a secret, or names the secret's location."""
    # Compiled at first use, which takes as long as importing the module.
    return re.search(_PLACEHOLDER, value) is not None or is_filler(value)


def is_reference(value: str) -> bool:
    """Decides whether a value is a variable or template in place of a password."""
    return value.startswith(("$", "\\$", "{", "<", "%", "*", "[")) or is_filler(value)


def is_wordlike(value: str) -> bool:
    """Decides whether a value is made of words joined by dots and dashes, or is a short number."""
    return _WORDLIKE.match(value) is not None


def is_expression(value: str) -> bool:
    """Decides whether a value is code: what computes it, such as `read_key(path` or `keys[name`, a constant, a pointer
    or a class."""
    return _EXPRESSION.search(value) is not None


def is_argument(value: str) -> bool:
    """Decides whether a value after a comma begins with the name of an argument."""
    return _ARGUMENT.match(value) is not None


def is_made_of_words(value: str) -> bool:
    """Decides whether a value is a name that a program gives to a thing: most of it are words of four letters and more,
    which are a sixth of a random text, or it has many short parts."""
    return sum(len(word) for word in _WORDS.findall(value)) > 0.55 * len(value) or _JOINED.match(value) is not None


def is_uuid(value: str) -> bool:
    """Decides whether a value has the form of a UUID."""
    return _UUID.match(value) is not None


def is_hex(value: str) -> bool:
    """Decides whether a value has only hexadecimal digits, like a hash."""
    return _HEX.match(value) is not None


def is_digest(value: str) -> bool:
    """Decides whether a value is an integrity digest, as in lock files."""
    return value.lower().startswith(_DIGESTS)


def is_mixed(value: str) -> bool:
    """Decides whether a value mixes upper case, lower case and digits, as identifiers made of words, hashes and
    hexadecimal ids don't."""
    return (
        any(char.isupper() for char in value)
        and any(char.islower() for char in value)
        and sum(char.isdigit() for char in value) >= 2
        and not is_hex(value)
    )


def is_random(value: str) -> bool:
    """Decides whether a value looks random rather than written: enough entropy for its length, and no words."""
    if len(value) < 8 or is_wordlike(value) or is_uuid(value) or is_digest(value) or _DOTTED.match(value):
        return False
    if len(value) >= 20 and is_hex(value):
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
