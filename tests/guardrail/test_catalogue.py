"""The catalogue's files are checked with file and line in errors, compiled into one, and read lazily."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardrail.catalogue.checking import check_source, part_is_spelled_right
from guardrail.catalogue.entries import beginnings
from guardrail.catalogue.lint import lint
from guardrail.catalogue.loader import PROGRAMS, Catalogue, CatalogueInvalid, load, plain_catalogue

RIGHT = b"""
- program: tidy
  aliases: [neat]
  source: https://example.org/tidy
  values: [-e]
  subcommands:
    clean:
      without_effect: [-n]
      effects:
        - {when: {any_option: [-f]}, kind: delete, object: path, targets: [operands], reversible: no}
  examples:
    - {action: tidy clean -f src, effects: [delete path]}
    - {action: tidy clean -nf src, effects: []}
- {programs: [plain, simple], source: https://example.org/plain}
"""


def faults_of(text: str) -> list[str]:
    return [str(fault) for fault in check_source("x.yaml", text.encode())[1]]


def program(*lines: str) -> str:
    head = "- program: x\n  source: https://example.org\n"
    return head + "".join(f"  {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("- program: x\n", "x.yaml:1: an entry needs `source`, where its behaviour is documented"),
        ("- source: x\n", "x.yaml:1: an entry has either `program` or `programs`"),
        (program("valus: [-e]"), "x.yaml:3: a program has no key 'valus'; do you mean 'values'?"),
        (program("style: poxis"), "x.yaml:3: 'poxis' is not a valid style; do you mean 'posix'?"),
        (program("values: [-e]", "values: [-f]"), "x.yaml:4: 'values' occurs twice"),
        ("- {program: X, source: x}\n", "x.yaml:1: 'X' has capital letters: programs are named in lower case"),
        ("- {program: bin/x, source: x}\n", "x.yaml:1: 'bin/x' is not the base name of a program"),
        (program("prefixes: yes"), "x.yaml:3: 'yes' is neither true nor false"),
        ("- a\n- b: ]\n", "x.yaml:2: this is not valid YAML: "),
        (program("inner: [{from: rest}]"), "x.yaml:3: an inner action needs `language`"),
        (program("inner: [{language: argv, from: rset}]"), "x.yaml:3: 'rset' names no part of a call"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(text: str, fault: str) -> None:
    assert any(found.startswith(fault) for found in faults_of(text)), faults_of(text)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("kind: delet, object: path", "'delet' is not a valid kind; do you mean 'delete'?"),
        ("kind: delete, object: pth", "'pth' is not a valid object; do you mean 'path'?"),
        ("kind: delete", "an effect needs `object`"),
        ("kind: delete, object: path, revrsible: no", "an effect has no key 'revrsible'; do you mean 'reversible'?"),
        ("kind: delete, object: path, targets: [operand:0]", "'operand:0' names no part of a call"),
        ("kind: delete, object: path, when: {operand: '('}", "'(' is not an RE2 expression"),
        ("kind: delete, object: path, when: {}", "a condition is empty"),
        ("kind: delete, object: path, when: {operands: two}", "'two' is not a number"),
        ("kind: delete, object: path, broader: {options: [-r]}", "`broader` needs `options` and `scope`"),
    ],
)
def test_a_mistake_in_an_effect_names_the_nearest_right_word(row: str, fault: str) -> None:
    assert any(fault in found for found in faults_of(program(f"effects: [{{{row}}}]")))


def test_an_entry_with_effects_needs_an_example_with_and_one_without() -> None:
    faults = faults_of(program("effects: [{kind: delete, object: path}]"))
    assert [fault.partition(": ")[2] for fault in faults] == [
        "an entry with effects needs an example that has one",
        "an entry with effects needs an example that looks alike and has none (`effects: []`)",
    ]


@pytest.mark.parametrize(
    ("part", "right"),
    [
        ("operands", True),
        ("operand:1", True),
        ("operand:last", True),
        ("operands:2-", True),
        ("operands:-last", True),
        ("operands:2-3", True),
        ("option:-o", True),
        ("options:^-(id|name)s?$", True),
        ("at_file:option:-d", True),
        ("value_of:option:-c", True),
        ("value_of:at_file:option:-c", False),
        ("argument:1|path", True),
        ("text:/etc/hosts", True),
        ("found", True),
        ("stdin", True),
        ("operand", False),
        ("operands:", False),
        ("operand:0", False),
        ("operands:-", False),
        ("options:(", False),
        ("at_file:operandz", False),
        ("opton:-o", False),
    ],
)
def test_a_part_of_a_call_is_spelled_right(part: str, right: bool) -> None:
    assert part_is_spelled_right(part) is right


def test_the_word_no_is_not_parsed_as_a_boolean() -> None:
    (entry, _), faults = check_source("x.yaml", RIGHT)
    assert faults == []
    assert entry["subcommands"]["clean"]["effects"][0]["reversible"] == "no"


def test_a_name_belongs_to_one_entry() -> None:
    sources = {"a.yaml": RIGHT, "b.yaml": b"- {program: neat, source: x}\n"}
    with pytest.raises(CatalogueInvalid) as raised:
        plain_catalogue(sources)
    assert str(raised.value) == "b.yaml:1: the name 'neat' is already taken (a.yaml:2)"


def test_mistakes_of_all_files_are_raised_together() -> None:
    sources = {"a.yaml": b"- {program: a}\n", "b.yaml": b"- {program: b}\n"}
    with pytest.raises(CatalogueInvalid) as raised:
        plain_catalogue(sources)
    assert [(fault.file, fault.line) for fault in raised.value.faults] == [("a.yaml", 1), ("b.yaml", 1)]


def test_a_program_is_found_by_its_aliases_and_in_its_family() -> None:
    catalogue = Catalogue(plain_catalogue({"a.yaml": RIGHT}))
    assert [name for name in ("tidy", "neat", "plain", "simple", "other") if name in catalogue] == [
        "tidy",
        "neat",
        "plain",
        "simple",
    ]
    tidy = catalogue.program("neat")
    assert tidy is not None and tidy.name == "tidy" and tidy is catalogue.program("neat")
    simple = catalogue.program("simple")
    assert simple is not None and simple.name == "simple"
    assert catalogue.program("other") is None
    assert len(catalogue) == 3


def test_the_compiled_file_is_used_while_it_fits_its_sources(tmp_path: Path) -> None:
    programs, compiled = tmp_path / "programs", tmp_path / "catalogue.json"
    programs.mkdir()
    (programs / "a.yaml").write_bytes(RIGHT)
    digest = load(programs, compiled).digest
    assert json.loads(compiled.read_text())["data"]["digest"] == digest
    (programs / "b.yaml").write_bytes(b"- {program: other, source: x}\n")
    changed = load(programs, compiled)
    assert changed.digest != digest and "other" in changed
    assert "other" in load(tmp_path / "nowhere", compiled)


def test_a_mistake_leaves_the_compiled_file_as_it_was(tmp_path: Path) -> None:
    programs, compiled = tmp_path / "programs", tmp_path / "catalogue.json"
    programs.mkdir()
    (programs / "a.yaml").write_bytes(RIGHT)
    load(programs, compiled)
    before = compiled.read_bytes()
    (programs / "a.yaml").write_bytes(RIGHT.replace(b"kind: delete", b"kind: delte"))
    with pytest.raises(CatalogueInvalid):
        load(programs, compiled)
    assert compiled.read_bytes() == before


def test_lint_runs_the_examples(tmp_path: Path) -> None:
    path = tmp_path / "tidy.yaml"
    path.write_bytes(RIGHT)
    assert lint([path], tmp_path) == []
    path.write_bytes(RIGHT.replace(b"effects: [delete path]}", b"effects: [delete path all home]}"))
    assert [str(fault) for fault in lint([path], tmp_path)] == [
        "tidy.yaml:12: 'tidy clean -f src' lacks the effect `delete path all home`; "
        "it yields delete path one workspace 'src'"
    ]
    path.write_bytes(RIGHT.replace(b"clean -nf", b"clean -f"))
    assert [fault.line for fault in lint([path], tmp_path)] == [13]


def test_the_catalogue_that_is_shipped_has_no_fault() -> None:
    assert lint(sorted(PROGRAMS.glob("*.yaml"))) == []


BEGINNINGS: dict[str, tuple[str, ...]] = {
    "^file://": ("file://",),
    "^https?://": ("http",),
    r"^\+o$": ("+o",),
    r"(?i)^alias\.[^=]*=!": ("alias.",),
    "(?i)^(Add|create)$": ("add", "create"),
    "^(sh|bash|/)": ("sh", "bash", "/"),
    "^a(b|c)": ("a",),
    "^(a|b(c|d))$": (),
    r"^(git|hg)\+|^https?": (),
    "^(a|b)?c": (),
    "^a*b": (),
    "^[ab]": (),
    "file": (),
}


@pytest.mark.parametrize(("expression", "begins"), BEGINNINGS.items())
def test_an_expression_shows_how_texts_begin_in_which_it_is_found(expression: str, begins: tuple[str, ...]) -> None:
    assert beginnings(expression) == begins


@given(
    st.sampled_from([expression for expression, begins in BEGINNINGS.items() if begins]).flatmap(
        lambda expression: st.tuples(st.just(expression), st.from_regex(expression))
    )
)
def test_an_ascii_text_in_which_an_expression_is_found_begins_as_it_shows(case: tuple[str, str]) -> None:
    expression, text = case
    assert not text.isascii() or text.lower().startswith(BEGINNINGS[expression])
