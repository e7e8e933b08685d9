from pathlib import Path

import pytest
from pydantic import SecretStr

from cli.env_example import TARGET, render
from contracts.errors import SettingsInvalid
from contracts.settings import load_settings


def test_the_example_file_is_what_the_settings_say():
    assert TARGET.read_text() == render(), "run `make contracts`"


def test_an_unknown_name_is_refused_with_the_nearest_right_one():
    with pytest.raises(SettingsInvalid) as refused:
        load_settings({"SVC_RPC_URL": "http://127.0.0.1:1"})
    assert "SVC_RPC_URL is not a setting" in str(refused.value)
    assert "SVC_RPC_URLS" in str(refused.value)


def test_an_unknown_name_in_the_env_file_is_refused_with_the_nearest_right_one(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("SVC_RPC_URL=http://127.0.0.1:1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsInvalid, match=r"^SVC_RPC_URL is not a setting\. The nearest one is SVC_RPC_URLS\.$"):
        load_settings({})


def test_a_name_of_another_program_in_the_env_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("OTHER=1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsInvalid, match=r"^OTHER is not a setting\."):
        load_settings({})


@pytest.mark.parametrize("name", ["SVC_PORT", "svc_port"])
def test_the_environment_is_read_in_either_case_and_goes_before_the_env_file(tmp_path, monkeypatch, name):
    (tmp_path / ".env").write_text("SVC_PORT=8001\nSVC_HOST=127.0.0.2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, "8002")
    assert load_settings({}).listens_at == "127.0.0.2:8002"


def test_an_env_file_in_another_encoding_is_refused(tmp_path, monkeypatch):
    (tmp_path / ".env").write_bytes("SVC_CONTACT_EMAIL=jürg@svc.example\n".encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsInvalid, match=r"^`\.env` is not UTF-8\."):
        load_settings({})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('SVC_PORT="8001\n', 1),
        ("SVC_PORT='8001\n", 1),
        ('SVC_HOST=::1\n\n# The port\n\nSVC_PORT="8001\nSVC_DEMO=true\n', 5),
        ('SVC_PORT="80"01\n', 1),
        ("SVC_PORT: 8001\n", 1),
        ("SVC PORT=8001\n", 1),
        ("=8001\n", 1),
        ("SVC_DEMO=true\r\n\r\nSVC_PORT\r\n", 3),
        # A quote that is left open is closed by one on a later line.
        ('SVC_CONTACT_EMAIL="me@svc.example\nSVC_PORT=8001"\n', 1),
    ],
)
def test_a_line_of_the_env_file_that_sets_nothing_is_refused_by_its_number(tmp_path, monkeypatch, text, line):
    (tmp_path / ".env").write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsInvalid, match=rf"^Line {line} of `\.env` is not NAME=value on one line\."):
        load_settings({})


@pytest.mark.parametrize(
    "text",
    [
        "# A comment with \"a quote\n\n  export SVC_PORT = '8001'  # of the API\n",
        "\ufeffSVC_PORT=8001",
        "SVC_HOST=\nSVC_PORT=8000\nsvc_port=8001\n",
        'SVC_PORT="8001"\nSVC_MARKETPLACE_AGENT_ID="a \\" and\\na line"\n\n\n',
    ],
)
def test_a_readable_env_file_is_taken_as_it_is_and_of_a_name_given_twice_the_last_line(tmp_path, monkeypatch, text):
    (tmp_path / ".env").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert load_settings({}).port == 8001


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("SVC_PORT", "http", "it has to be a whole number"),
        ("SVC_PORT", "0", "it has to be 1 or more"),
        ("SVC_PORT", "1_000", "it has to be a whole number"),
        ("SVC_CONFIRMATIONS", "3.0", "it has to be a whole number"),
        ("SVC_BIDWALL_TRIGGER_WEI", "1e18", "it has to be a whole number"),
        ("SVC_HOST", "0.0.0.0,::", "it has to be one host name or IP address, without a port"),
        ("SVC_HOST", "http://0.0.0.0", "it has to be one host name or IP address, without a port"),
        ("SVC_HOST", "localhost:8000", "it has to be one host name or IP address, without a port"),
        ("SVC_DATA_DIR", "~nobody-here/d", "it begins with ~ and a name, but there is no such user"),
        ("SVC_DATA_DIR", "$HOME/d", "it begins with $, and .env replaces only names in braces, such as ${HOME}"),
        ("SVC_DEMO", "perhaps", "it has to be true or false"),
        ("SVC_LOG_FORMAT", "xml", "it has to be 'text' or 'json'"),
        ("SVC_TOKEN_ADDRESS", "0x12", "it has to match ^0x[0-9a-fA-F]{40}$"),
        (
            "SVC_TRUSTED_PROXIES",
            "127.0.0.1,10.0.0.0/33",
            "each is an address like 127.0.0.1, or a network like 10.0.0.0/8",
        ),
        ("SVC_APP_URL", "app", "an address is http:// or https://, a host, and a port from 1 to 65535 if any"),
    ],
)
def test_a_bad_value_is_answered_with_the_rule_that_it_breaks(monkeypatch, name, value, rule):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    assert refused.value.what == f"{name}: {rule}."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((f"SVC_{name}_URL", "https://x,https://y") for name in ("BASE", "APP", "ALERT", "OTLP", "COINBASE")),
        ("SVC_BASE_URL", "https://x.example/path|http://y.example"),
        ("SVC_PUBLISH_URL", "s3://one,s3://two"),
        ("SVC_LEDGER_URL", "postgresql+psycopg://one/svc,postgresql+psycopg://two/svc"),
        ("SVC_RPC_URLS", "http://a.example;http://b.example"),
        ("SVC_RPC_URLS", "http://a.example/v2/KEY;http://b.example/v2/KEY"),
        ("SVC_RPC_URLS", "http://a.example, http://b.example|http://c.example"),
    ],
)
def test_several_addresses_in_place_of_one_are_refused(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    rule = "it contains several addresses; only SVC_RPC_URLS takes several, separated by commas"
    assert refused.value.what == f"{name}: {rule}."


@pytest.mark.parametrize(
    "value", ["https://my_host:81/a,b;c", "https://jürg.example", "http://[::1]:8080", "http://[fe80::1%25eth0]"]
)
def test_an_unusual_address_is_taken(monkeypatch, value):
    monkeypatch.setenv("SVC_BASE_URL", value)
    assert load_settings().base_url == value


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("SVC_DEMO", "true", True),
        ("SVC_PORT", "8001", 8001),
        ("SVC_HOST", "svc.example", "svc.example"),
        ("SVC_DATA_DIR", "/tmp/x", Path("/tmp/x")),
        ("SVC_LOG_FORMAT", "json", "json"),
        ("SVC_BASE_URL", "https://svc.example/", "https://svc.example"),
        ("SVC_MASTER_SECRET", "m" * 32, SecretStr("m" * 32)),
        ("SVC_RPC_URLS", "http://127.0.0.1:1", ("http://127.0.0.1:1",)),
    ],
)
def test_spaces_around_a_value_are_ignored(tmp_path, monkeypatch, name, value, taken):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f'{name}="  {value} "\n')
    assert getattr(load_settings({}), name.removeprefix("SVC_").lower()) == taken
    monkeypatch.setenv(name, f"\t{value} ")
    assert getattr(load_settings(), name.removeprefix("SVC_").lower()) == taken


