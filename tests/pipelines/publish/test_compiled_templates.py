"""The first process that renders a template compiles it for all; without a writable cache each one compiles its own."""

from pathlib import Path
from typing import Any

import jinja2
import pytest

from pipelines.publish.site import CompiledTemplates


class Counting(jinja2.Environment):
    """An environment that counts its compilations."""

    compiled = 0

    def compile(self, *arguments: Any, **options: Any) -> Any:
        self.compiled += 1
        return super().compile(*arguments, **options)


def rendered(site: Path, kept_in: Path) -> tuple[str, int]:
    """Returns what a new process renders, and the number of templates that it compiles."""
    environment = Counting(loader=jinja2.FileSystemLoader(site), bytecode_cache=CompiledTemplates(str(kept_in)))
    return environment.get_template("page.j2").render(word="here"), environment.compiled


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "page.j2").write_text("It is {{ word }}.")
    return tmp_path


def test_a_second_process_finds_a_template_compiled_until_it_changes(site: Path):
    assert [rendered(site, site / "__pycache__") for _ in range(2)] == [("It is here.", 1), ("It is here.", 0)]
    (site / "page.j2").write_text("Now it is {{ word }}.")
    assert rendered(site, site / "__pycache__") == ("Now it is here.", 1)


def test_a_template_is_rendered_where_nothing_can_be_kept(site: Path):
    kept_in = site / "missing" / "__pycache__"
    assert [rendered(site, kept_in) for _ in range(2)] == [("It is here.", 1)] * 2
