"""Reads Kubernetes manifests (the privileges and host files that their containers get) and access policies of AWS and
Google Cloud (who may do what according to their statements and bindings)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guardrail.model import Effect, Span, Target
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity

MAX_EFFECTS = 64
MAX_DEPTH = 12

_NOWHERE = Span(0, 0)
_ORDINARY_CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
        *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
"""Capabilities that any container has, according to the baseline of the Pod Security Standards."""

_SYSTEM_DIRECTORIES = frozenset(
    (
        *("", "bin", "boot", "dev", "etc", "home", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "tmp", "usr"),
        *("var", "Users", "private"),
    )
)
_HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")
_CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")
_EMBEDDED_POLICIES = ("Policy", "policy", "PolicyDocument", "AssumeRolePolicyDocument")
_PUBLIC_MEMBERS = frozenset(("allUsers", "allAuthenticatedUsers"))
_PUBLIC_SUBJECTS = frozenset(("system:anonymous", "system:unauthenticated", "system:authenticated"))


def effects_of_manifest(documents: Sequence[Mapping[str, Any]]) -> tuple[Effect, ...]:
    """Returns the effects of all objects, including those inside lists."""
    found: list[Effect] = []
    for document in documents:
        for effect in _effects_of_object(document, 0):
            if len(found) >= MAX_EFFECTS:
                return tuple(found)
            found.append(effect)
    return tuple(found)


def _effects_of_object(document: Mapping[str, Any], depth: int) -> Iterator[Effect]:
    if depth > MAX_DEPTH:
        return
    for item in _objects(document.get("items")):
        yield from _effects_of_object(item, depth + 1)
    for key in _EMBEDDED_POLICIES:
        if embedded := _embedded(document.get(key)):
            yield from _effects_of_object(embedded, depth + 1)
    for statement in _statements(document.get("Statement")):
        yield from _effects_of_statement(statement)
    for binding in _objects(document.get("bindings")):
        yield from _effects_of_members(binding)
    name = _text(_object(document.get("metadata")).get("name")) or "the manifest"
    if document.get("kind") in ("ClusterRoleBinding", "RoleBinding"):
        yield from _effects_of_binding(document, name)
    pod = _pod_of(_object(document.get("spec")), 0)
    if pod is not None:
        yield from _effects_of_pod(pod, name)


def _pod_of(spec: Mapping[str, Any], depth: int) -> Mapping[str, Any] | None:
    """Returns the pod that a spec describes: the spec itself, or the template of a workload or of a job's template."""
    if any(isinstance(spec.get(key), list) for key in _CONTAINER_LISTS):
        return spec
    if depth > 3:
        return None
    for key in ("template", "jobTemplate"):
        inner = _object(_object(spec.get(key)).get("spec"))
        if inner:
            return _pod_of(inner, depth + 1)
    return None


def _effects_of_pod(pod: Mapping[str, Any], name: str) -> Iterator[Effect]:
    for namespace in _HOST_NAMESPACES:
        if pod.get(namespace) is True:
            yield _escalation(name, "host_namespace")
    for volume in _objects(pod.get("volumes")):
        path = _text(_object(volume.get("hostPath")).get("path"))
        if path:
            setting = "host_path_read_only" if _only_reads(pod, _text(volume.get("name")), path) else "host_path"
            yield _escalation(name, setting, path)
    pod_security = _object(pod.get("securityContext"))
    for key in _CONTAINER_LISTS:
        for container in _objects(pod.get(key)):
            label = _text(container.get("name")) or name
            yield from _effects_of_container(container, pod_security, label)


def _only_reads(pod: Mapping[str, Any], volume: str, path: str) -> bool:
    """Decides whether all containers mount a directory of the machine read-only, and it is not a system directory."""
    if path.strip("/").partition("/")[0] in _SYSTEM_DIRECTORIES:
        return False
    mounts = [
        mount
        for key in _CONTAINER_LISTS
        for container in _objects(pod.get(key))
        for mount in _objects(container.get("volumeMounts"))
        if mount.get("name") == volume
    ]
    return bool(mounts) and all(mount.get("readOnly") is True for mount in mounts)


