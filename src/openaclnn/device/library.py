"""A library of the C interface, by ctypes."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from openaclnn.errors import from_fault

_REQUIRED = ("libascendcl.so", "libnnopbase.so", "libopapi.so")
_OPTIONAL = ("libopapi_nn.so", "libopapi_math.so")
_REPEAT_INITIALIZE = 100002

_TENSOR = [
    POINTER(c_int64),
    c_uint64,
    c_int,
    POINTER(c_int64),
    c_int64,
    c_int,
    POINTER(c_int64),
    c_uint64,
    c_void_p,
]
_PHASE_ONE = [c_void_p, c_void_p, c_void_p, POINTER(c_uint64), POINTER(c_void_p)]
_PHASE_TWO = [c_void_p, c_uint64, c_void_p, c_void_p]

# Results are statuses unless said otherwise.
_ARGUMENTS: dict[str, list[Any]] = {
    "aclInit": [c_char_p],
    "aclGetRecentErrMsg": [],
    "aclrtSetDevice": [c_int32],
    "aclrtCreateStream": [POINTER(c_void_p)],
    "aclrtDestroyStream": [c_void_p],
    "aclrtSynchronizeStream": [c_void_p],
    "aclrtMalloc": [POINTER(c_void_p), c_size_t, c_int],
    "aclrtFree": [c_void_p],
    "aclrtMemcpy": [c_void_p, c_size_t, c_void_p, c_size_t, c_int],
    "aclCreateTensor": _TENSOR,
    "aclDestroyTensor": [c_void_p],
    "aclSetAclOpExecutorRepeatable": [c_void_p],
    "aclDestroyAclOpExecutor": [c_void_p],
}
_RESULTS = {"aclGetRecentErrMsg": c_char_p, "aclCreateTensor": c_void_p}


class DeviceLibrary:
    """A loaded library, initialised, with the device that OPENACLNN_DEVICE names."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._libraries = _load(self.path)
        self._functions: dict[str, Any] = {}
        self._threads = threading.local()
        text = os.environ.get("OPENACLNN_DEVICE", "0")
        if not text.isdecimal():
            raise ValueError(f"OPENACLNN_DEVICE is {text!r}; a device's number is expected")
        self._device = int(text)
        for name in _ARGUMENTS:
            self._function(name)
        status = self._function("aclInit")(None)
        if status != _REPEAT_INITIALIZE:
            self.check(status, "aclInit")
        self.enter_thread()

    def enter_thread(self) -> None:
        """Make the device the calling thread's, once per thread."""
        if not getattr(self._threads, "entered", False):
            self.call("aclrtSetDevice", self._device)
            self._threads.entered = True

    def call(self, name: str, *arguments: Any, operator: str = "") -> None:
        """Call a function that gives a status; raise what is not success."""
        self.check(self._function(name)(*arguments), name, operator)

    def create_tensor(self, *arguments: Any) -> int:
        """Call aclCreateTensor; raise if it gives none."""
        tensor: int | None = self._function("aclCreateTensor")(*arguments)
        if tensor is None:
            self.check(161002, "aclCreateTensor")
            raise AssertionError
        return tensor

    def check(self, status: int, name: str, operator: str = "") -> None:
        """Raise the error of a status that is not success, with the library's own text."""
        if status == 0:
            return
        text = self._function("aclGetRecentErrMsg")()
        message = text.decode(errors="replace") if text else f"{name} gave the status {status}"
        raise from_fault(status, operator or name, "", message, False)

    def phase_one(self, operator: str, *arguments: Any) -> None:
        """Call an operator's first function."""
        name = f"{operator}GetWorkspaceSize"
        self.check(self._function(name, _PHASE_ONE)(*arguments), name, operator)

    def phase_two(self, operator: str, *arguments: Any) -> None:
        """Call an operator's second function."""
        self.check(self._function(operator, _PHASE_TWO)(*arguments), operator, operator)

    def _function(self, name: str, arguments: list[Any] | None = None) -> Any:
        if name not in self._functions:
            self._functions[name] = self._find(name, arguments)
        return self._functions[name]

    def _find(self, name: str, arguments: list[Any] | None) -> Any:
        for library in self._libraries:
            try:
                function = getattr(library, name)
            except AttributeError:
                continue
            function.argtypes = _ARGUMENTS[name] if arguments is None else arguments
            function.restype = _RESULTS.get(name, c_int32)
            return function
        raise OSError(f"{self.path} has no function {name}; a library of the aclnn interface is "
                      "expected")  # fmt: skip


def _load(path: Path) -> list[ctypes.CDLL]:
    """Load one file, or the libraries of a prefix or of a folder of libraries."""
    if not path.exists():
        raise OSError(f"{path} does not exist; a shared library or a toolkit prefix is expected")
    if path.is_file():
        return [ctypes.CDLL(str(path.resolve()))]
    folder = path / "lib64" if (path / "lib64").is_dir() else path
    missing = [name for name in _REQUIRED if not (folder / name).exists()]
    if missing:
        raise OSError(f"{folder} lacks {', '.join(missing)}; a toolkit prefix with lib64/ or its "
                      "library folder is expected")  # fmt: skip
    names = [*_REQUIRED, *(name for name in _OPTIONAL if (folder / name).exists())]
    return [ctypes.CDLL(str((folder / name).resolve())) for name in names]
