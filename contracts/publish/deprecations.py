"""Defines the deprecated paths for headers and documents: since when, until when, and their successors."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from email.utils import format_datetime

COMPATIBILITY_PATH = "/docs/compatibility.md"
"""The document about what may change, and how changes are announced."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A deprecated path, its successor, and the days (UTC) of its deprecation and of its removal."""

    path: str
    successor: str
    since: date
    until: date

    @property
    def headers(self) -> dict[str, str]:
        """Returns the header fields of RFC 9745 and RFC 8594, with links.

        `{prefix}` in them represents the path of the base URL.
        """
        links = {
            "successor-version": self.successor,
            "deprecation": COMPATIBILITY_PATH,
            "sunset": COMPATIBILITY_PATH,
        }
        return {
            "Deprecation": f"@{int(_midnight(self.since).timestamp())}",
            "Sunset": format_datetime(_midnight(self.until), usegmt=True),
            "Link": ", ".join(f'<{{prefix}}{path}>; rel="{rel}"' for rel, path in links.items()),
        }


DEPRECATED = (Deprecation("/api/worldmodel", "/api/worldmodel/live", date(2026, 11, 21), date(2027, 11, 21)),)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
