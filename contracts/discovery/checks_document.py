"""Defines the published results of the table checks, for people and monitors."""

from typing import Literal

from pydantic import Field

from contracts.base import Document, Timestamp

CHECKS_PATH = "/checks.json"


class CheckedFact(Document):
    """One checked fact, with its bounds."""

    fact: str = Field(description="A count of violations by name, or a column with `.least` or `.greatest`")
    value: float | None = Field(description="The fact; null if it could not be determined, which fails")
    minimum: float = Field(description="Least value that passes")
    maximum: float | None = Field(description="Greatest value that passes; null if there is no limit")
    passed: bool


class CheckedColumn(Document):
    """Statistics of the values of one column."""

    column: str
    rows: int = Field(ge=0, description="Rows of the table")
    nulls: int = Field(ge=0, description="Rows without a value")
    distinct_about: int = Field(ge=0, description="Number of different values, estimated to within a few percent")
    least: float | None = Field(description="Least value, rounded to a double; null if values are not numbers")
    greatest: float | None = Field(description="Greatest value, likewise")
    deciles: list[float] | None = Field(
        description="Values below which 10, 20 ... 90 % of the rows lie, estimated: a histogram of equal heights"
    )


class CheckedTable(Document):
    """The checks of one table."""

    table: str
    check: str = Field(description="The condition that the check tests")
    promise: str = Field(description="The condition in words")
    blocking: bool = Field(description="True if a failure stops publishing, so that the published data is older")
    passed: bool
    judged_at: Timestamp = Field(description="First time these facts were checked; equal facts are not checked again")
    judged_by: str = Field(description="Great Expectations with its version, or `bounds` for a plain comparison")
    facts: list[CheckedFact]
    columns: list[CheckedColumn] = Field(description="Collected at most hourly; empty before the first time")


class PublishedChecks(Document):
    """Every table with checks, and their last results."""

    ok: Literal[True] = True
    failed: int = Field(ge=0, description="Tables whose checks did not pass")
    tables: list[CheckedTable]
