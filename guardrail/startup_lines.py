"""Recognises harmless lines in a shell's startup file: they add a program directory to the path, set a variable, define
a short name for a command or start a known tool's completion, and run nothing else."""

from __future__ import annotations

import re

MOST_LINES = 40

_PATHS = re.compile(r"""(?:export\s+)?PATH=["']?[^"'`;|&<>()]*["']?(?:\s*;?\s*export\s+PATH)?|export\s+PATH""")
_DIRECTORY = re.compile(
    r"(?:\$\{?HOME\}?|~|/usr/local|/opt|/usr/lib|/usr/share|/home/linuxbrew|/snap"
    r"|\$\{?[A-Z]+_?(?:HOME|ROOT|DIR|PATH|INSTALL)\}?)(?:/[\w.+-]+)*/?"
    r"|\$\{?PATH\}?|/usr/s?bin|/s?bin"
)
_EXPORT = re.compile(r"""(?:export\s+)?([A-Z][A-Z0-9_]*)=(?:"[^"`;|&<>()]*"|'[^'`;|&<>()]*'|[\w./:@%+,$={}~-]*)""")
_ALIAS = re.compile(r"""alias\s+([\w.:-]+)=(?:"([^"]*)"|'([^']*)'|([\w.-]+))""")
_PLAIN_COMMAND = re.compile(r"[a-z][\w.-]*(?: [\w./=:@%+,~-]+)*")
_TOOLS = (
    r"(?:/(?:opt/homebrew|usr/local|home/linuxbrew/\.linuxbrew)/bin/)?"
    r"(?:brew|direnv|pyenv|rbenv|nodenv|goenv|jenv|starship|zoxide|fnm|mise|rtx|asdf|thefuck|mcfly|atuin|fzf|kubectl|helm"
    r"|gh|docker|pip|uv|uvx|poetry|rustup|npm|register-python-argcomplete)"
)
_STARTS_TOOL = re.compile(
    rf"""(?:eval|source|\.)\s+["']?(?:\$\(|<\()\s*{_TOOLS}(?: [\w./=-]+)*\s*\)["']?"""
    r"""|\[ -s ["']?\$\{?NVM_DIR\}?/[\w.]+["']? \] && \\?\.\s+["']?\$\{?NVM_DIR\}?/[\w.]+["']?"""
    r"""|(?:source|\.)\s+["']?\$HOME/\.cargo/env["']?"""
)
_SETTING = re.compile(
    r"set -o \w+|shopt -s \w+(?: \w+)*|setopt \w+(?: \w+)*|autoload [\w -]+|compinit|umask 0?[0-7]{3}"
)
_STEERS = re.compile(
    r"LD_|DYLD_|HIST|BASH_ENV$|ENV$|IFS$|PROMPT_COMMAND$|PS[0-9]$|PYTHON(?:PATH|STARTUP|HOME)$|NODE_OPTIONS$|NODE_TLS"
    r"|PERL|RUBY|GIT_|SSH_|SSL_|CURL_|REQUESTS_|SHELLOPTS$|BASHOPTS$|.*_PROXY$|.*(?:INDEX|REGISTRY|MIRROR)_URL$"
)
"""Variables that run, load or hide something."""
_EVERYDAY = re.compile(
    r"sudo|su|doas|ssh|scp|sftp|ls|cd|pwd|cp|mv|rm|cat|less|more|grep|find|ps|top|kill|"
    r"git|gh|curl|wget|sh|bash|zsh|env|echo|python|pip|python3|pip3|node|npm|npx|docker|"
    r"kubectl|terraform|aws|gcloud|az|make|vim|vi|nano|code|tar|man|which|exit|passwd|chmod|"
    r"chown|mount|apt|apt-get|yum|dnf|brew|systemctl|journalctl|history|crontab|gpg|openssl"
)
"""Commands that people type without thinking, so that an alias of one would change what they do."""
_DESTROYS_OR_FETCHES = re.compile(
    r"rm|dd|mkfs|shred|sudo|curl|wget|nc|ncat|sh|bash|zsh|eval|exec|python|python3|perl|ruby|"
    r"node|ssh"
)


def only_set_up(text: str) -> bool:
    """Decides whether every line only configures the shell."""
    lines = [line.strip() for line in text.split("\n")]
    return len(lines) <= MOST_LINES and any(lines) and all(_only_sets_up(line) for line in lines)


def _only_sets_up(line: str) -> bool:
    if not line or line.startswith("#"):
        return True
    if _PATHS.fullmatch(line):
        directories = line.partition("=")[2].split(";")[0].strip(" \"'").split(":")
        return all(directory == "" or _DIRECTORY.fullmatch(directory) for directory in directories if directory) and (
            "=" not in line or "" not in directories
        )
    named = _EXPORT.fullmatch(line)
    if named:
        return named[1] != "PATH" and _STEERS.match(named[1]) is None
    alias = _ALIAS.fullmatch(line)
    if alias:
        command = alias[2] or alias[3] or alias[4] or ""
        first = command.partition(" ")[0]
        return (
            (first == alias[1] or _EVERYDAY.fullmatch(alias[1]) is None)
            and _DESTROYS_OR_FETCHES.fullmatch(first) is None
            and _PLAIN_COMMAND.fullmatch(command) is not None
        )
    return (_STARTS_TOOL.fullmatch(line) or _SETTING.fullmatch(line)) is not None
