"""Converts a page for people to Markdown: its main part, without what only a browser can use."""

import re
from functools import lru_cache

from html_to_markdown import ConversionOptions, convert

_LEFT_OUT = (".outside", "button", "script", "form", "template", "nav", "[hidden]")
"""Third-party parts, which a program must not mistake for instructions, and parts that need a browser."""


@lru_cache(maxsize=64)
def page_in_markdown(html: bytes, address: str) -> bytes:
    """Returns the main part of the page at an address in Markdown, with absolute links.

    Marks of figures become words, drawings their descriptions. The results are cached, because most pages of a run are
    unchanged from the last one.
    """
    main = _MAIN.search(html)
    if main is None:
        raise ValueError("the page has no main part")
    text = _DRAWING.sub(_in_words, main[0]).decode()
    for found, put in _FORMS:
        text = found.sub(put, text)
    options = ConversionOptions(
        bullets="-",
        autolinks=False,
        compact_tables=True,
        extract_metadata=False,
        hidden_content="all",  # fallbacks for a script are not hidden from programs
        exclude_selectors=list(_LEFT_OUT),
        base_url=address,
    )
    content = convert(text, options).content or ""
    return (content.strip() + "\n").encode()


_MAIN = re.compile(rb"<main\b.*</main>", re.DOTALL)
_DRAWING = re.compile(rb"<svg\b([^>]*)>.*?</svg>", re.DOTALL)
"""Drawings are replaced in the text, before parsing, because they are half of a page."""
_LABEL = re.compile(rb'aria-label="([^"]*)"')

_FORMS = tuple(
    (re.compile(found), put)
    for found, put in (
        (r"<(/?)(?:dl|figcaption)\b[^>]*>", r"<\1div>"),
        (r"<dt\b[^>]*>", "<p><strong>"),
        (r"</dt>\s*<dd\b[^>]*>", ":</strong> "),
        (r"<dd\b[^>]*>", "<p>"),
        (r"</dd>", "</p>"),
    )
)
"""Replacements for elements that Markdown lacks: a term and its description become one paragraph."""


def _in_words(drawing: re.Match[bytes]) -> bytes:
    label = _LABEL.search(drawing[1])
    return b"" if label is None else b"(" + label[1] + b")"
