"""What holds for the whole process: the product and the number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
    _native.set_product(name)


@contextmanager
def product(name: str) -> Iterator[None]:
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
    before = get_product()
    set_product(name)
    try:
        yield
    finally:
        set_product(before)


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
        ValueError: It is out of range.

    Example:
        >>> import openaclnn as oa
        >>> before = oa.get_num_threads()
        >>> oa.set_num_threads(2)
        >>> oa.get_num_threads()
        2
        >>> oa.set_num_threads(before)

    """
    _native.set_num_threads(count)


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
