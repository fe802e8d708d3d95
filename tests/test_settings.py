"""The product and the number of threads: what is accepted, and what is put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import openaclnn as oa


@pytest.mark.parametrize("count", [2**31, 2**70, -(2**70)])
def test_number_of_threads_of_any_size_is_refused_by_its_value(count: int) -> None:
    with pytest.raises(ValueError, match=f"count is {count}; a number from 1 to 1024"):
        oa.set_num_threads(count)


@pytest.mark.parametrize("count", ["3", None, 2.0], ids=str)
def test_number_of_threads_must_be_whole(count: Any) -> None:
    with pytest.raises(TypeError, match=f"count is a {type(count).__name__}"):
        oa.set_num_threads(count)


@pytest.mark.parametrize("call", [oa.set_product, lambda name: oa.product(name).__enter__()])
def test_product_must_be_a_name(call: Callable[[Any], Any]) -> None:
    for name in (None, 910, b"Ascend910B1"):
        with pytest.raises(TypeError, match="a SoC name is accepted"):
            call(name)
    for name in ("Ascend910B1\0", "\n"):
        with pytest.raises(ValueError, match=r"is '.*\\(x00|n)'"):
            call(name)
    assert oa.get_product() == "Ascend910B1"


def test_product_block_can_be_entered_again() -> None:
    block = oa.product("Ascend310P3")
    for _ in range(2):
        with block:
            oa.set_product("Ascend910A")
            with block:
                assert oa.get_product() == "Ascend310P3"
            assert oa.get_product() == "Ascend910A"
        assert oa.get_product() == "Ascend910B1"


def test_product_block_that_was_not_entered_can_not_be_left() -> None:
    with pytest.raises(RuntimeError, match="without being entered"):
        oa.product("Ascend310P3").__exit__(None, None, None)
    assert oa.get_product() == "Ascend910B1"
