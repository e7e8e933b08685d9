"""The words that mean something to the shell itself."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """Returns the words between blanks."""
    return frozenset(text.split())


# Builtins that change nothing outside the shell. Their changes of variables and the directory are followed here.
SILENT = words_of(
    "true false : test [ [[ cd pushd popd dirs break continue return exit shift read mapfile readarray getopts "
    "let wait local declare typeset readonly type hash times jobs bg fg caller shopt alias unalias trap disown"
)
KEYWORDS = words_of("if then elif else fi for while until do done case esac in select function { } ( ) [[ ]] ! ;")
OWN_WORDS = (
    KEYWORDS | SILENT | words_of("eval exec command builtin nocorrect noglob time coproc set source export unset")
)
"""Words with a meaning for the shell itself, at the start of a command or in a construct."""
