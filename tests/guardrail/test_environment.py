"""Environment variables classified by name, and the hosts to which their content may be sent."""

from __future__ import annotations

import pytest

from guardrail import environment


@pytest.mark.parametrize(
    ("text", "hosts", "foreign"),
    [
        ("k=$AWS_SECRET_ACCESS_KEY", ["collect.example.net"], True),
        ("k=$AWS_SECRET_ACCESS_KEY", ["sts.amazonaws.com"], False),
        ("${GITHUB_TOKEN}", ["collect.example.net"], True),
        ("token=$GITHUB_TOKEN", ["api.github.com"], False),
        ("$GITHUB_TOKEN", [], False),
        ("$DB_PASSWORD", ["collect.example.net"], True),
        ("$SIGNING_KEY", [], True),
        # Nobody can tell whose these are.
        ("token=$TOKEN", ["ci.example.net"], False),
        ("key=$API_KEY", ["ci.example.net"], False),
        ("$PATH $HOME $BUILD_ID", ["collect.example.net"], False),
        ("${{ secrets.GITHUB_TOKEN }}", ["collect.example.net"], True),
        ("${{ github.sha }}", ["collect.example.net"], False),
    ],
)
def test_a_secret_is_foreign_to_hosts_for_which_it_is_not_meant(text: str, hosts: list[str], foreign: bool) -> None:
    assert environment.foreign_secrets(text, hosts) is foreign


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("$(env)", True),
        ("$(printenv | base64)", True),
        ("`env`", True),
        ("{e: os.environ}", True),
        ("$(env FOO=1 make)", False),
        ("$(printenv PATH)", False),
        ("$(set -e; ls)", False),
        ("os.getenv", False),
    ],
)
def test_a_word_may_contain_the_whole_environment(text: str, holds: bool) -> None:
    assert environment.holds_everything(text) is holds


@pytest.mark.parametrize(
    ("program", "words", "prints"),
    [
        ("env", [], True),
        ("env", ["-0"], True),
        ("env", ["make"], False),
        ("printenv", [], True),
        ("printenv", ["PATH"], False),
        ("set", [], True),
        ("set", ["-e"], False),
        ("echo", [], False),
        ("ps:get-childitem", ["Env:"], True),
        ("ps:get-childitem", ["Env:PATH"], False),
    ],
)
def test_some_calls_print_every_variable(program: str, words: list[str], prints: bool) -> None:
    assert environment.prints_everything(program, words) is prints
