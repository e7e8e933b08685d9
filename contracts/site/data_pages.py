"""Computes the pages of open data: files to download, every table with its columns, and the lineage of numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import yaml

from contracts.access.signing import JWKS_PATH
from contracts.discovery.checks_document import CheckedTable
from contracts.discovery.installation import Installation
from contracts.open_data.datasets import DataIndex, IndexDataset, IndexFile
from contracts.open_data.first_rows import ROWS_IN_FILE
from contracts.open_data.names import DATA_PREFIX, DATABASE_PATH, INDEX_PATH, MANIFEST_PATH, TOKENS_INDEX_PATH
from contracts.site.figures import NO_VALUE, Address, address, reason_in_words
from contracts.site.lineage import AssetRecord, CheckRecord, Drawing, drawing, lineage, number_id, upstream
from contracts.site.page import Documents
from contracts.site.shown import CHECKS, DATA_INDEX, FIRST_ROWS, FURTHER_TOKENS
from contracts.token.further_tokens import IndexedToken, TokenState, token_folder
from contracts.token.holders import csv_file_name

READING: list[dict[str, str]] = yaml.safe_load(Path(__file__).with_name("reading.yaml").read_text())
CHECKING: Mapping[str, list[dict[str, str]]] = yaml.safe_load(Path(__file__).with_name("checking.yaml").read_text())
"""Instructions with which readers can check a document's numbers themselves, for documents that have them."""
LONGEST_CELL = 24
"""Length of a value on the page of rows; its title has the rest."""
_NUMBERS = ("integer", "number", "decimal")

FILES_SHOWN = 12
"""Number of a dataset's files on the page, the newest first; the index has all."""

CheckState = Literal["held", "failed", "unjudged", "unchecked"]
"""The last result of a table's check; `unchecked` if there is none."""


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file to download. Size, digest and time are None while it still grows."""

    name: str
    path: str
    rows: str
    bytes: str
    sha256: str | None
    written_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownDataset:
    """A dataset: its index entry, the totals of its files, and the newest of them."""

    dataset: IndexDataset
    formats: str
    files: tuple[ShownFile, ...]
    older: int
    rows: str
    bytes: str
    written_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A further token: the state of its proof, and the paths of its document and its list."""

    address: Address
    label: str | None
    state: TokenState
    reason: str | None
    block: str
    holders: str
    document: str
    list_path: str | None


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check of a table on which a number rests, with its last result.

    Its time is only in the document of the checks, because here it would change the page with every run.
    """

    table: str
    check: CheckRecord
    title: str
    state: CheckState
    found: str
    """The facts that fail it, in words; empty if it passes."""


@dataclass(frozen=True, slots=True)
class ShownLineage:
    """The sources and tables behind the numbers of a document."""

    asset: AssetRecord
    id: str
    drawn: Drawing
    states: Mapping[str, CheckState]
    sources: tuple[AssetRecord, ...]
    tables: int
    checks: tuple[ShownCheck, ...]
    steps: tuple[tuple[str, str], ...]
    """Steps with which readers check the numbers themselves: the purpose of each, and its shell commands."""


def data_page(documents: Documents) -> Mapping[str, Any]:
    """Returns datasets with their files, further tokens, code that reads them, and paths of the manifest and keys."""
    index, tokens = documents.read(DATA_INDEX), documents.read(FURTHER_TOKENS)
    documents.source(DATA_INDEX)
    further = [] if tokens is None else tokens.tokens
    if further:
        documents.source(FURTHER_TOKENS)
    datasets = index.datasets if index else []
    return {
        "index": index,
        "datasets": [_dataset(dataset) for dataset in datasets],
        "reading": [] if index is None else reading_lines(index, documents.installation.url(DATA_PREFIX.rstrip("/"))),
        "further": [_further_token(token) for token in further],
        "tokens_index_path": TOKENS_INDEX_PATH,
        "index_path": INDEX_PATH,
        "manifest_path": MANIFEST_PATH,
        "database_path": DATABASE_PATH,
        "keys_path": JWKS_PATH,
    }


def _further_token(token: IndexedToken) -> ShownToken:
    return ShownToken(
        address=address(token.address),
        label=token.label,
        state=token.state,
        reason=reason_in_words(token.reason),
        block=NO_VALUE if token.block is None else f"{token.block:,}",
        holders=NO_VALUE if token.holders is None else f"{token.holders:,}",
        document=token.document,
        list_path=None if token.block is None else token_folder(token.address) + csv_file_name(token.block),
    )


def reading_lines(index: DataIndex, data: str) -> list[tuple[str, str, str]]:
    """Returns id, title and code of the ways to read the data whose files exist."""
    newest = {dataset.name: file for dataset in index.datasets for file in dataset.files if file.format == "parquet"}
    known: dict[str, object] = {"data": data}
    if (transfers := newest.get("transfers")) is not None:
        known |= {"transfers": _name(transfers), "block": transfers.last_block}
    if (holders := newest.get("holders")) is not None:
        known |= {"holders": _name(holders)}
    lines = []
    for way in READING:
        try:
            lines.append((way["id"], way["title"], way["code"].format(**known).rstrip()))
        except KeyError:
            continue
    return lines


def tables_page(documents: Documents) -> Mapping[str, Any]:
    """Returns every table by the room that builds it, with its inputs and the tables and documents built from it."""
    documents.source(CHECKS)
    record = lineage()
    judged = _judged(documents)
    used_by: dict[str, list[str]] = {}
    for asset in record.assets:
        for parent in asset.from_:
            used_by.setdefault(parent, []).append(asset.name)
    tables = [asset for asset in record.assets if asset.kind == "table"]
    return {
        "groups": [
            (group, [(table, _state(table, judged), _links(used_by.get(table.name, []))) for table in of_group])
            for group, of_group in groupby(tables, key=lambda table: table.group)
        ],
        "table_count": len(tables),
        "column_count": sum(len(table.columns) for table in tables),
        "is_table": {table.name for table in tables},
    }


def rows_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the newest rows of every public table, with long texts shortened."""
    document = documents.read(FIRST_ROWS)
    documents.source(FIRST_ROWS)
    return {
        "opened": next((table.dataset for table in (document.tables if document else ()) if table.rows), None),
        "tables": [
            (
                table,
                f"{table.total:,}",
                [column.kind in _NUMBERS for column in table.columns],
                [[None if text is None else (text, _shortened(text)) for text in row] for row in table.rows],
            )
            for table in (document.tables if document else ())
        ],
        "rows_in_file": ROWS_IN_FILE,
        "file_prefix": DATA_PREFIX,
    }


