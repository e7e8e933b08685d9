"""Ten documents whose nodes were labelled by hand: the nodes found, with exact spans, against the reader's labels."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from contracts.world.extraction.build import BuildRequest, build_graph

NOW = datetime(2026, 11, 22, tzinfo=UTC)
LABELLED = Path(__file__).parent / "labelled"
DOCUMENTS = sorted(path for path in LABELLED.iterdir() if path.suffix != ".yaml")
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".json": "application/json",
}

Marked = set[tuple[str, int, int]]


def marked_by_hand(document: Path) -> Marked:
    """Returns (type, start, end) of every label, which is a quote with its occurrence, or the whole text."""
    text = document.read_text()
    marks: Marked = set()
    for node_type, quote, *occurrence in yaml.safe_load(document.with_suffix(".labels.yaml").read_text()):
        if quote == "@whole":
            marks.add((node_type, 0, len(text.rstrip())))
            continue
        start = -1
        for _ in range(occurrence[0] if occurrence else 1):
            start = text.index(quote, start + 1)
        marks.add((node_type, start, start + len(quote)))
    return marks


def found_in(document: Path) -> Marked:
    source = {"id": document.name, "text": document.read_text(), "media_type": MEDIA_TYPES[document.suffix]}
    graph = build_graph(BuildRequest(documents=[source]), "local:ada", NOW)
    return {(node.type, node.spans[0].start, node.spans[0].end) for node in graph.nodes if node.type != "Passage"}


def test_precision_is_at_least_nine_tenths_and_recall_seven_tenths_over_ten_documents():
    found = {document: found_in(document) for document in DOCUMENTS}
    marked = {document: marked_by_hand(document) for document in DOCUMENTS}
    assert len(DOCUMENTS) == 10
    right = sum(len(found[each] & marked[each]) for each in DOCUMENTS)
    assert right / sum(map(len, found.values())) >= 0.9
    assert right / sum(map(len, marked.values())) >= 0.7


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_single_document_is_understood_badly(document):
    found, marked = found_in(document), marked_by_hand(document)
    assert len(found & marked) / len(found) >= 0.8
    assert len(found & marked) / len(marked) >= 0.7
