"""Applies the rows of a program's catalogue entry, and its HTTP requests, to the words of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from guardrail import environment
from guardrail.catalogue.entries import EffectRow, Request
from guardrail.circumstances import host_of, is_local_host
from guardrail.facts import Environment, environment_of
from guardrail.interpret.consequences import of_registry_keys, of_removal
from guardrail.interpret.frame import Frame, directory_of
from guardrail.interpret.inner_words import found_by_search, read_as, substitution
from guardrail.interpret.pipes import dumps_database, receives_nothing
from guardrail.interpret.programs import CARES, DESTRUCTIVE_VERBS, SHELLS, WRITES, entry_of
from guardrail.interpret.stored_secrets import comes_from_elsewhere
from guardrail.interpret.targets import DESTROYS
from guardrail.interpret.work import Part, Work
from guardrail.model import Call, Effect, Target, Uncovered, Word
from guardrail.options import Parsed, parse
from guardrail.paths.places import place_of, scope_of
from guardrail.paths.spelling import is_nowhere
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity

MAX_TARGETS = 2_000
"""Maximum number of target words and request URLs that are followed; the place of each must be determined."""
_SCOPES = {Scope.ONE: 0, Scope.UNKNOWN: 1, Scope.MANY: 2, Scope.ALL: 3}
_REACHES_EMPTY = frozenset((*DESTROYS, EffectKind.ALTER, EffectKind.GRANT, EffectKind.EXPOSE))
_UNDOES = frozenset((EffectKind.DELETE, EffectKind.DISCARD, EffectKind.ALTER, EffectKind.GRANT, EffectKind.EXPOSE))
FILE_WRITERS = frozenset(("tee", "sponge"))
"""Programs that write their input to a file."""
_KEEPS_LINES = frozenset(("grep", "egrep", "sort", "uniq", "head", "tail", "shuf"))
_REPEATED = {
    (EffectKind.PAY, ObjectKind.PAYMENT): Scope.MANY,
    (EffectKind.SEND, ObjectKind.MESSAGE): Scope.ALL,
}
"""The scope of one payment or message in a loop over things that the action does not list."""
_HTTP_CLIENTS = frozenset(("curl", "wget", "nc", "ncat", "netcat", "http", "https", "socat"))


class Rows(Part):
    """Turns rows into effects. `follow_code` follows code that a call runs, in any language."""

    def __init__(self, work: Work, follow_code: Callable[[str, Call], None]) -> None:
        super().__init__(work)
        self._targets_followed = 0
        self._follow_code = follow_code

    def apply(self, row: EffectRow, parsed: Parsed, call: Call) -> None:
        words: list[Word] = []
        fed: list[Target] = []
        for part in row.targets:
            if part == "stdin":
                if call.stdin is None and not any(found.operator == "<" for found in call.redirections):
                    continue
                fed.append(self.targets.fed(call, row.kind))
            elif part == "found":
                words += found_by_search(parsed)
            else:
                for word in parsed.part(part):
                    if word.text == "-" and (part.startswith("at_file:") or row.kind is EffectKind.SEND):
                        fed.append(self.targets.fed(call, row.kind))
                    else:
                        words.append(word)
        if not words and not fed and row.default_target is not None:
            words = [Word(row.default_target, call.span)]
        words = [
            word
            for word in words
            if not (row.object is ObjectKind.PATH and row.kind in WRITES and is_nowhere(word.text))
        ]
        if row.object is ObjectKind.PATH and row.targets and not words and not fed:
            return  # no path is named, so none is touched
        if fed and row.kind is EffectKind.SEND and call.program in _HTTP_CLIENTS and dumps_database(call.stdin):
            url = _detail(row, parsed).get("url", "")
            self.findings.add(
                Effect(
                    EffectKind.SEND,
                    ObjectKind.DATABASE,
                    call.span,
                    parsed.program.name,
                    tuple(fed),
                    Scope.ALL,
                    sure=call.sure,
                    detail={"url": url},
                )
            )
        words = self._followed([found for word in words for found in self.searched(word)], call)
        named = [word for word in words if not word.glob]
        if row.object is ObjectKind.PATH and named and len(named) < len(words) and not _is_broadened(row, parsed):
            # A pattern next to a name does not make the named path count as many.
            self._effect_of_row(row, parsed, call, named, fed)
            self._effect_of_row(row, parsed, call, [word for word in words if word.glob], [])
        else:
            self._effect_of_row(row, parsed, call, words, fed)

    def _effect_of_row(
        self, row: EffectRow, parsed: Parsed, call: Call, words: Sequence[Word], fed: Sequence[Target]
    ) -> None:
        place = row.place
        if place is Place.REMOTE and self._names_production(parsed):
            place = Place.PRODUCTION
        targets = [self.targets.target(word, row.kind, row.object, call, place, row.sensitivity) for word in words]
        targets += fed
        if not targets and place is not None:
            targets = [Target("", self.targets.placed(place, row.object))]
        scope = self._scope(row, parsed, call, words)
        if call.repeated and scope is Scope.ONE and not any(word.known for word in words):
            scope = _REPEATED.get((row.kind, row.object), scope)
        if row.object is ObjectKind.PATH and row.kind in _REACHES_EMPTY:
            targets, scope = self._if_empty(words, targets, scope, call)
        detail = _detail(row, parsed)
        if (row.kind, row.object) == (EffectKind.WRITE, ObjectKind.SECRET) and comes_from_elsewhere(parsed, call):
            detail = {**detail, "secret": "elsewhere"}
        effect = Effect(
            kind=row.kind,
            object=row.object,
            span=call.span,
            source=" ".join((parsed.program.name, *parsed.path)),
            targets=tuple(targets),
            scope=scope,
            reversible=row.reversible,
            sure=call.sure,
            elevated=call.elevated or row.elevated,
            detail=detail,
        )
        if row.kind is EffectKind.EXECUTE:
            effect = self.memory.executed(effect, call)
            if detail.get("code") == "named_file" and call.program not in SHELLS and call.program != "source":
                shown = tuple(target for target in effect.targets if target.sensitivity in CARES)
                if shown:  # the error message shows content that is not a program
                    self.findings.add_generic(EffectKind.READ, ObjectKind.PATH, shown, call, {}, True)
        elif row.kind is EffectKind.OVERWRITE and call.program in FILE_WRITERS and receives_nothing(call):
            effect = replace(effect, detail={**detail, "emptied": "yes"})
        elif call.program == "git":
            effect = self.memory.git.in_its_light(effect)
        self.findings.add(effect)
        if row.kind is EffectKind.EXECUTE and detail.get("code") == "inline":
            for word in words:
                self._follow_code(word.text, call)
        if row.kind in WRITES and row.object is ObjectKind.PATH:
            self.add_write(effect, directory_of(call), call)
        elif row.kind in _UNDOES and row.object in (ObjectKind.PATH, ObjectKind.PERMISSION):
            self.findings.add_all(of_removal(effect, self.facts, call))
        elif row.object is ObjectKind.REGISTRY_KEY:
            self.findings.add_all(of_registry_keys(effect))

    def searched(self, word: Word) -> Sequence[Word]:
        """Returns the paths that a search yields if the word is nothing else, `rm $(find / -name x)`; otherwise the
        word."""
        command = substitution(word.text) if not word.known and "find " in word.text[:8] else None
        calls = read_as(command, "bash", self.facts, self.catalogue).calls if command is not None else ()
        program = entry_of(self.catalogue, "find")
        if program is None or not calls or calls[0].program != "find":
            return (word,)
        if any(call.program not in _KEEPS_LINES for call in calls[1:]):
            return (word,)
        return found_by_search(parse(program, calls[0]))

    def _followed(self, words: list[Word], call: Call) -> list[Word]:
        """Returns the words that are treated as targets, up to a bound for the whole action."""
        left = MAX_TARGETS - self._targets_followed
        self._targets_followed += len(words)
        if len(words) > left:
            self.findings.uncovered.append(Uncovered(call.span, "more targets than are followed", stopped=True))
            return words[: max(left, 1)]
        return words

    def _scope(self, row: EffectRow, parsed: Parsed, call: Call, words: Sequence[Word]) -> Scope:
        scope = row.scope
        if scope is None:
            several = len(words) > 1 and row.object is not ObjectKind.PATH  # listed paths don't count as many
            scope = Scope.MANY if several or any(word.glob for word in words) else Scope.ONE
        if scope is Scope.ONE and row.object is not ObjectKind.PATH and any(_is_fed(word) for word in words):
            scope = Scope.MANY
        broadened = False
        for broader in row.broader:
            if any(parsed.has(option) for option in broader.options):
                broadened = True
                scope = max(scope, broader.scope, key=_SCOPES.__getitem__)
        worked_out = row.object is ObjectKind.PATH and row.place is None and (row.scope is None or broadened)
        if worked_out and scope is Scope.MANY:
            directory = directory_of(call)
            if any(scope_of(word.text, self.facts, directory) is Scope.ALL for word in words if broadened or word.glob):
                return Scope.ALL
        return scope

    def _if_empty(
        self, words: Sequence[Word], targets: list[Target], scope: Scope, call: Call
    ) -> tuple[list[Target], Scope]:
        """Returns the targets and the scope, adjusted where an empty variable would turn a path into a whole place."""
        directory = directory_of(call)
        for at, word in enumerate(words):
            if not word.if_empty or (scope is Scope.ONE and not word.glob):
                continue
            place = place_of(word.if_empty, self.facts, directory)
            if place not in (Place.SYSTEM, Place.HOME) or targets[at].place is Place.TEMPORARY:
                continue
            if scope_of(word.if_empty, self.facts, directory) is Scope.ALL:
                targets[at] = replace(targets[at], place=self.targets.on_host(place, call))
                scope = Scope.ALL
        return targets, scope

    def _names_production(self, parsed: Parsed) -> bool:
        """Decides whether the call names production, as a context, a namespace or in the name of a target."""
        if self.facts.environment is Environment.PRODUCTION:
            return True
        values = [option.value for option in parsed.options if option.value is not None]
        return any(
            environment_of(word.text) is Environment.PRODUCTION
            for word in (*values, *parsed.operands)
            if "pr" in word.text or "live" in word.text or "canary" in word.text
        )

    def request(self, request: Request, parsed: Parsed, call: Call, frame: Frame) -> None:
        """Adds the effects of the HTTP requests that a call sends."""
        from guardrail.catalogue.http import effects_of_request

        methods = [word.text for part in request.method for word in parsed.part(part)]
        in_query = request.in_query is not None and parsed.holds(request.in_query)
        bodies = [] if in_query else [word.text for part in request.body for word in parsed.part(part)]
        method = methods[0].upper() if methods else "POST" if bodies else "GET"
        body = "\n".join(bodies) or None
        given = [word for part in request.url for word in parsed.part(part) if word.text not in methods[:1]]
        urls = [word.text for word in self._followed(given, call)]
        self._sent_words([word for part in (*request.body, *request.url) for word in parsed.part(part)], urls, call)
        for url in urls:
            for effect in effects_of_request(method, url, {}, body, call.span):
                if effect.kind is EffectKind.SEND and _verb_of_path(url) in DESTRUCTIVE_VERBS:
                    effect = replace(
                        effect, kind=EffectKind.DELETE, object=ObjectKind.RESOURCE, reversible=Reversible.NO
                    )
                self.findings.add(self.targets.in_frame(replace(effect, source=call.program, sure=call.sure), frame))

    def _sent_words(self, words: Sequence[Word], urls: Sequence[str], call: Call) -> None:
        """Adds the sending of secrets that a request takes from a sensitive file by a substitution, or from a
        variable."""
        hosts = [host for host in map(host_of, urls) if host and not is_local_host(host)]
        targets: list[Target] = []
        for word in words:
            if word.known and not word.glob:
                continue
            if hosts and environment.foreign_secrets(word.text, hosts):
                targets.append(Target(word.text, sensitivity=Sensitivity.SECRET))
            elif self.targets.care(word, directory_of(call)).sensitivity in CARES:
                targets.append(self.targets.target(word, EffectKind.SEND, ObjectKind.PATH, call))
        if targets:
            self.findings.add_generic(
                EffectKind.SEND, ObjectKind.PATH, tuple(targets), call, {"url": " ".join(urls)}, True
            )


def _detail(row: EffectRow, parsed: Parsed) -> Mapping[str, str]:
    detail: dict[str, str] = {}
    for name, value in row.detail:
        if value.text is not None:
            detail[name] = value.text
        elif value.part is not None:
            words = parsed.part(value.part)
            if words:
                detail[name] = words[0].text
    if row.says is not None:
        detail["says"] = row.says
    if parsed.call.host is not None:
        detail["host"] = parsed.call.host
    return detail


def _is_broadened(row: EffectRow, parsed: Parsed) -> bool:
    return any(parsed.has(option) for broader in row.broader for option in broader.options)


def _is_fed(word: Word) -> bool:
    """Decides whether `xargs` adds the word from an unknown number of items, or `parallel` puts each of them there."""
    return word.text in ("$(stdin)", "$(picked)", "{}") or word.text.endswith("/[found]")


def _verb_of_path(url: str) -> str:
    """Returns the last part of a URL's path, reduced to its verb: `/job/x/doDelete`, `/v1/x:purge`."""
    last = url.partition("?")[0].rstrip("/").rpartition("/")[2].rpartition(":")[2]
    return last.removeprefix("do").lower()
