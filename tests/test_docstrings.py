"""Every public name has a docstring with an example, and every example is true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import openaclnn

MODULES = [
    info.name
    for info in pkgutil.walk_packages(openaclnn.__path__, "openaclnn.")
    if info.name not in ("openaclnn._native", "openaclnn.__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    module: ModuleType = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.parametrize("name", [n for n in openaclnn.__all__ if n != "__version__"])
def test_public_names_have_docstrings_with_examples(name: str) -> None:
    docstring = inspect.getdoc(getattr(openaclnn, name))
    assert docstring is not None
    assert ">>>" in docstring
