"""Dagster's launcher, whose package is in a separate environment, accepts the configuration for Kubernetes."""

from __future__ import annotations

import pytest
from data_tools import run_with

from pipelines.partition_workers.instance import KUBERNETES

PACKAGES = ("dagster==1.13.27", "dagster-k8s==0.29.27", "dagster-postgres==0.29.27")

CHECK = """
import os, sys, yaml
os.environ["WORKERS_IMAGE"] = "registry.example/svc:1"
from dagster._config import process_config, resolve_to_config_type
from dagster_k8s import K8sRunLauncher
config = yaml.safe_load(open(sys.argv[1]))
launcher = config["run_launcher"]
assert (launcher["module"], launcher["class"]) == ("dagster_k8s", "K8sRunLauncher")
checked = process_config(resolve_to_config_type(K8sRunLauncher.config_type()), launcher["config"])
assert checked.success, checked.errors
print(checked.value["job_image"], checked.value["job_namespace"])
"""


@pytest.mark.web
def test_the_launcher_of_kubernetes_takes_its_configuration():
    assert run_with(PACKAGES, "-W", "ignore", "-c", CHECK, KUBERNETES) == "registry.example/svc:1 svc\n"
