"""A call of an operator through a loaded library."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from ctypes import byref, c_int64, c_uint64, c_void_p
from typing import Any

import numpy as np

from openaclnn._native import TensorView
from openaclnn.device.library import DeviceLibrary
from openaclnn.errors import INNER_NULLPTR, AclnnError

_HUGE_FIRST = 0  # ACL_MEM_MALLOC_HUGE_FIRST
_TO_DEVICE = 1  # ACL_MEMCPY_HOST_TO_DEVICE
_TO_HOST = 2  # ACL_MEMCPY_DEVICE_TO_HOST
_ND = 2  # ACL_FORMAT_ND


class _Executor:
    """The library's executor. It keeps no call alive: a call ends it when it goes."""

    def __init__(self, library: DeviceLibrary) -> None:
        self._library = library
        self.handle = c_void_p()
        self.used = False
        self.repeatable = False

    @property
    def used_up(self) -> bool:
        """Whether it has had its only run."""
        return self.used and not self.repeatable

    def end(self) -> None:
        """Destroy it; one that ran once is gone already."""
        if not self.used_up:
            self._library.call("aclDestroyAclOpExecutor", self.handle)


class DeviceCall:
    """Phases one and two of one call, with the device memory that it needs.

    Views keep their strides: the bytes that a view spans are copied to the device, and of the
    result's only its elements are copied back. An input that is the result's very view shares its
    memory. Everything is freed by `close`, at the latest when the object goes.

    Args:
        library: The library.
        operator: The operator's name, e.g. "aclnnSiluBackward".
        views: The two inputs and the result; None for null. Their memory must outlive the object.

    Raises:
        AclnnError: What the library refuses, with its text.

    """

    def __init__(
        self, library: DeviceLibrary, operator: str, views: Sequence[TensorView | None]
    ) -> None:
        self._library = library
        self._operator = operator
        self._views = views
        self._owned = ExitStack()
        self._executor = _Executor(library)
        self._workspace: int | None = None
        library.enter_thread()
        with ExitStack() as until_planned:
            until_planned.callback(self._owned.close)
            self._buffers = self._allocate_all()
            self.workspace_size = self._plan()
            until_planned.pop_all()

    def __del__(self) -> None:
        if hasattr(self, "_owned"):
            self.close()

    def close(self) -> None:
        """Free what the call holds on the device."""
        self._library.enter_thread()
        self._owned.close()

    @property
    def repeatable(self) -> bool:
        """Whether it may run more than once; once it may, it may for ever."""
        return self._executor.repeatable

    @repeatable.setter
    def repeatable(self, value: bool) -> None:
        self._refuse_if_used_up()
        if value and not self._executor.repeatable:
            self._library.call("aclSetAclOpExecutorRepeatable", self._executor.handle)
            self._executor.repeatable = True

    def begin(self) -> Callable[[], None]:
        """Start on a stream of its own; what is returned waits for it and gives the result."""
        stream = DeviceStream(self._library)
        try:
            self.start(stream.handle)
        except BaseException:
            stream.close()
            raise

        def finish() -> None:
            try:
                self.finish(stream.handle)
            finally:
                stream.close()

        return finish

    def run(self) -> None:
        """Run and wait."""
        self.begin()()

    def start(self, stream: c_void_p) -> None:
        """Copy the inputs in, and queue the operator on a stream of the library's."""
        self._refuse_if_used_up()
        self._library.enter_thread()
        for view, buffer in zip(self._views[:2], self._buffers[:2], strict=True):
            if view is not None and _span(view) > 0:
                size = _span(view)
                self._library.call("aclrtMemcpy", buffer, size, view.address, size, _TO_DEVICE)
        self._executor.used = True
        self._library.phase_two(
            self._operator, self._workspace, self.workspace_size, self._executor.handle, stream
        )

    def finish(self, stream: c_void_p) -> None:
        """Wait for the stream, and copy the result's elements back."""
        self._library.enter_thread()
        self._library.call("aclrtSynchronizeStream", stream)
        view = self._views[2]
        if view is None or _span(view) == 0:
            return
        size = _span(view)
        staging = np.empty(size, np.uint8)
        self._library.call(
            "aclrtMemcpy", staging.ctypes.data, size, self._buffers[2], size, _TO_HOST
        )
        _elements(view, view.address)[...] = _elements(view, staging.ctypes.data)

    def _refuse_if_used_up(self) -> None:
        if self._executor.used_up:
            raise AclnnError(
                f"{self._operator}: executor has already been run; make it repeatable before its "
                "first run, or get a new one from phase one",
                INNER_NULLPTR,
                self._operator,
                "executor",
            )

    def _allocate(self, size: int) -> int | None:
        pointer = c_void_p()
        self._library.call("aclrtMalloc", byref(pointer), size, _HUGE_FIRST)
        self._owned.callback(self._library.call, "aclrtFree", pointer)
        return pointer.value

    def _allocate_all(self) -> list[int | None]:
        buffers: list[int | None] = []
        result = self._views[2]
        for view in self._views:
            shared = [
                buffer
                for other, buffer in zip(self._views, buffers, strict=False)
                if view is result and view is not None and _same_elements(other, view)
            ]
            if shared:
                buffers.append(shared[0])
            elif view is None or _span(view) == 0:
                buffers.append(None)
            else:
                buffers.append(self._allocate(_span(view)))
        return buffers

    def _plan(self) -> int:
        tensors = [
            None if view is None else self._tensor(view, buffer)
            for view, buffer in zip(self._views, self._buffers, strict=True)
        ]
        size = c_uint64()
        self._library.phase_one(self._operator, *tensors, byref(size), byref(self._executor.handle))
        self._owned.callback(self._executor.end)
        if size.value > 0:
            self._workspace = self._allocate(size.value)
        return size.value

    def _tensor(self, view: TensorView, buffer: int | None) -> int:
        rank = len(view.shape)
        elements = _span(view) // view.element_size if view.element_size else 0
        tensor = self._library.create_tensor(
            (c_int64 * rank)(*view.shape),
            rank,
            view.type_number,
            (c_int64 * rank)(*view.strides),
            0,
            _ND,
            (c_int64 * 1)(elements),
            1,
            buffer,
        )
        self._owned.callback(self._library.call, "aclDestroyTensor", tensor)
        return tensor


class DeviceStream:
    """A stream of a loaded library."""

    def __init__(self, library: DeviceLibrary) -> None:
        self._library = library
        self.handle = c_void_p()
        library.enter_thread()
        library.call("aclrtCreateStream", byref(self.handle))

    def close(self) -> None:
        """Destroy it, after what is queued."""
        self._library.enter_thread()
        self._library.call("aclrtDestroyStream", self.handle)


def run(library: DeviceLibrary, operator: str, views: Sequence[TensorView | None]) -> None:
    """Do a whole call, and wait for it."""
    call = DeviceCall(library, operator, views)
    try:
        call.run()
    finally:
        call.close()


def _span(view: TensorView) -> int:
    """Give the bytes from a view's first element to the end of its last."""
    if 0 in view.shape:
        return 0
    last = sum((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True))
    return (last + 1) * view.element_size


def _same_elements(first: TensorView | None, second: TensorView) -> bool:
    return first is not None and (first.address, first.shape, first.strides) == (
        second.address,
        second.shape,
        second.strides,
    )


def _elements(view: TensorView, address: int) -> Any:
    """Give a view's elements at an address as an array of raw items."""
    memory: Any = (ctypes.c_char * _span(view)).from_address(address)
    strides = [stride * view.element_size for stride in view.strides]
    return np.ndarray(tuple(view.shape), f"V{view.element_size}", memory, strides=strides)
