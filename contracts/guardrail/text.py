"""Text made comparable: escapes and invisible characters removed, look-alike letters folded, encoded runs decoded.

Nothing here knows commands or calls; that is `shell` and `calls`.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

MAX_DECODED_CHARS = 64 * 1024
MAX_DECODED_RUNS = 64
DECODING_DEPTH = 2

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_BACKSPACED = re.compile(r"[^\x08\n]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0020-\U000e007e]")
_ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]")
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u0085]")
_LETTERS = re.compile(r"[^\W\d_]+")

# Letters of other scripts that are drawn like a Latin one: confusables, in Unicode TS #39. NFKC keeps these apart.
_LOOK_ALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХЗаеѕіјорсухһԁԛԝґѵкмтгвΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοινκρυτγχεɑɡɩʟʀɴʜᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢՕՍԼհոսօցզ",
    "ABESIJKMHOPCTYX3aesijopcyxhdqwrvkmtrbABEZHIKMNOPTYXaoivkputyxeagilrnhacdejkmoptuvwzOULhnuogq",
)
_PUNCTUATION = str.maketrans(
    {
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "﹘": "-", "﹣": "-",
        "‘": "'", "’": "'", "‛": "'", "′": "'", "“": '"', "”": '"', "‟": '"', "″": '"', "⁄": "/", "∕": "/", "⧸": "/",
        "∣": "|", "ǀ": "|", "❘": "|", "․": ".", "‚": ",", "；": ";", "∗": "*", "∼": "~", "ꓸ": ".",
    }
)  # fmt: skip


def without_escapes(text: str) -> str:
    """Text as a terminal would show it: no ANSI escapes, overwritten or invisible characters, CRLF as LF."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "\x08" in text:
        text = _BACKSPACED.sub("", text)
    text = _CONTROLS.sub("", text.replace("\r", "\n"))
    if text.isascii():
        return text
    return _SPACES.sub(" ", _INVISIBLE.sub("", text))


def normalised(text: str) -> str:
    """`without_escapes`, then NFKC, then look-alike letters folded to Latin where a word could be read as Latin."""
    text = without_escapes(text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return _LETTERS.sub(_fold_word, text.translate(_PUNCTUATION))


def _fold_word(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii():
        return word
    folded = word.translate(_LOOK_ALIKES)
    return folded if folded.isascii() else word


def anomalies(text: str) -> Iterator[str]:
    """What hides text from a reader: escapes, invisible characters, direction marks, mixed scripts."""
    if text.isascii() and text.isprintable():
        return
    if "\x1b" in text or "\x9b" in text:
        yield "ansi-escape"
    if "\x08" in text:
        yield "backspace"
    if text.isascii():
        return
    for kind, pattern in (("zero-width", _ZERO_WIDTH), ("bidi-control", _BIDI)):
        if pattern.search(text):
            yield kind
    tagged = "".join(chr(ord(char) - 0xE0000) for char in _TAGS.findall(text))
    if tagged:
        yield f"hidden-text: {tagged}"
    others = [word for word in _LETTERS.findall(text) if not word.isascii()]
    # Where words of a script can't be read as Latin, those that can are of the same language.
    foreign = any(not word.translate(_LOOK_ALIKES).isascii() for word in others)
    for word in others:
        folded = word.translate(_LOOK_ALIKES)
        mixed = any(char.isascii() for char in word)
        if folded.isascii() and (mixed or not foreign):
            yield f"look-alike: {folded}"
        elif mixed and len(_scripts(word)) > 1:
            yield f"mixed-script: {word}"


def _scripts(word: str) -> set[str]:
    names = (unicodedata.name(char, "UNKNOWN").split(" ")[0] for char in word)
    return {
        name for name in names if name in ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "HEBREW", "ARABIC")
    }


_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{12,}={0,2}(?![A-Za-z0-9+/_=-])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}){6,})(?![0-9A-Za-z])")
_SPACED_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}[ ,:]){5,}[0-9a-fA-F]{2}(?![0-9A-Za-z])")
_ONE_ESCAPE = r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[0-3][0-7]{2})"
_ESCAPES = re.compile(rf"{_ONE_ESCAPE}(?:[ -~]{{0,2}}{_ONE_ESCAPE}){{3,}}")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([0-3][0-7]{2})")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ENTITIES = re.compile(r"(?:&#x?[0-9a-fA-F]{1,6};[ -~]?){2,}")


def decoded_runs(text: str) -> list[str]:
    """Readable text in base64, hex, percent, backslash and HTML escapes; what was encoded twice is decoded twice."""
    found: dict[str, None] = {}
    level, total = [text], 0
    for _ in range(DECODING_DEPTH):
        deeper: list[str] = []
        for each in level:
            for _, run in _runs(each):
                total += len(run)
                if total > MAX_DECODED_CHARS or len(found) >= MAX_DECODED_RUNS:
                    return list(found)
                if run not in found and run != text:
                    found[run] = None
                    deeper.append(run)
        level = deeper
    return list(found)


def encoded_runs(text: str) -> list[tuple[str, str]]:
    """Each run that `decoded_runs` decodes, as it stands in the text, with what it says."""
    return list(_runs(text))


def _runs(text: str) -> Iterator[tuple[str, str]]:
    for match in _BASE64.finditer(text):
        for plain in _from_base64(match[0]):
            yield match[0], plain
    for match in _HEX.finditer(text):
        for plain in _readable(binascii.unhexlify(match[1])):
            yield match[0], plain
    for match in _SPACED_HEX.finditer(text):
        for plain in _readable(bytes.fromhex(re.sub(r"[ ,:]", "", match[0]))):
            yield match[0], plain
    if "\\" in text:
        for match in _ESCAPES.finditer(text):
            yield (
                match[0],
                _ESCAPE.sub(
                    lambda each: chr(int(each[1] or each[2] or "0", 16) if not each[3] else int(each[3], 8)), match[0]
                ),
            )
    if "%" in text:
        for word in text.split():
            if _PERCENT.search(word) and "\ufffd" not in (plain := unquote(word, errors="replace")):
                yield word, plain
    if "&#" in text:
        for match in _ENTITIES.finditer(text):
            yield match[0], html.unescape(match[0])


def _from_base64(run: str) -> Iterator[str]:
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) % 4 == 1:
        return
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        return
    yield from _readable(data)


def _readable(data: bytes) -> Iterator[str]:
    """The bytes as text, if they are text: UTF-16 (as PowerShell encodes commands) or UTF-8."""
    for encoding in ("utf-16-le", "utf-8"):
        if encoding == "utf-16-le" and (len(data) % 2 or data.count(0) * 3 < len(data)):
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        text = text.strip("\0\r\n")
        if len(text) >= 4 and sum(char.isprintable() or char in "\t\r\n" for char in text) == len(text):
            yield text
            return
