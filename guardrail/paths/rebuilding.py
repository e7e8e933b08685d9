"""Decides by the names in a path whether tools can rebuild it: installed, built, cached or compiled files."""

from __future__ import annotations

import re

REBUILDABLE_ANYWHERE = frozenset(
    (
        # installed by a package manager from a lock file
        *("node_modules", "bower_components", "jspm_packages", ".pnpm-store", ".yarn", "site-packages", ".bundle"),
        *(".venv", "venv", "virtualenv", ".virtualenv", ".tox", ".nox", "__pypackages__", ".eggs"),
        *("pods", ".gradle", ".cargo-cache", "elm-stuff", ".stack-work", "dist-newstyle", ".dart_tool", ".pub-cache"),
        # caches of an interpreter, compiler or test runner
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"),
        *(".parcel-cache", ".turbo", ".nx", ".eslintcache", ".stylelintcache", ".sass-cache", ".webpack", ".swc"),
        *(".next", ".nuxt", ".output", ".svelte-kit", ".angular", ".astro", ".docusaurus", ".vite", ".expo", ".cache"),
        *(".nyc_output", "htmlcov", ".coverage", "lcov.info", ".serverless", ".terragrunt-cache", ".aws-sam"),
        *("deriveddata", "cmakefiles", "cmakecache.txt", ".zig-cache", "zig-cache", "zig-out", ".ccache", ".bloop"),
        *(".metals", ".import_linter_cache", ".vercel", ".netlify", ".jekyll-cache", ".ds_store"),
    )
)
REBUILDABLE_IN_WORKSPACE = frozenset(
    (
        # built from the sources next to it
        *("build", "builds", "dist", "out", "output", "outputs", "target", "bin", "obj", "release", "debug", "_build"),
        *("lib-cov", "coverage", "reports", "test-results", "playwright-report", "storybook-static", "public/build"),
        *("cmake-build-debug", "cmake-build-release", "artifacts", "generated", "vendor", "deps", "_site", ".build"),
        *("cache", "caches", "logs", "log", "tmp", "temp", ".tmp", ".temp", "wheels", "sdist", "pkg", "bazel-bin"),
        *("bazel-out", "bazel-testlogs", "a.out", "allure-results", "allure-report", "junit.xml", "coverage.xml"),
        *("doc/build", "docs/_build", "docs/build", "site"),
    )
)
REBUILDABLE_SUFFIXES = (
    *(
        ".pyc",
        ".pyo",
        ".py[co]",
        ".py[cod]",
        ".o",
        ".obj",
        ".a",
        ".so",
        ".class",
        ".egg-info",
        ".dist-info",
        ".tsbuildinfo",
        ".gcda",
        ".gcno",
    ),
    *(".log", ".tmp", ".swp", ".whl", ".d", ".beam", ".elc", ".rlib", ".rmeta", ".pid"),
)


def is_made_again(path: str) -> bool:
    """Decides by the names in a path inside a workspace whether tools can rebuild it."""
    return is_rebuildable(path.lower(), beside_sources=True)


def is_rebuildable(path: str, *, beside_sources: bool) -> bool:
    """Decides by the names in a path, in lower case, whether tools can rebuild it.

    `build`, `tmp_check` and `.log` count only next to the sources that they are built from.
    """
    parts = [part.strip("*") for part in path.split("/")]
    if ".git" in parts[:-1] and path.endswith(".lock"):
        return True  # left behind by a killed git
    if any(part in REBUILDABLE_ANYWHERE for part in parts) or (
        beside_sources and any(part in REBUILDABLE_IN_WORKSPACE or _is_product_name(part) for part in parts)
    ):
        return ".git" not in parts
    return beside_sources and path.endswith(REBUILDABLE_SUFFIXES)


def _is_product_name(name: str) -> bool:
    """Decides whether a compound name marks the file as built or temporary: `dist-cjs`, `tmp_check`, `my.build`."""
    words = _JOINTS.split(name.strip("._-"))
    if len(words) < 2:
        return False
    if not _TEMPORARY_WORDS.isdisjoint(words):
        return True
    return any(
        word in _PRODUCT_WORDS and (not after or after in _PRODUCT_KINDS or not after.isalpha())
        for word, after in zip(words, [*words[1:], ""], strict=True)
    )


_JOINTS = re.compile(r"[._-]")
_TEMPORARY_WORDS = frozenset(("tmp", "temp", "cache", "caches", "autom4te"))
_PRODUCT_WORDS = frozenset(("build", "builds", "dist", "out", "output", "coverage"))
_PRODUCT_KINDS = frozenset(
    (
        *("cjs", "esm", "es", "umd", "types", "typings", "debug", "release", "test", "tests", "web", "node", "browser"),
        *("prod", "dev", "docs", "wasm", "linux", "macos", "darwin", "windows", "win", "arm", "ios", "android", "gcc"),
        *(
            "clang",
            "asan",
            "tsan",
            "ubsan",
            "static",
            "shared",
            "min",
            "electron",
            "ssr",
            "client",
            "server",
            "storybook",
        ),
    )
)


def has_compiled_name(path: str) -> bool:
    """Decides whether an interpreter compiled the file from its neighbour, in any place."""
    return "/__pycache__" in path or path.endswith((".pyc", ".pyo", ".py[co]", ".py[cod]"))
