"""Compresses large answers of the rooms with gzip, for clients that prefer gzip to an unencoded body."""

from starlette.middleware.gzip import GZipMiddleware, IdentityResponder
from starlette.types import ASGIApp, Receive, Scope, Send

from api.publish.negotiation import IDENTITY, acceptable_encodings
from api.receiving import joined_values

COMPRESSED_FROM_BYTES = 100_000
"""Smallest answer that is compressed; pages of a graph have megabytes. A smaller one reaches a client on this machine
sooner uncompressed."""


class Compression(GZipMiddleware):
    """Sends answers uncompressed to a client whose weights prefer that, or that requests a range.

    The framework's middleware only looks for the letters "gzip", so it would compress for `gzip;q=0` too.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, minimum_size=COMPRESSED_FROM_BYTES, compresslevel=1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _wants_gzip(scope):
            await IdentityResponder(self.app, self.minimum_size)(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def _wants_gzip(scope: Scope) -> bool:
    headers = scope["headers"]
    accepted = acceptable_encodings(joined_values(headers, b"accept-encoding"))
    preferred = accepted[: accepted.index(IDENTITY)] if IDENTITY in accepted else accepted
    return "gzip" in preferred and joined_values(headers, b"range") is None
