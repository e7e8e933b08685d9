"""A path's spelling reveals where it is, how much it covers, and why it deserves care."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrail.facts import Facts, PathState, System, Workspace
from guardrail.paths.care import sensitivity_of
from guardrail.paths.places import place_of, scope_of
from guardrail.paths.spelling import is_nowhere, is_remote
from guardrail.paths.writes import consequence_of_write
from guardrail.vocabulary import EffectKind, Place, Scope, Sensitivity

NOTHING_KNOWN = Facts()
HOOK = Facts(
    os=System.LINUX,
    cwd="/home/ann/shop/web",
    home="/home/ann",
    workspace=Workspace(
        root="/home/ann/shop",
        paths={
            "out.bin": PathState.IGNORED,
            "web/dist": PathState.TRACKED,
            "web/src/a.py": PathState.DIRTY,
        },
    ),
)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("src/a.py", "workspace"),
        (".", "workspace"),
        ("./*", "workspace"),
        ("$PWD/src", "workspace"),
        ("$(pwd)/src", "workspace"),
        ("${GITHUB_WORKSPACE}/src", "workspace"),
        ('$(dirname "$0")/lib', "workspace"),
        ("/usr/src/app/lib", "workspace"),
        ("/home/runner/work/x/x/src", "workspace"),
        ("a/../src", "workspace"),
        ("../other", "unknown"),
        ("node_modules", "rebuildable"),
        ("./packages/*/node_modules", "rebuildable"),
        ("build/../src", "workspace"),
        ("dist/*", "rebuildable"),
        ("target/release", "rebuildable"),
        ("*.pyc", "rebuildable"),
        ("**/__pycache__", "rebuildable"),
        ("$DIR/node_modules", "rebuildable"),
        ("${BUILD_DIR}/x", "rebuildable"),
        ("~/shop/node_modules", "rebuildable"),
        ("~/.cache/pip", "rebuildable"),
        ("$HOME/.npm/_cacache", "rebuildable"),
        ("/root/.cache", "rebuildable"),
        ("/var/lib/apt/lists/*", "rebuildable"),
        ("/var/cache/apk/*", "rebuildable"),
        ("/tmp/x", "temporary"),
        ("/tmp/*", "temporary"),
        ("$TMPDIR/x", "temporary"),
        ("${TMPDIR:-/tmp}/x", "temporary"),
        ("$(mktemp -d)/x", "temporary"),
        ("`mktemp`", "temporary"),
        ("$tmp_dir/x", "temporary"),
        (r"%TEMP%\x", "temporary"),
        (r"$env:TEMP\x", "temporary"),
        (r"C:\Users\ann\AppData\Local\Temp\x", "temporary"),
        ("~", "home"),
        ("~/projects", "home"),
        ("$HOME/*", "home"),
        ("${HOME}/x", "home"),
        ("~bob/x", "home"),
        ("/home/bob", "home"),
        ("/Users/bob/Documents", "home"),
        ("/root", "home"),
        (r"C:\Users\bob", "home"),
        ("%USERPROFILE%", "home"),
        (r"$env:USERPROFILE\Documents", "home"),
        ("/mnt/data", "home"),
        ("/", "system"),
        ("/*", "system"),
        ("//", "system"),
        ("/./", "system"),
        ("/etc/../", "system"),
        ("/etc/passwd", "system"),
        ("/usr/local/lib/node_modules", "system"),
        ("/var/lib/postgresql", "system"),
        ("/dev/sda", "system"),
        ("C:\\", "system"),
        (r"C:\Windows\System32", "system"),
        ("%SystemRoot%", "system"),
        ("C:/Program Files/x", "system"),
        (r"HKLM\Software", "system"),
        ("$UNSET/x", "unknown"),
        ("$1", "unknown"),
        ("s3://bucket/x", "remote"),
        ("https://example.org/x", "remote"),
        ("db1:/var/lib", "remote"),
        ("ann@db1:backup", "remote"),
        (r"\\server\share", "remote"),
    ],
)
def test_a_path_has_a_place_though_nothing_else_is_known(text: str, place: str) -> None:
    assert place_of(text, NOTHING_KNOWN) == place


@pytest.mark.parametrize(
    ("text", "directory", "place"),
    [
        ("*", "/tmp", "temporary"),
        ("*", "/", "system"),
        ("x", "$(mktemp -d)", "temporary"),
        ("x", "$UNKNOWN", "unknown"),
        ("node_modules", "$UNKNOWN", "rebuildable"),
        ("..", "src", "workspace"),
        ("/etc/x", "src", "system"),
    ],
)
def test_an_earlier_change_of_directory_moves_relative_paths(text: str, directory: str, place: str) -> None:
    assert place_of(text, NOTHING_KNOWN, directory) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("src/a.py", "workspace"),
        ("..", "workspace"),
        ("../api", "workspace"),
        ("../..", "home"),
        ("../../other", "home"),
        ("/home/ann/shop/x", "workspace"),
        ("/home/ann/other", "home"),
        ("~/shop/x", "workspace"),
        ("../out.bin", "ignored"),
        ("dist", "workspace"),
        ("node_modules", "rebuildable"),
        ("/app/x", "unknown"),
    ],
)
def test_facts_of_the_hook_say_where_the_workspace_ends(text: str, place: str) -> None:
    assert place_of(text, HOOK) == place


@pytest.mark.parametrize(
    ("cwd", "place"),
    [
        ("/", "unknown"),
        ("/etc", "system"),
        ("/home/ann", "home"),
        ("/home/ann/shop", "workspace"),
        ("/tmp/x", "workspace"),
    ],
)
def test_work_in_a_system_or_home_directory_has_no_workspace(cwd: str, place: str) -> None:
    assert place_of("x", Facts(cwd=cwd)) == place


@pytest.mark.parametrize("cwd", ["/srv/app", "/opt/shop/api", "/var/www/site", "/usr/src/tool"])
def test_work_in_the_directory_of_an_application_is_work_on_it(cwd: str) -> None:
    assert place_of("src/a.py", Facts(cwd=cwd)) == "workspace"
    assert place_of("node_modules", Facts(cwd=cwd)) == "rebuildable"
    assert place_of("/etc/passwd", Facts(cwd=cwd)) == "system"
    assert place_of("../other", Facts(cwd=cwd)) == "system"


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("/", "all"),
        ("/*", "all"),
        ("~", "all"),
        ("~/*", "all"),
        ("$HOME/", "all"),
        ("/home/bob", "all"),
        ("/tmp", "all"),
        ("/tmp/*", "all"),
        (".", "all"),
        ("./*", "all"),
        ("*", "all"),
        ("/etc", "all"),
        ("C:\\", "all"),
        (r"C:\Users\bob\*", "all"),
        ("src/*", "many"),
        ("*.log", "many"),
        ("/tmp/x", "one"),
        ("src", "one"),
        ("~/x", "one"),
    ],
)
def test_a_path_covers_all_many_or_one(text: str, scope: str) -> None:
    assert scope_of(text, NOTHING_KNOWN) == scope


@pytest.mark.parametrize(
    ("text", "sensitivity"),
    [
        (".env", "secret"),
        ("config/.env.production", "secret"),
        (".env*", "secret"),
        (".env.example", "none"),
        ("src/environment.py", "none"),
        ("~/.ssh/id_rsa", "secret"),
        ("~/.ssh/id_rsa.pub", "none"),
        ("~/.ssh", "secret"),
        ("~/.ssh/config", "none"),
        ("~/.ssh/known_hosts", "none"),
        ("~/.ssh/*", "secret"),
        ("~/.aws/credentials", "secret"),
        ("~/.aws/config", "none"),
        ("/etc/shadow", "secret"),
        ("server.pem", "secret"),
        ("ca.pem", "none"),
        ("public.key", "none"),
        ("~/.kube/config", "secret"),
        ("~/.config/gh/hosts.yml", "secret"),
        ("/proc/self/environ", "secret"),
        ("~/.mozilla/firefox/x.default/logins.json", "secret"),
        ("~/Library/Application Support/Google/Chrome/Default/Cookies", "secret"),
        (r"C:\Windows\System32\config\SAM", "secret"),
        ("http://169.254.169.254/latest/meta-data/", "secret"),
        ("https://example.org/.env", "none"),
        ("terraform.tfstate", "secret"),
        ("~/.electrum/wallets/default_wallet", "secret"),
        ("vault.kdbx", "secret"),
        ("~/.bash_history", "secret"),
        ("/var/mail/ann", "personal"),
        ("inbox.mbox", "personal"),
        ("/etc/sudoers", "system"),
        ("/etc/cron.d/x", "system"),
        ("~/.bashrc", "system"),
        ("~/.ssh/authorized_keys", "system"),
        (".git/hooks/pre-commit", "system"),
        (".claude/settings.json", "system"),
        ("/etc/ld.so.preload", "system"),
        ("/etc/pam.d/sshd", "system"),
        ("README.md", "none"),
        ("src/credentials.py", "none"),
        ("tests/keys.py", "none"),
        ("/etc/hostname", "none"),
        ("token.py", "none"),
    ],
)
def test_a_path_deserves_care_by_what_it_holds(text: str, sensitivity: str) -> None:
    assert sensitivity_of(text) == sensitivity


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("~/.bashrc", "persist path"),
        ("/etc/cron.d/x", "persist scheduled_task"),
        ("/etc/systemd/system/x.service", "persist service"),
        ("/etc/sudoers.d/x", "grant permission"),
        ("~/.ssh/authorized_keys", "grant credential"),
        ("/etc/ld.so.preload", "inject process"),
        (".claude/settings.local.json", "configure guard"),
        (".git/hooks/pre-push", "persist repository"),
        ("/etc/hosts", "configure network"),
        ("/dev/sda1", "overwrite device"),
        ("/dev/null", None),
        ("src/hosts", None),
        ("notes.txt", None),
    ],
)
def test_a_write_to_some_paths_does_more(text: str, effect: str | None) -> None:
    found = consequence_of_write(text)
    assert (f"{found.kind} {found.object}" if found else None) == effect


@pytest.mark.parametrize(
    ("text", "nowhere"),
    [
        ("/dev/null", True),
        ("&1", True),
        ("2", True),
        ("/dev/stderr", True),
        ("NUL", True),
        ("x", False),
        ("/dev/sda", False),
    ],
)
def test_some_targets_discard_everything(text: str, nowhere: bool) -> None:
    assert is_nowhere(text) is nowhere


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        ("C:/x", False),
        ("a:b", False),
        ("x=1:/y", False),
        ("<(curl -s https://x)", False),
        ("host:/x", True),
        ("git@h:x/y", True),
    ],
)
def test_host_and_path_are_told_from_look_alikes(text: str, remote: bool) -> None:
    assert is_remote(text) is remote


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=40)))
def test_any_text_has_a_place_a_scope_and_a_sensitivity(text: str, directory: str | None) -> None:
    assert place_of(text, HOOK, directory) in Place
    assert scope_of(text, HOOK, directory) in Scope
    assert sensitivity_of(text) in Sensitivity
    found = consequence_of_write(text)
    assert found is None or found.kind in EffectKind


@given(st.text(alphabet="/.~$*{}()`ab-_:\\%\"' ", max_size=60))
def test_no_spelling_of_a_path_raises(text: str) -> None:
    assert place_of(text, NOTHING_KNOWN) in Place
    assert scope_of(text, NOTHING_KNOWN) in Scope


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("dist-cjs", Place.REBUILDABLE),
        ("tmp_check/", Place.REBUILDABLE),
        ("cmake-build-asan", Place.REBUILDABLE),
        ("build-scripts", Place.WORKSPACE),
        ("outreach", Place.WORKSPACE),
        ("/usr/lib/python3.11/json/__pycache__", Place.REBUILDABLE),
        ("/usr/lib/python3.11/json", Place.SYSTEM),
        ("~/.pyenv/versions/3.11.2", Place.REBUILDABLE),
        ("~/.pyenv", Place.HOME),
    ],
)
def test_names_say_what_is_built_or_compiled(text: str, place: Place) -> None:
    assert place_of(text, Facts()) is place


def test_certificates_that_everybody_reads_are_no_secret() -> None:
    assert sensitivity_of("/etc/ssl/certs/ssl-cert-snakeoil.pem") is Sensitivity.NONE
    assert sensitivity_of("/etc/ssl/private/ssl-cert-snakeoil.key") is Sensitivity.SECRET
