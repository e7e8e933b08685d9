"""Python's text functions, applied to known values: decoding, formatting, methods of str and bytes."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from guardrail.reading.code_values import MAX_TEXT, Value, constant, joined, listed, unknown

_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)[^{}]{0,80}\}")
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-+ #0]*\d*(?:\.\d+)?([a-zA-Z%])")


def decoded(name: str, arguments: Sequence[Value], named: Mapping[str, Value]) -> Value | None:
    """Returns the result of a function that decodes or converts, if its arguments are known, else None."""
    if not arguments:
        return None
    value = arguments[0]
    if name == "bytes.fromhex" or name == "bytearray.fromhex" or name in ("binascii.unhexlify", "binascii.a2b_hex"):
        return _by(lambda data: bytes.fromhex(data.decode()), value)
    if name in _DECODERS:
        return _by(_DECODERS[name], value)
    if name in ("codecs.decode", "codecs.encode") and value.known:
        codec = arguments[1].text if len(arguments) > 1 else named["encoding"].text if "encoding" in named else "utf-8"
        return _by_codec(value, codec)
    if name == "chr":
        number = value.text
        if value.known and number.isdecimal() and len(number) < 8 and int(number) < 0x110000:
            return constant(chr(int(number)))
        return None
    if name == "ord" and value.known and len(value.text) == 1:
        return constant(str(ord(value.text)))
    if name in ("bytes", "bytearray") and value.items is not None:
        return _bytes_of(value)
    if name == "map" and len(arguments) == 2 and value.names in ("chr", "str") and arguments[1].items is not None:
        made = [decoded(value.names, [item], {}) or item for item in arguments[1].items]
        return listed(made)
    if name == "map" and len(arguments) == 2 and value.names == "chr" and arguments[1].data is not None:
        return listed([constant(chr(byte)) for byte in arguments[1].data[:256]])
    if name in ("urllib.parse.unquote", "urllib.parse.unquote_plus", "urllib.unquote") and value.known:
        return constant(unquote(value.text))
    return None


def _bytes_of(value: Value) -> Value | None:
    numbers = [item.text for item in value.items or ()]
    if not all(number.isdecimal() and len(number) < 4 and int(number) < 256 for number in numbers):
        return None
    return _from(bytes(int(number) for number in numbers))


def _by_codec(value: Value, codec: str) -> Value | None:
    codec = codec.lower().replace("-", "_")
    if codec in ("rot13", "rot_13"):
        return constant(codecs.decode(value.text, "rot13"))
    if codec in ("hex", "hex_codec"):
        return _by(lambda data: bytes.fromhex(data.decode()), value)
    if codec in ("base64", "base64_codec"):
        return _by(base64.b64decode, value)
    if codec in ("unicode_escape", "utf_8", "utf8", "ascii", "latin_1"):
        return _by(lambda data: data.decode(codec).encode(), value)
    return None


def _inflated(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, MAX_TEXT)


def _gunzipped(data: bytes) -> bytes:
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, MAX_TEXT)


_DECODERS = {
    "base64.b64decode": base64.b64decode,
    "base64.standard_b64decode": base64.b64decode,
    "base64.decodebytes": base64.decodebytes,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.b85decode": base64.b85decode,
    "base64.a85decode": base64.a85decode,
    "binascii.a2b_base64": binascii.a2b_base64,
    "zlib.decompress": _inflated,
    "gzip.decompress": _gunzipped,
}


def _by(function: object, value: Value) -> Value | None:
    """Returns the bytes that a function produces from a known value, or None if it can't."""
    if not value.known or not callable(function):
        return None
    data = value.data if value.data is not None else value.text.encode("utf-8", "surrogatepass")
    try:
        made = function(data[:MAX_TEXT])
    except (ValueError, TypeError, zlib.error):
        return None
    return _from(made) if isinstance(made, bytes) else None


def _from(data: bytes) -> Value:
    return Value(data.decode("utf-8", "replace")[:MAX_TEXT], data=data[:MAX_TEXT])


def changed_bytes(data: bytes, method: str, arguments: Sequence[Value]) -> Value | None:
    """Returns the result of a method of bytes."""
    if method == "decode":
        codec = arguments[0].text.lower().replace("_", "-") if arguments and arguments[0].known else "utf-8"
        if codec in ("utf-16", "utf-16-le", "utf-16le"):
            return constant(data.decode("utf-16-le", "replace"))
        if codec in ("rot13", "hex", "base64", "zlib"):
            return _by_codec(_from(data), codec)
        return constant(data.decode("latin-1" if codec in ("latin-1", "latin1", "iso-8859-1") else "utf-8", "replace"))
    if method == "hex":
        return constant(data.hex())
    if method in ("strip", "rstrip", "lstrip") and not arguments:
        return _from(data.strip())
    return None


def changed_text(text: str, method: str, arguments: Sequence[Value]) -> Value | None:
    """Returns the result of a method of str if all of it is known, else None."""
    if any(not argument.known for argument in arguments):
        return None
    given = [argument.text for argument in arguments]
    if method == "encode":
        return _from(text.encode("utf-8", "surrogatepass"))
    if method in ("decode",):
        return _by_codec(constant(text), given[0]) if given else constant(text)
    if method in ("strip", "lstrip", "rstrip"):
        return constant(getattr(text, method)(*given[:1]))
    if method in ("lower", "upper", "title", "capitalize", "swapcase", "casefold", "expandtabs"):
        return constant(getattr(text, method)())
    if method in ("removeprefix", "removesuffix") and given:
        return constant(getattr(text, method)(given[0]))
    if method == "replace" and len(given) >= 2:
        if len(given[0]) == 0 or len(text) * (len(given[1]) + 1) > MAX_TEXT * 64:
            return None
        return constant(text.replace(given[0], given[1]))
    if method == "split":
        parts = text.split(given[0]) if given and given[0] and given[0] != "None" else text.split()
        return listed([constant(part) for part in parts[:64]])
    if method == "splitlines":
        return listed([constant(line) for line in text.splitlines()[:64]])
    return None


def formatted(text: str, arguments: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Returns the result of `"…{}…".format(…)`."""
    parts: list[Value] = []
    end = at = 0
    for found in _FIELD.finditer(text):
        parts.append(constant(text[end : found.start()]))
        end = found.end()
        if found[0] in ("{{", "}}"):
            parts.append(constant(found[0][0]))
            continue
        key = found[1]
        if not key:
            key, at = str(at), at + 1
        if key.isdecimal():
            number = int(key[:6])
            parts.append(arguments[number] if number < len(arguments) else unknown("value"))
        else:
            parts.append(named.get(key) or unknown(key))
        if len(parts) > 256:
            break
    return joined((*parts, constant(text[end:])))


def percent_formatted(text: str, values: Value) -> Value:
    """Returns the result of `"…%s…" % values`."""
    given = values.items if values.items is not None else (values,)
    entries = dict(values.entries or ())
    parts: list[Value] = []
    end = at = 0
    for found in _PERCENT.finditer(text):
        parts.append(constant(text[end : found.start()]))
        end = found.end()
        if found[2] == "%":
            parts.append(constant("%"))
        elif found[1]:
            parts.append(entries.get(found[1]) or unknown(found[1]))
        else:
            value = given[at] if at < len(given) else unknown("value")
            if found[2] == "c" and value.text.isdecimal():
                value = decoded("chr", [value], {}) or value
            parts.append(value)
            at += 1
        if len(parts) > 256:
            break
    return joined((*parts, constant(text[end:])))
