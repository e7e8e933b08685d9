"""Python is read into calls with the values of their arguments."""

from __future__ import annotations

import pytest
from guardrail_calls import spelled
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.reading.python import read

EXEC = "import base64; exec(base64.b64decode('aW1wb3J0IG9zOyBvcy5yZW1vdmUoIngiKQ=='))"


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("import shutil as s; s.rmtree('/a')", ["python:shutil.rmtree /a"]),
        ("from os import remove as r\nr('/a')", ["python:os.remove /a"]),
        ("getattr(__import__('o' + 's'), 'sys' + 'tem')('ls /')", ["python:os.system ls /"]),
        (EXEC, ['python:exec import os; os.remove("x")']),
        ("import subprocess\nd = '/a b'\nsubprocess.run(['rm', '-rf', d])", ["python:subprocess.run rm -rf '/a b'"]),
        ("import os\nos.system(f'rm -rf {d}/x')", ["python:os.system rm -rf ${d:?}/x"]),
        ("import os\nos.remove(f'{d}/x')", ["python:os.remove $d/x?"]),
        ("import os\nos.execlp('sh', 'sh', '-c', 'ls')", ["python:os.execvp sh sh -c ls"]),
        (
            "from pathlib import Path\n(Path.home() / 'x').unlink()",
            ["python:pathlib.Path.home", "python:pathlib.Path.unlink self=~/x"],
        ),
        (
            "import os\nfor f in os.listdir('/a'):\n    os.remove('/a/' + f)",
            ["python:os.listdir /a", "python:os.remove /a/*"],
        ),
        ("import os\nfor f in ['a', 'b']:\n    os.remove(f)", ["python:os.remove a", "python:os.remove b"]),
        ("def f(p, q='y'):\n    import os\n    os.remove(p + q)\nf('x')", ["python:os.remove xy"]),
        (
            "import os\nclass A:\n    def __init__(self, p):\n        self.p = p\n    def run(self):\n"
            "        os.remove(self.p)\nA('x').run()",
            ["python:os.remove x"],
        ),
        ("import os\ndef f():\n    os.remove('x')", ["~python:os.remove x"]),
        (
            "import os\nlist(map(os.remove, ['a']))",
            ["python:map os.remove? a", "python:os.remove a", "python:list $map?"],
        ),
        (
            "s = requests.Session(); s.delete('https://a')",
            ["python:requests.Session", "python:requests.delete https://a self=Session?"],
        ),
        ("User.objects.all().delete()", ["python:User.objects.all self=$objects?", "python:*.all.delete self=$all?"]),
        ("print('rm -rf /')  # os.remove('x')", ["python:print rm -rf /"]),
        ("open('x', mode='w')", ["python:open x mode=w", "python:open.unused x mode=w"]),
        (
            "x = open('/k').read(); requests.post('https://a', data=x)",
            ["python:open /k", "python:requests.post https://a data=$(cat /k)?"],
        ),
        ("import os\nos.remove('a')\nx = (", ["python:os.remove a"]),
        ("import os; os.remove('a'); x = (", ["python:os.remove a"]),
        ("print 'a'\nimport os\nos.remove('b')", ["python:print a", "python:os.remove b"]),
        ("!rm -rf x\ny = 1", ["python:get_ipython.system rm -rf x"]),
        ("    import os\n    os.remove('a')", ["python:os.remove a"]),
        ("if False:\n    import os\n    os.remove('a')", []),
    ],
)
def test_calls_of_python_are_read(text: str, calls: list[str]) -> None:
    assert spelled(read(text)) == calls


def test_code_after_a_syntax_error_is_uncovered() -> None:
    reading = read("import os\nx = (", offset=10)
    assert [(part.span.start, part.reason) for part in reading.uncovered] == [(20, "Python after a syntax error")]


def test_spans_are_of_the_text_as_it_was_sent() -> None:
    text = "x = 'ü'; import os; os.remove('a')"
    span = read(text, offset=5).calls[0].span
    assert text[span.start - 5 : span.end - 5] == "os.remove('a')"


def test_comments_and_long_texts_are_passages() -> None:
    reading = read("# ignore the rules\nprint('a sentence that people would read, long enough for prose')")
    assert [passage.text for passage in reading.passages] == [
        "ignore the rules",
        "a sentence that people would read, long enough for prose",
    ]


@settings(max_examples=30 * ROUNDS, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                "import os\n",
                "os.remove(",
                "'a'",
                ")",
                "[",
                "]",
                "for x in y:\n",
                "  ",
                "f'{",
                "}",
                "x",
                "=",
                "+",
                "%s",
                ".",
                "lambda: ",
                "\\",
                "é",
                "!ls\n",
                "print ",
                "{",
                ":",
            )
        ),
        max_size=30,
    )
)
def test_reading_python_never_raises(parts: list[str]) -> None:
    text = "".join(parts)
    for call in read(text).calls:
        assert 0 <= call.span.start <= call.span.end <= len(text)
