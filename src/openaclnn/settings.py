"""What holds for the whole process: the product and the number of threads."""

from __future__ import annotations

import operator
from contextlib import AbstractContextManager

from openaclnn import _native

__all__ = [
    "get_num_threads",
    "get_product",
    "instruction_set",
    "product",
    "products",
    "set_num_threads",
    "set_product",
]


def get_product() -> str:
    """Give the SoC name of the product whose rules hold.

    It is the one that was set last, at first the environment variable OPENACLNN_SOC's, or else
    Ascend910B1.

    Raises:
        ValueError: OPENACLNN_SOC names no known product.

    Example:
        >>> import openaclnn as oa
        >>> oa.get_product()
        'Ascend910B1'

    """
    return _native.get_product()


def set_product(name: str) -> None:
    """Set the product whose rules hold, in all threads.

    Args:
        name: A SoC name such as "Ascend310P3"; see `products`.

    Raises:
        ValueError: There is no such product; the text lists those that are known.

    Example:
        >>> import openaclnn as oa
        >>> oa.set_product("Ascend910B1")

    """
    if not isinstance(name, str):
        raise TypeError(f"product is a {type(name).__qualname__}; a SoC name is accepted")
    if not name.isprintable():
        raise ValueError(f"product is {name!r}; a SoC name such as 'Ascend910B1' is accepted")
    _native.set_product(name)


class _ProductBlock:
    """Sets a product in `with` blocks, one within the other or one after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._before: list[str] = []

    def __enter__(self) -> None:
        before = get_product()
        set_product(self._name)
        self._before.append(before)

    def __exit__(self, *error: object) -> None:
        if not self._before:
            raise RuntimeError("openaclnn.product: its block was left without being entered")
        set_product(self._before.pop())


def product(name: str) -> AbstractContextManager[None]:
    """Set the product for a `with` block; the one before is set again after it.

    The product is the whole process's: other threads see it too.

    Args:
        name: A SoC name such as "Ascend310P3"; see `products`.

    Raises:
        ValueError: There is no such product; the text lists those that are known.

    Example:
        >>> import openaclnn as oa
        >>> with oa.product("Ascend310P3"):
        ...     oa.get_product()
        'Ascend310P3'

    """
    return _ProductBlock(name)


def products() -> dict[str, tuple[str, ...]]:
    """Give the SoC names that are known, by product series.

    A name that ends in * stands for all names with that beginning.

    Example:
        >>> import openaclnn as oa
        >>> oa.products()["Atlas inference"]
        ('Ascend310P1', 'Ascend310P3')

    """
    return dict(_native.products())


def get_num_threads() -> int:
    """Give the most threads that one call uses.

    At first it is what the environment variable OPENACLNN_NUM_THREADS says, or else the number of
    processors that this process may run on. Small calls use only the caller's thread.

    Raises:
        ValueError: OPENACLNN_NUM_THREADS is not a number from 1 to 1024.

    Example:
        >>> import openaclnn as oa
        >>> oa.get_num_threads() >= 1
        True

    """
    return _native.get_num_threads()


def set_num_threads(count: int) -> None:
    """Set the most threads that one call uses. Results do not depend on it.

    Args:
        count: From 1 to 1024.

    Raises:
        TypeError: It is no whole number.
        ValueError: It is out of range.

    Example:
        >>> import openaclnn as oa
        >>> before = oa.get_num_threads()
        >>> oa.set_num_threads(2)
        >>> oa.get_num_threads()
        2
        >>> oa.set_num_threads(before)

    """
    try:
        number = operator.index(count)
    except TypeError:
        raise TypeError(
            f"count is a {type(count).__qualname__}; a whole number is accepted"
        ) from None
    if not 1 <= number <= _native.MOST_THREADS:
        raise ValueError(
            f"count is {number}; a number from 1 to {_native.MOST_THREADS} is accepted"
        )
    _native.set_num_threads(number)


def instruction_set() -> str:
    """Give the instruction set level that the kernels use.

    It is the best that the processor has, unless the environment variable OPENACLNN_ISA caps it:
    x86-64-v4, x86-64-v3 or x86-64-v2; on other architectures it is "baseline".

    Raises:
        ValueError: OPENACLNN_ISA names no level.

    Example:
        >>> import openaclnn as oa
        >>> oa.instruction_set() in ("x86-64-v4", "x86-64-v3", "x86-64-v2", "baseline")
        True

    """
    return _native.instruction_set()
