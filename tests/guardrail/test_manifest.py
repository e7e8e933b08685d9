"""Kubernetes manifests: the settings that give a container rights on the machine or its files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrail.manifest import effects_of_manifest


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "web", "image": "nginx", **(container or {})}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": containers, **spec}}


def settings(document: dict[str, Any]) -> list[str]:
    return [effect.detail.get("setting", effect.kind.value) for effect in effects_of_manifest([document])]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (pod(), []),
        (pod({"securityContext": {"privileged": True}}), ["privileged"]),
        (pod({"securityContext": {"privileged": False}}), []),
        (pod({"securityContext": {"allowPrivilegeEscalation": True}}), ["allow_privilege_escalation"]),
        (pod({"securityContext": {"capabilities": {"add": ["SYS_ADMIN", "CHOWN"]}}}), ["added_capability"]),
        (pod({"securityContext": {"capabilities": {"drop": ["ALL"]}}}), []),
        (pod({"securityContext": {"runAsUser": 0}}), ["run_as_root"]),
        (pod({"securityContext": {"runAsUser": False}}), []),
        (pod({"ports": [{"hostPort": 80}]}), ["host_port"]),
        (pod({"ports": [{"containerPort": 80}]}), []),
        (pod(hostNetwork=True, hostPID=True), ["host_namespace", "host_namespace"]),
        (pod(volumes=[{"name": "root", "hostPath": {"path": "/"}}]), ["host_path"]),
        (pod(volumes=[{"name": "data", "emptyDir": {}}]), []),
        (
            pod(
                {"volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}]},
                volumes=[{"name": "data", "hostPath": {"path": "/data/x"}}],
            ),
            ["host_path_read_only"],
        ),
        (
            pod(
                {"volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}]},
                volumes=[{"name": "data", "hostPath": {"path": "/etc"}}],
            ),
            ["host_path"],
        ),
        (pod(securityContext={"seccompProfile": {"type": "Unconfined"}}), ["unconfined"]),
        (
            {
                "kind": "Deployment",
                "spec": {"template": {"spec": pod({"securityContext": {"privileged": True}})["spec"]}},
            },
            ["privileged"],
        ),
        (
            {
                "kind": "CronJob",
                "spec": {"jobTemplate": {"spec": {"template": {"spec": {"hostIPC": True, "containers": []}}}}},
            },
            ["host_namespace"],
        ),
        ({"kind": "List", "items": [pod(hostNetwork=True)]}, ["host_namespace"]),
        ({"kind": "ClusterRoleBinding", "roleRef": {"name": "cluster-admin"}, "subjects": []}, ["grant"]),
        (
            {"kind": "ClusterRoleBinding", "roleRef": {"name": "view"}, "subjects": [{"name": "system:anonymous"}]},
            ["grant"],
        ),
        ({"kind": "RoleBinding", "roleRef": {"name": "view"}, "subjects": [{"name": "anna"}]}, []),
    ],
)
def test_settings_that_reach_the_machine_are_effects(document: dict[str, Any], expected: list[str]) -> None:
    assert settings(document) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["spec", "containers", "items", "template", "securityContext", "volumes", "hostPath", "kind"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["spec", "items", "kind", "metadata"]), JSON))
def test_no_object_makes_reading_fail(document: dict[str, Any]) -> None:
    effects_of_manifest([document])
