"""Stores the published documents and lists of further tokens in the data directory: each token has a folder with its
own warehouse and lists."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from contracts.open_data.names import TOKENS_INDEX_PATH
from contracts.token.further_tokens import (
    PublishedToken,
    TokenIndex,
    document_path,
    rows_path,
    token_folder,
    token_index,
)
from contracts.token.holders import csv_file_name, list_file_name, storage_file_name
from warehouse.file_modes import make_private_directory
from warehouse.token.holder_lists import lists_dir


def token_dir(data_dir: Path, address: str) -> Path:
    """Returns the data directory of a further token, laid out like that of the service token: warehouse and lists."""
    return data_dir / "tokens" / address


def read_published(data_dir: Path, address: str) -> PublishedToken | None:
    """Returns the token's newest document, or None."""
    return _read(token_dir(data_dir, address) / "token.json")


def write_published(data_dir: Path, token: PublishedToken) -> None:
    """Replaces the token's document if it changed."""
    make_private_directory(data_dir / "tokens")
    make_private_directory(token_dir(data_dir, token.address))
    _replace(token_dir(data_dir, token.address) / "token.json", token.model_dump_json(by_alias=True))


def write_index(data_dir: Path, tokens: Sequence[PublishedToken]) -> None:
    """Replaces the index of the tokens if it changed. A token that the index does not name is not published."""
    make_private_directory(data_dir / "tokens")
    _replace(data_dir / "tokens" / "index.json", token_index(tokens).model_dump_json(by_alias=True))


def published_files(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yields each path at which further tokens are published, with its file. Without an index there are none."""
    index = data_dir / "tokens" / "index.json"
    if not index.is_file():
        return
    yield TOKENS_INDEX_PATH, index
    for row in TokenIndex.model_validate_json(index.read_bytes()).tokens:
        directory = token_dir(data_dir, row.address)
        token = _read(directory / "token.json")
        if token is None:
            continue
        yield document_path(row.address), directory / "token.json"
        if token.block is None:
            continue
        lists = lists_dir(directory)
        yield token_folder(row.address) + csv_file_name(token.block), lists / csv_file_name(token.block)
        yield rows_path(row.address), lists / list_file_name(token.block)
        storage = lists / storage_file_name(token.block)
        if storage.is_file():
            yield token_folder(row.address) + storage_file_name(token.block), storage


def _read(path: Path) -> PublishedToken | None:
    try:
        return PublishedToken.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _replace(path: Path, text: str) -> None:
    if path.is_file() and path.read_text() == text:
        return
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(text)
    partial.replace(path)
