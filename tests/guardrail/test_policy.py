"""The policy table: the verdict on each kind of effect, and the error for a mistake in a policy file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from guardrail.circumstances import REQUESTED, UNREQUESTED, host_of
from guardrail.facts import Facts, parse_context
from guardrail.model import Effect, Span, Target
from guardrail.policy import POLICY_FILE, default_policy, judge, load_policy
from guardrail.policy_file import PolicyInvalid, plain_policy
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity


def effect(words: str, target: str = "x", **detail: str) -> Effect:
    """Builds an effect from words of the closed lists: kind and object first, then scope, place, `no` and so on."""
    kind, thing, *others = words.split()
    known: dict[str, Any] = {}
    place, sensitivity = Place.UNKNOWN, Sensitivity.NONE
    for word in others:
        if word in [*Scope] and word != "unknown":
            known["scope"] = Scope(word)
        elif word in [*Place]:
            place = Place(word)
        elif word in [*Reversible]:
            known["reversible"] = Reversible(word)
        elif word in ("elevated", "unsure"):
            known["elevated" if word == "elevated" else "sure"] = word == "elevated"
        else:
            sensitivity = Sensitivity(word.removeprefix("holds_"))
    targets = (Target(target, place, sensitivity),)
    return Effect(EffectKind(kind), ObjectKind(thing), Span(0, 4), "test", targets, detail=detail, **known)


def of(done: Effect, source: str) -> Effect:
    return replace(done, source=source)


def worst(done: Effect, **context: Any) -> str:
    matches = judge([done], parse_context(context)[0], default_policy()).matches
    return matches[0].severity.value if matches else "none"


TREE = {"workspace": {"paths": {"src/a.py": "tracked", "new/b.py": "untracked", "mod/c.py": "dirty"}}}
APPROVED = {"approved": True, "backup_available": True}


@pytest.mark.parametrize(
    ("words", "target", "context", "severity"),
    [
        ("delete path many system", "/etc", {}, "critical"),
        ("delete path all home", "~", {}, "critical"),
        ("delete path one home", "~/a", {}, "low"),
        ("delete path one system holds_system", "/etc/hosts", {}, "high"),
        ("delete path one system", "/opt/x.tgz", {}, "medium"),
        ("delete path many workspace", "src", {}, "high"),
        ("delete path many workspace unsure", "src", {}, "medium"),
        ("delete path one workspace", "a.txt", {}, "low"),
        ("delete path many rebuildable", "node_modules", {}, "none"),
        ("delete path many temporary", "/tmp/x", {}, "none"),
        ("delete path many ignored", "out", {}, "none"),
        ("delete path many rebuildable", "mod", TREE, "high"),
        ("delete path one workspace holds_secret", ".env", {}, "medium"),
        ("delete path many workspace holds_secret", "secrets", {}, "high"),
        ("delete path one home holds_secret", "~/.ssh/id_rsa", {}, "high"),
        ("delete path many unknown", "$DIR", {}, "medium"),
        ("delete path many workspace", "src/*.txt", {}, "medium"),
        ("delete path many workspace", "src/*", {}, "high"),
        ("delete secret one remote no", "secret/app", {}, "high"),
        ("delete path many unknown", "/data/x", {}, "high"),
        ("delete path many workspace", ".git", {}, "critical"),
        ("delete path many workspace", "src", TREE, "low"),
        ("delete path one workspace", "new/b.py", TREE, "high"),
        ("delete path one workspace", "mod/c.py", TREE, "high"),
        ("delete path one workspace no", "a.txt", {"environment": "prod"}, "critical"),
        ("delete path one workspace no", "a.txt", {"environment": "prod", **APPROVED}, "low"),
        ("delete path many system", "/usr/share/x", {"environment": "ci"}, "medium"),
        ("delete path all system", "/", {"environment": "ci"}, "critical"),
        ("discard path one workspace no", "a.txt", {}, "high"),
        ("discard path one workspace no", "src/a.py", TREE, "low"),
        ("overwrite path one workspace", "a.txt", {}, "none"),
        ("overwrite path one workspace", "mod/c.py", TREE, "high"),
        ("overwrite path one system holds_system", "/etc/passwd", {}, "high"),
        ("overwrite device one system", "/dev/sda", {}, "critical"),
        ("delete device one system", "/dev/sda", APPROVED, "low"),
        ("discard commit one workspace no", "feature", {}, "high"),
        (
            "discard commit one workspace no",
            "feature",
            {"workspace": {"branch": {"name": "feature", "pushed": True}}},
            "low",
        ),
        ("overwrite branch one remote no", "main", {}, "critical"),
        ("overwrite branch one remote no", "feature", {}, "high"),
        ("overwrite branch one remote with_backup", "main", {}, "medium"),
        ("overwrite branch one remote no", "feature", {"workspace": {"branch": {"protected": True}}}, "critical"),
        ("delete repository one remote no", "me/app", {}, "critical"),
        ("delete branch one workspace", "merged", {}, "low"),
        ("delete database one remote no", "db", {}, "high"),
        ("delete database one remote no", "db", {"environment": "production"}, "critical"),
        ("delete database one production no", "db", {"environment": "production", **APPROVED}, "critical"),
        ("delete database one remote no", "db", {"environment": "dev"}, "medium"),
        ("delete rows all unknown no", "users", {}, "high"),
        ("delete rows one unknown no", "users", {}, "low"),
        ("delete snapshot_or_backup one remote no", "snap", {}, "high"),
        ("delete container one unknown", "web", {}, "low"),
        ("alter rows all unknown", "users", {}, "high"),
        ("alter table one unknown no", "users", {}, "high"),
        ("publish package one remote no", "lib", {}, "medium"),
        ("publish package one remote no", "lib", {"environment": "ci"}, "low"),
        ("read path one workspace", "a.txt", {}, "none"),
        ("read path one workspace holds_secret", ".env", {}, "high"),
        ("read path one system holds_secret", "/etc/shadow", {}, "critical"),
        ("send path one workspace holds_secret", ".env", {}, "critical"),
        ("send path one workspace", "a.txt", {}, "low"),
        ("grant permission all remote", "bucket", {}, "high"),
        ("grant permission many system", "/usr", {}, "critical"),
        ("grant path one workspace", "run.sh", {}, "low"),
        ("expose resource one remote", "bucket", {}, "high"),
        ("disable service one system", "ufw", {}, "high"),
        ("disable repository one workspace", "hooks", {}, "low"),
        ("persist scheduled_task one system", "/etc/cron.d/x", {}, "critical"),
        ("persist path one home", "~/.bashrc", {}, "critical"),
        ("persist scheduled_task one unknown", "now", {}, "high"),
        ("expose process one unknown", "/bin/sh", {}, "critical"),
        ("cancel resource one remote", "subscription", {}, "medium"),
        ("escalate path one system", "/bin/x", {}, "critical"),
        ("inject process one system", "sshd", {}, "high"),
        ("configure guard one home", "policy", {}, "critical"),
        ("write guard one home", "policy", {}, "critical"),
        ("read guard one home", "policy", {}, "none"),
        ("stop process one unknown", "node", {}, "low"),
        ("stop device one system", "machine", {}, "high"),
        ("disrupt network one system", "eth0", {}, "high"),
        ("install package one unknown", "requests", {}, "none"),
        ("actuate thing one unknown", "lamp", {}, "low"),
    ],
)
def test_effects_are_as_severe_as_what_they_reach(
    words: str, target: str, context: dict[str, Any], severity: str
) -> None:
    assert worst(effect(words, target), **context) == severity


@pytest.mark.parametrize(
    ("source", "paths", "severity"),
    [
        ("git reset", {"a": "dirty"}, "high"),
        ("git reset", {"a": "tracked", "b": "untracked"}, "low"),
        ("git clean", {"a": "dirty"}, "low"),
        ("git clean", {"a": "tracked", "b": "untracked"}, "high"),
        ("git clean", {}, "high"),
    ],
)
def test_discarding_loses_what_its_command_touches(source: str, paths: dict[str, str], severity: str) -> None:
    done = of(effect("discard path all workspace no", "."), source)
    assert worst(done, workspace={"paths": paths}) == severity


def test_version_control_refuses_to_delete_unsaved_files() -> None:
    done = effect("delete path one workspace", "mod/c.py")
    assert worst(of(done, "git rm"), **TREE) == "low"
    assert worst(of(done, "rm"), **TREE) == "high"


def test_writing_into_a_directory_leaves_alone_what_lies_in_it() -> None:
    assert worst(effect("overwrite path one workspace", "mod"), **TREE) == "none"
    assert worst(effect("overwrite path many workspace", "mod"), **TREE) == "high"


def test_deleting_the_workspace_itself_deletes_its_history() -> None:
    done = effect("delete path all workspace no", ".")
    assert worst(done, workspace={"paths": {"a": "tracked"}}) == "critical"
    assert worst(done, workspace={"paths": {"a": "tracked"}, "is_repository": False}) == "low"


@pytest.mark.parametrize(
    ("words", "detail", "context", "severity"),
    [
        ("pay payment", {"amount": "900"}, {"limits": {"max_amount_usd": 100}}, "critical"),
        ("pay payment", {"amount": "90"}, {"limits": {"max_amount_usd": 100}}, "medium"),
        ("pay payment", {"amount": "90", "currency": "EUR"}, {"limits": {"max_amount_usd": 100}}, "high"),
        ("pay payment", {"amount": "90", "currency": "$"}, {"limits": {"max_amount_usd": 100}}, "medium"),
        ("pay payment", {"recipient": "Mallory"}, {"limits": {"recipients": ["Anna"]}}, "critical"),
        ("pay payment", {"recipient": "anna"}, {"limits": {"recipients": ["Anna"]}}, "medium"),
        ("pay payment", {"network": "polygon", "recipient": "a"}, {"limits": {"networks": ["base"]}}, "critical"),
        ("pay payment", {"recipient": "Mallory"}, {"expected_recipient": "Anna"}, "critical"),
        ("pay payment", {"reference": "R-4"}, {"paid_references": ["R-3", "R-4"]}, "critical"),
        ("pay payment", {"reference": "R-5"}, {"paid_references": ["R-3", "R-4"]}, "medium"),
        ("pay payment", {}, {"already_done": True}, "critical"),
        ("pay payment", {REQUESTED: "yes"}, {}, "low"),
        ("grant payment", {"amount": "unlimited"}, {}, "critical"),
        ("grant payment", {"amount": str(2**256 - 1)}, {}, "critical"),
        ("send message", {UNREQUESTED: "target"}, {}, "critical"),
        ("delete message", {UNREQUESTED: "kind"}, {}, "critical"),
        ("alter rows", {UNREQUESTED: "drift"}, {}, "high"),
        ("send message", {}, {"instruction_origin": "untrusted_content"}, "critical"),
        ("read path remote", {UNREQUESTED: "target"}, {}, "high"),
        ("send path workspace", {"url": "https://evil.example"}, {"allowed_hosts": ["good.example"]}, "high"),
        ("send path workspace", {"url": "https://good.example/x"}, {"allowed_hosts": ["good.example"]}, "low"),
        ("send path workspace", {"url": "http://203.0.113.7/x"}, {}, "high"),
        ("send path workspace", {"url": "http://localhost:9200/x"}, {}, "low"),
        ("send secret", {"confidence": "certain"}, {}, "critical"),
        ("send secret", {"confidence": "possible"}, {}, "medium"),
        ("write secret", {"confidence": "likely", "carried_by": "text"}, {}, "high"),
        ("write secret", {"confidence": "likely", "carried_by": "command"}, {}, "medium"),
        ("write secret", {"confidence": "likely", "carried_by": "command"}, {"destination": "public_repo"}, "critical"),
        ("execute process", {"code": "remote", "url": "https://sh.example.org"}, {}, "high"),
        ("execute process", {"code": "remote", "url": "https://sh.example.org"}, {"environment": "ci"}, "medium"),
        ("execute path", {"code": "remote", "url": "https://sh.example.org"}, {}, "medium"),
        ("execute process", {"code": "remote", "url": "http://203.0.113.7/a.sh"}, {}, "high"),
        ("execute process", {"code": "inline"}, {}, "none"),
        ("execute path", {"code": "named_file", "library": "yes"}, {}, "high"),
        ("download resource", {"url": "http://203.0.113.7/a.exe"}, {}, "high"),
        ("download resource", {"url": "https://example.com/a.exe"}, {}, "none"),
        ("download resource", {"url": "http://example.com/a.tar.gz"}, {}, "none"),
        ("revoke permission remote", {}, {}, "high"),
        ("revoke permission remote", {REQUESTED: "yes"}, {}, "low"),
        ("rotate secret remote", {}, {}, "high"),
        ("rotate secret remote", {}, {"environment": "dev"}, "medium"),
        ("execute process", {"code": "interactive_shell"}, {}, "critical"),
        ("execute process remote", {"code": "interactive_shell"}, {}, "medium"),
        ("execute process", {"code": "interactive_shell", "url": "203.0.113.7"}, {}, "critical"),
        ("execute container", {"code": "interactive_shell"}, {}, "medium"),
        ("delete message no", {REQUESTED: "yes"}, {}, "low"),
        ("delete message no", {}, {}, "high"),
        ("escalate container remote", {"setting": "privileged"}, {}, "critical"),
        ("escalate container remote", {"setting": "added_capability"}, {}, "high"),
        ("escalate container remote", {"setting": "run_as_root"}, {}, "low"),
    ],
)
def test_details_and_facts_decide(words: str, detail: dict[str, str], context: dict[str, Any], severity: str) -> None:
    assert worst(effect(words, "x", **detail), **context) == severity


def test_the_answer_names_the_facts_that_it_relied_on() -> None:
    facts = parse_context({"environment": "prod", **APPROVED})[0]
    judged = judge([effect("delete path one production no", "a.txt")], facts, default_policy())
    assert {(fact.fact, fact.source) for fact in judged.relied_on} == {
        ("environment", "context"),
        ("approved", "claim"),
        ("backup_available", "claim"),
    }


def test_claims_do_not_cover_what_nothing_restores_in_production() -> None:
    lost = [effect("delete database one production no", "db"), effect("delete path many production no", "data")]
    for environment, severity in (("production", "critical"), ("staging", "low")):
        facts = parse_context({"environment": environment, **APPROVED})[0]
        for one in lost:
            place = one.targets[0].place if environment == "production" else Place.REMOTE
            there = replace(one, targets=(replace(one.targets[0], place=place),))
            assert judge([there], facts, default_policy()).matches[0].severity == severity


def test_the_reason_names_the_target_in_one_sentence() -> None:
    judged = judge([effect("delete path many workspace", "src")], Facts(), default_policy())
    assert judged.matches[0].reason == "It deletes src with everything in it, which nothing rebuilds."
    nameless = Effect(EffectKind.DELETE, ObjectKind.DATABASE, Span(0, 1), "test", reversible=Reversible.NO)
    assert judge([nameless], Facts(), default_policy()).matches[0].reason.startswith("It deletes a database,")


def test_one_row_that_holds_for_several_effects_is_one_match() -> None:
    done = [effect("delete path many workspace", name) for name in ("a", "b", "c")]
    judged = judge(done, Facts(), default_policy())
    assert [match.id for match in judged.matches] == ["lost-files.workspace-tree"]


def test_no_remediation_tells_an_agent_to_claim_approval() -> None:
    for row in default_policy().rows:
        assert "approved" not in row.remediation.lower()
        assert "backup_available" not in row.remediation.lower()


LOSING = (EffectKind.DELETE, EffectKind.DISCARD, EffectKind.OVERWRITE, EffectKind.ALTER, EffectKind.CONFIGURE)
RISKY = (
    *(EffectKind.SEND, EffectKind.PAY, EffectKind.PUBLISH, EffectKind.GRANT, EffectKind.REVOKE, EffectKind.EXPOSE),
    *(EffectKind.ESCALATE, EffectKind.PERSIST, EffectKind.INJECT, EffectKind.DISABLE, EffectKind.STOP),
    *(EffectKind.DISRUPT, EffectKind.ROTATE, EffectKind.ACTUATE, EffectKind.EXECUTE),
)


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ('system("/bin/sh")', "critical"),
        ("exec '/bin/bash -p'", "critical"),
        ("passthru('/bin/sh -i');", "critical"),
        ("!/bin/sh", "critical"),
        ("system('/bin/sh build.sh')", "none"),
        ("print('/bin/shred')", "none"),
        ("print 1", "none"),
    ],
)
def test_code_that_starts_a_shell_is_judged_by_the_shell(code: str, severity: str) -> None:
    assert worst(effect("execute process", code, code="inline")) == severity


@pytest.mark.parametrize("kind", [*LOSING[:2], EffectKind.CANCEL, *RISKY])
def test_an_effect_that_takes_something_is_judged_whatever_its_object(kind: EffectKind) -> None:
    for thing in ObjectKind:
        done = Effect(kind, thing, Span(0, 1), "test", (Target("x", Place.REMOTE),), Scope.ALL, Reversible.NO)
        quiet = kind is EffectKind.EXECUTE
        assert quiet or judge([done], Facts(), default_policy()).matches, (kind, thing)


def test_every_row_speaks_in_a_sentence() -> None:
    for row in default_policy().rows:
        assert row.reason[0].isupper() or row.reason.startswith("{"), row.id
        assert row.reason.endswith("."), row.id
        assert row.remediation.endswith("."), row.id


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://user:pass@Example.com:8443/x", "example.com"),
        ("anna@example.com", "example.com"),
        ("git@host.example:me/app.git", "host.example"),
        ("user@host:dir", "host"),
        ("example.com/path", "example.com"),
        ("a file name", ""),
        ("src/a.py", ""),
        ("http://[", ""),
    ],
)
def test_hosts_are_found_in_addresses(text: str, host: str) -> None:
    assert host_of(text) == host


FAMILY = """
- family: f
  title: t
  stage: alignment
  remediation: Do less.
  rows:
    - id: a
      when: {kind: delete, place: [home]}
      severity: high
      reason: It deletes.
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("kind: delete", "kind: delet", 8, "did you mean delete?"),
        ("severity: high", "severity: hihg", 9, "did you mean high?"),
        ("place: [home]", "plaze: [home]", 8, "did you mean place?"),
        ("place: [home]", "facts: [approvd]", 8, "did you mean approved?"),
        ("reason: It deletes.", "", 7, "the key reason is missing"),
        ("remediation: Do less.", "", 7, "neither the row nor its family has a remediation"),
        ("stage: alignment", "stage: [alignment]", 4, "expected a text"),
        ("stage: alignment", "stage: alignment\n  stage: alignment", 5, "occurs twice"),
        ("severity: high", "severity: high\n      lowered_by: {approved: hgih}", 10, "did you mean high?"),
        ("rows:", "rows: [", 7, "not valid YAML"),
    ],
)
def test_a_mistake_in_a_policy_file_is_named_with_its_line(old: str, new: str, line: int, words: str) -> None:
    with pytest.raises(PolicyInvalid) as mistake:
        plain_policy(FAMILY.replace(old, new), "policy.yaml")
    assert words in mistake.value.message
    assert (mistake.value.file, mistake.value.line) == ("policy.yaml", line)


def test_an_empty_policy_file_is_a_mistake() -> None:
    with pytest.raises(PolicyInvalid):
        plain_policy("", "policy.yaml")


def test_a_compiled_policy_is_the_policy_of_its_source(tmp_path: Path) -> None:
    source, compiled = tmp_path / "policy.yaml", tmp_path / "policy.json"
    source.write_bytes(POLICY_FILE.read_bytes())
    assert load_policy(source, compiled) == default_policy()
    assert load_policy(tmp_path / "none.yaml", compiled) == default_policy()


def test_a_compiled_policy_of_another_source_does_not_count(tmp_path: Path) -> None:
    source, compiled = tmp_path / "policy.yaml", tmp_path / "policy.json"
    source.write_bytes(POLICY_FILE.read_bytes())
    load_policy(source, compiled)
    source.write_text(FAMILY)
    assert len(load_policy(source, compiled).rows) == 1
