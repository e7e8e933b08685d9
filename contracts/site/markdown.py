"""Turns a page for people into Markdown: its main part, without what only a browser can use."""

import re
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup
from markdownify import MarkdownConverter


def page_in_markdown(html: bytes, address: str) -> bytes:
    """Returns the main part of the page at an address in Markdown, with whole addresses for links.

    Marks of figures become words, drawings their descriptions. What others wrote is left out: a program that reads it
    as an instruction must not find it here.
    """
    main = _MAIN.search(html)
    if main is None:
        raise ValueError("the page has no main part")
    path = urlsplit(address)._replace(scheme="", netloc="").geturl()
    origin = address.removesuffix(path).encode()
    converted = _in_markdown(_DRAWING.sub(_in_words, main[0]).replace(origin, _ANY_ORIGIN), path)
    return converted.replace(_ANY_ORIGIN, origin)


_MAIN = re.compile(rb"<main\b.*</main>", re.DOTALL)
_ANY_ORIGIN = b"https://origin.invalid"
"""Stands for the origin of an installation in what is remembered."""


@lru_cache(maxsize=64)
def _in_markdown(html: bytes, path: str) -> bytes:
    """Converts a main part. Most pages of a run are those of the last one, which are remembered; the longest, such as
    that of the tables, are the same at every address."""
    main = BeautifulSoup(html, "html.parser")
    address = _ANY_ORIGIN.decode() + path
    for link in main.find_all("a", href=True):
        link["href"] = urljoin(address, str(link["href"]))
    for text_of_others in main.find_all(class_="outside"):
        text_of_others.decompose()
    for tool in main.find_all(["button", "script", "form", "template", "nav"]):
        tool.decompose()
    text: str = _converter().convert_soup(main)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return ("\n".join(kept) + "\n").encode()


_DRAWING = re.compile(rb"<svg\b([^>]*)>.*?</svg>", re.DOTALL)
"""Drawings are taken out as text: they are half of a page, and parsing them takes most of the time."""
_LABEL = re.compile(rb'aria-label="([^"]*)"')


def _in_words(drawing: re.Match[bytes]) -> bytes:
    label = _LABEL.search(drawing[1])
    return b"" if label is None else b"(" + label[1] + b")"


@cache
def _converter() -> Any:
    return MarkdownConverter(heading_style="ATX", bullets="-", escape_underscores=False, autolinks=False)
