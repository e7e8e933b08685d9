"""JavaScript is read into calls with the values of their arguments."""

from __future__ import annotations

import pytest
from guardrail_calls import spelled
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.reading.javascript import read


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("require('fs').unlinkSync('/a')", ["js:fs.unlinkSync /a"]),
        ("require('fs').rmSync('a', {recursive: true})", ["js:fs.rmSync a {recursive: true} recursive=true"]),
        ("const {execSync: e} = require('node:child_process'); e('ls')", ["js:child_process.execSync ls"]),
        ("import {exec} from 'child_process';\nexec(`rm ${d}/x`)", ["js:child_process.exec rm ${d:?}/x"]),
        ("import fs from 'fs/promises'; await fs.rm(`${process.env.HOME}/x`)", ["js:fs.promises.rm $HOME/x?"]),
        (
            "const c = require('child_process'); c.spawn('rm', ['-rf', 'a b'], {stdio: 'inherit'})",
            ["js:child_process.spawn rm -rf a b"],
        ),
        ("fetch('https://a', {method: 'DELETE'})", ["js:fetch https://a {method: DELETE} method=DELETE"]),
        ("axios({method: 'delete', url: 'https://a'})", ["js:axios method=delete url=https://a"]),
        ("fetch('https://a').then(r => r.text()).then(eval)", ["js:fetch https://a", "js:eval $(curl -s https://a)?"]),
        ("eval(Buffer.from('Y29uc29sZS5sb2coMSk=', 'base64').toString())", ["js:eval console.log(1)"]),
        ("global['req' + 'uire']('child_process')['ex' + 'ec']('ls')", ["js:child_process.exec ls"]),
        (
            "for (const f of fs.readdirSync('/a')) fs.unlinkSync('/a/' + f)",
            ["js:fs.readdirSync /a", "js:fs.unlinkSync /a/*"],
        ),
        ("function f(p) { fs.unlinkSync(p) }\nf('x')", ["js:fs.unlinkSync x"]),
        ("function f() { fs.unlinkSync('x') }", ["~js:fs.unlinkSync x"]),
        ("await $`rm -rf ${d}`", ["js:child_process.exec rm -rf ${d:?}"]),
        ("console.log('rm -rf /') // fs.rmSync('x')", ["js:console.log rm -rf /"]),
        ("['a', 'b'].forEach(f => fs.unlinkSync(f))", ["js:fs.unlinkSync a", "js:fs.unlinkSync b"]),
        ("db.query('DROP TABLE x')", ["js:db.query DROP TABLE x"]),
    ],
)
def test_calls_of_javascript_are_read(text: str, calls: list[str]) -> None:
    assert spelled(read(text)) == calls


def test_half_a_statement_is_uncovered() -> None:
    assert [part.reason for part in read("const x = {\n a: ").uncovered] == ["JavaScript with a syntax error"]


def test_spans_are_of_the_text_as_it_was_sent() -> None:
    text = "let x = 'ü'; fs.unlinkSync('a')"
    span = read(text, offset=5).calls[0].span
    assert text[span.start - 5 : span.end - 5] == "fs.unlinkSync('a')"


@settings(max_examples=30 * ROUNDS, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                "require('fs')",
                ".rm(",
                "'a'",
                ")",
                "[",
                "]",
                "for (const x of y) ",
                "{",
                "}",
                "`${",
                "`",
                "x",
                "=",
                "+",
                "=>",
                "function f(",
                "\\",
                "é",
                "await ",
                "new ",
                ";",
                "\n",
                "...",
                "/",
            )
        ),
        max_size=30,
    )
)
def test_reading_javascript_never_raises(parts: list[str]) -> None:
    text = "".join(parts)
    for call in read(text).calls:
        assert 0 <= call.span.start <= call.span.end <= len(text)
