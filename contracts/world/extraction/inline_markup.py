"""Matches links, mentions and code within a line of Markdown, and returns texts without markup and pictures. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import category

from markdown_it import MarkdownIt

from contracts.world.extraction.findings import LONGEST_TEXT, Part, is_within

MENTION = re.compile(r"(?<![\w@/.`])@([A-Za-z0-9][A-Za-z0-9_-]{0,38}+)(?![\w@]|[./]\w)")
"""A handle of a person. "@acme/builders", a team's, does not match."""
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,200})\]\((https?://[^\s)<>\[]{1,2000})(?:\s+\"[^\"\n]*\")?\)")
_IMAGE = r"!\[(?P<alt>[^\[\]\n]{0,200})\]\([^\s()]{1,2000}(?:\s+\"[^\"\n]*\")?\)"
_PICTURE = re.compile(_IMAGE)
_BADGE = re.compile(rf"\[{_IMAGE}\]\((?P<url>https?://[^\s)<>\[]{{1,2000}})\)")
WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\|([^\[\]\n]{1,200}))?\]\]")
"""A link to another note: "[[Name]]", "[[folder/name#part|as it is shown]]"."""
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|br|center|code|del|details|div|em|font|i|img|ins|kbd|mark|p|s|small|span|strong|sub|summary|sup|u)\b"
    r"[^<>]*>",
    re.IGNORECASE,
)
_ONLY_TAGS = re.compile(
    r"(?:\s|</?(?:a|abbr|article|aside|audio|b|big|blockquote|br|caption|center|cite|code|col|colgroup|dd|del|details|div|dl|dt|em"
    r"|figcaption|figure|font|footer|h[1-6]|header|hr|i|iframe|img|ins|kbd|li|main|mark|nav|ol|p|picture|pre|q|s|samp|section"
    r"|small|source|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul|var|video|wbr)\b[^<>]*>)+",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`|]{1,2000}")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`).{1,1000}?(?<!`)\1(?!`)", re.DOTALL)
_CODE_ONLY = re.compile(r"`[^`]*`")
_PLAIN = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")
_MARKUP = re.compile(r"[\\`*_~\[\]<&\n]")
_FIRST_PICTURE = "\u2190"
"""Code points below it are text symbols, such as the degree sign, and not pictures."""
_JOINERS = frozenset("\ufe0f\u200d \t")


def plain(text: str) -> str:
    """Returns a text without its inline markup. Long texts are cut."""
    if not _MARKUP.search(text):
        return text.strip()
    shown = WIKILINK.sub(lambda link: link[2] or link[1], text[:LONGEST_TEXT])
    children = _PLAIN.parseInline(shown)[0].children or []
    return "".join(
        " "
        if child.type in ("softbreak", "hardbreak")
        else child.content
        if child.type == "code_inline"
        else _TAG.sub("", child.content)
        for child in children
    ).strip()


def is_only_tags(text: str) -> bool:
    """Decides whether a text consists of HTML tags only, without an address or a picture's name: "</details>"."""
    return text.startswith("<") and "://" not in text and "alt=" not in text and _ONLY_TAGS.fullmatch(text) is not None


def code_in(text: str, part: Part) -> list[Part]:
    """Returns the pieces of code in a part. They mention nothing."""
    return [Part(*match.span()) for match in _CODE.finditer(text, *part)]


def is_code(text: str) -> bool:
    """Decides whether a text consists of exactly one piece of code: "`make`"."""
    return _CODE_ONLY.fullmatch(text) is not None


def is_link(text: str, part: Part) -> bool:
    """Decides whether a part consists of exactly one link."""
    return _LINK.fullmatch(text, *part) is not None or _URL.fullmatch(text, *part) is not None


def links_in(text: str, part: Part, quiet: Sequence[Part] = ()) -> Iterator[tuple[str, str, Part]]:
    """Yields the title, the address and the position of each link in a part, except those within `quiet`."""
    seen = [Part(*match.span()) for match in _PICTURE.finditer(text, part.start, part.end)]
    for match in _BADGE.finditer(text, part.start, part.end):
        if not is_within(quiet, match.start()):
            seen.append(Part(*match.span()))
            yield match["alt"] or match["url"], match["url"], Part(*match.span("url"))
    for match in _LINK.finditer(text, part.start, part.end):
        if not is_within(quiet, match.start()):
            seen.append(Part(match.start(), match.end()))
            yield plain(match[1]) or match[2], match[2], Part(match.start(1), match.end(1))
    seen.sort()
    for match in _URL.finditer(text, part.start, part.end):
        if not is_within(quiet, match.start()) and not is_within(seen, match.start()):
            url = match[0].rstrip(".,;:!?*_")
            yield url, url, Part(match.start(), match.start() + len(url))


def undecorated(text: str, part: Part) -> Part:
    """Returns a part without the pictures at its beginning: "✅ Ship it"."""
    start = part.start
    while start < part.end and (
        text[start] in _JOINERS or (text[start] >= _FIRST_PICTURE and category(text[start]) == "So")
    ):
        start += 1
    rest = Part(start, part.end).trimmed(text)
    return rest if rest.start < rest.end else part
