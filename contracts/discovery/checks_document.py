"""The results of the checks of tables, as they are published for people and monitors."""

from typing import Literal

from pydantic import Field

from contracts.base import Document, Timestamp

CHECKS_PATH = "/checks.json"


class CheckedFact(Document):
    """One fact that was judged, with its bounds."""

    fact: str = Field(description="A count of violations by name, or a column with `.least` or `.greatest`")
    value: float | None = Field(description="The fact; null where it could not be determined, which fails")
    minimum: float = Field(description="Least value that passes")
    maximum: float | None = Field(description="Greatest value that passes; null where there is no limit")
    passed: bool


class CheckedColumn(Document):
    """Statistics of the values of one column."""

    column: str
    rows: int = Field(ge=0, description="Rows of the table")
    nulls: int = Field(ge=0, description="Rows without a value")
    distinct_about: int = Field(ge=0, description="Different values, estimated to within a few percent")
    least: float | None = Field(description="Least value, rounded to a double; null where values are no numbers")
    greatest: float | None = Field(description="Greatest value, likewise")
    deciles: list[float] | None = Field(
        description="Values below which 10, 20 ... 90 % of the rows lie, estimated: a histogram of equal heights"
    )


class CheckedTable(Document):
    """The checks of one table."""

    table: str
    check: str = Field(description="What holds where the check passes")
    promise: str = Field(description="The same in words")
    blocking: bool = Field(description="True where a failure stops publishing: what is published is older then")
    passed: bool
    judged_at: Timestamp = Field(description="When these facts were judged first; equal facts are not judged again")
    judged_by: str = Field(description="Great Expectations with its version, or `bounds` for a plain comparison")
    facts: list[CheckedFact]
    columns: list[CheckedColumn] = Field(description="Gathered at most hourly; empty before the first time")


class PublishedChecks(Document):
    """Every table with checks, and how they went last."""

    ok: Literal[True] = True
    failed: int = Field(ge=0, description="Tables whose checks did not pass")
    tables: list[CheckedTable]
