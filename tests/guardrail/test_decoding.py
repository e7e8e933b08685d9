"""Making texts comparable, and reading encoded text."""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import lzma

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.model import Call, Span, Word
from guardrail.reading.decoding import (
    anomalies,
    constant_output,
    decoded_runs,
    from_base64,
    normalise,
    unescape,
)

HERE = Span(0, 0)


def piped(*commands: list[str]) -> Call:
    """Returns a pipeline of constant words."""
    fed: Call | None = None
    for program, *words in commands:
        fed = Call(program, tuple(Word(word, HERE) for word in words), HERE, stdin=fed)
    assert fed is not None
    return fed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rm -rf /", "rm -rf /"),
        ("r\u200bm\u00a0-rf\r\n/", "rm -rf\n/"),
        ("\x1b[31mrm\x1b[0m \x1b]0;title\x07x", "rm x"),
        ("rx\x08m", "rm"),
        ("\uff52\uff4d \u2013rf \u2215", "rm -rf /"),
        ("\u0433m", "rm"),
        ("echo \u201cx\u201d \u2019", "echo \u201cx\u201d \u2019"),
        ("# \u0434\u0430, \u0432\u043e\u0442", "# \u0434\u0430, \u0432\u043e\u0442"),
        ("na\u00efve \u4e2d\u6587", "na\u00efve \u4e2d\u6587"),
    ],
)
def test_a_text_is_normalised_to_what_a_terminal_would_show(text: str, expected: str) -> None:
    assert normalise(text).text == expected


def test_positions_lead_back_to_where_a_character_stood() -> None:
    text = "a\u200b\u200bb\x1b[0mc\r\nd"
    normal = normalise(text)
    assert [text[normal.origin(position)] for position in range(len(normal.text))] == ["a", "b", "c", "\r", "d"]


@settings(deadline=None)
@given(st.text(max_size=100))
def test_positions_stay_within_the_text_and_in_order(text: str) -> None:
    normal = normalise(text)
    origins = [normal.origin(position) for position in range(len(normal.text) + 1)]
    assert origins == sorted(origins)
    assert all(0 <= origin <= len(text) for origin in origins)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", []),
        ("a\x1b[0m", ["ansi-escape"]),
        ("a\u200bb", ["zero-width"]),
        ("a\u202eb", ["bidi-control"]),
        ("\u0440m", ["look-alike: pm"]),
        ("x" + "".join(chr(0xE0000 + ord(char)) for char in "hi"), ["hidden-text: hi"]),
    ],
)
def test_anomalies_name_the_characters_that_hide_text(text: str, expected: list[str]) -> None:
    assert list(anomalies(text)) == expected


@pytest.mark.parametrize(
    "encoded",
    [
        base64.b64encode(b"rm -rf /home").decode(),
        base64.b64encode("rm -rf /home".encode("utf-16-le")).decode(),
        base64.b64encode(base64.b64encode(b"rm -rf /home")).decode(),
        b"rm -rf /home".hex(),
        b"rm -rf /home".hex(" "),
        "".join(f"\\x{byte:02x}" for byte in b"rm -rf /home"),
        "rm%20-rf%20%2Fhome",
        "".join(f"&#{byte};" for byte in b"rm -rf /home"),
    ],
)
def test_an_encoded_run_is_decoded(encoded: str) -> None:
    assert "rm -rf /home" in decoded_runs(f"run {encoded} now")


def test_base64_of_binary_data_is_not_decoded() -> None:
    assert from_base64(base64.b64encode(bytes(range(200, 240))).decode()) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\x72\x6d", "rm"),
        (r"\162\155", "rm"),
        (r"\u0072m\n\t\\", "rm\n\t\\"),
        (r"\xc3\xa9", "\u00e9"),
        (r"\q", r"\q"),
        (r"\cA", "\x01"),
    ],
)
def test_backslash_escapes(text: str, expected: str) -> None:
    assert unescape(text) == expected


COMMAND = b"rm -rf /"
BASE64 = base64.b64encode(COMMAND).decode()


