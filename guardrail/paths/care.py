"""Judges by a path why its content deserves care: secrets, personal data, what the system runs on."""

# ruff: noqa: S108 (directories are named here, none is used)

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from guardrail.paths.spelling import is_inside, spelled
from guardrail.paths.writes import consequence_of_write
from guardrail.record import record
from guardrail.vocabulary import Sensitivity


@record
class Care:
    """The reason for which a path deserves care."""

    sensitivity: Sensitivity
    reason: str


def _secret(reason: str) -> Care:
    return Care(Sensitivity.SECRET, reason)


_NO_CARE = Care(Sensitivity.NONE, "")
NAMES: Mapping[str, Care] = {
    **dict.fromkeys(
        (".env", ".envrc", ".flaskenv", "secrets.env", "production.env", ".env.vault", ".env.keys"),
        _secret("environment with secrets"),
    ),
    **dict.fromkeys(
        ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity.asc"),
        _secret("private key of SSH"),
    ),
    **dict.fromkeys(
        (".netrc", "_netrc", ".git-credentials", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf"),
        _secret("stored passwords"),
    ),
    **dict.fromkeys(
        (".htpasswd", "passwd.master", "master.passwd", "unattend.xml", "sysprep.inf", ".s3cfg", ".boto"),
        _secret("stored passwords"),
    ),
    **dict.fromkeys(
        ("sitemanager.xml", "recentservers.xml", "winscp.ini", "ultravnc.ini", "vnc.ini", "ws_ftp.ini", "confcons.xml"),
        _secret("stored passwords"),
    ),
    **dict.fromkeys(
        (".npmrc", ".pypirc", ".yarnrc.yml", ".gem/credentials", ".terraformrc", ".vault-token", ".dockercfg"),
        _secret("token of a registry or service"),
    ),
    **dict.fromkeys(
        (".dockerconfigjson", "credentials.tfrc.json", "hosts.yml", ".cargo/credentials", ".rediscli_auth"),
        _secret("token of a registry or service"),
    ),
    **dict.fromkeys(
        ("credentials", "credentials.json", "credentials.xml", "credentials.yml", "credentials.yaml"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("credentials.db", "access_tokens.db", "application_default_credentials.json", "credentials.toml"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("credentials.csv", "rootkey.csv", "accesskeys.csv", "client_secret.json", "client_secrets.json"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("service-account.json", "service_account.json", "serviceaccount.json", "gcp-key.json", "sa-key.json"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "secrets.ini", "secret.yaml", "secrets.txt"),
        _secret("secrets"),
    ),
    **dict.fromkeys(
        ("secret.json", "secrets", ".secrets", "master.key", "secret_key", "secret.key", "passwords.txt"),
        _secret("secrets"),
    ),
    **dict.fromkeys(
        ("passwords", "password.txt", "passwords.csv", "tokens.json", "token.json", "api_keys.txt", "auth.json"),
        _secret("secrets"),
    ),
    **dict.fromkeys(
        ("terraform.tfstate", "terraform.tfstate.backup", "terraform.tfvars", "vault.json", "vault_pass"),
        _secret("secrets of an infrastructure"),
    ),
    **dict.fromkeys(
        (".vault_pass", ".vault_pass.txt", "kubeconfig", "admin.conf", ".kubeconfig", "adminsdk.json"),
        _secret("secrets of an infrastructure"),
    ),
    **dict.fromkeys(
        ("wallet.dat", "keystore.json", "mnemonic.txt", "seed.txt", "seed-phrase.txt", "wallet.json", "id.json"),
        _secret("keys of a wallet"),
    ),
    **dict.fromkeys(
        ("default_wallet", "keypair.json", "validator-keypair.json", ".mnemonic", "priv_validator_key.json"),
        _secret("keys of a wallet"),
    ),
    **dict.fromkeys(
        ("login data", "cookies", "cookies.sqlite", "logins.json", "key4.db", "key3.db", "web data"),
        _secret("passwords and sessions of a browser"),
    ),
    **dict.fromkeys(
        ("login.keychain", "login.keychain-db", "system.keychain", "ntds.dit", "krb5.keytab", "cookies.binarycookies"),
        _secret("passwords of the system"),
    ),
    **dict.fromkeys(
        (".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history"),
        _secret("commands that were typed, often with secrets"),
    ),
    **dict.fromkeys(
        (".rediscli_history", ".irb_history", "consolehost_history.txt", "fish_history"),
        _secret("commands that were typed, often with secrets"),
    ),
}
SUFFIXES: Mapping[str, Care] = {
    **dict.fromkeys(
        (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".p8", ".pkcs12", ".keytab"),
        _secret("private key"),
    ),
    **dict.fromkeys((".kdbx", ".kdb", ".agilekeychain", ".opvault", ".1pux", ".psafe3"), _secret("vault of passwords")),
    **dict.fromkeys((".tfstate", ".tfvars", ".ovpn", ".mobileprovision"), _secret("secrets of an infrastructure")),
    **dict.fromkeys((".mbox", ".pst", ".ost", ".eml", ".vcf"), Care(Sensitivity.PERSONAL, "mail and contacts")),
}
NOT_SECRET_SUFFIXES = (
    *(".example", ".sample", ".template", ".dist", ".tmpl", ".tpl", ".pub", ".md", ".schema", ".enc", ".gpg", ".age"),
    *(".sops", ".d.ts", ".py", ".ts", ".js", ".go", ".rb", ".rs", ".java", ".html", ".css", ".j2", ".erb", ".defaults"),
    *(
        ".pem.pub",
        ".cert.pem",
        ".crt.pem",
        "ca.pem",
        "cacert.pem",
        "cert.pem",
        "chain.pem",
        "fullchain.pem",
        "public.pem",
    ),
    *("public.key", "pubkey.pem", "pub.pem", "ca-bundle.pem", "public_key.pem", "dhparam.pem", "public-key.pem"),
)
ENV_WITHOUT_SECRETS = frozenset(("example", "sample", "template", "dist", "defaults", "schema", "tmpl", "ci", "test"))
DIRECTORIES: Mapping[str, Care] = {
    ".ssh": _secret("keys of SSH"),
    ".gnupg": _secret("keys of GnuPG"),
    ".aws": _secret("credentials of a cloud"),
    ".azure": _secret("credentials of a cloud"),
    ".oci": _secret("credentials of a cloud"),
    ".bluemix": _secret("credentials of a cloud"),
    ".kube": _secret("credentials of clusters"),
    ".password-store": _secret("vault of passwords"),
    "keychains": _secret("passwords of the system"),
    "keyrings": _secret("passwords of the system"),
    ".electrum": _secret("keys of a wallet"),
    ".bitcoin": _secret("keys of a wallet"),
    ".ethereum": _secret("keys of a wallet"),
    ".solana": _secret("keys of a wallet"),
    ".monero": _secret("keys of a wallet"),
    ".bitmonero": _secret("keys of a wallet"),
    ".exodus": _secret("keys of a wallet"),
    "exodus.wallet": _secret("keys of a wallet"),
    ".thunderbird": Care(Sensitivity.PERSONAL, "mail"),
    "maildir": Care(Sensitivity.PERSONAL, "mail"),
}
FRAGMENTS: tuple[tuple[str, Care], ...] = (
    ("/etc/shadow", _secret("passwords of the system")),
    ("/etc/gshadow", _secret("passwords of the system")),
    ("/etc/master.passwd", _secret("passwords of the system")),
    ("/etc/security/opasswd", _secret("passwords of the system")),
    ("/etc/ssl/private", _secret("private key")),
    ("/etc/letsencrypt/live", _secret("private key")),
    ("/etc/letsencrypt/archive", _secret("private key")),
    ("/etc/kubernetes/pki", _secret("credentials of clusters")),
    ("/etc/kubernetes/admin.conf", _secret("credentials of clusters")),
    ("/etc/rancher/k3s/k3s.yaml", _secret("credentials of clusters")),
    ("/var/run/secrets", _secret("credentials of a pod")),
    ("/run/secrets", _secret("credentials of a container")),
    ("/etc/openvpn", _secret("keys of a network")),
    ("/etc/wireguard", _secret("keys of a network")),
    ("networkmanager/system-connections", _secret("keys of a network")),
    ("/etc/ipsec.secrets", _secret("keys of a network")),
    ("/etc/ppp/chap-secrets", _secret("keys of a network")),
    ("/environ", _secret("environment of a process")),
    ("/mem", _secret("memory of a process")),
    ("windows/system32/config/sam", _secret("passwords of the system")),
    ("windows/system32/config/security", _secret("passwords of the system")),
    ("windows/system32/config/system", _secret("passwords of the system")),
    ("var/db/dslocal/nodes/default/users", _secret("passwords of the system")),
    ("application support/com.apple.tcc/tcc.db", Care(Sensitivity.SYSTEM, "what programs may see and control")),
    ("windows/repair/sam", _secret("passwords of the system")),
    ("hklm/sam", _secret("passwords of the system")),
    ("hklm/security", _secret("passwords of the system")),
    ("microsoft/credentials", _secret("passwords of the system")),
    ("microsoft/protect", _secret("passwords of the system")),
    ("microsoft/vault", _secret("passwords of the system")),
    ("library/keychains", _secret("passwords of the system")),
    ("/proc/kcore", _secret("memory of the system")),
    ("/etc/mysql/debian.cnf", _secret("stored passwords")),
    ("/etc/samba/smbpasswd", _secret("stored passwords")),
    (".config/gcloud", _secret("credentials of a cloud")),
    (".config/gh", _secret("token of a registry or service")),
    (".config/glab", _secret("token of a registry or service")),
    (".config/hub", _secret("token of a registry or service")),
    (".config/doctl", _secret("credentials of a cloud")),
    (".config/op", _secret("vault of passwords")),
    (".config/solana", _secret("keys of a wallet")),
    (".config/rclone", _secret("credentials of a cloud")),
    (".config/sops/age", _secret("private key")),
    (".config/google-chrome", _secret("passwords and sessions of a browser")),
    (".config/chromium", _secret("passwords and sessions of a browser")),
    (".config/bravesoftware", _secret("passwords and sessions of a browser")),
    (".config/microsoft-edge", _secret("passwords and sessions of a browser")),
    (".mozilla/firefox", _secret("passwords and sessions of a browser")),
    ("firefox/profiles", _secret("passwords and sessions of a browser")),
    ("google/chrome", _secret("passwords and sessions of a browser")),
    ("chrome/user data", _secret("passwords and sessions of a browser")),
    ("edge/user data", _secret("passwords and sessions of a browser")),
    (".docker/config.json", _secret("token of a registry or service")),
    (".gem/credentials", _secret("token of a registry or service")),
    (".cargo/credentials", _secret("token of a registry or service")),
    (".m2/settings.xml", _secret("token of a registry or service")),
    (".gradle/gradle.properties", _secret("token of a registry or service")),
    (".composer/auth.json", _secret("token of a registry or service")),
    (".codex/auth.json", _secret("token of an agent")),
    (".claude/.credentials.json", _secret("token of an agent")),
    (".gemini/oauth_creds.json", _secret("token of an agent")),
    ("signal/sql", Care(Sensitivity.PERSONAL, "messages")),
    ("library/messages", Care(Sensitivity.PERSONAL, "messages")),
    ("library/mail", Care(Sensitivity.PERSONAL, "mail")),
    ("/var/mail", Care(Sensitivity.PERSONAL, "mail")),
    ("/var/spool/mail", Care(Sensitivity.PERSONAL, "mail")),
    ("application support/addressbook", Care(Sensitivity.PERSONAL, "contacts")),
    ("library/calendars", Care(Sensitivity.PERSONAL, "calendar")),
)
METADATA_HOSTS = (
    *("169.254.169.254", "169.254.170.2", "metadata.google.internal", "100.100.100.200", "[fd00:ec2::254]"),
    *("metadata.azure.com", "metadata.azure.internal", "192.0.0.192", "metadata.packet.net", "metadata.tencentyun.com"),
)
PUBLIC_CERTIFICATES = (
    "/etc/ssl/certs",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/etc/pki/ca-trust",
)
NOT_SECRET_IN: Mapping[str, frozenset[str]] = {
    ".ssh": frozenset(("known_hosts", "known_hosts.old", "config", "config.d")),
    ".aws": frozenset(("config", "cli")),
    ".gnupg": frozenset(("pubring.kbx", "gpg.conf", "gpg-agent.conf", "dirmngr.conf")),
    ".kube": frozenset(("cache", "http-cache")),
}


def sensitivity_of(text: str, os: str | None = None) -> Sensitivity:
    """Returns the reason for which the path deserves care, as one word."""
    return care_of(text, os).sensitivity


def care_of(text: str, os: str | None = None) -> Care:
    r"""Returns the reason for which the path deserves care, also in words. `os` only determines whether `\`
    separates."""
    return _care_of(text.replace("\\", "/") if os == "windows" else text)


@lru_cache(maxsize=2_048)
def _care_of(text: str) -> Care:
    if any(host in text for host in METADATA_HOSTS):
        return _secret("credentials that a cloud gives to its machines")
    if "://" in text[:12] and not text.startswith("file://"):
        return _NO_CARE
    path = spelled(text)
    name = path.rpartition("/")[2]
    on_a_device = path.startswith("/dev/") and not path.startswith("/dev/shm/")
    if not on_a_device and (secret := _secret_of(path, name)) is not None:
        return secret
    if consequence_of_write(text) is not None:
        return Care(Sensitivity.SYSTEM, consequence_of_write(text).reason)  # type: ignore[union-attr]
    return _NO_CARE


_OF_PROCESS = re.compile(r"/proc/[^/]+/(?:environ|mem)$")


def _secret_of(path: str, name: str) -> Care | None:
    if name.endswith(NOT_SECRET_SUFFIXES) and name not in NAMES:
        return None
    if any(is_inside(path, certificates) for certificates in PUBLIC_CERTIFICATES) or path.startswith("/etc/skel/"):
        return None
    found = NAMES.get(name)
    if found is not None:
        return found if name != "hosts.yml" or ".config/" in path else None
    if name.startswith(".env.") or name in (".env*", ".env.*", ".env?*"):
        kind = name[5:].partition(".")[0]
        return NAMES[".env"] if kind not in ENV_WITHOUT_SECRETS else None
    if name.startswith("id_") and (name.startswith(("id_rsa", "id_ed25519", "id_ecdsa", "id_dsa")) or name == "id_*"):
        return NAMES["id_rsa"]
    dot = name.rfind(".")
    if dot >= 0 and (found := SUFFIXES.get(name[dot:])) is not None:
        return found
    parts = path.split("/")
    for at, part in enumerate(parts):
        found = DIRECTORIES.get(part)
        if found is not None:
            inside = parts[at + 1] if at + 1 < len(parts) else ""
            harmless = inside in NOT_SECRET_IN.get(part, ()) or inside.startswith("authorized_keys")
            return None if harmless else found
    slashed = path if path.startswith(("/", "~")) else f"/{path}"
    for fragment, care in FRAGMENTS:
        if fragment in slashed:
            if fragment in ("/environ", "/mem") and not _OF_PROCESS.match(slashed):
                continue
            return care
    return None
