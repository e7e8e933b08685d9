"""Remembers what earlier git calls did, if it affects what a later git call loses."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from guardrail.model import Call, Effect, Word
from guardrail.options import Parsed
from guardrail.vocabulary import EffectKind

_MAKES_BRANCH = ("-b", "-B", "--orphan", "-c", "-C", "--create", "--force-create")
_SAVES_A_PART = ("-p", "--patch", "--interactive", "-S", "--staged", "--pathspec-from-file")


class Saved(NamedTuple):
    """The host and directory in which a call put all changes of tracked files into a commit or a stash."""

    host: str | None
    directory: Word | None


class GitMemory:
    """The state of git after the calls so far."""

    def __init__(self) -> None:
        self.has_staged = False
        """True if an earlier call staged new files."""
        self.made_branches: set[str] = set()
        """Names of branches and tags that earlier calls created."""
        self.on_orphan = False
        """True if an earlier call started a branch without history, on which nothing is committed yet."""
        self.addresses: dict[str, str] = {}
        """Addresses of remotes that earlier calls set, by the remote's name."""
        self.first_remotes: set[str] = set()
        """Addresses that earlier calls added as the remote `origin`, which a new project lacks."""
        self.saved: Saved | None = None
        """Where the previous call put all changes into a commit or a stash."""

    def remember(self, call: Call, parsed: Parsed) -> None:
        """Records what a call of git does."""
        subcommand = parsed.path[:1]
        if subcommand in (["add"], ["stage"]):
            self.has_staged = True
        elif subcommand in (["checkout"], ["switch"]):
            self.made_branches |= {word.text for name in _MAKES_BRANCH for word in parsed.values_of(name)}
            self.on_orphan = bool(parsed.values_of("--orphan"))
        elif (remote := _remote_of(parsed)) is not None:
            name, address = remote
            self.addresses[name] = address
            if name == "origin" and parsed.path == ["remote", "add"]:
                self.first_remotes.add(address)
        elif subcommand == ["push"]:
            self._name_address(parsed)
        elif subcommand == ["tag"]:
            self.made_branches |= {word.text for word in parsed.operands[:1]}
        if _saves_changes(call, parsed):
            self.saved = Saved(call.host, call.directory)

    def _name_address(self, parsed: Parsed) -> None:
        """Replaces a remote's name, or a missing name, with its address if an earlier call set the address."""
        named = parsed.operands[:1] or parsed.values_of("--repo")
        address = self.addresses.get(named[0].text if named else "origin")
        if named and address is None and not parsed.operands:
            address = named[0].text
        if address is not None:
            parsed.operands[:1] = [Word(address, parsed.call.span)]

    def in_its_light(self, effect: Effect) -> Effect:
        """Returns an effect of git with details on what earlier calls staged, created or set for it."""
        if effect.kind is EffectKind.DISCARD and effect.source == "git reset" and self.has_staged:
            return replace(effect, detail={**effect.detail, "staged": "yes"})
        if effect.kind is EffectKind.DISCARD and effect.source == "git rm" and self.on_orphan:
            return replace(effect, detail={**effect.detail, "made": "here"})
        if effect.kind is EffectKind.SEND and effect.detail.get("url") in self.first_remotes:
            return replace(effect, detail={**effect.detail, "remote": "first"})
        if effect.kind is EffectKind.OVERWRITE and effect.source == "git push" and self.made_branches:
            names = {target.text.removeprefix("+").rpartition(":")[2] for target in effect.targets}
            if names <= {*self.made_branches, "", "HEAD"}:
                return replace(effect, detail={**effect.detail, "made": "here"})
        return effect


def _remote_of(parsed: Parsed) -> tuple[str, str] | None:
    """Returns the name and the address of a remote that a call sets."""
    words = [word.text for word in parsed.operands]
    if parsed.path in (["remote", "add"], ["remote", "set-url"]) and len(words) >= 2:
        return words[0], words[1]
    if parsed.path in (["config"], ["config", "set"]) and len(words) == 2 and words[0].startswith("remote."):
        name, _, key = words[0].removeprefix("remote.").rpartition(".")
        return (name, words[1]) if key.lower() in ("url", "pushurl") else None
    return None


def _saves_changes(call: Call, parsed: Parsed) -> bool:
    """Decides whether a call of git puts all changes of tracked files into a commit or a stash if it succeeds."""
    # Options before the subcommand may name another repository.
    is_elsewhere = [word.text for word in call.words[:1]] != parsed.path[:1]
    if is_elsewhere or parsed.operands or any(parsed.has(option) for option in _SAVES_A_PART):
        return False
    if parsed.path == ["commit"]:
        return parsed.has("-a") or parsed.has("--all")
    return parsed.path in (["stash"], ["stash", "push"])


def resets_to_head(call: Call, parsed: Parsed) -> bool:
    """Decides whether a call of git discards only changes of tracked files and moves to no other commit."""
    in_place = call.program == "git" and [word.text for word in call.words[:1]] == ["reset"]
    return in_place and all(word.text in ("HEAD", "@") for word in parsed.operands)
