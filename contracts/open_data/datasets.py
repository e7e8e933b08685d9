"""Describes datasets and their files, and builds the index of open data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from contracts.base import Document, Sha256Hex, Timestamp
from contracts.open_data.names import (
    CROISSANT_PATH,
    DATA_PACKAGE_PATH,
    DATA_PREFIX,
    DATABASE_PATH,
    MANIFEST_PATH,
    FileName,
    contract_path,
)

Kind = Literal["integer", "number", "decimal", "string", "boolean", "datetime", "date"]
Split = Literal["whole", "block", "day", "list"]

_SUMMED_BY = "token_address"
"""The column by which the amounts of a dataset with several tokens are summed."""

_EXACT_SUM_SQL = """\
with limbs as (
    select
{key}        sum({name}_limb0)::hugeint as s0,
        sum({name}_limb1)::hugeint as s1,
        sum({name}_limb2)::hugeint as s2
    from {dataset}{grouped}
),
carried as (
    select
{key}        s0 % 100000000000000000000000000 as d0,
        (s1 + s0 // 100000000000000000000000000) % 100000000000000000000000000 as d1,
        s2 + (s1 + s0 // 100000000000000000000000000) // 100000000000000000000000000 as d2
    from limbs
)
select {keyed}coalesce(
    nullif(ltrim(d2::varchar || lpad(d1::varchar, 26, '0') || lpad(d0::varchar, 26, '0'), '0'), ''), '0'
) as {name}_sum_raw
from carried{ordered}"""


def exact_sum_sql(name: str, dataset: str, *, per_token: bool = False) -> str:
    """Returns the SQL of the exact sum of the amounts `name` as decimal text, for sums from 0 to 10^90.

    Each limb has 26 digits, from the right. With `per_token` the SQL returns a row per token, whose units differ.
    """
    return _EXACT_SUM_SQL.format(
        name=name,
        dataset=dataset,
        key=f"        {_SUMMED_BY},\n" if per_token else "",
        keyed=f"{_SUMMED_BY}, " if per_token else "",
        grouped=f"\n    group by {_SUMMED_BY}" if per_token else "",
        ordered=f"\norder by {_SUMMED_BY}" if per_token else "",
    )


@dataclass(frozen=True, slots=True)
class DataColumn:
    """One published column: its type in DuckDB and Parquet, its kind and meaning, and whether it always has a value."""

    name: str
    type: str
    kind: Kind
    meaning: str
    required: bool


@dataclass(frozen=True, slots=True)
class DataCheck:
    """The checks that its table must pass before publication: a promise, and the SQL of each count that must be 0."""

    promise: str
    violations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Dataset:
    """One published table: its grain, its columns in order, and how it is divided into files."""

    name: str
    grain: str
    columns: Sequence[DataColumn]
    split: Split
    check: DataCheck | None = None

    @property
    def amounts(self) -> list[str]:
        """Returns the names of the columns that have limbs."""
        return [column.name.removesuffix("_limb0") for column in self.columns if column.name.endswith("_limb0")]

    @property
    def exact_sums(self) -> dict[str, str]:
        """Returns the SQL of the exact sum of each amount, one row per token if the dataset has several."""
        per_token = any(column.name == _SUMMED_BY for column in self.columns)
        return {name: exact_sum_sql(name, self.name, per_token=per_token) for name in self.amounts}


@dataclass(frozen=True, slots=True)
class DataFile:
    """One published file with rows.

    It has a name in parts, its size in bytes, its SHA-256, its number of rows, the block of its last row if it is named
    by blocks, and the time of writing. A file that `grows` gets rows every minute. Documents leave its size and hash to
    the manifest, so that only the manifest changes with it.
    """

    name: FileName
    bytes: int
    sha256: str
    rows: int | None
    last_block: int | None
    written_at: datetime
    grows: bool = False

    @property
    def path(self) -> str:
        return f"{DATA_PREFIX}{self.name}"


def files_of(dataset: Dataset, files: Iterable[DataFile]) -> list[DataFile]:
    """Returns the files of a dataset, in the order of their rows, Parquet before CSV."""
    own = [file for file in files if file.name.dataset == dataset.name]
    return sorted(
        own, key=lambda file: (file.name.first_block or 0, file.name.day or "", file.name.format != "parquet")
    )


class IndexColumn(Document):
    """One column of a dataset."""

    name: str
    type: str = Field(description="Type in DuckDB and Parquet")
    required: bool
    description: str


class IndexFile(Document):
    """One file of a dataset. Of ranges of blocks, only the newest gets rows; the others never change under their name.

    The file of today's rows grows: its size and hash are in the manifest, and its time of writing is null.
    """

    url: str
    format: Literal["parquet", "csv", "csv.gz"]
    bytes: int | None
    sha256: Sha256Hex | None
    rows: int | None
    first_block: int | None
    last_block: int | None = Field(description="The last block of its rows")
    day: str | None = Field(description="UTC day of the rows")
    written_at: Timestamp | None


class IndexDataset(Document):
    """One published table with its files, in order."""

    name: str
    description: str
    split: Split = Field(
        description="`whole`: one file; `block`: ranges of blocks; `day`: UTC days; `list`: one file per block"
    )
    contract: str = Field(description="The dataset's contract (Open Data Contract Standard)")
    exact_sums: dict[str, str] = Field(
        description="For each amount, the SQL of its exact sum over the dataset's table, with a row per "
        "`token_address` where the amounts are of several tokens"
    )
    columns: list[IndexColumn]
    files: list[IndexFile]


class DataIndex(Document):
    """Everything that is published as open data. Each file can be read in ranges, and none counts against a limit."""

    service: str
    manifest: str = Field(description="The signed manifest of everything public")
    data_package: str
    croissant: str
    database: str = Field(description="All datasets in one file for DuckDB 1.5 and 2, rewritten at most hourly")
    datasets: list[IndexDataset]


def data_index(base_url: str, datasets: Sequence[Dataset], files: Sequence[DataFile]) -> DataIndex:
    """Builds the index."""
    return DataIndex(
        service=base_url,
        manifest=base_url + MANIFEST_PATH,
        data_package=base_url + DATA_PACKAGE_PATH,
        croissant=base_url + CROISSANT_PATH,
        database=base_url + DATABASE_PATH,
        datasets=[_dataset(base_url, dataset, files_of(dataset, files)) for dataset in datasets],
    )


def _dataset(base_url: str, dataset: Dataset, files: Iterable[DataFile]) -> IndexDataset:
    return IndexDataset(
        name=dataset.name,
        description=dataset.grain,
        split=dataset.split,
        contract=base_url + contract_path(dataset.name),
        exact_sums=dataset.exact_sums,
        columns=[
            IndexColumn(name=column.name, type=column.type, required=column.required, description=column.meaning)
            for column in dataset.columns
        ],
        files=[
            IndexFile(
                url=base_url + file.path,
                format=file.name.format,
                bytes=None if file.grows else file.bytes,
                sha256=None if file.grows else file.sha256,
                rows=None if file.grows else file.rows,
                first_block=file.name.first_block,
                last_block=file.last_block,
                day=file.name.day,
                written_at=None if file.grows else file.written_at,
            )
            for file in files
        ],
    )
