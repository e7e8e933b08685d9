"""Extracts nodes and relations from the rows of Markdown tables and CSV texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.figures import MEASURED, is_figure
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.inline_markup import is_code, plain
from contracts.world.extraction.listed_states import state_of_tasks
from contracts.world.extraction.mentions import scan
from contracts.world.extraction.parties import party_type
from contracts.world.extraction.passages import keep
from contracts.world.extraction.people import given_first
from contracts.world.extraction.predicates import End
from contracts.world.extraction.relations import describe_field, relate
from contracts.world.extraction.triples import Columns, columns_of, read_triple
from contracts.world.extraction.vocabulary import plain_words, singular, without_unit

DELIMITERS = ",;\t|"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?")
_MARK = re.compile(r"(?i:yes|no|x|ja|nein|oui|non|sí|sì|true|false|ok|done)|\W+|\[[ xX]?\]")
_CARD_END = re.compile(r"<br ?/?>", re.IGNORECASE)
_STATED_BY_SENTENCES = frozenset({"Decision", "Risk", "Goal", "Principle", "Value"})
"""Types that a row named by a piece of code never has."""
_FIELD = r'(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>[^{0}\r\n]*))[ ]*(?P<end>{0}|\r\n|\n|\r|\Z)'


def read_table(
    reading: Reading,
    header: Sequence[Part],
    rows: Sequence[Sequence[Part]],
    within: FoundNode,
    row_type: str | None,
) -> None:
    """Adds a node for each row.

    The type of a row comes from its context (`row_type`), otherwise from the header, otherwise from the cells.
    """
    columns = [plain(reading.quote(part)) for part in header]
    if len(columns) < 2 or not rows:
        return
    vocabulary = reading.vocabulary
    states = [state_of_tasks(vocabulary, column) for column in columns]
    if row_type in (None, "Task") and all(states) and "open" in states and not _has_marks(reading, rows):
        _read_board(reading, [state or "" for state in states], rows, within)
        return
    ends = columns_of(vocabulary, [without_unit(column) for column in columns])
    if ends is not None and ends.are_statements and not _has_figures(reading, rows, ends.subject):
        for written in rows:
            _read_statement(reading, ends, columns, written, within)
        return
    name = _name_column(reading, columns, rows)
    announced = row_type or vocabulary.type_of(columns[name]) or _type_of_rows(reading, columns, rows, name)
    for written in rows:
        cells = [reading.shown(cell) for cell in written]
        is_sum = announced != "Observation" and plain_words(plain(reading.quote(cells[name]))) in vocabulary.totals
        if is_sum or reading.is_struck(written[name]):
            keep(reading, whole_of(written), within, None)
        elif cells[name].start < cells[name].end:
            _read_row(reading, columns, cells, name, within, announced)


def whole_of(cells: Sequence[Part]) -> Part:
    """Returns the part from the first to the last cell of a row."""
    return Part(min(cell.start for cell in cells), max(cell.end for cell in cells))


def read_delimited(reading: Reading, title: str | None) -> None:
    """Reads a whole CSV text, whose first line is its header. Its title may announce the type of its rows."""
    text = reading.text
    reading.doubles_quotes = True
    rows = list(_rows(text, _delimiter(text)))
    reading.begin(title or reading.document, Part(0, len(text)).trimmed(text))
    if rows:
        header, *others = rows
        announced = reading.vocabulary.announced(title or reading.document)
        filled = [[*row, *[Part(row[-1].end, row[-1].end)] * (len(header) - len(row))] for row in others]
        read_table(reading, header, filled, reading.root, announced and announced.type)


def _read_row(
    reading: Reading, columns: Sequence[str], cells: Sequence[Part], name: int, within: FoundNode, announced: str
) -> None:
    vocabulary = reading.vocabulary
    of_type = next((i for i, column in enumerate(columns) if singular(column) in vocabulary.type_words), None)
    own_type = None if of_type is None else vocabulary.type_of(reading.quote(cells[of_type]))
    node_type = own_type or announced
    whole = whole_of(cells)
    if reading.states_none(node_type, cells[name]) or (node_type == "Decision" and _is_open(reading, columns, cells)):
        keep(reading, whole, within, None)
        return
    if node_type in _STATED_BY_SENTENCES and is_code(reading.quote(cells[name])):
        node_type = "Concept"
    title = plain(reading.quote(cells[name]))
    if node_type == "Person":
        node_type = "Concept" if "/" in title else party_type(vocabulary, title, "Person") or "Concept"
    if node_type == "Person":
        node = reading.findings.refer(
            "table_row",
            reading.document,
            "Person",
            given_first(title, is_one=True) or title,
            [reading.span(cells[name])],
        )
        reading.findings.tie("table_row", node, within, "PART_OF", reading.span(cells[name]))
        reading.name(node, node.title)
    else:
        node = reading.add("table_row", node_type, cells[name], within)
    for number, (column, cell) in enumerate(zip(columns, cells, strict=False)):
        word, relation = without_unit(column), vocabulary.relation_of(column)
        if number == name or (number == of_type and own_type) or cell.start >= cell.end:
            continue
        if word in vocabulary.numbers:
            reading.name(node, reading.quote(cell))
            reading.describe(node, "number", reading.quote(cell))
        elif relation is not None:
            relate(reading, node, relation, column, cell)
        else:
            describe_field(reading, node, column, reading.quote(cell)) or keep(reading, cell, node, column)
    scan(reading, node, whole)


def _has_marks(reading: Reading, rows: Sequence[Sequence[Part]]) -> bool:
    """Decides whether a cell is a mark or a figure, which describes its row: "x", "yes", "2026-05-01"."""
    texts = (plain(reading.quote(cell)) for row in rows for cell in row if cell.start < cell.end)
    return any(MEASURED.fullmatch(text) or is_figure(text) or _MARK.fullmatch(text) for text in texts)


def _read_board(reading: Reading, states: Sequence[str], rows: Sequence[Sequence[Part]], within: FoundNode) -> None:
    """Adds a task for each card of a board, whose columns are the states of the cards below them."""
    for written in rows:
        for state, cell in zip(states, written, strict=False):
            if reading.is_struck(cell):
                keep(reading, cell, within, None)
                continue
            for card in _cards(reading, reading.shown(cell)):
                if reading.states_none("Task", card):
                    keep(reading, card, within, None, stated_from=card.end)
                    continue
                task = reading.add("table_row", "Task", card, within)
                task.properties["status"] = state
                scan(reading, task, card)


def _cards(reading: Reading, cell: Part) -> Iterator[Part]:
    """Yields the cards of a cell, which breaks separate."""
    start = cell.start
    for line_break in [*_CARD_END.finditer(reading.text, *cell), None]:
        card = Part(start, cell.end if line_break is None else line_break.start()).trimmed(reading.text, " \t-•*")
        if card.start < card.end:
            yield card
        start = cell.end if line_break is None else line_break.end()


def _read_statement(
    reading: Reading, ends: Columns, columns: Sequence[str], written: Sequence[Part], within: FoundNode
) -> None:
    cells = [reading.shown(cell) for cell in written]
    values = [End(cell, plain(reading.quote(cell))) if cell.start < cell.end else None for cell in cells]
    read_triple(reading, ends, columns, values, whole_of(written), within)


def _is_open(reading: Reading, columns: Sequence[str], cells: Sequence[Part]) -> bool:
    """Decides whether the state column of a row shows that nothing is decided."""
    states = (
        cell for column, cell in zip(columns, cells, strict=False) if singular(column) in reading.vocabulary.states
    )
    return any(cell.start < cell.end and reading.states_none("Decision", cell) for cell in states)


def _name_column(reading: Reading, columns: Sequence[str], rows: Sequence[Sequence[Part]]) -> int:
    """Returns the column that names a row.

    It is a column whose header means a name, otherwise one whose header is a type, otherwise the first one whose cells
    are not mostly numbers, days or times.
    """
    vocabulary = reading.vocabulary
    words = [without_unit(column) for column in columns]
    for name in vocabulary.names:
        if name in words:
            return words.index(name)
    # a word such as "target" means a type only in the first column: in "Source | Target" it is the end of something
    named = [i for i, word in enumerate(words) if i == 0 or word not in vocabulary.alone]
    typed = (i for i in named if words[i] in vocabulary.types and words[i] not in vocabulary.relations)
    unnumbered = [i for i in named if words[i] not in vocabulary.numbers]
    telling = (i for i in unnumbered if not _has_figures(reading, rows, i) and words[i] not in vocabulary.relations)
    return next(typed, next(telling, next(iter(unnumbered), 0)))


def _has_figures(reading: Reading, rows: Sequence[Sequence[Part]], column: int) -> bool:
    texts = [plain(reading.quote(row[column])) for row in rows if row[column].start < row[column].end]
    figures = sum(1 for text in texts if MEASURED.fullmatch(text) or is_figure(text) or _TIME.fullmatch(text))
    return 2 * figures > len(texts)


def _type_of_rows(reading: Reading, columns: Sequence[str], rows: Sequence[Sequence[Part]], name: int) -> str:
    """Returns Observation for rows of figures and Concept for all others."""
    others = [reading.quote(cell) for row in rows for i, cell in enumerate(row) if i != name and cell.start < cell.end]
    figures = sum(1 for text in others if MEASURED.fullmatch(text))
    return "Observation" if others and 2 * figures > len(others) else "Concept"


def _delimiter(text: str) -> str:
    header = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
    return max(DELIMITERS, key=lambda delimiter: (header.count(delimiter), -DELIMITERS.index(delimiter)))


def _rows(text: str, delimiter: str) -> Iterator[list[Part]]:
    field = re.compile(_FIELD.format(re.escape(delimiter)))
    row: list[Part] = []
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        match = field.match(text, at)
        if match is None:
            # a quote is closed too early: the rest of the line is not part of the table
            end = re.compile(r"[\r\n]|\Z").search(text, at)
            at, row = (end.end() if end else len(text)), []
            continue
        group = "quoted" if match["quoted"] is not None else "bare"
        row.append(Part(match.start(group), match.end(group)).trimmed(text))
        at = match.end()
        if match["end"] != delimiter:
            if any(part.start < part.end for part in row):
                yield row
            row = []
            if match["end"] == "":
                return
    if any(part.start < part.end for part in row):
        yield row
