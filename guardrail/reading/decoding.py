"""Makes text comparable and encoded text readable, with knowledge of characters and encodings but of no grammar.

`normalise` removes everything that hides text from a reader, `decoded_runs` finds encoded text, and `constant_output`
returns the output of a small pipeline of constant text.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from urllib.parse import unquote

from guardrail.model import Call, Word
from guardrail.record import record

MAX_DECODED_CHARS = 64 * 1024
MAX_DECODED_RUNS = 64
DECODING_DEPTH = 2
MAX_PIPELINE = 12
MAX_OUTPUT_BYTES = 64 * 1024
"""Maximum size of output that is followed; longer output is not followed at all, since no text is read only in part."""


@record
class Normalised:
    """A text made comparable. The characters between two of `starts` have the same distances as in the original text,
    beginning at the entry of `origins` with the same index."""

    text: str
    starts: tuple[int, ...] = ()
    origins: tuple[int, ...] = ()

    def origin(self, position: int) -> int:
        """Returns the position of a character in the original text."""
        if not self.starts:
            return position
        index = max(bisect_right(self.starts, position) - 1, 0)
        origin = self.origins[index] + position - self.starts[index]
        return min(origin, self.origins[index + 1]) if index + 1 < len(self.origins) else origin


# Characters that a terminal doesn't show, other blanks, and letters beyond ASCII, which may be look-alikes.
_STRANGE = re.compile(
    r"(?P<ansi>\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~])"
    r"|(?P<backspaced>[^\x08\n]\x08)"
    r"|(?P<newline>\r\n?)"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f])"
    "|(?P<invisible>[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff])"
    "|(?P<space>[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000])"
    r"|(?P<other>[^\x00-\x7f])"
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0020-\U000e007e]")
_ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]")
_LETTERS = re.compile(r"[^\W\d_]+")

# Letters of other scripts that are drawn like a Latin one: confusables, in Unicode TS #39. NFKC keeps these apart.
_LOOK_ALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХЗаеѕіјорсухһԁԛԝґѵкмтгвΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοινκρυτγχεɑɡɩʟʀɴʜᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢՕՍԼհոսօցզ",
    "ABESIJKMHOPCTYX3aesijopcyxhdqwrvkmtrbABEZHIKMNOPTYXaoivkputyxeagilrnhacdejkmoptuvwzOULhnuogq",
)
# Dashes, slashes and dots in place of the ASCII ones. Quotes and operators stay: a shell reads these as letters.
_PUNCTUATION = {
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "﹘": "-", "﹣": "-", "－": "-",
    "⁄": "/", "∕": "/", "⧸": "/", "／": "/", "․": ".", "．": ".", "ꓸ": ".", "∗": "*", "＊": "*", "∼": "~", "～": "~",
}  # fmt: skip


def normalise(text: str) -> Normalised:
    """Returns the text as a terminal would show it (no escapes, no overwritten or invisible characters, CRLF as LF),
    with compatibility characters as plain ones, and look-alike letters as Latin ones where a word could be read as
    Latin."""
    if text.isascii() and (text.isprintable() or not _STRANGE.search(text)):
        return Normalised(text)
    parts: list[str] = []
    starts, origins = [0], [0]
    length = end = 0
    for match in _STRANGE.finditer(text):
        kept = text[end : match.start()]
        replacement = _replacement(match)
        parts += [kept, replacement]
        length += len(kept) + len(replacement)
        end = match.end()
        if len(replacement) != end - match.start():
            starts.append(length)
            origins.append(end)
    parts.append(text[end:])
    plain = "".join(parts)
    if not plain.isascii():
        words = [word for word in _LETTERS.findall(plain) if not word.isascii()]
        # If some words of a script can't be read as Latin, those that can are in the same language.
        foreign = any(not word.translate(_LOOK_ALIKES).isascii() for word in words)
        plain = _LETTERS.sub(lambda match: _fold(match[0], foreign), plain)
    return Normalised(plain, tuple(starts), tuple(origins)) if len(starts) > 1 else Normalised(plain)


def _replacement(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "newline":
        return "\n"
    if kind == "space":
        return " "
    if kind != "other":
        return ""
    char = match[0]
    if char in _PUNCTUATION:
        return _PUNCTUATION[char]
    plain = unicodedata.normalize("NFKC", char)
    return plain if plain.isalnum() else char


def _fold(word: str, foreign: bool) -> str:
    if word.isascii() or (foreign and not any(char.isascii() for char in word)):
        return word
    folded = word.translate(_LOOK_ALIKES)
    return folded if folded.isascii() else word


def anomalies(text: str) -> Iterator[str]:
    """Yields the means by which a text hides parts from a reader: escapes, invisible characters, direction marks, mixed
    scripts."""
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
    words = [word for word in _LETTERS.findall(_INVISIBLE.sub("", text)) if not word.isascii()]
    foreign = any(not word.translate(_LOOK_ALIKES).isascii() for word in words)
    for word in words:
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


# --- Encoded runs of a text ------------------------------------------------------------------------------------------

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{12,}={0,2}(?![A-Za-z0-9+/_=-])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}){6,})(?![0-9A-Za-z])")
_SPACED_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}[ ,:]){5,}[0-9a-fA-F]{2}(?![0-9A-Za-z])")
_ONE_ESCAPE = r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[0-3][0-7]{2})"
_ESCAPES = re.compile(rf"{_ONE_ESCAPE}(?:[ -~]{{0,2}}{_ONE_ESCAPE}){{3,}}")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([0-3][0-7]{2})")
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ENTITIES = re.compile(r"&#x?[0-9a-fA-F]{1,6};(?:[^&]?&#x?[0-9a-fA-F]{1,6};)+")


def decoded_runs(text: str) -> list[str]:
    """Returns readable text in base64, hex, percent, backslash and HTML escapes; text that was encoded twice is decoded
    twice."""
    found: dict[str, None] = {}
    level, total = [text], 0
    for _ in range(DECODING_DEPTH):
        deeper: list[str] = []
        for encoded in level:
            for _, run in encoded_runs(encoded):
                total += len(run)
                if total > MAX_DECODED_CHARS or len(found) >= MAX_DECODED_RUNS:
                    return list(found)
                if run not in found and run != text:
                    found[run] = None
                    deeper.append(run)
        level = deeper
    return list(found)


def encoded_runs(text: str) -> Iterator[tuple[str, str]]:
    """Yields each run of the text that decodes to readable text, as spelled and as decoded."""
    for match in _BASE64.finditer(text):
        plain = from_base64(match[0])
        if plain is not None:
            yield match[0], plain
    for match in _HEX.finditer(text):
        plain = _readable(binascii.unhexlify(match[1]))
        if plain is not None:
            yield match[0], plain
    for match in _SPACED_HEX.finditer(text):
        plain = _readable(bytes.fromhex(re.sub(r"[ ,:]", "", match[0])))
        if plain is not None:
            yield match[0], plain
    if "\\" in text:
        for match in _ESCAPES.finditer(text):
            yield match[0], _ESCAPE.sub(_unescaped, match[0])
    if "%" in text:
        for word in text.split():
            if _PERCENT.search(word) and "\ufffd" not in (plain := unquote(word, errors="replace")):
                yield word, plain
    if "&#" in text:
        import html  # slow to import, and rarely needed

        for match in _ENTITIES.finditer(text):
            yield match[0], html.unescape(match[0])


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[3], 8) if match[3] else int(match[1] or match[2], 16))


def from_base64(run: str) -> str | None:
    """Returns the readable text in a run of base64, if any, in UTF-8 or (as PowerShell encodes commands) UTF-16."""
    bare = run.rstrip("=").replace("-", "+").replace("_", "/")
    if len(bare) % 4 == 1:
        return None
    try:
        data = base64.b64decode(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        return None
    return _readable(data)


def _readable(data: bytes) -> str | None:
    for encoding in ("utf-16-le", "utf-8"):
        if encoding == "utf-16-le" and (len(data) % 2 or data.count(0) * 3 < len(data)):
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        text = text.strip("\0\r\n")
        if len(text) >= 4 and all(char.isprintable() or char in "\t\r\n" for char in text):
            return text
    return None


# --- The output of a pipeline of constant text ------------------------------------------------------------------------


def constant_output(source: Call | Word | None) -> str | None:
    """Returns the content of a pipe if its source is constant text and all filters only decode or rearrange it
    (`echo cm0gLXJmIC8= | base64 -d`), else None."""
    data = _output(source, MAX_PIPELINE)
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _output(source: Call | Word | None, depth: int) -> bytes | None:
    if isinstance(source, Word):
        return source.text.encode("utf-8", "surrogateescape") if source.known else None
    if source is None or depth == 0 or any(redirection.operator != ">" for redirection in source.redirections):
        return None
    if any(redirection.target.text != "/dev/null" for redirection in source.redirections):
        return None
    words: list[str] = []
    for word in source.words:
        if word.known:
            words.append(word.text)
        elif not word.text.startswith(("<(", ">(")):  # the reader made the first the call's stdin
            return None
    maker = _MAKERS.get(source.program)
    if maker is not None:
        return maker(words)
    change = _FILTERS.get(source.program)
    if change is None:
        return None
    data = _output(source.stdin, depth - 1)
    if data is None:
        return None
    try:
        changed = change(words, data)
    except (ValueError, zlib.error, OSError, EOFError, LookupError):
        return None
    return None if changed is None or len(changed) > MAX_OUTPUT_BYTES else changed


_BACKSLASHED = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|c(.)|(.))", re.S
)
_ONE_LETTER = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def unescape(text: str) -> str:
    """Replaces the backslash escapes of `$'…'`, `printf` and `echo -e`."""
    if "\\" not in text:
        return text
    raw = _BACKSLASHED.sub(_escaped_char, text)
    if any("\udc80" <= char <= "\udcff" for char in raw):  # several \x of one UTF-8 character
        return raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return raw


def _escaped_char(match: re.Match[str]) -> str:
    byte, short, long, octal, control, letter = match.groups()
    if byte or octal:
        value = int(byte, 16) if byte else int(octal, 8) & 0xFF
        return chr(value) if value < 0x80 else chr(0xDC00 + value)
    if short or long:
        value = int(short or long, 16)
        return chr(value) if value < 0xD800 or 0xDFFF < value < 0x110000 else "\ufffd"
    if control:
        return chr(ord(control) & 0x1F)
    return _ONE_LETTER.get(letter, "\\" + letter)


def _echo(words: Sequence[str]) -> bytes:
    index, newline, escapes = 0, True, False
    while index < len(words) and re.fullmatch(r"-[neE]+", words[index]):
        newline = newline and "n" not in words[index]
        escapes = escapes or "e" in words[index]
        index += 1
    text = " ".join(words[index:])
    if escapes:
        text, stop, _ = text.partition("\\c")
        text = unescape(text)
        newline = newline and not stop
    return _encoded(text + ("\n" if newline else ""))


_CONVERSION = re.compile(r"%%|%[-+ #0]*\d*(?:\.\d+)?([sbdiqcxXou])")


def _printf(words: Sequence[str]) -> bytes | None:
    if words[:1] == ["--"]:
        words = words[1:]
    if not words or words[0].startswith("-"):
        return None
    pattern, values = words[0], list(words[1:])
    out: list[str] = []
    size = 0
    while True:
        before = len(values)
        out.append(unescape(_CONVERSION.sub(lambda match: _converted(match, values), pattern.replace("\\\\", "\\134"))))
        size += len(out[-1])
        if size > MAX_OUTPUT_BYTES:
            return None
        if not values or len(values) == before:
            return _encoded("".join(out))


def _converted(match: re.Match[str], values: list[str]) -> str:
    if match[0] == "%%":
        return "%"
    value = values.pop(0) if values else ""
    if match[1] == "b":
        return unescape(value).replace("\\", "\\134")
    if match[1] == "c":
        value = value[:1]
    if match[1] in "xXo":
        try:
            value = format(int(value, 0), match[1])
        except ValueError:
            value = "0"
    return value.replace("\\", "\\134")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _letters_of(words: Sequence[str]) -> str:
    """Returns the letters of clustered short options, for filters that accept nothing else."""
    return "".join(word[1:] for word in words if re.fullmatch(r"-[A-Za-z]+", word))


def _operands(words: Sequence[str]) -> list[str]:
    return [word for word in words if word == "-" or not word.startswith("-")]


def _passes(words: Sequence[str], data: bytes) -> bytes | None:
    return data if all(word == "-" or word.startswith("-") for word in words) else None


def _base64(words: Sequence[str], data: bytes) -> bytes | None:
    decodes = "--decode" in words or any(letter in "dD" for letter in _letters_of(words))
    if any(word != "-" and not word.isdigit() for word in _operands(words)):
        return None
    if not decodes:
        return base64.b64encode(data) + b"\n"
    bare = re.sub(rb"[^A-Za-z0-9+/]", b"", data.replace(b"-", b"+").replace(b"_", b"/"))
    bare = bare[: len(bare) - 1] if len(bare) % 4 == 1 else bare
    return base64.b64decode(bare + b"=" * (-len(bare) % 4))


def _base32(words: Sequence[str], data: bytes) -> bytes | None:
    if "--decode" not in words and "d" not in _letters_of(words):
        return None
    bare = re.sub(rb"[^A-Z2-7]", b"", data)
    return base64.b32decode(bare + b"=" * (-len(bare) % 8))


def _openssl(words: Sequence[str], data: bytes) -> bytes | None:
    if not words or words[0] not in ("base64", "enc") or "-in" in words:
        return None
    if words[0] == "enc" and not {"-base64", "-a"} & set(words):
        return None
    return _base64(["-d"] if "-d" in words else [], data)


def _xxd(words: Sequence[str], data: bytes) -> bytes | None:
    letters = _letters_of(words)
    if _operands(words) not in ([], ["-"]):
        return None
    if "r" not in letters:
        return data.hex().encode() + b"\n" if "p" in letters else None
    if "p" in letters:
        text = re.sub(rb"[^0-9a-fA-F]", b"", data)
        return bytes.fromhex(text[: len(text) // 2 * 2].decode())
    lines = [line.split(b":", 1)[-1].split(b"  ", 1)[0] for line in data.splitlines()]
    text = re.sub(rb"[^0-9a-fA-F]", b"", b"".join(lines))
    return bytes.fromhex(text[: len(text) // 2 * 2].decode())


def _rev(words: Sequence[str], data: bytes) -> bytes | None:
    if words:
        return None
    return b"".join(line.rstrip(b"\n")[::-1] + line[len(line.rstrip(b"\n")) :] for line in data.splitlines(True))


def _tac(words: Sequence[str], data: bytes) -> bytes | None:
    return None if words else b"\n".join(reversed(data.splitlines())) + b"\n"


_CLASSES = {
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz", "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "[:digit:]": "0123456789",
    "[:space:]": " \t\n\r\v\f", "[:blank:]": " \t", "[:alpha:]": "A-Za-z", "[:alnum:]": "A-Za-z0-9",
    "[:punct:]": "!\"#$%&'()*+,./:;<=>?@[]^_`{|}~",
}  # fmt: skip


def _characters(characters: str) -> str:
    for name, letters in _CLASSES.items():
        characters = characters.replace(name, letters)
    characters = unescape(characters)
    members: list[str] = []
    index = 0
    while index < len(characters):
        if index + 2 < len(characters) and characters[index + 1] == "-":
            first, last = ord(characters[index]), ord(characters[index + 2])
            members.append("".join(map(chr, range(first, min(last, first + 256) + 1))))
            index += 3
        else:
            members.append(characters[index])
            index += 1
    return "".join(members)


def _tr(words: Sequence[str], data: bytes) -> bytes | None:
    letters, operands = (
        _letters_of(words),
        [_characters(word) for word in words if not re.fullmatch(r"-[cdsCt]+", word)],
    )
    if not operands or len(operands) > 2 or (len(operands) == 1 and not set(letters) & set("ds")):
        return None
    text = data.decode("latin-1")
    if "d" in letters:
        keep = set(letters) & set("cC")
        return "".join(char for char in text if (char in operands[0]) == bool(keep)).encode("latin-1")
    if len(operands) == 2:
        if set(letters) & set("cC"):
            text = "".join(char if char in operands[0] else operands[1][-1:] for char in text)
        elif operands[1]:
            padded = operands[1] + operands[1][-1] * (len(operands[0]) - len(operands[1]))
            text = text.translate(dict(zip(map(ord, operands[0]), padded, strict=False)))
    if "s" in letters:
        text = "".join(
            char for index, char in enumerate(text) if char not in operands[-1] or index == 0 or text[index - 1] != char
        )
    return text.encode("latin-1", "replace")


def _inflate(words: Sequence[str], data: bytes) -> bytes | None:
    if _operands(words) not in ([], ["-"]):
        return None
    return zlib.decompressobj(47).decompress(data, MAX_OUTPUT_BYTES + 1)


def _gzip(words: Sequence[str], data: bytes) -> bytes | None:
    decodes = {"--decompress", "--uncompress"} & set(words) or "d" in _letters_of(words)
    return _inflate(words, data) if decodes else None


def _bunzip(words: Sequence[str], data: bytes) -> bytes | None:
    import bz2  # slow to import, and rarely needed

    return bz2.BZ2Decompressor().decompress(data, MAX_OUTPUT_BYTES + 1) if _operands(words) in ([], ["-"]) else None


def _unxz(words: Sequence[str], data: bytes) -> bytes | None:
    if _operands(words) not in ([], ["-"]):
        return None
    import lzma  # slow to import, and rarely needed

    try:
        return lzma.LZMADecompressor(memlimit=64 * 1024 * 1024).decompress(data, MAX_OUTPUT_BYTES + 1)
    except lzma.LZMAError:
        return None


def _decompressing(change: Callable[[Sequence[str], bytes], bytes | None]) -> Callable[..., bytes | None]:
    """Creates a filter that only acts with the option for decompression."""

    def filtered(words: Sequence[str], data: bytes) -> bytes | None:
        return change(words, data) if "--decompress" in words or "d" in _letters_of(words) else None

    return filtered


def _count_of(words: Sequence[str], letter: str) -> int | None:
    for index, word in enumerate(words):
        if word == f"-{letter}" and index + 1 < len(words) and words[index + 1].isdigit():
            return int(words[index + 1])
        if re.fullmatch(rf"-{letter}\d+", word):
            return int(word[2:])
    return None


def _head(words: Sequence[str], data: bytes) -> bytes | None:
    count = _count_of(words, "c")
    if count is not None:
        return data[:count]
    count = _count_of(words, "n")
    return b"".join(data.splitlines(True)[: 10 if count is None else count])


def _tail(words: Sequence[str], data: bytes) -> bytes | None:
    count = _count_of(words, "c")
    if count is not None:
        return data[-count:] if count else b""
    count = _count_of(words, "n")
    return None if words and count is None else b"".join(data.splitlines(True)[-(10 if count is None else count) :])


def _cut(words: Sequence[str], data: bytes) -> bytes | None:
    joined = " ".join(words)
    match = re.fullmatch(r"-[cb] ?(\d+)?(-)?(\d+)?", joined)
    if match:
        first = int(match[1] or 1) - 1
        last = int(match[3]) if match[3] else (None if match[2] else first + 1)
        return b"".join(line[first:last] + b"\n" for line in data.splitlines())
    match = re.fullmatch(r"-d ?(.) -f ?(\d+)(-?)", joined)
    if not match:
        return None
    field, separator = int(match[2]) - 1, match[1].encode()
    lines = (line.split(separator) for line in data.splitlines())
    return b"".join(separator.join(line[field:] if match[3] else line[field : field + 1]) + b"\n" for line in lines)


_SUBSTITUTION = re.compile(r"s([/|#,:@!])((?:(?!\1)[^\\.*\[\]^$]|\\.)*)\1((?:(?!\1)[^\\&]|\\.)*)\1(g?)")


def _sed(words: Sequence[str], data: bytes) -> bytes | None:
    scripts = [word for word in words if word not in ("-e", "-E", "-r")]
    if len(scripts) != 1:
        return None
    text = data.decode("latin-1")
    for command in scripts[0].split(";"):
        match = _SUBSTITUTION.fullmatch(command.strip())
        if not match or not match[2]:
            return None
        literal, replacement = (re.sub(r"\\(.)", r"\1", match[group]) for group in (2, 3))
        limit = -1 if match[4] else 1
        text = "".join(line.replace(literal, replacement, limit) for line in text.splitlines(True))
    return text.encode("latin-1", "replace")


def _iconv(words: Sequence[str], data: bytes) -> bytes | None:
    options = dict(pairwise(words))
    source = options.get("-f", "utf-8").split("//")[0]
    target = options.get("-t", "utf-8").split("//")[0]
    return data.decode(source, "ignore").encode(target, "ignore")


def _dirname(words: Sequence[str]) -> bytes | None:
    return (posixpath.dirname(words[0].rstrip("/")) or ".").encode() if len(words) == 1 and words[0] else None


def _basename(words: Sequence[str]) -> bytes | None:
    name = posixpath.basename(words[0].rstrip("/")) if words else ""
    return name.removesuffix(words[1] if len(words) == 2 else "").encode() if 0 < len(words) < 3 else None


_MAKERS: dict[str, Callable[[Sequence[str]], bytes | None]] = {
    "echo": _echo,
    "printf": _printf,
    "dirname": _dirname,
    "basename": _basename,
}
_FILTERS: dict[str, Callable[[Sequence[str], bytes], bytes | None]] = {
    "cat": _passes,
    "tee": lambda words, data: data,
    "base64": _base64,
    "gbase64": _base64,
    "base32": _base32,
    "openssl": _openssl,
    "xxd": _xxd,
    "rev": _rev,
    "tac": _tac,
    "tr": _tr,
    "gunzip": _inflate,
    "zcat": _inflate,
    "gzip": _gzip,
    "pigz": _gzip,
    "bunzip2": _bunzip,
    "bzcat": _bunzip,
    "bzip2": _decompressing(_bunzip),
    "unxz": _unxz,
    "xzcat": _unxz,
    "xz": _decompressing(_unxz),
    "head": _head,
    "tail": _tail,
    "cut": _cut,
    "sed": _sed,
    "iconv": _iconv,
}
