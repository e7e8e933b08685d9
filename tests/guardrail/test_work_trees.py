"""Commands that really run in generated work trees: the hook passes nothing that loses work."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.work_trees import Box, Trial, command_for, grow, measure, score_of, trials_in
from guardrail.loading import default_guardrail

SEEDS = range(31, 41)
COMMANDS = 3


@pytest.fixture(autouse=True)
def without_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "GIT_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_no_command_that_loses_work_passes(tmp_path: Path) -> None:
    guardrail = default_guardrail()
    trials = [trial for seed in SEEDS for trial in trials_in(tmp_path / str(seed), guardrail, seed, COMMANDS)]
    score = score_of(len(SEEDS), trials)
    assert score.losing > 0
    assert [trial for trial in score.wrong if trial.lost] == []
    assert score.harmless_blocked <= score.harmless * 0.1
    assert list(tmp_path.iterdir()) == []


def test_the_score_is_the_same_with_any_number_of_processes() -> None:
    assert measure(trees=2, seed=3, processes=1) == measure(trees=2, seed=3, processes=2)


def test_a_seed_always_gives_the_same_tree_and_commands(tmp_path: Path) -> None:
    def generated(place: Path) -> tuple[tuple[str, ...], list[str]]:
        chance = random.Random(7)
        box = Box(place)
        return grow(box, chance), [command_for(box, chance) for _ in range(20)]

    assert generated(tmp_path / "one") == generated(tmp_path / "two")


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        ("cat notes.md", 0),
        ("rm notes.md", 0),
        ("rm draft.md", 1),
        ("mv draft.md other.md", 0),
        ("git add draft.md && git commit -qm one && rm draft.md", 0),
        ("git add draft.md && git reset -q --hard", 1),
        ("git stash -qu", 0),
        ("git stash -qu && git stash drop -q", 1),
        (
            "git checkout -qb topic && git add . && git commit -qm one && git checkout -q main && git branch -qD topic",
            1,
        ),
        ("rm -rf build", 0),
        ("mv draft.md build/", 0),
    ],
)
def test_work_is_lost_if_no_file_commit_or_stash_contains_it_any_more(tmp_path: Path, command: str, lost: int) -> None:
    box = Box(tmp_path / "box")
    box.tree.mkdir()
    box.git("init", "--quiet")
    box.write(box.tree / "notes.md", 1)
    (box.tree / ".gitignore").write_text("build/\n")
    box.git("add", ".")
    box.git("commit", "--quiet", "--message=one")
    box.write(box.tree / "draft.md", 1)
    box.write(box.tree / "build" / "out.txt", 1)
    before = box.work(without_products=True)
    box.run_command(command)
    assert len(before - box.work()) == lost


def test_a_score_counts_losses_and_false_alarms_apart() -> None:
    trials = [
        Trial(1, "a", (), "allow", (), 0),
        Trial(1, "b", (), "ask", (), 0),
        Trial(1, "c", (), "allow", (), 2),
        Trial(1, "d", (), "deny", (), 1),
    ]
    score = score_of(1, trials)
    assert (score.losing, score.losses_passed, score.harmless, score.harmless_blocked) == (2, 1, 2, 1)
    assert [trial.command for trial in score.wrong] == ["b", "c"]
