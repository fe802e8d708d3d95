"""The C interface by ctypes, as a client that looks symbols up by name would have it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import (
    CFUNCTYPE,
    POINTER,
    byref,
    c_char_p,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

import numpy as np

from openaclnn import toolkit

FLOAT, FLOAT16, INT32, DOUBLE, BF16, ND = 0, 1, 3, 11, 27, 2
HOST_TO_HOST, TO_DEVICE, TO_HOST, DEVICE_TO_DEVICE, DEFAULT = range(5)

CALLBACK = CFUNCTYPE(None, c_void_p)
P = POINTER

_PROTOTYPES: dict[str, list[Any]] = {
    "aclInit": [c_char_p],
    "aclFinalize": [],
    "aclGetRecentErrMsg": [],
    "aclrtSetDevice": [c_int32],
    "aclrtResetDevice": [c_int32],
    "aclrtResetDeviceForce": [c_int32],
    "aclrtGetDevice": [P(c_int32)],
    "aclrtGetDeviceCount": [P(c_uint32)],
    "aclrtGetVersion": [P(c_int32)] * 3,
    "aclrtGetRunMode": [P(c_int)],
    "aclrtSynchronizeDevice": [],
    "aclrtSynchronizeDeviceWithTimeout": [c_int32],
    "aclrtCreateContext": [P(c_void_p), c_int32],
    "aclrtDestroyContext": [c_void_p],
    "aclrtSetCurrentContext": [c_void_p],
    "aclrtGetCurrentContext": [P(c_void_p)],
    "aclrtCreateStream": [P(c_void_p)],
    "aclrtCreateStreamWithConfig": [P(c_void_p), c_uint32, c_uint32],
    "aclrtDestroyStream": [c_void_p],
    "aclrtDestroyStreamForce": [c_void_p],
    "aclrtSynchronizeStream": [c_void_p],
    "aclrtSynchronizeStreamWithTimeout": [c_void_p, c_int32],
    "aclrtStreamQuery": [c_void_p, P(c_int)],
    "aclrtStreamAbort": [c_void_p],
    "aclrtStreamWaitEvent": [c_void_p, c_void_p],
    "aclrtSetStreamFailureMode": [c_void_p, c_uint64],
    "aclrtSetStreamOverflowSwitch": [c_void_p, c_uint32],
    "aclrtGetStreamOverflowSwitch": [c_void_p, P(c_uint32)],
    "aclrtStreamGetId": [c_void_p, P(c_int32)],
    "aclrtCreateEvent": [P(c_void_p)],
    "aclrtCreateEventWithFlag": [P(c_void_p), c_uint32],
    "aclrtCreateEventExWithFlag": [P(c_void_p), c_uint32],
    "aclrtDestroyEvent": [c_void_p],
    "aclrtRecordEvent": [c_void_p, c_void_p],
    "aclrtResetEvent": [c_void_p, c_void_p],
    "aclrtQueryEvent": [c_void_p, P(c_int)],
    "aclrtQueryEventStatus": [c_void_p, P(c_int)],
    "aclrtQueryEventWaitStatus": [c_void_p, P(c_int)],
    "aclrtSynchronizeEvent": [c_void_p],
    "aclrtSynchronizeEventWithTimeout": [c_void_p, c_int32],
    "aclrtEventElapsedTime": [P(c_float), c_void_p, c_void_p],
    "aclrtMalloc": [P(c_void_p), c_size_t, c_int],
    "aclrtMallocAlign32": [P(c_void_p), c_size_t, c_int],
    "aclrtMallocCached": [P(c_void_p), c_size_t, c_int],
    "aclrtFree": [c_void_p],
    "aclrtMallocHost": [P(c_void_p), c_size_t],
    "aclrtFreeHost": [c_void_p],
    "aclrtMemset": [c_void_p, c_size_t, c_int32, c_size_t],
    "aclrtMemsetAsync": [c_void_p, c_size_t, c_int32, c_size_t, c_void_p],
    "aclrtMemcpy": [c_void_p, c_size_t, c_void_p, c_size_t, c_int],
    "aclrtMemcpyAsync": [c_void_p, c_size_t, c_void_p, c_size_t, c_int, c_void_p],
    "aclrtMemcpy2d": [c_void_p, c_size_t, c_void_p, c_size_t, c_size_t, c_size_t, c_int],
    "aclrtMemcpy2dAsync": [c_void_p, c_size_t, c_void_p, c_size_t, c_size_t, c_size_t, c_int,
                           c_void_p],
    "aclrtGetMemInfo": [c_int, P(c_size_t), P(c_size_t)],
    "aclrtLaunchCallback": [CALLBACK, c_void_p, c_int, c_void_p],
    "aclrtSubscribeReport": [c_uint64, c_void_p],
    "aclrtProcessReport": [c_int32],
    "aclrtUnSubscribeReport": [c_uint64, c_void_p],
    "aclrtLaunchHostFunc": [c_void_p, CALLBACK, c_void_p],
    "aclCreateTensor": [P(c_int64), c_uint64, c_int, P(c_int64), c_int64, c_int, P(c_int64),
                        c_uint64, c_void_p],
    "aclInitTensor": [c_void_p, P(c_int64), c_uint64, c_int, P(c_int64), c_int64, c_int,
                      P(c_int64), c_uint64, c_void_p],
    "aclDestroyTensor": [c_void_p],
    "aclGetViewOffset": [c_void_p, P(c_int64)],
    "aclGetFormat": [c_void_p, P(c_int)],
    "aclGetDataType": [c_void_p, P(c_int)],
    "aclGetRawTensorAddr": [c_void_p, P(c_void_p)],
    "aclSetRawTensorAddr": [c_void_p, c_void_p],
    "aclGetViewShape": [c_void_p, P(P(c_int64)), P(c_uint64)],
    "aclGetStorageShape": [c_void_p, P(P(c_int64)), P(c_uint64)],
    "aclGetViewStrides": [c_void_p, P(P(c_int64)), P(c_uint64)],
    "aclCreateScalar": [c_void_p, c_int],
    "aclDestroyScalar": [c_void_p],
    "aclSetAclOpExecutorRepeatable": [c_void_p],
    "aclDestroyAclOpExecutor": [c_void_p],
}  # fmt: skip
for _prefix in ("acl", "Acl"):
    for _which in ("Input", "Output", ""):
        _PROTOTYPES[f"{_prefix}Set{_which}TensorAddr"] = [c_void_p, c_size_t, c_void_p, c_void_p]
        _PROTOTYPES[f"{_prefix}SetDynamic{_which}TensorAddr"] = [
            c_void_p, c_size_t, c_size_t, c_void_p, c_void_p
        ]  # fmt: skip
_OBJECTS = ("TensorList", "ScalarList", "IntArray", "FloatArray", "BoolArray")
for _object in _OBJECTS:
    _PROTOTYPES[f"aclCreate{_object}"] = [c_void_p, c_uint64]
    _PROTOTYPES[f"aclGet{_object}Size"] = [c_void_p, P(c_uint64)]
    _PROTOTYPES[f"aclDestroy{_object}"] = [c_void_p]
for _operator in ("aclnnSiluBackward", "aclnnSigmoidBackward"):
    _PROTOTYPES[f"{_operator}GetWorkspaceSize"] = [c_void_p] * 3 + [P(c_uint64), P(c_void_p)]
    _PROTOTYPES[_operator] = [c_void_p, c_uint64, c_void_p, c_void_p]

LIBRARY: Any = ctypes.CDLL(str(toolkit.path() / "lib64" / "libopapi.so"))
for _name, _arguments in _PROTOTYPES.items():
    getattr(LIBRARY, _name).argtypes = _arguments
for _name in ("Tensor", "Scalar", *_OBJECTS):
    getattr(LIBRARY, f"aclCreate{_name}").restype = c_void_p
LIBRARY.aclGetRecentErrMsg.restype = c_char_p


def message() -> str | None:
    """Give the calling thread's recent error, which is then forgotten."""
    text = LIBRARY.aclGetRecentErrMsg()
    return None if text is None else text.decode()


