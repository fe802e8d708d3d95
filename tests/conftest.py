"""What all tests share: repeatable examples, settings put back, and child processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import hypothesis
import pytest

import openaclnn as oa

# The same examples on every machine and in every run.
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, print_blob=True
)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def settings_put_back() -> Iterator[None]:
    """A failed test must not leave its product or thread count to the next."""
    product, threads = oa.get_product(), oa.get_num_threads()
    yield
    oa.set_product(product)
    oa.set_num_threads(threads)


@pytest.fixture
def run_python() -> Callable[..., str]:
    """Run code in a Python process of its own; give what it printed."""

    def run(code: str, timeout: float = 120, **environment: str) -> str:
        child = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert child.returncode == 0, child.stdout + child.stderr
        return child.stdout.strip()

    return run
