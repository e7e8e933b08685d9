"""Tool calls: the forms in which harnesses write them, and the effects that the words of a tool's name imply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.reading import tool_calls
from guardrail.vocabulary import Language


def _calls(text: str) -> list[tuple[str, dict[str | None, str]]]:
    return [(call.program, {word.name: word.text for word in call.words}) for call in tool_calls.read(text).calls]


def _effects(text: str) -> list[tuple[str, str, str]]:
    return [(effect.kind.value, effect.object.value, effect.scope.value) for effect in tool_calls.read(text).effects]


@pytest.mark.parametrize(
    "text",
    [
        'delete_email(email_id="34")',
        "delete_email(email_id='34')",
        'delete_email {"email_id": "34"}',
        'delete_email: {"email_id": "34"}',
        '{"tool": "delete_email", "arguments": {"email_id": "34"}}',
        '{"name": "delete_email", "input": {"email_id": "34"}}',
        '{"tool_name": "delete_email", "tool_input": {"email_id": "34"}}',
        '{"type": "tool_use", "id": "t1", "name": "delete_email", "input": {"email_id": "34"}}',
        '{"function": {"name": "delete_email", "arguments": "{\\"email_id\\": \\"34\\"}"}}',
        '[{"name": "delete_email", "args": {"email_id": "34"}}]',
        '{"tool_calls": [{"type": "function", "function": {"name": "delete_email", "arguments": {"email_id": "34"}}}]}',
        '{"method": "tools/call", "params": {"name": "delete_email", "arguments": {"email_id": "34"}}}',
        '{"functionCall": {"name": "delete_email", "args": {"email_id": "34"}}}',
        '{"action": "delete_email", "action_input": {"email_id": "34"}}',
        'Action: delete_email\nAction Input: {"email_id": "34"}',
        '<tool_call>{"name": "delete_email", "arguments": {"email_id": "34"}}</tool_call>',
        '<invoke name="delete_email"><parameter name="email_id">"34"</parameter></invoke>',
    ],
)
def test_every_harness_spelling_gives_the_same_call(text: str) -> None:
    assert _calls(text) == [("tool:delete_email", {"email_id": "34"})]
    assert _effects(text) == [("delete", "message", "one")]


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ('send_money(recipient="DE12", amount=5)', ("pay", "payment", "one")),
        ('mcp__mail__sendEmail {"to": "a@b.test"}', ("send", "message", "one")),
        ('calendar.events.delete(event_id="7")', ("delete", "event", "one")),
        ('book_flight(card_id="3")', ("pay", "order", "one")),
        ('cancelReservation(reservation_id="XY")', ("cancel", "order", "one")),
        ('add_user_to_channel(user="Eve", channel="ops")', ("grant", "account", "one")),
        ('remove_user_from_channel(user="Eve", channel="ops")', ("revoke", "account", "one")),
        ('update_password(password="x")', ("rotate", "credential", "one")),
        ('grant_permission(role="reader")', ("grant", "permission", "one")),
        ('kubernetes(verb="delete", resource="pod")', ("delete", "container", "one")),
        ('run_report({"kind": "sales"})', ("execute", "resource", "one")),
        ('get_unread_emails()', ("read", "message", "one")),
        ('lockDoors(unlock=true)', ("actuate", "device", "one")),
        ('delete_all_records()', ("delete", "rows", "all")),
        ('remove(file_id=3)', ("delete", "path", "one")),
        ('update_order(order_id="1")', ("alter", "order", "one")),
        ('delete_messages(message_ids=["1", "2"])', ("delete", "message", "many")),
    ],
)  # fmt: skip
def test_a_tools_effect_is_read_from_its_name(text: str, effect: tuple[str, str, str]) -> None:
    assert _effects(text) == [effect]


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ('db.execute("DELETE FROM users")', [("delete", "rows", "all")]),
        ('mcp__shop__query("DROP TABLE users")', [("delete", "table", "one")]),
        ('db.run({"text": "DROP TABLE users"})', [("delete", "table", "one")]),
        ('note("DROP TABLE users")', []),
        ('run_report("sales of may")', [("execute", "resource", "one")]),
    ],
)
def test_a_tool_that_runs_queries_runs_the_sql_in_any_argument(text: str, effects: list[tuple[str, str, str]]) -> None:
    assert _effects(text) == effects


@pytest.mark.parametrize(
    ("text", "program", "words"),
    [
        ('ssh_exec {"host": "web1", "command": "ls a"}', "ssh", ["web1", "ls a"]),
        ('docker_exec {"container": "db", "cmd": ["ls", "a"]}', "docker", ["exec", "db", "ls a"]),
        ('docker_run {"image": "alpine", "command": "ls a"}', "docker", ["run", "alpine", "ls a"]),
        ('mcp__docker__exec {"container": "db", "command": "ls a"}', "docker", ["exec", "db", "ls a"]),
        ('adb_shell(command="ls a")', "adb", ["shell", "ls a"]),
        ('run_jxa {"code": "a()"}', "osascript", ["-l", "JavaScript", "-e", "a()"]),
        ('mongo_query {"query": "db.a.find()"}', "mongosh", ["--eval", "db.a.find()"]),
        ('mongo_run {"collection": "a", "pipeline": [1]}', "mongosh", ["--eval", "db.a.aggregate([1])"]),
        ('git_command {"command": "push -f"}', "git", ["push", "-f"]),
        ('kubectl_exec {"args": ["db", "--", "ls"]}', "kubectl", ["exec", "db", "--", "ls"]),
        ('git_clean {"args": ["-f", "-x"]}', "git", ["clean", "-f", "-x"]),
        ('call_aws {"cli_command": "aws s3 ls"}', "aws", ["s3", "ls"]),
        ('run_anything {"script": "(a b)"}', "tool:code.run", ["(a b)"]),
        ('redis_get {"key": "a"}', "tool:redis_get", ["a"]),
        ('explain_command {"command": "ls a"}', "tool:explain_command", ["ls a"]),
        ('invoke_lambda {"function": "a"}', "tool:invoke_lambda", ["a"]),
    ],
)  # fmt: skip
def test_a_tool_that_runs_a_program_is_a_call_of_it(text: str, program: str, words: list[str]) -> None:
    (call,) = tool_calls.read(text).calls
    assert (call.program, [word.text for word in call.words]) == (program, words)


def test_an_argument_that_is_an_expression_is_read_as_python() -> None:
    calls = _calls("send_email(to='a@b.test', body=open('.env').read())")
    assert calls == [
        ("tool:send_email", {"to": "a@b.test", "body": "open('.env').read()"}),
        ("python:open", {None: ".env"}),
    ]


def test_recipients_amounts_and_addresses_become_details_and_targets() -> None:
    (effect,) = tool_calls.read('send_money(recipient="DE12", amount=90.5, currency="EUR", subject="rent")').effects
    assert dict(effect.detail) == {"recipient": "DE12", "amount": "90.5", "currency": "EUR"}
    assert [target.text for target in effect.targets] == ["DE12"]


def test_texts_of_arguments_are_passages_with_their_names_and_places() -> None:
    text = 'send_email(to="a@b.test", body="hello there")'
    passages = tool_calls.read(text, offset=10).passages
    assert [(passage.name, passage.text) for passage in passages] == [("to", "a@b.test"), ("body", "hello there")]
    assert [text[passage.span.start - 10 : passage.span.end - 10] for passage in passages] == [
        "a@b.test",
        "hello there",
    ]


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ('Write {"file_path": "a.py", "content": "x"}', "tool:path.write"),
        ('create_file(filename="a.py", content="x")', "tool:path.write"),
        ('Edit {"file_path": "a.py", "old_string": "x", "new_string": "y"}', "tool:path.edit"),
        ('str_replace_editor {"command": "create", "path": "a.py"}', "tool:path.edit"),
        ('Read {"file_path": "a.py"}', "tool:path.read"),
        ('delete_file(path="a.py")', "tool:path.delete"),
        ('move_file(source="a.py", destination="b.py")', "tool:path.move"),
    ],
)
def test_tools_for_files_share_the_catalogues_names(text: str, program: str) -> None:
    ((found, words),) = _calls(text)
    assert found == program
    assert words["path"] == "a.py"
    assert tool_calls.read(text).effects == ()


@pytest.mark.parametrize(
    "text",
    ["", "print(foo(3))", "x = 1", "f(a, b)", "if (x) { y }", "Delete all files", '{"a": 1}', "[1, 2]", "f(", "(a)"],
)
def test_a_text_that_is_no_tool_call_is_uncovered(text: str) -> None:
    reading = tool_calls.read(text)
    assert (reading.language, reading.calls, reading.effects) == (Language.TOOL_CALL, (), ())
    assert len(reading.uncovered) == 1
    assert not tool_calls.is_call(text)


def test_a_tool_with_unknown_words_stays_a_call_without_effects() -> None:
    assert _calls("frobnicate(x=1)") == [("tool:frobnicate", {"x": "1"})]
    assert _effects("frobnicate(x=1)") == []


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(st.text(alphabet="ab_(){}[]\"'=:,\\ \n<>/", max_size=200))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    reading = tool_calls.read(text, offset=5)
    assert all(5 <= call.span.start <= call.span.end <= 5 + len(text) for call in reading.calls)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30 * ROUNDS, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=8), _VALUES, max_size=4))
def test_any_json_arguments_are_read(arguments: dict[str, object]) -> None:
    reading = tool_calls.read(json.dumps({"name": "list_things", "arguments": arguments}))
    assert [call.program for call in reading.calls] in (["tool:list_things"], ["tool:path.read"])


def test_a_patch_names_the_files_that_it_changes() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n*** Delete File: b.py\n*** End Patch"
    assert _calls(json.dumps({"name": "apply_patch", "input": {"patch": patch}})) == [
        ("tool:path.edit", {"path": "a.py"}),
        ("tool:path.delete", {"path": "b.py"}),
    ]
