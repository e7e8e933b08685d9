"""Dockerfiles and workflows: literal files in, calls out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.model import Call, Passage, Reading, Uncovered
from guardrail.reading.ci import read_ci, read_dockerfile


def line(call: Call) -> str:
    return " ".join([call.program, *(word.text if word.known else "?" + word.text for word in call.words)])


def lines(reading: Reading) -> list[str]:
    return [line(call) for call in reading.calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM x\nRUN rm -rf /tmp/x", ["rm -rf /tmp/x"]),
        ("run a && \\\n  # rm b\n\n  c", ["a", "c"]),
        ("# escape=`\nRUN a `\n b", ["a b"]),
        ("RUN --mount=type=cache,target=/x --network=none pip install y", ["pip install y"]),
        ('RUN ["rm", "-rf", "/x y"]', ["rm -rf /x y"]),
        ("RUN <<EOF\nrm a\nrm b\nEOF\nRUN c", ["rm a", "rm b", "c"]),
        ("RUN cat <<'X' > /f && d\nhi\nX\nRUN e", ["cat", "d", "e"]),
        ('ENV D=/srv E="a b"\nARG F=x\nENV G h\nRUN rm $D/$F "$E" $G', ["rm /srv/x a b h"]),
        ("ADD https://x.org/a.tgz /opt/\nADD local /y\nCOPY . .", ["curl -o /opt/ https://x.org/a.tgz"]),
        ("FROM x\nEXPOSE 80\nUSER app\nLABEL a=b\nVOLUME /d\nSTOPSIGNAL 9", []),
        ("ONBUILD RUN make\nHEALTHCHECK --interval=5s CMD curl x\nHEALTHCHECK NONE", ["make", "curl x"]),
    ],
)
def test_the_commands_of_a_dockerfile(text: str, expected: list[str]) -> None:
    assert lines(read_dockerfile(text)) == expected


def test_commands_of_a_dockerfile_run_in_the_image_and_are_certain_only_for_run() -> None:
    text = 'WORKDIR /srv\nWORKDIR app\nRUN a\nCMD b\nENTRYPOINT ["c"]'
    calls = read_dockerfile(text).calls
    assert [(line(call), call.sure, call.host) for call in calls] == [
        ("a", True, "image:build"),
        ("b", False, "image:build"),
        ("c", False, "image:build"),
    ]
    assert {call.directory.text for call in calls if call.directory} == {"/srv/app"}


def test_an_unknown_instruction_is_uncovered() -> None:
    (uncovered,) = read_dockerfile("FROM x\nFOO bar").uncovered
    assert (uncovered.span.start, uncovered.span.end) == (7, 14)


def test_spans_of_continued_lines_point_into_the_file() -> None:
    text = "FROM x\nRUN a \\\n  # why\n  && rm -rf /b"
    call = read_dockerfile(text, offset=5).calls[1]
    assert text[call.span.start - 5 : call.span.end - 5] == "rm -rf /b"


WORKFLOW = """\
on: push
env: {DIR: build}
defaults:
  run:
    working-directory: ./app
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.ref }}"}
      - run: npm ci
      - name: clean
        working-directory: sub
        run: |
          rm -rf $DIR/*
          if [ x ]; then
            rm -rf "${{ inputs.dir }}/x"
          fi
      - run: >-
          make
          all
"""


def test_the_steps_of_a_workflow() -> None:
    reading = read_ci(WORKFLOW)
    found = [(line(call), call.directory.text if call.directory else None) for call in reading.calls]
    assert found == [
        ("ci:uses actions/checkout@v4 ?${{ github.ref }}", None),
        ("npm ci", "./app"),
        ("rm -rf build/*", "sub"),
        ("rm -rf ?${{ inputs.dir }}/x", "sub"),
        ("make all", "./app"),
    ]
    assert reading.uncovered == ()


def test_spans_of_a_block_point_into_the_file() -> None:
    call = read_ci(WORKFLOW).calls[3]
    assert WORKFLOW[call.span.start : call.span.end] == 'rm -rf "${{ inputs.dir }}/x"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("variables: {D: dist}\nbuild:\n  script:\n    - make\n    - [rm $D, ls]\n", ["make", "rm dist", "ls"]),
        (".b: &b\n  script: [a]\nc:\n  <<: *b\n  after_script: [d]\n", ["a", "a", "d"]),
        ("jobs:\n  b:\n    steps:\n      - run: a\n      - run: {name: x, command: b}\n", ["a", "b"]),
        ("steps:\n- bash: a\n- script: b\n", ["a", "b"]),
        ("before_install: a\ninstall:\n- b\n", ["a", "b"]),
        ("pipeline:\n  x:\n    image: y\n    commands: [a, b]\n", ["a", "b"]),
        ("steps:\n- shell: bash -el {0}\n  run: a\n", ["a"]),
    ],
)
def test_commands_of_other_systems(text: str, expected: list[str]) -> None:
    assert lines(read_ci(text)) == expected


def test_a_shell_that_is_not_read_is_uncovered() -> None:
    (uncovered,) = read_ci("steps:\n- shell: perl {0}\n  run: print 1\n").uncovered
    assert uncovered.executable


@pytest.mark.parametrize(
    "text", ["a: [", "a: b: c", "[" * 5000, "- " * 5000, "a: &a [*a]\n" * 100, "? " * 3000, "\t- x"]
)
def test_broken_yaml_is_uncovered_or_empty(text: str) -> None:
    assert read_ci(text).calls == ()


def assert_within(reading: Reading, text: str) -> None:
    parts: list[Call | Passage | Uncovered] = [*reading.calls, *reading.passages, *reading.uncovered]
    assert all(0 <= part.span.start <= part.span.end <= len(text) for part in parts)


def split(text: str) -> list[str]:
    return text.split()


DOCKER = st.sampled_from(
    [
        *split("RUN CMD ADD ENV ARG ONBUILD SHELL WORKDIR COPY HEALTHCHECK <<EOF EOF --mount=x a=b $a # && rm é"),
        *['["a"]', "\\"],
        *split("https://x/y `"),
        *["\n", " ", "\t", "\u200b", '["sh","-c"]', "# escape=`\n"],
    ]
)
YAML = st.sampled_from(
    [
        *split("run: script: steps: uses: env: | >- a ' [ ] { } &a *a # : é with:"),
        *['"', "\u200b"],
        *["shell: bash", "- ", "\n", "  ", "x: y", "rm -rf $x", "${{ y }}", "\t", "---\n", "\r\n"],
    ]
)


@settings(max_examples=30 * ROUNDS, deadline=None)
@given(st.lists(DOCKER, max_size=30))
def test_no_dockerfile_raises(tokens: list[str]) -> None:
    for glue in ("", " "):
        text = glue.join(tokens)
        assert_within(read_dockerfile(text), text)


@settings(max_examples=30 * ROUNDS, deadline=None)
@given(st.lists(YAML, max_size=30))
def test_no_workflow_raises(tokens: list[str]) -> None:
    for glue in ("", " ", "\n"):
        text = glue.join(tokens)
        assert_within(read_ci(text), text)


CHECKOUT = "uses: actions/checkout@v4, with: {ref: '${{ github.event.pull_request.head.sha }}'}"


COMMENT = "run: 'echo ${{ github.event.comment.body }}'"


def workflow(on: str, *steps: str, job: str = "", top: str = "") -> str:
    lines = "".join(f"\n      - {{{step}}}" for step in steps)
    return f"on: {on}\n{top}jobs:\n  a:\n    runs-on: ubuntu-latest\n{job}    steps:{lines}\n"


@pytest.mark.parametrize(
    ("text", "rights"),
    [
        (workflow("pull_request_target", CHECKOUT, "run: npm ci"), ["write"]),
        (workflow("[push, pull_request_target]", CHECKOUT, "run: 'cd a && make test'"), ["write"]),
        (workflow("{pull_request_target: {types: [opened]}}", CHECKOUT, "uses: ./.github/actions/build"), ["write"]),
        (workflow("pull_request_target", "run: 'gh pr checkout 7 && ./build.sh'"), ["write"]),
        (
            workflow("workflow_run", CHECKOUT.replace("pull_request.head.sha", "workflow_run.head_sha"), "run: ./a.sh"),
            ["write"],
        ),
        (workflow("pull_request_target", CHECKOUT, "run: npm ci", top="permissions: {contents: read}\n"), ["read"]),
        (
            workflow(
                "pull_request_target",
                CHECKOUT,
                "run: npm ci, env: {A: '${{ secrets.A }}'}",
                top="permissions: {contents: read}\n",
            ),
            ["write"],
        ),
        (workflow("pull_request_target", "uses: actions/labeler@v5"), []),
        (workflow("pull_request_target", "uses: actions/checkout@v4", "run: npm ci"), []),
        (workflow("pull_request", CHECKOUT, "run: npm ci"), []),
        (workflow("pull_request_target", CHECKOUT, "run: 'gh pr comment 7 --body thanks'"), []),
        (workflow("pull_request_target", "run: npm ci", CHECKOUT), []),
        (
            workflow(
                "pull_request_target",
                CHECKOUT,
                "run: npm ci",
                job="    if: github.event.label.name == 'safe to test'\n",
            ),
            [],
        ),
        (workflow("pull_request_target", CHECKOUT, "run: npm ci", job="    environment: external\n"), []),
        (
            workflow(
                "{workflow_run: {branches: [main]}}",
                CHECKOUT.replace("pull_request.head.sha", "workflow_run.head_sha"),
                "run: ./deploy.sh",
            ),
            [],
        ),
    ],
)
def test_a_workflow_that_runs_the_code_of_a_pull_request_has_rights_that_its_author_lacks(
    text: str, rights: list[str]
) -> None:
    assert [effect.detail["rights"] for effect in read_ci(text).effects] == rights


@pytest.mark.parametrize(
    ("text", "rights"),
    [
        (workflow("issue_comment", COMMENT), ["write"]),
        (workflow("[issues]", "run: 'echo ${{ github.event.issue.title }}'"), ["write"]),
        (workflow("pull_request_target", "run: 'git switch ${{ github.head_ref }}'"), ["write"]),
        (workflow("issue_comment", COMMENT, top="permissions: {contents: read}\n"), ["read"]),
        (workflow("issue_comment", "run: 'echo $BODY', env: {BODY: '${{ github.event.comment.body }}'}"), []),
        (workflow("issue_comment", "run: 'echo ${{ github.event.issue.number }}'"), []),
        (workflow("pull_request", "run: 'echo ${{ github.event.pull_request.title }}'"), []),
        (workflow("issue_comment", COMMENT, job="    if: github.event.comment.user.login == 'ada'\n"), []),
    ],
)
def test_a_script_that_contains_a_strangers_text_runs_with_rights_that_its_author_lacks(
    text: str, rights: list[str]
) -> None:
    found = [effect.detail["rights"] for effect in read_ci(text).effects if effect.detail.get("code") == "pull_request"]
    assert found == rights
