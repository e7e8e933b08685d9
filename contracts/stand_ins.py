"""Replaces modules that a package imports but the service does not need, while that package is imported."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def stand_ins(modules: Mapping[str, Mapping[str, object]]) -> Iterator[None]:
    """Puts a stand-in with the given attributes in place of each of these modules that is not imported yet.

    Afterwards, imports find the real modules again. Modules imported within the block retain the stand-ins.
    """
    made = {name: ModuleType(name) for name in modules if name not in sys.modules}
    for name, module in made.items():
        vars(module).update(modules[name])
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in made:
            del sys.modules[name]
