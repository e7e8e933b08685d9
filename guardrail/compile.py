"""Compiles all hand-written YAML. `bootstrap.py` and the wheel's build call it, so that no start parses YAML."""

from __future__ import annotations


def compile_all() -> None:
    """Checks and compiles catalogue, requests, words and policy. Raises on a mistake, with its file and line, and if a
    file can't be written."""
    from guardrail import policy
    from guardrail.catalogue import http, loader
    from guardrail.language import data

    loader.load()
    http.known_rows()
    data.load_data()
    policy.load_policy()
    for compiled in (loader.COMPILED, http.COMPILED, data.COMPILED, policy.COMPILED_POLICY):
        if not compiled.is_file():
            raise FileNotFoundError(f"{compiled} could not be written")


if __name__ == "__main__":
    compile_all()
