"""The error tree at the top of the module of errors."""

import re

from contracts import errors


def test_the_tree_of_errors_names_every_class_of_its_module():
    classes = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert errors.__doc__ is not None
    assert classes <= set(re.findall(r"\w+", errors.__doc__))