def _effects_of_container(container: Mapping[str, Any], pod_security: Mapping[str, Any], name: str) -> Iterator[Effect]:
    security = _object(container.get("securityContext"))
    if security.get("privileged") is True:
        yield _escalation(name, "privileged")
    if security.get("allowPrivilegeEscalation") is True:
        yield _escalation(name, "allow_privilege_escalation")
    added = _object(security.get("capabilities")).get("add")
    for capability in added if isinstance(added, list) else ():
        if _text(capability).upper().removeprefix("CAP_") not in _ORDINARY_CAPABILITIES:
            yield _escalation(name, "added_capability", _text(capability))
    for holder in (security, pod_security):
        profiles = (
            _object(holder.get("seccompProfile")).get("type"),
            _object(holder.get("appArmorProfile")).get("type"),
        )
        if "Unconfined" in profiles or security.get("procMount") == "Unmasked":
            yield _escalation(name, "unconfined")
            break
    for port in _objects(container.get("ports")):
        if isinstance(port.get("hostPort"), int) and port["hostPort"]:
            yield _escalation(name, "host_port")
    user = security.get("runAsUser", pod_security.get("runAsUser"))
    if user == 0 and not isinstance(user, bool):
        yield _escalation(name, "run_as_root")


def _effects_of_binding(document: Mapping[str, Any], name: str) -> Iterator[Effect]:
    role = _text(_object(document.get("roleRef")).get("name"))
    subjects = {_text(subject.get("name")) for subject in _objects(document.get("subjects"))}
    if role == "cluster-admin" or subjects & _PUBLIC_SUBJECTS:
        yield Effect(
            EffectKind.GRANT,
            ObjectKind.PERMISSION,
            _NOWHERE,
            "manifest",
            (Target(role or name, Place.REMOTE, Sensitivity.SYSTEM),),
            Scope.ALL,
            Reversible.YES,
        )


def _embedded(value: Any) -> Mapping[str, Any]:
    """Returns the policy in an attribute, which may be an object or JSON text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return _object(value)


def _statements(value: Any) -> list[Mapping[str, Any]]:
    return [value] if isinstance(value, Mapping) else _objects(value)


def _effects_of_statement(statement: Mapping[str, Any]) -> Iterator[Effect]:
    if statement.get("Effect") != "Allow" or statement.get("Condition"):
        return  # a condition usually names the accounts or networks that are meant
    principal = statement.get("Principal")
    named = principal.values() if isinstance(principal, Mapping) else (principal,)
    if "*" in (text for value in named for text in _listed(value)):
        target = Target(", ".join(map(_text, _listed(statement.get("Resource")))) or "the resource", Place.REMOTE)
        yield Effect(
            EffectKind.EXPOSE,
            ObjectKind.RESOURCE,
            _NOWHERE,
            "policy",
            (target,),
            detail={"says": "lets anybody use it"},
        )
    elif principal is None and "*" in _listed(statement.get("Action")) and "*" in _listed(statement.get("Resource")):
        yield Effect(
            EffectKind.ESCALATE,
            ObjectKind.PERMISSION,
            _NOWHERE,
            "policy",
            (Target("the policy", Place.REMOTE),),
            detail={"says": "gives an administrator's rights"},
        )


def _effects_of_members(binding: Mapping[str, Any]) -> Iterator[Effect]:
    """Yields the effect of a binding of Google Cloud that names everybody."""
    members = {_text(member) for member in _listed(binding.get("members"))}
    if binding.get("condition") is None and members & _PUBLIC_MEMBERS:
        yield Effect(
            EffectKind.EXPOSE,
            ObjectKind.RESOURCE,
            _NOWHERE,
            "policy",
            (Target(_text(binding.get("role")) or "the resource", Place.REMOTE),),
            detail={"says": "lets anybody use it"},
        )


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else (value,)


def _escalation(name: str, setting: str, value: str = "") -> Effect:
    detail = {"setting": setting, **({"value": value} if value else {})}
    return Effect(
        EffectKind.ESCALATE,
        ObjectKind.CONTAINER,
        _NOWHERE,
        "manifest",
        (Target(name, Place.REMOTE),),
        detail=detail,
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
