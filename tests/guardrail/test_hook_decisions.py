"""Decisions on actions in real repositories: facts of the working copy, its policy, and actions that were allowed
once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guardrail.hooks import git as git_module
from guardrail.hooks.audit import audit_line, recent_objections, write_audit
from guardrail.hooks.decide import Judged, decide
from guardrail.hooks.facts import gather, surroundings
from guardrail.hooks.harness import Asked
from guardrail.hooks.names import Named
from guardrail.hooks.once import LIFETIME, Once
from guardrail.hooks.trust import is_trusted, trust, trust_store, workspace_policy
from guardrail.loading import default_guardrail

NOW = 1_800_000_000


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "home"
    directory.mkdir()
    monkeypatch.setenv("HOME", str(directory))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return directory


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return repository(tmp_path / "work")


@pytest.fixture(scope="module")
def judged_work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that stays unchanged: actions in it are only judged."""
    return repository(tmp_path_factory.mktemp("judged") / "work")


@pytest.fixture(scope="module")
def grown_work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with branches, a remote, another work tree, a nested repository, links and files of every state."""
    place = tmp_path_factory.mktemp("grown")
    work = repository(place / "work")
    git(place, "init", "--bare", "remote")
    git(work, "branch", "merged")
    git(work, "branch", "other")
    git(work, "commit", "--allow-empty", "--message=two")
    git(work, "remote", "add", "origin", str(place / "remote"))
    git(work, "push", "--set-upstream", "origin", "main", "merged")
    git(work, "worktree", "add", "-b", "feature", str(place / "linked"))
    git(place / "linked", "commit", "--allow-empty", "--message=two")
    (place / "linked" / "clean.txt").write_text("two\n")
    for name in ("fresh/dirty.txt", "local/data.csv", "node_modules/a.js", "staged.txt", "deep/er/data.csv"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("three\n")
    (work / ".git" / "info" / "exclude").write_text("local\nnode_modules\nfresh/inner\n")
    git(work, "add", "staged.txt")
    (work / "fresh" / "inner").mkdir()
    git(work / "fresh" / "inner", "init")
    git(work / "fresh" / "inner", "commit", "--allow-empty", "--message=one")
    (place / "outside").mkdir()
    (place / "outside" / "a.txt").write_text("four\n")
    (work / "link").symlink_to(place / "outside")
    (work / "inner-link").symlink_to("new.txt")
    return work


def repository(work: Path) -> Path:
    """Creates a repository: clean.txt, dirty.txt and src/ are committed, new.txt is not, out/ is ignored."""
    (work / "src").mkdir(parents=True)
    (work / "out").mkdir()
    (work / "empty").mkdir()
    for name in ("clean.txt", "dirty.txt", "src/a.txt", "src/b.txt", "out/made.txt"):
        (work / name).write_text("one\n")
    (work / ".gitignore").write_text("out\n")
    git(work, "init", "--initial-branch=main")
    git(work, "add", ".")
    commit(work)
    (work / "dirty.txt").write_text("two\n")
    (work / "new.txt").write_text("two\n")
    return work


def git(work: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ALLOW_PROTOCOL": "file"}
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *arguments], cwd=work, check=True, capture_output=True, env=environment)


def commit(work: Path) -> None:
    git(work, "commit", "--message=one")


def states(work: Path, *paths: str, source: str = "", cwd: Path | None = None) -> dict[str, str]:
    context = surroundings(str(cwd or work), None)
    gathered = gather(context, [Named(path, source) for path in paths])
    found: dict[str, str] = gathered.context["workspace"].get("paths", {})
    return found


def judged(action: str, work: Path, tmp_path: Path, *, can_ask: bool = True, now: int = NOW) -> Judged:
    asked = Asked(action, str(work), "Bash", "PreToolUse", can_ask)
    return decide(asked, default_guardrail(), Once(tmp_path / "state"), now, str(tmp_path / "home"))


# --- facts ---


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["clean.txt"], {"clean.txt": "tracked"}),
        (["dirty.txt"], {"dirty.txt": "dirty"}),
        (["new.txt"], {"new.txt": "untracked"}),
        (["out"], {"out": "ignored"}),
        (["nothing.txt"], {"nothing.txt": "missing"}),
        ([".git", ".git/config"], {}),
        (["empty"], {"empty": "tracked"}),
        (["src"], {"src": "tracked"}),
        (["src/*"], {"src/*": "tracked", "src/a.txt": "tracked", "src/b.txt": "tracked"}),
        (["*.txt"], {"clean.txt": "tracked", "dirty.txt": "dirty", "new.txt": "untracked", "*.txt": "dirty"}),
        (["*.pyc"], {"*.pyc": "missing"}),
        (["src/{a,b}.txt"], {"src/{a,b}.txt": "tracked", "src/a.txt": "tracked", "src/b.txt": "tracked"}),
        (["{clean,dirty}.txt"], {"{clean,dirty}.txt": "dirty", "clean.txt": "tracked", "dirty.txt": "dirty"}),
        (["./src/../clean.txt"], {"clean.txt": "tracked"}),
        (["clean.txt", "new.txt"], {"clean.txt": "tracked", "new.txt": "untracked"}),
        (["https://example.org/x", "", "a\0b"], {}),
        (["$DIR/x", "$(pwd)/src", "~/x", "/etc/passwd", "../other"], {}),
    ],
)
def test_version_control_says_what_it_knows_of_named_paths(
    judged_work: Path, paths: list[str], expected: dict[str, str]
) -> None:
    assert states(judged_work, *paths) == expected


def test_paths_are_those_of_the_directory_that_the_action_runs_in(work: Path) -> None:
    assert states(work, "a.txt", "../dirty.txt", cwd=work / "src") == {"src/a.txt": "tracked", "dirty.txt": "dirty"}


def test_a_directory_has_the_states_of_what_lies_in_it(work: Path) -> None:
    (work / "src" / "b.txt").write_text("two\n")
    assert states(work, "src") == {"src": "tracked", "src/b.txt": "dirty"}


def test_a_name_is_looked_up_where_the_action_went_before(work: Path) -> None:
    def state(text: str, *directories: str | None) -> str | None:
        context = surroundings(str(work), None)
        found = gather(context, [Named(text, directories=directories)]).context["workspace"]["paths"]
        return found.get(text) if isinstance(found, dict) else None

    (work / "src" / "b.txt").write_text("two\n")
    (work / "src" / "clean.txt").write_text("two\n")
    assert state("b.txt", "src") == "dirty"
    assert state("clean.txt", "src") == "untracked"
    assert state("clean.txt", "", "src") == "untracked"
    assert state("a.txt", "src") == "tracked"
    assert state("*.txt", "src") == "dirty"
    assert state("src/a.txt", "src") == "tracked"
    assert state("clean.txt", None) is None
    assert state("clean.txt", "/tmp") is None
    assert state("clean.txt", "..") is None


def test_names_that_look_like_options_or_patterns_of_git_are_names(work: Path) -> None:
    (work / "--all").write_text("1")
    (work / ":(top)").write_text("1")
    assert states(work, "--all", ":(top)") == {"--all": "untracked", ":(top)": "untracked"}


def test_a_reset_in_a_directory_knows_of_changes_elsewhere(work: Path) -> None:
    context = surroundings(str(work / "src"), None)
    gathered = gather(context, [Named(".", "git reset", whole=True)])
    assert gathered.context["workspace"]["paths"]["src"] == "dirty"


def test_changes_that_git_was_told_not_to_see_count_as_changes(work: Path) -> None:
    git(work, "update-index", "--assume-unchanged", "clean.txt")
    assert states(work, "clean.txt") == {"clean.txt": "dirty"}


def test_a_repository_inside_of_an_ignored_directory_may_hold_work(work: Path) -> None:
    (work / "out" / "inner").mkdir()
    git(work / "out" / "inner", "init")
    context = surroundings(str(work), None)
    assert gather(context, [Named("out", gone=True)]).context["workspace"]["paths"] == {"out": "dirty"}
    assert gather(context, [Named("out/inner", gone=True)]).context["workspace"]["paths"]["out/inner"] == "dirty"


def test_the_branch_says_whether_its_commits_are_on_a_remote(work: Path, tmp_path: Path) -> None:
    def branch() -> dict[str, Any]:
        context = gather(surroundings(str(work), None), [Named("clean.txt")]).context
        found: dict[str, Any] = context["workspace"]["branch"]
        return found

    assert branch() == {"name": "main", "ahead": 1, "pushed": False}
    git(tmp_path, "init", "--bare", "remote")
    git(work, "remote", "add", "origin", str(tmp_path / "remote"))
    git(work, "push", "--set-upstream", "origin", "main")
    git(work, "remote", "set-head", "origin", "main")
    assert branch() == {"name": "main", "ahead": 0, "pushed": True, "default": True}
    git(work, "switch", "--create", "other")
    git(work, "add", ".")
    commit(work)
    assert branch() == {"name": "other", "ahead": 1, "pushed": False, "default": False}


def test_programs_in_the_settings_of_the_repository_do_not_run(work: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "filter.x.clean", "filter.x.process", "core.pager", "core.sshCommand"):
        git(work, "config", name, str(script))
    (work / ".gitattributes").write_text("* filter=x\n")
    (work / ".git" / "hooks" / "post-index-change").write_text(script.read_text())
    (work / ".git" / "hooks" / "post-index-change").chmod(0o755)
    os.utime(work / "clean.txt", (1, 1))
    assert states(work, "clean.txt", "dirty.txt")["dirty.txt"] == "dirty"
    assert not ran.exists()


def test_git_is_never_one_that_the_work_tree_brings(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = work / "git"
    fake.write_text("#!/bin/sh\ntouch ran\n")
    fake.chmod(0o755)
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    git_module._git.cache_clear()
    try:
        assert states(work, "clean.txt") == {"clean.txt": "tracked"}
    finally:
        git_module._git.cache_clear()
    assert not (work / "ran").exists()


def test_a_git_that_hangs_leaves_states_unknown(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setattr(git_module, "_git", lambda: str(slow))
    context = surroundings(str(work), None)
    assert gather(context, [Named("clean.txt")], 0.2).context["workspace"]["paths"] == {}


def test_a_directory_that_is_no_repository_is_fine(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.txt").write_text("1")
    context = gather(surroundings(str(plain), None), [Named("a.txt"), Named("b.txt")]).context
    assert context["workspace"] == {"is_repository": False, "root": str(plain), "paths": {"b.txt": "missing"}}


def test_a_home_directory_is_no_workspace(home: Path) -> None:
    git(home, "init")
    assert surroundings(str(home), str(home))["workspace"] == {"is_repository": False}
    assert surroundings("/", str(home))["workspace"] == {"is_repository": False}


# --- decisions ---


@pytest.mark.parametrize(
    ("action", "decision"),
    [
        ("git status", "allow"),
        ("cat clean.txt", "allow"),
        ("rm -rf src", "allow"),
        ("rm -rf out", "allow"),
        ("rm clean.txt", "allow"),
        ("rm new.txt", "deny"),
        ("rm dirty.txt", "deny"),
        ("git checkout -- dirty.txt", "deny"),
        ("git reset --hard", "deny"),
        ("git clean -fd", "deny"),
        ("cd out && rm dirty.txt", "allow"),
        ("cd src && rm ../dirty.txt", "deny"),
        ("cd src && bash -c 'rm -f b.txt'", "allow"),
        ("bash -c 'cd src && rm ../new.txt'", "deny"),
        ("git -C src checkout -- ../dirty.txt", "deny"),
        ("frobnicate --all", "ask"),
        ("echo x > .svc-guardrail.yaml", "ask"),
        ("echo x > ~/.config/svc-guardrail/trusted.json", "ask"),
        ("echo x > ~/.claude/settings.json", "ask"),
        ('Write {"file_path": ".cursor/hooks.json", "content": "{}"}', "ask"),
        ("", "deny"),
        ("a" * 70_000, "deny"),
    ],
)
def test_an_action_is_judged_by_what_it_would_lose(
    judged_work: Path, tmp_path: Path, action: str, decision: str
) -> None:
    assert judged(action, judged_work, tmp_path).decision == decision


@pytest.mark.parametrize(
    ("action", "decision"),
    [
        # Copies are judged by the files that they would overwrite.
        ("cp clean.txt src", "allow"),
        ("cp -r fresh/. .", "deny"),
        ("cp -r fresh src", "allow"),
        ("cp -n clean.txt new.txt", "allow"),
        ("cp clean.txt new.txt", "deny"),
        ("install -m 644 clean.txt new.txt", "deny"),
        ("install -m 644 fresh/dirty.txt .", "deny"),
        ("git mv -f clean.txt new.txt", "deny"),
        ("sed -i 's/one/two/' new.txt", "allow"),
        ("sed -i '1d' new.txt", "deny"),
        ("sed -i.bak '1d' new.txt", "allow"),
        ("tar -cf t.tar --remove-files new.txt", "allow"),
        ("tar -cf /dev/null --remove-files new.txt", "deny"),
        # A search finds deeper files.
        ("find . -name '*.csv' -delete", "deny"),
        ("find src -name '*.csv' -delete", "allow"),
        ("find fresh -type f -exec rm {} +", "deny"),
        ("git ls-files src | xargs rm", "allow"),
        ("git ls-files -o --exclude-standard | xargs rm", "deny"),
        ("ls src/a.txt | xargs rm", "allow"),
        ("ls *.txt | xargs rm", "deny"),
        ("rm src/* fresh/*", "deny"),
        ("rm fresh/inner", "allow"),
        # Ignored files are lost too, unless a tool can rebuild them.
        ("rm local/data.csv", "deny"),
        ("rm -rf node_modules", "allow"),
        ("git clean -fdX", "deny"),
        ("git clean -fX out", "allow"),
        ("git clean -f src", "allow"),
        # The index can restore what was staged, if the command uses it.
        ("git checkout -- staged.txt", "allow"),
        ("git restore staged.txt", "allow"),
        ("git checkout HEAD -- staged.txt", "deny"),
        ("git restore --staged --worktree staged.txt", "deny"),
        ("rm staged.txt", "deny"),
        # Commits that another reference reaches survive.
        ("git branch -D merged", "allow"),
        ("git branch -D feature", "deny"),
        ("git branch -f feature HEAD", "deny"),
        ("git branch -D nothing-of-that-name", "allow"),
        ("git stash drop", "allow"),
        ("git stash && git stash drop", "deny"),
        ("git push --force", "allow"),
        ("git push --force origin feature:main", "allow"),
        ("git push --force origin other:main", "deny"),
        ("git push origin --delete main", "deny"),
        ("git push origin --delete merged", "allow"),
        ("git reset --hard nothing-of-that-name", "allow"),
        # Other repositories contain work of their own.
        ("rm -rf fresh/inner", "deny"),
        ("git -C fresh/inner reset --hard", "allow"),
        ("git -C nowhere reset --hard", "allow"),
        ("rm -rf ../linked", "deny"),
        # Links.
        ("rm link", "allow"),
        ("rm -rf link/", "ask"),
        ("echo x > inner-link", "deny"),
    ],
)
def test_an_action_is_judged_by_the_content_that_exists_nowhere_else(
    grown_work: Path, tmp_path: Path, action: str, decision: str
) -> None:
    found = judged(action, grown_work, tmp_path)
    assert found.decision == decision, found.reason


@pytest.mark.parametrize(
    ("action", "decision"),
    [
        ("git stash && git reset --hard", "allow"),
        ("git stash -u && git reset --hard HEAD && git stash pop", "allow"),
        ("git commit -qam x && git reset --hard", "allow"),
        ("bash -c 'git commit -am x && git reset --hard'", "allow"),
        ("git stash; git reset --hard", "deny"),
        ("git stash || git reset --hard", "deny"),
        ("true || git stash && git reset --hard", "deny"),
        ("git stash && git stash pop && git reset --hard", "deny"),
        ("git stash push src && git reset --hard", "deny"),
        ("git stash -S && git reset --hard", "deny"),
        ("git -C src stash && git reset --hard", "deny"),
        ("cd src && git stash && cd .. && git reset --hard", "deny"),
        ("GIT_DIR=other git stash && git reset --hard", "deny"),
        ("git commit -m x && git reset --hard", "deny"),
        ("git commit --dry-run -a && git reset --hard", "deny"),
        ("git commit -am x && git reset --hard HEAD~1", "deny"),
        ("git stash && git clean -fd", "deny"),
    ],
)
def test_changes_that_the_call_before_surely_saved_are_not_lost(
    judged_work: Path, tmp_path: Path, action: str, decision: str
) -> None:
    found = judged(action, judged_work, tmp_path)
    assert found.decision == decision, found.reason


def test_a_stash_that_finds_nothing_leaves_the_stashes_as_they_are(work: Path, tmp_path: Path) -> None:
    action = "git stash -u && git stash drop"
    assert judged(action, work, tmp_path).decision == "deny"
    git(work, "checkout", "--", "dirty.txt")
    (work / "new.txt").unlink()
    assert judged(action, work, tmp_path).decision == "allow"
    assert judged("git stash -a && git stash drop", work, tmp_path).decision == "deny"
    (work / "dirty.txt").write_text("two\n")
    git(work, "stash")
    assert judged(action, work, tmp_path).decision == "deny"


def test_cleaning_twice_forced_takes_repositories_with_it_whatever_their_names(work: Path, tmp_path: Path) -> None:
    git(work, "checkout", "--", "dirty.txt")
    (work / "new.txt").unlink()
    (work / ".git" / "info" / "exclude").write_text("vendor\n")
    (work / "vendor" / "lib").mkdir(parents=True)
    assert judged("git clean -ffdx", work, tmp_path).decision == "allow"
    git(work / "vendor" / "lib", "init")
    git(work / "vendor" / "lib", "commit", "--allow-empty", "--message=one")
    assert judged("git clean -ffdx", work, tmp_path).decision == "deny"


def test_cleaning_once_forced_leaves_repositories(work: Path, tmp_path: Path) -> None:
    git(work, "checkout", "--", "dirty.txt")
    (work / "new.txt").unlink()
    (work / "inner").mkdir()
    git(work / "inner", "init")
    git(work / "inner", "commit", "--allow-empty", "--message=one")
    assert judged("git clean -fd", work, tmp_path).decision == "allow"
    assert judged("git clean -ffd", work, tmp_path).decision == "deny"
    (work / ".git" / "info" / "exclude").write_text("*.csv\n")
    (work / "data.csv").write_text("one\n")
    assert judged("git clean -fd && git clean -fdx", work, tmp_path).decision == "deny"


@pytest.mark.parametrize(
    ("changed", "is_staged", "decision"),
    [
        ((), False, "deny"),
        (("clean.txt",), False, "deny"),
        (("src/a.txt",), False, "allow"),
        (("src/a.txt",), True, "allow"),
    ],
)
def test_a_reset_that_keeps_changes_is_refused_where_the_commits_differ(
    work: Path, tmp_path: Path, changed: tuple[str, ...], is_staged: bool, decision: str
) -> None:
    (work / "src" / "a.txt").write_text("two\n")
    git(work, "commit", "--message=two", "src/a.txt")
    for name in changed:
        (work / name).write_text("three\n")
        if is_staged:
            git(work, "add", name)
    assert judged("git reset --keep HEAD~1", work, tmp_path).decision == decision


def test_a_reset_that_keeps_changes_passes_if_the_commit_already_has_them(work: Path, tmp_path: Path) -> None:
    (work / "src" / "a.txt").write_text("two\n")
    git(work, "commit", "--message=two", "src/a.txt")
    (work / "src" / "a.txt").write_text("one\n")
    git(work, "add", "src/a.txt")
    assert judged("git reset --keep HEAD~1", work, tmp_path).decision == "deny"


def test_a_push_with_a_lease_is_refused_after_somebody_else_pushed(work: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--bare", "remote")
    git(work, "remote", "add", "origin", str(tmp_path / "remote"))
    git(work, "push", "--set-upstream", "origin", "main")
    git(tmp_path, "clone", "--branch=main", "remote", "other")
    git(tmp_path / "other", "commit", "--allow-empty", "--message=two")
    git(tmp_path / "other", "push")
    assert judged("git push --force-with-lease", work, tmp_path).decision == "allow"
    assert judged("git push --force-with-lease --force", work, tmp_path).decision == "deny"
    assert judged("git push --force", work, tmp_path).decision == "deny"


def test_the_same_reset_passes_in_a_clean_work_tree(work: Path, tmp_path: Path) -> None:
    assert judged("git reset --hard", work, tmp_path).decision == "deny"
    git(work, "checkout", "--", "dirty.txt")
    assert judged("git reset --hard", work, tmp_path).decision == "allow"


def test_a_link_that_leaves_the_workspace_is_asked_about(work: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / "data").mkdir()
    (work / "link").symlink_to(tmp_path / "home")
    (work / "inner").symlink_to("src")
    verdict = judged("rm -rf link/data", work, tmp_path)
    assert verdict.decision != "allow"
    assert f"leaves the workspace through a link, to {tmp_path}/home/data" in verdict.reason
    assert judged("cat link/data/a.txt", work, tmp_path).decision == "allow"
    (work / "notes.txt").symlink_to(tmp_path / "home/.ssh/id_rsa")
    assert judged("cat notes.txt", work, tmp_path).decision == "ask"
    assert judged("echo a >> inner/a.txt", work, tmp_path).decision == "allow"


def test_a_reason_has_rule_and_remedy_and_tells_nobody_to_claim_approval(work: Path, tmp_path: Path) -> None:
    reason = judged("rm new.txt", work, tmp_path).reason
    assert reason.startswith("svc-guardrail: ")
    assert reason.endswith("[lost-files.lost-work]")
    assert "approv" not in reason


def test_if_nobody_can_be_asked_the_reason_says_so(work: Path, tmp_path: Path) -> None:
    assert judged("frobnicate", work, tmp_path, can_ask=False).reason.endswith("this harness can't ask one.")


# --- scripts ---

WIPES = "#!/bin/sh\nset -e\nrm -rf ~\n"


@pytest.mark.parametrize(
    ("name", "text", "action"),
    [
        ("a.sh", WIPES, "bash a.sh"),
        ("a.sh", WIPES, "chmod +x a.sh && ./a.sh --all"),
        ("a.sh", "rm -rf ~\n", "sh a.sh"),
        ("a.sh", WIPES, "sudo nohup ./a.sh &"),
        ("a.sh", WIPES, ". ./a.sh"),
        ("a", WIPES, "./a"),
        ("src/a.sh", WIPES, "cd src && ./a.sh"),
        ("a.py", "import shutil\nshutil.rmtree('/home')\n", "python3 a.py"),
        ("a", "import shutil\nshutil.rmtree('/home')\n", "python a"),
        ("a.js", "require('fs').rmSync('/home', {recursive: true});\n", "node a.js"),
        ("a.sql", "DROP TABLE users;\n", "psql -f a.sql"),
        ("a.sh", "#!/bin/sh\n./b.sh\n", "./a.sh"),
        ("dirty.txt", WIPES, "bash dirty.txt"),
        ("a.sh", "echo x\n" * 20_000, "bash a.sh"),
    ],
)
def test_a_script_that_nobody_has_committed_is_judged_by_its_content(
    work: Path, tmp_path: Path, name: str, text: str, action: str
) -> None:
    (work / "b.sh").write_text(WIPES)
    (work / name).write_text(text)
    found = judged(action, work, tmp_path)
    assert found.decision == "ask"
    assert "which nobody has committed" in found.reason


@pytest.mark.parametrize(
    ("name", "text", "action"),
    [
        ("a.sh", "#!/bin/sh\nset -e\nnpm ci\nrm -rf node_modules/.cache\n", "./a.sh"),
        ("a.py", "import json\nprint(json.dumps({'a': 1}))\n", "python a.py"),
        ("node_modules/a.js", "require('fs').rmSync('/home', {recursive: true});\n", "node node_modules/a.js"),
        ("out/a.sh", WIPES, "./out/a.sh"),
        ("a", "\x7fELF\0rm -rf ~", "./a"),
        ("notes.txt", "rm -rf ~", "cat notes.txt"),
        ("a.sh", "#!/bin/sh\n./a.sh\n", "./a.sh"),
        ("b.sh", WIPES, "ssh host bash b.sh"),
    ],
)
def test_a_harmless_script_and_what_tools_made_may_run(
    work: Path, tmp_path: Path, name: str, text: str, action: str
) -> None:
    (work / name).parent.mkdir(exist_ok=True)
    (work / name).write_text(text)
    assert "which nobody has committed" not in judged(action, work, tmp_path).reason


def test_a_committed_script_may_run_until_it_is_changed(work: Path, tmp_path: Path) -> None:
    (work / "a.sh").write_text(WIPES)
    git(work, "add", "a.sh")
    assert judged("bash a.sh", work, tmp_path).decision == "ask"
    commit(work)
    assert judged("bash a.sh", work, tmp_path).decision == "allow"
    (work / "a.sh").write_text(WIPES + "\n")
    assert judged("bash a.sh", work, tmp_path).decision == "ask"


def test_a_script_outside_the_workspace_is_judged_too(work: Path, tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text(WIPES)
    for action in (f"bash {tmp_path}/a.sh", "bash ../a.sh"):
        assert "a.sh, which nobody has committed, would be denied" in judged(action, work, tmp_path).reason


def test_a_pipe_in_place_of_a_script_does_not_hold_the_decision_up(work: Path, tmp_path: Path) -> None:
    os.mkfifo(work / "a.sh")
    assert judged("bash a.sh", work, tmp_path).decision == "allow"


def test_a_permission_is_for_the_script_as_it_was_shown(work: Path, tmp_path: Path) -> None:
    (work / "a.sh").write_text(WIPES)
    once = Once(tmp_path / "state")
    first = judged("bash a.sh", work, tmp_path)
    once.allow(once.offer(first.verdict.digest, NOW), NOW)
    (work / "a.sh").write_text(WIPES + "rm -rf /srv\n")
    assert judged("bash a.sh", work, tmp_path).decision == "ask"
    (work / "a.sh").write_text(WIPES)
    assert judged("bash a.sh", work, tmp_path).decision == "allow"


# --- the policy of a workspace ---

ALLOWS = "version: 1\nrules:\n- {decision: allow, effect: delete, target: new.txt}\n"


def test_rows_that_tighten_count_without_trust(work: Path, tmp_path: Path) -> None:
    policy = "version: 1\nrules:\n- {decision: deny, effect: [delete], target: 'src/*'}\n"
    (work / ".svc-guardrail.yaml").write_text(policy)
    assert judged("rm src/a.txt", work, tmp_path).decision == "deny"
    assert judged("rm a.txt", work / "src", tmp_path).decision == "deny"


def test_rows_that_allow_count_after_a_person_trusted_these_bytes(work: Path, tmp_path: Path) -> None:
    file = work / ".svc-guardrail.yaml"
    file.write_text(ALLOWS)
    assert judged("rm new.txt", work, tmp_path).decision == "deny"
    trust(file, file.read_bytes())
    assert trust_store().stat().st_mode & 0o777 == 0o600
    assert judged("rm new.txt", work, tmp_path).decision == "allow"
    file.write_text(ALLOWS + "# changed\n")
    assert judged("rm new.txt", work, tmp_path).decision == "deny"


def test_a_copy_of_a_trusted_file_is_not_trusted(work: Path, tmp_path: Path) -> None:
    file = work / ".svc-guardrail.yaml"
    file.write_text(ALLOWS)
    trust(file, file.read_bytes())
    copy = tmp_path / "other" / ".svc-guardrail.yaml"
    copy.parent.mkdir()
    copy.write_text(ALLOWS)
    assert is_trusted(file, file.read_bytes())
    assert not is_trusted(copy, copy.read_bytes())


@pytest.mark.parametrize("spoil", [lambda store: store.chmod(0o666), lambda store: store.write_text("{"), None])
def test_a_trust_store_that_is_broken_or_writable_by_others_is_ignored(
    work: Path, spoil: Callable[[Path], Any] | None
) -> None:
    file = work / ".svc-guardrail.yaml"
    file.write_text(ALLOWS)
    trust(file, file.read_bytes())
    if spoil is None:
        trust_store().unlink()
    else:
        spoil(trust_store())
    assert not is_trusted(file, file.read_bytes())


def test_a_trust_store_inside_of_the_work_tree_is_ignored(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(work / "config"))
    file = work / ".svc-guardrail.yaml"
    file.write_text(ALLOWS)
    trust(file, file.read_bytes())
    assert not is_trusted(file, file.read_bytes())


@pytest.mark.parametrize("content", [b"{", b"\xff", b"version: 1\nrules:\n- {decision: no}\n", b"#" * 300_000])
def test_with_a_faulty_policy_nothing_passes_without_asking(work: Path, tmp_path: Path, content: bytes) -> None:
    (work / ".svc-guardrail.yaml").write_bytes(content)
    assert judged("git status", work, tmp_path).decision == "ask"
    assert judged("rm new.txt", work, tmp_path).decision == "deny"
    problem = workspace_policy(work).problem
    assert problem is not None
    assert ".svc-guardrail.yaml:" in problem


# --- allowed once ---


def test_a_code_lets_one_action_pass_once(work: Path, tmp_path: Path) -> None:
    once = Once(tmp_path / "state")
    held = judged("rm new.txt", work, tmp_path)
    assert once.allow(once.offer(held.verdict.digest, NOW), NOW) == held.verdict.digest
    assert judged("rm dirty.txt", work, tmp_path).decision == "deny"
    assert judged("rm new.txt", work, tmp_path).decision == "allow"
    assert judged("rm new.txt", work, tmp_path).decision == "deny"


def test_a_code_is_for_one_state_of_the_work_tree(work: Path, tmp_path: Path) -> None:
    once = Once(tmp_path / "state")
    once.allow(once.offer(judged("git reset --hard", work, tmp_path).verdict.digest, NOW), NOW)
    (work / "clean.txt").write_text("two\n")
    assert judged("git reset --hard", work, tmp_path).decision == "deny"


def test_a_code_and_what_it_allows_end_after_five_minutes(work: Path, tmp_path: Path) -> None:
    once = Once(tmp_path / "state")
    digest = judged("rm new.txt", work, tmp_path).verdict.digest
    code = once.offer(digest, NOW)
    assert once.allow(code, NOW + LIFETIME) is None
    code = once.offer(digest, NOW)
    assert once.allow(code, NOW) == digest
    assert judged("rm new.txt", work, tmp_path, now=NOW + LIFETIME).decision == "deny"


def test_a_code_is_used_up_and_no_other_is_guessed(tmp_path: Path) -> None:
    once = Once(tmp_path / "state")
    code = once.offer("a" * 64, NOW)
    assert once.allow("AAAAAAAA", NOW) is None
    assert once.allow(f" {code[:4].lower()}-{code[4:]} ", NOW) == "a" * 64
    assert once.allow(code, NOW) is None


def test_no_file_holds_a_code(tmp_path: Path) -> None:
    once = Once(tmp_path / "state")
    code = once.offer("a" * 64, NOW)
    files = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert files
    assert not any(code in path.read_text() for path in files)
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)


def test_a_token_that_somebody_wrote_is_not_accepted(work: Path, tmp_path: Path) -> None:
    once = Once(tmp_path / "state")
    digest = judged("rm new.txt", work, tmp_path).verdict.digest
    once.allow(once.offer(digest, NOW), NOW)
    (tmp_path / "state" / "allowed" / digest).write_text("svcga1.e30.e30")
    assert judged("rm new.txt", work, tmp_path).decision == "deny"


# --- the audit log ---


def line(decision: str = "deny", at: float = NOW, action: str = "ls", digest: str = "d") -> dict[str, Any]:
    return audit_line(
        now=at,
        harness="codex",
        tool="Bash",
        action=action,
        cwd="/",
        session=None,
        decision=decision,
        reason="why",
        rules=("a.b",),
        digest=digest,
        milliseconds=1.23,
    )


def test_an_audit_line_is_for_the_owner_only_and_masks_secrets(tmp_path: Path) -> None:
    log = tmp_path / "state" / "audit.jsonl"
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write_audit(line(action=f"curl -H 'Authorization: token {token}' https://api.github.com"), log)
    (written,) = map(json.loads, log.read_text().splitlines())
    assert token not in written["action"]
    assert written["ms"] == 1.2
    assert log.stat().st_mode & 0o777 == 0o600


def test_the_log_is_rotated_by_size(tmp_path: Path) -> None:
    log = tmp_path / "state" / "audit.jsonl"
    for number in range(40):
        write_audit(line(digest=str(number)), log, most_bytes=500)
    files = sorted(path.name for path in log.parent.glob("*.jsonl"))
    assert files == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.jsonl"]
    assert all(path.stat().st_size <= 500 for path in log.parent.glob("*.jsonl"))
    assert json.loads(log.read_text().splitlines()[-1])["digest"] == "39"


def test_objections_of_the_last_minutes_are_found_newest_first(tmp_path: Path) -> None:
    log = tmp_path / "state" / "audit.jsonl"
    for decision, at, digest in [
        ("deny", NOW - 400, "old"),
        ("ask", NOW - 100, "a"),
        ("allow", NOW - 50, "b"),
        ("deny", NOW - 20, "c"),
        ("ask", NOW - 10, "a"),
        ("deny", NOW - 5, ""),
    ]:
        write_audit(line(decision, at, digest=digest), log)
    with log.open("a") as file:
        file.write("nonsense\n")
    assert [found["digest"] for found in recent_objections(log, NOW - LIFETIME)] == ["a", "c"]
    assert list(recent_objections(tmp_path / "none", 0)) == []
