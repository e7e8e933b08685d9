"""Reads YAML and JSON that a tool puts into effect: Kubernetes objects, Compose services, Ansible playbooks and tasks,
and access policies of clouds. Finds the commands in them, and what their containers and roles may do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from guardrail.manifest import effects_of_manifest
from guardrail.model import Reading, Span, Uncovered
from guardrail.reading.ci import Broken, Found, Node, changed, documents_of, moved_to, read_other
from guardrail.vocabulary import Language

MAX_VALUES = 20_000
MAX_COMMANDS = 500

_TEMPLATE = re.compile(r"(?<!\$)\{\{")
"""A template expression, which is rewritten as a workflow expression: the shell's reader knows that those are never
empty."""
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the commands that run and the rights that are granted once the text is applied."""
    whole = Span(offset, offset + len(text))
    found = Found(Language.MANIFEST)
    try:
        budget = _Budget()
        for document in documents_of(text):
            _read_document(_plain(document, budget), found, whole)
    except Broken:
        found.uncovered.append(Uncovered(whole, "more YAML than is read of one file", stopped=True))
    except (yaml.YAMLError, ValueError):
        found.uncovered.append(Uncovered(whole, "YAML that could not be read"))
    return found.reading()


class _Budget:
    """Counts values and commands, since a YAML alias repeats what it names."""

    def __init__(self) -> None:
        self.values = 0

    def take(self) -> None:
        """Counts one value."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise Broken


def _plain(node: Node, budget: _Budget) -> Any:
    """Returns a node's value with the types of JSON."""
    budget.take()
    if node.items is not None:
        return [_plain(item, budget) for item in node.items]
    if node.pairs is not None:
        return {key: _plain(value, budget) for key, value in node.pairs}
    if not node.style:  # a plain scalar; the two parsers of PyYAML spell that differently
        if node.value.lower() in _BOOLEANS:
            return _BOOLEANS[node.value.lower()]
        if node.value.isdecimal() and len(node.value) < 12:
            return int(node.value)
    return node.value


def _read_document(document: Any, found: Found, span: Span) -> None:
    if isinstance(document, list):
        for number, item in enumerate(document):
            if isinstance(item, Mapping):
                _read_play(item, found, span, number)
    elif isinstance(document, Mapping):
        if isinstance(document.get("services"), Mapping):
            objects: Sequence[Mapping[str, Any]] = [_pod_of_services(document["services"])]
        else:
            objects = [document]
        found.effects += [replace(effect, span=span) for effect in effects_of_manifest(objects)]
        for name, words in _commands(objects, 0):
            _add_command(found, words, span, f"pod:{name}")
        scripts = document.get("scripts")
        installing = [scripts.get(hook) for hook in _HOOKS] if isinstance(scripts, Mapping) else []
        for script in installing:
            if isinstance(script, str):
                _add_script(found, script, Language.BASH, span, None, elevated=False)


_HOOKS = ("preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare")
"""Scripts of a `package.json` that run when a package is installed."""


def _commands(value: Any, depth: int) -> Iterator[tuple[str, list[str]]]:
    """Yields the command of each container, with its arguments."""
    if depth > 20:
        raise Broken
    if isinstance(value, Mapping):
        command, arguments = value.get("command"), value.get("args")
        words = [
            str(word)
            for part in (command, arguments)
            for word in (part if isinstance(part, list) else [part] * bool(part))
        ]
        if words and ("image" in value or "name" in value):
            yield str(value.get("name", "container")), words
        exec_action = value.get("exec")
        if isinstance(exec_action, Mapping) and isinstance(exec_action.get("command"), list):
            yield "container", [str(word) for word in exec_action["command"]]
    children = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for child in children:
        yield from _commands(child, depth + 1)


