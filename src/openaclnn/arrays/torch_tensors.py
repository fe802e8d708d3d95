"""PyTorch's CPU tensors. Imported only when the first of them comes."""

from __future__ import annotations

from typing import Any

import torch

from openaclnn._native import TensorView
from openaclnn.arrays.adapter import Argument

_DTYPES: dict[str, torch.dtype] = {
    "FLOAT": torch.float32,
    "FLOAT16": torch.float16,
    "BFLOAT16": torch.bfloat16,
    "DOUBLE": torch.float64,
    "COMPLEX64": torch.complex64,
    "COMPLEX128": torch.complex128,
    "COMPLEX32": torch.complex32,
    "INT8": torch.int8,
    "INT16": torch.int16,
    "INT32": torch.int32,
    "INT64": torch.int64,
    "UINT8": torch.uint8,
    "BOOL": torch.bool,
    "FLOAT8_E5M2": torch.float8_e5m2,
    "FLOAT8_E4M3FN": torch.float8_e4m3fn,
}
_TYPE_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class TorchAdapter:
    """Dense tensors in CPU memory."""

    def input_view(
        self, array: Any, argument: Argument, *, may_copy: bool
    ) -> tuple[TensorView, object]:
        """Copy only what PyTorch has put off: a conjugation or a negation."""
        self._check(array, argument)
        if array.is_conj() or array.is_neg():
            if not may_copy:
                argument.refuse(
                    "is lazily conjugated or negated; pass its .resolve_conj().resolve_neg()"
                )
            array = array.resolve_conj().resolve_neg()
        view = self._view(array, argument)
        if _is_misaligned(array):
            if not may_copy:
                argument.refuse("is not aligned to its elements' size; pass its .clone()")
            array = array.clone()
            view = self._view(array, argument)
        return view, _alias(array)

    def output_view(self, array: Any, argument: Argument) -> tuple[TensorView, object]:
        """Refuse what can't be written where it lies."""
        self._check(array, argument)
        if array.is_conj() or array.is_neg():
            argument.refuse("is lazily conjugated or negated; pass a tensor that is neither")
        view = self._view(array, argument)
        if _is_misaligned(array):
            argument.refuse("is not aligned to its elements' size; pass an aligned tensor")
        return view, _alias(array)

    def unmoved(self, holder: Any, view: TensorView) -> bool:
        """Look whether the storage was resized: that frees its memory."""
        return _has_memory(holder) and bool(holder.data_ptr() == view.address)

    def written(self, holder: Any) -> None:
        """Raise the version, so that autograd refuses to use saved values that are gone."""
        if not holder.is_inference():
            torch.autograd.graph.increment_version(holder)

    def empty(self, prototype: Any, type_name: str, shape: tuple[int, ...]) -> Any:
        """Make a tensor of the prototype's memory format."""
        dtype = _DTYPES[type_name]
        if tuple(prototype.shape) == shape:
            return torch.empty_like(prototype, dtype=dtype, requires_grad=False)
        return torch.empty(shape, dtype=dtype)

    def finished(self, result: Any, prototype: Any) -> Any:  # noqa: ARG002
        """Give the result as it is."""
        return result

    @staticmethod
    def _check(tensor: Any, argument: Argument) -> None:
        if torch._C._get_tracing_state() is not None:
            argument.refuse(
                "is being traced by torch.jit.trace, which can't record this operator; call it "
                "outside of the trace"
            )
        if tensor.is_nested:
            argument.refuse_type("is a nested tensor; pass its parts one by one")
        if tensor.layout != torch.strided:
            argument.refuse_type(f"has the layout {tensor.layout}; pass its .to_dense()")
        if tensor.device.type != "cpu":
            argument.refuse_type(f"is on the device {tensor.device}; pass its .cpu()")
        if tensor.requires_grad and torch.is_grad_enabled():
            argument.refuse(
                "requires grad, but the result would have no gradient; pass its .detach(), "
                "or call within torch.no_grad()"
            )

    @staticmethod
    def _view(tensor: Any, argument: Argument) -> TensorView:
        name = _TYPE_NAMES.get(tensor.dtype, str(tensor.dtype))
        if not _has_memory(tensor):
            argument.refuse_type(
                "has no memory of its own (a fake, lazy or freed tensor); pass an ordinary one"
            )
        address = tensor.data_ptr()
        return TensorView(address, name, tensor.shape, tensor.stride())


def _alias(tensor: Any) -> Any:
    """Give a tensor that keeps the memory, whatever becomes of the one that has it now."""
    return tensor.detach()


def _is_misaligned(tensor: Any) -> bool:
    # Complex numbers are aligned like their parts.
    size = tensor.element_size() // (2 if tensor.is_complex() else 1)
    return bool(tensor.numel() > 0 and tensor.data_ptr() % size != 0)


def _has_memory(tensor: Any) -> bool:
    """Tell whether a tensor's elements all lie in CPU memory that it holds."""
    if tensor.numel() == 0:
        return True
    try:
        storage = tensor.untyped_storage()
        last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
        needed = (tensor.storage_offset() + last + 1) * tensor.element_size()
        return bool(storage.device.type == "cpu" and storage.nbytes() >= needed) and not bool(
            tensor._is_zerotensor()
        )
    except RuntimeError:  # subclasses that only wrap others
        return False


ADAPTER = TorchAdapter()
