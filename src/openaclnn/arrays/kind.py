"""Which adapter a call's arrays need."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from openaclnn.arrays.adapter import Adapter, Argument


def _kind(array: Any) -> str | None:
    """Name the array's kind; None if it is no array."""
    if isinstance(array, (np.ndarray, np.generic)):
        return "NumPy array"
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return "PyTorch tensor"
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return f"{type(array).__module__}.{type(array).__qualname__}"
    return None


_MODULES = {"NumPy array": "numpy_arrays", "PyTorch tensor": "torch_tensors"}


def adapter_for(arrays: Sequence[Any], arguments: Sequence[Argument]) -> Adapter:
    """Give the adapter of the one kind that the arrays are of; None stands for no array.

    Raises:
        AclnnTypeError: One is no array, or they are of different kinds.

    """
    first: tuple[str, Argument] | None = None
    for array, argument in zip(arrays, arguments, strict=True):
        if array is None:
            continue
        kind = _kind(array)
        if kind is None:
            argument.refuse_type(
                f"is a {type(array).__module__}.{type(array).__qualname__}; a NumPy array, a "
                "PyTorch CPU tensor or an array with __dlpack__ on CPU is accepted"
            )
        if first is None:
            first = kind, argument
        elif kind != first[0]:
            argument.refuse_type(
                f"is a {kind} but {first[1].name} is a {first[0]}; all arrays of a call must be "
                "of one kind: convert one of them, e.g. with numpy.asarray or torch.from_dlpack"
            )
    kind_name = "NumPy array" if first is None else first[0]
    module = import_module(f"openaclnn.arrays.{_MODULES.get(kind_name, 'dlpack_arrays')}")
    adapter: Adapter = module.ADAPTER
    return adapter