def _pod_of_services(services: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns Compose services as the pod that has the same rights."""
    containers, host = [], dict[str, Any]()
    for name, service in services.items():
        if not isinstance(service, Mapping):
            continue
        added = service.get("cap_add")
        security = {
            "privileged": service.get("privileged"),
            "capabilities": {"add": added if isinstance(added, list) else []},
        }
        containers.append({"name": name, "image": "", "securityContext": security, "command": service.get("command")})
        if service.get("pid") == "host":
            host["hostPID"] = True
        mounted = [str(volume).partition(":")[0] for volume in service.get("volumes") or () if isinstance(volume, str)]
        if "/" in mounted:
            host["volumes"] = [{"name": "root", "hostPath": {"path": "/"}}]
    return {"kind": "Pod", "metadata": {"name": "services"}, "spec": {"containers": containers, **host}}


# --- Ansible ---------------------------------------------------------------------------------------------------------

_TASK_LISTS = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")
_SHELLS = {
    **dict.fromkeys(("shell", "command", "raw", "expect"), Language.BASH),
    **dict.fromkeys(("win_shell", "win_command"), Language.POWERSHELL),
}


def _read_play(play: Mapping[str, Any], found: Found, span: Span, depth: int) -> None:
    """Reads a play, a block or a task."""
    pending: list[tuple[Mapping[str, Any], str | None, bool]] = [(play, None, False)]
    while pending:
        item, host, elevated = pending.pop()
        if len(found.calls) > MAX_COMMANDS:
            raise Broken
        named = item.get("hosts")
        if isinstance(named, str):
            host = None if named in ("localhost", "127.0.0.1") else f"ssh:{named}"
        elevated = item.get("become", elevated) is True
        lists = [item[key] for key in _TASK_LISTS if isinstance(item.get(key), list)]
        tasks = [task for listed in lists for task in listed if isinstance(task, Mapping)]
        pending += [(task, host, elevated) for task in reversed(tasks)]
        if tasks:
            continue
        for name, arguments in item.items():
            module = name.rpartition(".")[2]
            if module in _SHELLS:
                script = arguments.get("cmd", arguments.get("argv")) if isinstance(arguments, Mapping) else arguments
                words = [str(word) for word in script] if isinstance(script, list) else None
                script = shlex.join(words) if words else str(script or "")
                _add_script(found, script, _SHELLS[module], span, host, elevated)
            elif module in _MODULES:
                for line in _lines_of_module(module, _fields(arguments)):
                    _add_script(found, shlex.join(line), Language.BASH, span, host, elevated)


def _fields(arguments: Any) -> Mapping[str, Any]:
    """Returns the arguments of a module, which may be written as `path=/x state=absent`."""
    if isinstance(arguments, Mapping):
        return arguments
    return dict(word.split("=", 1) for word in str(arguments).split() if "=" in word)


_MODULES = frozenset(
    (
        *(
            "file",
            "service",
            "systemd",
            "systemd_service",
            "user",
            "group",
            "get_url",
            "lineinfile",
            "copy",
            "blockinfile",
        ),
        *("mysql_db", "postgresql_db", "filesystem", "reboot", "iptables", "ufw", "selinux", "lvol"),
    )
)


def _lines_of_module(module: str, fields: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yields the commands that do what a module does."""
    name = str(fields.get("name", fields.get("db", "")))
    path = str(fields.get("path", fields.get("dest", "")))
    state = str(fields.get("state", ""))
    absent = state == "absent"
    match module:
        case "file" if absent and path:
            # As a rule, only a directory's name has no suffix.
            yield ["rm", "-f" if "." in path.rpartition("/")[2].lstrip(".") else "-rf", path]
        case "service" | "systemd" | "systemd_service":
            if state == "stopped":
                yield ["systemctl", "stop", name]
            if fields.get("enabled") is False or fields.get("masked") is True:
                yield ["systemctl", "disable", name]
        case "user" if absent:
            yield ["userdel", *(["-r"] if fields.get("remove") is True else []), name]
        case "group" if absent:
            yield ["groupdel", name]
        case "get_url":
            yield ["curl", "-o", path, str(fields.get("url", ""))]
        case "lineinfile" | "copy" | "blockinfile" if path:
            content = str(fields.get("line", fields.get("content", fields.get("block", ""))))
            # Spelled as a redirection, so that the shell's reader sees what is written where.
            yield [
                "sh",
                "-c",
                f"printf %s {shlex.quote(content)} {'>' if module == 'copy' else '>>'} {shlex.quote(path)}",
            ]
        case "mysql_db" | "postgresql_db" if absent:
            yield ["dropdb", name]
        case "filesystem":
            yield ["mkfs", str(fields.get("dev", fields.get("device", "")))]
        case "lvol" if absent:
            yield ["lvremove", "-f", name or "volume"]
        case "reboot":
            yield ["reboot"]
        case "iptables" if fields.get("flush") is True:
            yield ["iptables", "-F"]
        case "ufw" if state in ("disabled", "reset"):
            yield ["ufw", "disable"]
        case "selinux" if state in ("disabled", "permissive"):
            yield ["setenforce", "0"]


def _add_script(found: Found, script: str, language: Language, span: Span, host: str | None, elevated: bool) -> None:
    reading = moved_to(span, read_other(language, _TEMPLATE.sub("${{", script)))
    if elevated:
        reading = replace(reading, calls=tuple(changed(reading.calls, lambda call: replace(call, elevated=True))))
    found.add(reading, host=host)


def _add_command(found: Found, words: list[str], span: Span, host: str) -> None:
    if len(found.calls) > MAX_COMMANDS:
        raise Broken
    found.add(moved_to(span, read_other(Language.BASH, shlex.join(words))), host=host)


def is_manifest(text: str) -> bool:
    """Decides whether a text is YAML for Kubernetes, Compose or Ansible, by the keys that each of them requires."""
    if _OBJECT.search(text) and _KIND.search(text):
        return True
    if _SERVICES.search(text):
        return _SERVICE.search(text) is not None
    return _TASK.search(text) is not None and _STEP.search(text) is None


def is_access_policy(text: str) -> bool:
    """Decides whether a text is a policy of AWS or the bindings of Google Cloud, by the keys that they begin with."""
    if _POLICY.match(text) is not None:
        return _STATEMENT.search(text) is not None and _EFFECT.search(text) is not None
    return _BINDINGS.match(text) is not None and _MEMBERS.search(text) is not None


def is_package(text: str) -> bool:
    """Decides whether a text is a `package.json` with scripts that run when the package is installed."""
    return _PACKAGE.match(text) is not None and _HOOK.search(text) is not None and _OF_CALL.search(text) is None


_PACKAGE = re.compile(r'\s*\{\s*"(?:name|version|private|scripts|type|description)"\s*:')
_OF_CALL = re.compile(r'"(?:arguments|args|input|parameters|params|tool|function)"\s*:')
"""Members of a tool call as JSON, which may have a name and scripts too."""

_HOOK = re.compile(rf'"scripts"\s*:\s*\{{[^}}]{{0,20000}}"(?:{"|".join(_HOOKS)})"\s*:')
_POLICY = re.compile(r'\s*\{\s*"(?:Version|Id|Statement)"\s*:')
_STATEMENT = re.compile(r'"Statement"\s*:')
_EFFECT = re.compile(r'"Effect"\s*:\s*"(?:Allow|Deny)"')
_BINDINGS = re.compile(r'\s*(?:\{\s*"(?:bindings|etag|version|policy)"\s*:|(?:etag|version|bindings):)')
_MEMBERS = re.compile(r"(?m)\bmembers\b\"?\s*:")
_OBJECT = re.compile(r"(?m)^apiVersion:\s+\S")
_KIND = re.compile(r"(?m)^kind:\s+\S")
_SERVICES = re.compile(r"(?m)^services:\s*$")
_SERVICE = re.compile(r"(?m)^\s+(?:image|build|container_name):\s")
_STEP = re.compile(r"(?m)^\s+(?:- )?(?:run|uses|steps):(?:\s|$)")
_TASK = re.compile(
    r"(?m)^\s+(?:hosts|tasks|roles):\s|^\s+(?:[a-z_]+\.[a-z_]+\.)?(?:shell|command|file|service|systemd|apt|yum|dnf|copy|template"
    r"|lineinfile|debug|assert|include_tasks|import_tasks|set_fact|user|package|win_\w+):(?:\s|$)"
)
