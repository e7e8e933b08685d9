"""The effects of HTTP requests, by product and by method."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.catalogue import http
from guardrail.model import Span
from guardrail.vocabulary import EffectKind, Place, Reversible

SPAN = Span(0, 1)


def spelled(method: str, url: str, body: str | None = None) -> str:
    (effect,) = http.effects_of_request(method, url, {}, body, SPAN)
    return f"{effect.kind} {effect.object} {effect.scope} {effect.reversible}"


@pytest.mark.parametrize(
    ("method", "url", "body", "expected"),
    [
        ("DELETE", "https://es.example.com:9200/orders", None, "delete index one no"),
        ("DELETE", "localhost:9200/_all", None, "delete index all no"),
        ("DELETE", "http://localhost:9200/*", None, "delete index all no"),
        ("POST", "http://es:9200/orders/_search", '{"query": {}}', "read index one yes"),
        ("POST", "http://es:9200/orders/_delete_by_query", '{"query": {"match_all": {}}}', "delete rows all no"),
        ("GET", "http://es:9200/_cat/indices", None, "download resource one yes"),
        ("POST", "http://solr:8983/solr/core/update", "<delete><query>*:*</query></delete>", "delete rows all no"),
        ("DELETE", "http://rabbit:15672/api/queues/%2f/orders/contents", None, "delete queue all no"),
        ("DELETE", "https://api.github.com/repos/acme/shop", None, "delete repository all no"),
        ("POST", "https://api.github.com/repos/acme/shop/issues", "{}", "create issue one yes"),
        ("PATCH", "https://api.github.com/repos/acme/shop", '{"private": false}', "expose repository one yes"),
        ("PATCH", "https://api.github.com/repos/acme/shop", '{"description": "x"}', "alter resource one yes"),
        ("POST", "https://api.stripe.com/v1/refunds", "charge=ch_1", "pay payment one no"),
        ("GET", "https://api.stripe.com/v1/charges", None, "download resource one yes"),
        ("POST", "https://hooks.slack.com/services/T/B/x", "{}", "send message one no"),
        ("DELETE", "https://api.cloudflare.com/client/v4/zones/abc", None, "delete network all no"),
        (
            "PATCH",
            "https://api.cloudflare.com/client/v4/zones/abc/settings/waf",
            '{"value":"off"}',
            "disable network one yes",
        ),
        (
            "PATCH",
            "https://api.cloudflare.com/client/v4/zones/abc/settings/waf",
            '{"value":"on"}',
            "alter network one yes",
        ),
        ("PUT", "https://gitlab.acme.com/api/v4/projects/118", "visibility=public", "expose repository one yes"),
        ("PUT", "https://gitlab.acme.com/api/v4/projects/118", "visibility=private", "overwrite resource one yes"),
        (
            "PUT",
            "https://vault.acme.com/v1/sys/policies/acl/default",
            '{"policy": "path \\"*\\" {}"}',
            "grant permission all yes",
        ),
        (
            "PUT",
            "https://vault.acme.com/v1/sys/policies/acl/app",
            '{"policy": "path \\"app/*\\" {}"}',
            "overwrite resource one yes",
        ),
        ("DELETE", ":8000/api/carts/1", None, "delete resource one yes"),
        ("DELETE", "/api/carts/1", None, "delete resource one no"),
        ("POST", "https://node.example.com", '{"method": "eth_sendRawTransaction"}', "pay payment one no"),
        ("POST", "https://node.example.com", '{"method": "eth_getBalance"}', "send resource one yes"),
        ("DELETE", "https://api.example.com/v1/users/7", None, "delete resource one no"),
        ("PUT", "https://api.example.com/v1/users/7", "{}", "overwrite resource one yes"),
        ("get", "https://user:secret@example.com/a#b", None, "download resource one yes"),
    ],
)
def test_a_request_has_the_effects_of_its_product(method: str, url: str, body: str | None, expected: str) -> None:
    assert spelled(method, url, body) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/iam/security-credentials/web",
        "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token",
        "169.254.169.254/latest/user-data",
    ],
)
def test_the_metadata_service_of_a_cloud_is_a_secret(url: str) -> None:
    (effect,) = http.effects_of_request("GET", url, {}, None, SPAN)
    assert (effect.kind, effect.targets[0].sensitivity) == (EffectKind.READ, "secret")


@pytest.mark.parametrize(
    ("method", "url", "body", "expected"),
    [
        ("DELETE", "https://k8s:6443/apis/apps/v1/namespaces/prod/deployments/web?dryRun=All", None, "download"),
        ("DELETE", "https://k8s:6443/api/v1/namespaces/prod?propagationPolicy=Foreground&dryRun=All", None, "download"),
        ("PATCH", "https://k8s:6443/api/v1/namespaces/prod?dryRun=All", "{}", "send"),
        ("DELETE", "https://api.example.com/v1/users/7?dry_run=true", None, "download"),
        ("DELETE", "https://api.example.com/v1/users/7?dryrun=1", None, "download"),
        ("PUT", "https://api.example.com/v1/users/7?dry-run=yes", "{}", "send"),
        ("DELETE", "https://compute.googleapis.com/v1/instances/7?validateOnly=true", None, "download"),
        ("DELETE", "https://api.example.com/v1/users/7?simulate=true", None, "download"),
        ("DELETE", "https://api.example.com/v1/users/7?dryRun=false", None, "delete"),
        ("DELETE", "https://api.example.com/v1/users/7?dry_run=true&dry_run=false", None, "delete"),
        ("DELETE", "https://api.example.com/v1/dryRun=All", None, "delete"),
        ("DELETE", "https://api.example.com/v1/users/7#?dry_run=true", None, "delete"),
        ("DELETE", "https://api.github.com/repos/acme/shop?dry_run=true", None, "delete"),
        ("POST", "https://api.stripe.com/v1/refunds?dry_run=true", "charge=ch_1", "pay"),
    ],
)
def test_a_dry_run_changes_nothing(method: str, url: str, body: str | None, expected: str) -> None:
    (effect,) = http.effects_of_request(method, url, {}, body, SPAN)
    assert effect.kind == expected


def test_a_server_on_this_machine_can_make_its_data_again() -> None:
    (here,) = http.effects_of_request("DELETE", "http://localhost:3000/api/todos/1", {}, None, SPAN)
    assert (here.targets[0].place, here.reversible) == (Place.UNKNOWN, Reversible.YES)


def test_a_file_url_is_read_as_a_file() -> None:
    (effect,) = http.effects_of_request("GET", "file:///etc/passwd", {}, None, SPAN)
    assert (effect.kind, effect.targets[0].text) == (EffectKind.READ, "/etc/passwd")


@pytest.mark.parametrize(
    "row",
    [
        "[{product: a, source: b, url: x, verb: GET, effects: []}]",
        "[{product: a, source: b, url: x, effects: [{kind: eat, object: path}]}]",
        "[{product: a, source: b, url: x, effects: [{kind: read, object: path, colour: red}]}]",
        "[{product: a, url: x, effects: []}]",
    ],
)
def test_a_row_with_a_mistake_is_refused(row: str) -> None:
    with pytest.raises(ValueError):
        http.plain_rows(row)


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(st.text(alphabet="htps:/[]@?#*.%0a1", max_size=60), st.sampled_from(["GET", "DELETE", "X"]))
def test_any_url_is_read_without_a_fault(url: str, method: str) -> None:
    http.effects_of_request(method, url, {}, None, SPAN)
