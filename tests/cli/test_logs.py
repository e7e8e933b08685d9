"""The log lines of a command that the worker does: in its log like those of later runs, and shown to people."""

import json
import re
import subprocess
import sys

import pytest

SCRIPT = """
import logging, sys
from cli.logs import configure_shown_logs
configure_shown_logs(sys.argv[1], sys.stdout)
sys.stderr = None
logging.getLogger("pipelines.token").info("3 words read")
logging.getLogger("other").info("not shown")
logging.getLogger("other").warning("late")
"""
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"


def lines(log_format: str) -> tuple[list[str], list[str]]:
    """Returns the lines for people, and those of the log."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, log_format], capture_output=True, text=True, check=True)
    return done.stdout.splitlines(), done.stderr.splitlines()


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_what_is_shown_to_people_is_text_in_both_formats(log_format: str) -> None:
    assert lines(log_format)[0] == ["pipeline  3 words read", "warning   late"]


def test_the_log_has_the_same_lines_with_their_time() -> None:
    read, late = lines("text")[1]
    assert re.fullmatch(f"{TIME} INFO 3 words read", read)
    assert re.fullmatch(f"{TIME} WARNING late", late)


def test_each_line_of_the_log_is_an_object_in_json() -> None:
    objects = [json.loads(line) for line in lines("json")[1]]
    assert [(line["level"], line["logger"], line["message"]) for line in objects] == [
        ("info", "pipelines.token", "3 words read"),
        ("warning", "other", "late"),
    ]
