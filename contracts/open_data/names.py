"""Names the files of open data. A file's name identifies its rows."""

import re
from dataclasses import dataclass
from typing import Literal, cast

DATA_PREFIX = "/data/"
INDEX_PATH = "/data/index.json"
MANIFEST_PATH = "/data/manifest.json"
NOW_PATH = "/data/now.json"
DATA_PACKAGE_PATH = "/data/datapackage.json"
CROISSANT_PATH = "/data/croissant.json"
DATABASE_PATH = "/data/svc.duckdb"
TOKENS_FOLDER = "/data/tokens/"
"""The folder of the documents and lists of further tokens, which are not part of the datasets."""
TOKENS_INDEX_PATH = f"{TOKENS_FOLDER}index.json"

Format = Literal["parquet", "csv", "csv.gz"]

_NAME = re.compile(
    r"(?P<dataset>[a-z][a-z0-9_]*)"
    r"(?:-(?P<day>\d{4}-\d{2}-\d{2})|-(?P<first>\d+)-(?P<last>\d+)|-(?P<block>\d+))?\.(?P<format>parquet|csv\.gz|csv)"
)


@dataclass(frozen=True, slots=True)
class FileName:
    """The name of a data file, in parts: a range of blocks, one block or one UTC day, or neither for a whole table."""

    dataset: str
    format: Format = "parquet"
    first_block: int | None = None
    last_block: int | None = None
    day: str | None = None

    def __str__(self) -> str:
        if self.day is not None:
            rows = f"-{self.day}"
        elif self.first_block is None:
            rows = ""
        else:
            rows = f"-{self.first_block}" + ("" if self.first_block == self.last_block else f"-{self.last_block}")
        return f"{self.dataset}{rows}.{self.format}"

    @property
    def stem(self) -> str:
        """Returns the name without its extension."""
        return str(self).removesuffix(f".{self.format}")


def parse_file_name(name: str) -> FileName | None:
    """Returns the parts of a data file's name, or None for another file."""
    parsed = _NAME.fullmatch(name)
    if parsed is None:
        return None
    first, last = parsed["first"] or parsed["block"], parsed["last"] or parsed["block"]
    return FileName(
        parsed["dataset"],
        cast(Format, parsed["format"]),
        None if first is None else int(first),
        None if last is None else int(last),
        parsed["day"],
    )


def contract_path(dataset: str) -> str:
    """Returns the path of a dataset's contract (Open Data Contract Standard)."""
    return f"{DATA_PREFIX}{dataset}.odcs.yaml"