def test_a_value_of_spaces_is_unset_like_an_empty_one(monkeypatch):
    monkeypatch.setenv("SVC_HOST", "  ")
    monkeypatch.setenv("SVC_TOKEN_ADDRESS", " ")
    settings = load_settings()
    assert (settings.host, settings.token_address) == ("127.0.0.1", None)


@pytest.mark.parametrize("name", ["SVC_DATA_DIR", "SVC_SIGNING_KEY_FILE", "SVC_RELAYER_KEY_FILE", "SVC_TOKENS_FILE"])
def test_a_path_may_begin_with_the_home_directory(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/op")
    monkeypatch.setenv("SVC_PARTITION_BLOCKS", "50")
    monkeypatch.setenv("SVC_PUBLISH_URL", "s3://bucket")
    (tmp_path / ".env").write_text(f"{name}=~/d\n")
    assert getattr(load_settings({}), name.removeprefix("SVC_").lower()) == Path("/home/op/d")
    monkeypatch.setenv(name, "~")
    assert getattr(load_settings(), name.removeprefix("SVC_").lower()) == Path("/home/op")


@pytest.mark.parametrize("name", ["SVC_BASE_URL", "SVC_APP_URL"])
@pytest.mark.parametrize("value", ["https://svc.example/?a=b", "https://svc.example?", "https://svc.example/#top"])
def test_an_address_that_others_are_built_on_has_no_query_and_no_fragment(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid, match=f"{name}: .* no query and no fragment"):
        load_settings()


ADDRESSES = (
    "SVC_TOKEN_ADDRESS",
    "SVC_BIDWALL_ADDRESS",
    "SVC_USDC_ADDRESS",
    "SVC_TREASURY_ADDRESS",
    "SVC_TRUST_REGISTRY_ADDRESS",
    "SVC_ESCROW_ADDRESS",
    "SVC_CHAINLINK_FEED_ADDRESS",
    "SVC_SEQUENCER_FEED_ADDRESS",
    "SVC_POOL_ADDRESS",
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SVC_RATE_LIMIT_PER_MINUTE", 2**63),
        ("SVC_TRIAL_KEYS_PER_DAY", 2**63),
        ("SVC_BIDWALL_TRIGGER_WEI", 2**256),
        ("SVC_CHAIN_ID", 2**63),
        ("SVC_CONFIRMATIONS", 2**63),
        ("SVC_CLAIM_CONFIRMATIONS", 2**63),
        ("SVC_TOKEN_START_BLOCK", 2**63),
        ("SVC_SIGNATURE_ABOVE_USD", 2**63),
    ],
)
def test_a_number_that_no_store_could_hold_is_refused(monkeypatch, name, value):
    monkeypatch.setenv(name, str(value))
    with pytest.raises(SettingsInvalid, match=rf"^{name}: it has to be \d+ or less\."):
        load_settings()


