"""Remembers what earlier calls of an action did, if it changes the meaning of a later call."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from guardrail.catalogue.loader import Catalogue
from guardrail.facts import Facts
from guardrail.interpret.frame import MAX_DEPTH, directory_of
from guardrail.interpret.git import GitMemory
from guardrail.interpret.pipes import prints_environment, saves_download
from guardrail.interpret.programs import CARES, SHELLS, entry_of, program_name
from guardrail.model import Call, Effect, Word
from guardrail.paths.care import Care
from guardrail.paths.places import scope_of
from guardrail.paths.spelling import is_remote, located
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Scope, Sensitivity

_MAKES = frozenset((EffectKind.WRITE, EffectKind.OVERWRITE, EffectKind.CREATE))
_MAKERS = frozenset(("mkdir", "mktemp", "md", "cmd:md", "cmd:mkdir"))
_COPYING = frozenset(("cp", "install", "cmd:copy", "ps:copy-item", "xcopy"))
_URL = re.compile(r"\w+://[^\s'\"`)]+")


@record
class Fed:
    """The input from a pipe: the care that it deserves, and the URLs that it was downloaded from."""

    care: Care | None = None
    urls: tuple[str, ...] = ()


_MAKES_AWS_RESOURCES = frozenset(
    ("python:boto3.resource", "python:boto3.Session.resource", "python:boto3.session.Session.resource")
)


class Memory:
    """Files that earlier calls created, downloaded or copied, a connection that they opened, and the state of git."""

    def __init__(self, catalogue: Catalogue, facts: Facts) -> None:
        self._catalogue = catalogue
        self._facts = facts
        self.effects_of: dict[int, tuple[Call, list[Effect]]] = {}  # by the identity of a call
        self._made: set[str] = set()  # paths that the action itself created, and so may delete
        self.git = GitMemory()
        self._downloaded: dict[str, str] = {}  # paths of downloaded files, with their URLs
        self.mounts: dict[str, tuple[tuple[str, str], ...]] = {}  # of new containers: paths inside and outside
        self.copied: dict[str, Care] = {}  # paths of copies, with the care that the original deserves
        self.with_environment: set[str] = set()  # files to which an earlier call wrote variables with secrets
        self.disguised: dict[str, str] = {}  # paths of copied system programs, with the original's name
        self.made_keys: set[str] = set()  # paths of keys that the action itself created
        self.uses_service = False  # an earlier call reached a client of a service
        self.uses_aws_resources = False  # an earlier call made an object-oriented client of boto3
        self.connection: str | None = None  # the address of a connection that the shell opened under a descriptor

    def remember(self, call: Call, effects: Iterable[Effect]) -> None:
        """Records for later calls the files that this call created, downloaded or copied."""
        self.uses_aws_resources = self.uses_aws_resources or call.program in _MAKES_AWS_RESOURCES
        directory = directory_of(call)
        made: list[str] = []
        urls: list[str] = []
        care: Care | None = None
        for effect in effects:
            if effect.kind is EffectKind.DOWNLOAD:
                urls += [target.text for target in effect.targets]
            elif effect.kind is EffectKind.CREATE and effect.object is ObjectKind.CREDENTIAL:
                # A key that the action itself creates is not yet anyone's secret.
                own = [target for target in effect.targets if target.place in (Place.WORKSPACE, Place.TEMPORARY)]
                self.made_keys.update(located(target.text, self._facts, directory) for target in own)
            elif effect.kind in _MAKES and effect.object is ObjectKind.PATH:
                paths = [located(target.text, self._facts, directory) for target in effect.targets]
                made += paths
                makes_anew = effect.kind is EffectKind.CREATE or call.program in _MAKERS
                if makes_anew and effect.scope is not Scope.ALL:
                    self._own(paths, effect, call)
            for target in effect.targets:
                if target.sensitivity in CARES and effect.kind in (EffectKind.READ, EffectKind.SEND):
                    care = Care(target.sensitivity, target.text)
        if urls:
            names = [posixpath.basename(path) for path in made]
            for path in (*made, *names, *(posixpath.basename(url.partition("?")[0]) for url in urls)):
                if path and scope_of(path, self._facts) is not Scope.ALL:
                    self._downloaded[path] = urls[0]
                    self._made.add(path)
        if made and call.program in _COPYING:
            self._disguise(made[-1], effects)
        if care is None and made:
            care = self.fed(call.stdin).care
        if care is not None:
            for path in made:
                for known in (path, *_parents(path)):
                    self.copied.setdefault(known, care)
        elif made and prints_environment(call):
            self.with_environment.update(made)

    def _disguise(self, copy: str, effects: Iterable[Effect]) -> None:
        """Records a copy of a system program under another name, since it is still that program."""
        for effect in effects:
            if effect.kind is EffectKind.READ:
                for target in effect.targets:
                    name = program_name(target.text)
                    is_renamed = target.place is Place.SYSTEM and name != program_name(copy)
                    if is_renamed and entry_of(self._catalogue, name) is not None:
                        self.disguised[copy] = name

    def _own(self, paths: Iterable[str], effect: Effect, call: Call) -> None:
        """Records paths that the action itself creates and so may delete, unless they may have existed before
        (`mkdir -p ~/x`)."""
        may_exist = any(word.text in ("-p", "--parents") for word in call.words)
        for path, target in zip(paths, effect.targets, strict=True):
            if not (may_exist and target.place in (Place.HOME, Place.SYSTEM, Place.UNKNOWN)):
                self._made.add(path)

    def owns(self, text: str, directory: str | None) -> bool:
        """Decides whether the action itself created a path or a directory above it."""
        path = located(text, self._facts, directory)
        return bool(self._made) and any(known in self._made for known in (path, *_parents(path)))

    def fed(self, source: Call | Word | None) -> Fed:
        """Returns what a pipe that begins with these calls delivers."""
        care: Care | None = None
        urls: list[str] = []
        for _ in range(MAX_DEPTH * 2):
            if not isinstance(source, Call):
                break
            _, effects = self.effects_of.get(id(source), (source, ()))
            for effect in effects:
                if effect.kind is EffectKind.DOWNLOAD:
                    if not saves_download(source):
                        urls += [target.text for target in effect.targets] or [effect.detail.get("url", "")]
                elif effect.kind is EffectKind.READ:
                    if "url" in effect.detail:
                        urls.append(effect.detail["url"])
                    found = next((target for target in effect.targets if target.sensitivity in CARES), None)
                    if found is not None and (care is None or care.sensitivity is not Sensitivity.SECRET):
                        care = Care(found.sensitivity, found.text)
            source = source.stdin
        return Fed(care, tuple(urls))

    def executed(self, effect: Effect, call: Call) -> Effect:
        """Marks code that the same action downloaded, or that a pipe delivers from another machine, as remote code."""
        if effect.detail.get("code") == "named_file" and call.program not in SHELLS:
            names = [target.text for target in effect.targets]
            if any("/bin/" in name and posixpath.basename(name) in SHELLS for name in names):
                return replace(effect, object=ObjectKind.PROCESS, detail={**effect.detail, "code": "interactive_shell"})
        if not self._downloaded and not any(_may_be_remote(target.text) for target in effect.targets):
            return effect
        directory = directory_of(call)
        for target in effect.targets:
            path = located(target.text, self._facts, directory)
            url = self._downloaded.get(path) or self._downloaded.get(posixpath.basename(path))
            if url is None and is_remote(target.text) and "://" in target.text:
                url = target.text
            if url is None and target.text.startswith(("<(", "$(", "`")):
                urls = self.fed(call.stdin).urls
                named = _URL.search(target.text)
                url = urls[0] if urls else named[0] if named else None
            if url is not None:
                thing = ObjectKind.PROCESS if target.text.startswith(("<(", "$(", "`")) else effect.object
                return replace(effect, object=thing, detail={**effect.detail, "code": "remote", "url": url})
        return effect


def _parents(path: str) -> Iterator[str]:
    """Yields the directories above a path, except whole places such as `/` and `~`."""
    parent = posixpath.dirname(path)
    while parent not in ("", "/", "~", ".", "..", "/tmp"):  # noqa: S108 (a place is named)
        yield parent
        parent = posixpath.dirname(parent)


def _may_be_remote(text: str) -> bool:
    return "://" in text or text.startswith(("<(", "$(", "`"))
