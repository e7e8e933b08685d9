"""Light compression for tests: a service's levels account for half of the cost of a first generation."""

import gzip
from functools import partial

import brotli
import zstandard

from pipelines.publish.documents import ENCODERS


def compress_lightly() -> None:
    """Makes this process publish with the least compression from now on."""
    ENCODERS.update(
        br=partial(brotli.compress, quality=1),
        zstd=zstandard.ZstdCompressor(level=1).compress,
        gzip=partial(gzip.compress, compresslevel=1, mtime=0),
    )
