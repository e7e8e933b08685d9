"""Extracts the events and tasks of an iCalendar text (RFC 5545) with their times and people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contracts.times import is_instant
from contracts.world.extraction.document_reading import Reading
from contracts.world.extraction.findings import FoundNode, Part
from contracts.world.extraction.inline_markup import plain
from contracts.world.extraction.mentions import mention
from contracts.world.extraction.parties import names_people

_BEGIN = re.compile(r"\s*BEGIN:VCALENDAR\s", re.IGNORECASE)
_LINE = re.compile(
    r"^(?P<name>[A-Za-z-]{1,40})(?P<parameters>(?:;[A-Za-z-]{1,40}=(?:\"[^\"\r\n]*\"|[^\";:\r\n]*))*)"
    r":(?P<value>[^\r\n]*)",
    re.MULTILINE,
)
_CALLED = re.compile(r";CN=(?:\"(?P<quoted>[^\"\r\n]*)\"|(?P<bare>[^\";:\r\n]*))", re.IGNORECASE)
_ZONE = re.compile(r";TZID=\"?([^\";:\r\n]+)", re.IGNORECASE)
_DECLINED = re.compile(r";PARTSTAT=\"?DECLINED\b", re.IGNORECASE)
_FOLDED = re.compile(r"(?:\r\n|\n|\r)[ \t](?P<more>[^\r\n]*)")
_TIME = re.compile(r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)(?:T(?P<time>\d{6})(?P<utc>Z)?)?$")
_ESCAPED = re.compile(r"\\([nN,;\\])")
_TYPES = {"VEVENT": "TimeBlock", "VTODO": "Task"}
_TOLD = {"LOCATION": "location", "DESCRIPTION": "description", "STATUS": "status", "RRULE": "repeats"}
_PEOPLE = {"ORGANIZER": "organizer", "ATTENDEE": "attendee"}
_DONE = {"COMPLETED": "done", "NEEDS-ACTION": "open", "IN-PROCESS": "open", "CANCELLED": "cancelled"}


class _Line(NamedTuple):
    name: str
    called: Part | None
    value: Part
    text: str
    whole: Part
    zone: str
    """The name of the time zone, or an empty text."""
    is_declined: bool


def is_calendar(text: str) -> bool:
    """Decides whether a text is an iCalendar object."""
    return _BEGIN.match(text) is not None


def read_calendar(reading: Reading, title: str | None) -> None:
    """Reads a whole iCalendar text. An event or task without a summary is left out."""
    reading.begin(title or reading.document, Part(0, len(reading.text)).trimmed(reading.text))
    lines: list[_Line] = []
    depth = 0
    for line in _lines(reading.text):
        if line.name == "BEGIN":
            depth += 1
            lines = [line] if line.text.upper() in _TYPES else lines if depth > 2 else []
        elif line.name == "END":
            depth -= 1
            if lines and line.text.upper() == lines[0].text.upper():
                _component(reading, _TYPES[line.text.upper()], lines[1:])
                lines = []
        elif lines and depth == 2:
            lines.append(line)


def _lines(text: str) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        value = Part(*match.span("value"))
        pieces, end = [text[value.start : value.end]], value.end
        while (more := _FOLDED.match(text, end)) is not None:
            pieces.append(more["more"])
            end = more.end()
        named = _CALLED.search(text, *match.span("parameters"))
        called = None if named is None else Part(*named.span("bare" if named["quoted"] is None else "quoted"))
        spelt = _ESCAPED.sub(lambda escaped: "\n" if escaped[1] in "nN" else escaped[1], "".join(pieces))
        zone = _ZONE.search(match["parameters"])
        is_declined = _DECLINED.search(match["parameters"]) is not None
        whole = Part(match.start(), end)
        yield _Line(
            match["name"].upper(), called, value, spelt.strip(), whole, "" if zone is None else zone[1], is_declined
        )


def _component(reading: Reading, node_type: str, lines: list[_Line]) -> None:
    summary = next((line for line in lines if line.name == "SUMMARY" and line.text), None)
    if summary is None:
        return
    node = reading.add("appointment", node_type, summary.value, reading.root, plain(summary.text))
    days: list[str] = []
    for line in lines:
        reading.read_as("appointment", line.whole)
        if line.name in ("DTSTART", "DTEND", "DUE"):
            _time(reading, node, line, days)
        elif line.name == "STATUS" and node_type == "Task":
            reading.describe(node, "status", _DONE.get(line.text.upper(), line.text))
        elif line.name in _TOLD:
            reading.describe(node, _TOLD[line.name], line.text)
        elif (
            line.name in _PEOPLE
            and line.called is not None
            and not line.is_declined
            and names_people(reading, line.called)
        ):
            mention(reading, "appointment", node, line.called, _PEOPLE[line.name])
    if days:
        node.properties["dates"] = list(dict.fromkeys(days))


def _time(reading: Reading, node: FoundNode, line: _Line, days: list[str]) -> None:
    """Adds a day, and the time: as an instant if it is in UTC, otherwise as a text with its zone.

    The end of a whole-day event is the day after it, so it is not added.
    """
    match = _TIME.match(line.text)
    day = f"{match['y']}-{match['m']}-{match['d']}" if match is not None else ""
    if match is None or not is_instant(f"{day}T00:00:00Z"):
        return
    if line.name == "DUE":
        node.properties.setdefault("due_on", day)
    if line.name != "DTEND" or match["time"]:
        days.append(day)
    if match["time"] and line.name != "DUE" and node.type == "TimeBlock":
        time = match["time"]
        name = "starts_at" if line.name == "DTSTART" else "ends_at"
        zone = "Z" if match["utc"] else f" {line.zone}".rstrip()
        reading.findings.describe(node, name, f"{day}T{time[:2]}:{time[2:4]}:{time[4:]}{zone}")
