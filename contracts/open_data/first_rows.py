"""Defines the newest rows of every public table, as a preview for people before they download a file."""

from typing import Literal

from pydantic import Field

from contracts.base import Document
from contracts.open_data.datasets import Kind
from contracts.open_data.names import DATA_PREFIX

FIRST_ROWS_PATH = "/first-rows.json"
ROWS_SHOWN = 20
ROWS_IN_FILE = 500
"""Number of rows in the larger CSV file of each table."""


def first_rows_path(dataset: str) -> str:
    """Returns the path of the CSV file with the newest rows of a table."""
    return f"{DATA_PREFIX}first-{dataset}.csv"


class FirstColumn(Document):
    """A column of the shown rows."""

    name: str
    kind: Kind = Field(description="Kind of its values")


class FirstRows(Document):
    """The newest rows of one public table."""

    dataset: str
    grain: str = Field(description="Meaning of a row")
    total: int = Field(ge=0, description="Rows of the table")
    file: str = Field(description="Path of a CSV file with the 500 newest rows and all columns")
    columns: list[FirstColumn] = Field(description="Its columns without the parts of exact amounts")
    rows: list[list[str | None]] = Field(description="Values as text, newest row first; null for missing values")


class PublishedFirstRows(Document):
    """The newest rows of every public table."""

    ok: Literal[True] = True
    tables: list[FirstRows]