@pytest.mark.parametrize("name", ADDRESSES)
def test_the_zero_address_is_refused_wherever_an_address_is_set(monkeypatch, name):
    monkeypatch.setenv(name, "0x0000000000000000000000000000000000000000")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    rule = "it is the zero address, where there is neither an owner nor a contract; correct or unset it"
    assert refused.value.what == f"{name}: {rule}."


@pytest.mark.parametrize(
    "value",
    [
        "0x174aFE7A032b5A33a3270a9f6C30746E25708533",  # its last digit
        "0x174afE7A032b5A33a3270a9f6C30746E25708532",  # one capital
    ],
)
@pytest.mark.parametrize("name", ADDRESSES)
def test_an_address_whose_capitals_contradict_its_checksum_is_refused_as_mistyped(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    rule = "its capital letters contradict its other characters (EIP-55), so it is mistyped: copy it"
    assert refused.value.what == f"{name}: {rule}."


@pytest.mark.parametrize("name", ["SVC_BASE_URL", "SVC_APP_URL"])
@pytest.mark.parametrize("value", ["https://user:pw@svc.example", "https://user@svc.example", "https://@svc.example"])
def test_an_address_that_is_published_has_no_user_and_no_password(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    assert refused.value.what == f"{name}: this address is published, so it has no user and no password."


@pytest.mark.parametrize(
    "value",
    [
        "https://app.example/path",
        "https://app.example/?a=b",
        "https://app.example:443",
        "http://app.example:80",
        "https://user:pw@app.example",
        "https://app.example, app.example",
        "https://*.example",
        "*",
        "null",
    ],
)
def test_an_origin_that_no_browser_sends_is_refused(monkeypatch, value):
    monkeypatch.setenv("SVC_ALLOWED_ORIGINS", value)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    rule = "each is an origin like https://app.example, without a path, and without :443 or :80"
    assert refused.value.what == f"SVC_ALLOWED_ORIGINS: {rule}."


def test_origins_of_pages_and_of_extensions_are_taken(monkeypatch):
    value = "https://App.example/, http://127.0.0.1:3100, http://[::1]:8080, chrome-extension://abcdef"
    monkeypatch.setenv("SVC_ALLOWED_ORIGINS", value)
    assert load_settings().allowed_origins == tuple(value.split(", "))


@pytest.mark.parametrize(
    "value", ["nomail", "ops@svc", "@svc.example", "ops@svc.example, me@svc.example", "a b@c.example"]
)
def test_a_contact_that_is_no_address_of_mail_is_refused(monkeypatch, value):
    monkeypatch.setenv("SVC_CONTACT_EMAIL", value)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    assert refused.value.what == "SVC_CONTACT_EMAIL: it has to be an e-mail address like operator@svc.example."


@pytest.mark.parametrize("value", ["ops@svc.example", "jürg+ops@mail.svc.example"])
def test_an_address_of_mail_is_taken(monkeypatch, value):
    monkeypatch.setenv("SVC_CONTACT_EMAIL", value)
    assert load_settings().contact_email == value


@pytest.mark.parametrize("value", ["::1", "[::1]"])
def test_an_ipv6_host_is_in_brackets_in_addresses(monkeypatch, value):
    monkeypatch.setenv("SVC_HOST", value)
    assert load_settings().host == "::1"
    assert load_settings().public_base_url == "http://[::1]:8000"


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("SVC_TOKENS_FILE", "tokens.yaml", "SVC_PARTITION_BLOCKS"),
        ("SVC_PARTITION_BLOCKS", "50", "SVC_PUBLISH_URL"),
        ("SVC_WORKERS_URL", "postgresql+psycopg2://127.0.0.1/w", "SVC_PARTITION_BLOCKS"),
    ],
)
def test_a_setting_that_needs_another_is_refused_with_the_name_of_the_other(monkeypatch, name, value, needed):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid, match=f"{name} does nothing without {needed}"):
        load_settings()


