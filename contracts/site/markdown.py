"""Turns a page for people into Markdown: its main part, without what only a browser can use."""

from functools import cache, lru_cache
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup
from markdownify import MarkdownConverter


@lru_cache(maxsize=64)
def page_in_markdown(html: bytes, address: str) -> bytes:
    """Returns the main part of the page at an address in Markdown, with whole addresses for links.

    Marks of figures become words, drawings their descriptions. What others wrote is left out: a program that reads it
    as an instruction must not find it here. A page that stayed the same is not converted again.
    """
    main = BeautifulSoup(html, "html.parser").find("main")
    if main is None:
        raise ValueError("the page has no main part")
    for link in main.find_all("a", href=True):
        link["href"] = urljoin(address, str(link["href"]))
    for drawing in main.find_all("svg"):
        label = drawing.get("aria-label")
        drawing.replace_with(f"({label})" if label else "")
    for text_of_others in main.find_all(class_="outside"):
        text_of_others.decompose()
    for tool in main.find_all(["button", "script", "form", "template"]):
        tool.decompose()
    text: str = _converter().convert_soup(main)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return ("\n".join(kept) + "\n").encode()


@cache
def _converter() -> Any:
    return MarkdownConverter(heading_style="ATX", bullets="-", escape_underscores=False, autolinks=False)