def made(function: Any, *arguments: Any) -> int:
    """Call a function that gives a handle or an address through its first argument."""
    handle = c_void_p()
    assert function(byref(handle), *arguments) == 0, message()
    assert handle.value is not None
    return handle.value


def asked(function: Any, kind: Any, *arguments: Any) -> Any:
    """Call a function that gives a number through its last argument."""
    number = kind()
    assert function(*arguments, byref(number)) == 0, message()
    return number.value


def numbers(values: Sequence[int]) -> Any:
    return (c_int64 * len(values))(*values)


def tensor(data: int | None, shape: Sequence[int], kind: int = FLOAT,
           strides: Sequence[int] | None = None, offset: int = 0) -> int | None:  # fmt: skip
    handle: int | None = LIBRARY.aclCreateTensor(
        numbers(shape), len(shape), kind, None if strides is None else numbers(strides), offset,
        ND, numbers(shape), len(shape), data,
    )  # fmt: skip
    return handle


def to_device(array: Any) -> int:
    """Give the address of a copy in device memory."""
    address = made(LIBRARY.aclrtMalloc, array.nbytes, 0)
    status = LIBRARY.aclrtMemcpy(address, array.nbytes, array.ctypes.data, array.nbytes, TO_DEVICE)
    assert status == 0, message()
    return address


def to_host(address: int, count: int) -> Any:
    """Give float32 elements of device memory."""
    array = np.empty(count, np.float32)
    status = LIBRARY.aclrtMemcpy(array.ctypes.data, array.nbytes, address, array.nbytes, TO_HOST)
    assert status == 0, message()
    return array


@contextmanager
def device_set() -> Iterator[None]:
    assert LIBRARY.aclrtSetDevice(0) == 0
    try:
        yield
    finally:
        assert LIBRARY.aclrtResetDevice(0) == 0
