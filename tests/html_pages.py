"""Reads a page as a browser's parser does: its elements, its text, and whether every element was closed."""

from html.parser import HTMLParser

VOID = {"meta", "link", "img", "input", "br"}
DRAWN = {"rect", "path", "circle"}


class Read(HTMLParser):
    """Elements with their attributes in order, the text, and what is still open at the end."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Returns the attributes of every element of this name."""
        return [attributes for name, attributes in self.elements if name == tag]
