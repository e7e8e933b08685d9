"""Handles what the catalogue does not cover: programs that it lacks, and operands that no entry mentions."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace

from guardrail.circumstances import is_break_in
from guardrail.interpret.frame import Frame, directory_of
from guardrail.interpret.inner import SHELL_OPTIONS, InnerActions
from guardrail.interpret.programs import (
    CARES,
    LONGEST_NAME,
    MONIKERS,
    SHELLS,
    asks_for_a_key,
    destroys,
    entry_of,
    shortened,
)
from guardrail.interpret.work import Part, Work
from guardrail.language.actions import meaning_of_name, tokens_of_name
from guardrail.language.data import names
from guardrail.model import Call, Effect, Span, Target, Uncovered, Word
from guardrail.paths.writes import consequence_of_write
from guardrail.reading.deciding import is_sql
from guardrail.reading.decoding import constant_output
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope

_COMMAND_OPTIONS = frozenset(("-c", "-e", "--command", "--exec", "--cmd", "--execute", "--eval", "--shell", "-exec"))
_SCRIPT_SUFFIXES = (
    *(".sh", ".bash", ".zsh", ".ksh", ".fish", ".py", ".pl", ".rb", ".js", ".mjs", ".ts", ".php", ".lua", ".ps1"),
    *(".bat", ".cmd", ".vbs", ".run", ".bin", ".appimage", ".out", ".command"),
)
_REMADE = frozenset(("cache", "caches", "tmp", "temp", "lock", "label", "labels", "alias", "log", "logs", "session"))
_MEMBERS_OF_CODE = ("python:", "js:")
_READING_VERBS = (
    # by convention, cmdlets of these verbs show, select or convert
    *("ps:get-", "ps:select-", "ps:where-", "ps:format-", "ps:measure-", "ps:test-", "ps:compare-", "ps:sort-"),
    *("ps:group-", "ps:convertto-", "ps:convertfrom-", "ps:join-", "ps:split-", "ps:resolve-", "ps:find-", "ps:show-"),
    *("ps:write-", "ps:out-string", "ps:out-host", "ps:out-null", "ps:foreach-", "ps:search-", "ps:tee-"),
)
_NOWHERE = Span(0, 0)
_CMDLETS = {
    "remove": Effect(EffectKind.DELETE, ObjectKind.RESOURCE, _NOWHERE, "", reversible=Reversible.NO),
    "disable": Effect(EffectKind.DISABLE, ObjectKind.RESOURCE, _NOWHERE, ""),
    "revoke": Effect(EffectKind.REVOKE, ObjectKind.PERMISSION, _NOWHERE, ""),
}
"""The effects of cmdlets with these verbs on the thing that their noun names."""
_RUNS_STATEMENTS = frozenset(("query", "execute", "raw", "exec", "run", "unsafe"))
"""Methods that run the SQL statement that they are given, whatever object they belong to."""
_TAKES_AWAY = frozenset(
    (EffectKind.DELETE, EffectKind.CANCEL, EffectKind.REVOKE, EffectKind.DISABLE, EffectKind.EXPOSE)
)
"""Kinds of effects that a method of a service client has, judging by its name."""
_CARRIED = 4
_FILE_OPTIONS = frozenset(("-f", "-F", "--file", "-b", "-a", "-E", "-r", "--"))
_OUTPUT_OPTIONS = frozenset(("-o", "-O", "--output", "--out", "--output-file", "--outfile", "--log-file", "--logfile"))


class GeneralRules(Part):
    """Adds the effects that a program may have, judging by the form of its call."""

    def __init__(self, work: Work, inner: InnerActions) -> None:
        super().__init__(work)
        self.inner = inner

    def unstated(self, call: Call, harmless: bool) -> None:
        """Adds effects on operands that the program's entry does not mention. Any program may show secrets in a file
        that it is given, if only in an error message; for a program that does more than show, this counts only outside
        the workspace. A file named by an option for results is written."""
        directory = directory_of(call)
        stated: set[str] | None = None
        for at, word in enumerate(call.words):
            text = word.text
            if "/" not in text and text[:1] != ".":
                continue
            if self._is_unstated_output(call, at, text):
                target = self.targets.target(word, EffectKind.WRITE, ObjectKind.PATH, call)
                self.findings.add_generic(EffectKind.WRITE, ObjectKind.PATH, (target,), call, {}, True)
                self.add_write(self.findings.effects[-1], directory)
                continue
            if not harmless and at and (before := call.words[at - 1].text)[:1] == "-" and before not in _FILE_OPTIONS:
                continue
            if self.targets.care(word, directory).sensitivity not in CARES:
                continue
            target = self.targets.target(word, EffectKind.READ, ObjectKind.PATH, call)
            if not harmless:
                if stated is None:
                    stated = {found.text for effect in self.findings.effects[-8:] for found in effect.targets}
                if target.place not in (Place.HOME, Place.SYSTEM) or text in stated or text[:1] == "-":
                    continue
            self.findings.add_generic(EffectKind.READ, ObjectKind.PATH, (target,), call, {}, True)

    def _is_unstated_output(self, call: Call, at: int, text: str) -> bool:
        """Decides whether an option for results names a file that the system depends on."""
        before = call.words[at - 1].text if at else ""
        if consequence_of_write(text) is None:
            return False
        named = before in _OUTPUT_OPTIONS and text[:1] in ("/", "~", ".")
        return named and not any(
            target.text == text for effect in self.findings.effects[-8:] for target in effect.targets
        )

    def computed(self, call: Call, frame: Frame) -> None:
        """Adds the effects of a program whose name the action computes."""
        output = constant_output(call.stdin) if call.stdin is not None else None
        if output is not None and len(call.words) == 1:
            self.inner.text(output, "bash", call, replace(frame, depth=frame.depth + 1, carrier=call.span))
            return
        fed = self.memory.fed(call.stdin)
        if fed.urls:
            self.inner.code("remote", call, fed.urls)
            return
        if self.memory.connection is not None and len(call.words) == 1:
            self.inner.network_shell(self.memory.connection, call)
        self._generic(call, frame)
        self.findings.uncovered.append(Uncovered(call.span, "a program whose name is computed"))

    def unknown(self, call: Call, frame: Frame) -> None:
        """Adds the effects of a program that the catalogue lacks: of a script by its path, of others by their
        operands."""
        path = call.path
        name = call.program
        if path or (name.endswith(_SCRIPT_SUFFIXES) and ":" not in name):
            word = Word(path or name, call.span)
            effect = Effect(
                kind=EffectKind.EXECUTE,
                object=ObjectKind.PATH,
                span=call.span,
                source="generic",
                targets=(self.targets.target(word, EffectKind.EXECUTE, ObjectKind.PATH, call),),
                sure=call.sure,
                elevated=call.elevated,
                detail={"code": "named_file"},
            )
            self.findings.add(self.memory.executed(effect, call))
            self._generic(call, frame)
            self.findings.covered_calls += 1
            return
        self._generic(call, frame)
        self._break_in(call)
        if name.startswith("tool:") and any(effect.span == call.span for effect in self.findings.effects):
            return
        if ":" not in name:
            operands = [word.text for word in call.words if not word.text.startswith("-")]
            self.by_verb(operands, call, Place.UNKNOWN)
            self._carried(call, frame)
            self.inner.shells_in_options(call, frame)
        verb = name.removeprefix("ps:").partition("-")[0] if name.startswith("ps:") else ""
        if verb in _CMDLETS and not any(word.text.lower() == "-whatif" for word in call.words):
            named = next((word.text for word in call.words if not word.text.startswith("-")), "")
            target = (Target(named, self.targets.placed(Place.REMOTE, ObjectKind.RESOURCE)),)
            self.findings.add(replace(_CMDLETS[verb], span=call.span, source=name, targets=target, sure=call.sure))
        if name.rpartition(".")[2] in _RUNS_STATEMENTS and call.words and is_sql(call.words[0].text):
            self.inner.text(call.words[0].text, "sql", call, frame)
            return
        self._of_a_service(call)
        self._of_an_aws_resource(call)
        executable = not name.startswith((*_MEMBERS_OF_CODE, *_READING_VERBS))
        self.findings.uncovered.append(
            Uncovered(call.span, f"the catalogue lacks {shortened(name)}", executable=executable)
        )

    def _of_a_service(self, call: Call) -> None:
        """Adds the effects of a service client's method, judged by the words of its name: `CoreV1Api.delete_namespace`,
        `octokit.repos.delete`."""
        language, _, name = call.program.partition(":")
        segments = [segment for segment in re.split(r"[./]", name.lstrip("@")) if segment]
        if language not in ("python", "js") or not segments:
            return
        of_service = segments[0].lower() in names("clients_of_services")
        self.memory.uses_service = self.memory.uses_service or of_service
        method = segments[-1].removesuffix("Command") if language == "js" else segments[-1]
        if method == segments[-1] and (len(segments) < 2 or not self.memory.uses_service):
            return
        method = method.removeprefix("begin_")
        meaning = meaning_of_name(tokens_of_name(method))
        if meaning is None or meaning.first or meaning.kind not in _TAKES_AWAY:
            return
        if meaning.object is None and len(segments) > 1:
            meaning = meaning_of_name(tokens_of_name(f"{segments[-2]} {method}")) or meaning
        if meaning.object is None and not of_service and method not in ("delete", "destroy", "terminate"):
            return  # `items.remove(3)` may just change a list
        targets = tuple(Target(word.text, Place.REMOTE) for word in call.words[:4]) or (Target("", Place.REMOTE),)
        thing = meaning.object if meaning.object not in (None, ObjectKind.PATH) else ObjectKind.RESOURCE
        self.findings.add(
            Effect(
                kind=meaning.kind,
                object=thing or ObjectKind.RESOURCE,
                span=call.span,
                source=segments[0],
                targets=targets,
                scope=Scope.MANY if call.repeated else Scope.ONE,
                reversible=Reversible.NO,
                sure=call.sure,
            )
        )

    def _of_an_aws_resource(self, call: Call) -> None:
        """Adds the deletion of a boto3 resource or of a whole collection: `bucket.delete()`,
        `bucket.object_versions.delete()`. Such methods have no operands, unlike `cache.delete(key)`."""
        segments = call.program.removeprefix("python:").split(".")
        if (
            not self.memory.uses_aws_resources
            or len(segments) < 2
            or segments[-1] not in ("delete", "purge")
            or any(word.name is None or "receive_messages" in word.text for word in call.words)
        ):
            return  # a message that was received and handled is deleted from its queue
        many = call.repeated or segments[-2].endswith("s") or segments[-2] in ("all", "filter", "limit")
        self.findings.add(
            Effect(
                kind=EffectKind.DELETE,
                object=ObjectKind.RESOURCE,
                span=call.span,
                source="boto3",
                targets=(Target(".".join(segments[:-1]), Place.REMOTE),),
                scope=Scope.MANY if many else Scope.ONE,
                reversible=Reversible.NO,
                sure=call.sure,
            )
        )

    def _break_in(self, call: Call) -> None:
        """Adds an effect for an attack tool, recognised by its name, also as a function that a script defines."""
        named = next((text for text in (call.program, *(word.text for word in call.words)) if is_break_in(text)), None)
        if named is not None:
            target = Target(named[:LONGEST_NAME])
            self.findings.add_generic(
                EffectKind.EXECUTE, ObjectKind.PROCESS, (target,), call, {"code": "named_file"}, True
            )

    def _carried(self, call: Call, frame: Frame) -> None:
        """Follows a known program with options or a path after unknown words: `run rm -rf / on the server`."""
        for at, (word, following) in enumerate(zip(call.words[:_CARRIED], call.words[1:], strict=False)):
            name = word.text.lower()
            if not word.known or name.startswith("-"):
                return
            if (
                following.text.startswith(("-", "/", "~"))
                and name not in names("ordinary_words")
                and entry_of(self.catalogue, name)
            ):
                deeper = replace(frame, depth=frame.depth + 1, carrier=call.span, host=call.host)
                self.inner.command(call.words[at:], call, deeper)
                return

    def _generic(self, call: Call, frame: Frame) -> None:
        """Adds the effects that any program may have: it reads sensitive paths, reaches URLs, runs a shell in an
        operand."""
        directory = directory_of(call)
        reads: list[Target] = []
        urls: list[str] = []
        deeper = replace(frame, depth=frame.depth + 1, carrier=call.span, host=call.host, elevated=call.elevated)
        for at, word in enumerate(call.words):
            text = word.text
            option = call.words[at - 1].text if at else ""
            if text.startswith("-") and "=" in text:
                option, _, text = text.partition("=")
                word = replace(word, text=text)
            if asks_for_a_key(option):
                continue
            if self.targets.care(word, directory).sensitivity in CARES:
                reads.append(self.targets.target(word, EffectKind.READ, ObjectKind.PATH, call))
            elif "://" in text[:8]:
                urls.append(text)
            elif text.lower().startswith(MONIKERS):
                target = (self.targets.target(word, EffectKind.EXECUTE, ObjectKind.RESOURCE, call, Place.UNKNOWN),)
                self.findings.add_generic(
                    EffectKind.EXECUTE, ObjectKind.RESOURCE, target, call, {"code": "remote"}, True
                )
            elif (
                word.known
                and not call.words[at].text.startswith("-")
                and posixpath.basename(text) in SHELLS
                and (at + 1 < len(call.words) or text.startswith("/"))
                and option not in SHELL_OPTIONS - {"--"}
                and not option.endswith("=")
            ):
                self.inner.command(call.words[at:], call, deeper)
                break
            elif at and call.words[at - 1].text in _COMMAND_OPTIONS and word.known and self.inner.is_command_line(text):
                self.inner.text(text, "bash", replace(call, sure=False), replace(deeper, sure=False))
        if reads:
            kind = EffectKind.SEND if urls else EffectKind.READ
            self.findings.add_generic(
                kind, ObjectKind.PATH, tuple(reads), call, {"url": urls[0]} if urls else {}, not urls
            )
        elif urls:
            targets = tuple(
                self.targets.target(Word(url, call.span), EffectKind.READ, ObjectKind.PATH, call) for url in urls
            )
            self.findings.add_generic(EffectKind.READ, ObjectKind.NETWORK, targets, call, {"url": urls[0]}, True)

    def by_verb(self, words: Sequence[str], call: Call, place: Place) -> None:
        """Adds a deletion for a command line of the common form `PROGRAM THING VERB` or `PROGRAM VERB THING`:
        `x project delete 7`."""
        at = next((at for at, word in enumerate(words[:4]) if destroys(word)), None)
        if (
            at is None
            or (len(words) < 2 and place is Place.UNKNOWN)
            or any(word.lower() in _REMADE for word in words[: at + 2])
            or not call.program[:1].isalnum()
            or "<" in call.program
        ):
            return
        named = words[at + 1 :] or words[:at] or words
        targets = tuple(Target(text, self.targets.placed(place, ObjectKind.RESOURCE)) for text in named[:8])
        self.findings.add(
            Effect(
                kind=EffectKind.DELETE,
                object=ObjectKind.RESOURCE,
                span=call.span,
                source="generic",
                targets=targets,
                reversible=Reversible.NO,
                sure=call.sure,
                elevated=call.elevated,
            )
        )