def test_a_bad_value_is_named_but_not_repeated(monkeypatch):
    monkeypatch.setenv("SVC_PORT", "65536000")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings()
    assert "SVC_PORT: it has to be 65535 or less." in str(refused.value)
    assert "65536000" not in str(refused.value)


def test_lists_are_comma_separated(monkeypatch):
    monkeypatch.setenv("SVC_RPC_URLS", "http://127.0.0.1:1, http://127.0.0.1:2,")
    assert load_settings().rpc_urls == ("http://127.0.0.1:1", "http://127.0.0.1:2")


def test_the_base_url_defaults_to_where_the_api_listens(monkeypatch):
    monkeypatch.setenv("SVC_PORT", "8100")
    assert load_settings().public_base_url == "http://127.0.0.1:8100"
    monkeypatch.setenv("SVC_BASE_URL", "https://svc.example/")
    assert load_settings().public_base_url == "https://svc.example"


@pytest.mark.parametrize(
    "value",
    [
        "0x174aFE7A032b5A33a3270a9f6C30746E25708532",
        "0x174afe7a032b5a33a3270a9f6c30746e25708532",
        "0x174AFE7A032B5A33A3270A9F6C30746E25708532",
    ],
)
def test_addresses_are_accepted_with_or_without_checksum_and_stored_in_lower_case(monkeypatch, value):
    monkeypatch.setenv("SVC_TOKEN_ADDRESS", value)
    assert load_settings().token_address == "0x174afe7a032b5a33a3270a9f6c30746e25708532"


@pytest.mark.parametrize(
    "value",
    [
        "node.example",
        "wss://node.example",
        "http://",
        "http://[::1",
        "http://node:99999",
        "http://node:k3y",
        "http://a b",
        "http://a..b",
    ],
)
@pytest.mark.parametrize("name", ["SVC_RPC_URLS", "SVC_COINBASE_URL", "SVC_BASE_URL"])
def test_an_invalid_address_is_refused_without_repeating_it(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsInvalid, match=f"{name}: .*an address is http://") as refused:
        load_settings()
    assert value.removeprefix("http://") not in str(refused.value) or value == "http://"
