"""Judges names of programs and options on their own, without a catalogue entry."""

from __future__ import annotations

from guardrail.catalogue.entries import Program
from guardrail.catalogue.loader import Catalogue
from guardrail.circumstances import is_break_in
from guardrail.paths.care import care_of
from guardrail.vocabulary import EffectKind, Sensitivity

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "busybox"))
CARES = frozenset((Sensitivity.SECRET, Sensitivity.PERSONAL))
"""Sensitivities of content that only its owner should read."""
WRITES = frozenset((EffectKind.WRITE, EffectKind.OVERWRITE))
MONIKERS = ("script:", "scriptlet:", "javascript:", "vbscript:", "ms-its:", "mk:@msitstore:")
"""Prefixes by which Windows treats an address as a script to run."""
DESTRUCTIVE_VERBS = frozenset(
    ("delete", "destroy", "purge", "drop", "wipe", "erase", "terminate", "nuke", "obliterate")
)
LONGEST_NAME = 60


def entry_of(catalogue: Catalogue, name: str) -> Program | None:
    """Returns the program's catalogue entry, also for a name with a version or with a suffix or prefix of the
    shell."""
    found = catalogue.program(name)
    if found is not None:
        return found
    prefix, colon, rest = name.partition(":")
    if colon:
        if prefix not in ("ps", "cmd"):
            parts = rest.split(".")
            endings = (".".join(parts[at:]) for at in range(max(len(parts) - 3, 0), len(parts)))
            spelled = (catalogue.program(f"{prefix}:*.{ending}") for ending in endings)
            return next((found for found in spelled if found is not None), None)
        rest = rest.lower()
        member = rest.rpartition("::" if "::" in rest else ".")[2]
        spellings = (f"{prefix}:{rest}", f"{prefix}:*.{member}", rest)
        return next((found for spelling in spellings if (found := catalogue.program(spelling)) is not None), None)
    for suffix in (".cmd", ".bat"):
        if name.endswith(suffix):
            return catalogue.program(name.removesuffix(suffix))
    shorter = name.rstrip("0123456789.-")
    return catalogue.program(shorter) if shorter and shorter != name else None


def program_name(path: str) -> str:
    """Returns the catalogue's name for a program file."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower().removesuffix(".exe")


def shortened(name: str) -> str:
    """Returns a name as a reason shows it."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def destroys(word: str) -> bool:
    """Decides whether a word of a command line is a destructive verb, by itself or as in `delete-job` and
    `repo-delete`."""
    first, _, rest = word.lower().replace("_", "-").partition("-")
    return first in DESTRUCTIVE_VERBS or rest.rpartition("-")[2] in DESTRUCTIVE_VERBS


def means_something_to_any_program(word: str) -> bool:
    """Decides whether a plain word has a meaning for any program: a shell, a secret's file, a destructive verb, an
    attack tool."""
    return (
        word in SHELLS
        or destroys(word)
        or is_break_in(word)
        or word.startswith(MONIKERS)
        or care_of(word).sensitivity in CARES
    )


def asks_for_a_key(option: str) -> bool:
    """Decides whether an option passes a program its own key, certificate or settings."""
    return option.startswith("--") and any(name in option for name in ("key", "cert", "tls", "ssl", "config", "env-"))
