"""Reads the settings once, from `SVC_*` and `.env`; callers pass them on. Nothing else reads the environment."""

import difflib
import os
import platform
import re
from collections.abc import Collection, Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from dotenv.parser import Binding, parse_stream
from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from contracts.errors import SettingsInvalid

PREFIX = "SVC_"
ENV_FILE = Path(".env")


def _comma_separated(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


_HOST = re.compile(rb"[A-Za-z0-9._-]+|[0-9A-Fa-f:][0-9A-Fa-f:.]*(%.+)?")


def web_address(text: str) -> str:
    """Returns `text` if it is an http(s) URL. Raises `ValueError` without the text, which may contain a key."""
    try:
        parts = urlsplit(text)
        # A host that no resolver accepts, such as an empty label, is invalid too.
        host = (parts.hostname or "").encode("idna")
        named = parts.scheme in ("http", "https") and _HOST.fullmatch(host) is not None and parts.port != 0
    except ValueError:
        named = False
    if not named or any(character.isspace() for character in text):
        raise ValueError("an address is http:// or https://, a host, and a port from 1 to 65535 if any")
    return text


_ANOTHER_ADDRESS = re.compile(r"[,;|]\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def _one_address(text: str) -> str:
    """Returns `text` unless a second address follows in it. Raises `ValueError` without the text."""
    if _ANOTHER_ADDRESS.search(text):
        raise ValueError("it contains several addresses; only SVC_RPC_URLS takes several, separated by commas")
    return text


def _whole_number(value: Any) -> Any:
    """Returns `value`, or its number if it is text. Raises `ValueError` for `1_000` and `1.0`, which pydantic takes."""
    if not isinstance(value, str):
        return value
    if re.fullmatch(r"[+-]?[0-9]+", value) is None:
        raise ValueError("it has to be a whole number")
    return int(value)


def _expanded(path: Path) -> Path:
    """Returns a path with the home directory in place of a leading `~`, as a shell would pass it. Raises `ValueError`
    for a leading `$`, which a shell would have replaced too."""
    if str(path).startswith("$"):
        raise ValueError("it begins with $, and .env replaces only names in braces, such as ${HOME}")
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("it begins with ~ and a name, but there is no such user") from None


def _network(text: str) -> str:
    try:
        ip_network(text, strict=False)
    except ValueError:
        raise ValueError("each is an address like 127.0.0.1, or a network like 10.0.0.0/8") from None
    return text


def _no_trailing_slash(value: str) -> str:
    return value.rstrip("/")


def _nothing_after_path(value: str) -> str:
    """Returns the address of a service to which paths are appended. Raises `ValueError` for a query or a fragment."""
    if "?" in value or "#" in value:
        raise ValueError("paths are appended to this address, so it has no query and no fragment")
    return value


def _no_credentials(value: str) -> str:
    """Returns an address that is published. Raises `ValueError` without the text, which contains a password."""
    if "@" in urlsplit(value).netloc:
        raise ValueError("this address is published, so it has no user and no password")
    return value


_ORIGIN = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?/?"
)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def _origin(text: str) -> str:
    """Returns `text` if a browser can send it as its Origin: `https://app.example`, `chrome-extension://abc`.

    With a path, `*`, or the scheme's default port, it would match no page.
    """
    parts = _ORIGIN.fullmatch(text.lower())
    if parts is None or (parts["port"] is not None and parts["port"] == _DEFAULT_PORTS.get(parts["scheme"])):
        raise ValueError("each is an origin like https://app.example, without a path, and without :443 or :80")
    return text


_MAILBOX = re.compile(r"[^@\s<>()\[\],;:\\\"]+@([^@\s<>()\[\],;:\\\"./]+\.)+[^@\s<>()\[\],;:\\\"./]+")


def _mailbox(text: str) -> str:
    if _MAILBOX.fullmatch(text) is None:
        raise ValueError("it has to be an e-mail address like operator@svc.example")
    return text


def _listening_host(text: str) -> str:
    """Returns a host name or an IP address without its brackets. Raises `ValueError` for a list or a URL."""
    host = text.removeprefix("[").removesuffix("]")
    try:
        if ":" in host or re.fullmatch(r"[\w.-]+", host) is None:
            ip_address(host)
    except ValueError:
        raise ValueError("it has to be one host name or IP address, without a port") from None
    return host


def _address(text: str) -> str:
    """Returns an address in lower case. Raises `ValueError` for a mistyped one, and for the zero address.

    Mixed case is a checksum of the other characters (EIP-55), which reveals a wrong digit. An address entirely in lower
    or in upper case has no checksum and is accepted unchecked.
    """
    digits, lower = text[2:], text.lower()
    if int(digits, 16) == 0:
        raise ValueError("it is the zero address, where there is neither an owner nor a contract; correct or unset it")
    if digits not in (digits.lower(), digits.upper()):
        from contracts.evm.codec import checksum_address  # most processes do not need it

        if checksum_address(lower) != text:
            raise ValueError("its capital letters contradict its other characters (EIP-55), so it is mistyped: copy it")
    return lower


Origins = Annotated[tuple[Annotated[str, AfterValidator(_origin)], ...], NoDecode, BeforeValidator(_comma_separated)]
Networks = Annotated[tuple[Annotated[str, AfterValidator(_network)], ...], NoDecode, BeforeValidator(_comma_separated)]
WholeNumber = Annotated[int, BeforeValidator(_whole_number)]
FilePath = Annotated[Path, AfterValidator(_expanded)]
StoreAddress = Annotated[str, AfterValidator(_one_address)]
WebAddress = Annotated[StoreAddress, AfterValidator(web_address)]
WebAddresses = Annotated[tuple[WebAddress, ...], NoDecode, BeforeValidator(_comma_separated)]
Url = Annotated[WebAddress, AfterValidator(_no_trailing_slash)]
ServiceUrl = Annotated[Url, AfterValidator(_nothing_after_path), AfterValidator(_no_credentials)]
Address = Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{40}$"), AfterValidator(_address)]

_ETH_PRICE: dict[str, JsonValue] = {"gives": "eth_price"}
_TOKEN_PRICE: dict[str, JsonValue] = {"gives": "token_price"}
"""Mark settings of which any one turns a capability on."""


class Settings(BaseSettings):
    """One field for each `SVC_` name. A feature whose setting is unset is off, and the documents report that."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        extra="forbid",
        frozen=True,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    base_url: ServiceUrl | None = Field(
        default=None,
        description="The public address of this service; default http://HOST:PORT. Published documents contain it",
    )
    app_url: ServiceUrl | None = Field(default=None, description="The companion web application")
    host: Annotated[str, AfterValidator(_listening_host)] = Field(
        default="127.0.0.1", description="Address on which the API listens"
    )
    host_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")] | None = Field(
        default=None, description="Name of this host in /health; default the machine's name"
    )
    drain_seconds: WholeNumber = Field(
        default=0,
        ge=0,
        le=300,
        description="Seconds of 503 in /health before SIGTERM stops the service, so that load balancers drop it",
    )
    port: WholeNumber = Field(default=8000, ge=1, le=65535, description="Port of the API")
    dagster_port: WholeNumber = Field(
        default=3000, ge=1, le=65535, description="Port of Dagster's web server, on 127.0.0.1"
    )
    data_dir: FilePath = Field(default=Path("var"), description="Directory of warehouse, ledger and generations")
    ledger_url: StoreAddress | None = Field(
        default=None,
        description="postgresql+psycopg://..., with MASTER_SECRET and SIGNING_KEY_FILE; default is SQLite in DATA_DIR",
    )
    rpc_urls: WebAddresses = Field(
        default=(),
        description="JSON-RPC addresses, comma-separated; unset = the demo chain. One suffices; several are compared",
    )
    demo: bool = Field(default=False, description="True on the demo's local chain. The demo sets it, and pages show it")
    chain_id: WholeNumber = Field(
        default=8453, ge=1, le=2**63 - 1, description="EIP-155 chain id; RPC nodes of another chain are refused"
    )
    confirmations: WholeNumber | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="Blocks below head that count as final if the node has no `finalized` tag",
    )
    claim_confirmations: WholeNumber | None = Field(
        default=None, ge=0, le=1_000_000, description="Confirmations for a paid claim; default CONFIRMATIONS"
    )
    token_address: Address | None = Field(default=None, description="The ERC-20 service token")
    token_start_block: WholeNumber = Field(
        default=0,
        ge=0,
        le=2**63 - 1,
        description="First block to read; the token's deployment block saves reading empty ranges",
    )
    bidwall_address: Address | None = Field(default=None, description="Contract whose balance the service reports")
    bidwall_trigger_wei: WholeNumber | None = Field(
        default=None, ge=1, le=2**256 - 1, description="Balance in wei at which the contract triggers"
    )
    usdc_address: Address | None = Field(default=None, description="USDC on this chain, 6 decimals")
    treasury_address: Address | None = Field(default=None, description="Address that receives payments")
    trust_registry_address: Address | None = Field(default=None, description="Trust registry contract")
    escrow_address: Address | None = Field(default=None, description="Escrow contract")
    chainlink_feed_address: Address | None = Field(
        default=None, description="Chainlink ETH/USD feed", json_schema_extra=_ETH_PRICE
    )
    sequencer_feed_address: Address | None = Field(default=None, description="Chainlink sequencer uptime feed")
    coinbase_url: Url | None = Field(default=None, description="https://api.coinbase.com", json_schema_extra=_ETH_PRICE)
    dexscreener_url: Url | None = Field(
        default=None, description="https://api.dexscreener.com", json_schema_extra=_TOKEN_PRICE
    )
    geckoterminal_url: Url | None = Field(
        default=None, description="https://api.geckoterminal.com/api/v2", json_schema_extra=_TOKEN_PRICE
    )
    pool_address: Address | None = Field(
        default=None,
        description="On-chain pool of the token, like Uniswap's v2 or v3, against USDC or wrapped ether: the last "
        "price source, also for days before the first observed price",
        json_schema_extra=_TOKEN_PRICE,
    )
    blockscout_url: Url | None = Field(
        default=None, description="Origin of a Blockscout instance, for the holder-count discrepancy"
    )
    partner_url: Url | None = Field(default=None, description="Partner snapshot source")
    partner_api_key: SecretStr | None = Field(
        default=None, description="Credential for the partner; never leaves the server"
    )
    marketplace_url: Url | None = Field(default=None, description="Marketplace metrics source")
    marketplace_agent_id: str | None = Field(default=None, description="Our agent's id at the marketplace")
    rate_limit_per_minute: WholeNumber = Field(
        default=20, ge=0, le=1_000_000, description="API requests per minute and client address; 0 = no limit"
    )
    trial_keys_per_day: WholeNumber = Field(
        default=100,
        ge=0,
        le=1_000_000,
        description="Trial keys issued per UTC day for a signature, without a payment; 0 = none",
    )
    trusted_proxies: Networks = Field(
        default=(), description="Addresses or networks whose forwarding headers are trusted, comma-separated"
    )
    allowed_origins: Origins = Field(default=(), description="Browser origins allowed on /mcp, comma-separated")
    handoff_secret: SecretStr | None = Field(
        default=None, description="Signs hand-off requests to the companion application"
    )
    master_secret: SecretStr | None = Field(
        default=None,
        description="Root of derived secrets; generated in DATA_DIR when unset, required with LEDGER_URL",
    )
    signing_key_file: FilePath | None = Field(
        default=None,
        description="Ed25519 key of documents and receipts; generated in DATA_DIR when unset, required with LEDGER_URL",
    )
    relayer_key_file: FilePath | None = Field(
        default=None,
        description="Key of the address that sends signed payments (x402) and pays their gas; unset = none accepted",
    )
    signature_above_usd: WholeNumber | None = Field(
        default=None, ge=0, le=2**63 - 1, description="Payer proof is required above this amount"
    )
    contact_email: Annotated[str, AfterValidator(_mailbox)] | None = Field(
        default=None, description="E-mail address published in discovery documents"
    )
    alert_url: WebAddress | None = Field(
        default=None, description="Receives a POST of JSON when a pipeline job starts to fail, and when it recovers"
    )
    publish_url: Annotated[StoreAddress, Field(pattern=r"^(s3|gs|az|file)://.")] | None = Field(
        default=None,
        description="Object store for every generation, for API hosts elsewhere: s3://BUCKET/PREFIX, file:///DIR",
    )
    otlp_url: Url | None = Field(
        default=None,
        description="OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318, for traces and metrics",
    )
    partition_blocks: WholeNumber | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Ingestion with workers: blocks per partition; workers read partitions and PUBLISH_URL stores them",
    )
    workers_url: Annotated[StoreAddress, Field(pattern=r"^postgresql\+psycopg2://.")] | None = Field(
        default=None, description="postgresql+psycopg2://... for Dagster's records, which the ingestion workers share"
    )
    tokens_file: FilePath | None = Field(
        default=None,
        description="Further tokens, read with the partitions: YAML, a list of address, first_block",
    )
    log_format: Literal["text", "json"] = Field(default="text", description="Log lines for people or for machines")

    @model_validator(mode="before")
    @classmethod
    def _stripped(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Returns the values without surrounding spaces. A value of spaces only is unset, like an empty one."""
        stripped = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
        return {name: value for name, value in stripped.items() if value != ""}

    @property
    def public_base_url(self) -> str:
        """Returns `BASE_URL`, or the address that the API listens on, without a trailing slash."""
        return self.base_url or f"http://{self.listens_at}"

    @property
    def listens_at(self) -> str:
        """Returns the host and port of the API in URL form."""
        return authority(self.host, self.port)

    @property
    def installation_dir(self) -> Path:
        """Returns the directory of the service's lock and of the record of its processes.

        That is `DATA_DIR`, or its parent directory if it is the demo's.
        """
        in_demo = self.data_dir.name == "demo" and (self.demo or not self.rpc_urls)
        return self.data_dir.parent if in_demo else self.data_dir

    @property
    def host_named(self) -> str:
        """Returns `HOST_NAME`, or the name of the machine."""
        return self.host_name or platform.node()


def authority(host: str, port: int) -> str:
    """Returns host and port in URL form, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def settings_that_give(capability: str) -> tuple[str, ...]:
    """Returns the settings (`SVC_POOL_ADDRESS`) of which any one turns on a capability; empty for many capabilities."""
    fields = Settings.model_fields.items()
    return tuple(PREFIX + name.upper() for name, field in fields if field.json_schema_extra == {"gives": capability})


_NEEDS = {"tokens_file": "partition_blocks", "partition_blocks": "publish_url", "workers_url": "partition_blocks"}
"""Settings that have an effect only together with another one."""


_RULES = {
    "value_error": "{error}",
    "int_parsing": "it has to be a whole number",
    "bool_parsing": "it has to be true or false",
    "greater_than_equal": "it has to be {ge} or more",
    "less_than_equal": "it has to be {le} or less",
    "literal_error": "it has to be {expected}",
    "string_pattern_mismatch": "it has to match {pattern}",
}
"""pydantic's type of an error -> the rule that the value breaks."""


def _why(error: ErrorDetails) -> str:
    rule = _RULES.get(error["type"])
    return error["msg"] if rule is None else rule.format(**error.get("ctx", {}))


def _unknown(name: str, known: Collection[str]) -> SettingsInvalid:
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return SettingsInvalid(f"{name} is not a setting.", cure=f"The nearest one is {nearest[0]}.")


def _is_assignment(binding: Binding) -> bool:
    """Decides whether a statement is NAME=value on one line, or blank, or a comment."""
    if binding.key is None:
        return not binding.error
    return binding.value is not None and "\n" not in binding.original.string.strip()


def _check_lines(path: Path) -> None:
    """Raises `SettingsInvalid` for the first line of an env file that python-dotenv would misread.

    It drops such a line with a warning, or takes it for a part of the line before, so that its setting would be unset.
    A named pipe can be read only once, so its lines are not checked.
    """
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as lines:
        for binding in parse_stream(lines):
            if not _is_assignment(binding):
                text = binding.original.string
                blank_lines = text[: len(text) - len(text.lstrip())].count("\n")
                raise SettingsInvalid(
                    f"Line {binding.original.line + blank_lines} of `{path}` is not NAME=value on one line.",
                    cure="Complete it and close its quote, or put # before it.",
                )


def load_settings(environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Reads the settings. The environment overrides `.env`; if `.env` has a name twice, its last line counts.

    Raises `SettingsInvalid`, which names bad values (not their content), bad lines of `.env`, and the nearest known
    name.
    """
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name in sorted(os.environ if environ is None else environ):
        if name.startswith(PREFIX) and name not in known:
            raise _unknown(name, known)
    try:
        _check_lines(ENV_FILE)
        settings = Settings(**overrides)
    except UnicodeDecodeError:
        raise SettingsInvalid("`.env` is not UTF-8.", cure="Save it in that encoding.") from None
    except ValidationError as error:
        faults = [(str(fault["loc"][0]).upper(), fault) for fault in error.errors(include_input=False)]
        for name, fault in faults:
            if fault["type"] == "extra_forbidden":
                raise _unknown(name, known) from None
        lines = "; ".join(f"{PREFIX}{name.removeprefix(PREFIX)}: {_why(fault)}" for name, fault in faults)
        raise SettingsInvalid(f"{lines}.", cure="See .env.example for every name and its meaning.") from None
    for name, needed in _NEEDS.items():
        if getattr(settings, name) is not None and getattr(settings, needed) is None:
            raise SettingsInvalid(
                f"{PREFIX}{name.upper()} does nothing without {PREFIX}{needed.upper()}.", cure="Set both, or neither."
            )
    return settings