def _shortened(text: str) -> str:
    """Returns the beginning of a long text, and for an address or a hash also the end."""
    if len(text) <= LONGEST_CELL:
        return text
    return f"{text[:8]}…{text[-4:]}" if text.startswith("0x") else f"{text[: LONGEST_CELL - 1]}…"


def lineage_page(documents: Documents) -> Mapping[str, Any]:
    """Returns, for each document with numbers, its inputs and the checks that would find it wrong."""
    documents.source(CHECKS)
    judged = _judged(documents)
    documents_first = sorted(
        (asset for asset in lineage().assets if asset.kind == "document"),
        key=lambda asset: (_ORDER.index(asset.group) if asset.group in _ORDER else len(_ORDER), asset.name),
    )
    numbers = [_lineage(asset, judged, documents.installation) for asset in documents_first]
    failed = sorted({check.table for number in numbers for check in number.checks if check.state == "failed"})
    return {"numbers": numbers, "failed": failed, "judged": len(judged), "state_words": STATE_WORDS}


_ORDER = ("holders", "market", "contract_balance", "trust", "overview")
"""Groups of documents in the order of the pages that show them."""

STATE_WORDS: Mapping[CheckState, str] = {
    "held": "passed",
    "failed": "failed",
    "unjudged": "not judged yet",
    "unchecked": "no check of its own",
}


def _dataset(dataset: IndexDataset) -> ShownDataset:
    # Rows of newer blocks and days come last in the index.
    newest_first = list(reversed(dataset.files))
    total = sum(file.bytes or 0 for file in dataset.files)
    return ShownDataset(
        dataset=dataset,
        formats=", ".join(dict.fromkeys(file.format for file in dataset.files)),
        files=tuple(map(_file, newest_first[:FILES_SHOWN])),
        older=max(0, len(newest_first) - FILES_SHOWN),
        rows=_total_rows(file for file in dataset.files if file.format == "parquet"),
        bytes=size(total) if total or not dataset.files else "growing",
        written_at=max((file.written_at for file in dataset.files if file.written_at is not None), default=None),
    )


def _total_rows(files: Iterable[IndexFile]) -> str:
    known = list(files)
    grows = any(file.rows is None for file in known)
    count = sum(file.rows or 0 for file in known)
    return "today’s, growing" if grows and not count else f"{count:,}{' and today’s' if grows else ''}"


def _file(file: IndexFile) -> ShownFile:
    return ShownFile(
        name=_name(file),
        path=f"{DATA_PREFIX}{_name(file)}",
        rows="–" if file.rows is None else f"{file.rows:,}",
        bytes="–" if file.bytes is None else size(file.bytes),
        sha256=file.sha256,
        written_at=file.written_at,
    )


def _name(file: IndexFile) -> str:
    return urlsplit(file.url).path.rpartition("/")[2]


def size(count: int) -> str:
    """Returns a number of bytes in readable form: `12.3 kB`."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def _judged(documents: Documents) -> Mapping[str, CheckedTable]:
    published = documents.read(CHECKS)
    return {} if published is None else {table.table: table for table in published.tables}


def _state(asset: AssetRecord, judged: Mapping[str, CheckedTable]) -> CheckState:
    if asset.check is None:
        return "unchecked"
    found = judged.get(asset.name)
    return "unjudged" if found is None else "held" if found.passed else "failed"


def _links(names: Iterable[str]) -> list[tuple[str, str]]:
    """Returns names with their links: to a document, or to another table on the page."""
    return [(name, name if name.startswith("/") else f"#{name}") for name in names]


def _lineage(asset: AssetRecord, judged: Mapping[str, CheckedTable], here: Installation) -> ShownLineage:
    record = lineage()
    behind = upstream(record, asset.name)[:-1]
    return ShownLineage(
        asset=asset,
        id=number_id(asset.name),
        drawn=drawing(record, asset.name),
        states={one.name: _state(one, judged) for one in behind},
        sources=tuple(one for one in behind if one.kind == "source"),
        tables=sum(one.kind == "table" for one in behind),
        checks=tuple(
            _check(one, one.check, judged.get(one.name), _state(one, judged)) for one in behind if one.check is not None
        ),
        steps=tuple(
            (step["title"], step["code"].replace("{url}", here.base_url)) for step in CHECKING.get(asset.name, ())
        ),
    )


def _check(table: AssetRecord, check: CheckRecord, found: CheckedTable | None, state: CheckState) -> ShownCheck:
    failing = [] if found is None else [fact for fact in found.facts if not fact.passed]
    return ShownCheck(
        table=table.name,
        check=check,
        title=check.name.replace("_", " ").capitalize(),
        state=state,
        found=", ".join(
            f"{fact.fact.replace('_', ' ')} is {'not known' if fact.value is None else f'{fact.value:g}'}"
            for fact in failing
        ),
    )
