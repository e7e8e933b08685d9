"""The command svc-guardrail: its arguments and exit codes. Each subcommand imports its modules only when it runs."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing takes longer than a hook may take
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any, NoReturn

    from guardrail.engine import Guardrail
    from guardrail.user_policy import UserPolicy
    from guardrail.verdict import Verdict

PROGRAM = "svc-guardrail"
PASSED, FAULT, BLOCKED, ASK = 0, 1, 2, 3
HARNESS_NAMES = ("claude-code", "codex", "cursor", "gemini", "copilot")
SEVERITIES = ("low", "medium", "high", "critical")


class Fault(Exception):
    """A mistake that the person who typed the command must correct."""


def main(argv: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Runs a command and returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if len(arguments) == 2 and arguments[0] == "hook" and not arguments[1].startswith("-"):
        # A harness waits for this at each tool call, so nothing else is imported.
        from guardrail.hooks.client import run

        return run(arguments[1])
    try:
        known = _parser(program).parse_args(arguments)
        code: int = known.run(known)
        return code
    except Fault as fault:
        return _complain(program, str(fault), as_json="--json" in arguments)
    except BrokenPipeError:
        return FAULT
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(program, f"{where}{error.strerror or error}", as_json="--json" in arguments)
    except KeyboardInterrupt:
        return FAULT


def _complain(program: str, message: str, *, as_json: bool) -> int:
    if as_json:
        _write_json({"error": message})
    sys.stderr.write(f"{program}: {message}\n")
    return FAULT


def _parser(program: str) -> ArgumentParser:
    from argparse import ArgumentParser

    class Parser(ArgumentParser):
        """Exits with 1 for wrong usage, since 2 means blocked."""

        def error(self, message: str) -> NoReturn:
            raise Fault(f"{message}\n{self.format_usage().strip()}")

    parser = Parser(
        prog=program,
        description="Judges what an action of an AI agent would do before it is done, by its effects.",
        epilog="Exit codes: 0 passed, 2 blocked, 3 a person has to be asked, 1 wrong usage or a fault.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, run: Callable[[Namespace], int], text: str, example: str) -> ArgumentParser:
        command: ArgumentParser = commands.add_parser(
            name,
            help=text,
            description=f"{text[:1].upper()}{text[1:]}.",
            epilog=f"Example: `{program} {name} {example}".rstrip() + "`",
        )
        command.add_argument("--json", action="store_true", help="answer as JSON")
        command.set_defaults(run=run, program=program)
        return command

    for name, run, text, example in (
        ("check", _check, "judge an action; nothing is run", "'git push --force' --here"),
        (
            "explain",
            _explain,
            "show the calls that were read, their effects, and the policy rows that apply",
            "'rm -rf build' --severity high",
        ),
    ):
        command = add(name, run, text, example)
        command.add_argument("action", help="a command line, script, tool call, SQL, request or sentence; - for stdin")
        command.add_argument("--severity", choices=SEVERITIES, default="medium", help="the impact of the action")
        command.add_argument("--context", metavar="JSON|@FILE", help="what is known about the circumstances")
        command.add_argument("--here", action="store_true", help="gather facts of the working copy, as the hook does")
    command = add("hook", _hook, "answer a harness; reads its JSON from stdin", "claude-code < call.json")
    command.add_argument("name", choices=HARNESS_NAMES)
    command = add("install", _install, "add the hook to the settings of a harness", "claude-code --dry-run")
    command.add_argument("name", choices=HARNESS_NAMES)
    command.add_argument("--dry-run", action="store_true", help="show what would change and change nothing")
    command.add_argument("--uninstall", action="store_true", help="remove the hook")
    command = add("trust", _trust, "trust a policy file, so that its rows that allow count; asks in a terminal", "")
    command.add_argument("path", nargs="?", help="the file, or a directory in its work tree; default: here")
    command = add("policy", _policy, "check a policy file, or print the JSON Schema of such files", "--schema")
    command.add_argument("path", nargs="?", help="the file, or a directory in its work tree; default: here")
    command.add_argument("--schema", action="store_true", help="print the JSON Schema, for editors that validate YAML")
    command = add("allow-once", _allow_once, "let one action that was held back pass once; in a terminal", "")
    command.add_argument("code", nargs="?", help="without it: show the actions of the last five minutes with codes")
    command = add("scan", _scan, "check CI files, Dockerfiles and scripts", ".github/workflows --sarif")
    command.add_argument("paths", nargs="+", metavar="PATH")
    command.add_argument("--severity", choices=SEVERITIES, default="medium", help="the impact of the files")
    command.add_argument("--sarif", action="store_true", help="answer as SARIF 2.1.0")
    command = add("lint", _lint, "check catalogue files with their examples, and the policy", "programs/git.yaml")
    command.add_argument("files", nargs="*", metavar="FILE", help="default: all files of this installation")
    command = add(
        "daemon", _daemon, "run the warm process that hooks query; hooks start it themselves", "--idle-minutes 5"
    )
    command.add_argument("--idle-minutes", type=float, default=30, help="end after this time without a request")
    return parser


# --- check and explain ---


def _check(known: Namespace) -> int:
    from guardrail.verdict import plain_verdict

    verdict, _ = _judged(known)
    if known.json:
        _write_json(plain_verdict(verdict))
    else:
        _write(_verdict_lines(verdict))
    return _code(verdict)


def _explain(known: Namespace) -> int:
    from guardrail.catalogue.loader import default_catalogue
    from guardrail.explain import explain, plain_explanation, tree

    verdict, context = _judged(known)
    explanation = explain(_action(known), context, verdict, default_catalogue())
    if known.json:
        _write_json(plain_explanation(explanation))
    else:
        _write(tree(explanation))
    return _code(verdict)


def _judged(known: Namespace) -> tuple[Verdict, Mapping[str, Any] | None]:
    """Returns the verdict and the context that it was reached in. A person is present, so uncovered parts become a
    question."""
    from guardrail.engine import Options

    guardrail, context = _guardrail(), _context(known.context)
    policy = _policy_here()
    if known.here:
        context = _facts_here(guardrail, _action(known), known.severity, context, policy)
    options = Options(may_ask=True, gathered=known.here)
    verdict = guardrail.check(_action(known), known.severity, context, policy=policy, options=options)
    return verdict, context


def _guardrail() -> Guardrail:
    """Returns the guardrail. Raises `Fault` if a file of its catalogue or policy has a mistake."""
    from guardrail.catalogue.loader import CatalogueInvalid
    from guardrail.loading import default_guardrail
    from guardrail.policy_file import PolicyInvalid

    try:
        return default_guardrail()
    except (CatalogueInvalid, PolicyInvalid) as invalid:
        raise Fault(f"the guardrail can't be loaded: {invalid}") from None


def _facts_here(
    guardrail: Guardrail, action: str, severity: str, context: Mapping[str, Any] | None, policy: UserPolicy | None
) -> Mapping[str, Any]:
    from pathlib import Path

    from guardrail.hooks.decide import named_by
    from guardrail.hooks.facts import gather, surroundings

    around = {**surroundings(str(Path.cwd()), str(Path.home())), **(context or {})}
    verdict = guardrail.check(action, severity, around, policy=policy)
    if verdict.problem is not None:
        return around
    return gather(around, named_by(action, around, verdict)).context


def _action(known: Namespace) -> str:
    if known.action == "-":
        # Stdin is read once and stored, since explain needs the text twice.
        known.action = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    action: str = known.action
    return action


def _context(given: str | None) -> Mapping[str, Any] | None:
    import json
    from pathlib import Path

    if given is None:
        return None
    try:
        text = Path(given[1:]).read_text("utf-8") if given.startswith("@") else given
        context = json.loads(text)
    except OSError as error:
        raise Fault(f"the context {given} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise Fault("the context must be a JSON object, or @ and the name of a file that contains one") from None
    if not isinstance(context, dict):
        raise Fault("the context must be a JSON object")
    return context


def _policy_here() -> UserPolicy | None:
    """Returns the policy of the work tree that contains the current directory."""
    from pathlib import Path

    from guardrail.hooks.facts import surroundings
    from guardrail.hooks.trust import workspace_policy

    root = surroundings(str(Path.cwd()), str(Path.home()))["workspace"].get("root")
    found = workspace_policy(Path(root) if root else None)
    if found.problem is not None:
        raise Fault(found.problem)
    return found.policy


def _verdict_lines(verdict: Verdict) -> list[str]:
    rows = [
        ("decision", verdict.decision),
        ("severity", str(verdict.severity)),
        ("reason", verdict.reason),
        *(("rule", f"{match.id} ({match.severity})") for match in verdict.matches),
        *(("remedy", remedy) for remedy in verdict.remediation),
        ("coverage", verdict.coverage),
        *(("not covered", part.reason) for part in verdict.uncovered),
        *(("relied on", f"{fact.fact} ({fact.source}): {fact.meaning}") for fact in verdict.relied_on),
        *(("ignored", name) for name in verdict.ignored_context),
        ("digest", verdict.digest),
    ]
    return [f"{name:<12} {text}" for name, text in rows]


def _code(verdict: Verdict) -> int:
    if verdict.problem is not None:
        return FAULT
    return {"allow": PASSED, "ask": ASK}.get(verdict.decision, BLOCKED)


# --- hooks ---


def _hook(known: Namespace) -> int:
    from guardrail.hooks.client import run

    return run(known.name)


def _install(known: Namespace) -> int:
    from guardrail.hooks.adapters import HARNESSES
    from guardrail.hooks.install import SettingsInvalid, plan

    harness = HARNESSES[known.name]
    try:
        change = plan(harness, uninstall=known.uninstall)
        if not known.dry_run:
            change.apply()
    except SettingsInvalid as error:
        raise Fault(str(error)) from None
    done = "would change" if known.dry_run else "changed"
    if known.json:
        _write_json(
            {
                "harness": harness.name,
                "written_for": harness.written_for,
                "documentation": harness.documentation,
                "documentation_read_on": harness.read_on,
                "file": str(change.path),
                "changes": change.changes,
                "dry_run": known.dry_run,
                "diff": change.diff(),
                "if_it_dies": harness.if_it_dies,
            }
        )
        return PASSED
    _write([f"{change.path}: {done if change.changes else 'nothing to change'}", *change.diff().splitlines()])
    if not known.uninstall:
        _write(
            [
                f"written for {harness.title} {harness.written_for}, by {harness.documentation} of {harness.read_on}",
                f"if the hook dies: {harness.if_it_dies}",
            ]
        )
    return PASSED


def _daemon(known: Namespace) -> int:
    from guardrail.daemon.server import AlreadyRunning, serve

    try:
        serve(idle_seconds=known.idle_minutes * 60)
    except AlreadyRunning as error:
        raise Fault(str(error)) from None
    return PASSED


# --- commands for a person in a terminal ---


def _policy(known: Namespace) -> int:
    from guardrail.hooks.trust import is_trusted
    from guardrail.user_policy import user_policy_schema

    if known.schema:
        _write_json(user_policy_schema())
        return PASSED
    path = _policy_path(known.path)
    source, policy = _read_policy(path)
    allowing = sum(rule.decision == "allow" for rule in policy.rules)
    trusted = is_trusted(path, source)
    text = f"{path} has {len(policy.rules)} rules, {allowing} of which allow"
    if allowing:
        text += " and count" if trusted else f"; they count after `{known.program} trust`"
    return _report(
        known, text, path=str(path), rules=len(policy.rules), allowing=allowing, digest=policy.digest, trusted=trusted
    )


def _trust(known: Namespace) -> int:
    from guardrail.hooks.trust import is_trusted, trust

    path = _policy_path(known.path)
    source, policy = _read_policy(path)
    allowing = sum(rule.decision == "allow" for rule in policy.rules)
    if is_trusted(path, source):
        return _report(known, f"{path} is already trusted", path=str(path), digest=policy.digest, trusted=True)
    _require_terminal("trust")
    _write(
        [
            *(_printable(line) for line in source.decode("utf-8").splitlines()),
            "",
            f"{path} has {len(policy.rules)} rules, {allowing} of which allow. Digest {policy.digest}",
        ]
    )
    if not _confirmed("Let the rows that allow count, as long as the file stays unchanged? Type yes: "):
        raise Fault("nothing is trusted")
    trust(path, source)
    if not is_trusted(path, source):
        raise Fault(
            "trust would be stored inside this work tree, where it doesn't count; set XDG_CONFIG_HOME elsewhere"
        )
    return _report(known, f"{path} is trusted", path=str(path), digest=policy.digest, trusted=True)


def _read_policy(path: Path) -> tuple[bytes, UserPolicy]:
    from guardrail.hooks.trust import read_policy
    from guardrail.policy_file import PolicyInvalid
    from guardrail.user_policy import load_user_policy

    try:
        source = read_policy(path)
        return source, load_user_policy(source, str(path), trusted=True)
    except OSError as error:
        raise Fault(f"{path} can't be read: {error.strerror}") from None
    except PolicyInvalid as error:
        raise Fault(str(error)) from None


def _printable(line: str) -> str:
    """Returns the line without control characters, which could hide part of the question from the person."""
    return "".join(
        char if char.isprintable() else " " if char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in line
    )


def _policy_path(given: str | None) -> Path:
    from pathlib import Path

    from guardrail.hooks.facts import surroundings
    from guardrail.hooks.trust import POLICY_NAME

    path = Path(given or ".").absolute()
    if path.is_dir():
        root = surroundings(str(path), str(Path.home()))["workspace"].get("root")
        path = Path(root or path) / POLICY_NAME
    if path.name != POLICY_NAME:
        raise Fault(f"a policy file is called {POLICY_NAME}")
    return path


def _allow_once(known: Namespace) -> int:
    import time

    from guardrail.hooks.audit import audit_file, recent_objections
    from guardrail.hooks.once import LIFETIME, own_once

    _require_terminal("allow-once")
    once, now = own_once(), int(time.time())
    if known.code is not None:
        digest = once.allow(known.code, now)
        if digest is None:
            raise Fault("this code is unknown, used or older than five minutes")
        return _report(known, "this action may pass once within five minutes", digest=digest)
    found = list(recent_objections(audit_file(), now - LIFETIME))
    if not found:
        raise Fault("nothing was held back in the last five minutes")
    for line in found:
        shown = _printable(" ".join(str(line["action"]).split()))
        code = once.offer(str(line["digest"]), now)
        _write(
            [
                f"{code[:4]}-{code[4:]}  {line['decision']:<5} {shown}",
                _printable(f"           {line['cwd']}: {line['reason']}"),
            ]
        )
    _write(["", f"To let one of them pass once: {known.program} allow-once CODE"])
    return PASSED


def _require_terminal(command: str) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Fault(f"{command} is for a person in a terminal, and this is not one")


def _confirmed(question: str) -> bool:
    try:
        return input(question).strip().lower() == "yes"
    except EOFError:
        return False


def _report(known: Namespace, text: str, **members: Any) -> int:
    if known.json:
        _write_json(members)
    else:
        _write([text])
    return PASSED


# --- files ---


def _scan(known: Namespace) -> int:
    from pathlib import Path

    from guardrail.scan import plain_finding, sarif, scan, scannable
    from guardrail.vocabulary import Severity

    paths = [Path(path) for path in known.paths]
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise Fault(f"there is no file {missing}")
    guardrail = _guardrail()
    files = list(scannable(paths))
    findings = [finding for file in files for finding in scan(file, guardrail, Severity(known.severity))]
    if known.sarif:
        _write_json(sarif(findings, guardrail.ruleset_version))
    elif known.json:
        _write_json({"files": len(files), "findings": [plain_finding(finding) for finding in findings]})
    else:
        for finding in findings:
            word = "blocks" if finding.blocks else "notes"
            _write([f"{finding.path}:{finding.line}: {word} {finding.rule} ({finding.severity}): {finding.reason}"])
        blocking = sum(finding.blocks for finding in findings)
        _write([f"{len(files)} files, {len(findings)} findings, {blocking} of which block"])
    return BLOCKED if any(finding.blocks for finding in findings) else PASSED


def _lint(known: Namespace) -> int:
    from pathlib import Path

    from guardrail.catalogue.lint import lint
    from guardrail.catalogue.loader import PROGRAMS
    from guardrail.policy import POLICY_FILE

    paths = [Path(file) for file in known.files] or [*sorted(PROGRAMS.glob("*.yaml")), *_existing(POLICY_FILE)]
    if not paths:
        raise Fault("this installation has the catalogue compiled; name the files to check")
    policies = [path for path in paths if path.name == POLICY_FILE.name]
    try:
        faults = [str(fault) for fault in lint(path for path in paths if path not in policies)]
        faults += [fault for path in policies for fault in _policy_faults(path)]
    except OSError as error:
        raise Fault(f"{error.filename} can't be read: {error.strerror}") from None
    if known.json:
        _write_json({"files": len(paths), "faults": faults})
    else:
        _write([*faults, f"{len(paths)} files, {len(faults)} faults"])
    return FAULT if faults else PASSED


def _existing(file: Path) -> list[Path]:
    return [file] if file.is_file() else []


def _policy_faults(file: Path) -> list[str]:
    """Returns the first mistake of a file of the guardrail's own policy, if it has one."""
    from guardrail.policy_file import PolicyInvalid, plain_policy

    try:
        plain_policy(file.read_text("utf-8"), file.name)
    except PolicyInvalid as invalid:
        return [str(invalid)]
    return []


# --- output ---


def _write(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n".encode("utf-8", "replace").decode("utf-8"))


def _write_json(value: Any) -> None:
    import json

    sys.stdout.write(json.dumps(value, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