@pytest.mark.parametrize(
    "commands",
    [
        [["echo", "-n", "rm -rf /"]],
        [["printf", "rm -rf /"]],
        [["printf", "%s %s %s", "rm", "-rf", "/"]],
        [["printf", r"\x72\x6d -rf /"]],
        [["printf", "%b", r"\x72\x6d -rf /"]],
        [["echo", "-ne", r"\x72m -rf /"]],
        [["echo", BASE64], ["base64", "-d"]],
        [["echo", BASE64], ["base64", "--decode"]],
        [["echo", BASE64], ["base64", "-D"]],
        [["echo", BASE64], ["openssl", "base64", "-d"]],
        [["echo", BASE64], ["openssl", "enc", "-d", "-base64", "-A"]],
        [["echo", BASE64[::-1]], ["rev"], ["base64", "-d"]],
        [["echo", base64.b32encode(COMMAND).decode()], ["base32", "-d"]],
        [["echo", COMMAND.hex()], ["xxd", "-r", "-p"]],
        [["echo", COMMAND.hex()], ["xxd", "-rp"]],
        [["printf", COMMAND.hex().upper()], ["tr", "A-F", "a-f"], ["xxd", "-r", "-p"]],
        [["printf", codecs.encode("rm -rf /", "rot13")], ["tr", "A-Za-z", "N-ZA-Mn-za-m"]],
        [["printf", "rXmX X-rXfX X/"], ["tr", "-d", "X"]],
        [["printf", "rm_-rf_/"], ["tr", "_", " "]],
        [["printf", "rm_-rf_/"], ["sed", "s/_/ /g"], ["cat", "-"]],
        [["printf", "/ fr- mr"], ["rev"]],
        [["echo", base64.b64encode(gzip.compress(COMMAND)).decode()], ["base64", "-d"], ["gunzip"]],
        [["echo", base64.b64encode(gzip.compress(COMMAND)).decode()], ["base64", "-d"], ["gzip", "-dc"]],
        [["echo", base64.b64encode(bz2.compress(COMMAND)).decode()], ["base64", "-d"], ["bzip2", "-d"]],
        [["echo", base64.b64encode(lzma.compress(COMMAND)).decode()], ["base64", "-d"], ["xz", "-d"]],
        [["printf", "xrm -rf /y"], ["head", "-c", "9"], ["tail", "-c", "8"]],
        [["printf", "rm -rf /"], ["tee", "out"]],
    ],
)
def test_a_pipeline_of_constant_text_is_worked_out(commands: list[list[str]]) -> None:
    assert constant_output(piped(*commands)) == "rm -rf /"


@pytest.mark.parametrize(
    "commands",
    [
        [["cat", "file"]],
        [["curl", "x"], ["base64", "-d"]],
        [["echo", "x"], ["awk", "{print}"]],
        [["echo", "@@"], ["gunzip"]],
        [["echo", "zz"], ["base64", "-d", "file"]],
        [["printf", "-v", "x", "y"]],
    ],
)
def test_a_pipeline_that_is_not_constant_has_no_known_output(commands: list[list[str]]) -> None:
    assert constant_output(piped(*commands)) is None


def test_a_decompression_bomb_is_not_followed() -> None:
    bomb = base64.b64encode(gzip.compress(b"a" * 10_000_000)).decode()
    assert constant_output(piped(["echo", bomb], ["base64", "-d"], ["gunzip"])) is None


FILTERS = [
    "base64",
    "openssl",
    "xxd",
    "rev",
    "tr",
    "gunzip",
    "gzip",
    "bunzip2",
    "xz",
    "head",
    "tail",
    "cut",
    "sed",
    "iconv",
]
OPTIONS = [
    "-d",
    "-r",
    "-p",
    "-c",
    "-f",
    "-t",
    "-n",
    "1",
    "-1",
    "a-z",
    "s/a/b/",
    "utf-16",
    "idna",
    "hex",
    "",
    "[:alpha:]",
]


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(
    st.text(max_size=40), st.lists(st.tuples(st.sampled_from(FILTERS), st.lists(st.sampled_from(OPTIONS), max_size=4)))
)
def test_no_pipeline_raises(text: str, filters: list[tuple[str, list[str]]]) -> None:
    constant_output(piped(["printf", text], *([program, *words] for program, words in filters)))


@settings(max_examples=20 * ROUNDS, deadline=None)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    list(anomalies(text))
    decoded_runs(text)
    unescape(text)
